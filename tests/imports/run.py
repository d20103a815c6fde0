#!/usr/bin/env python3
"""What `gpuctl import` gives, compared with what it was given, by code that shares nothing with it.

Round trip: what was rendered for each sample, and each blueprint of round_trips.txt, without all that tells gpuctl's own (cluster.yaml,
facts, lock, comments, annotations), is imported and rendered again: the documents are equal, and
the blueprint needs no override and no extra manifest for it.

Foreign manifests: each folder tests/golden/import/*/input is imported and rendered. Every object is
there again and equal, or is named as left out; every value that differs is named as lost (GPU0631).
What is only spelled in another way stands in a file `spelling` of the case, with the reason:

    KIND NAME PATH: reason

An entry that nothing needs is a failure, too. A file `leaves` says how many values overrides may have.

A case runs with the options of its file `cmd`. Where its file `exit` says that the import ends with
1, the blueprint may have to be mended, or there is none: what is lost must be said even so.

Values that begin with `marker-` stand where secrets do. Nothing that is written or said has them.
"""

import json
import pathlib
import re
import shlex
import shutil
import sys
import tempfile

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support import yaml_text  # noqa: E402
from support.program import ROOT, Tally, arguments, environment, run, samples  # noqa: E402

ROUND_TRIPS = pathlib.Path(__file__).with_name("round_trips.txt")
OWN_FILES = {"cluster.yaml", "facts.yaml", "gpuctl.lock"}
# What servers and tools write into objects; the documentation of GPU0633 says that it is left out.
SERVER_FIELDS = {"uid", "resourceVersion", "generation", "selfLink", "managedFields",
                 "creationTimestamp", "deletionTimestamp"}
TOOL_ANNOTATIONS = {"kubectl.kubernetes.io/last-applied-configuration",
                    "deployment.kubernetes.io/revision"}


def call(gpuctl, scratch, *words):
    """Runs gpuctl; the result has texts."""
    done = run([gpuctl, *words], env=environment(scratch))
    done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
    return done


def loaded(path):
    with open(path, encoding="utf-8") as file:
        return [document for document in yaml_text.load_all(file) if document]


def unwrapped(documents):
    for document in documents:
        if str(document.get("kind", "")).endswith("List") and "items" in document:
            yield from unwrapped(document["items"])
        else:
            yield document


def title(document):
    kind = document.get("kind", "InstallConfig")
    metadata = document.get("metadata") or {}
    space = metadata.get("namespace")
    name = (f"{space}/" if space else "") + str(metadata.get("name", ""))
    return (kind + " " + name).strip()


def objects(folder):
    """All manifests below a folder: (file, document)."""
    out = []
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".yaml", ".yml", ".json") and path.name not in OWN_FILES:
            out += [(path, document) for document in unwrapped(loaded(path))]
    return out


def cleaned(document):
    out = {key: value for key, value in document.items()
           if key != "status" or "kind" not in document}
    metadata = {key: value for key, value in (document.get("metadata") or {}).items()
                if key not in SERVER_FIELDS}
    annotations = {key: value for key, value in (metadata.get("annotations") or {}).items()
                   if key not in TOOL_ANNOTATIONS and not key.startswith("gpuctl.dev/")}
    metadata.pop("annotations", None)
    if annotations:
        metadata["annotations"] = annotations
    out["metadata"] = metadata
    return out


def differing(wanted, made, path=""):
    """Paths at which two trees differ. Annotations that only `made` has are no difference."""
    if isinstance(wanted, dict) and isinstance(made, dict):
        for key in wanted.keys() | made.keys():
            if path == "metadata.annotations" and key not in wanted:
                continue
            if path == "metadata" and key == "annotations" and key not in wanted:
                continue
            below = f"{path}.{key}" if path else str(key)
            left, right = wanted.get(key), made.get(key)
            if left is not None or right is not None:
                yield from differing(left, right, below)
    elif isinstance(wanted, list) and isinstance(made, list) and len(wanted) == len(made):
        for index, (left, right) in enumerate(zip(wanted, made)):
            yield from differing(left, right, f"{path}[{index}]")
    elif isinstance(wanted, str) and isinstance(made, str) and wanted[:1] + made[:1] in ("{{", "[["):
        try:
            same = json.loads(wanted) == json.loads(made)
        except ValueError:
            same = wanted == made
        if not same:
            yield path
    elif isinstance(wanted, str) and isinstance(made, str) and "\n" in wanted + made:
        try:
            same = wanted == made or (yaml_text.load(wanted) == yaml_text.load(made)
                                      and isinstance(yaml_text.load(wanted), dict))
        except yaml.YAMLError:
            same = False
        if not same:
            yield path
    elif wanted != made or type(wanted) is not type(made):
        yield path


