#!/usr/bin/env python3
"""Applies to repositories elsewhere, on servers that the cases start on loopback.

git daemon, http-backend with basic auth, sshd with git-shell, and servers that refuse, hang or lie;
several writers at once; and runs killed at random moments, of local repositories too. Whatever
happens, the server has the old or the new commit, says so itself, and the next run goes well.

    run.py [--gpuctl BIN] [--filter TEXT] [--kills N] [--list]

Without sshd (package openssh-server) the ssh cases are left out, and the run says so; with CI=true
or GPUCTL_REQUIRE_SHARED=1 that counts as failure.
"""

import argparse
import collections
import multiprocessing
import os
import pathlib
import shutil
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from support.program import ROOT, STRICT, Tally, skip  # noqa: E402
import caches  # noqa: E402
import kills  # noqa: E402
import scene  # noqa: E402
import transports  # noqa: E402
import verdicts  # noqa: E402
import writers  # noqa: E402

GROUPS = (kills, writers, transports, verdicts, caches)  # the longest first


def memory():
    """A directory in memory, where syncing costs nothing; None where there is none with room."""
    place = pathlib.Path("/dev/shm")
    if os.access(place, os.W_OK) and shutil.disk_usage(place).free > 1 << 30:
        return str(place)
    return None


def run_case(job):
    name, function, arguments, gpuctl, folder, sanitized = job
    place = tempfile.mkdtemp(dir=folder)
    case = scene.Scene(gpuctl, place, sanitized)
    started = time.monotonic()
    try:
        with case.stack:
            function(case, *arguments)
    except Exception:  # noqa: BLE001: the other cases have to run
        case.failures.append(traceback.format_exc())
    shutil.rmtree(place, ignore_errors=True)
    return name, case.passed, case.failures, case.skipped, time.monotonic() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpuctl", default=str(ROOT / "build/release/gpuctl"))
    parser.add_argument("--filter", default="", help="only cases whose name holds this text")
    parser.add_argument("--kills", type=int, default=0,
                        help="killed runs for each kind of repository (100; 20 with sanitizers)")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    options = parser.parse_args()
    gpuctl = pathlib.Path(options.gpuctl).resolve()
    if not os.access(gpuctl, os.X_OK):
        sys.exit(f"no gpuctl at {gpuctl}: build it first")
    if not shutil.which("git"):
        skip("repositories elsewhere", "no git")
    sanitized = b"__asan_init" in gpuctl.read_bytes()
    options.kills = options.kills or (20 if sanitized else 100)
    options.sanitized = sanitized
    cases = [(f"{group.__name__}: {row[0]}", row[1], row[2:]) for group in GROUPS
             for row in group.cases(options)]
    tally = Tally()
    doubled = [name for name, count in collections.Counter(case[0] for case in cases).items()
               if count > 1]
    tally.check(not doubled, f"cases with one name: {doubled}")
    cases = [case for case in cases if options.filter in case[0]]
    if options.list:
        print("\n".join(case[0] for case in cases))
        return
    skipped, times = collections.Counter(), []
    with tempfile.TemporaryDirectory(prefix="remote-", dir=memory()) as folder:
        jobs = [(*case, gpuctl, folder, sanitized) for case in cases]
        with multiprocessing.get_context("fork").Pool(2 * (os.cpu_count() or 1)) as pool:
            for name, passed, failures, left_out, seconds in pool.imap_unordered(run_case, jobs):
                tally.passed += passed
                times.append((seconds, name))
                for failure in failures:
                    tally.check(False, f"{name}: {failure}")
                if not passed and not failures and not left_out:
                    tally.check(False, f"{name}: nothing was checked")
                skipped.update(left_out)
    for (why, missing), count in sorted(skipped.items()):
        print(f"SKIPPED: {count} remote cases: {why}")
        tally.check(not missing or not STRICT, f"skipped: {why}")
    print("longest: " + ", ".join(f"{name} {seconds:.1f} s"
                                  for seconds, name in sorted(times)[-4:]))
    tally.close()


if __name__ == "__main__":
    main()
