#!/usr/bin/env python3
"""Every command on the pages for beginners works: their blocks run in order, as those of
docs/first-day.md do (first_day.py tells the forms), each page in a folder of its own.

`guides.py --gpuctl PATH [--verbose]`
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent)]
from knowledge.first_day import blocks, put  # noqa: E402
from support.program import ROOT, TIMEOUT_S, Tally, arguments, environment  # noqa: E402

PAGES = ("docs/getting-started.md", "docs/overrides.md")
LEAST_BLOCKS = 10


class Folder:
    """What `put` writes to."""

    def __init__(self, root):
        self.root = root

    def read(self, name):
        return (self.root / name).read_text()

    def write(self, name, text):
        (self.root / name).write_text(text)


def fits(printed, expected):
    """A line `...` stands for any lines, and `...` at the end of a line for its rest."""
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else
                      re.escape(line.removesuffix("...")) + (".*" if line.endswith("...") else "") + r"\n"
                      for line in expected.splitlines())
    return re.fullmatch(pattern, printed)


def check_page(page, gpuctl, scratch, tally, verbose):
    folder = scratch / pathlib.Path(page).stem
    home = scratch / "home"
    for made in (folder, home):
        made.mkdir(exist_ok=True)
    env = environment(home, NO_COLOR="1", PULL_SECRET='{"auths": {}}')
    env["PATH"] = f"{gpuctl.parent}{os.pathsep}{env['PATH']}"
    printed, done = None, 0
    for number, info, text, prose in blocks((ROOT / page).read_text()):
        language, _, where = info.partition(" ")
        at = f"{page}:{number}"
        done += 1
        if language in ("sh", "console"):
            ran = subprocess.run(["bash", "-euc", text], cwd=folder, env=env, stdin=subprocess.DEVNULL, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False)
            printed = ran.stdout
            if verbose:
                print(f"--- {at}\n{text}{printed}")
            tally.check(ran.returncode == 0, f"{at}: exit code {ran.returncode}:\n{printed}")
        elif where:
            tally.check(f"`{where.partition(', ')[0]}`" in prose, f"{at}: the text before it does not name the file")
            problem = put(Folder(folder), where, text)
            tally.check(not problem, f"{at}: {where}: {problem}")
        elif language == "text" and printed is not None:
            tally.check(fits(printed, text), f"{at}: expected\n{text}but the commands print\n{printed}")
            printed = None
        else:
            tally.check(False, f"{at}: nothing is done with a block `{info}`")
    tally.check(done >= LEAST_BLOCKS, f"{page}: only {done} blocks")


def main():
    options = arguments(__doc__, lambda parser: parser.add_argument("--verbose", action="store_true"))
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        for page in PAGES:
            check_page(page, options.gpuctl, pathlib.Path(scratch), tally, options.verbose)
    tally.close()


if __name__ == "__main__":
    main()
