#!/usr/bin/env python3
"""We accept and refuse the install-configs that openshift-install accepts and refuses.

Each case of ../shared/conformance/install-config has what the installer's code said, at 5.0 and at
snapshots of 4.21 and 4.19; a field that a release does not know counts as refused. A part of a
verdict that depends on the machine (FIPS) is left out, as its INDEX.md says.
"""

import foreign

LEAST_CASES = 150
DEPTH = 2  # `platform.aws`, `networking.serviceNetwork`: below, the installer is not exact


def judge(verdict, refused, findings):
    accepted = verdict.get("acceptedWithoutHostChecks", verdict["accepted"])
    errors = [finding for finding in findings if finding["severity"] == "error"]
    if accepted != (not refused):
        said = "; ".join(f"{error['code']} {error['path']}: {error['message']}" for error in errors)
        theirs = "; ".join(error["message"] for error in verdict["errors"])
        return f"refused, with {said}" if accepted else f"accepted, but: {theirs}"
    if accepted:
        return None
    fields = [error["field"] for error in verdict["errors"] if error["field"]]
    parse = [error["message"] for error in verdict["errors"] if not error["field"]]
    for message in parse:
        name = foreign.field_of_parse_error(message)
        if name is None or any(name.split(".")[-1].lower() in foreign.names_of(error["path"])
                               for error in errors):
            return None
    for field in fields:
        if any(foreign.same_top(field, error["path"], DEPTH) for error in errors):
            return None
    ours = ", ".join(f"{error['code']} {error['path']}" for error in errors)
    return f"the installer names {fields or parse}, we name {ours}"


if __name__ == "__main__":
    foreign.compare(__doc__, "install-config", "install-config.yaml", LEAST_CASES, judge,
                    by_release=True)
