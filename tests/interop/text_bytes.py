#!/usr/bin/env python3
"""Which bytes are text: the reader against Python's strict decoder.

Byte strings, good ones and broken in every way, are put in a YAML text. The reader must refuse
exactly those that Python's UTF-8 decoder refuses or that hold a character which must not stand in
a YAML file, with GPU0101 at the line and column of the first offence.
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from interop.values import ask, probe_of  # noqa: E402
from support.program import Tally, arguments  # noqa: E402

SEED = 20261121
RANDOM_TEXTS = 1000
CODE = "GPU0101"
BOM = b"\xef\xbb\xbf"
GOOD = [c.encode() for c in "aZ0 é\u00a0ß日本\ud7ff\ue000\ufffd😀\U0010ffff\u07ff\u0800\t"] + [b"\r\n"]
BAD = [bytes([byte]) for byte in (0x80, 0xBF, 0xC0, 0xC1, 0xC2, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5,
                                  0xFE, 0xFF, 0x00, 0x01, 0x07, 0x0B, 0x0C, 0x0D, 0x1B, 0x7F)]
BAD += [b"\xc0\xaf", b"\xc1\xbf", b"\xe0\x80\xaf", b"\xe0\x9f\xbf", b"\xed\xa0\x80", b"\xed\xbf\xbf",
        b"\xf0\x80\x80\xaf", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80",
        b"\xf8\x88\x80\x80\x80", b"\xc2\x80", b"\xc2\x85", b"\xc2\x9f", b"\xe2\x80\xa8",
        b"\xe2\x80\xa9", b"\xef\xbb\xbf", b"\xef\xbf\xbe", b"\xef\xbf\xbf", b"\xe2\x82", b"\xf0\x9f",
        b"\xf0\x9f\x98", b"\xed\xa0\xbd\xed\xb8\x80", b"\xc3\x28", b"\xe2\x28\xa1", b"\xf0\x28\x8c"]


def texts():
    """Bytes of whole files, always the same."""
    found = [b"a: '" + piece + b"'\n" for piece in GOOD + BAD]
    found += [BOM + b"a: b\n", BOM + BOM + b"a: b\n", b" " + BOM + b"a: b\n", BOM, b"", b"\n"]
    for encoding in ("utf-16-le", "utf-16-be", "utf-16", "utf-32-le", "utf-32-be", "utf-32"):
        found += ["a: b\n".encode(encoding), "é: 日\n".encode(encoding)]
    draw = random.Random(SEED)
    for _ in range(RANDOM_TEXTS):
        pieces = [draw.choice(GOOD) for _ in range(draw.randint(0, 12))]
        for _ in range(draw.choice([0, 0, 1, 1, 2])):
            bad = draw.choice(BAD) if draw.random() < 0.7 else bytes([draw.randint(0x80, 0xFF)])
            pieces.insert(draw.randint(0, len(pieces)), bad)
        found.append(b"a: '" + b"".join(pieces) + b"'\n")
    return list(dict.fromkeys(found))


def forbidden(text, at):
    char = text[at]
    if char == "\r":
        return text[at + 1:at + 2] != "\n"
    return (char < " " and char not in "\t\n") or "\x7f" <= char <= "\x9f" or char in \
        "\u2028\u2029\ufffe\uffff" or (char == "\ufeff" and at > 0)


def first_offence(data):
    """Line and column of the first byte or character that makes this no text, or None."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or (len(data) > 1 and (data[0] == 0) != (data[1] == 0)):
        return (1, 1)  # UTF-16 or UTF-32
    try:
        text = data.decode("utf-8", "strict")
    except UnicodeDecodeError as problem:
        before = data[:problem.start].decode("utf-8")
    else:
        at = next((i for i in range(len(text)) if forbidden(text, i)), None)
        if at is None:
            return None
        before = text[:at]
    return (before.count("\n") + 1, len(before.rsplit("\n", 1)[-1].removeprefix("\ufeff")) + 1)


def check_bytes(tally, probe):
    all_texts = texts()
    tally.check(len(all_texts) >= 500, f"only {len(all_texts)} texts")
    refused = 0
    for data, answer in zip(all_texts, ask([probe, "bytes"], [data.hex() for data in all_texts])):
        found = [tuple(finding[1:3]) for finding in answer.get("findings", [])
                 if finding[0] == CODE]
        expected = first_offence(data)
        refused += expected is not None
        tally.check(found == ([expected] if expected else []),
                    f"{data!r}: {CODE} at {found}, it should be {expected}")
    tally.check(200 < refused < len(all_texts) - 200, f"{refused} of {len(all_texts)} refused")
    print(f"bytes: {len(all_texts)} texts, {refused} of them refused")


def main():
    tally = Tally()
    check_bytes(tally, probe_of(arguments(__doc__).gpuctl))
    tally.close()


if __name__ == "__main__":
    main()
