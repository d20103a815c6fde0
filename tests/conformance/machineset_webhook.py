#!/usr/bin/env python3
"""We accept and refuse the MachineSets that the webhook of the Machine API accepts and refuses.

Fields that the webhook drops without a word (`droppedFields`) are errors for us: such a case agrees
when we refuse it and name them.
"""

import foreign

LEAST_CASES = 30
DEPTH = 1
PREFIX = "spec.template.spec.providerSpec.value."


def judge(verdict, refused, findings):
    errors = [finding for finding in findings if finding["severity"] == "error"]
    paths = [error["path"].removeprefix(PREFIX) for error in errors]
    whole = [error["path"] for error in errors]
    dropped = verdict.get("droppedFields") or []
    if verdict["accepted"] and not dropped:
        said = "; ".join(f"{error['code']} {error['path']}: {error['message']}" for error in errors)
        return f"refused, with {said}" if refused else None
    if not refused:
        return f"accepted, but: {dropped} {[error['message'] for error in verdict['errors']]}"
    for field in dropped:
        if not any(foreign.names_of(path)[:1] == [field.lower()] for path in paths):
            return f"`{field}` is dropped, and we name {paths}"
    # `spec.placement.host` is a path in the provider spec, too.
    fields = [error["field"].removeprefix("providerSpec.").removeprefix("spec.")
              for error in verdict["errors"]]
    if not fields or any(foreign.same_top(field, path, DEPTH) for field in fields
                         for path in paths + [path.removeprefix("spec.") for path in whole]):
        return None
    return f"the webhook names {fields}, we name {paths}"


if __name__ == "__main__":
    foreign.compare(__doc__, "machineset-webhook", "machineset.yaml", LEAST_CASES, judge)
