"""Values with their types as the YAML readers of this folder exchange them, see yaml_probe.cpp."""

import json
import math
import re
import struct
import subprocess
import sys

from support.program import TIMEOUT_S


def probe_of(gpuctl):
    """The test program beside the gpuctl that is tested."""
    program = gpuctl.parent / "tests/yaml_probe"
    if not program.exists():
        sys.exit(f"no {program}: build with GPUCTL_TESTS=ON")
    return program


def ask(command, requests):
    """Sends a JSON list to a program and returns the list that comes back."""
    done = subprocess.run([str(word) for word in command], input=json.dumps(requests).encode(),
                          capture_output=True, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[0]} ended with {done.returncode}: {done.stderr.decode()[:2000]}")
    answers = json.loads(done.stdout)
    if len(answers) != len(requests):
        sys.exit(f"{command[0]} answered {len(answers)} of {len(requests)} requests")
    return answers


def typed(value):
    """A Python value in the exchanged form."""
    if value is None:
        return ["n"]
    if isinstance(value, bool):
        return ["b", value]
    if isinstance(value, int):
        return ["i", str(value)]
    if isinstance(value, float):
        return ["f", repr(value)]
    if isinstance(value, str):
        return ["s", value]
    if isinstance(value, list):
        return ["l", [typed(item) for item in value]]
    if isinstance(value, dict):
        return ["m", [[typed(key), typed(item)] for key, item in value.items()]]
    return ["unknown", repr(value)]


def bits(number):
    return "nan" if math.isnan(number) else struct.pack(">d", number)


def comparable(value):
    """A form in which equal values are equal: numbers by their bits, maps without order."""
    kind = value[0]
    if kind == "f":
        return ("f", bits(float(value[1])))
    if kind == "l":
        return ("l", tuple(comparable(item) for item in value[1]))
    if kind == "m":
        return ("m", tuple(sorted((repr(comparable(key)), comparable(item))
                                  for key, item in value[1])))
    return tuple(value)


def same(one, other):
    return comparable(one) == comparable(other)


def core_schema(text):
    """What a plain scalar is for YAML 1.2: its core schema (yaml.org/spec/1.2.2, chapter 10.3)."""
    if text in ("", "~", "null", "Null", "NULL"):
        return ["n"]
    if text in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return ["b", text.lower() == "true"]
    if re.fullmatch(r"[-+]?[0-9]+", text):
        return ["i", str(int(text))]
    if re.fullmatch(r"0o[0-7]+|0x[0-9a-fA-F]+", text):
        return ["i", str(int(text.replace("0o", "0"), 8 if "o" in text else 16))]
    if re.fullmatch(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", text):
        return ["f", repr(float(text))]
    if re.fullmatch(r"[-+]?\.(inf|Inf|INF)", text):
        return ["f", "-inf" if text.startswith("-") else "inf"]
    return ["f", "nan"] if text in (".nan", ".NaN", ".NAN") else ["s", text]
