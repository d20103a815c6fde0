#!/usr/bin/env python3
"""Runs every golden case again with `--format json`, and checks what comes on standard output: one
document by docs/results.schema.json, with the exit code that the case expects of the same run as
text, and as many diagnostics as it counts."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]
from golden import cases as golden_cases  # noqa: E402
from golden.cases import expected_exits  # noqa: E402
from golden.run import environment  # noqa: E402
from support.program import ROOT, TIMEOUT_S, Tally, skip  # noqa: E402

PAGE = ROOT / "docs" / "results.md"
SCHEMA = ROOT / "docs" / "results.schema.json"
SEVERITY = re.compile(r'^\{"code":"GPU\d{4}","severity":"(error|warning|note)"', re.M)


def validator():
    try:
        import jsonschema
    except ImportError:
        skip("results", "Python has no jsonschema (Debian: python3-jsonschema)")
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    kinds = {}  # of each kind its own schema, so that a fault is told where it is
    for part in schema["oneOf"]:
        name = part["$ref"].rpartition("/")[2]
        kind = schema["$defs"][name]["properties"]["kind"]
        for one in kind.get("enum", [kind.get("const")]):
            kinds[one] = jsonschema.Draft202012Validator({"$defs": schema["$defs"], **part})
    return kinds


def faults(text, exit_code, stderr, kinds):
    """What is wrong with the document in `text`; empty when nothing is."""
    if not text.endswith("\n") or text.count("\n") != 1:
        return [f"stdout is not one line: {text[:300]!r}"]
    try:
        document = json.loads(text)
    except ValueError as problem:
        return [f"{problem}: {text[:300]!r}"]
    if document.get("kind") not in kinds:
        return [f"kind {document.get('kind')!r} is not in the schema"]
    found = [f"{error.json_path}: {error.message[:300]}"
             for error in kinds[document["kind"]].iter_errors(document)]
    if document.get("exitCode") != exit_code:
        found.append(f"exitCode {document.get('exitCode')}, but the program ended with {exit_code}")
    said = SEVERITY.findall(stderr)
    counted = {name + "s": said.count(name) for name in ("error", "warning", "note")}
    if document.get("diagnostics") != counted:
        found.append(f"diagnostics {document.get('diagnostics')}, but standard error has {counted}")
    return found


def words_of(line, places):
    words = shlex.split(line)
    for name, path in places.items():
        words = [word.replace("{" + name + "}", str(path)) for word in words]
    return words


def run(words, case, env):
    return subprocess.run(words, cwd=case.folder, env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=TIMEOUT_S, check=False)


def check(case, gpuctl, kinds, scratch):
    """(number of documents, faults) of a case."""
    found = []
    exits = []
    documents = 0
    with tempfile.TemporaryDirectory(prefix="results-", dir=scratch) as temporary:
        folder = pathlib.Path(temporary)
        places = {"out": folder / "out", "repo": folder / "repo", "case": case.folder, "root": ROOT}
        (folder / "home").mkdir()
        env = environment(case.folder, folder / "home")
        for line in case.runs():
            words = words_of(line, places)
            if words[0] == "git":
                exits.append(run(["git", "-C", str(places["repo"]), *words[1:]], case, env).returncode)
                continue
            asked = [] if "--format" in words else ["--format", "json"]
            done = run([gpuctl, *asked, *words], case, env)
            exits.append(done.returncode)
            if "--format text" in line:
                continue
            documents += 1
            wrong = faults(done.stdout.decode("utf-8", "surrogateescape"), done.returncode,
                           done.stderr.decode("utf-8", "replace"), kinds)
            found += [f"`{line}`: {fault}" for fault in wrong]
    # As text they are what the case expects, which tests/golden/run.py sees to.
    expected = expected_exits(case, len(exits))
    if exits != expected:
        found.append(f"exit codes {exits}, as text {expected}")
    return documents, found


def examples():
    """The documents on the page, which are as the schema wants them."""
    return re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.S)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpuctl", default=str(ROOT / "build/release/gpuctl"))
    parser.add_argument("--filter", default="", help="only cases whose path contains this")
    options = parser.parse_args()
    gpuctl = str(pathlib.Path(options.gpuctl).resolve())
    kinds = validator()
    tally = Tally()
    seen = set()
    for text in examples():
        document = json.loads(text)
        seen.add(document["kind"])
        wrong = [error.message for error in kinds[document["kind"]].iter_errors(document)]
        tally.check(not wrong, f"docs/results.md, {document['kind']}: {wrong}")
    tally.check(seen == set(kinds), f"docs/results.md: no example of {sorted(set(kinds) - seen)}")
    with tempfile.TemporaryDirectory(prefix="results-") as scratch:
        cases = [case for case in golden_cases.find(pathlib.Path(scratch) / "cases")
                 if options.filter in case.name]
        workers = max(2, os.cpu_count() or 2)
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            running = [(case, pool.submit(check, case, gpuctl, kinds, scratch)) for case in cases]
            for case, future in running:
                count, wrong = future.result()
                for _ in range(count - len(wrong)):
                    tally.check(True, case.name)
                for fault in wrong:
                    tally.check(False, f"{case.name}: {fault}")
    tally.close()


if __name__ == "__main__":
    main()
