"""Names and paths made to escape, to hide, or to be taken for something else, in every field that
becomes part of a path or of a command line."""

import json
import os
import re

from scene import (BLUEPRINT, CLUSTER, CONFIG_MAP, FACTS, blueprint, difference, remove, snapshot,
                   sound,
                   tree_of)

LONG = "x" * 255

# Names that lead out of a directory, into .git, or are read differently elsewhere.
ESCAPES = [
    "", ".", "..", "/", "//", "/etc/passwd", "//etc/passwd", "../x", "../../x", "../../../../x",
    "a/..", "a/../b", "a/../../b", "a/b/../../../c", "./a", "a/.", "a/./b", "a//b", "a/", "/a",
    "../.git/config", "..\\x", "a\\..\\b", "C:\\x", "\\\\host\\share", "a\\",
    ".git", ".GIT", ".Git", ".giT/config", "a/.git", "a/.git/hooks/post-commit", ".git/config",
    "git~1", "GIT~1", "Git~1/config", "a/git~1", ".git.", ".git..", ".git ", ".git. .", ".git /x",
    ".git::$INDEX_ALLOCATION", ".git:stream", ".GIT::$DATA/config", "git~1.", "git~1 ", "git~1:x",
    ".g\u200cit", ".git\u200b", "\u200b.git", ".gi\u200dt", ".g\u202eit", ".g\u2066it", ".g\ufeffit",
    ".git\u2064", ".git\u206f", ".\u200egit/config", "a\u200bb", "a\u202eb", "\ufeffa",
    "a.", "a ", "a..", "a. ", " ", "...", "....", "a./b", "a /b", "dir/a.", "dir/a ",
    "a\nb", "a\rb", "a\tb", "\n", "a\n../x", "\x1b[2J", "a\x7fb", "a\u0080b", "a\u0085b", "a\u009bb",
    "a\u2028b", "a\u2029b", "x" * 256, LONG + "/" + "x" * 256, "\u00e9" * 128, "x/" * 300 + "x",
    "y" * 5000, ("z" * 200 + "/") * 25 + "z", "../" * 50 + "etc/passwd", "a\u0000b", "\u0000",
]
# Names that are odd, and dangerous to programs that build command lines, but ordinary to us.
ODD = [
    "-rf", "--", "-", "--upload-pack=touch x", "-oProxyCommand=touch x", "--output=x", "$(touch x)",
    "`touch x`", ";touch x", "a;b", "|x", "&x", ">x", "*", "?", "[a]", "~", "~root", "%00", "%2e%2e",
    "..%2fx", "CON", "nul", "aux.yaml", "COM1", "lpt9", "prn.txt", "a:b", "file:stream", "'", '"',
    "#x", "a b", " a", "!x", "@x", "{{ x }}", "%s%n", ".gitignore", ".gitattributes", ".gitx", "git",
    "...a", "..a", "a..b", ".git-x", "\u00e9", "e\u0301", "\u65e5\u672c", "\U0001f642", LONG, "x" * 200,
    "no", "null", "1e3", "=", "<<", "---", "0x1", "1:30", "&a", "*a", "!!str", "? x", "- x", "x: y",
]
LABELS = ["A", "Lab", "-lab", "lab-", "l_b", "l.b", "l b", "x" * 64, "l\u00e1b", "0" * 64, "lab\n",
          "-", "l--", "lab/../x", "LAB", "\u0430\u0431", "l\u200bab", "lab\u0000"]


def is_label(text):
    """DNS-1123: what a name has to be before it becomes a part of a path."""
    return re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", text) is not None


def prefixed():
    """The escapes once more, further down a path; ends in what still escapes there."""
    for name in ESCAPES:
        if name and not name.startswith("/") and len(name) < 300:
            yield "sub/dir/" + name


def documents(name, path, **spec):
    """A template that writes one raw file at `path`."""
    return {"apiVersion": "gpuctl.dev/v1alpha1", "kind": "Template", "metadata": {"name": name},
            "spec": {"output": path, "raw": True, "template": {"a": "b"}, **spec}}


