#!/usr/bin/env python3
"""Random manifests of others come back, whatever is combined.

Each input is drawn from what people have: a ClusterPolicy with some of its fields, MIG and sharing configurations in
ConfigMaps under free names, machine sets of a platform with and without GPUs, networks. It is imported, rendered, and
compared by tests/imports/run.py: what differs must have been named. Besides, of each input

- no document is lost that another one names and that is no Secret,
- nothing in the blueprint is without effect: gpuctl warns of no such field (GPU0424), and of a sample each field is
  edited by tests/imports/fields.py.

--seed and --count draw others; a failure names its seed, and `--seed N --count 1 --keep DIR` writes it down.
"""

import collections
import concurrent.futures
import json
import pathlib
import random
import re
import sys
import tempfile

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import imports.fields as fields  # noqa: E402
import imports.run as imports  # noqa: E402
from support.program import Tally, arguments  # noqa: E402

PLATFORMS = ["operators", "aws", "gcp", "vsphere"]
# Zero values of the provider, which the installer writes and people do not.
ZEROS = re.compile(r"spec[.]template[.]spec[.]providerSpec[.]value[.](deviceIndex|capacityReservationId|metadataServiceOptions"
                   r"|blockDevices\[\d+\][.]ebs[.](iops|kmsKey))$")
# What is known to have no effect, and why.
STILL = {
    "gpuPools.[].name": "machine sets keep their exact names, and nothing else has that of the pool",
    "machinePools.[].name": "machine sets keep their exact names, and nothing else has that of the pool",
    "gpuPools.[].replicas": "machine sets of one pool have different sizes; an override has each (GPU0424 says so)",
    "machinePools.[].replicas": "machine sets of one pool have different sizes; an override has each (GPU0424 says so)",
    "openshift.version": "says what the checks go by, where the manifests name no version",
    "vsphere.failureDomains.[].region": "tags that the installer reads; the cluster exists",
    "vsphere.failureDomains.[].zone": "tags that the installer reads; the cluster exists",
}


