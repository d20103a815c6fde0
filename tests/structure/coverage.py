#!/usr/bin/env python3
"""Every row of the reference tables is held by a rule, a schema or a template, or left out for a
reason.

`docs/coverage/NAME.md` says so, row by row, for `NAME.md` of the reference: below one heading a
section (`## 1.2 OWN TITLE`) stands a table `| Row | Held by | How |`.

  Row      the first cell of the reference's row without markup; where that is not unique in the
           section, ` / ` and the second cell follow; a row that ends in an ellipsis is the beginning
           of exactly one
  Held by  diagnostic codes, `schema`, `rendered`, or `skip` alone; also golden cases by their path
           below tests/golden, and tests by theirs from the root
  How      what the rule says; the file that renders; why it is skipped

Sections of the reference without a number of their own are counted. Where a page of the reference
names its rows by letter and number (`| T1 |`, `**K1**`), so do we, whether it has a table or not.
"""

import os
import re
import sys

import codes as code_pages
from common import ROOT, close, relative

REFERENCE = ROOT.parent / "shared/reference"
STRICT = os.environ.get("CI") == "true" or os.environ.get("GPUCTL_REQUIRE_SHARED") == "1"
SKIPPED = 77
# Reference page -> the sections that count; None: all of them.
PAGES = {
    "openshift": ("1", "2", "3", "4", "5", "8"),
    "pitfalls-openshift": None,
    "gke-cloud": None,
    "pitfalls-gke-cloud": None,
    "pitfalls-nvidia": None,
    "disruption": ("2", "3", "4", "5", "6", "7", "8", "9"),
    "findings-1": ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "12", "13", "14"),
}
# Pages whose rows are named by letter and number.
NAMED = {"findings-1"}
HEADER = ["Row", "Held by", "How"]
HOLDERS = {"schema", "rendered", "skip"}
REASON_WORDS = 4
ELLIPSIS = "…"


def cells_of(line):
    """The cells of a table's line. A bar in backticks or after a backslash separates nothing."""
    cells, quoted, cell = [], False, ""
    text = line.strip()[1:]
    for i, character in enumerate(text):
        if character == "`":
            quoted = not quoted
        if character == "|" and not quoted and (i == 0 or text[i - 1] != "\\"):
            cells.append(cell.strip())
            cell = ""
        else:
            cell += character
    return cells + ([cell.strip()] if cell.strip() else [])


def plain(cell):
    """A cell without its markup."""
    return re.sub(r"\s+", " ", re.sub(r"`|\*\*|\\(?=\|)", "", cell)).strip()


def tables_of(text):
    """[(section, title, header, [(line number, cells)])] of the page's tables, in order."""
    tables = []
    section, title, counted, table = "", "", 0, None
    for number, line in enumerate(text.splitlines(), 1):
        heading = re.match(r"(##+)\s+(?:(\d+(?:\.\d+)*)\.?\s+)?(.*)", line)
        if heading:
            counted += heading[1] == "##"
            section, title = heading[2] or str(counted), heading[3]
        if not line.startswith("|"):
            table = None
        elif table is None:
            table = (section, title, cells_of(line), [])
            tables.append(table)
        elif not re.fullmatch(r"[|\s:-]+", line):
            table[3].append((number, cells_of(line)))
    return tables


def rows_of_reference(text, sections):
    """section -> [key of a row], in order."""
    first = {}
    for section, _, _, rows in tables_of(text):
        if sections is None or section.split(".")[0] in sections:
            first.setdefault(section, []).extend(
                (plain(cells[0]), plain(cells[1]) if len(cells) > 1 else "") for _, cells in rows)
    keys = {}
    for section, rows in first.items():
        names = [name for name, _ in rows]
        keys[section] = [name if names.count(name) == 1 else f"{name} / {second}"
                         for name, second in rows]
    return keys


def named_rows(text, sections):
    """section -> [name of a row], in order, of pages that name their rows."""
    keys, section = {}, ""
    for line in text.splitlines():
        if heading := re.match(r"##+\s+(\d+)\.?\s", line):
            section = heading[1]
        if section in sections:
            names = re.findall(r"^\| ([A-Z]\d+)\b", line) or re.findall(r"\*\*([A-Z]\d+)\*\*", line)
            keys.setdefault(section, []).extend(names)
    return keys


