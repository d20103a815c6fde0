#!/usr/bin/env python3
"""Brings price lists below providers/*/prices/ up to date from what providers publish.

    .ci/prices.py aws --region eu-central-1 --region us-east-1     # reads the offer files of EC2 of these regions
    .ci/prices.py aws offer.json                                   # the same from a file that was fetched before
    .ci/prices.py google --key KEY                                 # reads the catalogue of SKUs (Cloud Billing API)
    .ci/prices.py google skus.json ...                             # pages of it that were fetched before
    .ci/prices.py check                                            # every list is written as this program writes it

What the published list has replaces what stands in the file, row by row; other rows stay, with their source and its
date. Prices that a list does not have are not invented: spot prices of EC2 are in no offer file, and a machine type of
Compute Engine of which one component is missing gets no price. Read the difference before you commit it.

Formats: "Using the bulk API" of the AWS Price List user guide; "Cloud Billing Catalog API, services.skus.list".
"""

import argparse
import collections
import json
import pathlib
import re
import sys
import urllib.parse
import urllib.request

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
EC2 = ROOT / "providers/aws/prices/ec2.yaml"
COMPUTE = ROOT / "providers/google/prices/compute.yaml"
MACHINES = ROOT / "providers/google/tables/machines.yaml"
OFFER = "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/current/{region}/index.json"
SKUS = "https://cloudbilling.googleapis.com/v1/services/6F81-5844-456A/skus"
MARKETS = ["onDemand", "spot", "reserved1y", "reserved3y"]
# Families of EC2 without GPUs that clusters are made of; those with GPUs are all taken.
PLAIN = re.compile(r"(m5|m5a|m6i|m6a|m6g|m7i|m7a|m7g|m8g|c5|c6i|c6a|c6g|c7i|c7g|r5|r6i|r6a|r6g|r7i|r7g|i3|i3en|i4i|t3)"
                   r"\.(large|\d*xlarge)")
WITH_GPUS = re.compile(r"(g\d|gr\d|p\d)[\w-]*\.\w+")
# GiB of memory for each vCPU of the types that are named by their size.
PER_VCPU = {("n1", "standard"): 3.75, ("n1", "highmem"): 6.5, ("n2", "standard"): 4, ("n2", "highmem"): 8,
            ("n2d", "standard"): 4, ("e2", "standard"): 4}
SIZES = {"n1": (2, 4, 8, 16, 32, 64, 96), "n2": (2, 4, 8, 16, 32, 48, 64), "n2d": (2, 4, 8, 16, 32, 48, 64, 96),
         "e2": (2, 4, 8, 16, 32)}
# What descriptions of SKUs call a GPU.
GPUS = {"Tesla T4": "nvidia-tesla-t4", "Tesla P4": "nvidia-tesla-p4", "Tesla V100": "nvidia-tesla-v100",
        "Tesla P100": "nvidia-tesla-p100", "L4": "nvidia-l4", "Tesla A100": "nvidia-tesla-a100",
        "Tesla A100 80GB": "nvidia-a100-80gb", "H100 80GB": "nvidia-h100-80gb",
        "H100 80GB Mega": "nvidia-h100-mega-80gb", "H200 141GB": "nvidia-h200-141gb", "B200": "nvidia-b200"}
ATTACHED = {"nvidia-tesla-t4", "nvidia-tesla-p4", "nvidia-tesla-v100", "nvidia-tesla-p100"}
COMPONENT = re.compile(r"(Spot Preemptible )?(\w+) (?:AMD )?(?:Predefined )?Instance (Core|Ram) running in")
# Of a commitment to a family; N1 came before families had names, and has none.
COMMITTED = re.compile(r"Commitment v1: (?:(\w+) (?:AMD )?)?(Cpu|Ram) in .+ for [13] years?", re.I)
COMMITTED_GPU = re.compile(r"Commitment v1: Nvidia (.+?) GPU (?:running )?in .+ for [13] years?", re.I)
GPU = re.compile(r"Nvidia (.+?) GPU (?:attached to Spot Preemptible VMs )?running in")


def number(value):
    text = f"{round(float(value), 6):.6f}".rstrip("0")
    return text + "0" if text.endswith(".") else text


def natural(name):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def written(text):
    """The bytes of a list: its head as it stands, then the rows in order."""
    spec = yaml.safe_load(text)["spec"]
    comment = "".join(line + "\n" for line in text.splitlines() if line.startswith("#"))
    return emit(comment, yaml.safe_load(text)["metadata"]["name"], spec)


