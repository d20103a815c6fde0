#!/usr/bin/env python3
"""What goes to a terminal and what never does: colours and links by NO_COLOR, TERM and --color,
tables in 80 columns, forms for programs, notes that are counted, --quiet."""

import csv
import io
import json
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]
from support import program  # noqa: E402
from support.program import ROOT, Tally  # noqa: E402
from support.terminal import on_terminal  # noqa: E402

import yaml  # noqa: E402

COLOUR, LINK = "\x1b[1;31m", "\x1b]8;;"
WIDTH = 80
KNOWN = {"TERM": "xterm-256color", "VTE_VERSION": "7200"}


def check_colours(gpuctl, home, tally):
    wrong = home / "wrong.yaml"
    wrong.write_text("apiVersion: gpuctl.dev/v1alpha1\nkind: Blueprint\nmetadata: {name: a}\n"
                     "spec: {platform: nowhere}\n")
    command = [gpuctl, "validate", str(wrong)]
    docs = {"GPUCTL_DOCS": "https://docs.example.com/codes"}
    table = [
        ("a known terminal", {**KNOWN, **docs}, [], True, True),
        ("no pages", KNOWN, [], True, False),
        ("an unknown terminal", {"TERM": "xterm", **docs}, [], True, False),
        ("forced", {"TERM": "xterm", "FORCE_HYPERLINK": "1", **docs}, [], True, True),
        ("forbidden", {**KNOWN, "FORCE_HYPERLINK": "0", **docs}, [], True, False),
        ("in tmux", {**KNOWN, "TMUX": "/tmp/t,1,0", **docs}, [], True, False),
        ("NO_COLOR", {**KNOWN, **docs, "NO_COLOR": "1"}, [], False, False),
        ("an empty NO_COLOR", {**KNOWN, **docs, "NO_COLOR": ""}, [], True, True),
        ("TERM=dumb", {**KNOWN, **docs, "TERM": "dumb"}, [], False, False),
        ("no TERM", {"VTE_VERSION": "7200", **docs}, [], False, False),
        ("--color never", {**KNOWN, **docs}, ["--color", "never"], False, False),
        ("--color always and NO_COLOR", {**KNOWN, **docs, "NO_COLOR": "1"}, ["--color", "always"], True, False),
        ("an address with a blank", {**KNOWN, "GPUCTL_DOCS": "https://a b"}, [], True, False),
    ]
    for what, variables, options, colour, link in table:
        said, _, _ = on_terminal([*command, *options], program.environment(home, **variables))
        tally.check((COLOUR in said) == colour, f"{what}: colour {not colour}: {said[:200]!r}")
        tally.check((LINK in said) == link, f"{what}: link {not link}: {said[:200]!r}")
        if link:
            tally.check("https://docs.example.com/codes/GPU" in said and ".md\x1b\\GPU" in said,
                        f"{what}: {said[:200]!r}")
    # The pages that were installed with the program.
    place = home / "prefix"
    (place / "bin").mkdir(parents=True)
    (place / "share/doc/gpuctl/codes").mkdir(parents=True)
    for page in (ROOT / "docs/codes").glob("GPU04*.md"):
        (place / "share/doc/gpuctl/codes" / page.name).write_text("")
    (place / "bin/gpuctl").write_bytes(pathlib.Path(gpuctl).read_bytes())
    (place / "bin/gpuctl").chmod(0o755)
    said, _, _ = on_terminal([str(place / "bin/gpuctl"), *command[1:]], program.environment(home, **KNOWN))
    tally.check(f"{place}/share/doc/gpuctl/codes/GPU04" in said and "file://" in said, f"installed: {said[:200]!r}")
    for options in ([], ["--color", "always"]):
        done = program.run([*command, *options], env=program.environment(home, **KNOWN, **docs))
        tally.check(LINK.encode() not in done.stderr, f"a link in a pipe, {options}")
        tally.check((COLOUR.encode() in done.stderr) == bool(options), f"colour in a pipe, {options}")


TABLES = ["gpus", "machines", "mig", "vgpu", "releases", "platforms", "codes"]


def check_tables(gpuctl, home, tally):
    env = program.environment(home)
    commands = [["catalog", name] for name in TABLES]
    commands.append(["fleet", "list", str(ROOT / "blueprints/fleet/fleet.yaml")])
    for command in commands:
        words = " ".join(command[:2])
        narrow = program.run([gpuctl, *command], env=env).stdout.decode()
        wide = program.run([gpuctl, *command, "-o", "wide"], env=env).stdout.decode()
        too_wide = [line for line in narrow.splitlines() if len(line) > WIDTH]
        tally.check(narrow and not too_wide, f"{words}: {too_wide[:2]}")
        tally.check(len(wide.splitlines()[0].split()) >= len(narrow.splitlines()[0].split()),
                    f"{words} -o wide has fewer columns")
        rows = json.loads(program.run([gpuctl, *command, "-o", "json"], env=env).stdout)
        tally.check(yaml.safe_load(program.run([gpuctl, *command, "-o", "yaml"], env=env).stdout) == rows,
                    f"{words} -o yaml is not -o json")
        lines = list(csv.DictReader(io.StringIO(program.run([gpuctl, *command, "-o", "csv"], env=env).stdout.decode())))
        tally.check(len(lines) == len(rows) and all(None not in line and None not in line.values() for line in lines),
                    f"{words} -o csv: {len(lines)} of {len(rows)} rows")
        for line, row in zip(lines, rows):
            texts = {key: value for key, value in row.items() if isinstance(value, str)}
            if not tally.check(all(line[key] == value for key, value in texts.items()), f"{words} -o csv: {line}"):
                break
    # Cells stand below their titles, empty ones as well.
    table = program.run([gpuctl, "catalog", "gpus"], env=env).stdout.decode().splitlines()
    places = [table[0].index(word) for word in table[0].split()]
    for line in table[1:]:
        if not tally.check(all(line[at] != " " and (at == 0 or line[at - 1] == " ") for at in places), line):
            break
    few = program.run([gpuctl, "catalog", "gpus", "a100", "80"], env=env).stdout.decode().splitlines()
    tally.check(1 < len(few) < len(table) and all("A100" in line for line in few[1:]), f"filter: {few}")


