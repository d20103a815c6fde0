#!/usr/bin/env python3
"""What `gpuctl report` says of the AI conformance checklist, by the table conformance.yaml: blueprints with manifests
that are added to them, and of some items the level, the verdict and what is named. All items of the knowledge occur in
the table, and no text of a report claims conformance."""

import json
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from support import program  # noqa: E402
from support.program import ROOT, Tally, arguments, skip  # noqa: E402

try:
    import yaml
except ImportError:
    skip("conformance", "Python has no PyYAML (Debian: python3-yaml)")

ROW = re.compile(r"^\| .* \((\w+)\) \| (\w+) \| ([a-z ]+) \| (.*) \|$", re.M)
ITEMS = ROOT / "providers/core/tables/ai-conformance.yaml"


def said(gpuctl, folder, spec, added):
    """{id: (level, verdict, reason)} of one blueprint."""
    blueprint = {"apiVersion": "gpuctl.dev/v1alpha1", "kind": "Blueprint", "metadata": {"name": "lab"}, "spec": dict(spec)}
    if added:
        (folder / "added.yaml").write_text("---\n".join(json.dumps(one) + "\n" for one in added))
        blueprint["spec"]["extraManifests"] = [{"path": "added.yaml", "layer": "50-platform"}]
    (folder / "lab.yaml").write_text(json.dumps(blueprint))
    done = program.run([gpuctl, "report", folder / "lab.yaml", "--date", "2026-11-22", "-o", "markdown"],
                       env=program.environment(folder))
    text = done.stdout.decode()
    if done.returncode != 0:
        print(done.stderr.decode()[:4000])
        return None, text
    return {found[0]: found[1:] for found in ROW.findall(text)}, text


def main():
    options = arguments(__doc__)
    table = yaml.safe_load((HERE / "conformance.yaml").read_text())
    tally, seen = Tally(), set()
    for number, case in enumerate(table["cases"], 1):
        with tempfile.TemporaryDirectory() as scratch:
            found, text = said(options.gpuctl, pathlib.Path(scratch), table["clusters"][case["cluster"]], case.get("add"))
        what = f"case {number} on {case['cluster']}"
        if not tally.check(found is not None, f"{what}: no report"):
            continue
        tally.check(not re.search(r"\bconformant\b", text), f"{what}: a report claims conformance")
        for item, expected in case["expect"].items():
            seen.add(item)
            if expected == "-":
                tally.check(item not in found, f"{what}: {item} is {found.get(item)}, and not in this checklist")
                continue
            level, verdict, reason = expected
            got = found.get(item, ("", "", ""))
            tally.check(got[:2] == (level, verdict) and reason in got[2], f"{what}: {item} is {got}, expected {expected}")
    known = {row["id"] for row in yaml.safe_load(ITEMS.read_text())["spec"]["rows"]}
    tally.check(known == seen, f"without a case: {sorted(known - seen)}; not known: {sorted(seen - known)}")
    tally.close()


if __name__ == "__main__":
    main()
