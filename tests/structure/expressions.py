#!/usr/bin/env python3
"""Expressions of knowledge stay short: what is longer is a table, a variable, a local, or lines of a text.

An expression has at most 200 characters, white space collapsed, and does not bind a value with a list of one
(`[x].map(n, ...)[0]`). Which fields hold expressions say the formats below providers/formats/. No loop goes over a
list of one, and every variable is read by something.
"""

import collections
import functools
import re

from common import ROOT, formats, main, relative

try:
    import yaml
except ImportError:
    print("skipped: PyYAML is not here (Debian: python3-yaml)")
    raise SystemExit(77)

FOLDERS = ["providers", "templates"]
MOST = 200

DIRECTIVE = re.compile(r"^[ \t]*\$(?:if|forEach|let):(.*)$", re.MULTILINE)
STRING = re.compile(r"""[rR]('''|\"\"\"|'|").*?\1|('''|\"\"\"|'|")(?:\\.|(?!\2).)*\2""", re.DOTALL)
CLOSE = {"(": ")", "[": "]", "{": "}"}


def closing(text, at):
    """The offset of the bracket that closes the one at `at`, or -1. Brackets in strings do not count."""
    awaited = []
    while at < len(text):
        quoted = STRING.match(text, at)
        if quoted:
            at = quoted.end()
            continue
        if text[at] in CLOSE:
            awaited.append(CLOSE[text[at]])
        elif awaited and text[at] == awaited[-1]:
            awaited.pop()
            if not awaited:
                return at
        at += 1
    return -1


def inserted(text):
    """Each expression in a text, with its offset: those in `${...}`, and those of directives."""
    at = text.find("${")
    while at >= 0:
        end = closing(text, at + 1)
        yield at, text[at + 2:end]
        at = text.find("${", max(end, at + 2))
    if "\n" in text:
        for line in DIRECTIVE.finditer(text):
            yield line.start(1), line[1]


def binds(expression):
    """Whether somewhere a list of one is mapped to have a name for its item."""
    for start in re.finditer(r"\[", expression):
        end = closing(expression, start.start())
        call = re.match(r"\s*\.map\s*\(", expression[end + 1:]) if end > 0 else None
        if call is None:
            continue
        behind = closing(expression, end + call.end())
        if behind > 0 and re.match(r"\s*\[\s*0\s*\]", expression[behind + 1:]):
            return True
    return False


def scalars(node, schema, schemas):
    """Each scalar of a file, and whether it is an expression as a whole."""
    schema = schemas.get(schema.get("x-gpuctl-format"), schema)
    if isinstance(node, yaml.ScalarNode):
        yield node, schema.get("x-gpuctl-cel") == "expression"
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from scalars(item, schema.get("items", {}), schemas)
    else:
        for key, value in node.value:
            yield key, False
            field = schema.get("properties", {}).get(key.value, schema.get("additionalProperties", {}))
            yield from scalars(value, field if isinstance(field, dict) else {}, schemas)


def faults(text):
    """What is wrong with an expression."""
    length = len(" ".join(text.split()))
    if length > MOST:
        yield f"an expression of {length} characters, at most {MOST}"
    if binds(text):
        yield "a list of one binds a value: use a variable, `$let` or a local"


def has_one_item(text):
    """Whether a list, as written, has one item at most: `[x]`, `c ? [x] : []`."""
    text = text.strip()
    choice = re.fullmatch(r"(.*?)\?\s*(\[.*\])\s*:\s*\[\s*\]", text, re.DOTALL)
    if choice and "?" not in choice[1]:
        return has_one_item(choice[2])
    if not text.startswith("[") or closing(text, 0) != len(text) - 1:
        return False
    at, depth = 1, 0
    while at < len(text) - 1:
        quoted = STRING.match(text, at)
        at = quoted.end() if quoted else at
        depth += (text[at] in CLOSE) - (text[at] in CLOSE.values())
        if text[at] == "," and depth == 0:
            return False
        at += not quoted
    return True


@functools.cache
def names_in(text):
    """How often each name stands in the text that is no member of something else and no text itself."""
    return collections.Counter(re.findall(r"(?<![\w.\"])\w+", text))


def names_below(node, written, scope, path, everywhere):
    """Findings on loops over lists of one, and on variables that nothing reads. `scope` is the text around."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from names_below(item, written, written[item.start_mark.index:item.end_mark.index], path, everywhere)
    if not isinstance(node, yaml.MappingNode):
        return
    for key, value in node.value:
        if key.value == "forEach" and isinstance(value, yaml.MappingNode):
            for _, loop in value.value:
                if has_one_item(loop.value):
                    yield f"{relative(path)}:{loop.start_mark.line + 1}: a loop over a list of one: use a variable"
        if key.value == "variables" and isinstance(value, yaml.MappingNode):
            for name, _ in value.value:
                rest = everywhere if path.name == "variables.yaml" else scope
                if names_in(rest)[name.value] < 2:
                    yield f"{relative(path)}:{name.start_mark.line + 1}: nothing reads the variable `{name.value}`"
        yield from names_below(value, written, scope, path, everywhere)

def line_of(node, at):
    """The line of an offset in a scalar; where lines were folded, that of the scalar."""
    first = node.start_mark.line + 1
    return first + 1 + node.value.count("\n", 0, at) if node.style == "|" else first


def check():
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    schemas = {form["metadata"]["name"]: form["spec"]["schema"] for form in formats(loader).values()}
    findings, count = [], 0
    texts = {path: path.read_text() for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.yaml"))}
    everywhere = "\n".join(texts.values())
    for path, written in texts.items():
        tree = yaml.compose(written, Loader=loader)
        kind = {key.value: value.value for key, value in tree.value}["kind"]
        for node, whole in scalars(tree, schemas[kind], schemas):
            for at, text in [(0, node.value)] if whole else inserted(node.value):
                count += 1
                findings += [f"{relative(path)}:{line_of(node, at)}: {fault}" for fault in faults(text)]
        if kind != "Format":
            findings += names_below(tree, written, written, path, everywhere)
    return findings, count, "expressions"


if __name__ == "__main__":
    main(check)
