#!/usr/bin/env python3
"""Reads YAML with PyYAML (YAML 1.1) and tells what it found with types; see yaml_probe.cpp.

A JSON list of texts comes on standard input. With `values` the value of each text goes out, as
PyYAML's own scanner and as libyaml make it; with `nodes` its documents, plain scalars by the core
schema of YAML 1.2, read by libyaml alone. An error is ["error", TEXT].
"""

import json
import pathlib
import sys

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from interop.values import core_schema, typed  # noqa: E402

OWN, LIBYAML = yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def value(text, loader):
    try:
        return typed(yaml.load(text, loader))
    except (yaml.YAMLError, ValueError) as problem:
        return ["error", str(problem)]


def node(found, key=False):
    if isinstance(found, yaml.ScalarNode):
        return ["s", found.value] if key or found.style else core_schema(found.value)
    if isinstance(found, yaml.SequenceNode):
        return ["l", [node(item) for item in found.value]]
    return ["m", [[node(name, True), node(item)] for name, item in found.value]]


def documents(text):
    try:
        return ["l", [node(found) for found in yaml.compose_all(text, LIBYAML)]]
    except (yaml.YAMLError, ValueError) as problem:
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
