#!/usr/bin/env python3
"""Help and manual: every command has both, they name the same options, help fits 80 columns, and
mandoc has nothing to say of the manual (Debian: apt-get install mandoc)."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]
from support import program  # noqa: E402
from support.program import STRICT, Tally  # noqa: E402

WIDTH = 80


def commands_below(gpuctl, env, path=()):
    """The words of every command, by what help lists."""
    text = program.run([gpuctl, *path, "--help"], env=env).stdout.decode()
    section = re.search(r"^Commands:\n(.*?)(?:\n\n|\Z)", text, re.M | re.S)
    yield path, text
    for name in re.findall(r"^ {2}([a-z][a-z-]*)\b", section[1] if section else "", re.M):
        if name == "help":
            continue  # it has the help of the program
        yield from commands_below(gpuctl, env, (*path, name))


def main():
    gpuctl = str(program.arguments(__doc__).gpuctl)
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="pages-") as temporary:
        folder = pathlib.Path(temporary)
        env = program.environment(folder)
        pages = folder / "man1"
        done = program.run([gpuctl, "man", "--directory", pages], env=env)
        tally.check(done.returncode == 0, f"man --directory: {done.stderr!r}")
        seen = set()
        for path, text in commands_below(gpuctl, env):
            words = " ".join(("gpuctl", *path))
            head = text.split("\nExample", 1)[0]
            wide = [line for line in head.splitlines()
                    if len(line) > WIDTH and not line.startswith("  oc ")]
            tally.check(not wide, f"{words} --help: wider than {WIDTH}: {wide[:2]}")
            for asked in (["help", *path], ["-h", *path], [*path, "--no-such-option", "-h"],
                          [*path, "surplus", "--help"] if "Commands:" not in text else [*path, "-h"]):
                answer = program.run([gpuctl, *asked], env=env)
                tally.check(answer.returncode == 0 and answer.stdout.decode() == text,
                            f"gpuctl {' '.join(asked)}: {answer.stderr!r}")
            page = pages / f"{'-'.join(('gpuctl', *path))}.1"
            seen.add(page.name)
            if not tally.check(page.exists(), f"{words} has no page"):
                continue
            roff = page.read_text()
            one = program.run([gpuctl, "man", *path], env=env).stdout.decode()
            tally.check(one == roff, f"gpuctl man {' '.join(path)} prints another page")
            for option in set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", head, re.M)):
                tally.check(option.replace("-", "\\-") in roff, f"{page.name} lacks {option}")
            for line in text.split("Example:\n", 1)[1].splitlines():
                tally.check(line.strip().replace("-", "\\-")[:20] in roff.replace("\\(aq", "'"),
                            f"{page.name} lacks the example {line!r}")
        extra = {page.name for page in pages.iterdir()} - seen - {"gpuctl-help.1"}
        tally.check(not extra, f"pages of no command: {sorted(extra)}")
        if shutil.which("mandoc") is None:
            print("SKIPPED: mandoc is not there")
            tally.check(not STRICT, "mandoc is not there")
        else:
            for page in sorted(pages.iterdir()):
                # Pages of other systems that a page refers to are not there.
                found = subprocess.run(["mandoc", "-Tlint", page], capture_output=True, text=True,
                                       check=False)
                tally.check(not found.stdout + found.stderr and found.returncode == 0,
                            f"mandoc: {found.stdout[:400]}{found.stderr[:200]}")
                shown = subprocess.run(["mandoc", "-Tutf8", "-O", "width=80", page],
                                       capture_output=True, text=True, check=False)
                tally.check("OPTIONS" in re.sub(".\x08", "", shown.stdout), f"{page.name} shows no options")
    tally.close()


if __name__ == "__main__":
    main()
