"""Documents for the comparison of src/schema with an API server: made from the schemas of CRDs, and
spoiled in all the ways people spoil them. Everything follows from one seed."""

import copy
import random
import re

TEXTS = ("a", "abc", "a-b", "example.com", "1.2.3", "v1.30.1", "10.0.0.1", "10.0.0.0/16", "fd00::1",
         "5m", "1h30m", "1Gi", "500m", "50%", "https://example.com/a", "/var/lib/a", "us-east-1",
         "us-east-1a", "A", "ABC", "0", "12", "true", "Always", "123456789012", "ami-0123456789",
         "arn:aws:iam::123456789012:role/a", "quay.io/a/b:v1", "a/b", "a=b", "*.example.com",
         "2026-01-31T12:00:00Z", "2026-01-31", "00:1b:44:11:3a:b7", "ops@example.com", "YQ==",
         "sha256:" + "0" * 64, "0" * 32, "123e4567-e89b-12d3-a456-426614174000", "{}", "")
WRONG = (None, True, 3, 2.5, "text", "", [], {}, ["a"], {"a": 1}, [None], -1, 2 ** 40)


class Maker:
    """Makes values for schemas. `share` is how likely an optional field is written, `nulls` how
    likely a value is null instead."""

    def __init__(self, seed, share, nulls):
        self.random = random.Random(seed)
        self.share, self.nulls = share, nulls
        self.left = 400  # values of one document

    def document(self, group, kind, version, schema):
        made = self.value(schema, 0)
        made = made if isinstance(made, dict) else {}
        return {**made, "apiVersion": f"{group}/{version}", "kind": kind,
                "metadata": {"name": "a", "namespace": "b"}}

    def value(self, schema, depth):
        self.left -= 1
        if self.random.random() < self.nulls:
            return None
        if schema.get("enum") and self.random.random() < 0.9:
            return copy.deepcopy(self.random.choice(schema["enum"]))
        if schema.get("x-kubernetes-int-or-string"):
            return self.random.choice([1, "50%", "2"])
        kind = schema.get("type")
        if kind == "object":
            return self.object(schema, depth)
        if kind == "array":
            count = max(schema.get("minItems", 0), self.random.choice([0, 1, 1, 2]))
            count = min(count, schema.get("maxItems", 4), 4 if self.left > 0 else 1)
            return [self.value(schema.get("items", {}), depth + 1) for _ in range(count)]
        if kind == "string":
            return self.text(schema)
        if kind == "integer":
            low = int(schema.get("minimum", 0))
            return self.random.randint(low, max(low, int(min(schema.get("maximum", low + 9), 2 ** 31))))
        if kind == "number":
            return self.random.choice([0.5, 1, schema.get("minimum", 1.5)])
        if kind == "boolean":
            return self.random.choice([True, False])
        return self.random.choice([1, "a", {"a": {"b": [1]}}, [{}]])

    def object(self, schema, depth):
        fields = schema.get("properties", {})
        needed = set(schema.get("required", []))
        for branches in ("oneOf", "anyOf"):
            options = [branch["required"] for branch in schema.get(branches, []) if branch.get("required")]
            if options and self.random.random() < 0.8:
                needed.update(self.random.choice(options))
        share = self.share if self.left > 0 else 0
        made = {name: self.value(fields[name], depth + 1) for name in sorted(fields)
                if name in needed or self.random.random() < share / (1 + depth / 3)}
        values = schema.get("additionalProperties")
        if isinstance(values, dict):
            for key in self.random.sample(["a", "b.c/d", "x-y"], self.random.choice([0, 1, 2])):
                made[key] = self.value(values, depth + 1)
        if schema.get("x-kubernetes-preserve-unknown-fields") and self.random.random() < 0.5:
            made["unknownField"] = {"nested": [1, {"a": None}]}
        return made

    def text(self, schema):
        fitting = [text for text in TEXTS if fits(schema, text)]
        text = self.random.choice(fitting or TEXTS)
        return text + "a" * (schema.get("minLength", 0) - len(text))


def fits(schema, text):
    if not schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", 1000):
        return False
    try:
        return re.search(schema.get("pattern", ""), text) is not None
    except re.error:
        return True  # Go knows classes that Python does not


def places(value, path=()):
    """Paths of all values inside, the value itself left out."""
    found = []
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in pairs:
        if path or key not in ("apiVersion", "kind", "metadata"):
            found.append((*path, key))
            if isinstance(item, (dict, list)):
                found += places(item, (*path, key))
    return found


def spoil(document, source):
    """A copy with one thing changed, and what was done."""
    changed = copy.deepcopy(document)
    found = places(changed)
    if not found:
        changed["noSuchField"] = 1
        return changed, "unknown field"
    path = source.choice(found)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    key, value = path[-1], holder[path[-1]]
    what = source.choice(["type", "remove", "null", "text", "number", "unknown", "empty", "twice"])
    if what == "type":
        holder[key] = source.choice(WRONG)
    elif what == "remove":
        del holder[key]
    elif what == "null":
        holder[key] = None
    elif what == "text" and isinstance(value, str):
        holder[key] = source.choice([value + "-x", value.upper(), "", "a" * 300, "é\n", *TEXTS])
    elif what == "number" and isinstance(value, (int, float)) and not isinstance(value, bool):
        holder[key] = source.choice([-value - 1, value * 1000000, value + 0.5, 0, float(value)])
    elif what == "unknown" and isinstance(value, dict):
        value["noSuchField"] = source.choice([1, {"a": 1}, None])
    elif what == "twice" and isinstance(value, list) and value:
        value.append(copy.deepcopy(value[0]))
    elif what == "empty" and isinstance(value, (dict, list)):
        value.clear()
    else:
        holder[key] = source.choice(WRONG)
        what = "type"
    return changed, f"{what} at {'.'.join(map(str, path))}"
