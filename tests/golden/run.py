#!/usr/bin/env python3
"""Runs gpuctl on recorded cases and compares all it says and writes with what was accepted.

A case is a folder tests/golden/GROUP/NAME/ (deeper groups are fine) with a file `cmd`:

    # comment
    about GPU2403
    render {case}/blueprint.yaml -o {out}
    apply {case}/blueprint.yaml --repo {repo}
    git log --format=%s

Each line is one run of gpuctl, or of git inside {repo}. Placeholders: {case} the case folder,
{root} the project, {out} and {repo} folders that do not exist yet. Nothing that may be absent or
change is a case's business: what the published CRDs say of golden output is tested by
tests/interop/golden_crds.py. The working directory is the case folder. A file `env` may add KEY=VALUE lines.

One line may say what the case is about, so that a note or warning of somebody else's does not change
it. Errors always count. Where something is left out, so is the line that counts errors and warnings.

    about GPU2403 GPU2408   only these notes and warnings count, and each of these codes must be
                            shown; how many documents a cluster has does not count
    about tree              no note, no warning: the case is about what is written
    about all               everything counts
    ignore GPU4609          everything counts but these notes and warnings

Without it everything counts; below errors/ a case is about the code that its name begins with.

Expectations, all optional: `stdout` and `stderr` (absent: must be empty), `exit` (one number a
run, shorter lists are filled with 0 from the front; absent: all 0), `tree/` (what {out} holds; where
a case is about a few files, a file `only` names them, a pattern of fnmatch a line).
Paths and commit ids in the texts are replaced by {placeholders} before they are compared, as is
the digest of the knowledge everywhere: it moves with every change of a table; the numbers of rules
and templates that -v logs move with every new one.

A small case is better one file, GROUP/NAME.case: what would be `cmd` stands at its head, and each
file of the folder follows below a line with its name (the form of Go's txtar):

    # Zones that the region does not have.
    validate {case}/blueprint.yaml
    -- blueprint.yaml --
    apiVersion: gpuctl.dev/v1alpha1
    ...
    -- stderr --
    error[GPU1234]: ...
    -- exit --
    1

--accept writes the expectations into it, behind the inputs. Files without a line end at their end
take a folder, and so does a tree that other tests read (tests/interop, tests/secrets).

Every blueprint under blueprints/ has a case of its own under tests/golden/blueprints/.
"""

import argparse
import concurrent.futures
import contextlib
import difflib
import fnmatch
import os
import pathlib
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]
from golden import cases as golden_cases  # noqa: E402
from golden.cases import expected_exits  # noqa: E402
from support import program  # noqa: E402
from support.program import ROOT, TIMEOUT_S  # noqa: E402

DIFF_LINES = 80
EXIT_CODES = {0, 1, 2, 64}  # all that gpuctl documents; anything else is a crash


def environment(folder, home):
    """Nothing of the caller's environment but what running a program takes."""
    env = program.environment(home)
    env.update({
        "NO_COLOR": "1",
        "GIT_AUTHOR_NAME": "Golden", "GIT_AUTHOR_EMAIL": "golden@example.invalid",
        "GIT_COMMITTER_NAME": "Golden", "GIT_COMMITTER_EMAIL": "golden@example.invalid",
        "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
    })
    extra = folder / "env"
    if extra.exists():
        for line in extra.read_text().splitlines():
            if line and not line.startswith("#"):
                key, _, value = line.partition("=")
                env[key] = value
    return env


class Outcome:
    def __init__(self, stdout, stderr, exits, tree):
        self.stdout, self.stderr, self.exits, self.tree = stdout, stderr, exits, tree


def read_tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file() or path.is_symlink()}


def patterns(case):
    """What the file `only` of a case says; empty: the whole tree counts."""
    path = case.folder / "only"
    return path.read_text().split() if path.exists() else []


def commit_ids(repo, env):
    listing = subprocess.run(["git", "-C", str(repo), "rev-list", "--all"], env=env,
                             capture_output=True, text=True)
    return listing.stdout.split()


def catalogue_digest(gpuctl, overlays=()):
    """What `gpuctl version` says of the built-in knowledge, with what these options lay over it;
    None when that is faulty."""
    said = subprocess.run([gpuctl, *overlays, "version"], capture_output=True, text=True)
    if overlays and said.returncode != 0:
        return None
    found = re.findall(r"\b[0-9a-f]{64}\b", said.stdout)
    if len(found) != 1:
        sys.exit(f"gpuctl version shows {len(found)} digests, wanted one: {said.stdout}")
    return found[0]


