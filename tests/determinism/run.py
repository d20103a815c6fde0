#!/usr/bin/env python3
"""The same input gives the same bytes, whatever the surroundings.

Renders every sample with another time zone, language, umask, working directory, number of
threads, home, terminal setting and order of arguments, and compares the trees byte by byte. The
commits of `apply` are compared too: author and dates given, their ids must be the same.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.program import Tally, arguments, environment, read_tree, run, samples  # noqa: E402


def foreign_locale(folder):
    """Compiles a locale whose case mapping, decimal point and order differ from C; None without
    the means. It lies in a folder of ours: nothing on the machine changes."""
    if not shutil.which("localedef"):
        return None
    made = []
    for name in ("tr_TR", "de_DE"):
        done = run(["localedef", "-i", name, "-f", "UTF-8", folder / f"{name}.UTF-8"])
        if (folder / f"{name}.UTF-8").exists() and done.returncode in (0, 1):
            made.append(f"{name}.UTF-8")
    return made


def variants(scratch):
    """(name, environment changes, umask, working directory, threads, reversed arguments)."""
    deep = scratch / "some where" / "else"
    deep.mkdir(parents=True)
    rows = [
        ("time zone", {"TZ": "Pacific/Kiritimati"}, 0o022, None, None, False),
        ("time zone given as rule", {"TZ": "XYZ+11:30"}, 0o022, None, None, False),
        ("language C.UTF-8", {"LC_ALL": "C.UTF-8", "LANG": "C.UTF-8"}, 0o022, None, None, False),
        ("no language", {"LC_ALL": None, "LANG": None}, 0o022, None, None, False),
        ("unknown language", {"LC_ALL": "xx_YY.UTF-8"}, 0o022, None, None, False),
        ("umask 000", {}, 0o000, None, None, False),
        ("umask 077", {}, 0o077, None, None, False),
        ("working directory", {}, 0o022, deep, None, False),
        ("one thread", {}, 0o022, None, 1, False),
        ("eight threads", {}, 0o022, None, 8, False),
        ("arguments reversed", {}, 0o022, None, 2, True),
        ("no home, a terminal type", {"HOME": None, "TERM": "xterm-256color", "COLUMNS": "20"},
         0o022, None, None, False),
    ]
    locales = scratch / "locales"
    locales.mkdir()
    made = foreign_locale(locales)
    for name in made or []:
        rows.append((f"language {name}", {"LC_ALL": name, "LANG": name, "LOCPATH": locales},
                     0o022, None, None, False))
    if not made:
        print("note: no foreign language at hand (package `locales`); C ones only")
    return rows


def render(gpuctl, out, env, umask, cwd, threads, backwards):
    given = samples()
    if backwards:
        given = given[::-1]
    command = [gpuctl, "render", *given, "-o", out]
    if threads:
        command += ["-j", threads]
    before = os.umask(umask)
    try:
        return run(command, env=env, cwd=cwd)
    finally:
        os.umask(before)


def compare(tally, name, want, got):
    missing = sorted(set(want) - set(got))
    extra = sorted(set(got) - set(want))
    changed = [path for path in want if path in got and want[path] != got[path]]
    tally.check(not (missing or extra or changed),
                f"{name}: missing {missing[:5]}, extra {extra[:5]}, different {changed[:5]}")


def check_commits(tally, gpuctl, scratch, home):
    """Two applies into two fresh repositories make the same commits; a third makes none."""
    fixed = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
    heads = []
    for name, extra in (("one", {"TZ": "UTC"}), ("two", {"TZ": "Asia/Kathmandu"})):
        repo = scratch / f"repo-{name}"
        env = environment(home, **fixed, **extra)
        done = run([gpuctl, "apply", *samples(), "--repo", repo], env=env)
        if not tally.check(done.returncode == 0, f"apply: {done.stderr.decode()}"):
            return
        heads.append(run(["git", "-C", repo, "rev-parse", "HEAD"], env=env).stdout)
    tally.check(heads[0] == heads[1] and heads[0], f"commit ids of two applies: {heads}")
    repo = scratch / "repo-two"
    again = run([gpuctl, "apply", *samples()[::-1], "--repo", repo],
                env=environment(home, TZ="America/St_Johns", LC_ALL="C.UTF-8"))
    head = run(["git", "-C", repo, "rev-parse", "HEAD"], env=environment(home)).stdout
    tally.check(again.returncode == 0 and head == heads[1],
                f"a second apply made a commit: {again.stdout.decode()}{again.stderr.decode()}")


def main():
    gpuctl = arguments(__doc__).gpuctl
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="determinism-") as temporary:
        scratch = pathlib.Path(temporary)
        home = scratch / "home"
        home.mkdir()
        done = render(gpuctl, scratch / "reference", environment(home), 0o022, None, None, False)
        if not tally.check(done.returncode == 0, f"render: {done.stderr.decode()}"):
            tally.close()
        want = read_tree(scratch / "reference")
        tally.check(len(want) > 10 * len(samples()), f"only {len(want)} files were rendered")
        for name, changes, umask, cwd, threads, backwards in variants(scratch):
            out = scratch / "out"
            shutil.rmtree(out, ignore_errors=True)
            try:
                done = render(gpuctl, out, environment(home, **changes), umask, cwd, threads,
                              backwards)
            except subprocess.TimeoutExpired:
                tally.check(False, f"{name}: no end")
                continue
            if tally.check(done.returncode == 0, f"{name}: {done.stderr.decode()}"):
                compare(tally, name, want, read_tree(out))
        one, many = (run([gpuctl, "render", *samples(), "--stdout", "-j", count],
                         env=environment(home)).stdout for count in (1, 8))
        tally.check(one == many and one, "render --stdout: differs with the number of threads")
        check_commits(tally, gpuctl, scratch, home)
    tally.close()


if __name__ == "__main__":
    main()
