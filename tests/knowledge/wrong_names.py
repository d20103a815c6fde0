#!/usr/bin/env python3
"""Names that people bring from other programs lead to the right field by the first message.

Each line of wrong_names.txt is such a name, written into a sample. Besides, every row of the files
synonyms.yaml leads to a field on a platform that builds on its folder, and no name is one that the
place has. `wrong_names.py --gpuctl PATH`
"""

import concurrent.futures
import json
import os
import pathlib
import re
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent)]
from support.program import ROOT, Tally, arguments, environment, run, skip  # noqa: E402

try:
    import yaml

    from support import yaml_text
except ImportError:
    skip("wrong names", "PyYAML is not here (Debian: python3-yaml)")

LEAST_NAMES = 150
LINES = pathlib.Path(__file__).with_suffix(".txt")


def written_at(document, place):
    """The map at `spec.gpuPools[0]`; `-` is the document. One that is not there is made."""
    for name, index in re.findall(r"(\w+)(?:\[(\d+)\])?", place.strip("-")):
        document = document.setdefault(name, {})
        if index:
            document = document[int(index)]
    return document


def first_message(gpuctl, sample, place, name, folder):
    """The first diagnostic about a sample with that name in it."""
    document = yaml_text.load((ROOT / f"blueprints/{sample}.yaml").read_text())
    written_at(document, place)[name] = "x"
    file = folder / f"{sample}-{re.sub(r'[^a-z]', '', place)}-{name}.yaml"
    file.write_text(yaml.safe_dump(document))
    done = run([gpuctl, "--format", "json", "validate", file], env=environment(folder))
    lines = done.stderr.decode().splitlines()
    return json.loads(lines[0]) if lines else {}


def check_lines(gpuctl, tally, folder):
    lines = [line.split() for line in LINES.read_text().splitlines() if line and line[0] != "#"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = pool.map(lambda line: first_message(gpuctl, *line[:3], folder), lines)
        for (sample, place, name, field), finding in zip(lines, said):
            text = " ".join(finding.get("help", []))
            tally.check(finding.get("code") == "GPU0201" and f"`{field}`" in text,
                        f"{name} in {place} of {sample}: not `{field}`, but {finding.get('message')}: {text}")
    names = {name for _, _, name, _ in lines}
    tally.check(len(names) >= LEAST_NAMES, f"only {len(names)} names in {LINES.name}")


def fields_of(gpuctl, platform, folder):
    """Path without brackets -> names of the fields there, as the platform's schema has them."""
    done = run([gpuctl, "schema", "--platform", platform], env=environment(folder))
    schema = json.loads(done.stdout)["definitions"][platform]
    found = {}

    def walk(part, path):
        if "properties" in part:
            found.setdefault(path, set()).update(part["properties"])
        for name, inner in part.get("properties", {}).items():
            walk(inner, f"{path}.{name}".strip("."))
        for inner in (part.get("items"), part.get("additionalProperties")):
            if isinstance(inner, dict):
                walk(inner, path)

    walk(schema, "")
    return found


def places_of(row):
    """`spec.large|small[]` -> spec.large, spec.small"""
    plain = row.get("at", "").replace("[]", "")
    if "|" not in plain:
        return [plain]
    parts = plain.split(".")
    at = next(i for i, part in enumerate(parts) if "|" in part)
    return [".".join([*parts[:at], choice, *parts[at + 1:]]) for choice in parts[at].split("|")]


def leads_somewhere(row, place, fields):
    path = row.get("path") or f"{place}.{row['field']}".strip(".")
    around, _, name = path.replace("[]", "").rpartition(".")
    return name in fields.get(around, ())


def check_rows(gpuctl, tally, folder):
    builds = {}
    for file in (ROOT / "providers").glob("*/provider.yaml"):
        spec = yaml_text.load(file.read_text())["spec"]
        if spec.get("platform"):
            builds[file.parent.name] = spec["builds"]
    fields = {platform: fields_of(gpuctl, platform, folder) for platform in builds}
    for file in sorted((ROOT / "providers").glob("*/synonyms.yaml")):
        if file.parent.name == "formats":
            continue
        platforms = [name for name, folders in builds.items() if file.parent.name in folders]
        for row in yaml_text.load(file.read_text())["spec"]["synonyms"]:
            what = f"{file.parent.name}: {row['names'][0]} at {row.get('at', 'the top')}"
            places = places_of(row)
            tally.check(any(leads_somewhere(row, place, fields[platform])
                            for place in places for platform in platforms),
                        f"{what}: no platform has the field")
            for name in row["names"]:
                tally.check(not all(name in fields[platform].get(place, ())
                                    for place in places for platform in platforms),
                            f"{what}: `{name}` is a field everywhere")


def main():
    options = arguments(__doc__)
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        check_lines(options.gpuctl, tally, folder)
        check_rows(options.gpuctl, tally, folder)
    tally.close()


if __name__ == "__main__":
    main()
