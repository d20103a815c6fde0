#!/usr/bin/env python3
"""Pages of `gpuctl report` in a browser: no scrolling to the side on a telephone, nothing fetched,
no letters cut off, every drawing with a name, and nothing that axe objects to; narrow and wide,
light and dark.

The browser is the distribution's Chromium; what drives it and axe come from the npm registry, in the
versions of package-lock.json, fetched once into a cache folder. `run.py --gpuctl PATH`
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]
from interop.tools import locked_packages  # noqa: E402
from support.program import ROOT, Tally, arguments, environment, run, samples, skip  # noqa: E402

LOOK_TIMEOUT_S = 600
# Names that only a browser can tell from markup, or that have no place to break.
HOSTILE = """\
apiVersion: gpuctl.dev/v1alpha1
kind: Blueprint
metadata:
  name: lab
  labels: {"<script>alert(1)</script>": "x"}
spec:
  platform: aws
  stage: "<img src=x onerror=alert(1)>"
  gpuPools:
    - {name: "%s", instanceType: "</title><svg onload=alert(1)>"}
""" % ("x" * 200)


def browser():
    """The program, or the end of the test."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    skip("report", "there is no Chromium here")
    return None


def pages(gpuctl, folder, env, tally):
    """A page for each sample, of a fleet, and of blueprints with errors."""
    wanted = {path.stem: ([path], 0) for path in samples()}
    wanted["fleet"] = ([ROOT / "blueprints/fleet/fleet.yaml"], 0)
    hostile = folder / "hostile.yaml"
    hostile.write_text(HOSTILE)
    wanted["errors"] = ([hostile], 1)
    made = []
    for name, (blueprints, code) in wanted.items():
        page = folder / f"{name}.html"
        done = run([gpuctl, "report", *blueprints, "--output-file", page], env=env)
        again = run([gpuctl, "report", *blueprints], env=env)
        tally.check(done.returncode == code and page.exists() and page.read_bytes() == again.stdout,
                    f"{name}: {done.returncode} {done.stderr.decode()[-2000:]}")
        if page.exists():
            made.append(page)
    return made


def faults(seen):
    """What is wrong with one look at a page."""
    out = []
    if seen["wide"] > seen["width"]:
        out.append(f"{seen['wide']} px wide")
    if seen["unnamed"]:
        out.append(f"{seen['unnamed']} of {seen['drawings']} drawings without a name")
    if seen["requests"] != 1:
        out.append(f"{seen['requests']} requests")
    return out + [f"cut off: {text}" for text in seen["cut"]] + seen["violations"]


def main():
    options = arguments(__doc__)
    chromium, installed = browser(), locked_packages(HERE, "report", "driving a browser")
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        made = pages(options.gpuctl, folder, environment(folder), tally)
        shutil.copy(HERE / "look.mjs", folder)
        (folder / "node_modules").symlink_to(installed / "node_modules")
        axe = installed / "node_modules/axe-core/axe.min.js"
        looked = subprocess.run(["node", "look.mjs", chromium, axe, *made], cwd=folder, check=False,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=LOOK_TIMEOUT_S)
        lines = [json.loads(line) for line in looked.stdout.splitlines()]
        tally.check(len(lines) == 4 * len(made), f"{len(lines)} looks at {len(made)} pages")
        for seen in lines:
            wrong = faults(seen)
            tally.check(not wrong, f"{seen['page']}, {seen['width']} px, {seen['scheme']}: {'; '.join(wrong)}")
    tally.close()


if __name__ == "__main__":
    main()
