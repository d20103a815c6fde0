#!/usr/bin/env python3
"""Text stays text: what the project's emitter writes, readers of others read as it was meant.

Over 2,000 strings that are hard to write, and numbers, truth values and null, each as a value, a
key, a list item, in a list of mappings and deep down. They are written by the project and read
back by the project, by PyYAML (its own scanner and libyaml), by the two Go readers that Kubernetes,
kustomize and the GitOps engines use, by sigs.k8s.io/yaml on top of them, and by yaml-cpp's Node
API. Type and value must be equal.
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from interop.tools import go_program, python_with_yaml  # noqa: E402
from interop.values import ask, comparable, probe_of, typed  # noqa: E402
from support.program import Tally, arguments  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SEED = 20261121
RANDOM_STRINGS = 1400
LEAST_STRINGS = 2000
DEPTH = 12
SHOWN = 40  # failures printed of each reader

WORDS = ["yes", "no", "on", "off", "y", "n", "true", "false", "null", "nan", "inf", "none", "nil"]
NUMBERS = """
    0 -0 +0 1 -1 +1 7 42 007 08 09 010 -010 +010 0777 0o17 0O17 0o8 0b101 0b2 0B1 0x1F 0X1f 0xg
    -0x1F +0x1F 1_000 1_ _1 1__0 -1_000 0x_1 0b_1 0_7 1e3 1E3 1e+3 1e-3 1.e3 .1e3 12e03 -1e3 +1e3
    0e0 1e 1e+ e3 1.5 -1.5 +1.5 1.10 1. .5 -.5 +.5 . .. -. +. 1.2.3 1.2.3.4 1,5 1,000 00.5 1.5e3
    1.5e+3 1.5E-3 1_0.5 .inf -.inf +.inf .Inf .INF .iNF .nan .NaN .NAN -.nan inf nan NaN Infinity
    9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809
    18446744073709551615 18446744073709551616 99999999999999999999999999 1e400 -1e400 1.0e+400
    1e-400 4.20 4.10 4.2e1 2e5 12e5 1e5 100Gi 10m 1Ki 5% 0.5 00 000 0. 0.0 -0.0 0x 0o 0b 1:30 190:20
    190:20:30 0:30 1:60 1:5 01:02 12:30:45 12:30:45.5 -1:30 +1:30 1:30.5 1_0:30 00:11:22:33:44:55
    22:22 fe80::1 ::1 2001-01-01 2001-1-1 2001-13-45 20010101 2001-01 2001-01-01a 01-01-2001
    2001-12-14T21:59:43.10-05:00 2001-12-14t21:59:43.1Z 2001-12-14T21:59:43Z v1.2.3 1.2.3-rc.1
    685_230.15 6.8523015e+5 685.230_15e+03 0b1010_0111 0x_0A_74_AE 02472256 1-2 3/4 1e3x 0xdeadbeef
    0b9 0B9 0b1f 0b2f98d9 0b2f98d9-4a6e-4f1b-9a57-3c1d5e8f7a20 0b-1 0o+7
    +_1_ -_0x1F 0_x1f 1_e3 1e_3 1._5 +_.5 -_.inf 1__ 0__ _0 2001_01_01 2001-01-0_1 1_:30
    1:3_0 0x1p-2 0x.8p1 0x1.8 .5e_3 +.i_nf 1d 1f 0f 1L 1u 1n 1e0_1 .e1 +.e1 -_1 +_1 ._1 0.1_1 1e1_0
    """.split() + ["2001-12-14 21:59:43.10 -5", "2001-12-14 21:59:43", "2001-01-01 ", "1 2", "1 e3",
                   "- 1", "+ 1", "1 ", " 1"]
SIGNS = """
    - -- --- ---- -a --a ---a - ... .... ..a ? ?a : :a :: a: :- , [ ] { } [] {} # #a a# & &a * *a !
    !a !!str !!int !<a> | |a > >a ' '' " "" % %a %YAML @ @a ` `a = == << <<a < ~ ~a \\ \\n / $ ${a}
    {{a}} {{ <<<<<<< ======= >>>>>>> a=b a<b a>b a&b a*b a!b a|b a'b a"b a%b a@b a`b a,b a[b a]b a{b
    a}b a?b a:b a#b a-b a\\b a/b a;b a~b ^a (a) a+b $a {a [a a} a] "a 'a a" a' "a" 'a'
    """.split() + [
        "- a", "? a", ": a", "a: b", "a :b", "a : b", "a:", "a: ", " :", ": ", "a #b", "a # b",
        "# a", "a\t#b", "a\t: b", "a:\tb", "-\ta", "?\ta", "--- a", "... a", "---\ta", "&a b",
        "*a b", "!a b", "| a", "> a", "|\n a", ">\n a", "|-", ">+", "% a", "%YAML 1.2", "@ a",
        "` a", "[a, b]", "{a: b}", "{ a }", "[ ]", "<<: a", "= a", "~ a", "a, b", "key: [a",
        "${a ? b : c}", "${ {'k': 1} }", "{{ .Values.x }}", "{{- if }}", "$(a)", "%{a}", "a %b",
        "it's", "say \"x\"", "\\\"", "\\'", "'\"", "\"'", "\\", "\\\\", "\\x41", "\\u0041", "\\n",
        "C:\\new", "a\\", "http://a/b?c#d", "a@b.c", "1 # 2", "a,", "a.", "-.5a", ".a", "..", "a..",
        "<<<<<<< HEAD", ">>>>>>> b", "key with spaces", "x" * 1100,
        *("k" * length for length in (1000, 1020, 1021, 1022, 1023, 1024, 1025, 1026, 1027)),
        *("é" * length for length in (511, 512, 513, 1024, 1025)), *("\n" + "k" * length
                                                                    for length in (1018, 1024)),
        "x " * 700 + "x",
        "a-" * 600 + "a", "é" * 500, "x" * 5000, "word " * 1000 + "end"]
SPACES = ["", " ", "  ", "\t", " \t", "\t ", "\n", "\n\n", "\n\n\n", " \n", "\n ", "\t\n", "\n\t",
          "\r", "\r\n", "\n\r", "a\n", "a\n\n", "a\n\n\n", "\na", "\n\na", " a", "  a", "a ", "a  ",
          "\ta", "a\t", "a\tb", "a b", "a  b", "a\nb", "a\n\nb", "a\n\n\nb", "a\n b", "a\n  b",
          " a\nb", "  a\n b\n", "\n a", "\n a\nb", "a \nb", "a\t\nb", "a\n\tb", "a\n \nb", "a\n  \n",
          "a\n \n", "\n \na", " \na", "a\nb ", "a\nb\t", "a\n#b", "#a\nb", "a\n# b\n", "a\n---\nb",
          "---\na", "a\n...\nb", "a\n- b", "- a\n- b\n", "a: b\nc: d\n", "a:\n  b\n", "? a\n: b\n",
          "a\r\nb\r\n", "a\rb", "a\n\rb", "|\n", ">\n  a\n", "%a\nb", "a\n%b", "&a\nb", "\"a\nb\"",
          "'a\n'b", "a\n'", "{\n}", "[\n]\n", "<<\n", "yes\n", "1\n", "null\n", "~\n", "true\n\n",
          "2001-01-01\n", "#!/bin/sh\nset -e\nif [ -z \"$A\" ]; then\n\techo ${A:-b} # c\nfi\n",
          "a\n" * 300, "a" * 2000 + "\n" + "b" * 2000, ("x" * 200 + " ") * 20 + "\n",
          "\n" * 50, " " * 50, "\t" * 20, " \n" * 20, "a\n" + " " * 40 + "b\n"]
# NEL, NBSP, soft hyphen, LS, PS, bidi and zero-width characters, BOM, private use, the last of the
# plane, outside the plane, combining, right to left.
CODE_POINTS = [0x80, 0x85, 0x9F, 0xA0, 0xAD, 0xE9, 0xFF, 0x100, 0x301, 0x5D0, 0x61C, 0x180E, 0x2000,
               0x2003, 0x200B, 0x200D, 0x200E, 0x2028, 0x2029, 0x202E, 0x2060, 0x2066, 0x3000,
               0x65E5, 0xAC00, 0xD7FF, 0xE000, 0xFDD0, 0xFE0F, 0xFEFF, 0xFF01, 0xFFFC, 0xFFFD,
               0xFFFE, 0xFFFF, 0x10000, 0x1F600, 0x1F1E9, 0x1FFFE, 0xE0001, 0xE0041, 0x10FFFD,
               0x10FFFF]
ALPHABET = ["a", "b", "Z", "0", "1", "9", "_", ".", "e", "E", "+", "-", "x", "o", ":", " ", "  ",
            "\n", "\n\n", "\t", "#", " #", ": ", "- ", "? ", ",", "[", "]", "{", "}", "&", "*", "!",
            "|", ">", "'", "\"", "\\", "%", "@", "`", "~", "=", "<<", "${", "}", "{{", "}}", "null",
            "true", "no", "---", "...", "é", "日", "\u0085", "\u00a0", "\u2028", "\ufeff", "😀",
            "\r", "\r\n", "\x01", "\x1b", "\x7f", "T", "Z", "/", "$", "é\n"]


def strings():
    """All strings, each once, always the same."""
    found = []
    for word in WORDS:
        found += [word, word.capitalize(), word.upper(), word.swapcase()[:1] + word[1:].upper(),
                  word + " ", " " + word, word + "\n", word + ":", word + "x", word[:-1],
                  "." + word]
    found += NUMBERS + SIGNS + SPACES
    for text in NUMBERS[:60] + SIGNS[:60]:
        found += [text + "\n", text + " ", " " + text, "a\n" + text, text + "\nb"]
    found += [chr(code) for code in range(1, 0x20)] + ["\x7f"]
    for code in CODE_POINTS:
        found += [chr(code), "a" + chr(code), chr(code) + "a", "a" + chr(code) + "b: c",
                  "a\n" + chr(code) + "b\n"]
    draw = random.Random(SEED)
    for _ in range(RANDOM_STRINGS):
        found.append("".join(draw.choice(ALPHABET) for _ in range(draw.randint(1, 9))))
    return list(dict.fromkeys(found))


def others():
    """Values that are no strings."""
    integers = [0, 1, -1, 7, 10, 60, 255, 1000, 2**31 - 1, 2**31, -2**31, 2**32, 2**53, 2**53 + 1,
                2**63 - 1, -2**63, 20010101]
    reals = [0.0, -0.0, 0.1, 0.5, 1.0, -1.0, 1.5, 1.1, 100.0, 1e15, 1e16, 1e17, 1e21, 1e22, 1e23,
             1e100, 1e300, -1e300, 1e-5, 1e-7, 1e-300, 5e-324, 2.2250738585072014e-308,
             1.7976931348623157e308, 0.30000000000000004, 3.141592653589793, 123456789.125,
             9007199254740993.0, 1 / 3, 4.35, float("inf"), float("-inf"), float("nan")]
    draw = random.Random(SEED)
    reals += [draw.choice([-1, 1]) * draw.random() * 10.0**draw.randint(-300, 300)
              for _ in range(100)]
    return [None, True, False, *integers, *reals, [], {}]


def around(value):
    """The value in every position. A key is a string; other positions take any value."""
    deep = value
    for level in range(DEPTH):
        deep = [deep, "x"] if level % 3 == 2 else {"deep": deep}
    found = {"value": value, "list": ["x", value, value], "nested": [[value], [[value, "x"]]],
             "maps": [{"a": value, "b": "x"}, {"a": {"c": value}}], "deep": deep, "last": value}
    if isinstance(value, str):
        found |= {"keys": [{value: "x"}, {"x": {value: value}}], "deep keys": {value: {value: []}}}
    return found


def parts(value):
    """Position -> what stands there, of a document as it was read."""
    if value[0] != "m":
        return {"": value}
    return {str(key[1]): item for key, item in value[1]}


def relaxed(value):
    """For a reader that goes through JSON, which has one kind of number."""
    if value[0] in ("i", "f", "number"):
        return ["f", repr(float(value[1]))]
    if value[0] == "l":
        return ["l", [relaxed(item) for item in value[1]]]
    if value[0] == "m":
        return ["m", [[key, relaxed(item)] for key, item in value[1]]]
    return value


def has_hidden_key(findings):
    """Invisible characters in keys are written for others, but not accepted by the project."""
    return bool(findings) and all(finding[0] == "GPU0106" for finding in findings)


def compare(tally, reader, values, texts, answers):
    """One check for each value; how many positions were equal comes back."""
    equal = shown = 0
    for value, text, answer in zip(values, texts, answers):
        expected = typed(around(value))
        if reader == "sigs.k8s.io/yaml":
            expected, answer = relaxed(expected), relaxed(answer)
        wrong = []
        if comparable(answer) != comparable(expected):
            read = parts(answer)
            wrong = [f"{place}: {read.get(place, answer)!r}"[:300]
                     for place, item in parts(expected).items()
                     if place not in read or comparable(read[place]) != comparable(item)]
            wrong = wrong or [f"too much: {sorted(read)}"]
        equal += len(expected[1]) - len(wrong)
        if wrong:
            shown += 1
        if wrong and shown > SHOWN:
            tally.failed += 1
        else:
            tally.check(not wrong, f"{reader}: {value!r:.200}: {wrong[:2]}\n{text[:400]}")
    return equal


def read_by_all(probe, texts):
    """Reader -> what it makes of each text."""
    found = {}
    own = ask([probe, "read"], [[text, "own"] for text in texts])
    found["gpuctl"] = [answer["documents"][0] if "documents" in answer else
                       ["hidden"] if has_hidden_key(answer["findings"]) else
                       ["error", str(answer["findings"])] for answer in own]
    node = ask([probe, "node"], texts)
    found["yaml-cpp"] = [answer["documents"][0] if "documents" in answer
                         else ["error", str(answer["findings"])] for answer in node]
    python = ask([python_with_yaml(), HERE / "pyyaml_read.py"], texts)
    found["PyYAML"] = [answer[0] for answer in python]
    found["libyaml"] = [answer[1] for answer in python]
    go = ask([go_program(HERE / "goyaml")], texts)
    for number, name in enumerate(("go yaml v2", "go yaml v3", "sigs.k8s.io/yaml")):
        found[name] = [answer[number] for answer in go]
    return found


def check_scalars(tally, probe):
    texts_of_values = strings()
    tally.check(len(texts_of_values) >= LEAST_STRINGS, f"only {len(texts_of_values)} strings")
    values = texts_of_values + others()
    written = ask([probe, "emit"], [typed(around(value)) for value in values])
    for reader, answers in read_by_all(probe, written).items():
        chosen = list(zip(values, written, answers))
        if reader == "gpuctl":
            hidden = [value for value, _, answer in chosen if answer == ["hidden"]]
            tally.check(0 < len(hidden) < 200 and all(isinstance(value, str) for value in hidden),
                        f"gpuctl: {len(hidden)} strings refused as keys")
            chosen = [entry for entry in chosen if entry[2] != ["hidden"]]
        if reader == "sigs.k8s.io/yaml":  # JSON has no infinity
            chosen = [entry for entry in chosen
                      if repr(entry[0]) not in ("inf", "-inf", "nan")]
        equal = compare(tally, reader, *(list(column) for column in zip(*chosen)))
        print(f"scalars: {len(chosen)} values in {equal} places read alike by {reader}")


def main():
    tally = Tally()
    check_scalars(tally, probe_of(arguments(__doc__).gpuctl))
    tally.close()


if __name__ == "__main__":
    main()
