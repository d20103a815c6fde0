#!/usr/bin/env python3
"""No secret leaves its place.

Plants a marker behind every secret reference of every sample, runs gpuctl in all ways a user
would, also ones that fail, and looks for the marker in all that came out: stdout, stderr, files,
logs, every object of the Git repository. The one place it may be in is the install-config in the
private directory, which has to be 0700 with a 0600 file, whatever the umask.
"""

import base64
import json
import os
import pathlib
import re
import shutil
import stat
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.program import Tally, arguments, environment, read_tree, run, samples  # noqa: E402

# key: {env: NAME} and key:\n  env: NAME, the same with file
REFERENCE = re.compile(r"(?P<key>\w+):\s*(?:\{\s*|\n\s+)(?P<way>env|file):\s*"
                       r"(?P<quote>[\"']?)(?P<where>[^\s\"',}]+)(?P=quote)")
INJECTED = "install-config.yaml"
SECRET_FIELDS = ("pullSecret", "sshKey", "password")
# Such a field whose secret nobody here reads: it is in the cluster, or in a store.
ELSEWHERE = re.compile(rf"(?:{'|'.join(SECRET_FIELDS)}): \{{(?:existing|externalSecret):")


class Planted:
    """One secret: its marker, its text, and all forms in which the marker could show."""

    def __init__(self, number, key):
        self.marker = f"M4rk{number:02d}x{key}x7Qz9"
        # A public key is no secret, though it stays out of Git as well; it may stand in a message.
        self.public = "ssh" in key.lower()
        if self.public:
            blob = base64.b64encode(b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + bytes(range(number, number + 32)))
            self.text = f"ssh-ed25519 {blob.decode()} {self.marker}"
            self.forms = [self.marker, blob.decode()]
        else:
            login = base64.b64encode(f"user:{self.marker}".encode()).decode()
            self.text = json.dumps({"auths": {"registry.example.com": {
                "auth": login, "email": f"{self.marker}@example.com"}}})
            self.forms = [self.marker, login]
        self.forms.append(base64.b64encode(self.text.encode()).decode())

    def shows_in(self, content):
        return any(form.encode() in content for form in self.forms)


class Scene:
    """A sample copied to a folder of its own, with secrets planted behind its references."""

    def __init__(self, folder, sample, way):
        """`way`: env | file, how all references are to be rewritten."""
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        self.inputs = folder / "inputs"
        self.inputs.mkdir()
        self.planted, variables = [], {}

        def rewrite(match):
            planted = Planted(len(self.planted) + 1, match["key"])
            self.planted.append(planted)
            name = f"GPUCTL_TEST_{len(self.planted)}"
            if way == "env":
                variables[name] = planted.text
            else:
                (self.inputs / name).write_text(planted.text + "\n")
                (self.inputs / name).chmod(0o600)
            start = match.start("way") - match.start()
            return match[0][:start] + f"{way}: {name}"

        self.text = REFERENCE.sub(rewrite, sample.read_text())
        self.blueprint = self.inputs / sample.name
        self.blueprint.write_text(self.text)
        facts = sample.with_name(sample.stem + ".facts.yaml")
        if facts.exists():
            shutil.copy(facts, self.inputs)
        self.env = environment(self.home, **variables)
        self.out = folder / "out"
        self.private = folder / "private"
        self.repo = folder / "repo"


def look(tally, scene, what, content):
    for planted in scene.planted:
        tally.check(not planted.shows_in(content), f"{what}: the secret {planted.marker} is there")


def check_run(tally, scene, what, command, want, umask=0o022):
    """Runs and looks through what was printed."""
    before = os.umask(umask)
    try:
        done = run(command, env=scene.env, cwd=scene.inputs)
    finally:
        os.umask(before)
    tally.check(done.returncode == want,
                f"{what}: exit code {done.returncode}, not {want}: {done.stderr.decode()}")
    look(tally, scene, f"{what}, stdout", done.stdout)
    look(tally, scene, f"{what}, stderr", done.stderr)


def without_secrets(text):
    """An install-config's text without its secret fields, whatever form their scalars have."""
    kept, below = [], None
    for line in text.splitlines(keepends=True):
        indentation = len(line) - len(line.lstrip(" "))
        if below is not None and (line == "\n" or indentation > below):
            continue
        below = indentation if re.match(rf" *({'|'.join(SECRET_FIELDS)}):", line) else None
        if below is None:
            kept.append(line)
    return "".join(kept)


def check_private(tally, scene, what):
    """The injected file holds every secret, and nothing else in the directory tree does.

    Without its secret fields it is the committed file, byte for byte."""
    found = sorted(scene.private.rglob("*"))
    if not scene.planted:
        tally.check(not found, f"{what}: {len(found)} private files though nothing is secret")
        return
    injected = [path for path in found if path.name == INJECTED]
    if not tally.check(len(injected) == 1, f"{what}: {len(injected)} injected files"):
        return
    for planted in scene.planted:
        tally.check(planted.shows_in(injected[0].read_bytes()),
                    f"{what}: {planted.marker} is missing in the injected file")
    committed = [path for path in scene.out.rglob(INJECTED)]
    if tally.check(len(committed) == 1, f"{what}: {len(committed)} committed install-configs"):
        plain = committed[0].read_text()
        tally.check(without_secrets(injected[0].read_text()) == plain != injected[0].read_text(),
                    f"{what}: the injected file differs from the committed one in more than secrets")
    for path in [scene.private, *found]:
        mode = stat.S_IMODE(path.stat().st_mode)
        tally.check(mode == (0o700 if path.is_dir() else 0o600), f"{what}: {path.name} is {mode:o}")
        if path.is_file() and path != injected[0]:
            look(tally, scene, f"{what}: {path.name}", path.read_bytes())