def leaves(tree):
    below = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return sum(map(leaves, below)) or 1


def plain(path):
    """A path with every step written the same way: a["b.c"][0] -> a.b.c[0]."""
    return re.sub(r'\["([^"]*)"\]', r".\1", path)


def import_and_render(gpuctl, words, scratch, tally, what, code=0):
    """(findings, blueprint, folder with the rendered documents); None when that failed. With another
    exit code than 0 there may be no blueprint, or one that does not render: None or an empty folder
    then."""
    done = call(gpuctl, scratch, "--format", "json", "import", *words, "-o", scratch / "imported")
    if not tally.check(done.returncode == code, f"{what}: import ends with {done.returncode}: "
                       f"{done.stderr[-800:]}"):
        return None
    findings = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    blueprint = next((path for path in (scratch / "imported").glob("*.yaml")
                      if not path.name.endswith(".facts.yaml")), None)
    if code != 0 and blueprint is None:
        return findings, None, scratch / "again"
    rendered = call(gpuctl, scratch, "render", blueprint, "-o", scratch / "again")
    if not tally.check(code != 0 or rendered.returncode == 0,
                       f"{what}: the blueprint does not render: {rendered.stderr[-800:]}"):
        return None
    return findings, loaded(blueprint)[0], scratch / "again"


def words_of(case):
    """What the case gives `gpuctl import`, but for the output."""
    lines = [line for line in (case / "cmd").read_text().splitlines()
             if line.startswith("import ")]
    words = [word.replace("{case}", str(case)) for word in shlex.split(lines[0])[1:]]
    place = words.index("-o")
    return words[:place] + words[place + 2:]


def without_leaks(gpuctl, case, tally):
    """Runs the case as a user does, and looks for planted secrets in all that comes out."""
    texts = [path.read_text() for path in sorted((case / "input").rglob("*")) if path.is_file()]
    planted = {found for text in texts for found in re.findall(r"marker-[A-Za-z0-9._+/=-]+", text)}
    planted |= {found for text in texts for found in re.findall(r"[A-Za-z0-9_]+-marker[A-Za-z0-9]+", text)}
    # "marker-" in base64, at the start of a value.
    planted |= {found for text in texts for found in re.findall(r"bWFya2VyL[A-Za-z0-9+/=]+", text)}
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        said = ""
        for form in ("text", "json"):
            done = call(gpuctl, scratch, "--format", form, "import", *words_of(case), "-o",
                        scratch / form)
            said += done.stdout + done.stderr
        for path in sorted(scratch.rglob("*")):
            if path.is_file():
                said += path.read_text()
        for value in sorted(planted):
            # Excerpts are cut at their end: the first letters would betray it as well.
            tally.check(value[:12] not in said, f"{case.name}: the secret {value[:16]} shows up")
    return len(planted)


def bare(source, target):
    """Copies manifests without comments and without all that is gpuctl's own."""
    for path in sorted(source.rglob("*")):
        if not path.is_file() or path.name in OWN_FILES:
            continue
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".yaml":
            shutil.copy(path, place)
            continue
        documents = [cleaned(document) if document.get("metadata") else document
                     for document in loaded(path)]
        place.write_text(yaml.safe_dump_all(documents, sort_keys=False), encoding="utf-8")


