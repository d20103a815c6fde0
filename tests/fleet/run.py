#!/usr/bin/env python3
"""Many clusters in one run, and clusters that need no run.

A second `apply` passes over a cluster whose inputs and files are as the last run left them. Each
class of input is changed here in turn, and must be seen. What many clusters leave in a repository
must be what each of them leaves alone, however the objects got there; and what the build compiled
must say and give the same as the text it was compiled from.
"""

import json
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.program import ROOT, Tally, arguments, environment, read_tree, run, samples  # noqa: E402

CLUSTERS = 20  # more than the number from which objects are written as they come
RAN = re.compile(rb"^gpuctl: (.+): derive$", re.M)


def git(repository, *words, env):
    done = run(["git", "-C", repository, *words], env=env)
    return done.stdout.decode().strip() if done.returncode == 0 else None


def write_sample(folder, name):
    """A cluster called `name`, with facts, an extra manifest and an override. Gives its path."""
    source = next(path for path in samples() if path.stem == "aws-p4d-mig-mixed")
    text = source.read_text().replace("ml-prod", name)
    text += "  extraManifests:\n    - {layer: 40-gpu, path: extra.yaml}\n"
    (folder / "extra.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra, namespace: default}\n")
    (folder / f"{name}.yaml").write_text(text)
    facts = source.with_suffix(".facts.yaml").read_text().replace("ml-prod", name)
    (folder / f"{name}.facts.yaml").write_text(facts)
    return folder / f"{name}.yaml"


class Scene:
    """A repository and two blueprints in it, fresh for each class of input."""

    def __init__(self, gpuctl, folder):
        self.gpuctl, self.folder = gpuctl, folder
        self.env = environment(folder)
        self.repository = folder / "fleet.git"
        self.blueprints = [write_sample(folder, name) for name in ("alpha", "beta")]
        run(["git", "init", "-q", "--bare", "-b", "main", self.repository], env=self.env)

    def apply(self, *words, before=()):
        return run([self.gpuctl, *before, "-v", "apply", *self.blueprints, "--repo",
                    self.repository, *words], env=self.env)

    def ran(self, done):
        return {pathlib.Path(name.decode()).stem for name in RAN.findall(done.stderr)}

    def edit(self, text, change):
        """Commits a change of a file of alpha, made by somebody else."""
        work = self.folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        run(["git", "clone", "-q", self.repository, work], env=self.env)
        change(work / "clusters/prod/alpha")
        git(work, "add", "-A", env=self.env)
        git(work, "commit", "-qm", text, env=self.env)
        git(work, "push", "-q", env=self.env)


def append(path, text):
    path.write_text(path.read_text() + text)


def classes():
    """(what is changed, how, options of the program, options of apply, who must run again)."""
    one, both = {"alpha"}, {"alpha", "beta"}
    layer = "layers/00-namespaces"

    def first_of(folder):
        return next(path for path in sorted(folder.glob("*.yaml"))
                    if path.name != "kustomization.yaml")

    def overlay(kind, name):
        def make(scene):
            target = scene.folder / kind / name
            target.parent.mkdir(parents=True)
            target.write_text((ROOT / kind / name).read_text() + "# changed\n")
        return make

    def edited(text, change):
        return lambda scene: scene.edit(text, change)

    yield "a byte of the blueprint", lambda s: append(s.blueprints[0], "# x\n"), [], [], one
    yield "an override", lambda s: append(
        s.blueprints[0], "  overrides:\n    - target: {kind: ConfigMap, name: extra}\n"
                         "      patch: {data: {x: changed}}\n"), [], [], one
    yield "the facts beside", lambda s: append(
        s.folder / "alpha.facts.yaml", "# x\n"), [], [], one
    yield "facts that are gone", lambda s: (s.folder / "alpha.facts.yaml").unlink(), [], [], one
    yield "an extra manifest", lambda s: append(s.folder / "extra.yaml", "data: {a: b}\n"), [], [], both
    yield "an extra manifest that is gone", lambda s: (s.folder / "extra.yaml").unlink(), [], [], both
    yield "a template", overlay("templates", "openshift/namespace.yaml"), ["--templates"], [], both
    yield "a schema with its defaults", overlay("providers", "aws/schema.yaml"), ["--providers"], [], both
    yield "the lock", edited("lock", lambda f: append(f / "gpuctl.lock", "# x\n")), [], [], one
    yield "a managed file", edited("edit", lambda f: append(
        first_of(f / layer), "# x\n")), [], [], one
    yield "a managed file that is gone", edited(
        "delete", lambda f: first_of(f / layer).unlink()), [], [], one
    yield "a file of somebody else", edited("add", lambda f: (f / "new.txt").write_text("x")), [], [], one
    yield "the program", None, [], [], both
    yield "--facts", lambda s: shutil.copy(
        s.folder / "alpha.facts.yaml", s.folder / "given.yaml"), [], ["--facts"], one
    yield "--full", lambda s: None, [], ["--full"], both
    yield "the form of messages", lambda s: None, ["--format", "json"], [], both


def without_notes(lines):
    """The lines without notes, which are said once; what is withheld is said as long as it is."""
    text = b"\n".join(lines) + b"\n"
    blocks = text.split(b"\n\n")
    return b"\n\n".join(block for block in blocks if not re.match(rb"note\[GPU(?!0604)", block)).splitlines()