def emit(comment, name, spec):
    used = {part for rows in spec["regions"].values() for row in rows.values() for part in row["source"].split("; ")}
    quote = lambda value: value if re.fullmatch(r"[A-Za-z][\w ./-]*", value) else json.dumps(value)
    out = [comment + "apiVersion: gpuctl.dev/v1alpha1", "kind: Prices", f"metadata: {{name: {name}}}", "spec:",
           f"  title: {spec['title']}", f"  currency: {spec['currency']}", "  sources:"]
    for key, address in spec["sources"].items():
        if key in used:
            cells = ", ".join(f"{field}: {plain(field, value, quote)}" for field, value in address.items())
            out.append(f"    {key}: {{{cells}}}")
    out.append("  regions:")
    for region in sorted(spec["regions"]):
        out.append(f"    {region}:")
        for key in sorted(spec["regions"][region], key=natural):
            row = spec["regions"][region][key]
            cells = [f"{market}: {number(row[market])}" for market in MARKETS if market in row]
            source = f'"{row["source"]}"' if ";" in row["source"] else row["source"]
            out.append(f"      {key}: {{{', '.join(cells)}, source: {source}}}")
    return "\n".join(out) + "\n"


def plain(field, value, quote):
    """Days stay texts."""
    value = str(value)
    return json.dumps(value) if field == "asOf" or re.match(r"\d{4}-", value) else quote(value)


def update(path, source, address, rows):
    """Puts rows {region: {key: {market: price}}} into a list; gives how many are new or differ."""
    text = path.read_text()
    document = yaml.safe_load(text)
    spec, changed = document["spec"], 0
    spec["sources"][source] = address
    for region, prices in rows.items():
        there = spec["regions"].setdefault(region, {})
        for key, found in prices.items():
            before = there.get(key, {})
            kept = {market: before[market] for market in MARKETS if market in before and market not in found}
            sources = [source] + ([part for part in before.get("source", "").split("; ") if part != source] if kept else [])
            after = {**found, **kept, "source": "; ".join(sources)}
            changed += {k: v for k, v in before.items() if k != "source"} != {k: v for k, v in after.items() if k != "source"}
            there[key] = after
    comment = "".join(line + "\n" for line in text.splitlines() if line.startswith("#"))
    path.write_text(emit(comment, document["metadata"]["name"], spec))
    return changed


def aws_rows(offer):
    """{region: {type: {market: price}}} of an offer file of EC2: shared machines with plain Linux. Reserved is the
    standard class without anything paid at once."""
    kinds = {}
    for sku, product in offer["products"].items():
        what = product.get("attributes", {})
        wanted = {"operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used"}
        if any(what.get(field) != value for field, value in wanted.items()):
            continue
        name = what.get("instanceType", "")
        if PLAIN.fullmatch(name) or WITH_GPUS.fullmatch(name):
            kinds[sku] = what["regionCode"], name
    rows = collections.defaultdict(lambda: collections.defaultdict(dict))

    def add(sku, market, term):
        for dimension in term["priceDimensions"].values():
            price = float(dimension["pricePerUnit"].get("USD", 0))
            if dimension["unit"] == "Hrs" and price > 0:
                region, name = kinds[sku]
                rows[region][name][market] = round(price, 6)

    for sku in kinds:
        for term in offer["terms"].get("OnDemand", {}).get(sku, {}).values():
            add(sku, "onDemand", term)
        for term in offer["terms"].get("Reserved", {}).get(sku, {}).values():
            how = term["termAttributes"]
            if how.get("OfferingClass") == "standard" and how.get("PurchaseOption") == "No Upfront":
                years = {"1yr": "reserved1y", "3yr": "reserved3y"}.get(how.get("LeaseContractLength"))
                if years:
                    add(sku, years, term)
    return {region: dict(prices) for region, prices in rows.items()}


def price_of(sku):
    """USD an hour and unit; nothing for SKUs that are billed otherwise or in tiers."""
    expression = sku["pricingInfo"][0]["pricingExpression"]
    rates = expression["tieredRates"]
    if expression["usageUnit"] not in ("h", "GiBy.h") or len(rates) != 1:
        return None
    unit = rates[0]["unitPrice"]
    return int(unit.get("units", "0")) + unit.get("nanos", 0) / 1e9 if unit["currencyCode"] == "USD" else None


def google_types():
    """Type -> vCPUs, GiB, GPUs and their accelerator, of types without local disks of their own."""
    out = {}
    for (family, shape), gib in PER_VCPU.items():
        for size in SIZES[family]:
            out[f"{family}-{shape}-{size}"] = size, size * gib, 0, None
    for row in yaml.safe_load(MACHINES.read_text())["spec"]["rows"]:
        if row["gpuCount"] and not row.get("localSsdGb"):
            out[row["type"]] = row["vcpus"], row["memoryMib"] / 1024, row["gpuCount"], row.get("accelerator")
    return out