def labelled_nodes(gpuctl, scratch, blueprint, commands):
    """Nodes after the commands that were written for them, as the GPU operator's labels have them too."""
    pools = {pool["name"]: pool for pool in loaded(blueprint)[0]["spec"].get("gpuPools", [])}
    done = call(gpuctl, scratch, "catalog", "gpus", "-o", "json")
    products = {row["model"]: row.get("productLabel") for row in json.loads(done.stdout)}
    nodes = {}
    for pool in pools.values():
        names = pool["nodes"].get("names") or [
            f"{pool['name']}-{i}" for i in range(pool.get("replicas", 1))]
        for name in names:
            labels = {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.count": str(pool["gpu"]["perNode"]),
                      "nvidia.com/gpu.product": products[pool["gpu"]["model"]],
                      **pool["nodes"].get("selector", {})}
            nodes[name] = {"apiVersion": "v1", "kind": "Node",
                           "metadata": {"name": name, "labels": labels}, "spec": {"taints": []}}
    for line in re.findall(r"^\$ (oc .*--overwrite .*)$", commands, re.M):
        words = shlex.split(line)
        rest = words[words.index("--overwrite") + 1:]
        if rest[0] == "-l":
            wanted = dict(pair.split("=", 1) for pair in rest[1].split(","))
            chosen = [node for node in nodes.values()
                      if wanted.items() <= node["metadata"]["labels"].items()]
            marks = rest[2:]
        else:
            chosen = [nodes[word] for word in rest if word in nodes]
            marks = [word for word in rest if word not in nodes]
        for node in chosen:
            for mark in marks:
                if words[1] == "label":
                    key, value = mark.split("=", 1)
                    node["metadata"]["labels"][key] = value
                else:
                    key, effect = mark.rsplit(":", 1)
                    key, _, value = key.partition("=")
                    node["spec"]["taints"].append(
                        {"key": key, **({"value": value} if value else {}), "effect": effect})
    return list(nodes.values())


def round_trip(gpuctl, blueprint, tally):
    what = blueprint.stem if blueprint.stem != "blueprint" else blueprint.parent.name
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        done = call(gpuctl, scratch, "render", blueprint, "-o", scratch / "first")
        tally.check(done.returncode == 0, f"{what}: does not render: {done.stderr[-400:]}")
        bare(scratch / "first", scratch / "bare")
        # Where no document makes the nodes, they are read from the cluster.
        for commands in (scratch / "first").rglob("install/nodes.md"):
            nodes = labelled_nodes(gpuctl, scratch, blueprint, commands.read_text())
            (scratch / "bare/nodes.yaml").write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": nodes}))
        result = import_and_render(gpuctl, [scratch / "bare"], scratch, tally, what)
        if result is None:
            return
        findings, imported, again = result
        for finding in findings:
            tally.check(finding["code"] not in ("GPU0631", "GPU0635"),
                        f"{what}: {finding['code']} {finding['message']}")
        for key in ("overrides", "extraManifests"):
            tally.check(key not in imported["spec"], f"{what}: needs {key}")
        before = {path.relative_to(scratch / "first"): document
                  for path, document in objects(scratch / "first")}
        after = {path.relative_to(again): document for path, document in objects(again)}
        for path in sorted(before.keys() | after.keys()):
            if not tally.check(path in before and path in after,
                               f"{what}: {path} is {'missing' if path in before else 'new'}"):
                continue
            tally.check(before[path] == after[path], f"{what}: {path} differs: "
                        + ", ".join(list(differing(before[path], after[path]))[:5]))


def spelled_otherwise(case):
    """(title, path) -> reason."""
    path = case / "spelling"
    out = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.strip() and not line.startswith("#"):
            place, reason = line.split(": ", 1)
            kind, name, field = place.split(" ")
            out[f"{kind} {name}", field] = reason
    return out


