#!/usr/bin/env python3
"""What is rendered for a release uses nothing that the release lacks.

500 random blueprints of the three platforms, with a seed, each with some of all the features that the schemas
of blueprints have, are checked for 4.19 and 4.21, some of them for the releases from 4.16 on. Of those that are
accepted the install-configs are rendered, and looked at with eyes of their own:
- fields that the installer of the release refused as unknown in some case of
  ../shared/conformance/install-config-generated, and that of 5.0 took;
- features behind a gate that ../shared/reference/catalog/openshift-gates.csv shows to be off.
What is refused must be refused for something that the release lacks, or for what is wrong at any release.
"""

import collections
import json
import pathlib
import random
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support import yaml_text  # noqa: E402
from support.program import ROOT, SHARED, Tally, arguments, environment, run, skip  # noqa: E402

SEED = 20261122
CASES = SHARED / "conformance/install-config-generated/cases.jsonl"
GATES = SHARED / "reference/catalog/openshift-gates.csv"
# Release: how many blueprints are tried.
TRIED = {"4.16": 45, "4.17": 45, "4.18": 45, "4.19": 500, "4.20": 45, "4.21": 500, "4.22": 45, "5.0": 45}
LEAST_RENDERED = 0.15
LEAST_REFUSED = 0.05  # otherwise the features are not what releases differ in
SETS = {"": 0, "TechPreviewNoUpgrade": 1, "DevPreviewNoUpgrade": 2}

# Paths of the blueprint's spec, and values that are right at the newest release. A list of pairs sets several
# fields together. What no schema of blueprints has is a failure, and so is an optional field that nothing here sets.
DUAL = {"machineNetwork": ["10.0.0.0/16", "fd00::/48"], "serviceNetwork": ["172.30.0.0/16", "fd02::/112"],
        "clusterNetwork": [{"cidr": "10.128.0.0/14", "hostPrefix": 23}, {"cidr": "fd01::/48", "hostPrefix": 64}]}
