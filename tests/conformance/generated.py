#!/usr/bin/env python3
"""We accept and refuse the generated install-configs that openshift-install accepts and refuses.

Each case of ../shared/conformance/install-config-generated is an accepted install-config with one
change, and has what the installer's code said at three releases. Counted are verdicts (accepted or
refused), and of refusals whether we name a field that the installer named.

What differs on purpose stands in install-config-generated/deviations.yaml, each entry with:
  ours      `accepted` or `refused`
  releases  those at which it differs; without it at all of them
  code      ours (one of those that we print); for `ours: refused`
  change    regular expression that the change of the case matches
  theirs    regular expression that the first message of the installer matches
  reason    why our verdict serves the reader better
An entry that no case needs is a failure. `--list` prints every verdict that differs, and
`--release X.Y` judges at that release only.
"""

import collections
import json
import pathlib
import re
import sys
import tempfile

import yaml

import foreign
from support.program import SHARED, Tally, arguments, environment, run, skip

HERE = pathlib.Path(__file__).resolve().parent / "install-config-generated"
CASES = SHARED / "conformance/install-config-generated/cases.jsonl"
LEAST_CASES = 2000
# Of the verdicts, and of the refusals those that name the installer's field.
LEAST = {"5.0": (0.995, 0.99), "4.21": (0.99, 0.99), "4.19": (0.99, 0.99)}
DEPTH = 2  # `platform.aws`, `networking.serviceNetwork`: below, the installer is not exact
SHOWN = 25  # groups of differences, without --list
ENTRY_KEYS = {"ours", "releases", "code", "change", "theirs", "reason"}

Difference = collections.namedtuple("Difference", "ours case theirs findings")


def read_cases():
    return [json.loads(line) for line in CASES.read_text().splitlines() if line.strip()]


def findings_of(gpuctl, release, folder, cases, env):
    """Case name -> findings, of all cases in one run, and the findings that lie in no case."""
    files = [folder / f"{case['name']}.yaml" for case in cases]
    result = run([gpuctl, "--format", "json", "validate", "--openshift-version", release, *files],
                 env=env)
    if result.returncode not in (0, 1):
        raise RuntimeError(f"exit code {result.returncode}: {result.stderr.decode()[:500]}")
    found = {case["name"]: [] for case in cases}
    homeless = []
    for line in result.stderr.decode().splitlines():
        finding = json.loads(line)
        names = [pathlib.Path(span["file"]).stem for span in finding["spans"]]
        homes = [name for name in names if name in found]
        if homes:
            found[homes[0]].append(finding)
        else:
            homeless.append(finding)
    return found, homeless


def errors_of(findings):
    return [finding for finding in findings if finding["severity"] == "error"]


def fields_not_known(verdict):
    """What the strict decoder did not know; released installers before 5.0 only warn of it."""
    return [foreign.field_of_parse_error(error["message"]) for error in verdict["errors"]
            if 'unknown field "' in error["message"]]


def names_field(verdict, findings):
    """True when one of the findings is about a field that the installer named."""
    paths = [finding["path"] for finding in findings]
    for error in verdict["errors"]:
        if error["field"] and any(foreign.same_top(error["field"], path, DEPTH) for path in paths):
            return True
        if not error["field"]:
            name = foreign.field_of_parse_error(error["message"])
            if name is None or any(name.split(".")[-1].lower() in foreign.names_of(path)
                                   for path in paths):
                return True
    return not verdict["errors"]


def compare(release, cases, found):
    """(verdicts that differ, refusals for another reason)."""
    verdicts, reasons = [], []
    for case in cases:
        verdict, findings = case["verdicts"][release], found[case["name"]]
        errors = errors_of(findings)
        theirs = "; ".join(error["message"] for error in verdict["errors"][:1])
        if verdict["accepted"] and errors:
            verdicts.append(Difference("refused", case, theirs, errors))
        elif not verdict["accepted"] and not errors:
            if not (fields_not_known(verdict) and names_field(verdict, findings)):
                verdicts.append(Difference("accepted", case, theirs, findings))
        elif not verdict["accepted"] and not names_field(verdict, errors):
            reasons.append(Difference("other field", case, theirs, errors))
    return verdicts, reasons