def foreign(gpuctl, case, tally, same=lambda who, path: False):
    """How many values overrides have; None where there is no blueprint. What `same` says of is no difference."""
    what = case.name
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        code = int((case / "exit").read_text()) if (case / "exit").exists() else 0
        result = import_and_render(gpuctl, words_of(case), scratch, tally, what, code)
        if result is None:
            return
        findings, blueprint, again = result
        if blueprint is None:
            errors = [finding for finding in findings if finding["severity"] == "error"]
            tally.check(bool(errors), f"{what}: nothing is made of it, and nothing says why")
            return
        lost = [finding for finding in findings if finding["code"] == "GPU0631"]
        read = [finding for finding in findings if finding["code"] == "GPU0633"]
        silent = [finding for finding in read if "only read" in finding["message"]]
        owned = [finding for finding in read if "field of a controller" in finding["message"]]
        restated = [finding for finding in read if "in other words" in finding["message"]]
        secret = [finding for finding in findings if finding["code"] == "GPU0636"]
        rendered = {}
        for _, document in objects(again):
            rendered.setdefault(title(document), []).append(document)
            # A manifest may leave its namespace to whoever applies it; that a document has one is
            # a difference like any other.
            bare_name = {"kind": document.get("kind", ""),
                         "metadata": {"name": document.get("metadata", {}).get("name", "")}}
            if document.get("metadata", {}).get("namespace"):
                rendered.setdefault(title(bare_name), []).append(document)
        overridden = sum(leaves(one["patch"]) for one in blueprint["spec"].get("overrides", []))
        if (case / "leaves").exists():  # most values that overrides may have
            most = int((case / "leaves").read_text())
            tally.check(overridden <= most, f"{what}: overrides of {overridden} values")
        excused = spelled_otherwise(case)
        used = set()
        for _, document in objects(case / "input"):
            wanted = cleaned(document)
            who = title(wanted)
            named = any(f"`{who}`" in text for finding in lost + silent
                        for text in [finding["message"], *finding.get("notes", [])]
                        if not finding.get("path"))
            if named or who not in rendered:
                tally.check(named, f"{what}: {who} has vanished without a word")
                continue
            differences = min((list(differing(wanted, made)) for made in rendered[who]), key=len)
            hidden = any(f"`{who}`" in finding["message"] for finding in secret)
            said = [plain(finding["path"]) for finding in lost
                    if finding.get("path") and f"`{who}`" in finding["message"]]
            for finding in owned + secret:
                if any(f"`{who}`" in text for text in [finding["message"], *finding["notes"]]):
                    said += [plain(path) for text in finding["notes"]
                             for path in re.findall(r"^`([^`]*)`: ", text)]
            for finding in restated:
                if f"`{who}`" in finding["message"]:
                    said += [plain(path) for text in finding["notes"] for path in
                             text.removeprefix("the same holds with and without ").split(", ")]
            for path in differences:
                if same(who, path):
                    continue
                if (who, path) in excused:
                    used.add((who, path))
                    continue
                secret_field = hidden and re.search(
                    r"(pullSecret|sshKey|password|user(name)?)$", path)
                tally.check(secret_field or any(path.startswith(one) or one.startswith(path)
                                                for one in said),
                            f"{what}: {who}: `{path}` differs, and nothing says so")
        for place in excused.keys() - used:
            tally.check(False, f"{what}: `spelling` names {place}, which is equal")
        tally.check(True, what)
        return overridden


# Samples that do not come back by import, and why.
NOT_IMPORTED = {
    "fleet-hub": "what a hub hands out to its clusters is no part of a cluster",
    "gcp-flux-hub": "wiring on a hub is taken for that of the cluster",
}


def main():
    options = arguments(__doc__)
    tally = Tally()
    listed = [ROOT / line for line in ROUND_TRIPS.read_text().splitlines()
              if line and not line.startswith("#")]
    for blueprint in samples() + listed:
        if blueprint.stem in NOT_IMPORTED:
            continue
        round_trip(options.gpuctl, blueprint, tally)
    cases = sorted(path.parent for path in (ROOT / "tests/golden/import").glob("*/input"))
    planted = 0
    for case in cases:
        foreign(options.gpuctl, case, tally)
        planted += without_leaks(options.gpuctl, case, tally)
    tally.check(planted > 10, f"only {planted} secrets are planted in the inputs")
    print(f"{len(cases)} foreign inputs, {planted} planted secrets")
    tally.close()


if __name__ == "__main__":
    main()
