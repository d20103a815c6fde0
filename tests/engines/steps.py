"""Commands out of install/steps.md, as they stand there."""

import re
import subprocess

FENCE = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
LIMIT = re.compile(r"--timeout=\d+m ")
TIMEOUT_S = 100  # less than any limit in a page


def blocks_of(page):
    """[(heading, commands)] of the page's blocks, in order."""
    found, heading = [], ""
    for part in re.split(r"^(?=#{2,} )", page, flags=re.M):
        heading = part.splitlines()[0].lstrip("# ") if part.startswith("##") else ""
        found += [(heading, match[1]) for match in FENCE.finditer(part)]
    return found


def steps_of(page):
    """The blocks of the numbered steps: what brings a cluster to GitOps."""
    return [(heading, text) for heading, text in blocks_of(page) if re.match(r"\d\. ", heading)]


def with_limit(text, about, limit):
    """The commands, with another limit in the line that holds `about` when its own is left out: no test waits
    for ten minutes. None: no line does."""
    lines = text.splitlines(keepends=True)
    at = [i for i, line in enumerate(lines) if LIMIT.search(line) and about in LIMIT.sub("", line)]
    if len(at) > 1:
        raise ValueError(f"{len(at)} lines wait for {about}")
    for i in at:
        lines[i] = LIMIT.sub(f"--timeout={limit} ", lines[i])
    return "".join(lines) if at else None


def run_block(text, folder, env):
    """Runs the commands of a block in one shell, which ends at the first that fails: (exit code, output)."""
    done = subprocess.run(["sh", "-e"], input=text, cwd=folder, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False, text=True)
    return done.returncode, done.stdout
