#!/usr/bin/env python3
"""Every field that an import writes into a blueprint does something: whoever edits it sees what is rendered change.

Each blueprint of tests/golden/import/*/tree is rendered, and rendered again for each of its values, edited: a number
one higher, a truth the other way round, a text as other blueprints have it. Something that a cluster, a person's
shell or the installer reads must differ. An edit that gpuctl refuses says nothing; another one is tried.

What changes nothing stands in a file `still` of the case with the reason: `PATH: reason`. An entry that nothing needs
is a failure, too. Of secrets only the place is known, and no edit of it reaches Git.
"""

import collections
import concurrent.futures
import copy
import pathlib
import shutil
import sys
import tempfile

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support import yaml_text  # noqa: E402
from support.program import ROOT, Tally, arguments, environment, read_tree, run, samples  # noqa: E402

NOT_FIELDS = {"overrides", "extraManifests", "ignore"}
# What only gpuctl, or a person who looks something up, reads.
NOT_EFFECTS = {"cluster.yaml", "facts.yaml", "gpuctl.lock"}
MOST_EDITS = 9


def values(tree, path=()):
    """All values that are no mappings or lists: (path, value)."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in pairs:
        yield from values(value, (*path, key))
    if not isinstance(tree, (dict, list)):
        yield path, tree


def general(path):
    return tuple("[]" if isinstance(step, int) else step for step in path)


def texts_of_others():
    """For each field the texts that blueprints have there."""
    out = collections.defaultdict(dict)
    for file in [*samples(), *sorted((ROOT / "tests/golden/render").rglob("blueprint.yaml"))]:
        try:
            blueprint = yaml_text.load(file.read_text(encoding="utf-8"))
        except yaml.YAMLError:
            continue
        if isinstance(blueprint, dict):
            for path, value in values(blueprint.get("spec") or {}):
                if isinstance(value, str):
                    out[general(path)][value] = True
    return out


def edits(value, texts):
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1, value * 2]
    if not isinstance(value, str):
        return []
    other_digit = [value[:-1] + str((int(value[-1]) + 1) % 10)] if value[-1:].isdigit() else []
    return ([text for text in texts if text != value][:6] + other_digit + [value + "x", "x" + value])[:MOST_EDITS]


def edited(blueprint, path, value):
    out = copy.deepcopy(blueprint)
    at = out["spec"]
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return out


class Case:
    def __init__(self, gpuctl, file, scratch):
        self.gpuctl, self.file, self.scratch = gpuctl, file, scratch
        self.blueprint = yaml_text.load(file.read_text(encoding="utf-8"))
        shutil.copytree(file.parent, scratch / "in")

    def rendered(self, blueprint):
        """What has effects; None when gpuctl refuses the blueprint."""
        place = self.scratch / "in" / self.file.name
        place.write_text(yaml.safe_dump(blueprint, sort_keys=False), encoding="utf-8")
        out = self.scratch / "out"
        shutil.rmtree(out, ignore_errors=True)
        done = run([self.gpuctl, "render", place, "-o", out], env=environment(self.scratch))
        if done.returncode != 0:
            return None
        return {path: content for path, content in read_tree(out).items()
                if pathlib.Path(path).name not in NOT_EFFECTS
                and (not path.endswith(".md") or path.endswith("/nodes.md"))}

    def still(self, texts):
        """Paths of values of which every edit that is accepted changes nothing."""
        first = self.rendered(self.blueprint)
        if first is None:
            return None
        out = []
        for path, value in values(self.blueprint["spec"]):
            if path[0] in NOT_FIELDS or path[-1] in ("env", "file"):
                continue
            accepted = 0
            for edit in edits(value, texts.get(general(path), ())):
                now = self.rendered(edited(self.blueprint, path, edit))
                accepted += now is not None
                if now is not None and now != first:
                    break
            else:
                if accepted:
                    out.append(".".join(map(str, path)))
        return out


def still_of(gpuctl, file, texts):
    with tempfile.TemporaryDirectory(prefix="fields-") as scratch:
        return Case(gpuctl, file, pathlib.Path(scratch)).still(texts)


def blueprints():
    for tree in sorted((ROOT / "tests/golden/import").glob("*/tree")):
        for file in sorted(tree.glob("*.yaml")):
            if not file.name.endswith(".facts.yaml"):
                yield tree.parent, file


def main():
    options = arguments(__doc__)
    tally = Tally()
    texts = texts_of_others()
    cases = list(blueprints())
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda case: still_of(options.gpuctl, case[1], texts), cases))
    for (case, _), paths in zip(cases, found):
        if paths is None:
            continue  # run.py says which blueprints have to be mended
        file = case / "still"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        reasons = dict(line.split(": ", 1) for line in lines if line)
        for path in paths:
            tally.check(path in reasons, f"{case.name}: an edit of {path} changes nothing")
        for path in sorted(reasons.keys() - set(paths)):
            tally.check(False, f"{case.name}: {path} has effects, or is refused; its entry in `still` is not needed")
        tally.check(True, "")
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
