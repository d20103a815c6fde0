#!/usr/bin/env python3
"""What `gpuctl cost` says, against figures that were checked by hand, and against itself.

figures.csv has more than forty pools with the price of an hour as somebody else published it than the one from whom the
price list has it; a few for which there is only one source; and some without a price. What the command says of a month is
within five per cent of the figure, or unknown where there is none. Random blueprints on AWS, Google Cloud and GKE then
show that a cluster never costs less when it is larger, that minimum, typical month and maximum are in order, and that
sums are those of their parts. The program that refreshes price lists is run on samples in the published form, which were
made by hand.
"""

import csv
import json
import pathlib
import random
import re
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tests"))
from support import program  # noqa: E402
from support.program import Tally, skip  # noqa: E402

try:
    import yaml
except ImportError:
    skip("cost", "Python has no PyYAML (Debian: python3-yaml)")

HOURS = 730
TOLERANCE = 0.05
PAIRS = 30
SEED = 20
COSTS = """\
apiVersion: gpuctl.dev/v1alpha1
kind: Costs
spec:
  machines:
    - {part: gpu, hardware: {price: 52000, years: 4}, machinesPerServer: 3, watts: 600, gpuWatts: 700, rackPerMonth: 90}
  power: {perKWh: 0.23, pue: 1.35}
  licences:
    - {edition: support, price: 999.99, every: year, per: GPU, part: gpu}
    - {edition: hourly, price: 0.017, every: hour, per: machine}
"""


def blueprint(name, platform, region, pools):
    if platform == "gke":
        return gke_blueprint(name, region, pools)
    spec = {"platform": platform, "stage": "dev", "baseDomain": "example.com", "openshift": {"version": "4.20"},
            "access": {"pullSecret": {"env": "PULL_SECRET"}},
            "gitops": {"engine": "argocd", "repoURL": "https://git.example.com/fleet.git"}, "gpuPools": pools}
    zones = [f"{region}-a"] if platform == "gcp" else [f"{region}a"]
    spec[platform] = {"region": region, "zones": zones}
    if platform == "gcp":
        spec["gcp"]["projectID"] = "sample-4711"
        spec["access"]["sshKey"] = {"env": "SSH_PUBLIC_KEY"}
    return {"apiVersion": "gpuctl.dev/v1alpha1", "kind": "Blueprint", "metadata": {"name": name}, "spec": spec}


def gke_blueprint(name, region, pools):
    spec = {"platform": "gke", "stage": "dev", "gke": {"project": "sample-4711", "location": f"{region}-a", "version": "1.35"},
            "systemPool": {"machineType": "e2-standard-4", "scaling": {"min": 1, "max": 3}},
            "gitops": {"repoURL": "https://git.example.com/fleet.git"}, "gpuPools": pools}
    return {"apiVersion": "gpuctl.dev/v1alpha1", "kind": "Blueprint", "metadata": {"name": name}, "spec": spec}


def pool_of(row):
    kind = "instanceType" if row["platform"] == "aws" else "machineType"
    pool = {"name": "gpu", kind: row["type"], "replicas": int(row["machines"])}
    if row["accelerators"]:
        accelerator, count = row["accelerators"].split(":")
        pool["accelerator"] = {"type": accelerator, "count": int(count)}
    if row["market"] == "spot":
        pool["spot"] = True
    return pool


class Clusters:
    """Blueprints in a folder, and what the command says of all of them at once."""

    def __init__(self, gpuctl, folder):
        self.gpuctl, self.folder = gpuctl, folder

    def estimate(self, blueprints, *options):
        shutil.rmtree(self.folder / "blueprints", ignore_errors=True)
        (self.folder / "blueprints").mkdir()
        for number, one in enumerate(blueprints):
            (self.folder / "blueprints" / f"{number:03d}.yaml").write_text(json.dumps(one))
        done = program.run([self.gpuctl, "cost", self.folder / "blueprints", "-o", "json", *options],
                           env=program.environment(self.folder))
        if done.returncode != 0:
            print(done.stderr.decode()[:4000])
            return {}
        return {one["name"]: one for one in json.loads(done.stdout)["clusters"]}


def part_of(cluster, name):
    return next(part for part in cluster["parts"] if part["part"] == name)


def origins():
    """The repositories that the price of a type in a region was taken from, by platform, region and type."""
    found = {}
    for platform, path in (("aws", "aws/prices/ec2.yaml"), ("gcp", "google/prices/compute.yaml")):
        spec = yaml.safe_load((ROOT / "providers" / path).read_text())["spec"]
        for region, prices in spec["regions"].items():
            for kind, price in prices.items():
                found[platform, region, kind] = {spec["sources"][one]["repository"] for one in price["source"].split("; ")}
    return found