def check_unchanged(gpuctl, scratch, tally):
    for number, (what, change, before, words, expected) in enumerate(classes()):
        folder = scratch / f"class-{number}"
        folder.mkdir()
        scene = Scene(gpuctl, folder)
        first = scene.apply()
        tally.check(first.returncode == 0 and scene.ran(first) == {"alpha", "beta"},
                    f"{what}: the first run: {first.stderr.decode()[-500:]}")
        again = scene.apply()
        tally.check(again.returncode == 0 and not scene.ran(again), f"{what}: the second run is made")
        plain = [line for line in first.stderr.splitlines() if not line.startswith(b"gpuctl: ")]
        tally.check(again.stderr.splitlines() == without_notes(plain),
                    f"{what}: the second run says the same, but for notes")
        if change is None:  # another program, by its time alone
            scene.gpuctl = folder / "gpuctl"
            shutil.copy(gpuctl, scene.gpuctl)
        else:
            change(scene)
        if before in (["--templates"], ["--providers"]):
            before = [before[0], folder / before[0][2:]]
        if words == ["--facts"]:
            words = ["--facts", folder / "given.yaml"]
        seen = scene.apply(*words, before=before)
        tally.check(scene.ran(seen) == expected,
                    f"{what}: ran {scene.ran(seen)}, not {expected}: {seen.stderr.decode()[-500:]}")


def check_many(gpuctl, scratch, tally):
    """A bare repository gets one pack as clusters come, one with a work tree its contents at the
    end; both must hold the same trees."""
    folder = scratch / "many"
    folder.mkdir()
    env = environment(folder)
    blueprints = [write_sample(folder, f"c-{i:02}") for i in range(CLUSTERS)]
    trees = {}
    for name, bare, jobs in (("bare.git", True, 1), ("two.git", True, 8), ("work", False, 2)):
        repository = folder / name
        run(["git", "init", "-q", "-b", "main", *(["--bare"] if bare else []), repository], env=env)
        done = run([gpuctl, "apply", *blueprints, "-j", jobs, "--repo", repository], env=env)
        tally.check(done.returncode == 0, f"{name}: {done.stderr.decode()[-500:]}")
        trees[name] = git(repository, "rev-parse", "main^{tree}", env=env)
        tally.check(git(repository, "fsck", "--strict", env=env) is not None, f"{name}: git fsck")
        if bare:
            left = [path.name for path in (repository / "objects/pack").iterdir()
                    if path.name.startswith("tmp_")]
            tally.check(not left, f"{name}: left behind {left}")
    run([gpuctl, "render", *blueprints, "-o", folder / "out"], env=env)
    tally.check(len(set(trees.values())) == 1 and None not in trees.values(), f"trees differ: {trees}")
    run(["git", "clone", "-q", folder / "bare.git", folder / "clone"], env=env)
    (folder / "clone/clusters/.gitattributes").unlink()  # of repositories only
    tally.check(read_tree(folder / "out/clusters") == read_tree(folder / "clone/clusters"),
                "render and apply give different files")
    # One faulty blueprint, last: nothing is written, nothing stays behind.
    faulty = write_sample(folder, "zz")
    append(faulty, "  nonsense: 1\n")
    before = read_tree(folder / "bare.git/objects/pack")
    for blueprint in blueprints:
        append(blueprint, "# changed\n")
    done = run([gpuctl, "apply", *blueprints, faulty, "--repo", folder / "bare.git"], env=env)
    tally.check(done.returncode == 1 and read_tree(folder / "bare.git/objects/pack") == before,
                "a faulty blueprint leaves objects behind")
    done = run([gpuctl, "render", *blueprints, faulty, "-o", folder / "none"], env=env)
    tally.check(done.returncode == 1 and not (folder / "none").exists(),
                "a faulty blueprint leaves files behind")
    second = folder / "second.yaml"
    shutil.copy(blueprints[0], second)
    for jobs in (1, 8):
        done = run([gpuctl, "--format", "json", "apply", *blueprints, second, "-j", jobs, "--repo",
                    folder / "bare.git"], env=env)
        found = [json.loads(line) for line in done.stderr.splitlines()]
        codes = [one for one in found if one["code"] == "GPU0005"]
        tally.check(done.returncode == 1 and len(codes) == 1 and "second.yaml" in json.dumps(codes),
                    f"a second blueprint for a cluster with {jobs} threads: {codes}")


def check_compiled(gpuctl, scratch, tally):
    """Any overlay makes gpuctl compile from the text, here one that changes nothing."""
    folder = scratch / "text"
    (folder / "templates").mkdir(parents=True)
    shutil.copytree(ROOT / "templates/openshift", folder / "templates/openshift")
    env = environment(folder)
    for sample in samples():
        for words in (["validate", "-v", sample], ["render", sample, "--stdout"],
                      ["explain", "--origin", "layers", sample]):
            plain = run([gpuctl, "--format", "json", *words], env=env)
            text = run([gpuctl, "--format", "json", "--templates", folder / "templates", *words],
                       env=env)
            # The digest of the knowledge, and notes that files of it were replaced (GPU0405).
            cut = re.compile(rb'catalog: [\\"0-9a-f]+|"notes":\d+')
            tally.check(cut.sub(b"", plain.stdout) == cut.sub(b"", text.stdout),
                        f"{sample.stem}: {words[0]} differs when compiled from the text")
            said = [line for line in text.stderr.splitlines() if b"GPU0405" not in line]
            tally.check(plain.stderr.splitlines() == said,
                        f"{sample.stem}: {words[0]} says something else: {said}")


def main():
    gpuctl = arguments(__doc__).gpuctl
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="fleet-") as temporary:
        scratch = pathlib.Path(temporary)
        check_unchanged(gpuctl, scratch, tally)
        check_many(gpuctl, scratch, tally)
        check_compiled(gpuctl, scratch, tally)
    tally.close()


if __name__ == "__main__":
    main()
