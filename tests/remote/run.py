#!/usr/bin/env python3
"""Applies to repositories elsewhere, on servers that the cases start on loopback.

git daemon, http-backend with basic auth, sshd with git-shell, and servers that refuse, hang or lie;
several writers at once; and runs killed at random moments, of local repositories too. Whatever
happens, the server has the old or the new commit, says so itself, and the next run goes well.

    run.py [--gpuctl BIN] [--filter TEXT] [--kills N] [--rounds N] [--list]

Without sshd (package openssh-server) the ssh cases are left out, and the run says so; with CI=true
or GPUCTL_REQUIRE_SHARED=1 that counts as failure.
"""

import os
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from support.cases import case_arguments, chosen, memory, outcome, run_all  # noqa: E402
from support.program import STRICT, Tally  # noqa: E402
import caches  # noqa: E402
import changes  # noqa: E402
import kills  # noqa: E402
import pulls  # noqa: E402
import scene  # noqa: E402
import transports  # noqa: E402
import verdicts  # noqa: E402
import writers  # noqa: E402

GROUPS = (kills, changes, pulls, writers, transports, verdicts, caches)  # the longest first


def run_case(job):
    name, function, arguments, gpuctl, folder, sanitized = job
    place = tempfile.mkdtemp(dir=folder)
    case = scene.Scene(gpuctl, place, sanitized)
    def run():
        with case.stack:
            function(case, *arguments)
    found = outcome(name, case, run)
    shutil.rmtree(place, ignore_errors=True)
    return found


def add_options(parser):
    parser.add_argument("--kills", type=int, default=0,
                        help="killed runs for each kind of repository (100; 20 with sanitizers)")
    parser.add_argument("--rounds", type=int, default=2,
                        help="runs of each of 16 writers to a local repository (2)")


def main():
    options, tally = case_arguments(__doc__, add_options), Tally()
    options.kills = options.kills or (20 if options.sanitized else 100)
    cases = [(f"{group.__name__}: {row[0]}", row[1], row[2:]) for group in GROUPS
             for row in group.cases(options)]
    cases = chosen(cases, options, tally)
    with tempfile.TemporaryDirectory(prefix="remote-", dir=memory()) as folder:
        jobs = [(*case, options.gpuctl, folder, options.sanitized) for case in cases]
        skipped = run_all(run_case, jobs, 2 * (os.cpu_count() or 1), tally)
    for (why, missing), count in sorted(skipped.items()):
        print(f"SKIPPED: {count} remote cases: {why}")
        tally.check(not missing or not STRICT, f"skipped: {why}")
    tally.close()


if __name__ == "__main__":
    main()
