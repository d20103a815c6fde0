"""What suites of many cases share: cases run side by side, each in a folder of its own, and count
what they checked."""

import collections
import concurrent.futures
import faulthandler
import multiprocessing
import os
import pathlib
import shutil
import sys
import time
import traceback

from support.program import arguments, skip

LONG_S = 300  # for one case; a whole test has 600 s


class Checks:
    """What one case found."""

    def __init__(self):
        self.passed, self.failures, self.skipped = 0, [], []

    def check(self, holds, what):
        if holds:
            self.passed += 1
        else:
            self.failures.append(what)
        return bool(holds)


def memory():
    """A directory in memory, where syncing costs nothing; None where there is none with room."""
    place = pathlib.Path("/dev/shm")
    if os.access(place, os.W_OK) and shutil.disk_usage(place).free > 1 << 30:
        return str(place)
    return None


def case_arguments(doc, add_options):
    """The command line of a suite of cases that need git; `add_options(parser)` as in arguments().

    `options.sanitized` says whether gpuctl was built with sanitizers."""
    def add(parser):
        parser.add_argument("--filter", default="", help="only cases whose name holds this text")
        parser.add_argument("--list", action="store_true", help="print the names of the cases")
        add_options(parser)
    options = arguments(doc, add)
    options.sanitized = b"__asan_init" in options.gpuctl.read_bytes()
    if not shutil.which("git"):
        skip(doc.splitlines()[0], "no git")
    return options


def chosen(cases, options, tally):
    """The cases, (name, function, arguments), that the command line asks for; --list ends here."""
    doubled = [name for name, count in collections.Counter(case[0] for case in cases).items()
               if count > 1]
    tally.check(not doubled, f"cases with one name: {doubled}")
    cases = [case for case in cases if options.filter in case[0]]
    if options.list:
        print("\n".join(case[0] for case in cases))
        sys.exit()
    return cases


def outcome(name, checks, run):
    """Runs a case, and gives what run_all() wants of it. Where it takes very long, says at what."""
    started = time.monotonic()
    faulthandler.dump_traceback_later(LONG_S)
    try:
        run()
    except Exception:  # noqa: BLE001: the other cases have to run
        checks.failures.append(traceback.format_exc())
    faulthandler.cancel_dump_traceback_later()
    return name, checks.passed, checks.failures, checks.skipped, time.monotonic() - started


def run_all(function, jobs, processes, tally):
    """`function` makes an outcome() of each job; how often each reason for leaving out was given.

    A process that dies with its job is an exception here; a multiprocessing.Pool would wait for it."""
    skipped, times = collections.Counter(), []
    with concurrent.futures.ProcessPoolExecutor(
            processes, mp_context=multiprocessing.get_context("fork")) as pool:
        for done in concurrent.futures.as_completed([pool.submit(function, job) for job in jobs]):
            name, passed, failures, left_out, seconds = done.result()
            tally.passed += passed
            times.append((seconds, name))
            for failure in failures:
                tally.check(False, f"{name}: {failure}")
            if not passed and not failures and not left_out:
                tally.check(False, f"{name}: nothing was checked")
            skipped.update(left_out)
    print("longest: " + ", ".join(f"{name} {seconds:.1f} s"
                                  for seconds, name in sorted(times)[-4:]))
    return skipped
