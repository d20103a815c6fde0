#!/usr/bin/env python3
"""src/schema does with custom resources what a Kubernetes API server does.

The server's own packages (apiserver/main.go) and src/schema (schema_answers.cpp) get the same
documents: what the samples render, documents made from the published CRDs, spoiled copies of both,
and the corner cases of corners/. Unknown fields, the document with its defaults, and the places of
all errors must be the same. What differs on purpose stands in schema_differences.txt, with the reason.
"""

import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from interop.documents import Maker, spoil  # noqa: E402
from interop.tools import go_program  # noqa: E402
from interop.variants import engines_of, write_variant  # noqa: E402
from support.program import SHARED, STRICT, Tally, arguments, environment, run, samples  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SCHEMAS = SHARED / "schemas"
SEED = 20260301
# (share of optional fields, share of nulls) of the documents made for each version of a CRD.
SHAPES = ((0.0, 0.0), (0.3, 0.0), (0.5, 0.0), (0.8, 0.0), (0.3, 0.15), (0.6, 0.05))
SPOILED = 3  # copies of each document
LEAST_DEFAULTED, LEAST_REFUSED = 200, 1000

# What stands around the schemas and documents of corners/.
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.corner.example.com}
spec:
  group: corner.example.com
  scope: Namespaced
  names: {kind: Thing, listKind: ThingList, plural: things, singular: thing}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
       openAPIV3Schema:
