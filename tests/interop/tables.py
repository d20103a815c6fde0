#!/usr/bin/env python3
"""The catalogue tables say what the published ones say, cell by cell.

Published are the lists in ../shared (machine types, zones, regions, GPUs, partitions, the MIG and vGPU configurations that
the GPU operator brings; of prices, the regions that have one), and what was copied by hand from documents into
published/ (quotas, APIs, operator lines, images). Each cell that differs is printed. Differences on purpose stand in
tables_differences.yaml, each with its reason; one that explains nothing any more fails, too.

Besides: tables agree with each other, and a GPU that no known driver knows is refused with words that are true (it is made
up in a copy of the knowledge).
"""

import collections
import csv
import fnmatch
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.program import ROOT, SHARED, Tally, arguments, environment, run, skip  # noqa: E402

try:
    import yaml

    from support import yaml_text
except ImportError:
    skip("tables", "PyYAML is not here (Debian: python3-yaml)")

HERE = pathlib.Path(__file__).resolve().parent
CATALOG = SHARED / "reference" / "catalog"
NVIDIA = SHARED / "conformance" / "nvidia"
# Names of GPUs in the published lists, where ours is another one.
MODELS = {"V100": "V100-16GB"}
GPUS = {"V100-16GB (SXM)": "V100-16GB", "V100-32GB (SXM)": "V100-32GB", "P100 (SXM)": "P100",
        "A100-40GB SXM4": "A100-40GB", "A100-80GB SXM4": "A100-80GB", "A100-40GB PCIe": "A100-40GB-PCIe",
        "A100-80GB PCIe": "A100-80GB-PCIe", "H100-80GB SXM5": "H100-80GB", "H100-80GB PCIe": "H100-80GB-PCIe",
        "H200-141GB SXM5": "H200-141GB", "H200 NVL": "H200-NVL", "GB200 (per GPU)": "GB200",
        "RTX PRO 6000 Blackwell Server Edition": "RTX-PRO-6000",
        "RTX PRO 4500 Blackwell Server Edition": "RTX-PRO-4500"}


def table(folder, name):
    """Rows of one of our tables by their key."""
    spec = yaml_text.load((ROOT / "providers" / folder / "tables" / f"{name}.yaml").read_text())["spec"]
    return {row[spec["key"]]: row for row in spec["rows"]}


def published(path):
    with path.open() as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def number(text):
    """A number of a CSV, or None for an empty cell."""
    return None if text in ("", None) else float(text)


class Comparison:
    """Collects cells that differ, and the reasons for those that may."""

    def __init__(self):
        self.cells = 0
        self.found = []
        self.reasons = yaml_text.load((HERE / "tables_differences.yaml").read_text())
        self.used = set()

    def cell(self, name, row, column, ours, theirs):
        """An absent value of theirs says nothing; one of ours must say what theirs says."""
        self.cells += 1
        if isinstance(ours, (int, float)) and not isinstance(ours, bool):
            ours = float(ours)
        if isinstance(theirs, int) and not isinstance(theirs, bool):
            theirs = float(theirs)
        if theirs is None or theirs == "" or ours == theirs:
            return
        for i, reason in enumerate(self.reasons):
            if (reason["table"] == name and fnmatch.fnmatchcase(row, reason["row"])
                    and fnmatch.fnmatchcase(column, reason["cell"])):
                self.used.add(i)
                return
        self.found.append(f"{name}: {row}: {column}: ours {ours!r}, published {theirs!r}")

    def rows(self, name, ours, theirs):
        for row in sorted(set(ours) - set(theirs)):
            self.cell(name, row, "row", "there", "absent")
        for row in sorted(set(theirs) - set(ours)):
            self.cell(name, row, "row", "absent", "there")

    def unused(self):
        return [f"tables_differences.yaml: entry {i + 1} ({one['table']}, {one['row']}, {one['cell']}) explains nothing"
                for i, one in enumerate(self.reasons) if i not in self.used]


def aws_machines(compare):
    ours = table("aws", "machines")
    theirs = {row["type"]: row for row in published(CATALOG / "aws-instances.csv")}
    compare.rows("aws machines", ours, theirs)
    texts = {"family": "family", "gpuVendor": "gpu_vendor", "gpuModel": "gpu_model", "arch": "arch",
             "computeCapability": "cuda_compute_capability", "cpuMaker": "cpu_manufacturer", "hypervisor": "hypervisor",
             "quota": "quota_name", "quotaCode": "quota_code_on_demand", "quotaCodeSpot": "quota_code_spot",
             "quotaSource": "quota_source"}
    numbers = {"gpuCount": "gpu_count", "gpuFraction": "gpu_fraction", "gpuMemoryMib": "gpu_memory_mib",
               "vcpus": "vcpus", "localSsdGb": "local_ssd_gb", "networkGbps": "network_gbps_baseline",
               "efaInterfaces": "efa_interfaces", "ebsMbps": "ebs_baseline_mbps"}
    for name in sorted(set(ours) & set(theirs)):
        row, other = ours[name], theirs[name]
        for column, there in texts.items():
            compare.cell("aws machines", name, column, row.get(column), other[there])
        for column, there in numbers.items():
            compare.cell("aws machines", name, column, row.get(column), number(other[there]))
        memory = number(other["memory_gib"])
        compare.cell("aws machines", name, "memoryMib", row.get("memoryMib"), memory and memory * 1024)
        for column, there in {"capacityBlocks": "capacity_block_reservation", "current": "in_current_karpenter_doc"}.items():
            said = {"yes": True, "no": False}.get(other[there])
            compare.cell("aws machines", name, column, row.get(column), said)


