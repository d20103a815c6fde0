"""What the structure checks share: where the project is, and how findings are closed."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests"))
from golden import cases as golden_cases  # noqa: E402,F401


def sources(*folders, suffixes=(".hpp", ".cpp", ".S")):
    """All source files below the folders, sorted."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*")
                  if path.suffix in suffixes)


def relative(path):
    return str(path.relative_to(ROOT))


def formats(loader):
    """The formats below providers/formats/ by path, with what they take in of `shared` in wrapper.yaml. `loader` is a
    loader of PyYAML, which some checks do without."""
    import yaml
    forms = {path: yaml.load(path.read_text(), Loader=loader) for path in sorted((ROOT / "providers/formats").glob("*.yaml"))}
    shared = forms[ROOT / "providers/formats/wrapper.yaml"]["spec"]["shared"]
    for form in forms.values():
        form["spec"]["schema"] = expanded(form["spec"]["schema"], shared)
    return forms


def expanded(schema, shared):
    """A schema with its shared parts, as src/catalog/shared.cpp makes it."""
    if not isinstance(schema, dict):
        return schema
    name = schema.get("x-gpuctl-shared")
    taken = name if isinstance(name, str) else None
    own = {key: expanded(value, shared) for key, value in schema.items() if not taken or key != "x-gpuctl-shared"}
    return merged(expanded(shared[taken], shared), own) if taken else own


def merged(part, own):
    both = {key: merged(part[key], own[key]) for key in part.keys() & own.keys()
            if isinstance(part[key], dict) and isinstance(own[key], dict)}
    return {**part, **own, **both}


def close(findings, checked, what):
    """Prints the findings and the closing line; returns the exit code."""
    for finding in findings:
        print(finding)
    if not checked:
        print(f"nothing to check: no {what}")
        findings = findings or ["none"]
    print(f"{checked} {what} checked")
    print(f"{max(checked - len(findings), 0)} passed, {len(findings)} failed")
    return 1 if findings else 0


def main(check):
    sys.exit(close(*check()))
