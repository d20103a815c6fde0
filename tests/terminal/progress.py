#!/usr/bin/env python3
"""Progress on a terminal: a line that comes after two seconds of work, counts clusters and is gone
at the end; never with --quiet or --format json, never without a terminal. Where nothing can be
counted it says what is waited for."""

import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]
from support import program  # noqa: E402
from support.program import ROOT, Tally  # noqa: E402
from support.terminal import on_terminal  # noqa: E402

LONG_S = 3.5  # longer than the patience of the program, by enough
MOST = 16384
LINE = re.compile(r"\r\x1b\[K(?:(\d+) of (\d+) clusters)?")


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
    gpuctl = str(program.arguments(__doc__).gpuctl)
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
        # A server that answers nothing: what is waited for is said, and gone at the end.
        slow = [gpuctl, "plan", files[0], "--repo", "ssh://git@git.example.com/fleet.git"]
        env["GIT_SSH_COMMAND"] = "sh -c 'sleep 4; exit 1' #"
        said, code, seconds = on_terminal(slow, env)
        tally.check(code == 1 and "\r\x1b[Klooking at the repository, 2 s" in said,
                    f"{seconds:.1f} s of waiting: {said[:300]!r}")
        tally.check("\r\x1b[Kerror[" in said, f"the line stays: {said[:300]!r}")
        said, code, seconds = on_terminal([*slow, "-q"], env)
        tally.check(code == 1 and "looking" not in said, f"-q: {said[:300]!r}")
        done = program.run([gpuctl, *validate, *files], env=env)
        tally.check(not LINE.search(done.stderr.decode()), "progress without a terminal")
    tally.close()


if __name__ == "__main__":
    main()
