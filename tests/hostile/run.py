#!/usr/bin/env python3
"""Bad input of every kind gets a diagnostic and changes nothing.

Runs gpuctl on files that are none, or none of YAML; on names made to escape; into directories full
of links, on disks that are full or fail at the k-th call; and on repositories that are damaged,
forged, locked or somebody else's. Each run has to end in time, within memory, with a documented
exit code, a code and a place, and to leave everything around it as it was.

    run.py [--gpuctl BIN] [--filter TEXT] [--full] [--list]

--full takes more names, swaps and failing calls. Some cases need root (another user's files, a
full disk) and are replaced or left out without it; the run says so.
"""

import argparse
import collections
import multiprocessing
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from support.program import ROOT, Tally, skip  # noqa: E402
import damage  # noqa: E402
import faults  # noqa: E402
import inputs  # noqa: E402
import names  # noqa: E402
import output  # noqa: E402
import repository  # noqa: E402
import scene  # noqa: E402

GROUPS = (inputs, names, output, repository, damage, faults)


def memory():
    """A directory in memory, where syncing costs nothing; None where there is none with room."""
    place = pathlib.Path("/dev/shm")
    if os.access(place, os.W_OK) and shutil.disk_usage(place).free > 1 << 30:
        return str(place)
    return None


def build_shim(folder):
    """The library that makes calls fail; None without a C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        return None
    shim = folder / "failing_io.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", str(shim),
                    str(HERE / "failing_io.c"), "-ldl"], check=True)
    return shim


def run_case(job):
    name, function, arguments, gpuctl, folder, sanitized, shim = job
    place = pathlib.Path(tempfile.mkdtemp(dir=folder))
    case = scene.Scene(gpuctl, place, sanitized, shim)
    started = time.monotonic()
    try:
        function(case, *arguments)
    except Exception:  # noqa: BLE001: the other cases have to run
        case.failures.append(traceback.format_exc())
    scene.remove(place)
    return name, case.passed, case.failures, case.skipped, time.monotonic() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpuctl", default=str(ROOT / "build/release/gpuctl"))
    parser.add_argument("--filter", default="", help="only cases whose name holds this text")
    parser.add_argument("--full", action="store_true", help="more of everything")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    options = parser.parse_args()
    gpuctl = pathlib.Path(options.gpuctl).resolve()
    if not os.access(gpuctl, os.X_OK):
        sys.exit(f"no gpuctl at {gpuctl}: build it first")
    if not shutil.which("git"):
        skip("hostile input", "no git")
    sanitized = b"__asan_init" in gpuctl.read_bytes()
    cases = [(f"{group.__name__}: {name}", function, arguments) for group in GROUPS
             for name, function, arguments in group.cases(options.full)]
    doubled = [name for name, count in collections.Counter(case[0] for case in cases).items()
               if count > 1]
    tally = Tally()
    tally.check(not doubled, f"cases with one name: {doubled}")
    cases = [case for case in cases if options.filter in case[0]]
    if sanitized and not options.full and not options.filter:
        # Each run takes five times as long; the plain build runs them all.
        cases = cases[::5]
        print("note: a build with sanitizers: every fifth case")
    if options.list:
        print("\n".join(case[0] for case in cases))
        return
    skipped = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="hostile-") as temporary, \
            tempfile.TemporaryDirectory(prefix="hostile-", dir=memory()) as fast:
        folder, scenes = pathlib.Path(temporary), pathlib.Path(fast)
        scenes.chmod(0o755)
        folder.chmod(0o755)
        # A copy that every user may run, wherever the build lies.
        program = folder / "gpuctl"
        shutil.copy(gpuctl, program)
        program.chmod(0o755)
        shim = build_shim(folder)
        # Those that wait come first; the others fill the time.
        waiting = ("lock file", "unlink, new")
        cases.sort(key=lambda case: not any(word in case[0] for word in waiting))
        jobs = [(*case, program, scenes, sanitized, shim) for case in cases]
        with multiprocessing.get_context("fork").Pool(2 * (os.cpu_count() or 1) + 2) as pool:
            times = []
            for name, passed, failures, left_out, seconds in pool.imap_unordered(run_case, jobs):
                tally.passed += passed
                times.append((seconds, name))
                for failure in failures:
                    tally.check(False, f"{name}: {failure}")
                if not passed and not failures and not left_out:
                    tally.check(False, f"{name}: nothing was checked")
                skipped.update(left_out)
    for why, count in sorted(skipped.items()):
        print(f"note: {count} left out: {why}")
    print("longest: " + ", ".join(f"{name} {seconds:.1f} s"
                                  for seconds, name in sorted(times)[-3:]))
    tally.close()


if __name__ == "__main__":
    main()
