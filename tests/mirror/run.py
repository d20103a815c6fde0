#!/usr/bin/env python3
"""What `gpuctl mirror` says, against the documents themselves.

Image sets have the form that oc-mirror (version 2) reads strictly: unknown fields, two entries of one name and
versions that are none are errors there, and here. Every sample and every golden case of an OpenShift is rendered once
more with an air gap. Then every image that stands anywhere in its tree must be at a mirror, or below a source of the
mirror sets in the tree, and in the list that is to be copied; and without the row that covers it, the blueprint is
refused.
"""

import json
import pathlib
import re
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from support import program  # noqa: E402
from support.program import Tally, skip  # noqa: E402

try:
    import yaml

    from support import yaml_text
except ImportError:
    skip("mirror", "Python has no PyYAML (Debian: python3-yaml)")

# ../shared/schemas/openshift/imageset-configuration.md: fields by place, and what their values are.
TEXT, FLAG, NUMBER = str, bool, int
CHART = {"name": TEXT, "version": TEXT, "path": TEXT, "imagePaths": [TEXT]}
IMAGE_SET = {
    "apiVersion": TEXT, "kind": TEXT, "archiveSize": NUMBER,
    "mirror": {
        "platform": {
            "graph": FLAG, "architectures": [TEXT], "release": TEXT, "kubeVirtContainer": FLAG,
            "channels": [{"name": TEXT, "type": TEXT, "minVersion": TEXT, "maxVersion": TEXT, "shortestPath": FLAG,
                          "full": FLAG}],
        },
        "operators": [{
            "catalog": TEXT, "full": FLAG, "targetCatalog": TEXT, "targetTag": TEXT, "targetCatalogSourceTemplate": TEXT,
            "packages": [{"name": TEXT, "defaultChannel": TEXT, "minVersion": TEXT, "maxVersion": TEXT,
                          "channels": [{"name": TEXT, "minVersion": TEXT, "maxVersion": TEXT}]}],
        }],
        "additionalImages": [{"name": TEXT}],  # what all releases from 4.17 on know
        "helm": {"repositories": [{"name": TEXT, "url": TEXT, "charts": [CHART]}], "local": [CHART]},
        "blockedImages": [{"name": TEXT}],
    },
}
SEMVER = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$")
# A registry has a dot or a port; a place of the web has a scheme, and an image of a cloud has no host.
IMAGE = re.compile(r"(?:[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?|localhost(?::\d+)?)/[\w./-]+(?::[\w.-]+)?(?:@sha256:[0-9a-f]{64})?$")
MIRROR = "mirror.example.internal:5000"
USUAL = {"redhat-operators", "certified-operators", "community-operators"}
SOURCES = ["quay.io", "registry.redhat.io", "registry.connect.redhat.com", "nvcr.io", "ghcr.io", "registry.k8s.io"]


def faults(value, form, place="image set"):
    """What the strict reader would say."""
    if isinstance(form, dict):
        if not isinstance(value, dict):
            return [f"{place} is no map"]
        return [f"{place}.{key} is no field" for key in value if key not in form] + [
            fault for key, one in value.items() if key in form for fault in faults(one, form[key], f"{place}.{key}")]
    if isinstance(form, list):
        if not isinstance(value, list):
            return [f"{place} is no list"]
        names = [one.get("name", one.get("catalog")) for one in value if isinstance(one, dict)]
        return [f"{place} has {name} twice" for name in set(names) if names.count(name) > 1] + [
            fault for i, one in enumerate(value) for fault in faults(one, form[0], f"{place}[{i}]")]
    good = type(value) is form
    if place.endswith((".minVersion", ".maxVersion")) and good and not SEMVER.match(value):
        return [f"{place} is no version: {value}"]
    return [] if good and value != "" else [f"{place} is {value!r}"]


def images(node):
    """Images of a document: in fields named so, and in parts."""
    if isinstance(node, list):
        for item in node:
            yield from images(item)
    if not isinstance(node, dict):
        return
    parts = [node.get(key) for key in ("repository", "image", "version")]
    if all(isinstance(part, str) for part in parts):
        yield f"{parts[0]}/{parts[1]}{'@' if parts[2].startswith('sha256:') else ':'}{parts[2]}"
    for key, value in node.items():
        if isinstance(value, str) and re.search(r"(^i|I)mage$", str(key)) and IMAGE.match(value):
            yield value
        yield from images(value)


def documents(tree):
    for path, content in tree.items():
        if path.endswith(".yaml") and "/install/" not in path:
            yield from (one for one in yaml_text.load_all(content) if isinstance(one, dict) and "kind" in one)


def is_below(name, source):
    return name == source or name.startswith(tuple(source + end for end in "/:@"))