def overlay_options(words):
    """The options --providers and --templates of a command line, with their values."""
    return [option for word, value in zip(words, words[1:]) if word in ("--providers", "--templates")
            for option in (word, value)]


@contextlib.contextmanager
def new_folder(prefix):
    """A temporary folder whose name is the same in all formats: Markdown escapes underscores, which
    those of tempfile have at times."""
    folder = pathlib.Path(tempfile.gettempdir()).resolve() / (prefix + secrets.token_hex(4))
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def run_case(case, gpuctl, digest):
    with new_folder("golden-") as scratch:
        places = {"out": scratch / "out", "repo": scratch / "repo", "case": case.folder,
                  "root": ROOT}
        home = scratch / "home"
        home.mkdir()
        env = environment(case.folder, home)
        texts, exits = {"stdout": "", "stderr": ""}, []
        overlays = set()
        for line in case.runs():
            words = []
            for word in shlex.split(line):
                for name, path in places.items():
                    word = word.replace("{" + name + "}", str(path))
                words.append(word)
            if words[0] == "git":
                command = ["git", "-C", str(places["repo"])] + words[1:]
            else:
                command = [gpuctl] + words
            overlays.add(tuple(overlay_options(words)))
            done = subprocess.run(command, cwd=case.folder, env=env, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=TIMEOUT_S)
            exits.append(done.returncode)
            texts["stdout"] += done.stdout.decode("utf-8", "backslashreplace")
            texts["stderr"] += done.stderr.decode("utf-8", "backslashreplace")
        ids = commit_ids(places["repo"], env) if places["repo"].exists() else []
        digests = [digest, *(catalogue_digest(gpuctl, options) for options in sorted(overlays) if options)]
        digests = [known for known in digests if known]
        for key, text in texts.items():
            for name, path in sorted(places.items(), key=lambda item: -len(str(item[1]))):
                text = text.replace(str(path), "{" + name + "}")
            if ids:
                text = re.sub(r"\b[0-9a-f]{7,40}\b",
                              lambda m: "{id}" if any(i.startswith(m[0]) for i in ids) else m[0],
                              text)
            # How many rules and templates there are is not what a case with -v is about.
            text = re.sub(r"(?m)^(gpuctl: .*: (?:check|render)) \d+ (rules|templates)$", r"\1 {n} \2", text)
            # A lock has the digest of the knowledge in it, and a patch the ids of its blobs.
            text = re.sub(r"(/gpuctl\.lock(?:\n|\\n)(?:new file mode \d+(?:\n|\\n))?index )[0-9a-f]{7}\.\.[0-9a-f]{7}",
                          r"\1{blobs}", text)
            # The name of a Job tells what it approves, also the release line of a blueprint that names none.
            text = re.sub(r"(operator-approver-)[0-9a-f]{8}\b", r"\1{pins}", text)
            texts[key] = without_digests(text, digests)
        tree = read_tree(places["out"]) if places["out"].exists() else {}
        only = patterns(case)
        tree = {name: content for name, content in tree.items()
                if not only or any(fnmatch.fnmatchcase(name, pattern) for pattern in only)}
        tree = {name: without_digests(content.decode("utf-8", "surrogateescape"), digests)
                      .encode("utf-8", "surrogateescape")
                for name, content in tree.items()}
        subject = case.subject()
        return Outcome(subject.stdout(texts["stdout"]), subject.stderr(texts["stderr"]), exits, tree)


def without_digests(text, digests):
    """The text with a word for each digest; in YAML one like 0b12 or 12e3 has quotes, others none."""
    for digest in digests:
        text = text.replace(f'catalog: "{digest}"', "catalog: {catalogue}")
        text = text.replace(digest, "{catalogue}")
    return text


def diff(name, want, got):
    lines = list(difflib.unified_diff(want.splitlines(), got.splitlines(),
                                      f"expected {name}", f"got {name}", lineterm=""))
    if len(lines) > DIFF_LINES:
        lines[DIFF_LINES:] = [f"... {len(lines) - DIFF_LINES} more lines"]
    if not lines:
        lines = [f"{name}: differs in line ends only"]
    return "\n".join(lines)


