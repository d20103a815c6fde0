#!/usr/bin/env python3
"""The pages docs/reference/ have every field of the blueprint, as the schemas of the platforms have it, and each
field says what it is for.

Called as `field_pages.py GPUCTL`; with `--write` behind it the pages are made anew.
"""

import json
import re
import subprocess
import sys

from common import ROOT, close, relative

PAGES = ROOT / "docs/reference"
COMMAND = "tests/structure/field_pages.py --write"
SEPARATE = 4  # a part of `spec` with more fields has a page of its own


def ask(gpuctl, *arguments):
    done = subprocess.run([gpuctl, *arguments], capture_output=True, text=True, check=True,
                          stdin=subprocess.DEVNULL, timeout=60)
    return json.loads(done.stdout)


def platforms_of(gpuctl):
    schema = ask(gpuctl, "schema")
    return [name for name in schema["definitions"] if name != "any" and not name.endswith(".layer")]


def fields_of(gpuctl, platforms):
    """Path -> what is said of the field, with the platforms that say it, in the order of the schemas."""
    found = {}
    for platform in platforms:
        for root in ("extends", "metadata", "spec"):
            variant = ask(gpuctl, "explain", root, "--recursive", "-o", "json", "--platform", platform)["variants"][0]
            for field in [variant, *variant["fields"]]:
                said = {key: field.get(key) for key in ("type", "required", "default", "constraints", "description")}
                rows = found.setdefault(field["path"], [])
                same = next((row for row in rows if row[0] == said), None)
                if same:
                    same[1].append(platform)
                else:
                    rows.append((said, [platform]))
    return found


def text_of(value):
    return value if isinstance(value, str) else json.dumps(value)


def cell(text):
    return re.sub(r"\s+", " ", text).strip().replace("|", "\\|")


def row(path, said, on, platforms, page_of):
    default = "required" if said["required"] else ""
    if said["default"] is not None:
        value = text_of(said["default"])
        default = f"`{cell(value)}`" if value else '`""`'
    meaning = cell(said["description"] or "")
    if said["constraints"]:
        meaning += (" " if meaning else "") + "(" + cell("; ".join(said["constraints"])) + ")"
    name = f"[`{path}`]({page_of[path]})" if path in page_of else f"`{path}`"
    where = "all" if on == platforms else ", ".join(on)
    return f"| {name} | {said['type']} | {default} | {where} | {meaning} |"


def page(title, about, paths, fields, platforms, page_of):
    lines = [f"<!-- Made from the schemas of the platforms by {COMMAND}. -->", f"# {title}", ""]
    if about:
        lines += [about, ""]
    lines += ["| Field | Value | Default | Platforms | Meaning |", "|---|---|---|---|---|"]
    for path in paths:
        for said, on in fields[path]:
            lines.append(row(path, said, on, platforms, page_of))
    return "\n".join(lines) + "\n"


def file_name(part):
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", part).lower() + ".md"


def undescribed(fields):
    return [f"{path}: has no description on {', '.join(on)}"
            for path, rows in fields.items() for said, on in rows if not (said["description"] or "").strip()]


def pages(platforms, fields):
    below = {}
    for path in fields:
        parts = path.split(".")
        if parts[0] == "spec" and len(parts) > 1:
            below.setdefault(parts[1].removesuffix("[]"), []).append(path)
    own = {part: paths for part, paths in below.items() if len(paths) > SEPARATE}
    page_of = {f"spec.{part}": file_name(part) for part in own}
    wanted = {}
    for part, paths in own.items():
        about = (fields[f"spec.{part}"][0][0]["description"] or "").strip()
        wanted[PAGES / file_name(part)] = page(f"spec.{part}", re.sub(r"\s+", " ", about), paths[1:], fields,
                                               platforms, {})
    top = [path for path in fields
           if path.count(".") < 1 or path.split(".")[0] != "spec" or path in page_of
           or path.split(".")[1].removesuffix("[]") not in own]
    about = ("All fields of a blueprint. `[]` stands for the items of a list, `*` for keys of your choice; parts with "
             "many fields have a page of their own. `gpuctl explain FIELD` says the same on the command line, with an "
             "example and the rules that look at it, and `gpuctl schema` gives it to your editor. What is in none of "
             "them: [overrides and manifests of your own](../overrides.md). Fields of fleets: "
             "[fleet](../knowledge/fleet.md).")
    wanted[PAGES / "README.md"] = page("Fields of the blueprint", about, top, fields, platforms, page_of)
    return wanted


def main():
    platforms = platforms_of(sys.argv[1])
    fields = fields_of(sys.argv[1], platforms)
    wanted = pages(platforms, fields)
    if sys.argv[2:] == ["--write"]:
        PAGES.mkdir(exist_ok=True)
        for stale in set(PAGES.glob("*.md")) - set(wanted):
            stale.unlink()
        for path, text in wanted.items():
            path.write_text(text)
        return
    findings = [f"{relative(path)}: is out of date; {COMMAND} makes it"
                for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    findings += [f"{relative(path)}: there is nothing to say there"
                 for path in sorted(PAGES.glob("*.md")) if path not in wanted]
    findings += undescribed(fields)
    sys.exit(close(findings, len(wanted) + len(fields), "pages and fields"))


if __name__ == "__main__":
    main()
