#!/usr/bin/env python3
"""What may leave a cluster, Argo CD of OpenShift GitOps may delete, by rights that do not leave with it.

The rights of the application controller are written for the API groups that are rendered. A right that is not
`standing` goes in the commit that removes the last object of its group; the sync that would delete the object comes
later, and fails. So every group of a layer's template has a row, unless its objects are never pruned.
"""

import re

from common import ROOT, main

try:
    import yaml
except ImportError:
    print("skipped: PyYAML is not here (Debian: python3-yaml)")
    raise SystemExit(77)

from formats import Loader

TABLE = ROOT / "providers/gitops-olm/tables/controller-rights.yaml"
FOLDER = "gitops-olm"
# Applications stand in the namespace of Argo CD, where its own Role lets it write them.
OWN_NAMESPACE = "argoproj.io"


def load(path):
    return yaml.load(path.read_text(), Loader=Loader)["spec"]


def folders():
    """Those of all platforms with OpenShift GitOps."""
    builds = [load(path).get("builds", []) for path in sorted(ROOT.glob("providers/*/provider.yaml"))
              if path.parent.name != "formats"]
    return sorted({folder for names in builds if FOLDER in names for folder in names})


def bodies(folder):
    """(template, apiVersion, kind) of what a folder's templates put into layers."""
    for name in load(ROOT / f"providers/{folder}/provider.yaml").get("templates", []):
        spec = load(ROOT / "templates" / name)
        base = load(ROOT / "templates" / spec["extends"]) if "extends" in spec else {}
        body = {**(base.get("template") or {}), **spec["template"]} if isinstance(spec.get("template"), dict) else {}
        if spec.get("private"):
            continue  # for people to apply
        if ("layer" in spec or "layer" in base) and "apiVersion" in body:
            yield name, body["apiVersion"], body["kind"]


def check():
    rows = {row["group"]: row for row in load(TABLE)["rows"]}
    core = rows["core"]["resources"] + rows["core"]["standingResources"]
    protection = {(kind["apiVersion"], kind["kind"]): kind["protection"] for path in sorted(ROOT.glob("providers/*/kinds.yaml"))
                  if path.parent.name != "formats" for kind in load(path)["kinds"]}
    findings, checked, used = [], 0, set()
    for folder in folders():
        for name, version, kind in bodies(folder):
            if re.search(r"\$\{", version + kind):
                findings.append(f"templates/{name}: its kind is computed, and this check cannot see it")
                continue
            checked += 1
            group = version.rpartition("/")[0]
            used.add(group)
            if group == OWN_NAMESPACE or protection[version, kind] == "keep":
                continue
            if group and not (group in rows and (rows[group]["granted"] or rows[group].get("standing"))):
                findings.append(f"{TABLE.name}: the right for {group} goes with the last {kind} (templates/{name})")
            if not group and f"{kind.lower()}s" not in core:
                findings.append(f"{TABLE.name}: the right for {kind.lower()}s goes with the last one (templates/{name})")
    findings += [f"{TABLE.name}: nothing of {group} is rendered" for group, row in rows.items()
                 if row.get("standing") and group not in used]
    return findings, checked, "templates of objects in layers"


if __name__ == "__main__":
    main(check)
