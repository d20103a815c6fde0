"""What a golden case is: where the cases are, what each runs, and what of its texts counts.

The forms are told at the head of run.py. Other tests that take golden cases as their input find
them here as well, so that a case may be a folder or a file for all of them alike.
"""

import dataclasses
import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = ("stdout", "stderr", "exit")  # and all below tree/
HEADER = re.compile(r"^-- (\S+) --\n", re.M)
CODE = re.compile(r"GPU\d{4}")
# A diagnostic as text: its first line, then all to the next empty line; texts of several
# paragraphs go on indented behind one.
BLOCK = re.compile(r"^(note|warning|error)\[(GPU\d{4})\]: .*\n(?:.+\n|\n+(?= ))*\n?", re.M)
COUNT = re.compile(r"^(?:\d+ errors?(?:, \d+ warnings?)?|\d+ warnings?)\n", re.M)
# The same in a result of --format json.
COUNTS = re.compile(r'("warnings":)\d+(,"notes":)\d+')
DOCUMENTS = re.compile(r"^(.*: ok \(.*), \d+ documents?\)$", re.M)


@dataclasses.dataclass(frozen=True)
class Case:
    """A case as a folder; one that is a single file was unpacked into it."""

    name: str  # GROUP/NAME, without .case
    folder: pathlib.Path
    file: pathlib.Path | None = None

    @property
    def group(self):
        return self.name.split("/")[0]

    @property
    def path(self):
        return self.file or self.folder

    def lines(self):
        """The lines of `cmd` that say something."""
        lines = [line.strip() for line in (self.folder / "cmd").read_text().splitlines()]
        return [line for line in lines if line and not line.startswith("#")]

    def runs(self):
        """The command lines, in order."""
        return [line for line in self.lines() if line.split()[0] not in ("about", "ignore")]

    def subject(self):
        """What counts of notes and warnings."""
        said = [line.split() for line in self.lines() if line not in self.runs()]
        if not said and self.group == "errors":
            said = [["about", CODE.match(self.name.split("/")[1])[0]]]
        if not said:
            return Subject()
        word, *codes = said[0]
        if len(said) == 1 and word == "about" and codes in (["all"], ["tree"]):
            return Subject(None if codes == ["all"] else frozenset())
        if len(said) > 1 or not codes or not all(map(CODE.fullmatch, codes)):
            raise ValueError("wants one of `about CODE...`, `about tree`, `about all`, `ignore CODE...`")
        return Subject(frozenset(codes)) if word == "about" else Subject(None, frozenset(codes))


@dataclasses.dataclass(frozen=True)
class Subject:
    """Codes of which the notes and warnings count: `about`, where it is not None; otherwise all
    but `ignored`."""

    about: frozenset | None = None
    ignored: frozenset = frozenset()

    def counts(self, severity, code):
        if self.about is None:
            return severity == "error" or code not in self.ignored
        return severity == "error" or code in self.about

    def whole(self):
        return self.about is None and not self.ignored

    def stdout(self, text):
        """How many documents a cluster has, and how many notes it gets, is not what a case about
        codes is about."""
        if self.about is None:
            return text
        return COUNTS.sub(r"\1{n}\2{n}", DOCUMENTS.sub(r"\1, {n} documents)", text))

    def stderr(self, text):
        """The text without bystanders, and then without the line that counts all of them."""
        if self.whole():
            return text
        text = BLOCK.sub(lambda block: block[0] if self.counts(block[1], block[2]) else "", text)
        return COUNT.sub("", "".join(filter(self._line_counts, text.splitlines(keepends=True))))

    def _line_counts(self, line):
        """False for a bystander of `--format json`."""
        if not line.startswith('{"code":'):
            return True
        found = json.loads(line)
        return self.counts(found["severity"], found["code"])

    def missing(self, stdout, stderr):
        """Codes that the case is about, and that none of its texts shows."""
        return sorted((self.about or frozenset()) - set(CODE.findall(stdout + stderr)))


def sections(text):
    """[(name, content)] of a case in one file; what stands before the first header is `cmd`."""
    parts = HEADER.split(text)
    return [("cmd", parts[0]), *zip(parts[1::2], parts[2::2])]


def unpack(file, folder):
    """Writes the sections of a case in one file as the files of a folder."""
    found = sections(file.read_text())
    names = [name for name, _ in found]
    for name, content in found:
        target = folder / name
        if names.count(name) > 1 or folder not in target.resolve().parents:
            raise ValueError(f"{file}: section `{name}` stands there twice, or lies outside")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)


def pack(file, expected):
    """Writes what is expected (name -> content) into a case in one file, behind its inputs."""
    kept = [(name, content) for name, content in sections(file.read_text())
            if name not in EXPECTED and not name.startswith("tree/")]
    text = ""
    for name, content in [*kept, *((name, data.decode()) for name, data in expected.items())]:
        if content and not content.endswith("\n") or HEADER.search(content):
            raise ValueError(f"section `{name}` has no line end at its end, or a header inside: "
                             "that takes a folder")
        text += content if name == "cmd" else f"-- {name} --\n{content}"
    file.write_text(text)


def find(scratch):
    """All cases by name; those in one file are unpacked below `scratch`."""
    cases = [Case(path.parent.relative_to(HERE).as_posix(), path.parent)
             for path in HERE.rglob("cmd") if "tree" not in path.relative_to(HERE).parts]
    for path in HERE.rglob("*.case"):
        name = path.relative_to(HERE).with_suffix("").as_posix()
        folder = pathlib.Path(scratch).resolve() / name
        unpack(path, folder)
        cases.append(Case(name, folder, path))
    return sorted(cases, key=lambda case: case.name)


def is_blueprint(path):
    return path.is_file() and re.search(r"^kind: Blueprint$", path.read_text(errors="replace"), re.M) is not None


def blueprints(folder):
    """The files of a case that are blueprints, what it expects left out."""
    return [path for path in sorted(folder.rglob("*.yaml"))
            if path.relative_to(folder).parts[0] not in ("tree", *EXPECTED) and is_blueprint(path)]


def expected_exits(case, runs):
    """One exit code a run: what `exit` says, filled with 0 from the front."""
    path = case.folder / "exit"
    given = [int(word) for word in path.read_text().split()] if path.exists() else []
    return [0] * (runs - len(given)) + given
