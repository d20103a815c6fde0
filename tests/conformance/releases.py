#!/usr/bin/env python3
"""Our tables of releases and feature gates agree with the published ones, cell by cell.

../shared/reference/catalog/openshift-gates.csv has every feature gate of 4.16 to 5.0, release-dates.csv the
life cycles of OpenShift and GKE; section 6 of ../shared/reference/dra-queues.md the terms of extended support.
"""

import pathlib
import re
import sys

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.program import ROOT, SHARED, Tally, arguments, skip  # noqa: E402

CATALOG = SHARED / "reference/catalog"
SETS = ("Default", "TechPreviewNoUpgrade", "DevPreviewNoUpgrade")
# Cells where another source is right, with the reason.
KNOWN = {
    ("4.21", "released"): ("2026-02-03", "the head of release-dates.csv says so itself"),
}


def table(path, key):
    spec = yaml.safe_load((ROOT / "providers" / path).read_text())["spec"]
    return {row[key]: row for row in spec["rows"]}


def lines(name):
    return [line.split(",") for line in (CATALOG / name).read_text().splitlines()
            if line and not line.startswith(("#", "release,", "product,"))]


def check_gates(tally):
    published, releases = {}, set()
    for release, gate, *on in lines("openshift-gates.csv"):
        state = next((name for name, is_on in zip(SETS, on) if is_on == "yes"), "Off")
        published[gate, release] = state
        releases.add(release)
    ours = {(gate, release): state
            for gate, row in table("openshift/tables/openshift-gates.yaml", "gate").items()
            for release, state in row["states"].items() if release in releases}
    tally.check(len(published) > 700, f"only {len(published)} cells")
    for cell in sorted(set(published) | set(ours)):
        tally.check(published.get(cell) == ours.get(cell),
                    f"gate {cell[0]} at {cell[1]}: published {published.get(cell)}, ours {ours.get(cell)}")


def check_dates(tally):
    columns = {
        "openshift": ("openshift/tables/openshift-releases.yaml", "minor",
                      ("released", "fullSupportEnd", "endOfLife", "extendedTerm1")),
        "gke": ("gke/tables/releases.yaml", "release",
                ("released", "standardSupportEnd", "endOfLife", None)),
    }
    published = {(product, release): cells
                 for product, release, *cells in lines("release-dates.csv")}
    for product, (path, key, names) in columns.items():
        for release, row in table(path, key).items():
            cells = published.get((product, release))
            if cells is None:
                tally.check("endOfLife" not in row, f"{product} {release} has an end, and is not published")
                continue
            for name, cell in zip(names, cells):
                if name is None or not cell:
                    continue
                wanted = KNOWN.get((release, name), (cell,))[0]
                tally.check(row.get(name) == wanted,
                            f"{product} {release} {name}: published {wanted}, ours {row.get(name)}")


def day(cell):
    """2024-06-27 of `24-06-27`; nothing of what is no date, or only believed."""
    return "20" + cell if re.fullmatch(r"\d\d-\d\d-\d\d", cell) else None


def check_terms(tally):
    names = ("released", "fullSupportEnd", "endOfLife", "extendedTerm1", "extendedTerm2")
    ours = table("openshift/tables/openshift-releases.yaml", "minor")
    rows = re.findall(r"(?m)^\| (4\.\d+) \| [\d.]+ \| (.*) \|$",
                      (SHARED / "reference/dra-queues.md").read_text())
    tally.check(len(rows) >= 8, f"only {len(rows)} rows of terms")
    for release, cells in rows:
        for name, cell in zip(names, cells.split(" | ")):
            if day(cell):
                tally.check(ours[release].get(name) == day(cell),
                            f"OpenShift {release} {name}: {day(cell)}, ours {ours[release].get(name)}")
            elif cell == "-":
                tally.check(name not in ours[release], f"OpenShift {release} has {name}, and no such term")


def main():
    arguments(__doc__)
    if not (CATALOG / "openshift-gates.csv").exists():
        skip("tables of releases", f"no {CATALOG}")
    tally = Tally()
    check_gates(tally)
    check_dates(tally)
    check_terms(tally)
    tally.close()


if __name__ == "__main__":
    main()