def check_figures(clusters, tally):
    rows = list(csv.DictReader((HERE / "figures.csv").open()))
    known = origins()
    elsewhere = [row for row in rows if row["usd_per_hour"] and row["source"].split()[0] not in
                 known[row["platform"], row["region"], row["type"]] | {"Compute"}]
    tally.check(len(elsewhere) >= 40, f"{len(elsewhere)} rows of figures.csv have a price from elsewhere than the list")
    tally.check(all(re.search(r"20\d\d-\d\d-\d\d$", row["source"]) for row in elsewhere), "a figure without its day")
    found = clusters.estimate([blueprint(f"row-{n}", row["platform"], row["region"], [pool_of(row)])
                               for n, row in enumerate(rows)])
    for n, row in enumerate(rows):
        what = f"{row['type']} in {row['region']}, {row['market']}"
        if not tally.check(f"row-{n}" in found, f"{what}: no estimate"):
            continue
        month = part_of(found[f"row-{n}"], "gpu")["month"]["max"]
        if not row["usd_per_hour"]:
            tally.check(not month["complete"], f"{what}: {month}, and nobody published a price")
            tally.check(not found[f"row-{n}"]["month"]["max"]["complete"], f"{what}: the sum hides what is not known")
            continue
        expected = float(row["usd_per_hour"]) * int(row["machines"]) * HOURS
        good = month["complete"] and abs(month["known"] - expected) <= TOLERANCE * expected
        tally.check(good, f"{what}: {month}, expected {expected:.2f} ({row['source']})")


# Types with a price, and one without.
PLATFORMS = {
    "aws": ("us-east-1", "instanceType", ["g5.xlarge", "g5.12xlarge", "g6.2xlarge", "p4d.24xlarge", "p5e.48xlarge"]),
    "gcp": ("us-central1", "machineType", ["g2-standard-8", "g2-standard-24", "a2-highgpu-1g", "a2-highgpu-8g", "a4-highgpu-8g"]),
    "gke": ("us-central1", "machineType", ["g2-standard-8", "g2-standard-24", "a2-highgpu-1g", "a2-highgpu-8g", "a4-highgpu-8g"]),
}


def random_pools(random_of, platform):
    _, field, types = PLATFORMS[platform]
    pools = []
    for number in range(random_of.randint(1, 3)):
        low = random_of.randint(0, 3)
        pools.append({"name": "gpu" if number == 0 else f"more-{number}", field: random_of.choice(types),
                      "scaling": {"min": low, "max": low + random_of.randint(1, 6)}})
    return pools


def check_order(clusters, tally, platform, *options):
    random_of = random.Random(SEED)
    region = PLATFORMS[platform][0]
    blueprints, grown = [], []
    for number in range(PAIRS):
        pools = random_pools(random_of, platform)
        larger = json.loads(json.dumps(pools))
        chosen = random_of.choice(larger)
        chosen["scaling"]["max"] += random_of.randint(1, 4)
        if random_of.random() < 0.5:
            chosen["scaling"]["min"] += 1
        blueprints.append(blueprint(f"small-{number}", platform, region, pools))
        grown.append(blueprint(f"large-{number}", platform, region, larger))
    found = clusters.estimate(blueprints + grown, *options)
    tally.check(len(found) == 2 * PAIRS, f"{platform}: {len(found)} estimates of random blueprints")
    for number in range(PAIRS if found else 0):
        small, large = found[f"small-{number}"], found[f"large-{number}"]
        for scale in small["month"]:
            tally.check(small["month"][scale]["known"] <= large["month"][scale]["known"],
                        f"{number}, {scale}: {small['month'][scale]} of a cluster, {large['month'][scale]} of a larger one")
            if not small["month"][scale]["complete"]:
                tally.check(not large["month"][scale]["complete"], f"{number}, {scale}: what is not known is gone")
        for cluster in (small, large):
            for month in [cluster["month"]] + [part["month"] for part in cluster["parts"]]:
                known = [figure["known"] for figure in month.values()]
                tally.check(known == sorted(known), f"{number}: {month}")
            for scale, figure in cluster["month"].items():
                parts = [part["month"][scale] for part in cluster["parts"]]
                near = abs(sum(part["known"] for part in parts) - figure["known"]) <= 0.005 * (len(parts) + 1)
                tally.check(near, f"{number}: {figure} is not the sum of {parts}")
                tally.check(figure["complete"] == all(part["complete"] for part in parts), f"{number}: {figure}, {parts}")


def check_same_bytes(gpuctl, folder, tally):
    command = [gpuctl, "cost", ROOT / "blueprints/fleet/fleet.yaml", "-o", "json"]
    outputs = {program.run([*command, "-j", jobs], env=program.environment(folder)).stdout for jobs in (1, 4)}
    tally.check(len(outputs) == 1, "another number of threads, another output")


def refresh(folder, name, arguments, path):
    """A list as the program leaves it that refreshes lists."""
    copy = folder / f"{name}.yaml"
    copy.write_text(path.read_text())
    done = program.run([sys.executable, "-B", ROOT / ".ci/prices.py", *arguments, "--list", copy])
    return done, yaml.safe_load(copy.read_text())["spec"], copy