class Cases:
    def __init__(self, gpuctl, tally, folder):
        self.gpuctl, self.tally, self.folder = gpuctl, tally, folder

    def run(self, *words):
        return program.run([self.gpuctl, *words], env=program.environment(self.folder, PULL_SECRET="{}"))

    def image_set(self, name, blueprint):
        said = self.run("mirror", blueprint, "-o", "imageset")
        if said.returncode != 0:
            return self.tally.check(False, f"{name}: {said.stderr.decode()[-400:]}")
        found = faults(yaml_text.load(said.stdout), IMAGE_SET)
        return self.tally.check(not found, f"{name}: {found}")

    def overlay(self, blueprint, sources):
        """The blueprint with an air gap, beside it."""
        rows = [{"source": source, "mirrors": [f"{MIRROR}/{source.split('/')[0].replace('.', '-')}"]} for source in sources]
        metadata = yaml_text.load(blueprint.read_text())["metadata"]
        path = blueprint.with_name("air-gap-" + blueprint.name)
        path.write_text(yaml.safe_dump({
            "apiVersion": "gpuctl.dev/v1alpha1", "kind": "Blueprint", "metadata": {"name": metadata["name"]},
            "extends": blueprint.name, "spec": {"access": {"airGap": True, "mirrors": rows}}}))
        facts = blueprint.with_name(blueprint.name.removesuffix(".yaml") + ".facts.yaml")
        if facts.exists():
            shutil.copy(facts, path.with_name(path.name.removesuffix(".yaml") + ".facts.yaml"))
        return path

    def air_gap(self, name, blueprint):
        """True when the blueprint could be rendered so."""
        path = self.overlay(blueprint, SOURCES)
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        said = self.run("render", path, "-o", out)
        if said.returncode != 0:
            return False  # something that has nothing to do with it, or a case about errors
        tree = program.read_tree(out)
        all_documents = list(documents(tree))
        sets = [row["source"] for one in all_documents if one["kind"] in ("ImageDigestMirrorSet", "ImageTagMirrorSet")
                for row in one["spec"].get("imageDigestMirrors", one["spec"].get("imageTagMirrors"))]
        self.tally.check(len(sets) == 2 * len(SOURCES), f"{name}: mirror sets have {sorted(set(sets))}")
        catalogues = {one["metadata"]["name"] for one in all_documents if one["kind"] == "CatalogSource"}
        asked = {one["spec"]["source"] for one in all_documents if one["kind"] == "Subscription"}
        # A blueprint may name others, which somebody else makes.
        self.tally.check(catalogues <= asked and not asked & USUAL,
                         f"{name}: Subscriptions name {asked}, there are {catalogues}")
        supplies = json.loads(self.run("mirror", path, "-o", "json").stdout)
        listed = [one["name"] for one in supplies["images"]]
        used = set()
        for one in all_documents:
            if one["kind"] == "CatalogSource":
                self.tally.check(is_below(one["spec"]["image"], MIRROR), f"{name}: {one['spec']['image']} is in no mirror")
                continue
            for image in images(one):
                if is_below(image, MIRROR):
                    continue
                covering = [source for source in sets if is_below(image, source)]
                used.update(covering)
                self.tally.check(covering, f"{name}: no mirror has {image} of {one['kind']}")
                # What operators write into a tag besides comes behind it.
                self.tally.check(any(text.startswith(image.split(":")[0]) for text in listed),
                                 f"{name}: {image} is not to be copied")
        for source in sorted(used):
            said = self.run("validate", self.overlay(blueprint, [one for one in SOURCES if one != source]))
            self.tally.check(said.returncode == 1 and b"GPU0442" in said.stderr, f"{name}: accepted without {source}")
        return True


def openshift_blueprints():
    """Samples, and blueprints of golden cases that render."""
    found = program.samples()
    for group in ("render", "rules"):
        found += sorted((ROOT / "tests/golden" / group).glob("*/blueprint.yaml"))
    for path in found:
        text = path.read_text()
        if "kind: Blueprint" in text and re.search(r"^  openshift:", text, re.M):
            yield path


def main():
    options = program.arguments(__doc__)
    tally = Tally()
    rendered = 0
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        cases = Cases(options.gpuctl, tally, folder)
        for path in openshift_blueprints():
            name = str(path.relative_to(ROOT))
            place = folder / "case"
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(path.parent, place, ignore=shutil.ignore_patterns("tree", "fleet"))
            if path.parent.name == "blueprints":
                cases.image_set(name, place / path.name)
            rendered += cases.air_gap(name, place / path.name)
        print(f"{rendered} blueprints with an air gap")
        tally.check(rendered >= 20, f"only {rendered} blueprints could be rendered with an air gap")
    tally.close()


main()
