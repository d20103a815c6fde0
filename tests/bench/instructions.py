#!/usr/bin/env python3
"""Counts the instructions of three samples with valgrind and compares them with a budget.

Time on a machine that others share says little; the number of instructions is the same from run to
run to a few in a thousand. A sample may take 105 % of what tests/bench/instructions.txt says. After
a change that costs more for a reason, or less, `--accept` writes the new figures:

  python3 tests/bench/instructions.py --accept

Without valgrind it ends with 77: skipped; with CI=true or GPUCTL_REQUIRE_SHARED=1 that is a failure.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.program import ROOT, environment, skip  # noqa: E402

BUDGET = pathlib.Path(__file__).with_suffix(".txt")
SAMPLES = ("aws-minimal", "aws-p4d-mig-mixed", "vsphere-vgpu-licensed")
ALLOWED = 1.05
WORTH_WRITING = 0.95  # of the budget: less than this should be kept
TIMEOUT_S = 300
HEADER = """# Millions of instructions of `gpuctl render blueprints/NAME.yaml --stdout`, counted by valgrind.
# Written by: python3 tests/bench/instructions.py --accept
"""


def read_budget():
    lines = [line.split() for line in BUDGET.read_text().splitlines() if not line.startswith("#")]
    return {name: float(millions) for name, millions in lines}


def count(gpuctl, sample, env):
    """Millions of instructions of one run."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(gpuctl),
               "render", str(ROOT / "blueprints" / f"{sample}.yaml"), "--stdout"]
    done = subprocess.run(command, env=env, cwd=ROOT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          timeout=TIMEOUT_S, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"{sample}: valgrind failed with {done.returncode}:\n{done.stderr[-2000:]}")
    return int(found[1]) / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpuctl", default=str(ROOT / "build/release/gpuctl"))
    parser.add_argument("--accept", action="store_true", help="write what is counted as the budget")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        skip("instructions", "there is no valgrind (Debian: apt-get install valgrind)")
    gpuctl = pathlib.Path(options.gpuctl).resolve()
    budget = {} if options.accept else read_budget()
    counted, failed = {}, 0
    with tempfile.TemporaryDirectory(prefix="instructions-") as scratch:
        env = environment(pathlib.Path(scratch))
        for sample in SAMPLES:
            counted[sample] = millions = count(gpuctl, sample, env)
            if options.accept:
                print(f"{sample}: {millions:.1f} million instructions")
                continue
            share = millions / budget[sample]
            print(f"{sample}: {millions:.1f} million instructions, {share:.1%} of its budget")
            if share > ALLOWED:
                failed += 1
                print(f"  too many: at most {ALLOWED:.0%}. See where they go with\n"
                      f"    valgrind --tool=callgrind {os.path.relpath(gpuctl, ROOT)} render "
                      f"blueprints/{sample}.yaml --stdout\n"
                      "  and spare them; when they are worth it, say why in the commit and run\n"
                      "    python3 tests/bench/instructions.py --accept")
            elif share < WORTH_WRITING:
                print("  fewer than they were: keep that with --accept")
    if options.accept:
        BUDGET.write_text(HEADER + "".join(f"{name} {millions:.1f}\n"
                                           for name, millions in counted.items()))
        return 0
    print(f"{len(SAMPLES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
