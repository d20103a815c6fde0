#!/usr/bin/env python3
"""docs/reference/examples.yaml has an example of each field that no sample of blueprints/ shows, out of a golden case
whose blueprint is valid.

Without arguments it looks whether the cases still have them; `field_examples.py GPUCTL --write` makes the file anew. An
example that is there stays as long as a case has it. tests/unit/cli/field_examples_test.cpp looks for fields without one.
"""

import json
import re
import sys
import tempfile

import yaml
from common import ROOT, close, golden_cases, relative
from field_pages import ask, platforms_of

FILE = ROOT / "docs/reference/examples.yaml"
COMMAND = "tests/structure/field_examples.py --write"
HEAD = f"""# Examples of fields that no sample of blueprints/ shows: excerpts of golden cases, for `gpuctl explain FIELD`.
# Made by {COMMAND}.
"""
MOST_LINES = 14  # as in src/cli/field_examples.cpp
CHECKED = ("validate", "render", "apply", "plan")


class Loader(getattr(yaml, 'CSafeLoader', yaml.SafeLoader)):
    """YAML 1.2, as gpuctl reads it: no dates, and two words for booleans."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in ("tag:yaml.org,2002:timestamp",
                                                                        "tag:yaml.org,2002:bool")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("true|false"), "tf")


def lines_of(value):
    return yaml.safe_dump(value).count("\n")


def excerpt(value, steps):
    """As fields::excerpt() has it; None: the value has no such field."""
    if not steps:
        return value
    step, *rest = steps
    name = step.split("[")[0]
    if not isinstance(value, dict):
        return None
    for key, inner in value.items():
        if name not in ("*", key):
            continue
        if step.count("[]") == 1 and isinstance(inner, list):
            found = item = None
            for item in inner:
                found = excerpt(item, rest)
                if found is not None:
                    break
            if found is None:
                return None
            if isinstance(found, dict) and "name" in item and "name" not in found:
                found = {"name": item["name"], **found}
            return {key: [found]}
        found = excerpt(inner, rest)
        return None if found is None else {key: found}
    return None


def shown(blueprint, path):
    """The excerpt that would be shown, if it is short enough; of a longer list its first item."""
    found = excerpt(blueprint, path.split("."))
    if found is not None and lines_of(found) > MOST_LINES:
        found = excerpt(blueprint, (path + "[]").split("."))
    return found if found is not None and lines_of(found) <= MOST_LINES else None


def valid_blueprints(wanted=None):
    """[(name, blueprint)] of cases that end well, all or those wanted: files that hold all of a cluster."""
    out = []
    with tempfile.TemporaryDirectory() as scratch:
        for case in golden_cases.find(scratch):
            if wanted is not None and case.name not in wanted:
                continue
            exits = golden_cases.expected_exits(case, len(case.runs()))
            for run, code in zip(case.runs(), exits):
                words = run.split()
                if code != 0 or words[0] not in CHECKED:
                    continue
                for word in words[1:]:
                    path = case.folder / word.removeprefix("{case}/")
                    if not word.startswith("{case}/") or not word.endswith(".yaml") or not path.is_file():
                        continue
                    text = path.read_text(errors="replace")
                    if "kind: Blueprint" not in text:
                        continue
                    document = read(text)
                    if document.get("kind") == "Blueprint" and "extends" not in document:
                        out.append((case.name, document))
    return out


def read(text):
    try:
        document = yaml.load(text, Loader=Loader)
    except yaml.YAMLError:
        return {}
    return document if isinstance(document, dict) else {}


def fields_of(gpuctl):
    """[(path, platforms)] in the order of the schemas."""
    out = {}
    for platform in platforms_of(gpuctl):
        for root in ("extends", "metadata", "spec"):
            found = ask(gpuctl, "explain", root, "--recursive", "-o", "json", "--platform", platform)["variants"][0]
            for field in [found, *found["fields"]]:
                out.setdefault(field["path"], []).append(platform)
    return list(out.items())


def has(documents, path, platforms):
    return any(document["spec"]["platform"] in platforms and shown(document, path) is not None
               for document in documents)


def covered(rows, path, platforms):
    """True when a row shows the field, or all of something that it is part of; [(path, row)]."""
    return any((path + ".").startswith((of + ".", of + "[].")) and has([row["blueprint"]], path, platforms)
               for of, row in rows)


def contains(whole, part):
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and contains(whole[key], value) for key, value in part.items())
    if isinstance(part, list):
        return isinstance(whole, list) and all(any(contains(one, item) for one in whole) for item in part)
    return whole == part and type(whole) is type(part)


def wanted_rows(gpuctl):
    samples = [read(path.read_text()) for path in sorted((ROOT / "blueprints").glob("*.yaml"))
               if not path.name.endswith(".facts.yaml")]
    samples = [one for one in samples if "platform" in one.get("spec", {})]
    missing = [(path, platforms) for path, platforms in fields_of(gpuctl)
               if not has(samples, path, platforms)]
    valid = [(name, document) for name, document in valid_blueprints() if "platform" in document["spec"]]
    kept = read_rows()
    rows = []
    for path, platforms in missing:
        if covered(rows, path, platforms):
            continue
        found = candidates(path, platforms, valid, missing)
        if not found:
            continue
        old = [row for row in kept if row in found and shown(row["blueprint"], path) is not None]
        rows.append((path, old[0] if old else found[0]))
    return list({json.dumps(row): row for _, row in rows}.values())


def candidates(path, platforms, valid, missing):
    """Rows that show the field, first those that show most others that lack an example."""
    below = [one for one, _ in missing if one.startswith(path)]
    found = {}
    for name, document in valid:
        platform = document["spec"]["platform"]
        example = shown(document, path) if platform in platforms else None
        if example is None:
            continue
        row = {"from": f"tests/golden/{name}", "blueprint": with_platform(example, platform)}
        score = sum(excerpt(example, one.split(".")) is not None for one in below)
        found.setdefault(json.dumps(example), (-score, lines_of(example), name, row))
    return [row for *_, row in sorted(found.values(), key=lambda one: one[:3])]


def with_platform(example, platform):
    return {**example, "spec": {"platform": platform, **example.get("spec", {})}}


def read_rows():
    return (yaml.load(FILE.read_text(), Loader=Loader) if FILE.exists() else None) or []


def text_of(rows):
    return HEAD + "".join(f"- {json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def main():
    if sys.argv[2:] == ["--write"]:
        FILE.write_text(text_of(wanted_rows(sys.argv[1])))
        return
    rows = read_rows()
    names = [row["from"].removeprefix("tests/golden/") for row in rows]
    valid = valid_blueprints(set(names))
    findings = [f"{relative(FILE)}: {row['from']} does not have {json.dumps(row['blueprint'])[:200]}; {COMMAND} makes it anew"
                for name, row in zip(names, rows)
                if not any(name == of and contains(document, row["blueprint"]) for of, document in valid)]
    sys.exit(close(findings, len(rows), "examples"))


if __name__ == "__main__":
    main()