"""
HEAD = "apiVersion: corner.example.com/v1\nkind: Thing\nmetadata: {name: a}\n"

Case = collections.namedtuple("Case", "name file kind version text")
Crd = collections.namedtuple("Crd", "group kind version file schema")


def ask(program, requests, scratch):
    source = scratch / "requests"
    source.write_text("".join(json.dumps(request) + "\n" for request in requests))
    with source.open("rb") as stream:
        done = subprocess.run([str(program)], stdin=stream, capture_output=True, timeout=600, check=False)
    lines = done.stdout.decode().splitlines()
    if done.returncode != 0 or len(lines) != len(requests):
        sys.exit(f"{program}: exit code {done.returncode}, {len(lines)} answers to {len(requests)} "
                 f"requests\n{done.stderr.decode()[-2000:]}")
    return [json.loads(line) for line in lines]


def plain(path):
    """Paths as both write them: map keys as names."""
    path = re.sub(r"\[\"(.*?)\"\]", r".\1", path)
    path = re.sub(r"\[(?!\d+\])([^\]]*)\]", r".\1", path)
    # Of metadata, the server names the field but not the label.
    return re.sub(r"((?:^|\.)metadata\.(?:labels|annotations|finalizers|ownerReferences))\b.*", r"\1", path.strip("."))


def located(findings):
    """The errors with their places; of allOf and its like they stand in the text only."""
    for finding in findings:
        match = re.match(r'"([^"]*)" must (?:not )?validate', finding["detail"])
        path = match[1] if match else finding["path"].removeprefix("<nil>")
        yield {**finding, "path": plain(path)}


def below(path, above):
    return above == "" or path == above or path.startswith((above + ".", above + "["))


def same(one, two):
    """Equality of JSON, with 1 equal to 1.0 but not to true."""
    if isinstance(one, bool) or isinstance(two, bool) or one is None or two is None:
        return one is two
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(same, one, two))
    return type(one) in (int, float) and type(two) in (int, float) and one == two or (
        type(one) is type(two) and one == two)


def tidy(value):
    """Without what is empty in metadata: the server leaves it out."""
    if isinstance(value, list):
        return [tidy(item) for item in value]
    if not isinstance(value, dict):
        return value
    value = {key: tidy(item) for key, item in value.items()}
    if "metadata" in value and value.get("apiVersion"):
        value["metadata"] = filled(value["metadata"])
    return value


def filled(value):
    if isinstance(value, list):
        return [filled(item) for item in value]
    if not isinstance(value, dict):
        return value or {}
    return {key: filled(item) for key, item in value.items() if filled(item)}


def difference(server, ours):
    """What src/schema does differently; an empty text when nothing."""
    if server["crd"]:
        wanted = "; ".join(f"{finding['path']}: {finding['detail']}" for finding in server["crd"])
        return "" if ours["crd"] else f"the server refuses the CRD: {wanted}"
    if ours["crd"]:
        return f"the server takes the CRD: {ours['crd']}"
    if ours["unsupported"]:
        return f"rules that are not evaluated: {ours['messages']}"
    found = {(plain(finding["path"]), finding["code"]) for finding in ours["findings"]}
    if server["refused"]:
        # Metadata that cannot be decoded; the server stops there.
        return "" if found else f"the server cannot decode it: {server['refused']}"
    wanted = {(plain(path), "unknown") for path in server["unknown"]}
    errors = list(located(server["errors"]))
    wanted |= {(finding["path"], finding["stage"]) for finding in errors}
    # Below a value of the wrong type the server still drops fields.
    mistyped = [path for path, code in found if code in ("GPU0202", "GPU0209")]
    wanted = {(path, stage) for path, stage in wanted
              if stage != "unknown" or not any(below(path, above) for above in mistyped)}
    # When no alternative fits, the server adds the errors of one of them; we have notes for that.
    # It also says of allOf that something in it is wrong, which we do not.
    ours_paths = {path for path, _ in found}
    for finding in errors:
        above = finding["path"]
        if "(anyOf)" in finding["detail"] or "(oneOf)" in finding["detail"]:
            wanted = {(path, stage) for path, stage in wanted
                      if path == above or stage != "schema" or not below(path, above) or path in ours_paths}
        elif "(allOf)" in finding["detail"] and above not in ours_paths:
            others = [other for other in errors if other["path"] == above and other is not finding]
            if not others:
                wanted.discard((above, "schema"))
    if server["rulesSkipped"]:
        found = {(path, code) for path, code in found if code != "GPU0208"}
    missed = {path for path, _ in wanted} - {path for path, _ in found}
    added = {path for path, _ in found} - {path for path, _ in wanted}
    text = ""
    if missed:
        details = [f"{finding['path']}: {finding['detail']}" for finding in errors]
        text += f"not found: {sorted(missed)} (the server: {details} unknown {server['unknown']}); "
    if added:
        text += f"found, but the server does not: {sorted(added)} {ours['messages']}; "
    for finding in errors:
        # Ours ends without a full stop, and is one line. A duplicate has no text.
        detail = " ".join(finding["detail"].split()).rstrip(".")[:300]
        told = finding["stage"] == "rule" and not re.search(r"^failed rule: |evaluating rule: ", detail)
        if told and not any(detail in message for message in ours["messages"]):
            text += f"the server says {detail!r}, src/schema {ours['messages']}; "
    refused = bool(server["unknown"] or server["errors"])
    if refused != bool(ours["findings"]):
        text += f"refused: the server {refused}, src/schema {not refused}; "
    if not server["unknown"]:
        one, two = tidy(server["document"]), tidy(ours["document"])
        if not same(one, two):
            text += f"defaults: the server {json.dumps(one, sort_keys=True)}, src/schema {json.dumps(two, sort_keys=True)}"
    return text


def crds_of(server, files, scratch):
    """Every version of every CRD of the files, those left out that are the same as one before."""
    found = {}
    for path, listed in zip(files, ask(server, [{"file": str(path)} for path in files], scratch)):
        for crd in listed:
            names = [crd[key] for key in ("group", "kind", "version")]
            found.setdefault(json.dumps([*names, crd["schema"]], sort_keys=True),
                             Crd(*names, path, crd["schema"]))
    return list(found.values())


def rendered(gpuctl, crds, scratch):
    """A case for every object that the samples render and a CRD describes."""
    first = {}
    for crd in crds:
        first.setdefault((crd.group, crd.kind, crd.version), crd.file)
    for sample in samples():
        for engine in engines_of(sample):
            folder = scratch / f"{sample.stem}-{engine}"
            folder.mkdir()
            blueprint = write_variant(sample, engine, folder / "in")
            done = run([gpuctl, "render", blueprint, "-o", folder / "out"], env=environment(scratch))
            if done.returncode != 0:
                sys.exit(f"{sample}: {done.stderr.decode()}")
            for path in sorted((folder / "out").rglob("*.yaml")):
                text = path.read_text()
                version = re.search(r"^apiVersion: \"?([^/\s]+)/([^\"\s]+)", text, re.M)
                kind = re.search(r"^kind: \"?(\w+)", text, re.M)
                key = (version[1], kind[1], version[2]) if version and kind else None
                if key in first:
                    yield Case(f"{sample.stem} {engine} {path.relative_to(folder / 'out')}",
                               first[key], key[1], key[2], text)


def made(crds):
    for crd in crds:
        name = f"{crd.file.relative_to(SCHEMAS)} {crd.version}"
        for number, (share, nulls) in enumerate(SHAPES):
            document = Maker(f"{SEED} {name} {number}", share, nulls).document(*crd[:3], crd.schema)
            yield Case(f"{name} made {number}", crd.file, crd.kind, crd.version, json.dumps(document))


def spoiled(cases, answers):
    """Copies of documents that the server took or nearly took, each with one more thing wrong."""
    for case, server in zip(cases, answers):
        if server["refused"] or server["crd"]:
            continue
        source = random.Random(f"{SEED} {case.name}")
        for number in range(SPOILED):
            document, what = spoil(server["document"], source)
            yield case._replace(name=f"{case.name} spoiled {number} ({what})", text=json.dumps(document))


def corners(scratch):
    """The cases of corners/: a schema, then documents; in schemas.yaml, schemas. Each has its name
    behind the line that separates it from the one before."""
    for path in sorted((HERE / "corners").glob("*.yaml")):
        first, *parts = re.split(r"^--- # (.*)\n", path.read_text(), flags=re.M)
        several = path.stem == "schemas"
        file = scratch / path.name
        file.write_text(CRD + textwrap.indent(first, " " * 8))
        for name, text in zip(parts[::2], parts[1::2]):
            if several:
                file = scratch / f"{path.stem} {name}.yaml"
                file.write_text(CRD + textwrap.indent(text, " " * 8))
                text = "{}"
            if not text.startswith("apiVersion:"):
                text = HEAD + ("" if several else text.removeprefix("{}"))
            yield Case(f"{path.stem}, {name}", file, "Thing", "v1", text)


def explained():
    """Name of a corner case -> why src/schema does something else there."""
    found = {}
    for line in (HERE / "schema_differences.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, reason = line.partition(": ")
            found[name] = reason
    return found


class Comparison:
    def __init__(self, tally, programs, scratch):
        self.tally, self.programs, self.scratch = tally, programs, scratch
        self.defaulted = self.refused = self.accepted = 0

    def compare(self, cases, known=None):
        """Compares; gives the server's answers. `known` are differences that must be there."""
        known = known or {}
        requests = [{"file": str(case.file), "kind": case.kind, "version": case.version, "text": case.text}
                    for case in cases]
        server = ask(self.programs["server"], requests, self.scratch)
        ours = ask(self.programs["ours"], requests, self.scratch)
        for case, one, two in zip(cases, server, ours):
            text = difference(one, two)
            if case.name in known:
                self.tally.check(bool(text), f"{case.name}: no longer differs, remove it from the list")
            else:
                self.tally.check(not text, f"{case.name}: {text}")
            if one["crd"] or one["refused"] or one["errors"] or one["unknown"]:
                self.refused += 1
            else:
                self.accepted += 1
            if one["defaulted"] and not one["unknown"]:
                self.defaulted += 1
        return server