def check_good(tally, gpuctl, scene, what):
    """Everything a user would run, with planted secrets in place."""
    verbose = ["-v"] if b"-v" in run([gpuctl, "--help"]).stdout else []
    base = [gpuctl, *verbose]
    name = scene.blueprint.name
    check_run(tally, scene, f"{what} validate", [*base, "validate", name], 0)
    check_run(tally, scene, f"{what} json", [gpuctl, "--format", "json", "validate", name], 0)
    check_run(tally, scene, f"{what} stdout", [*base, "render", name, "--stdout"], 0)
    check_run(tally, scene, f"{what} render",
              [*base, "render", name, "-o", scene.out, "--install-dir", scene.private], 0, 0o000)
    check_private(tally, scene, f"{what} render")
    check_run(tally, scene, f"{what} again",
              [*base, "render", name, "-o", scene.out, "--install-dir", scene.private], 0, 0o077)
    check_private(tally, scene, f"{what} again")
    check_run(tally, scene, f"{what} apply", [*base, "apply", name, "--repo", scene.repo], 0)
    rendered = read_tree(scene.out)
    tally.check(bool(rendered), f"{what}: nothing was rendered")
    for path, content in rendered.items():
        look(tally, scene, f"{what}: {path}", content)
    objects = run(["git", "-C", scene.repo, "cat-file", "--batch-all-objects", "--batch"],
                  env=scene.env)
    tally.check(len(objects.stdout) > 1000, f"{what}: the repository is empty")
    look(tally, scene, f"{what}: Git objects", objects.stdout)
    for place in (scene.repo, scene.home):
        for path, content in read_tree(place).items():
            look(tally, scene, f"{what}: {place.name}/{path}", content)


def check_bad(tally, gpuctl, scene, what):
    """Findings at or near a secret do not show it: malformed ones, then ones that are gone."""
    command = [gpuctl, "render", scene.blueprint.name, "-o", scene.out, "--install-dir",
               scene.private]
    files = list(scene.inputs.glob("GPUCTL_TEST_*"))
    for planted in scene.planted:
        broken = planted.text[:-1] + " trailing\n\tand more: ["
        for variable, value in scene.env.items():
            if value == planted.text:
                scene.env[variable] = broken
        for path in files:
            if path.read_text().strip() == planted.text:
                path.write_text(broken)
    done = run(command, env=scene.env, cwd=scene.inputs)
    look(tally, scene, f"{what} malformed, stdout", done.stdout)
    look(tally, scene, f"{what} malformed, stderr", done.stderr)
    tally.check(done.returncode in (0, 1), f"{what} malformed: exit code {done.returncode}")
    for variable in [name for name in scene.env if name.startswith("GPUCTL_TEST_")]:
        del scene.env[variable]
    for path in files:
        path.unlink()
    check_run(tally, scene, f"{what} gone", command, 1)


def check_clear_text(tally, gpuctl, scene, what):
    """A secret written into the blueprint itself is refused and not repeated."""
    for planted, match in zip(scene.planted, list(REFERENCE.finditer(scene.text))):
        if planted.public:
            continue
        value = json.dumps(planted.text)
        for shape in (match["key"] + ": " + value, match["key"] + ": {value: " + value + "}"):
            rest = scene.text[match.end():]
            if "{" in match[0]:
                rest = rest.partition("}")[2]
            scene.blueprint.write_text(scene.text[:match.start()] + shape + rest)
            check_run(tally, scene, f"{what} clear text",
                      [gpuctl, "validate", scene.blueprint.name], 1)
            check_run(tally, scene, f"{what} clear text json",
                      [gpuctl, "--format", "json", "validate", scene.blueprint.name], 1)
            check_run(tally, scene, f"{what} clear text apply",
                      [gpuctl, "apply", scene.blueprint.name, "--repo", scene.repo], 1)


def main():
    gpuctl = arguments(__doc__).gpuctl
    tally = Tally()
    with_secrets = 0
    with tempfile.TemporaryDirectory(prefix="secrets-") as temporary:
        for sample in samples():
            for way in ("env", "file"):
                what = f"{sample.stem} ({way})"
                folder = pathlib.Path(temporary) / f"{sample.stem}-{way}"
                scene = Scene(folder, sample, way)
                # What has no installer may have no secrets; then no word of one may be in the text.
                read_here = ELSEWHERE.sub("", scene.text)
                tally.check(bool(scene.planted) or not any(field in read_here for field in SECRET_FIELDS),
                            f"{what}: no secret reference found")
                with_secrets += bool(scene.planted)
                check_good(tally, gpuctl, scene, what)
                if scene.planted:
                    check_bad(tally, gpuctl, scene, what)
            scene = Scene(pathlib.Path(temporary) / f"{sample.stem}-clear", sample, "env")
            check_clear_text(tally, gpuctl, scene, sample.stem)
    tally.check(with_secrets > 0, "no sample has secrets")
    tally.close()


if __name__ == "__main__":
    main()
