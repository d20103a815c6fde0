"""JSON as the doubles write it and their scenarios are, without the regular expressions of Python's own module:
they take longer to load than all else that a double does."""

NAMES = {"__builtins__": {}, "true": True, "false": False, "null": None}
ESCAPES = {number: f"\\u{number:04x}" for number in range(32)} | {
    ord('"'): '\\"', ord("\\"): "\\\\", 8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}


def loads(text):
    """What Python reads as its own: all of JSON but pairs of surrogates in escapes, which no scenario has."""
    return eval(text, dict(NAMES))


def load(file):
    return loads(file.read())


def dumps(value):
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return '"' + value.translate(ESCAPES) + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{dumps(str(key))}: {dumps(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(dumps, value)) + "]"
    return repr(value)


def dump(value, file):
    file.write(dumps(value))