def check_notes(gpuctl, home, tally):
    env = program.environment(home)
    text = (ROOT / "blueprints/gcp-a2-mig-single.yaml").read_text()
    name = next(line for line in text.splitlines() if "name:" in line).split("name:")[1].strip(" {}").split(",")[0]
    files = []
    for number in range(30):
        file = home / f"n{number}.yaml"
        file.write_text(text.replace(name, f"n{number}", 1))
        files.append(str(file))
    one = program.run([gpuctl, "validate", files[0]], env=env).stderr.decode()
    many = program.run([gpuctl, "validate", *files], env=env).stderr.decode()
    tally.check("note[" in one, f"the sample has no note: {one}")
    tally.check(many.count("note[") <= one.count("note[") + 2,
                f"{one.count('note[')} notes of one cluster, {many.count('note[')} of 30")
    tally.check("and 25 more" in many, many[-400:])
    quiet = program.run([gpuctl, "validate", "-q", *files], env=env)
    tally.check(not quiet.stderr and not quiet.stdout and quiet.returncode == 0,
                f"validate -q says {quiet.stderr[:200]!r} {quiet.stdout[:200]!r}")
    for command in ("plan", "diff"):
        asked_for = [program.run([gpuctl, command, *more, files[0], "--repo", home / "nowhere"], env=env).stdout
                     for more in ([], ["-q"])]
        tally.check(asked_for[0] and asked_for[0] == asked_for[1], f"{command} -q says {asked_for[1][:200]!r}")


# What writes a tree or a file under -o, or a text for another program.
WITHOUT_FORMS = {"init", "render", "import", "facts import", "report", "completion", "man", "mcp"}


def check_forms(gpuctl, home, tally):
    """`-o json` wherever `-o` is no place: one document, as with --format json, or the bare rows."""
    env = program.environment(home)

    def commands(*path):
        text = program.run([gpuctl, *path, "--help"], env=env).stdout.decode()
        if "\nCommands:\n" not in text:
            return [(" ".join(path), text)]
        names = re.findall(r"^  ([a-z]+)  ", text.split("\nCommands:\n")[1].split("\n\n")[0], re.M)
        return [one for name in names if name != "help" for one in commands(*path, name)]

    found = commands()
    tally.check(len(found) > 30, f"commands: {len(found)}")
    for name, text in found:
        option = re.search(r"^  -o, --output (\S+)((?:\n? +.*)*?)(?=\n  +-|\n\n)", text, re.M)
        forms = option is not None and "json" in option[0]
        tally.check(forms == (name not in WITHOUT_FORMS), f"{name}: {option and option[0]}")
    lab = home / "lab.yaml"
    lab.write_text((ROOT / "blueprints/aws-minimal.yaml").read_text())
    table = {
        ("validate", lab): "Validate", ("version",): "Version", ("explain", "GPU0442"): "Explain",
        ("diff", lab, "--repo", home / "none"): "Diff", ("schema", "facts"): "Schema", ("facts", "show", lab): "FactsShow",
        ("explain", "--origin", "Namespace/nvidia-gpu-operator", "metadata.name", lab): "Explain",
    }
    for words, kind in table.items():
        said = None
        for form in (["-o", "json"], ["--format", "json"]):
            done = program.run([gpuctl, *words, *form], env=env)
            lines = done.stdout.decode().splitlines()
            tally.check(len(lines) == 1 and json.loads(lines[0])["kind"] == kind, f"{words} {form}: {done}")
            document = re.sub(r'"(errors|warnings|notes)":\d+', "", lines[0] if lines else "")
            tally.check(form[0] == "-o" or document == said, f"{words}: -o json says {said}, --format json {document}")
            said = document
    # As it was spelled once: a directory.
    done = program.run([gpuctl, "explain", "--origin", "Namespace/nvidia-gpu-operator", "metadata.name", lab, "-o", home], env=env)
    tally.check(done.returncode == 0 and b"nvidia-gpu-operator" in done.stdout, f"explain --origin -o DIR: {done}")
    done = program.run([gpuctl, "explain", "gpuPools", "-o", "yaml"], env=env)
    tally.check(done.returncode == 64 and b"text or json" in done.stderr, f"explain -o yaml: {done}")


def main():
    gpuctl = str(program.arguments(__doc__).gpuctl)
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="manners-") as temporary:
        home = pathlib.Path(temporary)
        check_colours(gpuctl, home, tally)
        check_tables(gpuctl, home, tally)
        check_notes(gpuctl, home, tally)
        check_forms(gpuctl, home, tally)
    tally.close()


if __name__ == "__main__":
    main()