def check_schema(tally, gpuctl):
    answers = gpuctl.parent / "tests/schema_answers"
    if not answers.exists():
        sys.exit(f"no {answers}: build it first")
    programs = {"server": go_program(HERE / "apiserver"), "ours": answers}
    with tempfile.TemporaryDirectory(prefix="schema-") as temporary:
        scratch = pathlib.Path(temporary)
        comparison = Comparison(tally, programs, scratch)
        cases = list(corners(scratch))
        known = explained()
        comparison.compare(cases, known)
        for name in sorted(set(known) - {case.name for case in cases}):
            tally.check(False, f"schema_differences.txt: there is no case {name}")
        print(f"corners: {len(cases)} cases, {len(known)} explained differences")
        if not SCHEMAS.exists():
            print("SKIPPED: published CRDs: ../shared/schemas is absent")
            tally.check(not STRICT, "skipping counts as failure here")
            return
        crds = crds_of(programs["server"], sorted(SCHEMAS.rglob("*.yaml")), scratch)
        for what, cases in (("rendered", list(rendered(gpuctl, crds, scratch))), ("made", list(made(crds)))):
            first = comparison.compare(cases)
            more = list(spoiled(cases, first))
            comparison.compare(more)
            print(f"{what}: {len(cases)} documents and {len(more)} spoiled ones")
        print(f"defaults filled into {comparison.defaulted} documents, {comparison.accepted} accepted and "
              f"{comparison.refused} refused by the server, of {len(crds)} versions of CRDs")
        check_rules(tally, programs, crds, scratch)
        tally.check(comparison.defaulted >= LEAST_DEFAULTED, "too few documents with defaults")
        tally.check(comparison.refused >= LEAST_REFUSED, "too few refused documents")


