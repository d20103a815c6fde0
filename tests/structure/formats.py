#!/usr/bin/env python3
"""The pages docs/knowledge/ are those of the formats below providers/formats/.

`formats.py --write` writes them anew.
"""

import re
import sys

from common import ROOT, formats, main, relative

try:
    import yaml
except ImportError:
    print("skipped: PyYAML is not here (Debian: python3-yaml)")
    raise SystemExit(77)

PAGES = ROOT / "docs/knowledge"
CEL = {"expression": "CEL", "text": "text with `${CEL}`"}


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """`on` is a key like any other."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in rows if tag != "tag:yaml.org,2002:bool"]
    for first, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), list("tf"))


def type_of(schema, page_of):
    """What a field holds, in words."""
    if "x-gpuctl-format" in schema:
        name = schema["x-gpuctl-format"]
        return f"[schema]({page_of[name]})"
    if "x-gpuctl-cel" in schema:
        return CEL[schema["x-gpuctl-cel"]]
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    kind = schema.get("type")
    if kind == "array":
        return f"list of {type_of(schema['items'], page_of)}"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"map of {type_of(values, page_of)}" if values else "map"
    return {"string": "text", "number": "number", "integer": "integer", "boolean": "boolean"}.get(kind, "any")


def rows_of(schema, path, page_of):
    """A row for each field, outer ones first."""
    for name, field in schema.get("properties", {}).items():
        here = f"{path}.{name}" if path else name
        need = ", required" if name in schema.get("required", []) else ""
        text = re.sub(r"\s+", " ", field.get("description", "")).strip()
        yield here, type_of(field, page_of) + need, text.replace("|", "\\|")
        yield from below(field, here, page_of)


def below(field, here, page_of):
    if "properties" in field:
        yield from rows_of(field, here, page_of)
    if isinstance(field.get("items"), dict):
        yield from below(field["items"], here + "[]", page_of)
    if isinstance(field.get("additionalProperties"), dict):
        yield from below(field["additionalProperties"], here + ".*", page_of)


def conditions_of(schema, path=""):
    """What the rules of a schema ask for, where it can be said in words."""
    for rule in schema.get("x-kubernetes-validations", []):
        if "message" in rule:
            yield path, rule["message"]
    for name, field in schema.get("properties", {}).items():
        yield from conditions_of(field, f"{path}.{name}" if path else name)
    for part, ending in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(schema.get(part), dict):
            yield from conditions_of(schema[part], path + ending)


def page(path, form, page_of):
    spec = form["spec"]
    name = form["metadata"]["name"]
    schema = spec["schema"]
    lines = [f"<!-- Made from {relative(path)} by tests/structure/formats.py --write. -->", f"# {name}", ""]
    lines += [spec["title"][0].upper() + spec["title"][1:] + ".", ""]
    if files := spec.get("files"):
        lines += ["Files: " + ", ".join(f"`{file}`" for file in files), ""]
    if text := spec.get("description"):
        lines += [text.strip(), ""]
    if files:
        lines += [("`metadata.name` is required. " if spec.get("named") else "") + "Fields of `spec`:", ""]
    rows = list(rows_of(schema, "", page_of))
    if rows:
        lines += ["| Field | Value | Meaning |", "|---|---|---|"]
        lines += [f"| `{field}` | {kind} | {text} |" for field, kind, text in rows] + [""]
    if conditions := list(conditions_of(schema)):
        lines += ["Besides:", ""]
        lines += [f"- {f'`{where}`: ' if where else ''}{text}" for where, text in conditions] + [""]
    if example := spec.get("example"):
        lines += ["## Example", "", "```yaml", example.rstrip(), "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def pages():
    forms = formats(Loader)
    page_of = {form["metadata"]["name"]: path.stem + ".md" for path, form in forms.items()}
    return {PAGES / (path.stem + ".md"): page(path, form, page_of) for path, form in forms.items()}


def undescribed():
    """Fields that say nothing of what they are for."""
    for path, form in formats(Loader).items():
        for field, _, text in rows_of(form["spec"]["schema"], "", {"SchemaPart": ""}):
            if not text and field not in ("spec", "metadata", "metadata.name"):
                yield f"{relative(path)}: `{field}` has no description"


def check():
    wanted = pages()
    findings = [f"{relative(page)}: is out of date; tests/structure/formats.py --write makes it"
                for page, text in wanted.items() if not page.exists() or page.read_text() != text]
    findings += [f"{relative(page)}: there is no such format" for page in sorted(PAGES.glob("*.md")) if page not in wanted]
    overview = (ROOT / "docs/knowledge.md").read_text()
    findings += [f"docs/knowledge.md: has no link to knowledge/{page.name}" for page in wanted
                 if f"(knowledge/{page.name})" not in overview]
    findings += undescribed()
    return findings, len(wanted), "pages of formats"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGES.mkdir(exist_ok=True)
        for stale in set(PAGES.glob("*.md")) - set(pages()):
            stale.unlink()
        for path, text in pages().items():
            path.write_text(text)
        sys.exit(0)
    main(check)
