#!/usr/bin/env python3
"""Every row of a catalogue table, and of a price list, says where it comes from, by an address that can be looked up.

A source is a file of a repository at a version, an issue or pull request, a section of a document, a choice of our own
with its reason, or the word that no list has it. Rows name it by a short name that `sources` of their table declares;
a name without an address fails, as does an address that no row names.
"""

import re

from common import ROOT, main, relative

try:
    import yaml
except ImportError:
    print("skipped: PyYAML is not here (Debian: python3-yaml)")
    raise SystemExit(77)

DATE = r"\d{4}(-\d{2}(-\d{2})?)?"
REPOSITORY = r"[\w.-]+/[\w.-]+"
# Tables whose rows still say it in words.
IN_WORDS = set()
FORMS = {
    frozenset({"repository", "version", "file"}): "a file of a repository at a version",
    frozenset({"repository", "issue"}): "an issue or pull request",
    frozenset({"document", "section"}): "a section of a document",
    frozenset({"own"}): "a choice of our own",
    frozenset({"none"}): "no list that was read",
}


def faults_of(address):
    """What keeps an entry of `sources` from being an address."""
    if not isinstance(address, dict):
        return "is no map"
    keys = frozenset(address) - {"asOf", "part"}
    if keys not in FORMS:
        return f"has {', '.join(sorted(keys))}; expected: {'; '.join(FORMS.values())}"
    if not re.fullmatch(DATE, str(address.get("asOf", ""))):
        return "has no date `asOf`"
    if any(not isinstance(value, str) or not value.strip() for value in address.values()):
        return "has an empty part"
    if "repository" in keys and not re.fullmatch(REPOSITORY, address["repository"]):
        return f"names no repository: {address['repository']}"
    if "file" in keys and not re.search(r"[/.]", address["file"]):
        return f"names no file: {address['file']}"
    return ""


def check_table(path):
    spec = yaml.safe_load(path.read_text())["spec"]
    declared, used, checked = spec.get("sources") or {}, set(), 0
    for name, address in declared.items():
        checked += 1
        if fault := faults_of(address):
            yield f"{relative(path)}: source `{name}` {fault}"
    for row in spec["rows"]:
        checked += 1
        parts = str(row.get("source") or "").split("; ")
        for part in parts:
            if part in declared:
                used.add(part)
            else:
                yield f"{relative(path)}: `{row[spec['key']]}` names `{part}`, which is not among `sources`"
    for name in sorted(set(declared) - used):
        yield f"{relative(path)}: no row comes from `{name}`"
    yield checked


def check_prices(path):
    """The same for a price list, whose sources may not say their day."""
    spec = yaml.safe_load(path.read_text())["spec"]
    declared, used, checked = spec["sources"], set(), 0
    for name, address in declared.items():
        checked += 1
        dated = address if not isinstance(address, dict) or address.get("asOf") != "" else {**address, "asOf": "2000"}
        if fault := faults_of(dated):
            yield f"{relative(path)}: source `{name}` {fault}"
    for region, rows in spec["regions"].items():
        for key, row in rows.items():
            checked += 1
            parts = set(row["source"].split("; "))
            used |= parts
            for part in sorted(parts - set(declared)):
                yield f"{relative(path)}: `{key}` in `{region}` names `{part}`, which is not among `sources`"
    for name in sorted(set(declared) - used):
        yield f"{relative(path)}: no row comes from `{name}`"
    yield checked


def check():
    findings, checked = [], 0
    for path in sorted((ROOT / "providers").glob("*/prices/*.yaml")):
        for found in check_prices(path):
            if isinstance(found, int):
                checked += found
            else:
                findings.append(found)
    for path in sorted((ROOT / "providers").glob("*/tables/*.yaml")):
        if relative(path) in IN_WORDS:
            continue
        for found in check_table(path):
            if isinstance(found, int):
                checked += found
            else:
                findings.append(found)
    return findings, checked, "rows and sources of tables"


if __name__ == "__main__":
    main(check)