def policy_fields(draw):
    """Fields of a ClusterPolicy, each there or not."""
    menu = [
        ("operator.defaultRuntime", "crio"), ("operator.runtimeClass", "nvidia"), ("operator.use_ocp_driver_toolkit", True),
        ("daemonsets.updateStrategy", draw.choice(["RollingUpdate", "OnDelete"])),
        ("daemonsets.rollingUpdate.maxUnavailable", draw.choice(["1", "25%"])),
        ("daemonsets.priorityClassName", "system-node-critical"),
        ("daemonsets.tolerations", draw.sample([
            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
            {"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"},
            {"key": "tenant", "operator": "Equal", "value": "blue", "effect": "NoSchedule"},
            {"key": "spot", "operator": "Exists"},
            {"key": "node-role.kubernetes.io/infra", "operator": "Exists", "effect": "NoSchedule"}], draw.randint(1, 4))),
        ("daemonsets.labels", {"team": "ml"}),
        ("driver.enabled", True), ("driver.usePrecompiled", False),
        ("driver.kernelModuleType", draw.choice(["auto", "open"])), ("driver.useOpenKernelModules", draw.random() < 0.5),
        ("driver.imagePullSecrets", ["registry"]),
        ("driver.licensingConfig", draw.choice([{"nlsEnabled": True}, {"configMapName": "", "nlsEnabled": True}])),
        ("driver.certConfig", {"name": draw.choice(["", "own-certificates"])}),
        ("driver.kernelModuleConfig", {"name": draw.choice(["", "module-parameters"])}),
        ("driver.repoConfig", {"configMapName": draw.choice(["", "own-repositories"])}),
        ("driver.manager.env", [{"name": "ENABLE_AUTO_DRAIN", "value": "false"}]),
        ("driver.upgradePolicy.autoUpgrade", draw.random() < 0.7),
        ("driver.upgradePolicy.maxParallelUpgrades", draw.randint(0, 4)),
        ("driver.upgradePolicy.maxUnavailable", draw.choice(["25%", "50%"])),
        ("driver.upgradePolicy.drain", {"enable": draw.random() < 0.5, "force": draw.random() < 0.5, "timeoutSeconds": 300,
                                        "deleteEmptyDir": draw.random() < 0.5}),
        ("driver.upgradePolicy.podDeletion", {"force": draw.random() < 0.5, "timeoutSeconds": draw.choice([300, 600]),
                                              "deleteEmptyDir": False}),
        ("driver.upgradePolicy.waitForCompletion", {"timeoutSeconds": draw.choice([0, 600])}),
        ("toolkit.enabled", True), ("toolkit.installDir", "/usr/local/nvidia"),
        ("toolkit.env", [{"name": "NVIDIA_CONTAINER_RUNTIME_LOG_LEVEL", "value": "info"}]),
        ("devicePlugin.enabled", True), ("devicePlugin.mps.root", "/run/nvidia/mps"),
        ("devicePlugin.env", [{"name": "PASS_DEVICE_SPECS", "value": "true"}]),
        ("gfd.enabled", True), ("mig.strategy", draw.choice(["single", "mixed"])),
        ("migManager.enabled", True), ("migManager.env", [{"name": "WITH_REBOOT", "value": "true"}]),
        ("migManager.config.default", draw.choice(["", "all-disabled"])),
        ("dcgm.enabled", draw.random() < 0.8), ("dcgmExporter.enabled", True),
        ("dcgmExporter.serviceMonitor", draw.choice([{"enabled": True}, {"enabled": False}, {"enabled": True, "interval": "30s"},
            {"enabled": True, "interval": "15s", "honorLabels": True, "additionalLabels": {"release": "kube"}}])),
        ("dcgmExporter.config", {"name": draw.choice(["", "own-counters"])}),
        ("nodeStatusExporter.enabled", draw.random() < 0.8),
        ("validator.plugin.env", draw.choice([[], [{"name": "WITH_WORKLOAD", "value": draw.choice(["true", "false"])}]])),
        ("validator.cuda.env", [{"name": "WITH_WORKLOAD", "value": "false"}]),
        ("gds.enabled", False), ("gdrcopy.enabled", draw.random() < 0.2), ("cdi.enabled", draw.random() < 0.8),
        ("cdi.default", False), ("psa.enabled", False), ("sandboxWorkloads.enabled", False),
        ("sandboxWorkloads.defaultWorkload", "container"), ("vgpuManager.enabled", False), ("vfioManager.enabled", True),
        ("vgpuDeviceManager", {"enabled": True, "config": {"default": "default"}}), ("sandboxDevicePlugin.enabled", True),
        ("hostPaths.kubeletRootDir", "/var/lib/kubelet"), ("ccManager.enabled", False),
    ]
    often = draw.choice([0.1, 0.4, 0.8])
    image = [("driver.repository", "registry.example.com/nvidia"), ("driver.image", "driver"), ("driver.version", "580.105.08")]
    return [(path, value) for path, value in menu if draw.random() < often] + (image if draw.random() < often else [])


def nested(pairs):
    out = {}
    for path, value in pairs:
        at = out
        *above, last = path.split(".")
        for step in above:
            at = at.setdefault(step, {})
        at[last] = value
    return out


def config_map(draw, name, data):
    placed = {"namespace": "nvidia-gpu-operator"} if draw.random() < 0.7 else {}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **placed}, "data": data}


def mig_config(draw):
    """{name: entries} of layouts that an A100 or H100 can have."""
    parts = [{"1g.5gb": 7}, {"2g.10gb": 3}, {"3g.20gb": 2}, {"7g.40gb": 1}, {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1}]
    out = {"all-disabled": [{"devices": "all", "mig-enabled": False}]}
    for index in range(draw.randint(1, 3)):
        entries = [{"devices": "all", "mig-enabled": True, "mig-devices": draw.choice(parts)}]
        if draw.random() < 0.3:
            entries = [{"devices": [0, 1], "mig-enabled": True, "mig-devices": draw.choice(parts)},
                       {"devices": [2, 3, 4, 5, 6, 7], "mig-enabled": draw.random() < 0.5}]
            if entries[1]["mig-enabled"]:
                entries[1]["mig-devices"] = draw.choice(parts)
        out[draw.choice(["half", "slices", "team.a", "Mixed-1", "quarter"]) + str(index)] = entries
    return out


