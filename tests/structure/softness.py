#!/usr/bin/env python3
"""No case of `gpuctl plan` is softer than the reference on what changes do to a running cluster.

The reference names the effect of each row with words of the closed list of classes. The golden cases
that docs/coverage/disruption.md names for the row must show, all of them together, a class at least
as bad as the worst of them, and `refused` where it stands there. A row of ours that is milder on
purpose says so: its "How" begins with `milder:`.
"""

import re
import sys

from common import ROOT
from coverage import ELLIPSIS, REFERENCE, SKIPPED, STRICT, plain, rows_of_reference, tables_of

SECTIONS = ("2", "3", "4", "5", "6", "7", "8", "9")
CLASSES = ["none", "install-only", "metadata", "new-machines", "operands", "gpu-pods", "drain", "node-reboot",
           "node-recreate", "machines-deleted", "pool-recreate", "upgrade"]
REFUSED = "refused"
SHORT = {"reboot": "node-reboot"}  # as the reference writes it in places
FOUND = re.compile(r"^ +(?:[-+]\s+)?(" + "|".join([*CLASSES, REFUSED]) + r")(?:, [a-z ]+)*: ", re.M)


def classes_in(cells):
    """The classes that the cells of a row name in backticks, `machines-deleted(delta)` as the class."""
    out = []
    for word in re.findall(r"`([a-z-]+)(?:\([^`]*\))?`", " ".join(cells)):
        word = SHORT.get(word, word)
        if word in CLASSES or word == REFUSED:
            out.append(word)
    return out


def shown_by(holder):
    """The classes that a golden case shows in any of its plans."""
    for path in (ROOT / f"tests/golden/{holder}.case", ROOT / f"tests/golden/{holder}/stdout"):
        if path.is_file():
            text = path.read_text()
            return set(FOUND.findall(text.split("-- stdout --\n")[-1])) | set(re.findall(r'"effect":"([a-z-]+)"', text))
    return set()


def reference_classes(text):
    """(section, row) -> classes."""
    keys = rows_of_reference(text, SECTIONS)
    out, at = {}, {}
    for section, _, _, rows in tables_of(text):
        if section.split(".")[0] not in SECTIONS:
            continue
        for _, cells in rows:
            index = at.get(section, 0)
            at[section] = index + 1
            out[section, keys[section][index]] = classes_in(cells[1:])
    return out


def check(place, row, classes, holders, how, findings):
    cases = [holder for holder in holders if "/" in holder and not holder.startswith("tests/")]
    if not cases or how.startswith("milder:"):
        return False
    shown = set().union(*map(shown_by, cases))
    ranks = [CLASSES.index(one) for one in classes if one != REFUSED]
    best = max([CLASSES.index(one) for one in shown if one != REFUSED], default=-1)
    if REFUSED in classes and REFUSED not in shown:
        findings.append(f"{place}: `{row}` is refused, and no case of it shows that")
    if ranks and best < max(ranks) and REFUSED not in shown:
        findings.append(f"{place}: `{row}` is {CLASSES[max(ranks)]}, and its cases show {sorted(shown)}")
    return True


def main():
    page = REFERENCE / "disruption.md"
    if not page.is_file():
        print("skipped: the reference is not here (../shared/reference/disruption.md)")
        return 1 if STRICT else SKIPPED
    wanted = reference_classes(page.read_text())
    findings, count = [], 0
    for section, _, _, rows in tables_of((ROOT / "docs/coverage/disruption.md").read_text()):
        for number, cells in rows:
            key = plain(cells[0])
            fits = [one for one in wanted if one[0] == section and (
                one[1] == key or (key.endswith(ELLIPSIS) and one[1].startswith(key[:-1].rstrip())))]
            if len(fits) != 1:
                continue  # that every row is there, the coverage test says
            holders = [one for one in re.split(r"[\s,]+", plain(cells[1])) if one]
            count += check(f"docs/coverage/disruption.md:{number}", key, wanted[fits[0]], holders, cells[2], findings)
    for finding in findings:
        print(finding)
    if count < 80:
        findings.append("too few rows")
        print(f"only {count} rows were compared")
    print(f"{count} rows compared")
    print(f"{max(count - len(findings), 0)} passed, {len(findings)} failed")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
