#!/usr/bin/env python3
"""The engine names no provider and no product: what it knows about them is data.

A word counts wherever it is a part of its own: `AwsZone`, `aws_zone`, "aws" and `kAWS` all name
one, `laws` does not. Long words that stand in no other word count anywhere.
"""

import re

from common import ROOT, main, relative, sources

ANYWHERE = [
    "nvidia", "openshift", "vsphere", "vmware", "vcenter", "esxi", "amazon", "google", "azure",
    "kustomiz", "argocd", "fluxcd", "redhat", "red hat", "mellanox", "kubeflow", "opendatahub",
    "kserve", "clusterpolicy", "nodefeature", "machineautoscaler",
    "clusterautoscaler", "fleetmanager", "prometheus",
]
AS_WORD = [
    "aws", "ec2", "ami", "gcp", "gce", "gke", "eks", "aks", "argo", "flux", "helm", "cuda", "olm",
    "nfd", "rosa", "hive", "acm", "efa", "dcgm", "ngc", "nim", "triton", "karpenter", "tesla", "hopper",
    "ampere", "blackwell", "a100", "h100", "h200", "b200", "l40s", "l4", "t4", "v100", "a10g",
]

# word -> [(file, why)]. Domain words such as MIG and vGPU are not in the lists.
ALLOWED = {"google": [("src/cel/value.cpp", "what CEL calls the type of durations")]}

WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+[0-9]*[a-z]*|[A-Z]+[0-9]*[A-Z]*|[0-9]+")


def words_of(line):
    """Parts of identifiers and words of text, in lower case; also whole alphanumeric runs."""
    runs = re.findall(r"[A-Za-z0-9]+", line)
    parts = {part.lower() for run in runs for part in WORDS.findall(run)}
    parts |= {run.lower() for run in runs}
    return {part[1:] if part.startswith("k") and part[1:] in AS_WORD else part for part in parts}


def names_in(line):
    lower = line.lower()
    return {word for word in ANYWHERE if word in lower} | (words_of(line) & set(AS_WORD))


def check():
    findings = []
    for probe, word in (("AwsZone z;", "aws"), ("x_gke_y", "gke"), ('"argo"', "argo"),
                        ("kAWS", "aws"), ("NvidiaThing", "nvidia"), ("p4d A100", "a100")):
        if word not in names_in(probe):
            findings.append(f"self-test: `{word}` is not found in `{probe}`")
    for probe in ("cargo laws fluxional archived helmet", "family salami", "int l = 4; t = 4"):
        if names_in(probe):
            findings.append(f"self-test: {names_in(probe)} found in `{probe}`")
    files = sources("src", suffixes=(".hpp", ".cpp", ".S", ".inc", ".txt", ".yaml"))
    for path in files:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for word in sorted(names_in(line)):
                if relative(path) not in {file for file, _ in ALLOWED.get(word, [])}:
                    findings.append(f"{relative(path)}:{number}: names `{word}`: {line.strip()}")
    for path in files:
        for word in sorted(names_in(path.relative_to(ROOT / "src").as_posix())):
            findings.append(f"{relative(path)}: the file name names `{word}`")
    return findings, len(files), "source files"


if __name__ == "__main__":
    main(check)