def sharing_config(draw, parts):
    """Configurations of the device plugin; MPS shares no parts of GPUs."""
    out = {}
    for name in draw.sample(["default", "quarters", "Tesla_T4", "shared.x4", "plain"], draw.randint(1, 3)):
        config = {"version": "v1"}
        if draw.random() < 0.4:
            config["flags"] = {"migStrategy": draw.choice(["none", "single", "mixed"])}
        if draw.random() < 0.8:
            way = draw.choice(["timeSlicing", "timeSlicing" if parts or "flags" in config else "mps"])
            config["sharing"] = {way: {"resources": [{"name": "nvidia.com/gpu", "replicas": draw.randint(2, 10)}]}}
            if draw.random() < 0.4:
                config["sharing"][way]["renameByDefault"] = draw.random() < 0.5
            if way == "timeSlicing" and draw.random() < 0.4:
                config["sharing"][way]["failRequestsGreaterThanOne"] = draw.random() < 0.5
        out[name] = config
    return out


def stack(draw, platform):
    """(documents, names that node labels may have: MIG and sharing)."""
    out, offered = [], {"mig": ["all-disabled"], "sharing": []}
    pairs = policy_fields(draw)
    if draw.random() < 0.5:
        config = mig_config(draw)
        name = draw.choice(["custom-mig", "mig-parted-config", "mig"])
        pairs.append(("migManager.config.name", name))
        out.append(config_map(draw, name, {"config.yaml": yaml.safe_dump({"version": "v1", "mig-configs": config})}))
        offered["mig"] = list(config)
        pairs.append(("mig.strategy", "mixed"))  # with `single` not every combination is one that works
    if draw.random() < 0.5:
        config = sharing_config(draw, len(offered["mig"]) > 1)
        name = draw.choice(["time-slicing-config", "device-plugin-config", "plugin"])
        pairs.append(("devicePlugin.config.name", name))
        if draw.random() < 0.6:
            pairs.append(("devicePlugin.config.default", draw.choice(list(config))))
        out.append(config_map(draw, name, {key: yaml.safe_dump(value) for key, value in config.items()}))
        offered["sharing"] = list(config)
    named = dict(pairs)
    others = {("driver.certConfig", "name"): {"ca.crt": "-----BEGIN CERTIFICATE-----\nbm90IG9uZQ==\n-----END CERTIFICATE-----\n"},
              ("driver.kernelModuleConfig", "name"): {"nvidia.conf": "NVreg_EnableGpuFirmware=0\n"},
              ("driver.repoConfig", "configMapName"): {"own.repo": "[own]\nbaseurl=https://packages.example.com\n"},
              ("dcgmExporter.config", "name"): {"dcgm-metrics.csv": "DCGM_FI_DEV_GPU_UTIL, gauge, use\n"}}
    for (path, key), data in others.items():
        name = named.get(path, {}).get(key, "")
        if name and draw.random() < 0.7:
            out.append(config_map(draw, name, data))
    spec = nested(pairs)
    out.append({"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": draw.choice(
        ["gpu-cluster-policy", "cluster-policy"])}, "spec": spec})
    if draw.random() < 0.5:
        channel = draw.choice(["v24.9", "v25.3", "v25.10", "v26.3", "v26.7"])
        out.append(subscription(draw, "gpu-operator-certified", "nvidia-gpu-operator", channel, "certified-operators"))
    if draw.random() < 0.4:
        out.append(subscription(draw, "nfd", "openshift-nfd", "stable", "redhat-operators"))
    if draw.random() < 0.4:
        out.append(feature_discovery(draw))
    if platform in ("operators", "vsphere") and draw.random() < 0.5:
        out += networks(draw)
    return out, offered


