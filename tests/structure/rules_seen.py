#!/usr/bin/env python3
"""Every rule is broken by some input of the tests, and kept by another.

Called as `rules_seen.py RULES_SEEN`, a program that runs the rules on the inputs it is given and
counts. Kept means that a rule was asked and satisfied: a `when` that is not true, or a loop over
nothing, does not count. A rule whose check is `false` says everything in `when` and its loops; it
is kept where these leave it out.

Inputs are what golden cases give to gpuctl, what they expect it to write, the blueprints that users
start from, and ../shared/conformance where it is present.
"""

import collections
import re
import shlex
import subprocess
import sys
import tempfile

from common import ROOT, close, golden_cases, relative

GOLDEN = ROOT / "tests/golden"
SHARED = ROOT.parent / "shared"
# A line each: code, `kept` or `broken`, reason.
EXCEPTIONS = ROOT / "tests/structure/rules_seen.txt"
TIMEOUT_S = 300


def facts_of(blueprint):
    beside = blueprint.with_name(blueprint.name.removesuffix(".yaml") + ".facts.yaml")
    return beside if beside.is_file() else None


def golden_inputs(unpacked):
    """What the commands of golden cases read, but for those that bring knowledge of their own."""
    for case in golden_cases.find(unpacked):
        for line in case.runs():
            words = [word.replace("{case}", str(case.folder)).replace("{root}", str(ROOT))
                     .replace("{shared}", str(SHARED)) for word in shlex.split(line)]
            if words[:2] == ["license", "check"] and (ROOT / words[2]).is_file():
                date = words[words.index("--date") + 1] if "--date" in words else "2026-09-01"
                yield "token", ROOT / words[2], date
                continue
            if "--providers" in words or not {"validate", "render", "apply"} & set(words):
                continue
            options = dict(zip(words, words[1:]))
            facts = options.get("--facts")
            for i, word in enumerate(words):
                path = ROOT / word
                if not word.endswith(".yaml") or words[i - 1].startswith("-") or not path.is_file():
                    continue
                date = f" {options['--date']}" if "--date" in options else ""
                yield "blueprint", path, f"{facts or facts_of(path) or '-'}{date}"
                yield "documents", path, options.get("--openshift-version")


def inputs(unpacked):
    yield from golden_inputs(unpacked)
    for folder in ("blueprints", "tests/conformance"):
        for path in sorted((ROOT / folder).rglob("*.yaml")):
            beside = path.with_name("facts.yaml")
            yield "blueprint", path, beside if beside.is_file() else facts_of(path)
    for tree in sorted(GOLDEN.rglob("tree")):
        for path in sorted(tree.rglob("*.yaml")):
            yield "documents", path, None
    for path in sorted((SHARED / "conformance").rglob("*.yaml")):
        yield "documents", path, None


def count(program):
    """[(place, code, kept, broken, left out, never)] of every rule."""
    with tempfile.TemporaryDirectory(prefix="golden-cases-") as unpacked:
        lines = dict.fromkeys(f"{what} {path} {more or '-'}" for what, path, more in inputs(unpacked))
        done = subprocess.run([program], input="\n".join(lines) + "\n", capture_output=True, text=True,
                              timeout=TIMEOUT_S, cwd=ROOT, check=True)
    rules = []
    for line in done.stdout.splitlines():
        place, code, kept, broken, left_out, *never = line.split()
        rules.append((place, code, int(kept), int(broken), int(left_out), bool(never)))
    return rules, len(lines)


def exceptions(findings):
    """(code, what) -> reason, of the file of exceptions."""
    allowed = {}
    lines = EXCEPTIONS.read_text().splitlines() if EXCEPTIONS.exists() else []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = re.fullmatch(r"(GPU\d{4}) (kept|broken) (\S+ \S+ \S+.*)", line)
        if match:
            allowed[match[1], match[2]] = match[3]
        else:
            findings.append(f"{relative(EXCEPTIONS)}:{number}: wants a code, `kept` or `broken`, and "
                            "a reason")
    return allowed


def main():
    findings = []
    allowed = exceptions(findings)
    unused = set(allowed)
    rules, given = count(sys.argv[1])
    seen = collections.Counter()
    for place, code, kept, broken, left_out, never in rules:
        for what, times in (("kept", left_out if never else kept), ("broken", broken)):
            seen[what] += times
            if times:
                continue
            if (code, what) in allowed:
                unused.discard((code, what))
            else:
                findings.append(f"{place}: {code} was never {what}")
    for code, what in sorted(unused):
        findings.append(f"{relative(EXCEPTIONS)}: `{code} {what}` is not needed")
    print(f"{given} inputs; rules were kept {seen['kept']} times, broken {seen['broken']} times")
    sys.exit(close(findings, len(rules), "rules"))


if __name__ == "__main__":
    main()
