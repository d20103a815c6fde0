#!/usr/bin/env python3
"""What of a golden case's texts counts, and that a case in one file comes back as it was."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from golden import cases  # noqa: E402
from golden.cases import Case, Subject  # noqa: E402
from support.program import Tally  # noqa: E402

NOTE = """note[GPU4609]: the account needs quota
  --> blueprint.yaml:3:5
   |
 3 |     - a
...
 9 |     - b
   |       ^ here
   = note: one paragraph

     and another
help: ask

"""
WARNING = "warning[GPU2403]: gets no more fixes\nhelp: none\n\n"
ERROR = "error[GPU4101]: unknown\n\n"
SAID = "gpuctl: blueprint.yaml: derive\n"
TEXT = SAID + NOTE + WARNING + ERROR + "nothing was committed\n1 error, 1 warning\n"
JSON = '{"code":"GPU4609","severity":"note"}\n{"code":"GPU4101","severity":"error"}\n'
FILE = "# why\nvalidate {case}/a.yaml\n-- a.yaml --\na: 1\n-- exit --\n1\n-- dir/b.yaml --\n\n"


def check_subjects(tally):
    end = "nothing was committed\n"
    for what, subject, text, want in (
            ("all", Subject(), TEXT, TEXT),
            ("tree", Subject(frozenset()), TEXT, SAID + ERROR + end),
            ("a warning", Subject(frozenset({"GPU2403"})), TEXT, SAID + WARNING + ERROR + end),
            ("a note", Subject(frozenset({"GPU4609"})), TEXT, SAID + NOTE + ERROR + end),
            ("ignoring", Subject(None, frozenset({"GPU4609", "GPU4101"})), TEXT, SAID + WARNING + ERROR + end),
            ("JSON", Subject(frozenset()), JSON, JSON.splitlines(True)[1])):
        tally.check(subject.stderr(text) == want, f"{what}: {subject.stderr(text)}")
    said = "a.yaml: ok (prod/lab, 32 documents)\n"
    tally.check(Subject().stdout(said) == said, "all: number of documents")
    tally.check(Subject(frozenset()).stdout(said) == "a.yaml: ok (prod/lab, {n} documents)\n", "number of documents")
    tally.check(Subject(frozenset({"GPU1", "GPU2403"})).missing("", TEXT) == ["GPU1"], "a code that is not shown")


def subject_of(folder, name, cmd):
    (folder / "cmd").write_text(cmd)
    return Case(name, folder).subject()


def check_lines(tally, folder):
    for name, cmd, want in (
            ("errors/GPU0001-x", "# about\nversion\n", Subject(frozenset({"GPU0001"}))),
            ("errors/GPU0001-x", "about GPU0001 GPU0002\nversion\n", Subject(frozenset({"GPU0001", "GPU0002"}))),
            ("errors/GPU0001-x", "version\nabout all\n", Subject()),
            ("render/x", "version\n", Subject()),
            ("render/x", "about tree\nversion\n", Subject(frozenset())),
            ("render/x", "ignore GPU0001\nversion\n", Subject(None, frozenset({"GPU0001"})))):
        tally.check(subject_of(folder, name, cmd) == want, f"{name}: {cmd!r}")
    tally.check(Case("render/x", folder).runs() == ["version"], "runs")
    for cmd in ("about\n", "about GPU1\n", "about tree GPU0001\n", "ignore all\n", "about tree\nignore GPU0001\n"):
        try:
            tally.check(False, f"{cmd!r} is taken as {subject_of(folder, 'render/x', cmd)}")
        except ValueError:
            tally.check(True, "")


def check_files(tally, folder):
    file = folder / "x.case"
    file.write_text(FILE)
    cases.unpack(file, folder / "x")
    tally.check((folder / "x/a.yaml").read_text() == "a: 1\n", "unpacked")
    tally.check((folder / "x/dir/b.yaml").read_text() == "\n", "unpacked below a folder")
    cases.pack(file, {"exit": b"1\n"})
    tally.check(sorted(cases.sections(FILE)) == sorted(cases.sections(file.read_text())), "packed again")
    tally.check(file.read_text().endswith("-- exit --\n1\n"), "what is expected comes last")
    before = file.read_text()
    for content in (b"no line end", b"-- header --\n"):
        try:
            cases.pack(file, {"stdout": content})
            tally.check(False, f"{content} was packed")
        except ValueError:
            tally.check(file.read_text() == before, "a file that could not be packed was changed")
    for text in ("-- ../a --\n", "-- a --\n-- a --\n", "-- cmd --\n"):
        file.write_text(text)
        try:
            cases.unpack(file, folder / "y")
            tally.check(False, f"{text!r} was unpacked")
        except ValueError:
            tally.check(not (folder / "a").exists(), "wrote outside")


def main():
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch).resolve()
        check_subjects(tally)
        check_lines(tally, folder)
        check_files(tally, folder)
    tally.close()


if __name__ == "__main__":
    main()