def demo(scene, paths):
    """A platform of the case's own whose templates write to the given paths."""
    names = [f"t{i}.yaml" for i in range(len(paths))]
    scene.write("providers/demo/provider.yaml", {
        "apiVersion": "gpuctl.dev/v1alpha1", "kind": "Provider", "metadata": {"name": "demo"},
        "spec": {"title": "Demo", "platform": True, "builds": ["core", "demo"],
                 "templates": [f"demo/{name}" for name in names]}})
    for name, path in zip(names, paths):
        scene.write(f"templates/demo/{name}", documents(name[:-5], path))
    scene.write("lab.yaml", {
        "apiVersion": "gpuctl.dev/v1alpha1", "kind": "Blueprint", "metadata": {"name": "lab"},
        "spec": {"platform": "demo", "gpuPools": [{"name": "gpu", "replicas": 1}]}})
    return ["--providers", "providers", "--templates", "templates"]


def findings(done):
    """The errors of a run with --format json."""
    rows = [json.loads(line) for line in done.stderr.decode().split("\n") if line.startswith("{")]
    return [row for row in rows if row["severity"] == "error"]


def places(rows):
    """File and lines that findings point to."""
    return {(span["file"], line) for row in rows for span in row["spans"] if "file" in span
            for line in range(span["line"], span["endLine"] + 1)}


def check_output_paths(scene, paths):
    """Every output path of a template that leaves its root has a finding of its own."""
    words = demo(scene, paths)
    done = scene.run("--format", "json", *words, "render", "lab.yaml", "-o", "out")
    scene.sane(done, "output paths")
    scene.check(done.code == 1 and not (scene.work / "out").exists(), "something was written")
    told = {name for name, _ in places(findings(done))}
    for i, path in enumerate(paths):
        scene.check(any(name.endswith(f"/t{i}.yaml") for name in told),
                    f"output path {path[:60]!r} was taken")


def check_one_output_path(scene, path):
    """The same one by one, where a second mistake cannot help, and with everything watched."""
    words = demo(scene, [path])
    scene.refused(f"output path {path[:60]!r}", *words, "render", "lab.yaml", "-o", "out",
                  place="templates/demo/t0.yaml")


def check_odd_output_paths(scene):
    """Odd names that are none of our business arrive, literally, and nothing is run."""
    words = demo(scene, ODD)
    before = snapshot(scene.folder, ignored=("work/out", "repo"), times=False)
    scene.accepted("render", *words, "render", "lab.yaml", "-o", "out")
    cluster = scene.work / "out" / CLUSTER
    want = {*ODD, "gpuctl.lock"}
    found = {name for name in os.listdir(cluster) if name != "cluster.yaml"}
    scene.check(found - {"layers"} == want, f"files: {sorted(found ^ want)[:5]}")
    repo = scene.folder / "repo"
    scene.accepted("apply", *words, "apply", "lab.yaml", "--repo", repo)
    held = {path[len(CLUSTER) + 1:] for path in tree_of(scene)}
    scene.check(want <= held, f"in the commit: {sorted(want - held)[:5]}")
    sound(scene, "after odd names")
    scene.check(not difference(before, snapshot(scene.folder, ignored=("work/out", "repo"),
                                                times=False)), "something appeared elsewhere")


def check_extra_paths(scene, paths):
    """All hostile paths of extraManifests in one blueprint: a finding and a place each."""
    made = blueprint(extraManifests=[{"layer": "50-platform", "path": path} for path in paths])
    scene.write("lab.yaml", made)
    lines = (scene.work / "lab.yaml").read_text().splitlines()
    rows = [i + 1 for i, line in enumerate(lines) if line.lstrip().startswith('"path"')]
    before = snapshot(scene.folder)
    done = scene.run("--format", "json", "render", "lab.yaml", "-o", "out")
    scene.sane(done, "extraManifests")
    scene.check(done.code == 1, f"exit code {done.code}")
    told = {line for _, line in places(findings(done))}
    for path, line in zip(paths, rows):
        scene.check(line in told, f"extra manifest {path[:60]!r}: no finding in line {line}")
    changes = difference(before, snapshot(scene.folder))
    scene.check(not changes, f"extraManifests: {changes}")


