#!/usr/bin/env python3
"""Includes go downwards only, and a library of others is included where it is wrapped."""

import re

from common import ROOT, main, relative, sources

# Folder of src/ -> folders it builds on directly. It may include from these and all below them.
BUILDS_ON = {
    "base": [],
    "diag": ["base"],
    "git": ["diag"],
    "yaml": ["diag"],
    "secrets": ["yaml"],
    "cel": ["yaml"],
    "schema": ["cel", "secrets"],
    "gpu": ["cel"],
    "catalog": ["schema"],
    "blueprint": ["catalog"],
    "derive": ["blueprint", "gpu"],
    "rule": ["derive"],
    "versions": ["rule"],
    "document": ["rule"],
    "imports": ["document"],
    "render": ["document"],
    "plan": ["render", "git"],
    "pipeline": ["plan", "imports", "versions"],
    "pack": ["pipeline"],
    "importer": ["pipeline"],
    "cli": ["importer", "git"],
}

# Start of an include of somebody else's library -> the folders that may have it.
WRAPPED = {
    "yaml-cpp/": {"yaml"},
    "git2": {"git"},
    "zlib.h": {"git", "secrets"},
    "CLI/": {"cli"},
    "spdlog/": {"cli", "pipeline"},
    "openssl/": {"base", "cel"},
    "re2/": {"secrets", "cel", "schema", "render"},
    "nlohmann/": {"diag", "cel", "cli", "plan"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
LIBRARY = re.compile(r"^gpuctl_library\((\w+)([^)]*)\)", re.MULTILINE)


def reachable(folder):
    """The folder itself and everything below it."""
    seen, todo = set(), [folder]
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo += BUILDS_ON[current]
    return seen


def check_build_file():
    """CMakeLists.txt names the same direct dependencies as the table here."""
    findings = []
    for name, rest in LIBRARY.findall((ROOT / "CMakeLists.txt").read_text()):
        depends = re.search(r"DEPENDS([a-z ]*)", rest)
        named = set(depends[1].split()) if depends else set()
        if name not in BUILDS_ON:
            findings.append(f"CMakeLists.txt: library `{name}` is not in tests/structure/includes.py")
        elif not named <= reachable(name) - {name}:
            findings.append(f"CMakeLists.txt: `{name}` depends on {sorted(named)}, "
                            f"allowed is {sorted(reachable(name) - {name})}")
    return findings


def check():
    findings = check_build_file()
    files = sources("src")
    for path in files:
        folder = path.relative_to(ROOT / "src").parts[0]
        if folder not in BUILDS_ON:
            findings.append(f"{relative(path)}: folder `{folder}` has no place in the order")
            continue
        text = path.read_text()
        if path.suffix == ".hpp" and "#pragma once" not in text:
            findings.append(f"{relative(path)}: no #pragma once")
        for bracket, target in INCLUDE.findall(text):
            if bracket == '"':
                owner = target.split("/")[0]
                if owner not in BUILDS_ON:
                    findings.append(f"{relative(path)}: includes \"{target}\", not written from src/ on")
                elif owner not in reachable(folder):
                    findings.append(f"{relative(path)}: includes \"{target}\", which is above `{folder}`")
                elif not (ROOT / "src" / target).exists() and not target.endswith(".inc"):
                    findings.append(f"{relative(path)}: includes \"{target}\", which does not exist")
            for start, allowed in WRAPPED.items():
                if target.startswith(start) and folder not in allowed:
                    findings.append(f"{relative(path)}: includes <{target}>, which only "
                                    f"{sorted(allowed)} may")
    return findings, len(files), "source files"


if __name__ == "__main__":
    main(check)
