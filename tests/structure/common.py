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
