#!/usr/bin/env python3
"""Files stay readable, and nothing starts a shell."""

import re

from common import main, relative, sources

SOFT, HARD = 400, 800
SHELL = re.compile(r'(?<![\w.>])(?:std::|::)?(?:system|popen|wordexp)\s*\(|"/bin/(?:ba|da)?sh"|"sh"\s*,\s*"-c"')


def check():
    findings = []
    files = sources("src", "tests", suffixes=(".hpp", ".cpp", ".py", ".sh"))
    for path in files:
        lines = path.read_text().splitlines()
        if len(lines) > HARD:
            findings.append(f"{relative(path)}: {len(lines)} lines, at most {HARD}")
        elif len(lines) > SOFT:
            print(f"note: {relative(path)}: {len(lines)} lines, better under {SOFT}")
        if path.suffix in (".hpp", ".cpp") and relative(path).startswith("src/"):
            for number, line in enumerate(lines, 1):
                if SHELL.search(line.split("//")[0]):
                    findings.append(f"{relative(path)}:{number}: starts a shell: {line.strip()}")
    return findings, len(files), "files"


if __name__ == "__main__":
    main(check)
