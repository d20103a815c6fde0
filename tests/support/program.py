"""What the tests of the whole program share: samples, how gpuctl is run, how a test closes."""

import argparse
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHARED = ROOT.parent / "shared"
STRICT = os.environ.get("CI") == "true" or os.environ.get("GPUCTL_REQUIRE_SHARED") == "1"
SKIPPED = 77  # what ctest knows as skipped
TIMEOUT_S = 300
TODAY = "2025-12-01"


def samples():
    """The blueprints that users start from, without the facts beside them."""
    return sorted(path for path in (ROOT / "blueprints").glob("*.yaml")
                  if not path.name.endswith(".facts.yaml"))


def environment(home, **more):
    """A small environment of our own; a value of None takes the variable away."""
    kept = ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LLVM_PROFILE_FILE")
    env = {key: os.environ[key] for key in kept if key in os.environ}
    env.update({
        "LSAN_OPTIONS": f"suppressions={ROOT}/tests/support/leaks.supp:print_suppressions=0",
        "HOME": str(home), "LC_ALL": "C", "TZ": "UTC", "GIT_CONFIG_NOSYSTEM": "1",
        "GPUCTL_DATE": TODAY,  # ends of support are seen from one day
        "GIT_AUTHOR_NAME": "Test", "GIT_AUTHOR_EMAIL": "test@example.invalid",
        "GIT_COMMITTER_NAME": "Test", "GIT_COMMITTER_EMAIL": "test@example.invalid",
    })
    for key, value in more.items():
        env.pop(key, None)
        if value is not None:
            env[key] = str(value)
    return env


def run(command, timeout=TIMEOUT_S, **more):
    """Runs without a terminal, and without input unless it is given; bytes come back."""
    if more.get("input") is None:
        more = {"stdin": subprocess.DEVNULL, **{key: more[key] for key in more if key != "input"}}
    return subprocess.run([str(word) for word in command], capture_output=True, timeout=timeout,
                          check=False, **more)


def read_tree(folder):
    """Relative path -> content of every file below the folder."""
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()}


def skip(what, why):
    """Leaves the test as skipped, or as failed where skipping is not allowed."""
    print(f"SKIPPED: {what}: {why}")
    if STRICT:
        print("skipping counts as failure here\n0 passed, 1 failed")
        sys.exit(1)
    sys.exit(SKIPPED)


class Tally:
    """Counts checks and prints the ones that failed."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, good, what):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {what}", flush=True)  # what ends this test may come before its end
        return good

    def close(self):
        """Prints the closing line and leaves; a test that checked nothing has failed."""
        if not self.passed and not self.failed:
            self.check(False, "nothing was checked")
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)


def arguments(doc, add_options=None):
    """Parses the command line that all these tests have; the path of gpuctl comes back absolute.

    `add_options(parser)` adds those of one test."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--gpuctl", default=str(ROOT / "build/release/gpuctl"))
    if add_options:
        add_options(parser)
    options = parser.parse_args()
    options.gpuctl = pathlib.Path(options.gpuctl).resolve()
    if not os.access(options.gpuctl, os.X_OK):
        sys.exit(f"no gpuctl at {options.gpuctl}: build it first")
    return options
