#!/usr/bin/env python3
"""Help and pages keep up with the program: examples, commands, exit codes, links.

Called as `docs.py GPUCTL`.
"""

import re
import subprocess
import sys

from common import ROOT, close, relative

DECISION = ["## Context", "## Decision", "## Consequences"]


def run(gpuctl, *arguments):
    done = subprocess.run([gpuctl, *arguments], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60)
    return done.returncode, done.stdout, done.stderr


def commands_of(gpuctl):
    """The subcommands that `gpuctl --help` lists, in its order."""
    _, text, _ = run(gpuctl, "--help")
    section = re.search(r"^(?:Subcommands|Commands):\n(.*?)(?:\n\S|\Z)", text, re.M | re.S)
    return re.findall(r"^ {2}([a-z][a-z-]*)\b", section[1], re.M) if section else []


def check_help(gpuctl, commands):
    findings = []
    for command in commands:
        code, text, errors = run(gpuctl, command, "--help")
        if code != 0 or errors:
            findings.append(f"gpuctl {command} --help: exit code {code}, stderr {errors!r}")
        if "Example" not in text:
            findings.append(f"gpuctl {command} --help: no example")
        elif f"gpuctl {command}" not in text.split("Example", 1)[1]:
            findings.append(f"gpuctl {command} --help: the example does not call the command")
    for arguments, want in ((["no-such-command"], 64), ([], 64), (["version"], 0)):
        code, _, _ = run(gpuctl, *arguments)
        if code != want:
            findings.append(f"gpuctl {' '.join(arguments)}: exit code {code}, not {want}")
    return findings


def check_readme(commands):
    text = (ROOT / "README.md").read_text()
    named = set(re.findall(r"^\| `([a-z][a-z-]*)", text, re.M))
    findings = [f"README.md: command `{name}` is missing in the table"
                for name in commands if name not in named]
    findings += [f"README.md: the table names `{name}`, which gpuctl does not have"
                 for name in sorted(named - set(commands))]
    for wanted in ("./install.sh demo", "./install.sh test", "Exit code"):
        if wanted not in text:
            findings.append(f"README.md: says nothing of `{wanted}`")
    return findings


def anchors_of(text):
    """Heading anchors as forges make them."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", text, re.M)}


def check_links(pages):
    findings = []
    for page in pages:
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
        text = re.sub(r"`[^`\n]*`", "", text)  # a pattern may read as a link
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                findings.append(f"{relative(page)}: link to `{target}`, which does not exist")
            elif anchor and file.suffix == ".md" and anchor not in anchors_of(file.read_text()):
                findings.append(f"{relative(page)}: link to `{target}`, which has no such heading")
    return findings


def check_decisions():
    findings = []
    numbers = []
    for page in sorted((ROOT / "docs/decisions").glob("*.md")):
        headings = [line for line in page.read_text().splitlines() if line.startswith("## ")]
        if headings != DECISION:
            findings.append(f"{relative(page)}: headings are {headings}, not {DECISION}")
        numbers.append(page.name[:4])
    if numbers != [f"{n:04d}" for n in range(1, len(numbers) + 1)]:
        findings.append(f"docs/decisions: numbers are not 0001 and on: {numbers}")
    return findings


def check_applied():
    """What people apply has a field manager of its own: another one's fields would be removed."""
    places = [ROOT / "README.md", *(ROOT / "docs/codes").glob("*.md"),
              *(ROOT / "templates").rglob("*.yaml")]
    return [f"{relative(place)}: `{line.strip()}` lacks --field-manager=gpuctl"
            for place in sorted(places) for line in place.read_text().splitlines()
            if "apply --server-side" in line and " -k " in line
            and "--field-manager=gpuctl" not in line]


def main():
    gpuctl = sys.argv[1]
    commands = commands_of(gpuctl)
    findings = [] if commands else ["gpuctl --help lists no commands"]
    findings += check_help(gpuctl, commands)
    findings += check_readme(commands)
    pages = sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md"))
    findings += check_links(pages) + check_decisions() + check_applied()
    sys.exit(close(findings, len(commands) + len(pages), "commands and pages"))


if __name__ == "__main__":
    main()
