#!/usr/bin/env python3
"""The published YAML test suite, run through the reader of the project.

An invalid case must be refused. A valid case must load as exactly what its event tree says, or be
refused for a reason: because it has something that the project rules out (the tree shows that), or
because it stands in the list below. A case of that list that loads fails the test.
"""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from interop.tools import yaml_test_suite  # noqa: E402
from interop.values import ask, core_schema, probe_of, same, typed  # noqa: E402
from support.program import Tally, arguments  # noqa: E402

STRING_TAG = "tag:yaml.org,2002:str"

# Code -> what a tree must show for the code to be the right answer.
RULED_OUT = {
    "GPU0104": {"empty key"},
    "GPU0105": {"merge key"},
    "GPU0106": {"key is no string", "empty key", "alias as key"},
    "GPU0107": {"tag"},
    "GPU0108": {"anchor"},
    "GPU0109": {"ambiguous scalar"},
    "GPU0111": {"several documents"},
}

# Plain scalars that YAML 1.1 and 1.2 read differently.
AMBIGUOUS = re.compile(r"[yn]|yes|no|on|off|=|\d{4}-\d\d?-\d\d?.*|[-+]?\d[\d_]*(:[0-5]?\d)+"
                       r"|[-+]?0[0-7xo]\w*|\+\d+|\d+e\d+|[-+]?\d+(\.\d*)?e\d+", re.I)

# Valid cases that are refused although their tree shows nothing that is ruled out.
REFUSED = {
    "directives other than `%YAML 1.x` on a line of its own": """
        2LFX 5TYM 6CK3 6LVF 6WLZ 9WXW BEC7 C4HZ CC74 MUS6/2 MUS6/3 MUS6/4 MUS6/5 MUS6/6 P76L U3C3
        Z9M4""",
    "a line that starts with `%` in a block text without indentation": "M7A3 W4TN",
    "`?` before a key that has no `:` behind it": """
        2XXW 5WE3 7W2P JTV5 KK5P M2N8/0 M2N8/1 PW8X ZWK4""",
    "`:` without a key, which other readers refuse": "NHX8 NKF9 S3PD SM9W/1 UKK6/0",
    "yaml-cpp: a key in braces whose `:` stands on another line": """
        4MUZ/0 4MUZ/1 4MUZ/2 5MUD 8KB6 9BXH 9SA2 K3WX NJ66 UT92 VJP3/1""",
    "yaml-cpp: a plain text in brackets that starts with `?`": "652Z HM87/1 JR7V",
    "yaml-cpp: a block text without indentation at the top": "DK3J FP8R",
    "yaml-cpp: quoted texts of line breaks alone are misread, and therefore refused": "NAT4",
    "tabs in front of a value or on a line of their own": "6CA3 DK95/0 DK95/4 Q5MG",
    "blanks without a line break at the end of a block text, which readers take differently": """
        JEF9/2 L24T/1""",
}


def load_cases(folder):
    """Every case with `id`, `yaml`, `tree`, `json` and `fail`."""
    cases = []
    for path in sorted(folder.glob("*.js")):
        text = path.read_text(encoding="utf-8")
        start = text.find("export default ")
        if path.stem == "index" or start < 0:
            continue
        group = json.loads(text[start + len("export default "):])
        before = {}
        for number, given in enumerate(group["cases"]):
            # What a case does not give it has from the one before.
            case = {key: given[key] if key in given else before.get(key)
                    for key in ("yaml", "tree", "json")}
            case["fail"] = given.get("fail", False)
            case["id"] = group["id"] + (f"/{number}" if len(group["cases"]) > 1 else "")
            before = case
            cases.append(case)
    return cases