def part_of(sku, committed):
    """What a SKU is the price of: (family, Core|Ram), an accelerator, or nothing that is looked for."""
    text = sku["description"]
    if match := (COMMITTED if committed else COMPONENT).match(text):
        family, kind = match.groups() if committed else match.groups()[1:]
        return (family or "n1").lower(), "Ram" if kind.lower() == "ram" else "Core"
    match = (COMMITTED_GPU if committed else GPU).match(text)
    return GPUS.get(match[1]) if match else None


def google_rows(skus):
    """{region: {type or accelerator: {market: price}}} of SKUs: a type is its vCPUs, memory and GPUs. A commitment is to
    each of them, for one year or three, and billed by the month; the list has it by the hour."""
    parts = collections.defaultdict(dict)  # (region, market) -> (family, Core|Ram) or accelerator -> price
    for sku in skus:
        market = {"OnDemand": "onDemand", "Preemptible": "spot", "Commit1Yr": "reserved1y",
                  "Commit3Yr": "reserved3y"}.get(sku["category"]["usageType"])
        price = price_of(sku)
        if market is None or price is None:
            continue
        part = part_of(sku, market.startswith("reserved"))
        if part is None:
            continue
        for region in sku["serviceRegions"]:
            parts[region, market][part] = price
    rows = collections.defaultdict(lambda: collections.defaultdict(dict))
    for (region, market), prices in parts.items():
        for accelerator in ATTACHED & prices.keys():
            rows[region][accelerator][market] = round(prices[accelerator], 6)
        for name, (vcpus, gib, gpus, accelerator) in google_types().items():
            family = name.split("-")[0]
            wanted = [(family, "Core"), (family, "Ram")] + ([accelerator] if gpus else [])
            if all(part in prices for part in wanted):
                sum_of = vcpus * prices[family, "Core"] + gib * prices[family, "Ram"]
                rows[region][name][market] = round(sum_of + (gpus * prices[accelerator] if gpus else 0), 6)
    return {region: dict(prices) for region, prices in rows.items()}


def fetched(url):
    with urllib.request.urlopen(url, timeout=300) as answer:
        return json.load(answer)


def refresh_aws(arguments):
    offers = [json.loads(pathlib.Path(file).read_text()) for file in arguments.files]
    offers += [fetched(OFFER.format(region=region)) for region in arguments.region]
    changed = 0
    for offer in offers:
        day = offer["publicationDate"][:10]
        address = {"document": "AWS Price List, AmazonEC2", "section": "on-demand and standard reserved Linux", "asOf": day}
        changed += update(pathlib.Path(arguments.list or EC2), f"aws-list-{day}", address, aws_rows(offer))
    return changed


def refresh_google(arguments):
    pages = [json.loads(pathlib.Path(file).read_text()) for file in arguments.files]
    token = ""
    while arguments.key:
        query = urllib.parse.urlencode({"key": arguments.key, "pageSize": 5000, "pageToken": token})
        pages.append(fetched(f"{SKUS}?{query}"))
        token = pages[-1].get("nextPageToken", "")
        if not token:
            break
    skus = [sku for page in pages for sku in page["skus"]]
    day = max(sku["pricingInfo"][0]["effectiveTime"][:10] for sku in skus)
    address = {"document": "Cloud Billing catalogue, Compute Engine", "section": "SKUs and commitments of cores, memory and GPUs", "asOf": day}
    return update(pathlib.Path(arguments.list or COMPUTE), f"google-list-{day}", address, google_rows(skus))


def check(_):
    wrong = [path for path in sorted(ROOT.glob("providers/*/prices/*.yaml")) if path.read_text() != written(path.read_text())]
    for path in wrong:
        print(f"{path.relative_to(ROOT)} is not written as .ci/prices.py writes it")
    return len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("aws", "google"):
        command = commands.add_parser(name)
        command.add_argument("files", nargs="*", help="what was fetched before")
        command.add_argument("--list", help="the list to change (default: that of the provider)")
    commands.choices["aws"].add_argument("--region", action="append", default=[], help="read its offer file")
    commands.choices["google"].add_argument("--key", help="API key: read the catalogue")
    commands.add_parser("check")
    arguments = parser.parse_args()
    if arguments.command == "check":
        return 1 if check(arguments) else 0
    if not arguments.files and not getattr(arguments, "region", None) and not getattr(arguments, "key", None):
        parser.error("nothing to read: name files, or where to fetch from")
    changed = {"aws": refresh_aws, "google": refresh_google}[arguments.command](arguments)
    print(f"{changed} rows are new or differ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