BOTH = ["controlPlane", "workers"]
COMMON = [
    {"openshift.publish": ["External"]},
    {"openshift.cliImage": ["registry.example.com/tools/cli:v4"]},
    {"openshift.update": [{"channel": "fast"}, {"controlPlaneOnly": True}, {"acknowledged": ["ack-4.18-kube-1.32-api-removals-in-4.19"]}]},
    {"openshift.osImageStream": ["rhel-9", "rhel-10"]},
    {"openshift.capabilities": [{"baselineCapabilitySet": "vCurrent"}, {"baselineCapabilitySet": "v4.18"},
                                {"baselineCapabilitySet": "v4.16"}]},
    {"openshift.cpuPartitioningMode": ["None", "AllNodes"]},
    {"openshift.featureSet": ["TechPreviewNoUpgrade", "DevPreviewNoUpgrade"]},
    {"network.internalJoinSubnet": ["100.72.0.0/16"]},
    {"access.mirrors": [[{"source": "quay.io/a/b", "mirrors": ["registry.example.com/a/b"]}],
                        [{"source": "quay.io/a/b", "mirrors": ["registry.example.com/a/b"],
                          "policy": "NeverContactSource"}]]},
    {"access.proxy": [{"httpProxy": "http://proxy.example.com:3128"}]},
    {"controlPlane.hyperthreading": ["Disabled"]},
    {"workers.hyperthreading": ["Disabled"]},
    {"controlPlane.replicas": [3]},
    {"workers.replicas": [2, 4]},
]
AWS = [
    {"openshift.credentialsMode": ["Passthrough", "Manual"]},
    {"aws.zones": [["eu-central-1a", "eu-central-1b"]]},
    {"controlPlane.zones": [["eu-central-1a"]]},
    {"workers.zones": [["eu-central-1a"]]},
    {"aws.userTags": [{"team": "ml"}]},
    {"aws.propagateUserTags": [True]},
    {"aws.lbType": ["NLB"]},
    {"aws.publicIpv4Pool": ["ipv4pool-ec2-0123456789abcdef0"]},
    {"aws.serviceEndpoints": [[{"name": "ec2", "url": "https://ec2.example.com"}]]},
    {"aws.userProvisionedDNS": ["Enabled", "Disabled"]},
    {"aws.bestEffortDeleteIgnition": [True]},
    {"aws.ipFamily": ["IPv4"]},
    {"aws.ipFamily": ["DualStackIPv4Primary"], "network": [DUAL]},
    {"aws.amiID": ["ami-0123456789abcdef0"]},
    {"aws.vpc": [{"subnets": [{"id": "subnet-0a", "zone": "eu-central-1a"}, {"id": "subnet-0b", "zone": "eu-central-1a",
                                                                             "public": True}]}]},
    {"network.mtu": [8901]},
    *({f"{pool}.rootVolume": [{"throughput": 250}, {"type": "io1", "iops": 4000}, {"size": 200}]} for pool in BOTH),
    *({f"{pool}.iamProfile": ["worker"]} for pool in BOTH),
    *({f"{pool}.iamRole": ["worker"]} for pool in BOTH),
    *({f"{pool}.metadataService": [{"authentication": "Required"}]} for pool in BOTH),
    *({f"{pool}.instanceType": ["m6i.2xlarge"]} for pool in BOTH),
]
GCP_NET = {"gcp.network": ["net"], "gcp.controlPlaneSubnet": ["master"], "gcp.computeSubnet": ["worker"]}
GCP = [
    {"openshift.credentialsMode": ["Passthrough", "Manual"]},
    {"gcp.zones": [["us-central1-a", "us-central1-b"]]},
    {"controlPlane.zones": [["us-central1-a"]]},
    {"workers.zones": [["us-central1-a", "us-central1-b"]]},
    GCP_NET,
    {**GCP_NET, "gcp.networkProjectID": ["host"], "openshift.credentialsMode": ["Passthrough"]},
    {**GCP_NET, "gcp.networkProjectID": ["host"], "openshift.credentialsMode": ["Passthrough"],
     "gcp.dns": [{"privateZone": {"name": "zone"}}]},
    {**GCP_NET, "gcp.endpoint": [{"name": "psc"}, {"name": "psc", "clusterUseOnly": True}]},
    {"gcp.userProvisionedDNS": ["Enabled", "Disabled"]},
    {"gcp.firewallRulesManagement": ["Managed"]},
    {"gcp.userLabels": [{"team": "ml"}]},
    {"gcp.userTags": [[{"parentID": "12345", "key": "env", "value": "prod"}]]},
    {"gcp.osImage": [{"project": "images", "name": "rhcos"}]},
    {"controlPlane.osDisk": [{"sizeGiB": 200}, {"type": "pd-balanced"}, {"type": "hyperdisk-balanced"}]},
    {"workers.osDisk": [{"sizeGiB": 200}, {"type": "pd-standard"},
                        {"encryptionKey": {"kmsKey": {"name": "k", "keyRing": "r", "location": "global"}}}]},
    *({f"{pool}.tags": [["ml"]]} for pool in BOTH),
    *({f"{pool}.serviceAccount": ["nodes@example-ml.iam.gserviceaccount.com"]} for pool in BOTH),
    *({f"{pool}.secureBoot": ["Enabled"]} for pool in BOTH),
    *({f"{pool}.onHostMaintenance": ["Migrate", "Terminate"]} for pool in BOTH),
    *({f"{pool}.machineType": ["n2-standard-8"]} for pool in BOTH),
]


def domain(number, center="vcenter.example.com", **more):
    topology = {"datacenter": "dc1", "computeCluster": f"/dc1/host/c{number}", "datastore": "/dc1/datastore/d",
                "networks": ["VM Network"], **more.pop("topology", {})}
    return {"name": f"fd-{number}", "region": f"r{number}", "zone": f"z{number}", "server": center,
            "topology": topology, **more}


def center(name):
    return {"server": name, "user": "ops@vsphere.local", "password": {"env": "VCENTER_PASSWORD"},
            "datacenters": ["dc1"]}


HOSTS = [{"role": role, "networkDevice": {"ipAddrs": [f"10.0.0.{20 + i}/24"], "gateway": "10.0.0.1",
                                          "nameservers": ["10.0.0.2"]}}
         for i, role in enumerate(["bootstrap"] + ["control-plane"] * 3 + ["compute"] * 3)]