def check_odd_extra_paths(scene):
    """Odd names of extra manifests are read literally."""
    wanted = [name for name in ODD if len(name) < 250]
    for i, name in enumerate(wanted):
        body = {**CONFIG_MAP, "metadata": {"name": f"extra{i}", "namespace": "default"}}
        scene.write(name, body)
    scene.good(extraManifests=[{"layer": "50-platform", "path": name} for name in wanted])
    scene.accepted("odd extra manifests", "render", "lab.yaml", "-o", "out")
    held = os.listdir(scene.work / "out" / CLUSTER / "layers/50-platform")
    scene.check(len(held) == len(wanted) + 1, f"{len(held)} files of {len(wanted)} manifests")


def check_label(scene, field, name):
    """A field that becomes a part of a path takes nothing but a DNS label."""
    made = blueprint()
    made[field.split(".")[0]][field.split(".")[1]] = name
    scene.write("lab.yaml", made)
    scene.write("lab.facts.yaml", FACTS)
    scene.refused(f"{field} = {name[:60]!r}", "render", "lab.yaml", "-o", "out", place="lab.yaml")


def check_listed(scene, field, names):
    """Names that stand in lists: pools, layers, targets of overrides; one run, a finding each."""
    if field == "pool":
        made = blueprint(gpuPools=[{**BLUEPRINT["spec"]["gpuPools"][0], "name": name}
                                   for name in names])
        key = '"name"'
    elif field == "layer":
        scene.write("extra.yaml", CONFIG_MAP)
        made = blueprint(extraManifests=[{"layer": name, "path": "extra.yaml"} for name in names])
        key = '"layer"'
    else:
        made = blueprint(overrides=[{"target": {field: name}, "patch": {"metadata": {"x": "y"}}}
                                    for name in names])
        key = f'"{field}"'
    scene.write("lab.yaml", made)
    scene.write("lab.facts.yaml", FACTS)
    lines = (scene.work / "lab.yaml").read_text().splitlines()
    rows = [i + 1 for i, line in enumerate(lines) if line.lstrip().startswith(key + ":")]
    rows = rows[-len(names):]
    before = snapshot(scene.folder)
    done = scene.run("--format", "json", "render", "lab.yaml", "-o", "out")
    scene.sane(done, field)
    scene.check(done.code == 1, f"{field}: exit code {done.code}")
    # A finding may stand at the field or at the entry that holds it.
    told = {line for _, line in places(findings(done))}
    for name, line in zip(names, rows):
        scene.check(told & {line, line - 1, line - 2}, f"{field} {name[:60]!r} was taken")
    scene.check(not difference(before, snapshot(scene.folder)), f"{field}: something changed")


def check_object_names(scene):
    """Names of objects become file names: whatever they are, the files stay in the layer."""
    names = [name for name in (*ESCAPES, *ODD) if name and "\0" not in name]
    for name in names[::5]:
        scene.write("extra.yaml", {**CONFIG_MAP, "metadata": {"name": name, "namespace": "default"}})
        scene.good(extraManifests=[{"layer": "50-platform", "path": "extra.yaml"}])
        before = snapshot(scene.folder, ignored=("work/out",), times=False)
        done = scene.run("render", "lab.yaml", "-o", "out")
        what = f"object name {name[:60]!r}"
        scene.sane(done, what)
        after = snapshot(scene.folder, ignored=("work/out",), times=False)
        scene.check(not difference(before, after), f"{what}: {difference(before, after)}")
        if done.code == 0:
            layer = scene.work / "out" / CLUSTER / "layers/50-platform"
            held = sorted(path.name for path in layer.iterdir())
            scene.check(len(held) == 2 and all(re.fullmatch(r"[a-z0-9.-]+\.yaml", file)
                                               for file in held), f"{what}: {held}")
        else:
            scene.complained(done, what)
        remove(scene.work / "out")