def matches(entry, release, difference):
    codes = [finding["code"] for finding in difference.findings]
    return (entry["ours"] == difference.ours
            and release in entry.get("releases", [release])
            and entry.get("code", codes[0] if codes else "") in (codes or [""])
            and re.search(entry.get("change", ""), "; ".join(difference.case["change"]))
            and re.search(entry.get("theirs", ""), difference.theirs))


def what(difference):
    """The kind of a difference: values and indexes are left out."""
    change = re.sub(r"=.*", "", difference.case["change"][0])
    if difference.ours == "accepted":
        said = re.sub(r'"[^"]*"', '""', difference.theirs)[:100]
    else:
        said = ", ".join(sorted({finding["code"] for finding in difference.findings}))
    return difference.ours, re.sub(r"\[\d+\]", "[]", change), said


def show(differences, every):
    groups = collections.Counter(map(what, differences))
    for (ours, change, said), count in groups.most_common(None if every else SHOWN):
        print(f"  {count:4} {ours}: {change}: {said}")
    if not every:
        return
    for difference in differences:
        case = difference.case
        ours = "; ".join(f"{finding['code']} {finding['path']}: {finding['message']}"
                         for finding in difference.findings)
        print(f"  {case['name']} {difference.ours}: {'; '.join(case['change'])[:200]}\n"
              f"      installer: {difference.theirs[:300]}\n      ours: {ours[:300]}")


def read_entries(tally):
    entries = yaml.safe_load((HERE / "deviations.yaml").read_text()) or []
    for number, entry in enumerate(entries):
        where = f"deviations.yaml, entry {number + 1}"
        tally.check(set(entry) <= ENTRY_KEYS and entry.get("ours") in ("accepted", "refused"),
                    f"{where}: has the keys {sorted(entry)}")
        tally.check(len(entry.get("reason", "").split()) > 3, f"{where}: has no reason")
        tally.check({"code", "change", "theirs"} & set(entry), f"{where}: is about everything")
    return entries


def judge(tally, release, cases, found, entries, every):
    """Prints and checks one release; gives the entries that were needed."""
    verdicts, reasons = compare(release, cases, found)
    deliberate = [one for one in verdicts if any(matches(entry, release, one) for entry in entries)]
    left = [one for one in verdicts if one not in deliberate]
    refusals = sum(not case["verdicts"][release]["accepted"] for case in cases)
    agreement = 1 - len(left) / len(cases)
    named = 1 - len(reasons) / max(refusals, 1)
    print(f"{release}: {len(cases) - len(verdicts)} of {len(cases)} verdicts agree "
          f"({100 * (1 - len(verdicts) / len(cases)):.2f} %), {len(deliberate)} differ on purpose, "
          f"{sum(one.ours == 'accepted' for one in left)} are accepted and "
          f"{sum(one.ours == 'refused' for one in left)} refused by mistake; "
          f"{100 * named:.1f} % of refusals name the field")
    show(left, every)
    if every:
        show(reasons, every)
    least, least_named = LEAST[release]
    tally.check(agreement >= least, f"{release}: only {100 * agreement:.2f} % agree")
    tally.check(named >= least_named, f"{release}: only {100 * named:.1f} % name the field")
    return {id(entry) for one in verdicts for entry in entries if matches(entry, release, one)}


def add_options(parser):
    parser.add_argument("--release", action="append", choices=list(LEAST))
    parser.add_argument("--list", action="store_true")


def main():
    options = arguments(__doc__, add_options)
    if not CASES.exists():
        skip("verdicts of generated install-configs", f"no {CASES}")
    tally = Tally()
    cases = read_cases()
    entries = read_entries(tally)
    tally.check(len(cases) >= LEAST_CASES, f"only {len(cases)} cases")
    needed = set()
    with tempfile.TemporaryDirectory(prefix="generated-") as temporary:
        folder = pathlib.Path(temporary)
        for case in cases:
            (folder / f"{case['name']}.yaml").write_text(case["text"])
        for release in options.release or LEAST:
            found, homeless = findings_of(options.gpuctl, release, folder, cases, environment(folder))
            for one in homeless:
                tally.check(False, f"{release}: {one['code']} lies in no document: {one['message']}")
            needed |= judge(tally, release, cases, found, entries, options.list)
    if not options.release:
        for number, entry in enumerate(entries):
            tally.check(id(entry) in needed, f"deviations.yaml, entry {number + 1}: no case needs it")
    tally.close()


if __name__ == "__main__":
    main()