VSPHERE = [
    {"vsphere.failureDomains": [
        [domain(1, topology={"networks": ["VM Network", "storage"]})],
        [domain(1), domain(2)],
        [domain(1, topology={"folder": "/dc1/vm/f", "resourcePool": "/dc1/host/c1/Resources/p"})],
        [domain(1, topology={"template": "/dc1/vm/t"})],
        [domain(1, topology={"tagIDs": ["urn:vmomi:InventoryServiceTag:1b3cf9ac-2f4e-4d1b-9a5e-0b2f98d9aaaa:GLOBAL"]})],
        [domain(1, regionType="Datacenter", zoneType="ComputeCluster")],
        [domain(1, regionType="ComputeCluster", zoneType="HostGroup", topology={"hostGroup": "g"})]]},
    {"vsphere.vCenters": [[center("vcenter.example.com"), center("other.example.com")]],
     "vsphere.failureDomains": [[domain(1), domain(2, "other.example.com")]]},
    {"vsphere.loadBalancer": ["UserManaged"]},
    {"vsphere.loadBalancer": ["UserManaged"], "vsphere.dnsRecordsType": ["External", "Internal"]},
    {"vsphere.dnsRecordsType": ["Internal"]},
    {"vsphere.nodeNetworking": [{"internal": {"networkSubnetCidr": ["10.0.0.0/16"]}},
                                {"external": {"network": "VM Network"}}]},
    {"vsphere.hosts": [HOSTS], "workers.replicas": [3], "controlPlane.replicas": [3]},
    {"vsphere.diskType": ["thin"]},
    {"vsphere.clusterOSImage": ["https://images.example.com/rhcos.ova?sha256=" + "a" * 64]},
    {"workers.dataDisks": [[{"name": "d", "sizeGiB": 10}], [{"name": "d", "sizeGiB": 9, "provisioningMode": "Thin"}]]},
    *({f"{pool}.failureDomains": [["fd-1"]]} for pool in BOTH),
    *({f"{pool}.cpus": [16]} for pool in BOTH),
    *({f"{pool}.memoryMiB": [65536]} for pool in BOTH),
    *({f"{pool}.diskGiB": [200]} for pool in BOTH),
    *({f"{pool}.coresPerSocket": [2]} for pool in BOTH),
]
START = {
    "aws": {"aws": {"region": "eu-central-1"},
            "gpuPools": [{"name": "gpu", "instanceType": "g5.xlarge", "replicas": 1}]},
    "gcp": {"gcp": {"projectID": "example-ml", "region": "us-central1"},
            "gpuPools": [{"name": "gpu", "machineType": "g2-standard-8", "replicas": 1}]},
    "vsphere": {"vsphere": {"vCenters": [center("vcenter.example.com")], "failureDomains": [domain(1)],
                            "apiVIPs": ["10.0.0.5"], "ingressVIPs": ["10.0.0.6"]},
                "gpuPools": [{"name": "gpu", "gpu": {"model": "L40S", "perNode": 1}, "template": "rhcos-gpu",
                              "cpus": 16, "memoryMiB": 65536, "replicas": 1}]},
}
FEATURES = {"aws": COMMON + AWS, "gcp": COMMON + GCP, "vsphere": COMMON + VSPHERE}
# Optional fields that cannot change which fields an install-config has, or are set in START.
LEFT_OUT = {"openshift": {"version", "fips", "featureGates", "gpuMachineConfigPool", "machineConfigPools",
                          "credentialsMode"},
            "aws": {"region", "hostedZone", "hostedZoneRole"}, "gcp": {"projectID", "region"},
            "vsphere": {"apiVIPs", "ingressVIPs"}, "controlPlane": {"securityGroups"},
            "workers": {"securityGroups"}, "network": {"networkType", "machineNetwork", "clusterNetwork",
                                                       "serviceNetwork"}}


def set_path(spec, path, value):
    *above, last = path.split(".")
    for step in above:
        spec = spec.setdefault(step, {})
    if isinstance(value, dict) and isinstance(spec.get(last), dict):
        spec[last] = {**spec[last], **value}
    else:
        spec[last] = value


