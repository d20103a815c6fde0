#!/usr/bin/env python3
"""Stands in for sops: encrypts nothing, but writes what sops would, with other bytes in each run, and
records in $DOUBLE_RECORD how it was called and what anybody could see of it.

$DOUBLE_MODE makes it do something else: `fail`, `hang`, `clear` (a value stays readable), `others` (one more
recipient), `fewer`, `rename` (another object), `garbage`.
"""

import base64
import json
import os
import pathlib
import sys


def cipher(size=24):
    part = [base64.b64encode(os.urandom(count)).decode() for count in (size, 32, 16)]
    return f"ENC[AES256_GCM,data:{part[0]},iv:{part[1]},tag:{part[2]},type:str]"


def record(text):
    """What a look into /proc shows of us and of who started us."""
    seen = {"argv": sys.argv[1:], "cwd": os.getcwd(), "stdin": os.readlink("/proc/self/fd/0"), "env": dict(os.environ),
            "input": text,
            "cmdlines": [pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
                         for pid in ("self", os.getppid())]}
    with open(os.environ["DOUBLE_RECORD"], "a", encoding="utf-8") as out:
        out.write(json.dumps(seen) + "\n")


def encrypted(text, mode):
    """The values of data and stringData, which stand two columns in, replaced."""
    out, inside = [], False
    for line in text.splitlines():
        if not line.startswith(" "):
            inside = line in ("data:", "stringData:")
            out.append(line)
        elif not inside:
            out.append(line)
        elif not line.startswith("   "):
            key = line.split(": ")[0].rstrip(":")
            out.append(line if mode == "clear" and ": " in line else f"{key}: {cipher()}")
    return out


def main():
    text = sys.stdin.read()
    record(text)
    mode = os.environ.get("DOUBLE_MODE", "")
    if mode == "fail":
        secret = text.splitlines()[-1].strip()
        print(f"Could not generate data key: no such recipient\nwhile encrypting {secret}", file=sys.stderr)
        return 128
    if mode == "garbage":
        print(text)
        return 0
    recipients = sys.argv[sys.argv.index("--age") + 1].split(",")
    if mode == "others":
        recipients.append("age1" + "q" * 58)
    if mode == "fewer":
        recipients.pop()
    lines = encrypted(text, mode)
    if mode == "rename":
        lines = [line.replace("licensing-config", "another") for line in lines]
    lines += ["sops:", "    age:"]
    for recipient in recipients:
        lines += [f"        - recipient: {recipient}", "          enc: |", "            -----BEGIN AGE ENCRYPTED FILE-----",
                  "            " + base64.b64encode(os.urandom(48)).decode(), "            -----END AGE ENCRYPTED FILE-----"]
    lines += ['    lastmodified: "2026-01-01T00:00:00Z"', f"    mac: {cipher(88)}",
              f"    encrypted_regex: {sys.argv[sys.argv.index('--encrypted-regex') + 1]}", "    version: 3.10.2"]
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