def subscription(draw, name, namespace, channel, source):
    spec = {"channel": channel, "name": name, "source": source, "sourceNamespace": "openshift-marketplace"}
    if draw.random() < 0.7:
        spec["installPlanApproval"] = draw.choice(["Automatic", "Manual"])
    if draw.random() < 0.3:
        spec["config"] = {"resources": {"limits": {"memory": "1Gi"}},
                          "tolerations": [{"key": "infra", "operator": "Exists", "effect": "NoSchedule"}]}
    return {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription",
            "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def feature_discovery(draw):
    pci = {"deviceClassWhitelist": draw.choice([["0200", "03", "12"], ["02", "03", "12"], ["02", "03", "0b40", "12"]]),
           "deviceLabelFields": ["vendor"]}
    core = {"sleepInterval": draw.choice(["60s", "30s"])} if draw.random() < 0.8 else {}
    if draw.random() < 0.3:
        core["labelSources"] = ["pci", "kernel", "system", "local"]
    spec = {"workerConfig": {"configData": yaml.safe_dump({"core": core, "sources": {"pci": pci}})}}
    if draw.random() < 0.6:
        spec["operand"] = {"image": "registry.redhat.io/openshift4/ose-node-feature-discovery-rhel9:v4.20",
                           "servicePort": 12000}
    if draw.random() < 0.3:
        spec["topologyUpdater"] = False
    return {"apiVersion": "nfd.openshift.io/v1", "kind": "NodeFeatureDiscovery",
            "metadata": {"name": "nfd-instance", "namespace": "openshift-nfd"}, "spec": spec}


def networks(draw):
    out = []
    if draw.random() < 0.7:
        out.append(subscription(draw, "nvidia-network-operator", "nvidia-network-operator", "v26.4", "certified-operators"))
    policy = {}
    if draw.random() < 0.7:
        policy["ofedDriver"] = {"image": "doca-driver", "repository": "nvcr.io/nvidia/mellanox",
                                "version": draw.choice(["doca3.4.1-26.04-1.1.0.0-1", "doca3.1.0-25.07-0.9.7.0-0"])}
        if draw.random() < 0.5:
            policy["ofedDriver"]["upgradePolicy"] = {"autoUpgrade": draw.random() < 0.5, "maxParallelUpgrades": 1}
        if draw.random() < 0.4:
            policy["ofedDriver"]["env"] = [{"name": "RESTORE_DRIVER_ON_POD_TERMINATION", "value": "true"}]
    shared, kinds = [], draw.sample(["MacvlanNetwork", "IPoIBNetwork", "SriovNetwork", "HostDeviceNetwork"], draw.randint(1, 2))
    for index, kind in enumerate(kinds):
        name, resource = f"net-{index}", draw.choice([f"net_{index}", f"rdma{index}"])
        ipam = draw.choice([{"type": "whereabouts", "range": f"192.168.{index}.0/24"},
                            {"type": "nv-ipam", "poolName": f"pool-{index}"},
                            {"type": "whereabouts", "range": f"10.{index}.0.0/16", "exclude": [f"10.{index}.0.1/32"]}])
        spec = {"networkNamespace": draw.choice(["default", "training"]), "ipam": json.dumps(ipam)}
        if ipam["type"] == "nv-ipam":
            out.append({"apiVersion": "nv-ipam.nvidia.com/v1alpha1", "kind": "IPPool",
                        "metadata": {"name": f"pool-{index}", "namespace": "nvidia-network-operator"},
                        "spec": {"subnet": f"192.168.{index}.0/24", "perNodeBlockSize": 16,
                                 "gateway": f"192.168.{index}.1"}})
        place = {}
        if kind == "MacvlanNetwork":
            spec |= {"master": f"ens{index}f0", "mode": draw.choice(["bridge", "private"]), "mtu": draw.choice([1500, 9000])}
        elif kind == "IPoIBNetwork":
            spec["master"] = f"ibs{index}"
        else:
            spec["resourceName"] = resource
        if kind in ("MacvlanNetwork", "IPoIBNetwork"):
            shared.append({"resourceName": resource, "rdmaHcaMax": draw.choice([63, 1000]),
                           "selectors": {"ifNames": [spec["master"]], "vendors": ["15b3"]}})
        elif kind == "HostDeviceNetwork":
            policy["sriovDevicePlugin"] = {
                "image": "sriov-network-device-plugin", "repository": "nvcr.io/nvidia/mellanox",
                "version": "network-operator-v26.4.1",
                "config": json.dumps({"resourceList": [{"resourcePrefix": "nvidia.com", "resourceName": resource,
                                                        "selectors": {"vendors": ["15b3"], "isRdma": True}}]})}
        else:
            place = {"namespace": "openshift-sriov-network-operator"}
            out.append({"apiVersion": "sriovnetwork.openshift.io/v1", "kind": "SriovNetworkNodePolicy",
                        "metadata": {"name": draw.choice([name, f"policy-{index}"]), **place},
                        "spec": {"resourceName": resource, "numVfs": draw.randint(2, 8), "deviceType": "netdevice",
                                 "isRdma": True, "priority": draw.choice([90, 99]), "nicSelector": {"vendor": "15b3",
                                 "pfNames": [f"ens{index}f0np0"]}, "nodeSelector": draw.choice([
                                     {"feature.node.kubernetes.io/network-sriov.capable": "true"},
                                     {f"network.gpuctl.dev/{name}": "true"}])}})
        group = "sriovnetwork.openshift.io/v1" if kind == "SriovNetwork" else "mellanox.com/v1alpha1"
        out.append({"apiVersion": group, "kind": kind, "metadata": {"name": name, **place}, "spec": spec})
    if shared:
        policy["rdmaSharedDevicePlugin"] = {"image": "k8s-rdma-shared-dev-plugin", "repository": "nvcr.io/nvidia/mellanox",
                                            "version": "network-operator-v26.4.1",
                                            "config": json.dumps({"configList": shared})}
    if policy:
        out.append({"apiVersion": "mellanox.com/v1alpha1", "kind": "NicClusterPolicy",
                    "metadata": {"name": "nic-cluster-policy"}, "spec": policy})
    return out


def aws_machine(draw, infra, zone, gpu, volume):
    tags = [{"name": f"kubernetes.io/cluster/{infra}", "value": "owned"}] + volume["tags"]
    value = {
        "apiVersion": "machine.openshift.io/v1beta1", "kind": "AWSMachineProviderConfig", "ami": {"id": "ami-0a1b2c3d4e5f60718"},
        "instanceType": gpu or volume["cpu"]["aws"], "placement": {"region": "us-east-1", "availabilityZone": "us-east-1" + zone},
        "subnet": {"filters": [{"name": "tag:Name", "values": [f"{infra}-{volume['subnet']}-us-east-1{zone}"]}]},
        "securityGroups": [{"filters": [{"name": "tag:Name", "values": [f"{infra}-{group}"]}]} for group in volume["groups"]],
        "iamInstanceProfile": {"id": f"{infra}-worker-profile"}, "tags": tags,
        "blockDevices": [{"ebs": {"volumeType": "gp3", "volumeSize": volume["size"], "encrypted": True, **volume["ebs"]}}],
        "userDataSecret": {"name": "worker-user-data"}, "credentialsSecret": {"name": "aws-cloud-credentials"}}
    if volume["spot"]:
        value["spotMarketOptions"] = {}
    return value


def gcp_machine(draw, infra, zone, gpu, volume):
    value = {
        "apiVersion": "machine.openshift.io/v1beta1", "kind": "GCPMachineProviderSpec", "canIPForward": False,
        "machineType": gpu or volume["cpu"]["gcp"], "region": "us-east4", "zone": "us-east4-" + zone, "projectID": "ember-ml",
        "deletionProtection": False, "tags": [f"{infra}-worker"], "disks": [{
            "autoDelete": True, "boot": True, "sizeGb": volume["size"], "type": "pd-ssd",
            "image": "projects/rhcos-cloud/global/images/rhcos-419-96-202504101033-0-gcp-x86-64"}],
        "networkInterfaces": [{"network": f"{infra}-network", "subnetwork": f"{infra}-worker-subnet"}],
        "serviceAccounts": [{"email": f"{infra}-w@ember-ml.iam.gserviceaccount.com",
                             "scopes": ["https://www.googleapis.com/auth/cloud-platform"]}],
        "userDataSecret": {"name": "worker-user-data"}, "credentialsSecret": {"name": "gcp-cloud-credentials"}}
    if gpu:
        value |= {"onHostMaintenance": "Terminate"}
    if volume["spot"]:
        value["preemptible"] = True
    elif gpu:
        value["restartPolicy"] = "Always"
    return value


def vsphere_machine(draw, infra, zone, gpu, volume):
    return {
        "apiVersion": "machine.openshift.io/v1beta1", "kind": "VSphereMachineProviderSpec", "numCPUs": volume["cpus"],
        "numCoresPerSocket": volume["cpus"] // 2, "memoryMiB": 65536, "diskGiB": volume["size"], "snapshot": "",
        "template": f"/DC/vm/templates/{infra}-{volume['name']}-{gpu or 'rhcos'}", "network": {"devices": [{"networkName": "VM Network"}]},
        "workspace": {"server": "vc.example.com", "datacenter": "DC", "datastore": f"/DC/datastore/ssd{zone}",
                      "folder": f"/DC/vm/{infra}", "resourcePool": f"/DC/host/cluster-{zone}/Resources"},
        "userDataSecret": {"name": "worker-user-data"}, "credentialsSecret": {"name": "vsphere-cloud-credentials"}}


GPUS = {"aws": [("g6.2xlarge", 1), ("g5.12xlarge", 4), ("p4d.24xlarge", 8)], "gcp": [("g2-standard-24", 2), ("a2-highgpu-8g", 8)],
        "vsphere": [("l40s", 1), ("a100", 2)]}
MACHINES = {"aws": aws_machine, "gcp": gcp_machine, "vsphere": vsphere_machine}


def machine_sets(draw, platform, offered):
    infra = draw.choice(["ember-9rx3q", "prod-ml-zx81q"])
    out = []
    for name in draw.sample(["gpu", "train", "worker", "infra", "batch"], draw.randint(1, 3)):
        gpu, per_node = draw.choice(GPUS[platform]) if name in ("gpu", "train", "batch") else (None, 0)
        labels = {key: value for key, value in [
            ("node-role.kubernetes.io/gpu" if gpu else f"node-role.kubernetes.io/{name}", ""),
            ("cluster-api/accelerator", "nvidia-gpu"), ("team.example.com/owner", "vision"),
            ("nvidia.com/mig.config", draw.choice(offered["mig"])),
            ("nvidia.com/device-plugin.config", draw.choice(offered["sharing"] or ["x"]))]
            if draw.random() < 0.5 and (gpu or not key.startswith(("nvidia", "cluster-api")))
            and (offered["sharing"] or "device-plugin" not in key)
            and ("mig.config" not in key or gpu in ("p4d.24xlarge", "a2-highgpu-8g", "a100"))}
        if "nvidia.com/mig.config" in labels:  # what is shared is not cut here: MPS could not do both
            labels.pop("nvidia.com/device-plugin.config", None)
        taints = draw.choice([None, [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}] if gpu else None,
                              [{"key": "dedicated", "value": name, "effect": "NoSchedule"}]])
        volume = {"name": name, "size": draw.choice([120, 200]), "spot": draw.random() < 0.2, "cpus": draw.choice([8, 16]),
                  "cpu": {"aws": "m6i.2xlarge", "gcp": "n2-standard-8"}, "subnet": draw.choice(["private", "subnet-private"]),
                  "groups": draw.choice([["worker-sg"], ["node", "lb"]]), "tags": draw.choice([[], [{"name": "cost", "value": "42"}]]),
                  "ebs": draw.choice([{}, {"iops": 0, "kmsKey": {"arn": ""}}, {"iops": 4000}])}
        form = draw.choice(["{infra}-{name}-{zone}", "{name}-{zone}"])
        for zone in draw.sample("abc", draw.randint(1, 2)):
            suffix = {"aws": "us-east-1" + zone, "gcp": zone, "vsphere": str("abc".index(zone))}[platform]
            own = form.format(infra=infra, name=name, zone=suffix)
            cluster = {"machine.openshift.io/cluster-api-cluster": infra}
            chosen = {**cluster, "machine.openshift.io/cluster-api-machineset": own}
            spec = {"metadata": {"labels": labels} if labels else {}, "providerSpec": {"value": MACHINES[platform](
                draw, infra, zone, gpu, volume)}}
            if taints:
                spec["taints"] = taints
            annotations = {"machine.openshift.io/GPU": str(per_node)} if draw.random() < 0.5 and platform != "vsphere" else {}
            out.append({"apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet",
                        "metadata": {"name": own, "namespace": "openshift-machine-api", "labels": cluster,
                                     **({"annotations": annotations} if annotations else {})},
                        "spec": {"replicas": draw.randint(0, 3), "selector": {"matchLabels": chosen},
                                 "template": {"metadata": {"labels": {
                                     **chosen, "machine.openshift.io/cluster-api-machine-role": "worker",
                                     "machine.openshift.io/cluster-api-machine-type": "worker"}}, "spec": spec}}})
            if draw.random() < 0.3:
                out.append({"apiVersion": "autoscaling.openshift.io/v1beta1", "kind": "MachineAutoscaler",
                            "metadata": {"name": own, "namespace": "openshift-machine-api"},
                            "spec": {"minReplicas": 0, "maxReplicas": draw.randint(1, 4), "scaleTargetRef": {
                                "apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet", "name": own}}})
    return out


