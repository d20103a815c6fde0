#!/usr/bin/env python3
"""What gpuctl accepts, its JSON Schemas accept, by a validator of others; and what they refuse,
gpuctl refuses.

All samples and all blueprints, facts and fleets among the golden cases are compared with the verdict
of gpuctl. Mistakes that a schema can express must be refused by it, too. The schemas themselves are
draft-07, come out equal twice, and their patterns are such that editors can read them.
`json_schemas.py --gpuctl PATH`
"""

import concurrent.futures
import copy
import json
import os
import pathlib
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent)]
from golden import cases  # noqa: E402
from support.program import ROOT, Tally, arguments, environment, run, samples, skip  # noqa: E402

try:
    import jsonschema
    import yaml

    from support import yaml_text
except ImportError:
    skip("json schemas", "PyYAML or jsonschema is not here (Debian: python3-yaml, python3-jsonschema)")

KINDS = {"Blueprint": "blueprint", "Facts": "facts", "Fleet": "fleet"}
# Codes of the checks that a JSON Schema makes as well, of a file that is no layer of another.
EXPRESSIBLE = {"GPU0201", "GPU0202"}
LEAST = {"Blueprint": 300, "Facts": 100, "Fleet": 3}


def schemas(gpuctl, tally, folder):
    found = {}
    for kind, name in KINDS.items():
        texts = {run([gpuctl, "schema", name], env=environment(folder, LC_ALL=locale)).stdout
                 for locale in ("C", "C.UTF-8")}
        tally.check(len(texts) == 1, f"the schema of {kind} differs from run to run")
        schema = json.loads(texts.pop())
        jsonschema.Draft7Validator.check_schema(schema)
        found[kind] = jsonschema.Draft7Validator(schema)
    return found


def documents():
    """(where from, text) of all files of our kinds among samples and golden cases."""
    for file in sorted((ROOT / "blueprints").rglob("*.yaml")):
        yield file, file.read_text()
    for file in sorted((ROOT / "tests/golden").rglob("*.yaml")):
        if "tree" not in file.parts and "stdout" not in file.parts:
            yield file, file.read_text(errors="replace")
    for file in sorted((ROOT / "tests/golden").rglob("*.case")):
        parts = cases.HEADER.split(file.read_text())
        for name, text in zip(parts[1::2], parts[2::2]):
            if name.endswith(".yaml"):
                yield file / name, text


def read(text):
    try:
        document = yaml_text.load(text)
    except (yaml.YAMLError, ValueError):
        return None
    return document if isinstance(document, dict) and document.get("kind") in KINDS \
        and str(document.get("apiVersion", "")).startswith("gpuctl.dev/") else None


def codes_of(gpuctl, text, folder, number):
    """The codes of the errors that `validate` has for a blueprint alone."""
    file = folder / f"{number}.yaml"
    file.write_text(text)
    done = run([gpuctl, "--format", "json", "validate", file], env=environment(folder))
    found = [json.loads(line) for line in done.stderr.decode().splitlines() if line.startswith("{")]
    return {one["code"] for one in found if one["severity"] == "error"}


def has_own_platform(file):
    """Whether the case brings knowledge that the schemas do not have."""
    commands = (file.parent / "cmd", file.parent)  # a case is a folder or a file
    return any("--providers" in path.read_text().partition("\n-- ")[0] for path in commands if path.is_file())


def first_error(validator, document):
    errors = sorted(validator.iter_errors(document), key=lambda error: len(list(error.absolute_path)))
    return errors[0] if errors else None


def check_documents(gpuctl, validators, tally, folder):
    seen = dict.fromkeys(KINDS, 0)
    found = [(file, text, read(text)) for file, text in documents()]
    found = [(file, text, document) for file, text, document in found if document]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        codes = list(pool.map(lambda at: codes_of(gpuctl, found[at][1], folder, at)
                              if found[at][2]["kind"] == "Blueprint" else set(), range(len(found))))
    for (file, _, document), errors in zip(found, codes):
        kind = document["kind"]
        where = file.relative_to(ROOT)
        error = first_error(validators[kind], document)
        schema_errors = {code for code in errors if code.startswith("GPU02")}
        if kind == "Blueprint" and not errors:
            seen[kind] += 1
            tally.check(error is None, f"{where}: accepted, but the schema says: {error and error.message[:200]}")
        elif kind == "Blueprint" and schema_errors & EXPRESSIBLE and "extends" not in document:
            tally.check(error is not None, f"{where}: {sorted(schema_errors)}, but the schema accepts it")
        elif kind != "Blueprint" and "errors" not in file.parts and not has_own_platform(file):
            seen[kind] += 1
            tally.check(error is None, f"{where}: the schema says: {error and error.message[:200]}")
    print(f"{seen} were accepted by both")
    for kind, least in LEAST.items():
        tally.check(seen[kind] >= least, f"only {seen[kind]} of kind {kind} were compared")


def changed(document, path, value):
    """A copy with another value at the path."""
    document = copy.deepcopy(document)
    here = document
    for part in path[:-1]:
        here = here[part]
    here[path[-1]] = value
    return document


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index))
    else:
        yield path, value


# Maps with keys of the user's choice, and values of any form.
OPEN = {"labels", "annotations", "overrides", "values", "clusterPolicy", "nicClusterPolicy", "kubelet", "parameters",
        "extraConfig", "userTags", "userLabels", "partitions", "devices", "selector", "resources"}


def check_mistakes(validators, tally):
    """Each value of each sample with another type, and an unknown field beside it."""
    for file in samples():
        document = yaml_text.load(file.read_text())
        if document.get("kind") != "Blueprint":
            continue
        for path, value in leaves(document):
            if OPEN & set(path) or path == ("extends",):
                continue
            where = f"{file.name}: {'.'.join(map(str, path))}"
            wrong = changed(document, path, {"no": "map"})
            tally.check(first_error(validators["Blueprint"], wrong) is not None, f"{where}: a map is taken for it")
            if isinstance(path[-1], str):
                unknown = changed(document, (*path[:-1], "noSuchField"), value)
                tally.check(first_error(validators["Blueprint"], unknown) is not None,
                            f"{where}: an unknown field is taken beside it")


def main():
    options = arguments(__doc__)
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        validators = schemas(options.gpuctl, tally, folder)
        check_documents(options.gpuctl, validators, tally, folder)
        check_mistakes(validators, tally)
    tally.close()


if __name__ == "__main__":
    main()
