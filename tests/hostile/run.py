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

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from support.cases import case_arguments, chosen, memory, outcome, run_all  # noqa: E402
from support.program import Tally  # noqa: E402
import damage  # noqa: E402
import faults  # noqa: E402
import inputs  # noqa: E402
import names  # noqa: E402
import output  # noqa: E402
import repository  # noqa: E402
import scene  # noqa: E402

GROUPS = (inputs, names, output, repository, damage, faults)


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
    found = outcome(name, case, lambda: function(case, *arguments))
    scene.remove(place)
    return found


def add_options(parser):
    parser.add_argument("--full", action="store_true", help="more of everything")


def main():
    options, tally = case_arguments(__doc__, add_options), Tally()
    cases = [(f"{group.__name__}: {name}", function, arguments) for group in GROUPS
             for name, function, arguments in group.cases(options.full)]
    if options.sanitized and not options.full and not options.filter:
        # Each run takes five times as long; the plain build runs them all.
        cases = cases[::5]
        print("note: a build with sanitizers: every fifth case")
    cases = chosen(cases, options, tally)
    with tempfile.TemporaryDirectory(prefix="hostile-") as temporary, \
            tempfile.TemporaryDirectory(prefix="hostile-", dir=memory()) as fast:
        folder, scenes = pathlib.Path(temporary), pathlib.Path(fast)
        scenes.chmod(0o755)
        folder.chmod(0o755)
        # A copy that every user may run, wherever the build lies.
        program = folder / "gpuctl"
        shutil.copy(options.gpuctl, program)
        program.chmod(0o755)
        shim = build_shim(folder)
        # Those that wait come first; the others fill the time.
        waiting = ("lock file", "unlink, new")
        cases.sort(key=lambda case: not any(word in case[0] for word in waiting))
        jobs = [(*case, program, scenes, options.sanitized, shim) for case in cases]
        skipped = run_all(run_case, jobs, 2 * (os.cpu_count() or 1) + 2, tally)
    for why, count in sorted(skipped.items()):
        print(f"note: {count} left out: {why}")
    tally.close()


if __name__ == "__main__":
    main()