def compare(case, got):
    """The differences between what was accepted and what came, as text; empty when none."""
    found = []
    want_exits = expected_exits(case, len(got.exits))
    if want_exits != got.exits:
        found.append(f"exit codes: expected {want_exits}, got {got.exits}")
    for name in ("stdout", "stderr"):
        path = case.folder / name
        want = path.read_text() if path.exists() else ""
        have = getattr(got, name)
        if want != have:
            found.append(diff(name, want, have))
    want_tree = read_tree(case.folder / "tree") if (case.folder / "tree").exists() else {}
    for name in sorted(set(want_tree) | set(got.tree)):
        if name not in got.tree:
            found.append(f"tree/{name}: expected, but not written")
        elif name not in want_tree:
            found.append(f"tree/{name}: written, but not expected")
        elif want_tree[name] != got.tree[name]:
            found.append(diff(f"tree/{name}", want_tree[name].decode("utf-8", "backslashreplace"),
                              got.tree[name].decode("utf-8", "backslashreplace")))
    return found


def shortcomings(case, got):
    """What no accepting helps against: a crash, or a case that does not show what it is about."""
    found = [f"only: nothing is called {pattern}" for pattern in patterns(case)
             if not any(fnmatch.fnmatchcase(name, pattern) for name in got.tree)]
    found += [f"about {code}: it is not shown"
              for code in case.subject().missing(got.stdout, got.stderr)]
    crashes = [code for code in got.exits if code not in EXIT_CODES]
    if crashes:
        found.append(f"exit codes that gpuctl does not have: {crashes}\n{got.stderr}")
    return found


def accept(case, got):
    expected = {name: getattr(got, name).encode() for name in ("stdout", "stderr") if getattr(got, name)}
    if any(got.exits):
        expected["exit"] = (" ".join(str(code) for code in got.exits) + "\n").encode()
    expected.update({f"tree/{name}": content for name, content in got.tree.items()})
    if case.file:
        golden_cases.pack(case.file, expected)
        return
    for name in golden_cases.EXPECTED:
        (case.folder / name).unlink(missing_ok=True)
    shutil.rmtree(case.folder / "tree", ignore_errors=True)
    for name, content in expected.items():
        target = case.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def run_all(cases, gpuctl, accepting):
    """Runs, prints and counts: (passed, failed)."""
    digest = catalogue_digest(gpuctl)
    passed = failures = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        running = [(case, pool.submit(run_case, case, gpuctl, digest)) for case in cases]
        for case, future in running:
            try:
                got = future.result()
                found = shortcomings(case, got)
                if different := [] if found else compare(case, got):
                    if accepting:
                        accept(case, got)
                        print(f"accepted {case.name}")
                    else:
                        found = different
            except (OSError, subprocess.TimeoutExpired, ValueError) as problem:
                found = [str(problem)]
            if found:
                failures += 1
                print(f"FAILED {case.name}")
                print("\n".join(found))
            else:
                passed += 1
    return passed, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpuctl", default=str(ROOT / "build/release/gpuctl"))
    parser.add_argument("--filter", default="", help="only cases whose path contains this")
    parser.add_argument("--every", type=int, default=1, help="only one case in so many")
    parser.add_argument("--accept", action="store_true", help="take what comes as expected")
    parser.add_argument("--list", action="store_true", help="print the cases and stop")
    options = parser.parse_args()
    gpuctl = str(pathlib.Path(options.gpuctl).resolve())

    failures = 0
    for sample in program.samples():
        case = HERE / "blueprints" / sample.stem
        if (case / "cmd").exists():
            continue
        if options.accept:
            case.mkdir(parents=True, exist_ok=True)
            (case / "cmd").write_text(f"render {{root}}/blueprints/{sample.name} -o {{out}}\n")
        else:
            print(f"FAILED blueprints/{sample.stem}: no case yet; "
                  "run tests/golden/run.py --accept and read what it writes")
            failures += 1

    with new_folder("golden-cases-") as scratch:
        cases = [case for case in golden_cases.find(scratch) if options.filter in case.name]
        cases = cases[::options.every]
        if options.list:
            print("\n".join(case.name for case in cases))
            return 0
        if not os.access(gpuctl, os.X_OK):
            print(f"no gpuctl at {gpuctl}: build it first", file=sys.stderr)
            return 1
        passed, failed = run_all(cases, gpuctl, options.accept)
    failures += failed
    if passed + failures == 0:
        print("no case ran", file=sys.stderr)
        failures = 1
    print(f"{passed} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
