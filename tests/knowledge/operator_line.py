#!/usr/bin/env python3
"""What a new release line of the GPU operator and of the Network Operator takes, and what it changes.

In a copy of the knowledge each gets a line newer than all others, as somebody would add it: with its row, its source
and what else is known by line. At most MOST_FILES files are touched for each; the build takes them; and of the golden
cases only those change that are about the lines (ABOUT). Any other one that changes should pin its line.

`operator_line.py --build DIR [--show]`; --show prints what changes in each case.
"""

import argparse
import fnmatch
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.knowledge import Copy  # noqa: E402
from support.program import ROOT, run  # noqa: E402

MOST_FILES = 3
GOLDEN_S = 1200  # for all golden cases, on a busy machine

# What a line of each operator is written in: the file, what marks the row of the newest line there, and what becomes
# what in the copy of it. The source of the row is copied with it.
GPU_OPERATOR = [
    ("providers/gpu-operator/tables/gpu-operator-releases.yaml", {"26.7": "26.11", "2607": "2611"}),
    ("providers/network-operator/tables/gds-drivers.yaml", {"26.7": "26.11"}),
]
NETWORK_OPERATOR = [
    ("providers/network-operator/tables/network-operator-releases.yaml",
     {"26.4": "26.12", "2604": "2612", "deprecated": "supported"}),
]

# Golden cases that are about the lines there are, and may change.
ABOUT = {
    "versions/*": "which lines are chosen, and which are offered instead",
    "blueprints/*": "samples, which name no line: what a user gets who leaves the choice to gpuctl",
    "cli/catalog-releases*": "the list of the lines",
    "cli/mirror": "what samples pull, which name no line",
    # Rules whose messages list the lines that would do.
    "errors/GPU2401-*": "lines that exist",
    "errors/GPU2402-*": "lines for a release of the cluster",
    "errors/GPU2403-*": "lines that are supported",
    "errors/GPU2406-*": "lines with a new enough driver",
    "errors/GPU2408-*": "lines that can choose the kernel modules",
    "errors/GPU2482-*": "lines by which pods can claim GPUs",
    "errors/GPU2608-*": "lines that take the licence as a Secret",
    "errors/GPU2617-*": "lines that can have several drivers",
    "errors/GPU2618-*": "lines that can have several drivers in a cluster that exists",
    "errors/GPU2701-*": "lines that exist",
    "errors/GPU2702-*": "the newest line, for a release that has none",
    "errors/GPU2703-*": "lines that are supported",
    "errors/GPU2712-*": "lines whose storage driver is known",
    "import/aws-helm-operator": "GPU2403, of what was imported",
    "import/gke-operator-helm": "GPU2403, of what was imported",
    "origin/license-whole-gpus": "the row of its line, with its place in the table",
    "report/*": "the lines of the cluster in the time line",
    "render/network-host-device-peermem": "GPU2703, of the line that it pins",
    "render/vsphere-mig-backed": "GPU2618, of the line that it pins",
}


def changed(text, words):
    for old, new in words.items():
        text = re.sub(rf"(?<![0-9]){re.escape(old)}(?![0-9])", new, text)
    return text


def with_line(text, words):
    """A table with one row more, before the newest, and its sources."""
    old = next(iter(words))
    row = re.search(rf'(?m)^    - \{{?line: "{re.escape(old)}".*\n(?:      .*\n)*', text)
    added = changed(row[0], words)
    for name in re.search(r'\bsource: "?([^,"\n]*)', row[0])[1].split("; "):
        source = re.search(rf"(?m)^    {re.escape(name)}: .*\n", text)
        renamed = changed(source[0], words)
        if renamed.split(":")[0] != source[0].split(":")[0]:
            text = text.replace(source[0], renamed + source[0])
    return text.replace(row[0], added + row[0])


def golden(copy):
    """The cases that fail with this knowledge, with what is said of each."""
    done = run([sys.executable, ROOT / "tests/golden/run.py", "--gpuctl", copy.gpuctl],
               timeout=GOLDEN_S)
    parts = re.split(r"(?m)^FAILED (\S+)\n", done.stdout.decode())
    if not re.search(r"\d+ passed, \d+ failed\s*$", parts[-1]):
        sys.exit("the golden cases did not run: " + done.stderr.decode())
    return dict(zip(parts[1::2], parts[2::2]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    findings = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(pathlib.Path(folder) / "copy", options.build)
        for name, files in (("GPU operator", GPU_OPERATOR), ("Network Operator", NETWORK_OPERATOR)):
            for path, words in files:
                copy.write(path, with_line(copy.read(path), words))
            print(f"a line of the {name}: {len(files)} files: {', '.join(path for path, _ in files)}")
            if len(files) > MOST_FILES:
                findings.append(f"a line of the {name} touches {len(files)} files")
            if said := copy.pack():
                sys.exit(f"the build refuses a line of the {name}:\n{said}")
        cases = golden(copy)
    about = {name for name in cases if any(fnmatch.fnmatchcase(name, pattern) for pattern in ABOUT)}
    for name, said in sorted(cases.items()):
        print(f"{'about the lines' if name in about else 'CHANGES'}: {name}")
        if options.show:
            print(said)
    findings += [f"{name} changes, and is not about the lines: pin its line" for name in sorted(set(cases) - about)]
    findings += [f"no case that changes is called {pattern}" for pattern in ABOUT
                 if not any(fnmatch.fnmatchcase(name, pattern) for name in cases)]
    print(*findings, sep="\n")
    print(f"{len(about) + 2} passed, {len(findings)} failed")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
