#!/usr/bin/env python3
"""No text is read as something else than others read.

Texts that use all of YAML, changed at random places, are read by the project and by libyaml. Where
both accept a text they must see the same documents. (What only one of them accepts is no concern
here: the project refuses much on purpose, libyaml knows YAML 1.1.)
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from interop.tools import python_with_yaml  # noqa: E402
from interop.values import ask, comparable, core_schema, probe_of  # noqa: E402
from support.program import ROOT, Tally, arguments  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SEED = 20261121
TEXTS = 20000
LEAST_COMPARED = 2000
PIECES = ["a", "b: c", "- ", ": ", "? ", "\n", "\n  ", "\n    ", "\n ", "  ", " ", "\t", "#", " #",
          "'", "\"", "{", "}", "[", "]", ",", ", ", "|", "|-\n", ">\n", "|+\n", ">+\n", "|2\n",
          ">2-\n", "&x ", "*x", "!!str ", "null", "~", "---\n", "...\n", "${a}", "%", "é", "\\n",
          "\\", "\r\n", "- - ", "a:\n", "- a: b\n", "'x'", "\"y\"", "1", "true", "=", "? a\n: b\n",
          "!foo ", "\n\n", ":", "-", "?", "null:", "a: |\n  b\n", "- >\n  c\n\n  d\n"]


def seeds():
    found = []
    for path in sorted((ROOT / "tests/fuzz/seeds/yaml").glob("*.yaml")):
        try:
            found.append(path.read_bytes().decode("utf-8"))
        except UnicodeDecodeError:
            continue
    return found


def texts():
    draw, kept = random.Random(SEED), seeds()
    for _ in range(TEXTS):
        if draw.random() < 0.3:
            yield "".join(draw.choice(PIECES) for _ in range(draw.randint(1, 14)))
            continue
        text = draw.choice(kept)
        for _ in range(draw.randint(1, 4)):
            at = draw.randint(0, len(text))
            end = at + draw.choice([0, 0, 0, 1, 1, 2, 5])
            text = text[:at] + (draw.choice(PIECES) if draw.random() < 0.8 else "") + text[end:]
        yield text


def resolved(value):
    """Plain scalars as the project takes them in published documents: numbers in decimal alone."""
    if value[0] == "plain":
        found = core_schema(value[1])
        if found[0] != "i":
            return found
        if found[1] != value[1].replace("-0", "0"):
            return ["s", value[1]]
        return found if -2**63 <= int(found[1]) < 2**63 else ["f", repr(float(found[1]))]
    if value[0] == "l":
        return ["l", [resolved(item) for item in value[1]]]
    if value[0] == "m":
        return ["m", [[key, resolved(item)] for key, item in value[1]]]
    return value


def without_null(documents):
    """A stream of one null document and an empty stream are the same."""
    return [] if documents == [["n"]] else documents


def check_differential(tally, probe):
    tally.check(len(seeds()) > 30, f"only {len(seeds())} seeds")
    all_texts = list(texts())
    own = ask([probe, "read"], [[text, "published"] for text in all_texts])
    other = ask([python_with_yaml(), HERE / "pyyaml_read.py", "nodes"], all_texts)
    compared = 0
    for text, mine, theirs in zip(all_texts, own, other):
        if "documents" not in mine or theirs[0] == "error":
            continue
        compared += 1
        theirs = resolved(theirs)
        tally.check(comparable(["l", without_null(mine["documents"])])
                    == comparable(["l", without_null(theirs[1])]),
                    f"{text!r}: read as {mine['documents']}, libyaml: {theirs[1]}"[:1000])
    tally.check(compared >= LEAST_COMPARED, f"only {compared} texts were compared")
    print(f"differential: {compared} of {TEXTS} texts accepted by both, and read alike")


def main():
    tally = Tally()
    check_differential(tally, probe_of(arguments(__doc__).gpuctl))
    tally.close()


if __name__ == "__main__":
    main()