def aws_offers(compare):
    """Zones by type and region, and the regions that have a price."""
    ours = table("aws", "offers")
    compare.rows("aws offers", ours, table("aws", "machines"))
    zones = collections.defaultdict(lambda: collections.defaultdict(set))
    for row in published(CATALOG / "aws-zones.csv"):
        zones[row["type"]][row["region"]].add(row["zone_id"])
    regions = collections.defaultdict(set)
    for row in published(CATALOG / "prices.csv"):
        if row["provider"] == "aws":
            regions[row["type"]].add(row["region"])
    for name, row in ours.items():
        for region, ids in sorted(zones[name].items()):
            compare.cell("aws offers", name, f"zones {region}", row.get("zones", {}).get(region), len(ids))
        compare.cell("aws offers", name, "regions", row["regions"], sorted(regions[name] | set(zones[name])))


def gcp_machines(compare):
    quotas = table("google", "quotas")
    machines = {name: row for name, row in table("google", "machines").items() if row["family"] != "n1"}
    attached = table("google", "accelerators")
    rows = published(CATALOG / "gcp-instances.csv")
    built_in = {row["type"]: row for row in rows if not row["type"].startswith("n1-*")}
    compare.rows("google machines", machines, built_in)
    for name in sorted(set(machines) & set(built_in)):
        row, other = machines[name], built_in[name]
        for column, there in {"family": "family", "gpuModel": "gpu_model", "accelerator": "accelerator_type", "arch": "arch",
                              "gpuNetwork": "gpu_networking"}.items():
            compare.cell("google machines", name, column, row.get(column), other[there])
        for column, there in {"gpuCount": "gpu_count", "gpuFraction": "gpu_fraction", "vcpus": "vcpus",
                              "localSsdGb": "local_ssd_gb", "networkGbps": "network_gbps_max"}.items():
            compare.cell("google machines", name, column, row.get(column), number(other[there]))
        compare.cell("google machines", name, "memoryMib", row["memoryMib"], number(other["memory_gib"]) * 1024)
        quota = quotas.get(row["accelerator"], {})
        compare.cell("google quotas", name, "metric", quota.get("metric"), other["quota_metric"])
        compare.cell("google quotas", name, "preemptible", quota.get("preemptible"), other["quota_metric_preemptible"])
    theirs = {row["type"].removeprefix("n1-*+"): row for row in rows if row["type"].startswith("n1-*")}
    compare.rows("google accelerators", attached, theirs)
    for name in sorted(set(attached) & set(theirs)):
        row, other = attached[name], theirs[name]
        compare.cell("google accelerators", name, "gpuModel", row["gpuModel"], MODELS.get(other["gpu_model"], other["gpu_model"]))
        compare.cell("google accelerators", name, "count", row["count"], number(other["gpu_count"]))
        compare.cell("google accelerators", name, "mostVcpus", row["mostVcpus"], number(other["max_vcpus_for_gpu_count"]))
        compare.cell("google accelerators", name, "mostMemoryMib", row["mostMemoryMib"],
                     number(other["max_memory_gib_for_gpu_count"]) * 1024)
        quota = quotas.get(row["type"], {})
        compare.cell("google quotas", row["type"], "metric", quota.get("metric"), other["quota_metric"])
        compare.cell("google quotas", row["type"], "preemptible", quota.get("preemptible"), other["quota_metric_preemptible"])