def blueprint(rng, number, release):
    platform = ("aws", "gcp", "vsphere")[number % 3]
    spec = {"platform": platform, "baseDomain": "example.com", "openshift": {"version": release},
            "access": {"pullSecret": {"env": "PULL_SECRET"}}, **json.loads(json.dumps(START[platform])),
            "gitops": {"repoURL": "https://git.example.com/fleet.git"}}
    for feature in rng.sample(FEATURES[platform], rng.randint(0, 4)):
        for path, values in feature.items():
            set_path(spec, path, json.loads(json.dumps(rng.choice(values))))
    return {"apiVersion": "gpuctl.dev/v1alpha1", "kind": "Blueprint", "metadata": {"name": f"c{number}"},
            "spec": spec}


def check_covered(tally):
    """Every field that the schemas have in these blocks is set by some feature."""
    for platform, features in FEATURES.items():
        set_ = {path for feature in features for path in feature}
        for folder in ("openshift", platform):
            schema = yaml_text.load((ROOT / "providers" / folder / "schema.yaml").read_text())
            for block, field in fields_of(schema["spec"]["fields"]):
                if block in ("openshift", "network", "controlPlane", "workers", platform):
                    path = f"{block}.{field}"
                    tally.check(path in set_ or field in LEFT_OUT.get(block, ()),
                                f"no random blueprint of {platform} sets {path}")


def fields_of(schemas):
    """Blocks of `spec` and their fields, from schemas by path."""
    for path, schema in schemas.items():
        _, *names = path.split(".")
        if len(names) == 1:
            yield from ((names[0], field) for field in schema.get("properties", {}))
        elif len(names) > 1:
            yield names[0], names[1]


def unknown_fields():
    """Release -> names of fields that its installer did not know, and the one of 5.0 does."""
    known_now, out = set(), collections.defaultdict(set)
    for line in CASES.read_text().splitlines():
        verdicts = json.loads(line)["verdicts"]
        for release, verdict in verdicts.items():
            for error in verdict["errors"]:
                found = re.search(r'unknown field "([^"]+)"', error["message"])
                if found and release != "5.0":
                    out[release].add(found.group(1))
                elif found:
                    known_now.add(found.group(1))
    return {release: names - known_now for release, names in out.items()}


def read_gates():
    out = {}
    for line in GATES.read_text().splitlines():
        if line and not line.startswith(("#", "release,")):
            release, gate, *on = line.split(",")
            out[release, gate] = on.index("yes") if "yes" in on else len(SETS)
    return out


def keys_of(tree):
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield key
            yield from keys_of(value)
    elif isinstance(tree, list):
        for item in tree:
            yield from keys_of(item)


def used_gates(config, release):
    """Gates that guard what an install-config uses, and the path."""
    ordinal = [int(part) for part in release.split(".")]
    platform = config["platform"]
    vsphere, aws, gcp = (platform.get(name, {}) for name in ("vsphere", "aws", "gcp"))
    domains = vsphere.get("failureDomains", [])
    pools = [config["controlPlane"], *config["compute"]]
    dns_install = "Install" if ordinal >= [4, 20] else ""
    stream = config.get("osImageStream", "rhel-10" if ordinal >= [5, 0] else "")
    if any(len(one["topology"]["networks"]) > 1 for one in domains) or "nodeNetworking" in vsphere:
        yield "VSphereMultiNetworks"
    if any(pool["platform"].get("vsphere", {}).get("dataDisks") for pool in pools):
        yield "VSphereMultiDisk"
    if any(one.get("zoneType") == "HostGroup" or "hostGroup" in one["topology"] for one in domains):
        yield "VSphereHostVMGroupZonal"
    if len(vsphere.get("vcenters", [])) > 1:
        yield "VSphereMultiVCenters"
    if vsphere.get("dnsRecordsType") == "External":
        yield "OnPremDNSRecords"
    if aws.get("ipFamily", "IPv4") != "IPv4":
        yield "AWSDualStackInstall"
    if aws.get("userProvisionedDNS") == "Enabled":
        yield "AWSClusterHostedDNS" + dns_install
    if gcp.get("userProvisionedDNS") == "Enabled":
        yield "GCPClusterHostedDNS" + dns_install
    if gcp.get("userLabels") or gcp.get("userTags"):
        yield "GCPLabelsTags"
    if stream and (ordinal < [5, 0] or stream != "rhel-10"):
        yield "OSStreams"


