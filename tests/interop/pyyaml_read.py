#!/usr/bin/env python3
"""Reads YAML with PyYAML (YAML 1.1) and tells what it found with types; see yaml_probe.cpp.

A JSON list of texts comes on standard input. With `values` the value of each text goes out, as
PyYAML's own scanner and as libyaml make it; with `nodes` its documents as libyaml reads them, plain
scalars as ["plain", TEXT]. An error is ["error", TEXT].
"""

import json
import pathlib
import sys

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from interop.values import typed  # noqa: E402

OWN, LIBYAML = yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Plain(LIBYAML):
    """Leaves open what a plain scalar means."""

    def resolve(self, kind, value, implicit):
        return "plain" if kind is yaml.ScalarNode and implicit[0] else \
            super().resolve(kind, value, implicit)


def value(text, loader):
    try:
        return typed(yaml.load(text, loader))
    except (yaml.YAMLError, ValueError) as problem:
        return ["error", str(problem)]


def node(found, key=False):
    if isinstance(found, yaml.ScalarNode):
        return ["plain" if found.tag == "plain" and not key else "s", found.value]
    if isinstance(found, yaml.SequenceNode):
        return ["l", [node(item) for item in found.value]]
    return ["m", [[node(name, True), node(item)] for name, item in found.value]]


def documents(text):
    try:
        return ["l", [node(found) for found in yaml.compose_all(text, Plain)]]
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        return ["error", str(problem)]


def main():
    texts = json.load(sys.stdin)
    if sys.argv[1:] == ["nodes"]:
        answers = [documents(text) for text in texts]
    else:
        answers = [[value(text, OWN), value(text, LIBYAML)] for text in texts]
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