def gcp_offers(compare):
    machines, offers = table("google", "machines"), table("google", "offers")
    known = table("google", "regions")

    def offer(name):
        return offers.get(name) or offers.get(machines.get(name, {}).get("family"))

    regions, zones = collections.defaultdict(set), collections.defaultdict(set)
    for row in published(CATALOG / "gcp-regions.csv"):
        regions[row["name"]].add(row["region"])
    for row in published(CATALOG / "gcp-zones.csv"):
        zones[row["name"]].add(row["zone"])
    for name, there in sorted(regions.items()):
        ours = offer(name)
        compare.cell("google offers", name, "regions", sorted(ours["regions"]) if ours else None, sorted(there))
    for name, there in sorted(zones.items()):
        ours = offer(name)
        compare.cell("google offers", name, "zones", sorted(ours.get("zones", [])) if ours else None, sorted(there))
    # Among ourselves.
    for name, row in offers.items():
        for region in row["regions"]:
            compare.cell("google offers", name, f"region {region}", region in known, True)
            named = "zones" not in row or any(zone.startswith(region + "-") for zone in row["zones"])
            compare.cell("google offers", name, f"zones of {region}", named != (region in row.get("zonesUnknown", [])), True)
        for zone in row.get("zones", []):
            region = zone.rsplit("-", 1)[0]
            compare.cell("google offers", name, f"zone {zone}",
                         region in row["regions"] and zone in known[region]["zones"], True)


def gpus(compare):
    ours = table("nvidia", "gpus")
    theirs = {GPUS.get(row["gpu_model"], row["gpu_model"]): row for row in published(CATALOG / "gpus.csv")}
    for name in sorted(set(theirs) - set(ours)):
        compare.cell("gpus", name, "row", "absent", "there")
    for name in sorted(set(ours) & set(theirs)):
        row, other = ours[name], theirs[name]
        for column, there in {"architecture": "architecture", "computeCapability": "cuda_compute_capability",
                              "memoryType": "memory_type", "productLabel": "product_label_hint"}.items():
            compare.cell("gpus", name, column, row.get(column), other[there])
        for column, there in {"memoryGib": "memory_gib", "tdpWatt": "tdp_w", "nvlinkGBps": "nvlink_gbytes_per_s"}.items():
            compare.cell("gpus", name, column, row.get(column), number(other[there]))
        compare.cell("gpus", name, "migMost", row.get("migMost", 0), number(other["mig_max_instances"]))
        compare.cell("gpus", name, "migClass", "migClass" in row, {"yes": True, "no": False}.get(other["mig_capable"]))
        compare.cell("gpus", name, "vgpu", row.get("vgpu", False), {"yes": True, "no": False}.get(other["vgpu_capable"]))
        compare.cell("gpus", name, "nvlink", row.get("nvlink"),
                     {"yes": "nvlink", "no": "none"}.get(other["nvlink"], other["nvlink"]))
        for column in (column for column in other if column.endswith(("_tflops", "_tflops_dense"))):
            compare.cell("gpus", name, column, None, other[column])


def partitions(compare):
    ours = {(name, size): count for name, row in table("gke-pools", "partition-sizes").items()
            for size, count in row["sizes"].items()}
    theirs = {(row["accelerator_type"], row["gpu_partition_size"]): int(row["partitions_per_gpu"])
              for row in published(CATALOG / "gke-gpu-partition-sizes.csv")}
    compare.rows("partition sizes", {" ".join(key) for key in ours}, {" ".join(key) for key in theirs})
    for key in sorted(set(ours) & set(theirs)):
        compare.cell("partition sizes", " ".join(key), "count", ours[key], theirs[key])


def configurations(file, key):
    return yaml_text.load(yaml_text.load((NVIDIA / file).read_text())["data"]["config.yaml"])[key]


def mig(compare):
    """Each built-in configuration of the operator is ours for some class, and with those parts."""
    classes = table("nvidia", "mig-classes")
    ours = collections.defaultdict(dict)
    for row in table("gpu-operator", "mig-builtins").values():
        ours[row["config"]][row["migClass"]] = row["partitions"]
    theirs = configurations("mig-parted-config.v26.7.0.yaml", "mig-configs")
    compare.rows("MIG configurations", ours, theirs)
    for name in sorted(set(ours) & set(theirs)):
        for entry in theirs[name]:
            wanted, devices = entry.get("mig-devices"), entry.get("device-filter", [])
            devices = [devices] if isinstance(devices, str) else devices
            if not devices:
                compare.cell("MIG configurations", name, "partitions", wanted in ours[name].values(), True)
            for device in devices:
                there = [parts for one, parts in ours[name].items() if device in classes[one].get("devices", [])]
                compare.cell("MIG configurations", name, device, wanted in there, True)
    for row in table("nvidia", "gpus").values():
        if "migClass" in row:
            compare.cell("gpus", row["model"], "class", row["migClass"] in classes, True)
            # The operator's configurations find a GPU by its PCI id, where a name means several layouts.
            known = classes[row["migClass"]].get("devices", [])
            for vendor, device in (one.split(":") for one in row.get("pciIds", []) if known):
                compare.cell("gpus", row["model"], "pciIds", f"0x{device}{vendor}".upper() in
                             [one.upper() for one in known], True)


