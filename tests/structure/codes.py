#!/usr/bin/env python3
"""Every diagnostic code is defined once, has a page, and is seen in a test."""

import re
import tempfile

from common import ROOT, golden_cases, main, relative

CODE = re.compile(r"GPU\d{4}")
HEADINGS = ["## Example", "## What to do"]
# Codes that no input file can bring about: code, test file that shows it, why.
# Of schemas, and warnings only where a reader takes more than its schema says.
FIRST_OF_ALL_ERRORS = {"kWrongType", "kOutOfBounds"}
UNIT_TESTED = ROOT / "tests/structure/codes_by_unit_test.txt"


def defined():
    """code -> list of (place, constant name or "")."""
    found = {}
    for path in sorted((ROOT / "src").rglob("codes.hpp")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.search(r'(k\w+)\s*=\s*"(GPU\d{4})"', line)
            if match:
                found.setdefault(match[2], []).append((f"{relative(path)}:{number}", match[1]))
    providers = ROOT / "providers"
    for path in sorted([*providers.glob("*/rules.yaml"), *providers.glob("*/rules/*.yaml")]):
        if path.parent.name == "formats":
            continue  # its rules are an example
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r"\s*(?:-\s*)?code:\s*[\"']?(GPU\d{4})", line)
            if match:
                found.setdefault(match[1], []).append((f"{relative(path)}:{number}", ""))
    # Several rules on documents may share a code: what they say belongs on one page.
    for path in sorted((ROOT / "providers").glob("*/documents/*.yaml")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r"\s*(?:-\s*)?code:\s*[\"']?(GPU\d{4})", line)
            # Tables of releases name the codes of what they refuse once.
            named = re.findall(r"\b(?:lacks|gate): (GPU\d{4})", line) if "codes:" in line else []
            for code in ([match[1]] if match else []) + named:
                found.setdefault(code, [(f"{relative(path)}:{number}", "")])
    return found


def all_cases():
    """(case, Subject, what it expects on stdout and stderr) of every golden case."""
    with tempfile.TemporaryDirectory(prefix="golden-cases-") as unpacked:
        return [(case, case.subject(), "".join((case.folder / name).read_text()
                                               for name in ("stdout", "stderr")
                                               if (case.folder / name).exists()))
                for case in golden_cases.find(unpacked)]


def subjects_of(case, subject, text):
    """Codes that a golden case is about: those it names, and shows. What another case shows by the
    way holds nothing, since that case may come to ignore it."""
    named = subject.about or (CODE.findall(case.name)[:1] if case.group == "errors" else [])
    return set(named) & set(CODE.findall(text))


def shown_by_cases():
    """Codes that some golden case is about."""
    return set().union(*(subjects_of(*case) for case in all_cases()))


def shown_by_unit_tests(codes, findings):
    shown = set()
    if not UNIT_TESTED.exists():
        return shown
    for number, line in enumerate(UNIT_TESTED.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        place = f"{relative(UNIT_TESTED)}:{number}"
        words = line.split(None, 2)
        if len(words) < 3:
            findings.append(f"{place}: wants a code, a test file and a reason")
            continue
        code, file, _ = words
        names = [code] + [name for _, name in codes.get(code, []) if name]
        path = ROOT / file
        if code not in codes:
            findings.append(f"{place}: {code} is not defined anywhere")
        elif not path.exists() or not any(name in path.read_text() for name in names):
            findings.append(f"{place}: {file} does not show {code}")
        else:
            shown.add(code)
    return shown


def check_page(path, code):
    text = path.read_text()
    lines = text.splitlines()
    findings = []
    if not lines or not re.fullmatch(rf"# {code}: [^\s].*[^.\s]", lines[0]):
        findings.append(f"{relative(path)}: the first line is not `# {code}: TITLE`")
    headings = [line for line in re.sub(r"```.*?```", "", text, flags=re.S).splitlines()
                if line.startswith("## ")]
    if headings != HEADINGS:
        findings.append(f"{relative(path)}: headings are {headings}, not {HEADINGS}")
        return findings
    before, _, rest = text.partition("\n## Example\n")
    example, _, remedy = rest.partition("\n## What to do\n")
    if len(before.split("\n", 1)[1].split()) < 8:
        findings.append(f"{relative(path)}: does not say what the code means")
    if "```" not in example:
        findings.append(f"{relative(path)}: the example has no block")
    if len(remedy.split()) < 4:
        findings.append(f"{relative(path)}: does not say what to do")
    return findings


def ignorable():
    """Warnings and notes about one blueprint: `spec.ignore` must know their codes."""
    listed = set(re.findall(r"\bk[A-Z]\w+", re.search(
        r"kNoErrors = \{(.*?)\}", (ROOT / "src/pipeline/ignore.cpp").read_text(), re.S)[1]))
    folders = ("derive", "document", "plan", "render", "rule", "schema", "versions")
    files = [path for folder in folders for path in (ROOT / "src" / folder).rglob("*.cpp")]
    files += [ROOT / "src/cli/batch.cpp", *(ROOT / "src/pipeline").glob("*.cpp")]
    findings = []
    for path in sorted(files):
        for name in re.findall(r"\b(?:warning|note)\(\s*(?:\w+::)?(k[A-Z]\w+)", path.read_text()):
            if name not in listed | FIRST_OF_ALL_ERRORS:
                findings.append(f"{relative(path)}: {name} is a warning or a note, and not in "
                                "kNoErrors of src/pipeline/ignore.cpp")
    return findings


def check():
    codes = defined()
    findings = ignorable()
    for code, places in sorted(codes.items()):
        if len(places) > 1:
            findings.append(f"{code} is defined more than once: " +
                            ", ".join(place for place, _ in places))
    pages = {path.stem: path for path in (ROOT / "docs/codes").glob("GPU*.md")}
    for code in sorted(set(codes) - set(pages)):
        findings.append(f"{code} ({codes[code][0][0]}) has no page docs/codes/{code}.md")
    for code in sorted(set(pages) - set(codes)):
        findings.append(f"docs/codes/{code}.md: no such code is defined")
    for code in sorted(set(pages) & set(codes)):
        findings += check_page(pages[code], code)
    shown = shown_by_cases() | shown_by_unit_tests(codes, findings)
    for code in sorted(set(codes) - shown):
        findings.append(f"{code} ({codes[code][0][0]}) is what no golden case is about")
    errors = [case for case in all_cases() if case[0].group == "errors"]
    for path in sorted({*(ROOT / "tests/golden/errors").iterdir()} - {case.path for case, _, _ in errors}):
        findings.append(f"{relative(path)}: is no case")
    for case, subject, text in errors:
        match = re.fullmatch(r"errors/(GPU\d{4})-[a-z0-9-]+", case.name)
        if not match:
            findings.append(f"{relative(case.path)}: is not named GPUnnnn-what")
        elif match[1] not in subjects_of(case, subject, text):
            findings.append(f"{relative(case.path)}: does not show {match[1]}, or is about others")
    return findings, len(codes), "codes"


if __name__ == "__main__":
    main(check)
