#!/usr/bin/env python3
"""What texts name is there: commands and options, tables, files, diagnostic codes.

Called as `references.py GPUCTL`. Looked at are the pages, the knowledge, help texts, messages and
comments of the sources, and the scripts. A command with its options counts where it stands in
backticks behind `gpuctl`, or in a console block behind `$`; an option alone counts in pages.
"""

import ast
import pathlib
import re
import shlex
import subprocess
import sys

from common import ROOT, close, relative

PAGES = ("*.md", "docs/**/*.md")
KNOWLEDGE = ("providers/**/*.yaml", "templates/**/*.yaml", "blueprints/*.yaml")
SOURCES = ("src/**/*.?pp", "src/**/*.S.in")
BUILD = ("CMakeLists.txt", "tests/CMakeLists.txt", "install.sh", ".ci/run", "tests/**/*.py", "cmake/*")
# Folders whose files a text may name: knowledge names those of other projects by the others.
FOLDERS = "docs|providers|templates|blueprints|tests|src|cmake|\\.ci"
OURS = {"providers", "templates", "blueprints"}

SPAN = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^(`{3,})(\w*)[^\n]*\n(.*?)^\1", re.M | re.S)
TABLE = re.compile(r"\b(?:the table|tables) `(\w+)`|gpuctl, table (\w+)")
COLUMN = re.compile(r"\bcatalog\.(\w+)")
FILE = re.compile(rf"(?<![\w./{{}}~-])((?:{FOLDERS})/[\w./*{{}},-]*\w\*?/?)(?!\{{)")
CODE_FILE = re.compile(r"(?<![\w./-])((?:\w+/)*\w+\.(?:cpp|hpp))\b")
CODE = re.compile(r"\bGPU[0-8]\d{3}\b")  # GPU9xxx are those of users
END = re.compile(r"[|;&<>()#]")
# Words of a path that stand for any.
ANY = re.compile(r"\b(?:[A-Z]{2,}|name|area)\b|nnnn(?:-what)?")
# Options of other programs that stand alone in pages.
OTHERS = {
    "--client-secret": "flux", "--unsafe-allow-generic-targets": "kubeseal",
    "--scope": "kubeseal", "--name": "kubeseal",
    "--machine": ".ci/release/release.sh",
    "--listgpumodes": "displaymodeselector", "--gpumode": "displaymodeselector",
}
# Pages for who changes gpuctl: their options are mostly those of tests; and descriptions in schemas, which name those of
# other programs.
OF_TESTS = ("CONTRIBUTING.md", "docs/testing.md", "docs/first-day.md", "docs/coverage/", "docs/reference/")
# Codes that do not exist, as examples of what is said of such.
NO_CODES = {"docs/codes/GPU0686.md": {"GPU4690"}, "docs/first-day.md": {"GPU4499"}}


def texts(*globs):
    found = {path for glob in globs for path in ROOT.glob(glob) if path.is_file()}
    return {path: path.read_text(errors="replace") for path in sorted(found)}


def prose_of(path, text):
    """What of a text speaks of this project: no examples, whose files are the reader's."""
    if path.suffix == ".md":
        return FENCE.sub("", text)
    if path.parent.name == "formats":
        return text.split("\n  example: |", 1)[0]
    if path.suffix == ".py":
        return "\n".join([ast.get_docstring(ast.parse(text)) or "", *re.findall(r"^\s*#.*", text, re.M)])
    return text


class Program:
    """Commands and options as the program's own help has them."""

    def __init__(self, gpuctl):
        self.gpuctl, self.commands, self.options = gpuctl, {}, {}
        self._ask(())

    def help(self, words):
        return subprocess.run([self.gpuctl, *words, "--help"], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60, check=True).stdout

    def _ask(self, words):
        text = self.help(words)
        section = re.search(r"^Commands:\n((?: .*\n)+)", text, re.M)
        self.commands[words] = re.findall(r"^ {2}([a-z][a-z-]*)\b", section[1], re.M) if section else []
        listed = re.findall(r"^ {2}(?: {4})?(-.*?)(?: {2}|$)", text, re.M)
        self.options[words] = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", " ".join(listed)))
        for name in self.commands[words]:
            self._ask((*words, name))

    def faults(self, words):
        """What the words behind `gpuctl` name that is not there; one in capitals is any command."""
        command, known = (), set(self.options[()])
        below = self.commands[()]
        for word in words:
            if word.startswith("-") and len(word) > 1:
                option = word.split("=")[0].rstrip(",.")
                if option not in known:
                    yield f"`{' '.join(('gpuctl', *command))}` has no option `{option}`"
            elif below and (word.isupper() or word == "..."):
                known = known.union(*(self.options[(*command, name)] for name in below))
                below = []
            elif below and re.fullmatch(r"[a-z][a-z-]*", word):
                command = (*command, word)
                if word not in below:
                    yield f"`{' '.join(('gpuctl', *command))}` is no command"
                    return
                known |= self.options[command]
                below = self.commands[command]


def calls(page, text):
    """The words behind `gpuctl` of each call that a text names."""
    lines = []
    if page:
        for _, language, block in FENCE.findall(text):
            if language == "console":
                lines += [line[2:] for line in block.replace("\\\n", " ").splitlines()
                          if line.startswith("$ ")]
        text = re.sub(r"(?<=\S)\n(?=\S)", " ", FENCE.sub("", text))
    for line in lines + SPAN.findall(text):
        for start in re.finditer(r"(?:^|[\s(/])gpuctl ", line):
            rest = line[start.end():]
            end = END.search(rest)
            rest = rest[:end.start()] if end else rest
            try:
                yield shlex.split(rest)
            except ValueError:
                yield rest.split()


def check_commands(program, pages, others):
    findings = []
    every = set().union(*program.options.values()) | set(OTHERS)
    for path, text in {**pages, **others}.items():
        for words in calls(path in pages, text):
            findings += [f"{relative(path)}: {fault}" for fault in program.faults(words)]
        if path in pages:
            for span in SPAN.findall(FENCE.sub("", text)):
                alone = re.match(r"\s*(--?[a-z][\w-]*)", span)
                if alone and alone[1] not in every and not relative(path).startswith(OF_TESTS):
                    findings.append(f"{relative(path)}: `{span}` is an option of no command")
                words = span.split()
                if words and words[0] in program.commands[()] and re.search(r" --[a-z]", span):
                    findings += [f"{relative(path)}: {fault}" for fault in program.faults(words)]
    return findings


def check_help(program):
    """What help texts of the program name, examples among it."""
    findings = []
    for command in program.commands:
        text = program.help(command)
        for line in text.splitlines():
            for words in calls(False, f"`{line.strip()}`" if line.startswith("  gpuctl") else line):
                findings += [f"gpuctl {' '.join(command)} --help: {fault}" for fault in program.faults(words)]
    return findings


def check_probes(program):
    """This test finds what it is for."""
    page = "`gpuctl foo`, `gpuctl mig\nplans`, `gpuctl apply --bar x`\n```console\n$ a && gpuctl render --repo b\n```\n"
    want = ["`gpuctl render` has no option `--repo`", "`gpuctl foo` is no command", "`gpuctl mig plans` is no command",
            "`gpuctl apply` has no option `--bar`"]
    got = [fault for words in calls(True, page) for fault in program.faults(words)]
    good = "`gpuctl catalog ... -o json`, `gpuctl mig plan --gpu X | less --foo`, `gpuctl render a.yaml`"
    got += [fault for words in calls(True, good) for fault in program.faults(words)]
    return [] if got == want else [f"self-test: {got}"]


def check_tables(files):
    known = set()
    for path in ROOT.glob("providers/*/tables/*.yaml"):
        name = re.search(r"^metadata: *(?:\{name: |\n +name: )(\w+)", path.read_text(), re.M)[1]
        known |= {name, path.stem}
    findings = []
    for path, text in files.items():
        if "formats" in path.parts or "knowledge" in path.parts:
            text = prose_of(path, text)
        named = {one or other for one, other in TABLE.findall(text)}
        if path.suffix in (".md", ".yaml"):
            named |= {name for name in COLUMN.findall(text) if not name.isupper()}
        findings += [f"{relative(path)}: there is no table `{name}`" for name in sorted(named - known)]
    return findings


def exists(name):
    """Whether a path with *, {a,b} or words that stand for any fits a file."""
    if braces := re.search(r"\{([^{}]*)\}", name):
        return "," not in braces[1] or all(exists(name.replace(braces[0], part))
                                           for part in braces[1].split(","))
    pattern = re.sub(r"(?<=/\d{4})$", "-*", ANY.sub("*", name).rstrip("/"))
    return any(any(ROOT.glob(one)) for one in (pattern, pattern.replace("/*", "/**/*")))


def check_files(files):
    findings = []
    sources = [relative(path) for folder in ("src", "tests") for path in ROOT.glob(f"{folder}/**/*.?pp")]
    for path, text in files.items():
        prose = prose_of(path, text)
        knowledge = relative(path).split("/")[0] in OURS
        for name in sorted(set(FILE.findall(prose))):
            if knowledge and name.split("/")[0] not in OURS:
                continue
            if any(code in name for code in NO_CODES.get(relative(path), ())):
                continue
            # Golden cases are named by their path below tests/golden.
            if not exists(name) and not exists(f"tests/golden/{name}") and not (path.parent / name).exists():
                findings.append(f"{relative(path)}: there is no `{name}`")
        if path.suffix == ".md":
            findings += [f"{relative(path)}: there is no `{name}`"
                         for name in sorted(set(CODE_FILE.findall(prose)))
                         if not any(f"/{source}".endswith(f"/{name}") for source in sources)]
    return findings


def check_tests():
    """docs/testing.md names tests as ctest does."""
    build = (ROOT / "tests/CMakeLists.txt").read_text()
    known = set(re.findall(r"gpuctl_script\((\w+)", build))
    for prefix, variable in (("unit", "name"), ("structure", "check")):
        known |= {f"{prefix}_{name}" for name in re.search(rf"foreach\({variable} ([^)]*)\)", build)[1].split()}
    page = ROOT / "docs/testing.md"
    return [f"{relative(page)}: there is no test `{name}`"
            for row in re.findall(r"^\| .*? \| (.*) \|.*\|$", page.read_text(), re.M)
            for name in SPAN.findall(row) if re.fullmatch(r"[a-z_]+", name) and name not in known]


def check_codes(files):
    pages = {path.stem for path in (ROOT / "docs/codes").glob("GPU*.md")}
    return [f"{relative(path)}: {code} has no page" for path, text in files.items()
            for code in sorted(set(CODE.findall(text)) - pages - NO_CODES.get(relative(path), set()))]


def main():
    program = Program(pathlib.Path(sys.argv[1]).resolve())
    pages, others = texts(*PAGES), texts(*KNOWLEDGE, *SOURCES)
    build = texts(*BUILD)
    findings = check_probes(program) + check_commands(program, pages, others)
    findings += check_help(program)
    findings += check_tests() + check_tables({**pages, **others})
    findings += check_files({**pages, **others, **build})
    findings += check_codes({**pages, **others})
    sys.exit(close(findings, len(pages) + len(others) + len(build), "texts"))


if __name__ == "__main__":
    main()