def documents(seed):
    draw = random.Random(seed)
    platform = PLATFORMS[seed % len(PLATFORMS)]
    out, offered = stack(draw, platform)
    if platform != "operators":
        if draw.random() < 0.3:
            out = []
            offered = {"mig": ["all-disabled"], "sharing": []}
        out += machine_sets(draw, platform, offered)
    draw.shuffle(out)
    return platform, out


def named_by(documents):
    """All texts in documents but the names of the documents themselves."""
    found = set()

    def walk(tree):
        for _, value in fields.values(tree):
            if isinstance(value, str):
                found.add(value)
    for document in documents:
        walk({key: value for key, value in document.items() if key != "metadata"})
    return found


def check(gpuctl, seed, keep, tally, counts):
    platform, given = documents(seed)
    with tempfile.TemporaryDirectory() as folder:
        case = pathlib.Path(keep or folder) / f"seed-{seed}"
        (case / "input").mkdir(parents=True)
        (case / "input/all.yaml").write_text(yaml.safe_dump_all(given, sort_keys=False), encoding="utf-8")
        option = "--platform existing-openshift" if platform == "operators" else f"--platform {platform}"
        (case / "cmd").write_text(f"import {{case}}/input -o {{out}} {option}\n", encoding="utf-8")
        found = imports.call(gpuctl, case, "--format", "json", "import", *imports.words_of(case), "-o", case / "out")
        findings = [json.loads(line) for line in found.stderr.splitlines() if line.startswith("{")]
        wrong = [f"{one['code']} {one['message']}" for one in findings if one["severity"] == "error"]
        if not tally.check(found.returncode == 0, f"seed {seed}: ends with {found.returncode}: {', '.join(wrong)}"):
            return None
        before = tally.failed
        overridden = imports.foreign(gpuctl, case, tally, lambda who, path: ZEROS.match(path))
        for finding in findings:
            counts[finding["code"]] += finding["severity"] in ("error", "warning")
        gone = [finding["message"] for finding in findings if finding["code"] == "GPU0631" and not finding.get("path")]
        named = named_by(given)
        for document in given:
            title = imports.title(document)
            lost = any(f"`{title}`" in message for message in gone)
            tally.check(not lost or document["metadata"]["name"] not in named, f"seed {seed}: {title} is lost, and is named")
        for finding in findings:
            idle = finding["code"] == "GPU0424" and ".replicas` has no effect" not in finding["message"]
            tally.check(not idle, f"seed {seed}: {finding['message']}")
        counts["values of overrides"] += overridden or 0
        if tally.failed > before and not keep:
            print(f"  see it with --seed {seed} --count 1 --keep DIR")
        if keep:
            return None
        blueprint = next((path for path in (case / "out").glob("*.yaml") if not path.name.endswith(".facts.yaml")), None)
        return blueprint and (blueprint.name, imports_tree(case / "out"))


