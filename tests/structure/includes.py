#!/usr/bin/env python3
"""Includes go downwards only, each step of the order is taken, and a library of others is included
where it is wrapped."""

import re

from common import ROOT, main, relative, sources

# Folder of src/ -> folders it builds on directly. It may include from these and all below them, and
# does include from each of these.
BUILDS_ON = {
    "base": [],
    "diag": ["base"],
    "net": ["base"],
    "git": ["diag"],
    "yaml": ["diag"],
    "secrets": ["yaml"],
    "cel": ["yaml"],
    "compose": ["cel"],
    "schema": ["cel", "secrets"],
    "gpu": ["cel"],
    "catalog": ["schema"],
    "live": ["catalog"],
    "signature": ["catalog"],
    "blueprint": ["catalog"],
    "fields": ["catalog"],
    "derive": ["blueprint", "compose", "gpu"],
    "rule": ["derive"],
    "versions": ["rule"],
    "document": ["rule"],
    "effects": ["derive"],
    "steps": ["derive"],
    "cost": ["derive"],
    "facts": ["derive", "live"],
    "imports": ["document"],
    "render": ["document"],
    "plan": ["render"],
    "pipeline": ["plan", "imports", "versions", "effects", "facts", "fields", "signature", "steps"],
    "diagnose": ["derive", "live", "signature"],
    "doctor": ["derive", "live", "git", "net"],
    "report": ["pipeline", "cost"],
    "pack": ["report", "diagnose", "doctor"],
    "importer": ["pipeline"],
    "fleet": ["pipeline"],
    "install": ["pipeline"],
    "mcp": ["yaml"],
    "cli": ["importer", "fleet", "install", "diagnose", "doctor", "report", "mcp"],
}

# Start of an include of somebody else's library -> the folders or files that have it, and no other may.
WRAPPED = {
    "yaml-cpp/": {"yaml"},
    "git2": {"git"},
    "zlib.h": {"git", "secrets"},
    # It takes seconds to compile, so commands have their options by cli/options.hpp.
    "CLI/": {"cli/options.cpp", "cli/page.cpp", "cli/program.cpp"},
    "spdlog/": {"cli", "pipeline"},
    "openssl/": {"base", "cel", "net", "secrets"},
    "ares": {"net"},
    "curl/": {"net"},
    "re2/": {"secrets", "cel", "schema", "render", "signature", "steps", "install", "diagnose"},
    "nlohmann/": {"diag", "yaml", "cel"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
LIBRARY = re.compile(r"^gpuctl_library\((\w+)([^)]*)\)", re.MULTILINE)
LINKED = re.compile(r"^target_link_libraries\(gpuctl_(\w+)([^)]*)\)", re.MULTILINE)


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
    text = (ROOT / "CMakeLists.txt").read_text()
    named = {}
    for name, rest in LIBRARY.findall(text):
        depends = re.search(r"DEPENDS([a-z ]*)", rest)
        named.setdefault(name, set()).update(depends[1].split() if depends else [])
    for name, rest in LINKED.findall(text):
        if name in BUILDS_ON:
            named.setdefault(name, set()).update(set(re.findall(r"\bgpuctl_(\w+)", rest)) & set(BUILDS_ON))
    findings = []
    for name in sorted(set(named) | set(BUILDS_ON)):
        if named.get(name) != set(BUILDS_ON.get(name, [])):
            findings.append(f"CMakeLists.txt: `{name}` depends on {sorted(named.get(name, []))}, "
                            f"here on {sorted(BUILDS_ON.get(name, []))}")
    return findings


def check_steps(included):
    """Every folder and every step of the order is there, and none is there twice."""
    findings = []
    for folder, below in BUILDS_ON.items():
        if folder not in included:
            findings.append(f"tests/structure/includes.py: src/{folder} does not exist")
        for step in below:
            if step not in included.get(folder, ()):
                findings.append(f"tests/structure/includes.py: `{folder}` includes nothing of `{step}`")
            for other in below:
                if other != step and step in reachable(other):
                    findings.append(f"tests/structure/includes.py: `{folder}` has `{step}` by `{other}`")
    return findings


def check():
    findings = check_build_file()
    files = sources("src")
    included = {}  # folder -> folders that it includes from
    unused = {(start, folder) for start, allowed in WRAPPED.items() for folder in allowed}
    for path in files:
        folder = path.relative_to(ROOT / "src").parts[0]
        if folder not in BUILDS_ON:
            findings.append(f"{relative(path)}: folder `{folder}` has no place in the order")
            continue
        text = path.read_text()
        included.setdefault(folder, set())
        if path.suffix == ".hpp" and "#pragma once" not in text:
            findings.append(f"{relative(path)}: no #pragma once")
        for bracket, target in INCLUDE.findall(text):
            if bracket == '"':
                owner = target.split("/")[0]
                included[folder].add(owner)
                if owner not in BUILDS_ON:
                    findings.append(f"{relative(path)}: includes \"{target}\", not written from src/ on")
                elif owner not in reachable(folder):
                    findings.append(f"{relative(path)}: includes \"{target}\", which is above `{folder}`")
                elif not (ROOT / "src" / target).exists() and not target.endswith(".inc"):
                    findings.append(f"{relative(path)}: includes \"{target}\", which does not exist")
            for start, allowed in WRAPPED.items():
                if not target.startswith(start):
                    continue
                places = {folder, path.relative_to(ROOT / "src").as_posix()}
                unused -= {(start, place) for place in places}
                if not places & allowed:
                    findings.append(f"{relative(path)}: includes <{target}>, which only "
                                    f"{sorted(allowed)} may")
    findings += [f"tests/structure/includes.py: src/{folder} includes nothing of <{start}>"
                 for start, folder in sorted(unused)]
    return findings + check_steps(included), len(files), "source files"


if __name__ == "__main__":
    main(check)