def check_refresh(folder, tally):
    done = program.run([sys.executable, "-B", ROOT / ".ci/prices.py", "check"])
    tally.check(done.returncode == 0, done.stdout.decode())

    ec2 = ROOT / "providers/aws/prices/ec2.yaml"
    done, spec, copy = refresh(folder, "ec2", ["aws", HERE / "samples/aws-offer.json"], ec2)
    tally.check(done.returncode == 0, done.stderr.decode())
    source = "aws-list-2026-10-01"
    row = spec["regions"]["eu-central-1"]["g5.xlarge"]
    tally.check(row == {"onDemand": 1.258, "reserved1y": 0.793, "reserved3y": 0.544, "source": source}, f"g5.xlarge: {row}")
    tally.check(spec["regions"]["eu-central-1"]["m6i.xlarge"] == {"onDemand": 0.23, "source": source}, "m6i.xlarge")
    tally.check("x2gd.xlarge" not in spec["regions"]["eu-central-1"], "a family that no cluster is made of was taken")
    # What the list does not have stays, with where it came from.
    row = spec["regions"]["us-east-1"]["p5.48xlarge"]
    tally.check(row["spot"] == 10.2397 and row["source"].startswith(source + "; ") and "skypilot" in row["source"],
                f"p5.48xlarge: {row}")
    tally.check(spec["regions"]["us-east-1"]["g5.xlarge"]["source"] == "karpenter", "a row that was not read has changed")
    tally.check(spec["sources"][source]["asOf"] == "2026-10-01", "the day of the list")
    before = copy.read_text()
    refresh_again = program.run([sys.executable, "-B", ROOT / ".ci/prices.py", "aws", HERE / "samples/aws-offer.json",
                                 "--list", copy])
    tally.check(refresh_again.stdout == b"0 rows are new or differ\n" and copy.read_text() == before, "a second run differs")

    compute = ROOT / "providers/google/prices/compute.yaml"
    done, spec, _ = refresh(folder, "compute", ["google", HERE / "samples/google-skus.json"], compute)
    tally.check(done.returncode == 0, done.stderr.decode())
    here = spec["regions"]["us-central1"]
    expected = 8 * 0.031611 + 30 * 0.004237
    tally.check(abs(here["n1-standard-8"]["onDemand"] - expected) < 1e-6, f"n1-standard-8: {here['n1-standard-8']}")
    tally.check(here["nvidia-tesla-t4"]["spot"] == 0.14, f"T4: {here['nvidia-tesla-t4']}")
    expected = 24 * 0.024988 + 96 * 0.002927 + 2 * 0.56004
    tally.check(abs(here["g2-standard-24"]["onDemand"] - expected) < 1e-6, f"g2-standard-24: {here['g2-standard-24']}")
    # Commitments: to cores, memory and GPUs, which a type is the sum of; of three years the price of the L4 is missing.
    expected = 24 * 0.015742 + 96 * 0.001844 + 2 * 0.352
    row = here["g2-standard-24"]
    tally.check(abs(row["reserved1y"] - expected) < 1e-6 and "reserved3y" not in row, f"g2-standard-24: {row}")
    row, expected = here["n1-standard-8"], 8 * 0.019915 + 30 * 0.002669
    tally.check(abs(row["reserved1y"] - expected) < 1e-6 and "reserved3y" not in row, f"n1-standard-8: {row}")
    row = here["nvidia-tesla-t4"]
    tally.check((row["reserved1y"], row["reserved3y"]) == (0.22, 0.16), f"T4: {row}")
    # Of E2 the memory is missing, and N2 is sold in tiers here: their rows stay as they were.
    tally.check(here["e2-standard-4"]["source"] == "karpenter", "a price was made of half a machine")
    tally.check(here["n2-standard-4"]["source"] == "karpenter", "a price in tiers was taken for one")
    # The program reads what was written.
    return copy


def check_read_back(gpuctl, folder, copy, tally):
    overlay = folder / "providers/aws/prices"
    overlay.mkdir(parents=True)
    (overlay / "ec2.yaml").write_text(copy.read_text())
    clusters = Clusters(gpuctl, folder)
    one = blueprint("lab", "aws", "eu-central-1", [{"name": "gpu", "instanceType": "g5.xlarge", "replicas": 1}])
    found = clusters.estimate([one], "--providers", folder / "providers")
    if tally.check("lab" in found, "no estimate with refreshed lists"):
        tally.check(part_of(found["lab"], "gpu")["month"]["max"]["known"] == 918.34, f"{part_of(found['lab'], 'gpu')}")
        rates = part_of(found["lab"], "gpu")["lines"][0]["perHour"]
        tally.check(rates["reserved1y"] == 0.793, f"{rates}")
        tally.check(found["lab"]["month"]["max"]["complete"], "something is not known")


def main():
    gpuctl = program.arguments(__doc__).gpuctl
    tally = Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        clusters = Clusters(gpuctl, folder)
        check_figures(clusters, tally)
        (folder / "costs.yaml").write_text(COSTS)
        for platform in PLATFORMS:
            check_order(clusters, tally, platform)
            check_order(clusters, tally, platform, "--hours", "200")
            check_order(clusters, tally, platform, "--costs", folder / "costs.yaml", "--hours", "more-1=300", "--hours", "31")
        check_same_bytes(gpuctl, folder, tally)
        copy = check_refresh(folder, tally)
        check_read_back(gpuctl, folder, copy, tally)
    tally.close()


if __name__ == "__main__":
    main()