class Tree:
    """The value that an event tree of the suite stands for, and what of YAML it uses."""

    EVENT = re.compile(r"(\+MAP|\+SEQ|=VAL|=ALI)(?: (?:\{\}|\[\]))?(?: &(\S+))?(?: <([^>]*)>)?"
                       r"(?: ([:'\"|>*])(.*))?$", re.S)
    ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "e": "\x1b"}

    def __init__(self, text):
        self.features, self.anchors, self.documents = set(), {}, []
        self.events = iter(line.lstrip() for line in text.split("\n") if line.strip())
        for event in self.events:
            if event.startswith("+DOC"):
                self.anchors.clear()
                self.documents.append(self.node(next(self.events)))
        if len(self.documents) > 1:
            self.features.add("several documents")

    def node(self, event, key=False):
        kind, anchor, tag, style, text = self.EVENT.match(event).groups()
        if kind == "=ALI":
            self.features |= {"anchor", "alias"} | ({"alias as key"} if key else set())
            return self.anchors[text]
        if anchor:
            self.features.add("anchor")
        if tag and tag != STRING_TAG:
            self.features.add("tag")
        if kind == "=VAL":
            value = self.scalar(style, text, tag, key)
        elif key:
            self.features.add("key is no string")
            value = self.collection(kind)
        else:
            value = self.collection(kind)
        if anchor:
            self.anchors[anchor] = value
        return value

    def scalar(self, style, text, tag, key):
        text = re.sub(r"\\(.)", lambda found: self.ESCAPES.get(found[1], found[1]), text)
        if key and style == ":":
            self.features |= {"empty key"} if not text else {"merge key"} if text == "<<" else set()
        if style == ":" and not key and AMBIGUOUS.fullmatch(text):
            self.features.add("ambiguous scalar")
        return core_schema(text) if style == ":" and not tag and not key else ["s", text]

    def collection(self, kind):
        items = []
        while (event := next(self.events)) not in ("-SEQ", "-MAP"):
            first = self.node(event, kind == "+MAP")
            items.append([first, self.node(next(self.events))] if kind == "+MAP" else first)
        return ["m" if kind == "+MAP" else "l", items]


def json_values(text):
    """The documents of a case as its JSON says."""
    decoder, at, found = json.JSONDecoder(), 0, []
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        found.append(typed(value))
    return found


def unexplained(findings, tree, case, listed):
    """The findings for which there is no reason."""
    return [finding for finding in findings
            if case["id"] not in listed
            and not RULED_OUT.get(finding[0], set()) & tree.features]


def check_valid(tally, case, tree, answer, listed, only_document):
    """Whether a valid case loads as it says, or is refused for a reason. True when it loads."""
    what = f"{case['id']}: {case['yaml']!r}"
    if "documents" not in answer:
        for code, line, column, message in answer["findings"]:
            tally.check(code.startswith("GPU01") and line > 0 and column > 0 and message,
                        f"{what}: no code or place: {answer['findings']}")
        wrong = unexplained(answer["findings"], tree, case, listed)
        tally.check(not wrong, f"{what}: refused without a reason: {wrong}")
        return False
    expected = tree.documents
    if only_document:  # no document at all reads as null
        tally.check(len(expected) < 2, f"{what}: read as one document")
        expected = expected or [["n"]]
    tally.check(same(["l", answer["documents"]], ["l", expected]),
                f"{what}: read as {answer['documents']}, it says {expected}")
    if case["json"] and not only_document:
        tally.check(same(["l", answer["documents"]], ["l", json_values(case["json"])]),
                    f"{what}: read as {answer['documents']}, its JSON is {case['json']}")
    return True


def check_suite(tally, probe):
    cases = load_cases(yaml_test_suite())
    tally.check(len(cases) > 400, f"only {len(cases)} cases")
    listed = {name for names in REFUSED.values() for name in names.split()}
    unknown = listed - {case["id"] for case in cases}
    tally.check(not unknown, f"listed, but not in the suite: {sorted(unknown)}")
    streams = ask([probe, "read"], [[case["yaml"], "published"] for case in cases])
    single = ask([probe, "read"], [[case["yaml"], "own"] for case in cases])
    counts = {"equal": 0, "refused, valid": 0, "refused, invalid": 0}
    for case, stream, one in zip(cases, streams, single):
        if case["fail"]:
            for answer in (stream, one):
                tally.check("findings" in answer and answer["findings"][0][1] > 0,
                            f"{case['id']}: accepted although invalid: {case['yaml']!r}")
            counts["refused, invalid"] += 1
            continue
        tree = Tree(case["tree"])
        loads = check_valid(tally, case, tree, stream, listed, False)
        counts["equal" if loads else "refused, valid"] += 1
        if case["id"] in listed:
            tally.check(not loads, f"{case['id']} loads now: take it off the list")
        check_valid(tally, case, tree, one, listed, True)
    print("YAML test suite: " + ", ".join(f"{count} {what}" for what, count in counts.items()))


def main():
    tally = Tally()
    check_suite(tally, probe_of(arguments(__doc__).gpuctl))
    tally.close()


if __name__ == "__main__":
    main()