def count_rules(schema):
    """How many rules a schema has, wherever they stand."""
    if isinstance(schema, list):
        return sum(map(count_rules, schema))
    if not isinstance(schema, dict):
        return 0
    own = schema.get("x-kubernetes-validations")
    return (len(own) if isinstance(own, list) else 0) + sum(
        count_rules(value) for key, value in schema.items() if key not in ("default", "enum", "example"))


def check_rules(tally, programs, crds, scratch):
    """Prints what becomes of the rules of each CRD. None may get lost between the three columns, and
    one that is not evaluated needs its reason."""
    answers = ask(programs["ours"], [{"file": str(crd.file), "kind": crd.kind, "version": crd.version, "text": ""}
                                     for crd in crds], scratch)
    total = collections.Counter()
    reasons = []
    print(f"{'rules of':74} evaluated  skipped  unsupported")
    for crd, answer in zip(crds, answers):
        what, rules = f"{crd.file.relative_to(SCHEMAS)} {crd.version}", answer["rules"]
        counts = [rules[column] for column in ("evaluated", "skipped", "unsupported")]
        there = count_rules(crd.schema)
        tally.check(sum(counts) == there, f"{what}: {there} rules, {counts} accounted for")
        missing = [reason for reason in rules["reasons"] if ": rule `" in reason]
        tally.check(len(missing) == rules["unsupported"], f"{what}: rules are not evaluated without a reason")
        if there:
            print(f"{what:74} {counts[0]:9} {counts[1]:8} {counts[2]:12}")
        total.update(dict(zip(("evaluated", "skipped", "unsupported"), counts)))
        reasons += [f"{what}: {reason}" for reason in rules["reasons"]]
    print(f"{'total':74} {total['evaluated']:9} {total['skipped']:8} {total['unsupported']:12}")
    for reason in reasons:
        print(f"not checked: {reason}")
    tally.check(total["evaluated"] > 100, "hardly any rule is evaluated")


def main():
    gpuctl = arguments(__doc__).gpuctl
    tally = Tally()
    check_schema(tally, gpuctl)
    tally.close()


if __name__ == "__main__":
    main()
