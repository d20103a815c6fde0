#!/usr/bin/env python3
"""What we write for the MIG manager and the device plugin is what these read.

Every ConfigMap for them in the golden trees, and in clusters made here, is read by gpu_formats.py, which
knows the published formats and nothing of gpuctl. The clusters: for each class of GPUs and each release
line of the operator, a pool for every built-in configuration, for a layout of its own, and for layouts by
GPU, cut, shared by turns or by MPS, with both strategies. Labels of nodes must be keys of the
ConfigMaps, geometries must fit, and what cluster.yaml and `validate -v` say that a node offers must be
what the layout adds up to.
"""

import copy
import json
import pathlib
import re
import sys
import tempfile

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from conformance import gpu_formats as formats  # noqa: E402
from support import yaml_text  # noqa: E402
from support.program import ROOT, Tally, arguments, environment, run  # noqa: E402

GOLDEN = ROOT / "tests/golden"
TABLES = ROOT / "providers"
# What must be refused, so that a reader which takes everything is noticed.
GOOD_MIG = {"version": "v1", "mig-configs": {
    "all-disabled": [{"devices": "all", "mig-enabled": False}],
    "a": [{"devices": [0], "mig-enabled": True, "mig-devices": {"1g.5gb+me": 1},
           "device-filter": ["0x20B010DE"]}]}}
SPOILED_MIG = [(["version"], "v2"), (["more"], 1), (["mig-configs", "a"], []),
               (["mig-configs", "a", 0, "devices"], "some"), (["mig-configs", "a", 0, "mig-enabled"], "yes"),
               (["mig-configs", "a", 0, "mig-devices"], None), (["mig-configs", "a", 0, "name"], "x"),
               (["mig-configs", "a", 0, "mig-devices"], {"1g.5gb.me": 1}),
               (["mig-configs", "a", 0, "mig-devices"], {"1g.5gb": 0}),
               (["mig-configs", "a", 0, "device-filter"], "A100"), (["mig-configs", "all-disabled"], None)]
GOOD_PLUGIN = {"version": "v1", "flags": {"migStrategy": "mixed"}, "sharing": {"timeSlicing": {
    "resources": [{"name": "nvidia.com/mig-1g.5gb", "replicas": 2}]}}}
SPOILED_PLUGIN = [(["version"], "v2"), (["flags", "renameByDefault"], True), (["flags", "migStrategy"], "any"),
                  (["sharing", "timeSlicing", "resources"], []),
                  (["sharing", "timeSlicing", "resources", 0, "replicas"], 1),
                  (["sharing", "timeSlicing", "resources", 0, "devices"], [0]),
                  (["sharing", "timeSlicing", "resources", 0, "name"], "nvidia.com/mig-1g.5gb+me"),
                  (["sharing", "mps"], {"resources": [{"name": "nvidia.com/gpu", "replicas": 2}]}),
                  (["flags", "migStrategy"], "single")]


def table(path):
    return yaml_text.load((TABLES / path).read_text())["spec"]["rows"]


def accepted(tally, what, read, tree):
    try:
        read(tree)
    except ValueError as problem:
        return tally.check(False, f"{what}: {problem}")
    return tally.check(True, what)


def check_readers(tally):
    for read, good, spoiled in ((formats.mig_parted, GOOD_MIG, SPOILED_MIG),
                                (formats.device_plugin, GOOD_PLUGIN, SPOILED_PLUGIN)):
        accepted(tally, "a good file", read, good)
        for path, value in spoiled:
            bad = copy.deepcopy(good)
            node = bad
            for step in path[:-1]:
                node = node[step]
            node[path[-1]] = value
            if value is None:
                del node[path[-1]]
            try:
                read(bad)
                tally.check(False, f"{path} = {value} is taken")
            except ValueError:
                tally.check(True, "refused")


def config_maps(documents):
    """(for MIG, for the device plugin): lists of (name, key -> tree)."""
    mig, plugin = [], []
    for document in documents:
        if not isinstance(document, dict) or document.get("kind") != "ConfigMap":
            continue
        texts = {key: yaml_text.load(text) for key, text in document.get("data", {}).items()
                 if key == "config.yaml" or "version: v1" in text}
        name = document["metadata"]["name"]
        if any(isinstance(tree, dict) and "mig-configs" in tree for tree in texts.values()):
            mig.append((name, texts))
        elif texts and all(isinstance(tree, dict) and "version" in tree for tree in texts.values()):
            plugin.append((name, texts))
    return mig, plugin


def check_documents(tally, what, documents):
    mig, plugin = config_maps(documents)
    for name, texts in mig:
        tally.check(list(texts) == ["config.yaml"], f"{what}: {name} has the keys {list(texts)}")
        accepted(tally, f"{what}: {name}", formats.mig_parted, texts.get("config.yaml"))
    for name, texts in plugin:
        for key, tree in texts.items():
            tally.check(formats.LABEL_VALUE.fullmatch(key), f"{what}: {key} can be no label")
            accepted(tally, f"{what}: {name} {key}", formats.device_plugin, tree)
    return mig, plugin