def imports_tree(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def still(gpuctl, blueprint, texts):
    """Fields of an imported blueprint of which no edit shows."""
    name, tree = blueprint
    with tempfile.TemporaryDirectory() as folder:
        for path, content in tree.items():
            place = pathlib.Path(folder) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        return fields.still_of(gpuctl, pathlib.Path(folder) / name, texts)


def main():
    options = arguments(__doc__, lambda parser: (
        parser.add_argument("--seed", type=int, default=0), parser.add_argument("--count", type=int, default=40),
        parser.add_argument("--edited", type=int, default=3, help="inputs of which each field is edited"),
        parser.add_argument("--keep")))
    tally, counts = Tally(), collections.Counter()
    seeds = range(options.seed, options.seed + options.count)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        made = dict(zip(seeds, pool.map(lambda seed: check(options.gpuctl, seed, options.keep, tally, counts), seeds)))
        texts = fields.texts_of_others()
        sample = [seed for seed in seeds if made[seed]][:options.edited]
        for seed, paths in zip(sample, pool.map(lambda seed: still(options.gpuctl, made[seed], texts), sample)):
            for path in paths or []:
                general = ".".join("[]" if step.isdigit() else step for step in path.split("."))
                tally.check(general in STILL, f"seed {seed}: an edit of {path} changes nothing")
            tally.check(paths is not None, f"seed {seed}: the blueprint does not render")
    print(f"{len(seeds)} inputs; " + ", ".join(f"{what}: {count}" for what, count in sorted(counts.items()) if count))
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
