#!/usr/bin/env python3
"""The page docs/effects.md is made of the rows of all effects.yaml.

`effects.py --write` writes it anew.
"""

import re
import sys

from common import ROOT, main, relative

try:
    import yaml
except ImportError:
    print("skipped: PyYAML is not here (Debian: python3-yaml)")
    raise SystemExit(77)

from formats import Loader

PAGE = ROOT / "docs/effects.md"
HEAD = """# What changes do to a running cluster

Made from `providers/*/effects.yaml` by `tests/structure/effects.py --write`. `gpuctl plan` shows the row that a change meets: below a kind the first that fits counts, and what no row is about is `unknown`. How rows are written: [Effects](knowledge/effects.md).

Classes, mildest first: `none`, `install-only` (only an installation reads it), `metadata` (nothing acts on it), `new-machines` (those that run keep the old), `operands` (operator pods restart, GPU workloads live), `gpu-pods` (pods with GPUs are evicted or killed), `drain` (cordoned and drained, all pods), `node-reboot`, `node-recreate`, `machines-deleted`, `pool-recreate`, `upgrade`; besides them `refused` (the API, a webhook or a controller will not have it). *latent*: it happens at a later occasion; *held*: when somebody approves; *data loss*: local data go.
"""

BY = {"commit": "A commit", "hand": "By hand"}


def cell(text):
    return re.sub(r"\s+", " ", str(text)).strip().replace("|", "\\|")


def row_of(row):
    what = ", ".join(row.get("on", []))
    fields = ", ".join(f"`{field}`" for field in row.get("fields", []))
    effect = f"`{row['effect']}`" + "".join(f", *{one.replace('-', ' ')}*" for one in row.get("but", []))
    when = f"`{cell(row['when'])}`" if "when" in row else ""
    return f"| {' '.join(filter(None, [fields, what]))} | {when} | {effect} | {cell(row['reason'])} | {cell(row.get('source', ''))} |"


def page():
    out = [HEAD]
    sequences = []
    for path in sorted(ROOT.glob("providers/*/effects.yaml")):
        if path.parent.name == "formats":
            continue
        spec = yaml.load(path.read_text(), Loader)["spec"]
        sequences += spec.get("sequences", [])
        for kind in spec.get("kinds", []):
            out.append(f"## {kind['kind']} ({kind.get('group', 'core')}), by {path.parent.name}\n")
            notes = [f"Who acts: {kind['actor']}." if "actor" in kind else "",
                     f"Source, where a row names none: {kind['source']}." if "source" in kind else ""]
            if any(notes):
                out.append(" ".join(filter(None, notes)) + "\n")
            out += ["| What | When | Effect | Why | Source |", "|---|---|---|---|---|"]
            out += [row_of(row) for row in kind["rows"]]
            out.append("")
        for file in spec.get("files", []):
            out.append(f"Files `{file['path']}`: `{file['effect']}`. {cell(file.get('reason', ''))}\n")
    out.append("## Safe ways\n")
    for sequence in sorted(sequences, key=lambda one: one["name"]):
        out.append(f"### {sequence['title']} (`{sequence['name']}`)\n")
        for number, step in enumerate(sequence["steps"], 1):
            out.append(f"{number}. {BY[step['by']]}: {cell(step['text'])}")
            out += [f"   - `{command}`" for command in step.get("run", [])]
        out.append("")
    return "\n".join(out)


def check():
    wanted = page()
    if "--write" in sys.argv:
        PAGE.write_text(wanted)
    findings = []
    if not PAGE.exists() or PAGE.read_text() != wanted:
        findings.append(f"{relative(PAGE)} is not what the rows say: tests/structure/effects.py --write")
    rows = sum(line.startswith("| ") for line in wanted.splitlines())
    return findings, rows, "rows of effects"


if __name__ == "__main__":
    main(check)