def golden_documents():
    for path in sorted(GOLDEN.rglob("*")):
        if path.is_file() and ("tree" in path.parts or path.name == "stdout") and "import" not in path.parts:
            text = path.read_text(errors="replace")
            if "kind: ConfigMap" in text and ("mig-configs" in text or "sharing:" in text):
                # What goes to standard output holds pages for people, too.
                yield path.relative_to(GOLDEN), [yaml_text.load(part) for part in text.split("\n---\n")
                                                 if "kind: ConfigMap" in part and "apiVersion: v1" in part]


def pools_of(gpu_class, builtins, model):
    """The pools of a cluster for one class: (pool of the blueprint, parts of each GPU, replicas)."""
    found = []

    def add(layouts, strategy, by_gpu, sharing=None, replicas=1):
        pool = {"name": f"p{len(found)}", "instanceType": "x1.large", "replicas": 2,
                "gpu": {"model": model, "perNode": 3}}
        if layouts:
            pool["mig"] = {"strategy": strategy, "layouts": layouts}
        if sharing:
            pool["sharing"] = {"default": "way", "profiles": {"way": sharing, "alone": {}}}
        found.append((pool, by_gpu, replicas))

    for i, parts in enumerate(builtins):
        strategy = "single" if len(parts) == 1 and i % 2 else "mixed"
        sharing = {"timeSlicing": {"replicas": 2 + i, "renameByDefault": i % 3 == 0}} if i % 2 else None
        add([{"partitions": parts}], strategy, [parts] * 3, sharing, 2 + i if sharing else 1)
    one, other = builtins[0], builtins[-1]
    add([{"devices": [0], "partitions": one}, {"devices": [2], "partitions": other}], "mixed",
        [one, None, other])
    fewer = {name: max(1, count - 1) for name, count in one.items()}
    add([{"partitions": fewer}], "single", [fewer] * 3)
    add(None, None, [None] * 3, {"mps": {"replicas": 7}}, 7)
    return found


def expected_offer(pool, by_gpu, replicas):
    """Resource -> number on one node, from the layout alone."""
    single = pool.get("mig", {}).get("strategy") == "single"
    renamed = any(way.get("renameByDefault") for way in
                  pool.get("sharing", {"profiles": {}})["profiles"].get("way", {}).values())
    out = {}
    for parts in by_gpu:
        for name, count in (parts or {None: 1}).items():
            resource = "nvidia.com/gpu" if single or name is None else formats.resource_of(name)
            resource += ".shared" if renamed else ""
            out[resource] = out.get(resource, 0) + count * replicas
    return out


def blueprint(line, pools):
    return {"apiVersion": "gpuctl.dev/v1alpha1", "kind": "Blueprint", "metadata": {"name": "lab"}, "spec": {
        "platform": "aws", "baseDomain": "example.com", "openshift": {"version": "4.20"},
        "aws": {"region": "us-east-1", "zones": ["us-east-1a"]},
        "access": {"pullSecret": {"env": "P"}, "sshKey": {"env": "S"}},
        "gpuStack": {"gpuOperator": {"release": line}}, "gpuPools": [pool for pool, _, _ in pools]}}


def errors_of(text):
    return "\n".join(part for part in text.split("\n\n") if part.startswith("error"))[:2000]


def check_said(tally, what, text, pools):
    """`validate -v` says what nodes offer, and how one is switched."""
    said = dict(re.findall(r"^  (\S+) = (.*?): [a-z]", text, re.M))
    for pool, by_gpu, replicas in pools:
        name = pool["name"]
        offer = json.loads(said.get(f"gpuPools[{name}].offers", "{}"))
        tally.check(offer.get("node") == expected_offer(pool, by_gpu, replicas), f"{what} {name}: says {offer}")
        switches = json.loads(said.get(f"gpuPools[{name}].switch", "[]"))
        wanted = [label for key, label in (("mig", "mig.config"), ("sharing", "device-plugin.config"))
                  if key in pool]
        tally.check([one["command"] for one in switches]
                    == ["oc --namespace openshift-machine-api patch machine MACHINE --type merge --patch '"
                        + json.dumps({"spec": {"metadata": {"labels": {f"nvidia.com/{label}": "NAME"}}}},
                                     separators=(",", ":")) + "'" for label in wanted]
                    and all(one["names"] for one in switches), f"{what} {name}: switches {switches}")