def check_target(scene, option, name):
    """The directory that the user names is the root, whatever its name; nothing else changes."""
    scene.good()
    command = "render" if option == "--output" else "apply"
    root = (scene.work / name) if name and "\0" not in name else None
    if "\0" in name:
        return scene.skip("a NUL cannot be passed on a command line")
    what = f"{option}={name[:60]!r}"
    before = snapshot(scene.folder, times=False)
    done = scene.run(command, "lab.yaml", f"{option}={name}")
    scene.sane(done, what)
    after = snapshot(scene.folder, times=False)
    new = [path for path in after if path not in before]
    changed = [path for path in before if after.get(path) != before[path]]
    scene.check(not changed, f"{what}: changed {changed[:3]}")
    if done.code != 0:
        scene.complained(done, what, exit_code=done.code)
        scene.check(not new, f"{what}: refused, but made {new[:3]}")
        return None
    inside = os.path.realpath(root)
    # `a/../b` makes `a` too, as `mkdir -p` does.
    named = {os.path.normpath(os.path.join("work", *name.split("/")[:i + 1]))
             for i in range(name.count("/") + 1)}
    for path in new:
        if path in named:
            continue
        real = os.path.realpath(scene.folder / path)
        above = inside == real or inside.startswith(real + "/")
        scene.check(above or real.startswith(inside + "/"), f"{what}: made {path}")
    return scene.check(os.path.isdir(os.path.join(inside, CLUSTER)), f"{what}: nothing there")


def check_branch(scene, name):
    """Branch names are checked before anything is made."""
    scene.good()
    valid = re.fullmatch(r"[^\s~^:?*\[\\\x00-\x1f\x7f-\x9f\u200b-\u206f\ufeff-]"
                         r"[^\s~^:?*\[\\\x00-\x1f\x7f-\x9f\u200b-\u206f\ufeff]*", name)
    repo = scene.folder / "repo"
    before = snapshot(scene.folder, times=False)
    done = scene.run("apply", "lab.yaml", "--repo", repo, f"--branch={name}")
    what = f"--branch={name[:60]!r}"
    scene.sane(done, what)
    if done.code == 0:
        scene.check(valid, f"{what} was taken")
        scene.check(scene.git("rev-parse", "--verify", f"refs/heads/{name}") != "", what)
        sound(scene, what)
    else:
        scene.complained(done, what)
        scene.check(not difference(before, snapshot(scene.folder, times=False)), f"{what}: changed")


def cases(full):
    every = [*ESCAPES, *prefixed()]
    # A NUL makes the whole file unreadable: those names have runs of their own.
    together = [path for path in every if path and "\0" not in path]
    yield "output paths", check_output_paths, (together,)
    yield "odd output paths", check_odd_output_paths, ()
    yield "extra manifest paths", check_extra_paths, (together,)
    yield "odd extra manifest paths", check_odd_extra_paths, ()
    for i, path in enumerate(every):
        if path and (full or i % 6 == 0 or "\0" in path):
            yield f"output path {i}", check_one_output_path, (path,)
    labels = [name for name in (*ESCAPES, *ODD, *LABELS) if not is_label(name)]
    for field in ("metadata.name", "spec.stage"):
        for i, name in enumerate(labels):
            if full or i % 5 == (field == "spec.stage"):
                yield f"{field} {i}", check_label, (field, name)
    labels = [name for name in labels if "\0" not in name]
    yield "pools", check_listed, ("pool", labels)
    yield "layers", check_listed, ("layer", labels)
    for field in ("name", "pool"):
        # Patterns that match nothing; `*` is no regular expression, `?` and `.*` are others.
        yield f"override {field}", check_listed, (
            field, [name for name in labels if name and not re.search(r"[.*?]", name)
                    and not re.fullmatch(r"[A-Za-z]*", name)])
    yield "object names", check_object_names, ()
    targets = [*ESCAPES, *ODD]
    for option in ("--output", "--repo"):
        for i, name in enumerate(targets):
            if (full or i % 4 == (option == "--repo")) and not name.startswith("/"):
                yield f"{option} {i}", check_target, (option, name)
    for i, name in enumerate([*ESCAPES, *ODD]):
        if "\0" not in name and (full or i % 4 == 2):
            yield f"branch {i}", check_branch, (name,)
