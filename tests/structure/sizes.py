#!/usr/bin/env python3
"""Files and functions stay readable, and nothing starts a shell."""

import re

from common import main, relative, sources

SOFT, HARD = 400, 800
LONGEST = 60  # lines of a function, its head included
# Longer ones, and why they are not split: "file: name".
LONG = {
    "src/cel/evaluator.cpp: Evaluator::run": "a line or two for each operation",
    "src/cel/printer.cpp: body": "a few lines for each kind of expression",
    "src/schema/keywords.cpp: take": "a few lines for each keyword",
}
SHELL = re.compile(r'(?<![\w.>])(?:std::|::)?(?:system|popen|wordexp)\s*\(|"/bin/(?:ba|da)?sh"|"sh"\s*,\s*"-c"')
# What may hold braces or semicolons that are none: comments, texts, characters, the preprocessor.
OPAQUE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^#[^\n]*',
                    re.DOTALL | re.MULTILINE)
LABEL = re.compile(r"\s*(?:(?:public|protected|private)\s*:\s*)*")
SCOPE = re.compile(r"(?:template\s*<.*>\s*)?(?:inline\s+)?(?:namespace|class|struct|union|enum|extern)\b[^()]*$",
                   re.DOTALL)


def functions(text):
    """Name, first and last line of each function with a body; functions in functions are parts of them."""
    text = OPAQUE.sub(lambda found: "\n" * found[0].count("\n"), text)
    opened, start = [], 0  # braces: None for a namespace or class, otherwise name and line of a function
    for mark in re.finditer(r"[{};]", text):
        if mark[0] == "{":
            begin = LABEL.match(text, start).end()
            head = text[begin:mark.start()].strip()
            name = re.search(r"([\w:~]+|operator\S+)\s*\(", head)
            if any(opened) or SCOPE.match(head) or not name:
                opened.append(None if not any(opened) and SCOPE.match(head) else ("", 0))
            else:
                opened.append((name[1], text.count("\n", 0, begin) + 1))
        elif mark[0] == "}":
            ended = opened.pop()
            if ended and ended[0]:
                yield *ended, text.count("\n", 0, mark.start()) + 1
        start = mark.end()


def check_functions(path, unused):
    for name, first, last in functions(path.read_text()):
        lines, known = last - first + 1, f"{relative(path)}: {name}"
        if lines > LONGEST and known in LONG:
            unused.discard(known)
        elif lines > LONGEST:
            yield f"{relative(path)}:{first}: `{name}` has {lines} lines, at most {LONGEST}"


def check():
    findings, unused = [], set(LONG)
    files = sources("src", "tests", suffixes=(".hpp", ".cpp", ".py", ".sh"))
    for path in files:
        lines = path.read_text().splitlines()
        if len(lines) > HARD:
            findings.append(f"{relative(path)}: {len(lines)} lines, at most {HARD}")
        elif len(lines) > SOFT:
            print(f"note: {relative(path)}: {len(lines)} lines, better under {SOFT}")
        if path.suffix in (".hpp", ".cpp") and relative(path).startswith("src/"):
            findings += check_functions(path, unused)
            for number, line in enumerate(lines, 1):
                if SHELL.search(line.split("//")[0]):
                    findings.append(f"{relative(path)}:{number}: starts a shell: {line.strip()}")
    findings += [f"{known}: no longer over {LONGEST} lines: no exception is needed" for known in sorted(unused)]
    return findings, len(files), "files"


if __name__ == "__main__":
    main(check)
