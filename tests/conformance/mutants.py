#!/usr/bin/env python3
"""What gpuctl says of thousands of broken install-configs makes sense.

Each mutant is a case of ../shared/conformance/install-config with one to three changes, out of a
fixed series. Of no mutant a rule of ours fails (GPU0303), no message is empty, each path leads to
something in the document or to a field that is missing in it, and no network that cannot be read
is compared with others. The cases themselves get the verdict of the installer. Only the series of
the seed 0 is run by the tests; `--seed` and `--count` look further.
"""

import collections
import copy
import ipaddress
import json
import pathlib
import random
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support import yaml_text  # noqa: E402
from support.program import SHARED, Tally, arguments, environment, run, skip  # noqa: E402

CASES = SHARED / "conformance/install-config"
COUNT = 5000
AT_ONCE = 2500  # files of one run
RELEASE = "5.0"
SHOWN = 20
VALUES = [
    None, "", [], {}, 0, 1, -1, 3.5, True, False, "x", "a b", "10.0.0.0", "10.0.0.0/8", "10.0.0.5/16",
    "10.0.0.0/016", "0.0.0.0/0", "fd00::/48", "::ffff:10.0.0.0/112", "172.17.0.0/16", "192.168.10.5",
    "true", "3", "2147483648", 2147483648, [None], [[]], [{}], [""], {"": ""}, {"x": None}, [1, "a"],
    "https://a b", "/dc1/host/", "/dc1/host/../c", "{}", '{"auths":{}}', '{"auths":[]}', "null", "~",
    "\u00fc", "a" * 300, "0" * 64, "yesterday", "2026-01-01T00:00:00Z", "HTTPS://A.example.com",
]


def places(node, path=()):
    """Paths of everything below the root."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else []
    for key, value in items:
        yield path + (key,)
        yield from places(value, path + (key,))


def at(node, path):
    for key in path:
        node = node[key]
    return node


def change(series, document, donors):
    """One change: a value set, removed, added or taken from somewhere else."""
    path = series.choice(list(places(document)) or [()])
    if not path:
        return
    holder, key = at(document, path[:-1]), path[-1]
    what = series.random()
    if what < 0.15:
        del holder[key]
    elif what < 0.25 and isinstance(holder, dict):
        holder[series.choice([str(key) + "s", str(key).upper(), "extra"])] = holder.pop(key)
    elif what < 0.35 and isinstance(holder, list):
        holder.append(series.choice([copy.deepcopy(holder[key]), None, {}]))
    elif what < 0.55:
        donor = series.choice(donors)
        holder[key] = copy.deepcopy(at(donor, series.choice(list(places(donor)))))
    else:
        holder[key] = copy.deepcopy(series.choice(VALUES))


def mutants(seed, count, originals):
    series = random.Random(seed)
    for _ in range(count):
        document = copy.deepcopy(series.choice(originals))
        for _ in range(series.choice([1, 1, 1, 2, 3])):
            change(series, document, originals)
        yield document


def leads_somewhere(document, path):
    """True when the path is in the document, or the field it ends with is missing there."""
    steps = re.findall(r'\["((?:\\.|[^"\\])*)"\]|\[(\d+)\]|([^.\[\]]+)', path)
    node = document
    for number, (quoted, index, name) in enumerate(steps):
        last = number + 1 == len(steps)
        if index:
            if not isinstance(node, list) or int(index) >= len(node):
                return False
            node = node[int(index)]
            continue
        key = re.sub(r"\\(.)", r"\1", quoted) or name
        if not isinstance(node, dict):
            return last and node is None
        found = [other for other in node if str(other).lower() == key.lower()]
        if not found:
            return last
        node = node[found[0]]
    return True


def unreadable_network(text):
    if not re.fullmatch(r"[0-9a-fA-F.:]+(/\d*)?", text):
        return False
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return True
    return "/" not in text


def faults(document, finding):
    """What is wrong with a finding."""
    if finding["code"] in ("GPU0303", "GPU0304"):
        yield "a rule cannot be evaluated"
    if not finding["message"].strip():
        yield "no message"
    if finding["severity"] == "error" and not leads_somewhere(document, finding["path"]):
        yield "the path leads nowhere"
    if finding["code"] in ("GPU3607", "GPU3632") and any(
            unreadable_network(text) for text in re.findall(r"`([^`]*)`", finding["message"])):
        yield "a network that cannot be read is compared"


def check(tally, gpuctl, documents, names):
    """Runs gpuctl on all of them; gives the names of those that are refused."""
    refused = set()
    said = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="mutants-") as temporary:
        folder = pathlib.Path(temporary)
        for begin in range(0, len(documents), AT_ONCE):
            part = dict(zip(names[begin:begin + AT_ONCE], documents[begin:begin + AT_ONCE]))
            for name, document in part.items():
                (folder / f"{name}.yaml").write_text(json.dumps(document, indent=1))
            files = [folder / f"{name}.yaml" for name in part]
            result = run([gpuctl, "--format", "json", "validate", "--openshift-version", RELEASE, *files],
                         env=environment(folder))
            if result.returncode not in (0, 1):
                raise RuntimeError(f"exit code {result.returncode}: {result.stderr.decode()[-500:]}")
            for line in result.stderr.decode().splitlines():
                finding = json.loads(line)
                homes = [pathlib.Path(span["file"]).stem for span in finding["spans"]]
                home = next((name for name in homes if name in part), None)
                if not tally.check(home, f"{finding['code']} lies in no document: {finding['message']}"):
                    continue
                if finding["severity"] == "error":
                    refused.add(home)
                for fault in faults(part[home], finding):
                    tally.failed += 1
                    said[finding["code"], fault] += 1
                    if sum(said.values()) <= SHOWN:
                        print(f"FAILED {home}: {fault}: {finding['code']} {finding['path']}: "
                              f"{finding['message']}\n       {json.dumps(part[home])[:1500]}")
            for path in files:
                path.unlink()
    for (code, fault), count in said.most_common():
        print(f"{count:5} {code}: {fault}")
    return refused


def add_options(parser):
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=COUNT)


def main():
    options = arguments(__doc__, add_options)
    cases = sorted(path.parent for path in CASES.glob("*/install-config.yaml"))
    if not cases:
        skip("mutants of install-configs", f"no cases in {CASES}")
    tally = Tally()
    originals = [yaml_text.load((case / "install-config.yaml").read_text()) for case in cases]
    names = [case.name for case in cases]
    documents = originals + list(mutants(options.seed, options.count, originals))
    names += [f"mutant-{number}" for number in range(options.count)]
    refused = check(tally, options.gpuctl, documents, names)
    for case in cases:
        verdict = yaml_text.load((case / "verdict.yaml").read_text())
        accepted = verdict.get("acceptedWithoutHostChecks", verdict["accepted"])
        tally.check(accepted == (case.name not in refused),
                    f"{case.name}: {'refused' if accepted else 'accepted'}, unlike the installer")
    print(f"{options.count} mutants of {len(cases)} cases, {len(refused)} of both refused")
    tally.check(options.count == 0 or len(refused) > options.count / 4, "hardly any mutant is refused")
    tally.close()


if __name__ == "__main__":
    main()
