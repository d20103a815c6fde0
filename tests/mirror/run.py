#!/usr/bin/env python3
"""What `gpuctl mirror` says, against the documents themselves.

Image sets have the form that oc-mirror (version 2) reads strictly: unknown fields, two entries of one name and
versions that are none are errors there, and here. Every blueprint among the samples and in golden cases that renders
is rendered once more with an air gap, or refused as the table REFUSED says. Then every image that stands anywhere in
its tree must be at a mirror, or, where nodes know mirrors, below a source of the mirror sets in the tree; and in the
list that is to be copied. For the samples and the groups about output also: without the row that covers it, the
blueprint is refused.
"""

import concurrent.futures
import copy
import dataclasses
import fnmatch
import json
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from golden import cases as golden_cases  # noqa: E402
from golden.run import environment  # noqa: E402
from support import program  # noqa: E402
from support.program import Tally, skip  # noqa: E402

try:
    import yaml

    from support import yaml_text
except ImportError:
    skip("mirror", "Python has no PyYAML (Debian: python3-yaml)")

@dataclasses.dataclass(frozen=True)
class Constant:
    """A field that has to be there, with this value alone."""

    text: str


# ../shared/schemas/openshift/imageset-configuration.md: fields by place, and what their values are.
TEXT, FLAG, NUMBER = str, bool, int
CHART = {"name": TEXT, "version": TEXT, "path": TEXT, "imagePaths": [TEXT]}
IMAGE_SET = {
    "apiVersion": Constant("mirror.openshift.io/v2alpha1"), "kind": Constant("ImageSetConfiguration"),
    "archiveSize": NUMBER,
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
SOURCES = ["quay.io", "registry.redhat.io", "registry.connect.redhat.com", "nvcr.io", "ghcr.io", "registry.k8s.io",
           "docker.io", "public.ecr.aws", "helm.ngc.nvidia.com", "kubernetes-sigs.github.io"]
MISSING = re.compile(r"^error\[GPU0442\]: no mirror has `([^`]+)`$", re.M)
ERROR = re.compile(r"^error\[(GPU\d{4})\]", re.M)
# Where each source in use is also taken away, and the image set is read: some runs more for each.
THOROUGH = ("blueprints", "render", "rules")
FEWEST = {"blueprints": 20, "render": 80, "rules": 40, "versions": 60, "policy": 20, "errors": 400, "plan": 300}
# What is refused with an air gap alone: code -> blueprints. A row that nothing needs is an error.
REFUSED = {
    # A platform of the case's own, which has no `access.airGap`.
    "GPU0201": ("origin/*", "provider/apply/more.yaml", "provider/render", "errors/GPU0212-rule-not-checked",
                "errors/GPU022[12]-*"),
    # An update to 4.21 with mirrors takes an acknowledgement more.
    "GPU3123": ("errors/GPU3122-update-not-done/middle.yaml",),
    # The chart of the KAI Scheduler is not named by its copy.
    "GPU3961": ("blueprints/gcp-morpheus-kai.yaml", "errors/GPU3953-together", "plan/kai-*", "render/models-of-teams-kai",
                "render/teams-kai-flux-openshift", "render/teams-kai-openshift", "rules/teams-kept/kai.yaml"),
    # A Subscription of an extra manifest to a catalogue that an air gap switches off.
    "GPU3727": ("report/conformance/queues.yaml",),
    # Kubeflow is made of manifests of others.
    "GPU4052": ("blueprints/gke-kubeflow.yaml", "errors/GPU405[3-6]-*", "errors/GPU407[34]-*", "errors/GPU4083-*", "plan/kubeflow-*",
                "render/kubeflow-argocd"),
}


def faults(value, form, place="image set"):
    """What the strict reader would say."""
    if isinstance(form, Constant):
        return [] if value == form.text else [f"{place} is {value!r}, not {form.text}"]
    if isinstance(form, dict):
        if not isinstance(value, dict):
            return [f"{place} is no map"]
        missing = [f"{place}.{key} is missing" for key, one in form.items()
                   if isinstance(one, Constant) and key not in value]
        return missing + [f"{place}.{key} is no field" for key in value if key not in form] + [
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


def texts(node):
    """All texts of a document that may be a place: those of one line without blanks."""
    if isinstance(node, str):
        if not re.search(r"\s", node):
            yield node
    elif isinstance(node, dict):
        for value in node.values():
            yield from texts(value)
    elif isinstance(node, list):
        for item in node:
            yield from texts(item)


def is_below(name, source):
    return name == source or name.startswith(tuple(source + end for end in "/:@"))


def registry_of(place):
    """What a row of `access.mirrors` names: a port alone reads as a tag there."""
    host, _, rest = place.partition("/")
    return f"{host}/{rest.split('/')[0]}" if ":" in host else host


def copy_of(source):
    return f"{MIRROR}/{re.sub('[.:]', '-', source)}"


# A set that has every place once.
WHOLE = {
    "apiVersion": "mirror.openshift.io/v2alpha1", "kind": "ImageSetConfiguration",
    "mirror": {
        "platform": {"graph": True, "channels": [{"name": "stable-4.20", "minVersion": "4.20.11"}]},
        "operators": [{"catalog": "registry.redhat.io/redhat/redhat-operator-index:v4.20",
                       "packages": [{"name": "nfd", "channels": [{"name": "stable"}]}]}],
        "additionalImages": [{"name": "registry.redhat.io/openshift4/ose-cli-rhel9:v4.20"}],
        "helm": {"repositories": [{"name": "nvidia", "url": "https://helm.example.com",
                                   "charts": [{"name": "gpu-operator", "version": "v26.7.0"}]}]},
    },
}


def reader(tally):
    """The reader refuses what that of oc-mirror refuses."""
    tally.check(not faults(WHOLE, IMAGE_SET), f"a good image set: {faults(WHOLE, IMAGE_SET)}")

    def spoiled(what, spoil):
        value = copy.deepcopy(WHOLE)
        spoil(value)
        tally.check(faults(value, IMAGE_SET), f"an image set with {what} was accepted")

    spoiled("an unknown field", lambda one: one["mirror"].update(images=[]))
    spoiled("a field of a deeper place", lambda one: one.update(archive=4))
    spoiled("an unknown field of a chart",
            lambda one: one["mirror"]["helm"]["repositories"][0]["charts"][0].update(tag="1"))
    spoiled("the version of oc-mirror 1", lambda one: one.update(apiVersion="mirror.openshift.io/v1alpha2"))
    spoiled("no version", lambda one: one.pop("apiVersion"))
    spoiled("another kind", lambda one: one.update(kind="DeleteImageSetConfiguration"))
    spoiled("no kind", lambda one: one.pop("kind"))
    for what, items in (("a catalogue", lambda one: one["mirror"]["operators"]),
                        ("a package", lambda one: one["mirror"]["operators"][0]["packages"]),
                        ("a channel of a package", lambda one: one["mirror"]["operators"][0]["packages"][0]["channels"]),
                        ("a channel of the release", lambda one: one["mirror"]["platform"]["channels"]),
                        ("an image", lambda one: one["mirror"]["additionalImages"]),
                        ("a chart", lambda one: one["mirror"]["helm"]["repositories"][0]["charts"])):
        spoiled(f"{what} twice", lambda one, items=items: items(one).append(copy.deepcopy(items(one)[0])))
    spoiled("a version that is none", lambda one: one["mirror"]["platform"]["channels"][0].update(minVersion="4.20"))
    spoiled("a text for a flag", lambda one: one["mirror"]["platform"].update(graph="true"))
    spoiled("an empty text", lambda one: one["mirror"]["additionalImages"][0].update(name=""))
    spoiled("a map for a list", lambda one: one["mirror"].update(operators={}))
    spoiled("a list for a map", lambda one: one["mirror"].update(platform=[]))


@dataclasses.dataclass(frozen=True)
class Input:
    """A blueprint of a sample or a golden case, in a folder that may be written into."""

    name: str
    folder: pathlib.Path
    blueprint: pathlib.Path
    options: tuple = ()  # what the case gives to gpuctl with it

    @property
    def group(self):
        return self.name.split("/")[0]


def sample_inputs(scratch):
    folder = scratch / "blueprints"
    shutil.copytree(ROOT / "blueprints", folder)
    return [Input(f"blueprints/{path.name}", folder, folder / path.name) for path in program.samples()]


def golden_inputs(scratch):
    """Every blueprint that lies in a golden case; those in folders are copied."""
    for case in golden_cases.find(scratch / "unpacked"):
        folder = case.folder
        if case.file is None:
            folder = scratch / "copied" / case.name
            shutil.copytree(case.folder, folder, ignore=shutil.ignore_patterns("tree", "stdout", "stderr"))
        for path in golden_cases.blueprints(folder):
            name = f"{case.name}/{path.relative_to(folder)}"
            yield Input(name.removesuffix("/blueprint.yaml"), folder, path, options_of(case, folder, path))


def options_of(case, folder, blueprint):
    """The facts and the knowledge that the first run with this blueprint names."""
    for line in case.runs():
        words = [word.replace("{case}", str(folder)).replace("{root}", str(ROOT)) for word in shlex.split(line)]
        if any(folder / word == blueprint for word in words):
            return tuple(text for word, value in zip(words, words[1:])
                         if word in ("--facts", "--providers", "--templates") for text in (word, value))
    return ()


class Look:
    """One blueprint with an air gap: what was checked, and what was wrong."""

    def __init__(self, gpuctl, one, home):
        self.gpuctl, self.one, self.home = gpuctl, one, home
        self.sources = SOURCES  # and the registries of its own that it is refused for
        self.checked = 0
        self.wrong = []
        self.codes = None  # of the errors that it is refused with; None: it does not render without an air gap either

    def check(self, good, what):
        self.checked += 1
        if not good:
            self.wrong.append(f"{self.one.name}: {what}")
        return good

    def run(self, command, path, *words):
        env = {**environment(self.one.folder, self.home), "GPUCTL_DATE": program.TODAY, "PULL_SECRET": "{}"}
        return program.run([self.gpuctl, command, path, *words, *self.one.options], cwd=self.one.folder, env=env)

    def overlay(self, sources, what=""):
        """The blueprint with an air gap, beside it; None when it is none that anybody could render."""
        blueprint = self.one.blueprint
        try:
            name = yaml_text.load(blueprint.read_text())["metadata"]["name"]
        except (yaml.YAMLError, ValueError, KeyError, TypeError):
            return None
        rows = [{"source": source, "mirrors": [copy_of(source)]} for source in sources]
        path = blueprint.with_name(f"air-gap{what}-{blueprint.name}")
        path.write_text(yaml.safe_dump({
            "apiVersion": "gpuctl.dev/v1alpha1", "kind": "Blueprint", "metadata": {"name": name},
            "extends": blueprint.name, "spec": {"access": {"airGap": True, "mirrors": rows}}}))
        facts = blueprint.with_name(blueprint.name.removesuffix(".yaml") + ".facts.yaml")
        if facts.exists():
            shutil.copy(facts, path.with_name(path.name.removesuffix(".yaml") + ".facts.yaml"))
        return path

    def look(self):
        path = self.overlay(self.sources)
        out = self.home / "out"
        said = self.run("render", path, "-o", out) if path else None
        own = {registry_of(place) for place in MISSING.findall(said.stderr.decode())} if said else set()
        if own and said.returncode == 1 and not own & set(SOURCES):
            self.sources = [*SOURCES, *sorted(own)]
            path = self.overlay(self.sources)
            said = self.run("render", path, "-o", out)
        if said and said.returncode == 0:
            self.codes = frozenset()
            self.rendered(path, program.read_tree(out))
        elif self.run("render", self.one.blueprint, "-o", self.home / "plain").returncode == 0:
            self.codes = frozenset(ERROR.findall(said.stderr.decode()) if said else ["no blueprint"])
        return self

    def rendered(self, path, tree):
        found = list(documents(tree))
        said = self.run("mirror", path, "-o", "json")
        if not self.check(said.returncode == 0, said.stderr.decode()[-400:]):
            return
        supplies = json.loads(said.stdout)
        listed = [one["name"] for one in supplies["images"]]
        sets = [row["source"] for one in found if one["kind"] in ("ImageDigestMirrorSet", "ImageTagMirrorSet")
                for row in one["spec"].get("imageDigestMirrors", one["spec"].get("imageTagMirrors"))]
        used = self.by_mirror_sets(found, sets, listed) if sets else self.by_name(found, listed)
        if self.one.group not in THOROUGH:
            return
        if sets:
            self.image_set(path)
        for number, source in enumerate(sorted(used)):
            without = self.overlay([one for one in self.sources if one != source], f"-{number}")
            said = self.run("validate", without)
            self.check(said.returncode == 1 and b"GPU0442" in said.stderr, f"accepted without {source}")

    def image_set(self, path):
        said = self.run("mirror", path, "-o", "imageset")
        if self.check(said.returncode == 0, said.stderr.decode()[-400:]):
            found = faults(yaml_text.load(said.stdout), IMAGE_SET)
            self.check(not found, found)

    def by_mirror_sets(self, found, sets, listed):
        """Nodes look for images in the mirrors; comes back, which sources are in use."""
        missing = [source for source in self.sources if sets.count(source) != 2]
        self.check(not missing, f"mirror sets do not have {missing}")
        catalogues = {one["metadata"]["name"] for one in found if one["kind"] == "CatalogSource"}
        asked = {one["spec"]["source"] for one in found if one["kind"] == "Subscription"}
        # A blueprint may name others, which somebody else makes.
        self.check(catalogues <= asked and not (asked & USUAL) - catalogues,
                   f"Subscriptions name {asked}, there are {catalogues}")
        used = set()
        for one in found:
            if one["kind"] == "CatalogSource" and "image" in one["spec"]:  # others are served by an address
                places = [MIRROR, *self.sources[len(SOURCES):]]  # a catalogue of the blueprint's own keeps its name
                self.check(any(is_below(one["spec"]["image"], place) for place in places),
                           f"{one['spec']['image']} is in no mirror")
                continue
            for image in images(one):
                if is_below(image, MIRROR):
                    continue
                covering = [source for source in sets if is_below(image, source)]
                used.update(covering)
                self.check(covering, f"no mirror has {image} of {one['kind']}")
                self.is_listed(image, listed)
        return used

    def by_name(self, found, listed):
        """Documents call everything by its copy; comes back, which sources are in use."""
        used = set()
        for one in found:
            for image in images(one):
                if self.check(is_below(image, MIRROR), f"{one['kind']} names {image}, which is in no mirror"):
                    source = next(one for one in self.sources if is_below(image, copy_of(one)))
                    used.add(source)
                    self.is_listed(source + image.removeprefix(copy_of(source)), listed)
            for text in texts(one):
                bare = text.partition("://")[2] or text
                self.check(not any(is_below(bare, source) for source in self.sources), f"{one['kind']} names {text}")
        return used

    def is_listed(self, image, listed):
        # What operators write into a tag besides comes behind it.
        self.check(any(text.startswith(image.split(":")[0]) for text in listed), f"{image} is not to be copied")


def refusals(tally, looks, groups):
    """All are refused with what the table says, and for each row of it there is one."""
    seen = set()
    for look in looks:
        if not look.codes:
            continue
        for code in look.codes:
            rows = [(code, pattern) for pattern in REFUSED.get(code, ()) if fnmatch.fnmatchcase(look.one.name, pattern)]
            seen.update(rows)
            tally.check(rows, f"{look.one.name}: refused with {code}, which the table does not have")
    for code, patterns in REFUSED.items():
        for pattern in (one for one in patterns if one.split("/")[0] in groups):
            tally.check((code, pattern) in seen, f"no blueprint {pattern} is refused with {code}: the row is stale")


def examine(gpuctl, one):
    with tempfile.TemporaryDirectory(prefix="mirror-") as home:
        return Look(gpuctl, one, pathlib.Path(home)).look()


def add_options(parser):
    parser.add_argument("--only", nargs="+", help="these groups alone")
    parser.add_argument("--but", nargs="+", default=[], help="not these groups")


def main():
    options = program.arguments(__doc__, add_options)
    tally = Tally()
    reader(tally)
    with tempfile.TemporaryDirectory(prefix="mirror-inputs-") as scratch, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        inputs = [*sample_inputs(pathlib.Path(scratch)), *golden_inputs(pathlib.Path(scratch))]
        groups = set(options.only or {one.group for one in inputs}) - set(options.but)
        looks = list(pool.map(lambda one: examine(options.gpuctl, one), [one for one in inputs if one.group in groups]))
    for look in looks:
        tally.passed += look.checked - len(look.wrong)
        for what in look.wrong:
            tally.check(False, what)
    rendered = sum(look.codes == frozenset() for look in looks)
    refused = sum(bool(look.codes) for look in looks)
    print(f"{rendered} blueprints with an air gap, {refused} refused")
    refusals(tally, looks, groups)
    for group in groups & set(FEWEST):
        found = sum(look.codes == frozenset() and look.one.group == group for look in looks)
        tally.check(found >= FEWEST[group], f"only {found} blueprints of {group} could be rendered with an air gap")
    tally.close()


main()