def check_row(place, cells, pages, shown, findings):
    """What is wrong with one row of ours, whatever the reference says."""
    if len(cells) != len(HEADER) or not all(cells):
        findings.append(f"{place}: wants {len(HEADER)} cells, none of them empty")
        return
    holders = [holder for holder in re.split(r"[\s,]+", plain(cells[1])) if holder]
    how = cells[2]
    for holder in holders:
        if re.fullmatch(r"GPU\d{4}", holder):
            if holder not in pages:
                findings.append(f"{place}: {holder} has no page")
            elif holder not in shown:
                findings.append(f"{place}: no golden case shows {holder}")
        elif "/" in holder:
            if not any((ROOT / place).exists() for place in
                       (f"tests/golden/{holder}", f"tests/golden/{holder}.case", holder)):
                findings.append(f"{place}: {holder} does not exist")
        elif holder not in HOLDERS:
            findings.append(f"{place}: `{holder}` is no code, nor one of {sorted(HOLDERS)}")
    if "skip" in holders and len(holders) > 1:
        findings.append(f"{place}: skipped and held at the same time")
    if {"skip", "rendered"} & set(holders) and len(how.split()) < REASON_WORDS:
        findings.append(f"{place}: a reason wants {REASON_WORDS} words at least")
    files = re.findall(r"`((?:templates|providers)/[^`\s]+)`", how)
    findings += [f"{place}: {file} does not exist" for file in files if not (ROOT / file).is_file()]
    if "rendered" in holders and not files:
        findings.append(f"{place}: does not name the file below templates/ or providers/")


def compare(name, ours, reference, findings):
    """Rows of the reference against ours: exactly one each."""
    for section in sorted(set(ours) | set(reference)):
        keys = reference.get(section, [])
        taken = {}
        for place, row in ours.get(section, []):
            fits = [i for i, key in enumerate(keys)
                    if key == row or (row.endswith(ELLIPSIS) and
                                      key.startswith(row[:-len(ELLIPSIS)].rstrip()))]
            if len(fits) != 1:
                findings.append(f"{place}: `{row}` is {len(fits)} rows of section {section} of the "
                                "reference")
                continue
            if fits[0] in taken:
                findings.append(f"{place}: `{row}` stands here twice, also at {taken[fits[0]]}")
            taken[fits[0]] = place
        for i, key in enumerate(keys):
            if i not in taken:
                findings.append(f"docs/coverage/{name}.md: section {section} misses `{key}`")


def check_page(name, pages, shown, findings):
    """Checks docs/coverage/NAME.md; returns section -> [(place, row)]."""
    path = ROOT / f"docs/coverage/{name}.md"
    if not path.is_file():
        findings.append(f"{relative(path)} does not exist")
        return None
    text = path.read_text()
    introduction = re.sub(r"\A# .*", "", text.split("\n## ", 1)[0]).split()
    if not text.startswith("# ") or len(introduction) < 8:
        findings.append(f"{relative(path)}: wants a title and an introduction")
    ours = {}
    for heading in re.findall(r"^##+ .*", text, re.M):
        if not re.match(r"## \d+(\.\d+)* \S", heading):
            findings.append(f"{relative(path)}: `{heading}` is not `## NUMBER TITLE`")
    for section, _, header, rows in tables_of(text):
        if header != HEADER:
            findings.append(f"{relative(path)}: a table of section {section} has columns {header}")
            continue
        for number, cells in rows:
            place = f"{relative(path)}:{number}"
            check_row(place, cells, pages, shown, findings)
            ours.setdefault(section, []).append((place, plain(cells[0]) if cells else ""))
    return ours


def main():
    findings = []
    pages = {path.stem for path in (ROOT / "docs/codes").glob("GPU*.md")}
    shown = code_pages.shown_by_cases() | code_pages.shown_by_unit_tests(code_pages.defined(), [])
    count = 0
    for page in sorted((ROOT / "docs/coverage").glob("*.md")):
        if page.stem not in PAGES:
            findings.append(f"{relative(page)}: there is no such page of the reference")
    with_reference = REFERENCE.is_dir()
    for name, sections in PAGES.items():
        ours = check_page(name, pages, shown, findings)
        if ours is None:
            continue
        count += sum(map(len, ours.values()))
        if with_reference:
            text = (REFERENCE / f"{name}.md").read_text()
            rows = named_rows if name in NAMED else rows_of_reference
            compare(name, ours, rows(text, sections), findings)
    failed = close(findings, count, "rows")
    if not with_reference:
        print("SKIPPED: rows were not compared with the reference: needs ../shared/reference")
        failed = failed or (1 if STRICT else SKIPPED)
    sys.exit(failed)


if __name__ == "__main__":
    main()