def matches(entry, gpu_class):
    wanted = entry.get("device-filter", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    return not wanted or set(wanted) & set(gpu_class.get("devices", []))


def check_cluster(tally, what, tree, gpu_class, pools):
    documents = [yaml_text.load(path.read_text()) for path in sorted((tree / "layers").rglob("*.yaml"))]
    mig, plugin = check_documents(tally, what, documents)
    configs = mig[0][1]["config.yaml"]["mig-configs"] if mig else {}
    tally.check(bool(mig) and bool(plugin), f"{what}: no ConfigMaps")
    sets = {document["metadata"]["name"].split("-")[2]: document["spec"]["template"]["spec"]["metadata"]["labels"]
            for document in documents if document.get("kind") == "MachineSet"}
    about = {pool["name"]: pool for pool in yaml_text.load((tree / "cluster.yaml").read_text())["gpuPools"]}
    for pool, by_gpu, replicas in pools:
        where, labels = f"{what} {pool['name']}", sets[pool["name"]]
        if "mig" in pool:
            entries = configs.get(labels["nvidia.com/mig.config"])
            if tally.check(entries is not None, f"{where}: {labels} names no configuration"):
                got = [next((entry.get("mig-devices") for entry in entries if matches(entry, gpu_class)
                             and (entry["devices"] == "all" or gpu in entry["devices"])), "none")
                       for gpu in range(3)]
                tally.check([parts or None for parts in got] == by_gpu, f"{where}: {got}, not {by_gpu}")
        key = labels.get("nvidia.com/device-plugin.config")
        tally.check(key is None or key in plugin[0][1], f"{where}: no configuration {key}")
        offer = expected_offer(pool, by_gpu, replicas)
        tally.check(about[pool["name"]]["node"] == offer, f"{where}: offers {about[pool['name']]}, not {offer}")
        tally.check(all(about[pool["name"]]["pool"][name] == {"min": 2 * count, "max": 2 * count}
                        for name, count in offer.items()), f"{where}: in all")
        if key is not None and "sharing" in pool:
            shared = plugin[0][1][key].get("sharing", {})
            names = {one["name"] for way in shared.values() for one in way["resources"]}
            tally.check(names == {name.removesuffix(".shared") for name in offer}, f"{where}: shares {names}")
    for config, entries in configs.items():
        for entry in entries:
            if entry.get("mig-devices") and matches(entry, gpu_class):
                tally.check(formats.fits(gpu_class, entry["mig-devices"]), f"{what}: {config} does not fit")


def main():
    gpuctl = arguments(__doc__).gpuctl
    tally = Tally()
    check_readers(tally)
    files = 0
    for path, documents in golden_documents():
        mig, plugin = check_documents(tally, str(path), documents)
        files += len(mig) + len(plugin)
    tally.check(files >= 8, f"only {files} ConfigMaps in the golden trees")
    classes = table("nvidia/tables/mig-classes.yaml")
    builtins = table("gpu-operator/tables/mig-builtins.yaml")
    lines = [row["line"] for row in table("gpu-operator/tables/gpu-operator-releases.yaml")]
    rendered = 0
    with tempfile.TemporaryDirectory(prefix="gpu-configs-") as temporary:
        scratch = pathlib.Path(temporary)
        # A model for every class, also where gpuctl knows no board of it by name.
        gpus = yaml_text.load((TABLES / "nvidia/tables/gpus.yaml").read_text())
        gpus["spec"]["sources"]["this-test"] = {"own": "made up", "asOf": "2026-01-01"}
        gpus["spec"]["rows"] += [{
            "model": f"model-{one['name']}", "title": one["title"], "vendor": "nvidia", "architecture": "Any",
            "computeCapability": "9.0", "memoryGib": 80, "migClass": one["name"], "kernelModules": "either",
            "source": "this-test"} for one in classes]
        overlay = scratch / "providers/nvidia/tables"
        overlay.mkdir(parents=True)
        (overlay / "gpus.yaml").write_text(yaml.safe_dump(gpus, sort_keys=False))
        facts = scratch / "facts.yaml"
        facts.write_text("apiVersion: gpuctl.dev/v1alpha1\nkind: Facts\n"
                         "spec: {infraID: lab-x7k2p, bootImages: {amd64: ami-0123456789abcdef0}}\n")
        for gpu_class in classes:
            every = [row["partitions"] for row in builtins if row["migClass"] == gpu_class["name"]]
            every += [{one["name"]: one["most"]} for one in gpu_class["profiles"]
                      if {one["name"]: one["most"]} not in every]
            tally.check(all(formats.fits(gpu_class, parts) for parts in every),
                        f"{gpu_class['name']}: a built-in geometry does not fit")
            for line in lines:
                pools = pools_of(gpu_class, every, f"model-{gpu_class['name']}")
                what = f"{gpu_class['name']} {line}"
                source = scratch / f"{gpu_class['name']}-{line}.yaml"
                source.write_text(json.dumps(blueprint(line, pools), indent=1))
                out = scratch / what.replace(" ", "-")
                knowing = [gpuctl, "--providers", scratch / "providers"]
                done = run([*knowing, "render", source, "--facts", facts, "-o", out], env=environment(scratch))
                if not tally.check(done.returncode == 0, f"{what}: {errors_of(done.stderr.decode())}"):
                    continue
                rendered += 1
                said = run([*knowing, "-v", "validate", source], env=environment(scratch))
                check_said(tally, what, said.stdout.decode(), pools)
                check_cluster(tally, what, out / "clusters/prod/lab", gpu_class, pools)
    print(f"{files} ConfigMaps of golden trees, {rendered} clusters")
    tally.close()


if __name__ == "__main__":
    main()