def vgpu(compare):
    ours = collections.defaultdict(set)
    for row in table("vgpu", "vgpu-types").values():
        ours[row["type"]].add(row["most"])
        compare.cell("vGPU types", row["type"], "model", row["model"] in table_of_gpus(), True)
    theirs = {}
    for name, entries in configurations("vgpu-devices-config.v26.7.0.yaml", "vgpu-configs").items():
        for entry in entries:
            if name != "default":  # It asks for less than fits.
                theirs.update(entry["vgpu-devices"])
    compare.rows("vGPU types", {name for name in ours}, {name for name in theirs if re.search(r"-\d+[CQ](ME|GFX)?$", name)})
    for name in sorted(set(ours) & set(theirs)):
        compare.cell("vGPU types", name, "most", theirs[name] in ours[name], True)


def table_of_gpus(cache=[]):  # noqa: B006
    if not cache:
        cache.append(table("nvidia", "gpus"))
    return cache[0]


def by_hand(compare):
    """What was copied from documents."""
    folder = HERE / "published"
    quotas = table("google", "quotas")
    for row in published(folder / "gcp-quotas.csv"):
        ours = quotas.get(row["accelerator"], {})
        for column, there in {"metric": "onDemand", "gpuFamily": "gpuFamily", "preemptible": "preemptible"}.items():
            compare.cell("google quotas", row["accelerator"], column, ours.get(column, ""), row[there])
        if row["gpuFamily"]:
            compare.cell("google quotas", row["accelerator"], "on demand", "metric" in ours, False)
    codes = table("aws", "quotas")
    machines = table("aws", "machines").values()
    for row in published(folder / "aws-quotas.csv"):
        compare.cell("aws quotas", row["code"], "service", codes.get(row["code"], {}).get("service"), row["service"])
    spot = {"p5": "L-C4BD4855", "p4": "L-7212CCBC", "p3": "L-7212CCBC", "p2": "L-7212CCBC"}
    for row in machines:
        code = spot.get(row["family"][:2]) or ("L-3819A6DF" if row["family"].startswith("g") else None)
        compare.cell("aws machines", row["type"], "spot quota", row.get("quotaCodeSpot"), code)
    apis = table("gcp", "apis")
    for row in published(folder / "gcp-apis.csv"):
        compare.cell("gcp apis", row["host"], "need", apis.get(row["host"], {}).get("need"), row["need"])
    lines = table("gpu-operator", "gpu-operator-releases")
    for row in published(folder / "operator-lines.csv"):
        ours = lines.get(row["line"], {})
        for column in ("channel", "version", "released", "defaultDriver"):
            compare.cell("gpu operator", row["line"], column, ours.get(column), row[column])
        range_ = ours.get("supports", {}).get("openshift", {})
        compare.cell("gpu operator", row["line"], "openshift", [range_.get("from"), range_.get("to")],
                     [int(row["openshiftFrom"]), int(row["openshiftTo"])])
    network = table("network-operator", "network-operator-releases")
    for row in published(folder / "images.csv"):
        compare.cell("network operator", row["line"], row["component"], network.get(row["line"], {}).get("nicDriverVersion"),
                     row["version"])


def unknown_gpu(gpuctl, tally):
    """A GPU that needs a driver of a branch that no release line has: no newer platform helps."""
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        folder = scratch / "providers" / "nvidia" / "tables"
        folder.mkdir(parents=True)
        document = yaml_text.load((ROOT / "providers/nvidia/tables/gpus.yaml").read_text())
        for row in document["spec"]["rows"]:
            if row["model"] == "B300":
                row["driverFrom"] = 700
        (folder / "gpus.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
        blueprint = scratch / "lab.yaml"
        blueprint.write_text((ROOT / "tests/golden/errors/GPU2406-older-than-the-gpu/blueprint.yaml").read_text()
                             .split("  gpuStack:")[0])
        done = run([gpuctl, "--providers", scratch / "providers", "validate", blueprint], env=environment(scratch))
        said = " ".join(done.stderr.decode().split())
        tally.check("error[GPU2406]" in said, f"a GPU that no driver knows is accepted: {said}")
        tally.check("is older than this GPU" in said and "knows no Blackwell" not in said, f"another reason than its age: {said}")
        tally.check("no release line known here brings one" in said and "take a newer" not in said,
                    f"advice that does not help: {said}")


def main():
    tally = Tally()
    program = arguments(__doc__).gpuctl
    if not CATALOG.is_dir() or not NVIDIA.is_dir():
        skip("tables", "no published tables beside the project (../shared)")
    compare = Comparison()
    for part in (aws_machines, aws_offers, gcp_machines, gcp_offers, gpus, partitions, mig, vgpu, by_hand):
        part(compare)
    for one in compare.found + compare.unused():
        tally.check(False, one)
    tally.check(compare.cells > 5000, f"only {compare.cells} cells were compared")
    unknown_gpu(program, tally)
    print(f"{compare.cells} cells compared, {len(compare.used)} differences on purpose")
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
