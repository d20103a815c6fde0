#!/usr/bin/env python3
"""`gpuctl explain FIELD` lists what the program itself checks of the field: `x-gpuctl-checks` of the schemas, held
against what golden cases show at fields of their blueprints.

Called as `field_checks.py GPUCTL`.
"""

import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

import yaml
from common import ROOT, close, golden_cases

SHOWN = re.compile(r"^(error|warning|note)\[(GPU\d{4})\]: .*\n +--> \{case\}/(\S+):(\d+):(\d+)$", re.M)
# Of any field: what YAML, types and expressions want, secrets in clear, layers, overrides; and what is said of the
# cluster as a whole, at its name.
OF_ANY = re.compile(r"GPU(01\d\d|02\d\d|030[34]|0424|060[124]|0645|065[0-3]|080[456])")
# At the field that named the secret; the error is in what is to be opened by it.
ELSEWHERE = {"GPU0854", "GPU0857", "GPU0858"}


def path_at(node, place, path=""):
    """The field that stands at (line, column)."""
    def inside(begin, end):
        return (begin.line, begin.column) <= place < (end.line, end.column)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if inside(key.start_mark, value.end_mark):
                return path_at(value, place, f"{path}.{key.value}" if path else str(key.value))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            if inside(item.start_mark, item.end_mark):
                return path_at(item, place, path + "[]")
    return path


def blueprint(path):
    try:
        text = path.read_text()
        return yaml.compose(text) if "kind: Blueprint" in text else None
    except (OSError, ValueError, yaml.YAMLError):
        return None


def seen_in_cases(codes):
    """(code, severity, field) of our own codes."""
    found = set()
    with tempfile.TemporaryDirectory() as scratch:
        for case in golden_cases.find(scratch):
            said = case.folder / "stderr"
            if not said.exists():
                continue
            for severity, code, file, line, column in SHOWN.findall(said.read_text(errors="replace")):
                document = blueprint(case.folder / file) if code in codes else None
                if document is not None:
                    found.add((code, severity, path_at(document, (int(line) - 1, int(column) - 1))))
    return found


def listed():
    """Code -> severities that the schemas name."""
    out = collections.defaultdict(set)
    def walk(node):
        if isinstance(node, dict):
            for code, severity in (node.get("x-gpuctl-checks") or {}).items():
                out[code].add(severity)
            node = node.values()
        for inner in node if not isinstance(node, (str, int, float, type(None))) else ():
            walk(inner)
    for path in (ROOT / "providers").rglob("schema.yaml"):
        if path.parent.name != "formats":
            walk(yaml.safe_load(path.read_text()))
    return out


def explained(gpuctl, path):
    """Codes that are listed for a field, or for the nearest one around it that the schemas have."""
    while path:
        done = subprocess.run([gpuctl, "explain", path, "-o", "json"], capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL)
        if done.returncode == 0:
            return {rule["code"]: rule["severity"] for rule in json.loads(done.stdout)["rules"]}
        path = path.rpartition(".")[0]
    return {}


def main():
    own = {code for file in (ROOT / "src").rglob("codes.hpp") for code in re.findall(r'"(GPU\d{4})"', file.read_text())}
    rules = {code for file in (ROOT / "providers").rglob("*.yaml") if "rules" in str(file)
             for code in re.findall(r"code: (GPU\d{4})", file.read_text())}
    wanted = listed()
    findings = [f"{code}: `x-gpuctl-checks` has it, and src/ does not report it" for code in wanted if code not in own | rules]
    seen = seen_in_cases(own)
    fields = sorted({path for code, _, path in seen if not OF_ANY.fullmatch(code) and code not in ELSEWHERE})
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = dict(zip(fields, pool.map(lambda path: explained(sys.argv[1], path), fields)))
    for code, severity, path in sorted(seen):
        if code in wanted and severity not in wanted[code]:
            findings.append(f"{code}: is of severity {severity}, listed as {wanted[code]}")
        if path in said and not OF_ANY.fullmatch(code) and code not in ELSEWHERE and code not in said[path]:
            findings.append(f"{code}: is shown at {path}, and `gpuctl explain {path}` does not list it")
    sys.exit(close(findings, len(seen) + len(wanted), "checks of fields"))


if __name__ == "__main__":
    main()
