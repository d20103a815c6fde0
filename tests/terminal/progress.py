#!/usr/bin/env python3
"""Progress on a terminal: a line that comes after two seconds of work, counts clusters and is gone
at the end; never with --quiet or --format json, never without a terminal."""

import argparse
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]
from support import program  # noqa: E402
from support.program import ROOT, Tally  # noqa: E402

LONG_S = 3.5  # longer than the patience of the program, by enough
MOST = 16384
LINE = re.compile(r"\r\x1b\[K(?:(\d+) of (\d+) clusters)?")


def on_terminal(command, env):
    """(what standard error received on a terminal, exit code, seconds)."""
    reader, terminal = pty.openpty()
    start = time.monotonic()
    process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    got = b""
    while True:
        try:
            chunk = os.read(reader, 65536)
        except OSError:  # the other side is closed
            break
        if not chunk:
            break
        got += chunk
    os.close(reader)
    return got.decode("utf-8", "replace"), process.wait(), time.monotonic() - start


def blueprints(folder, count):
    text = (ROOT / "blueprints" / "aws-minimal.yaml").read_text()
    name = re.search(r"^  name: (.*)$", text, re.M) or re.search(r"name: ([\w-]+)", text)
    files = []
    for number in range(count):
        file = folder / f"{number}.yaml"
        file.write_text(text.replace(name[1], f"c{number}", 1))
        files.append(str(file))
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpuctl", default=str(ROOT / "build/release/gpuctl"))
    options = parser.parse_args()
    gpuctl = str(pathlib.Path(options.gpuctl).resolve())
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="progress-") as temporary:
        folder = pathlib.Path(temporary)
        env = program.environment(folder)
        validate = ["validate", "-j1"]
        said, code, seconds = on_terminal([gpuctl, *validate, *blueprints(folder, 2)], env)
        tally.check(code == 0 and seconds > 2 or not LINE.search(said), f"a short run says {said[:200]!r}")
        count = 256
        while True:
            files = blueprints(folder, count)
            said, code, seconds = on_terminal([gpuctl, *validate, *files], env)
            if seconds > LONG_S or count >= MOST:
                break
            count *= 2
        seen = [(int(done), int(all_)) for done, all_ in LINE.findall(said) if done]
        tally.check(code == 0, f"exit code {code}")
        tally.check(seen, f"{seconds:.1f} s of work, and no progress: {said[:200]!r}")
        tally.check(seen == sorted(seen) and all(1 <= done <= count == total for done, total in seen),
                    f"counts {seen[:5]} of {count}")
        last = max((match.end() for match in LINE.finditer(said) if match[1]), default=0)
        tally.check(said[last:].startswith("\r\x1b[K"), f"the line stays: {said[last:last + 60]!r}")
        for quiet in (["--format", "json", *validate], ["apply", "-q", "-j1", "--repo", str(folder / "fleet")]):
            said, code, seconds = on_terminal([gpuctl, *quiet, *files], env)
            tally.check(code == 0 and seconds > 2, f"{quiet}: exit code {code} after {seconds:.1f} s")
            tally.check(not LINE.search(said), f"{quiet}: progress is shown")
        done = program.run([gpuctl, *validate, *files], env=env)
        tally.check(not LINE.search(done.stderr.decode()), "progress without a terminal")
    tally.close()


if __name__ == "__main__":
    main()