# Fields that the installer of a release does not know, by its source at the release branch; the cases say it of
# 4.19 and 4.21.
OLDER = {"4.16": {"iamProfile", "ovnKubernetesConfig", "nodeNetworking", "vpc", "dataDisks", "regionType", "hostGroup"},
         "4.17": {"ovnKubernetesConfig", "nodeNetworking", "vpc", "dataDisks", "regionType", "hostGroup"},
         "4.18": {"vpc", "dataDisks", "regionType", "hostGroup"},
         "4.20": {"throughput", "sourcePolicy", "firewallRulesManagement", "endpoint", "ipFamily", "osImageStream",
                  "dnsRecordsType"}, "4.22": set(), "5.0": set()}


def fields_lacked(release, unknown):
    lacked = set(unknown.get(release, ())) | OLDER.get(release, set())
    if release in ("4.16", "4.17", "4.18"):
        lacked |= unknown["4.19"]
    # Known to the released 4.21, not to the snapshot that gave the verdicts; see install-config-generated.
    return lacked


def check_release(gpuctl, release, count, facts, tally, scratch):
    unknown, gates = facts
    rng = random.Random(f"{SEED} {release}")
    folder = scratch / release
    folder.mkdir()
    files = []
    for number in range(count):
        files.append(folder / f"c{number}.yaml")
        files[-1].write_text(json.dumps(blueprint(rng, number, release)))
    env = environment(scratch, PULL_SECRET='{"auths": {}}', VCENTER_PASSWORD="x")
    said = run([gpuctl, "--format", "json", "validate", *files], env=env)
    tally.check(said.returncode in (0, 1), f"{release}: exit code {said.returncode}")
    refused = collections.defaultdict(list)
    for line in said.stderr.decode().splitlines():
        finding = json.loads(line)
        if finding["severity"] == "error":
            names = {pathlib.Path(span["file"]).name for span in finding["spans"]}
            home = next((file for file in files if file.name in names), None)
            if tally.check(home is not None, f"{release}: an error without a blueprint: {finding['message']}"):
                refused[home].append(finding)
    accepted = [file for file in files if file not in refused]
    # What is refused for the release says which release has it; the rest is refused at the newest, too.
    by_release = sum(1 for findings in refused.values()
                     if any("OpenShift" in finding["message"] or "feature gate" in finding["message"]
                            for finding in findings))
    tally.check(len(accepted) >= LEAST_RENDERED * count, f"{release}: only {len(accepted)} of {count} accepted")
    if release < "4.22":
        tally.check(by_release >= LEAST_REFUSED * count, f"{release}: only {by_release} refused for the release")
    done = run([gpuctl, "render", *accepted, "-o", folder / "out"], env=env)
    tally.check(done.returncode == 0, f"{release}: render gave {done.returncode}: {done.stderr.decode()[-300:]}")
    lacked = fields_lacked(release, unknown)
    rendered = 0
    for path in sorted((folder / "out").rglob("install-config.yaml")):
        config = yaml_text.load(path.read_text())
        rendered += 1
        have = lacked & set(keys_of(config))
        tally.check(not have, f"{release} {path.parent.parent.name}: the installer does not know {sorted(have)}")
        chosen = SETS[config.get("featureSet", "")]
        for gate in used_gates(config, release):
            needed = gates.get((release, gate), 0)
            tally.check(needed <= chosen, f"{release} {path.parent.parent.name}: {gate} is off")
    tally.check(rendered == len(accepted), f"{release}: {rendered} install-configs of {len(accepted)} blueprints")
    print(f"{release}: {rendered} rendered, {by_release} of {len(refused)} refused for the release")
    return refused


def main():
    options = arguments(__doc__)
    if not CASES.exists() or not GATES.exists():
        skip("install-configs of random blueprints", f"no {CASES} or {GATES}")
    tally = Tally()
    check_covered(tally)
    facts = unknown_fields(), read_gates()
    with tempfile.TemporaryDirectory() as scratch:
        for release, count in TRIED.items():
            check_release(options.gpuctl, release, count, facts, tally, pathlib.Path(scratch))
    tally.close()


if __name__ == "__main__":
    main()
