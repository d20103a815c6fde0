"""What install_config.py and machineset_webhook.py share: verdicts of real programs against ours.

A case agrees when we refuse what the program refused, for a field that it named, and accept what it
accepted (warnings are allowed). Programs report some paths inexactly, so the top of a path is
compared, without indexes. deviations.yaml lists the cases that differ, with the reason; an entry
that is not needed is a failure.
"""

import json
import pathlib
import re
import sys
import tempfile

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.program import SHARED, Tally, arguments, environment, run, skip  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
LEAST_AGREEMENT = 0.97


# The release whose programs gave the verdicts.
RELEASE = "5.0"


def findings_of(gpuctl, document, env, release):
    """(refused, [findings]) of one document."""
    result = run([gpuctl, "--format", "json", "validate", document, "--openshift-version", release], env=env)
    if result.returncode not in (0, 1):
        raise RuntimeError(f"exit code {result.returncode}: {result.stderr.decode()[:500]}")
    findings = [json.loads(line) for line in result.stderr.decode().splitlines()]
    return result.returncode == 1, findings


def names_of(path):
    """Steps of a path without indexes and keys in brackets, in lower case."""
    path = re.sub(r'\["(\\.|[^"\\])*"\]', "", path)
    path = re.sub(r"\[[^\]]*\]", "", path)
    return [step.lower() for step in path.split(".") if step]


def same_top(theirs, ours, depth):
    """True when the paths lead to the same place, or one of them ends above it."""
    theirs, ours = names_of(theirs), names_of(ours)
    length = min(depth, len(theirs), len(ours))
    if theirs and ours and theirs[:length] == ours[:length]:
        return True
    # A path that lost its beginning: `additionalEnabledCapabilities`.
    return len(theirs) == 1 and theirs[0] in ours


def field_of_parse_error(message):
    """The field that an error of Go's decoder names, or None: it names a value, or nothing.

    `json: unknown field "gpus"`, `cannot unmarshal string into Go struct field X.fips of type bool`
    """
    found = re.search(r'unknown field "([^"]*)"|Go struct field \w+\.([\w.]+)', message)
    return next((name for name in found.groups() if name), None) if found else None


def verdicts_of(case, by_release):
    """Release -> verdict of the program of that release."""
    out = {RELEASE: yaml.safe_load((case / "verdict.yaml").read_text())}
    if by_release:
        out.update(yaml.safe_load((case / "verdict-by-release.yaml").read_text()))
    return out


def compare(doc, name, document, least_cases, judge, by_release=False):
    """Runs all cases of ../shared/conformance/NAME; `judge(verdict, refused, findings)` gives what
    differs, or nothing. With `by_release` at all releases that the cases have verdicts of."""
    options = arguments(doc)
    cases = sorted(path.parent for path in (SHARED / "conformance" / name).glob(f"*/{document}"))
    if not cases:
        skip(f"verdicts of {name}", f"no cases in {SHARED / 'conformance' / name}")
    entries = yaml.safe_load((HERE / name / "deviations.yaml").read_text()) or []
    known = {entry["case"]: entry["reason"] for entry in entries}
    tally = Tally()
    different, count = {}, 0
    with tempfile.TemporaryDirectory() as home:
        env = environment(home)
        for case in cases:
            for release, verdict in verdicts_of(case, by_release).items():
                count += 1
                refused, findings = findings_of(options.gpuctl, case / document, env, release)
                difference = judge(verdict, refused, findings)
                name_of = case.name if release == RELEASE else f"{case.name} at {release}"
                if difference:
                    different[name_of] = difference
                tally.check(not difference or name_of in known, f"{name_of}: {difference}")
    for entry, reason in known.items():
        tally.check(entry in different, f"deviation {entry} is not needed, or there is no such case")
        tally.check(len(reason.split()) > 3, f"deviation {entry} has no reason")
    agreement = 1 - len(different) / count
    print(f"{name}: {count - len(different)} of {count} verdicts agree "
          f"({100 * agreement:.1f} %)")
    tally.check(agreement >= LEAST_AGREEMENT, f"only {100 * agreement:.1f} % agree")
    tally.check(len(cases) >= least_cases, f"only {len(cases)} cases")
    tally.close()
