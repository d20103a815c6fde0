"""Files that are none, unreadable, huge, in another encoding or no YAML, in every place where gpuctl
reads one; and directories in the same state."""

import os
import shutil
import socket

from scene import BLUEPRINT, CONFIG_MAP, FACTS, as_yaml, blueprint

SOUND = as_yaml(CONFIG_MAP)


# What can stand where a file is expected. Each takes the scene, the path and good content.

def missing(scene, path, good):
    pass


def directory(scene, path, good):
    path.mkdir()


def dangling(scene, path, good):
    path.symlink_to("nowhere")


def loop(scene, path, good):
    path.symlink_to("loop-of-links")
    (path.parent / "loop-of-links").symlink_to(path.name)


def fifo(scene, path, good):
    os.mkfifo(path)


def unix_socket(scene, path, good):
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def zeroes(scene, path, good):
    path.symlink_to("/dev/zero")


def null_device(scene, path, good):
    path.symlink_to("/dev/null")


def unreadable(scene, path, good):
    path.write_text(good)
    path.chmod(0)


def below_a_file(scene, path, good):
    path.write_text(good)  # the case asks for path/below


def empty(scene, path, good):
    path.write_bytes(b"")


def only_bom(scene, path, good):
    path.write_bytes(b"\xef\xbb\xbf")


def only_comments(scene, path, good):
    path.write_text("# nothing\n---\n# here\n")


def program(scene, path, good):
    shutil.copyfile(scene.gpuctl, path)
    os.truncate(path, 100_000)


def utf16(scene, path, good):
    path.write_bytes(good.encode("utf-16"))


def utf32_without_mark(scene, path, good):
    path.write_bytes(good.encode("utf-32-be"))


def latin1(scene, path, good):
    path.write_bytes(b"# caf\xe9\n" + good.encode())


def nul(scene, path, good):
    path.write_bytes(good.encode() + b"\0")


def gigabyte(scene, path, good):
    path.write_bytes(b"# ")
    os.truncate(path, 1 << 30)


def over_the_limit(scene, path, good):
    path.write_text(good + "# filler\n" * (17 << 20 >> 3))


def cut_off(scene, path, good):
    path.write_text(good[:len(good) // 2])


def alias_bomb(scene, path, good):
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)]
    path.write_text("\n".join(rows) + "\n")


def alias_to_itself(scene, path, good):
    path.write_text("kind: &a [*a]\n")


def deep_flow(scene, path, good):
    path.write_text("spec: " + "[" * 500_000 + "\n")


def deep_block(scene, path, good):
    path.write_text("\n".join(" " * i + "a:" for i in range(1200)) + "\n")


def many_nodes(scene, path, good):
    path.write_text("spec: [" + "a," * 1_000_000 + "a]\n")


def long_scalar(scene, path, good):
    path.write_text("spec: " + "a" * (3 << 20) + "\n")


def long_key(scene, path, good):
    path.write_text("a" * (2 << 20) + ": b\n")


def key_twice(scene, path, good):
    path.write_text(good.rstrip().rstrip("}") + ',\n"kind": "Twice"\n}\n')


def merge_key(scene, path, good):
    path.write_text("<<: {a: b}\nkind: X\n")


def tagged(scene, path, good):
    path.write_text("kind: !!python/object:os.system x\n")


def two_documents(scene, path, good):
    path.write_text(good + "---\n" + good)


def text(scene, path, good):
    path.write_text("just a line of text\n")


def a_list(scene, path, good):
    path.write_text("- a\n- b\n")


def control_characters(scene, path, good):
    path.write_text("kind: \"a\x1b[2Jb\"\n")


# Kinds that cannot be opened or read at all, and kinds with bytes that have a place.
UNOPENED = (missing, directory, dangling, loop, fifo, unix_socket, zeroes, null_device, unreadable,
            below_a_file, gigabyte)
EMPTY = (empty, only_bom, only_comments)
BYTES = (program, utf16, utf32_without_mark, latin1, nul, cut_off, alias_bomb, alias_to_itself,
         deep_flow, deep_block, many_nodes, long_scalar, long_key, key_twice, merge_key, tagged,
         text, a_list, control_characters)
# A place is shown for all of them but these.
NO_PLACE = {over_the_limit, many_nodes}


class Role:
    """A place where a file is read: how the scene gets there, and with which words."""

    def __init__(self, name, path, good, words=(), spec=None, kinds=(), without=()):
        self.name, self.path, self.good = name, path, good
        self.words, self.spec = tuple(words), spec or {}
        self.kinds = [kind for kind in (*UNOPENED, *EMPTY, *BYTES, over_the_limit, two_documents,
                                        *kinds) if kind not in without]


FACTS_TEXT = as_yaml(FACTS)
RULES = as_yaml({"apiVersion": "gpuctl.dev/v1alpha1", "kind": "Rules", "metadata": {"name": "aws"},
                 "spec": {"rules": []}})
ROLES = [
    Role("blueprint", "lab.yaml", as_yaml(BLUEPRINT)),
    Role("facts", "given.yaml", FACTS_TEXT, ["--facts", "given.yaml"]),
    Role("provider file", "over/aws/rules.yaml", RULES, ["--providers", "over"],
         # An overlay that is not there is none.
         without=(missing, directory, below_a_file, two_documents)),
    Role("template file", "over/aws/machineset.yaml", as_yaml(CONFIG_MAP), ["--templates", "over"],
         without=(missing, directory, below_a_file, two_documents)),
    Role("extra manifest", "extra.yaml", SOUND,
         spec={"extraManifests": [{"layer": "50-platform", "path": "extra.yaml"}]},
         without=(two_documents, below_a_file)),
    # A facts file that is not there is none.
    Role("facts beside", "lab.facts.yaml", FACTS_TEXT, without=(missing, below_a_file)),
]


def check_file(scene, role, kind):
    scene.good(**role.spec)
    path = scene.work / role.path
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        path.unlink()
    kind(scene, path, role.good)
    words = [word + "/below" if kind is below_a_file and word == role.path else word
             for word in role.words]
    given = role.path + ("/below" if kind is below_a_file and role.name == "blueprint" else "")
    target = given if role.name == "blueprint" else "lab.yaml"
    nobody = kind is unreadable
    place = None if kind in UNOPENED or kind in NO_PLACE else role.path
    if role.spec and kind in EMPTY and kind is not only_comments:
        place = "lab.yaml"  # where the file is named
    names = [role.path]
    what = f"{role.name}, {kind.__name__}"
    scene.refused(f"validate: {what}", "validate", target, *words, names=names, place=place,
                  nobody=nobody)
    if kind in (missing, fifo, gigabyte, alias_bomb, cut_off, utf16):
        scene.refused(f"render: {what}", "render", target, "-o", "out", *words, names=names)
        scene.refused(f"apply: {what}", "apply", target, "--repo", "repo", *words, names=names)


def check_crd(scene, kind):
    """A file of --crds that cannot be used is a finding; it is read once a kind is looked up."""
    scene.good()
    (scene.work / "crds").mkdir()
    kind(scene, scene.work / "crds/x.yaml", SOUND)
    scene.refused(f"--crds, {kind.__name__}", "validate", "lab.yaml", "--crds", "crds",
                  codes=["GPU0222"], names=["crds/x.yaml"], nobody=kind is unreadable)


def check_directory(scene, role, kind):
    """--providers, --templates and --crds given something that is no directory."""
    scene.good()
    kind(scene, scene.work / "given", "x")
    word = "given/below" if kind is below_a_file else "given"
    scene.refused(f"{role}, {kind.__name__}", "validate", "lab.yaml", role, word, names=["given"],
                  nobody=kind is unreadable)


def check_secret_file(scene, kind):
    """`file:` references of secrets are read with --install-dir only."""
    scene.good(access={"pullSecret": {"file": "secret.json"}})
    kind(scene, scene.work / "secret.json", '{"auths":{}}')
    scene.refused(f"secret, {kind.__name__}", "render", "lab.yaml", "--install-dir", "private",
                  "-o", "out", codes=["GPU0605"], names=["secret.json"], place="lab.yaml",
                  nobody=kind is unreadable)


def check_extra_link(scene, target):
    """A link must not bring files from elsewhere into Git; one that stays is fine."""
    scene.good(extraManifests=[{"layer": "50-platform", "path": "extra.yaml"}])
    scene.write("sub/real.yaml", CONFIG_MAP)
    (scene.folder / "outside.yaml").write_text(SOUND)
    names = {"up": "../outside.yaml", "absolute": str(scene.folder / "outside.yaml"),
             "in and out": "sub/../../outside.yaml", "folder": "sub/away/outside.yaml",
             "inside": "sub/real.yaml"}
    (scene.work / "sub/away").symlink_to("../..")
    (scene.work / "extra.yaml").symlink_to(names[target])
    if target == "inside":
        scene.accepted(target, "validate", "lab.yaml")
        return
    scene.refused(f"extra manifest, link {target}", "render", "lab.yaml", "-o", "out",
                  codes=["GPU0423"], names=["leads out of"], place="lab.yaml")


def check_links_in_circles(scene, option):
    """Every folder of the overlay leads back to it by many links."""
    scene.good()
    over = scene.work / "over"
    over.mkdir()
    for i in range(12):
        (over / f"link{i}").symlink_to("." if i % 2 else "../over")
    scene.refused(option, "validate", "lab.yaml", option, "over", codes=["GPU0002"],
                  names=["over/link"], deadline=10)


def check_many_large_files(scene, option):
    """Each file is below the limit, and there are many."""
    scene.good()
    for i in range(6):
        scene.write(f"over/aws/f{i}.yaml", "# " + "x" * (11 << 20) + "\n")
    scene.refused(option, "validate", "lab.yaml", option, "over", codes=["GPU0002"])


def policy_patch(operations):
    """An override of one document by a JSON patch."""
    return {"overrides": [{"target": {"kind": "ClusterPolicy"}, "patch": operations}]}


def copies(number, source, target):
    return [{"op": "copy", "from": source, "path": target.format(i)} for i in range(number)]


# Patches that cost far more than their text: by copies of copies, depth, many entries, many
# operations, many or large regular expressions.
BOMBS = {
    "copies of everything": (policy_patch(copies(20, "", "/spec/a{}")), ["GPU0431"]),
    "copies of a list": (policy_patch(
        [{"op": "add", "path": "/spec/a", "value": ["x" * 1000]}] +
        copies(40, "/spec/a", "/spec/a/-")), ["GPU0431"]),
    "large copies side by side": (policy_patch(
        [{"op": "add", "path": "/spec/a", "value": "x" * 200_000}] +
        copies(2000, "/spec/a", "/spec/b{}")), ["GPU0431", "GPU0432"]),
    "depth": (policy_patch(copies(200, "/spec", "/spec/deep")), ["GPU0431"]),
    "moves of a large part": (policy_patch(
        [{"op": "add", "path": "/spec/a", "value": ["x"] * 20_000}] +
        [{"op": "move", "from": f"/spec/{a}", "path": f"/spec/{b}"}
         for a, b in [("a", "b"), ("b", "a")] * 2000]), ["GPU0432"]),
    "operations on a long list": (policy_patch(
        [{"op": "add", "path": "/spec/a", "value": [0] * 50_000}] +
        [{"op": "add", "path": "/spec/a/0", "value": 1}] * 5000), ["GPU0432"]),
    "many keys for every document": (
        {"overrides": [{"target": {}, "patch": {"metadata": {"annotations": {
            f"k{i}": "" for i in range(40_000)}}}}] +
         [{"target": {}, "patch": {"metadata": {"annotations": {"k1": "x"}}}}] * 200},
        ["GPU0432"]),
    "long text for every document": (
        {"overrides": [{"target": {}, "patch": {"metadata": {"annotations": {
            f"k{i}": "x" * 200_000 for i in range(4)}}}}],
         "gpuPools": [{"name": f"gpu{i}", "instanceType": "g5.xlarge", "replicas": 1}
                      for i in range(10)]}, ["GPU0431"]),
    "long text many times": (
        {"overrides": [{"target": {"kind": "ClusterPolicy"}, "patch": {"metadata": {
            "annotations": {f"k{i}": "x" * 200_000}}}} for i in range(4)] +
         [{"target": {"kind": "ClusterPolicy"}, "patch": copies(200, "/metadata/annotations",
                                                               "/metadata/a{}")}]},
        ["GPU0431", "GPU0432"]),
    "long expressions": (
        {"overrides": [{"target": {field: "(a|b)*" * 600 for field in
                                   ("group", "version", "kind", "name", "namespace", "pool")},
                        "patch": {}}] * 40}, ["GPU0421"]),
    "expressions with repetitions": (
        {"overrides": [{"target": {"name": "((((a{1,100}){1,100}){1,100}){1,100})"},
                        "patch": {}}]}, ["GPU0422"]),
}


def check_bomb(scene, spec, codes):
    """Stopped by what is counted, long before memory or time are short."""
    scene.good(**spec)
    done = scene.refused("patch", "validate", "lab.yaml", codes=codes, place="lab.yaml")
    scene.check(len(done.stderr) < 200_000, f"{len(done.stderr)} bytes were said")


def check_many_manifests(scene, number, text):
    """Extra manifests count together, and what is over the limit is not read."""
    names = [f"extra{i}.yaml" for i in range(number)]
    for name in names:
        scene.write(name, text)
    scene.good(extraManifests=[{"layer": "50-platform", "path": name} for name in names])
    done = scene.refused(f"{number} manifests", "validate", "lab.yaml", codes=["GPU0433"],
                         place="lab.yaml")
    scene.check(scene.sanitized or done.memory <= 128 << 20, f"took {done.memory >> 20} MiB")


def check_long_echo(scene):
    """A value is echoed to an end, and nothing is compared with what is that long."""
    for name in ("x" * 200_000, "`" * 200_000, "é" * 100_000, "a b " * 50_000):
        made = blueprint()
        made["spec"]["platform"] = name
        scene.write("lab.yaml", made)
        done = scene.refused("a long platform", "validate", "lab.yaml", place="lab.yaml")
        scene.check(len(done.stderr) < 12_000, f"{len(done.stderr)} bytes were said")
    for word in ("a" * 100_000, "GPU" + "0" * 100_000):
        done = scene.refused("a long code", "explain", word, codes=["GPU0004", "GPU0008"], deadline=2)
        scene.check(len(done.stderr) < 2_000, f"{len(done.stderr)} bytes were said")
    scene.good()
    made = blueprint(**{"y" * 100_000: 1})
    made["spec"]["gpuPools"][0].update({"z" * 90_000 + str(i): i for i in range(3)})
    scene.write("lab.yaml", made)
    done = scene.refused("long keys", "validate", "lab.yaml", place="lab.yaml", deadline=5)
    scene.check(len(done.stderr) < 20_000, f"{len(done.stderr)} bytes were said")


def check_typed(scene, field, value):
    """A field of the blueprint with another type, and one nobody knows, in depth."""
    made = blueprint()
    at, keys = made, field.split(".")
    for key in keys[:-1]:
        at = at[int(key)] if isinstance(at, list) else at[key]
    at[keys[-1] if isinstance(at, dict) else int(keys[-1])] = value
    scene.write("lab.yaml", made)
    scene.write("lab.facts.yaml", FACTS)
    scene.refused(f"{field} = {str(value)[:20]}", "validate", "lab.yaml", place="lab.yaml")


def check_many_findings(scene):
    """A file with thousands of mistakes: the report stays readable, and bounded."""
    made = blueprint()
    made["spec"].update({f"unknown{i}": i for i in range(5000)})
    scene.write("lab.yaml", made)
    done = scene.refused("5000 unknown fields", "validate", "lab.yaml", codes=["GPU0201"],
                         place="lab.yaml")
    scene.check(len(done.stderr) < 200_000, f"{len(done.stderr)} bytes were said")


def check_json_findings(scene, kind):
    """With --format json every line of standard error is an object."""
    import json
    scene.good()
    (scene.work / "lab.yaml").unlink()
    kind(scene, scene.work / "lab.yaml", as_yaml(BLUEPRINT))
    done = scene.run("--format", "json", "validate", "lab.yaml")
    scene.sane(done, kind.__name__)
    lines = done.stderr.decode().strip("\n").split("\n")
    try:
        rows = [json.loads(line) for line in lines]
    except ValueError as error:
        rows = []
        scene.check(False, f"{kind.__name__}: {error}: {lines[:2]}")
    scene.check(done.code == 1 and any(row.get("severity") == "error" for row in rows),
                f"{kind.__name__}: {lines[:2]}")


def check_usage(scene, words):
    """A wrong command line is 64, and says where the help is."""
    scene.good()
    done = scene.refused(" ".join(words), *words, exit_code=64, codes=["GPU0001"])
    scene.check("--help" in done.text, f"{words}: no way out\n{done.text}")


def check_other_commands(scene):
    """catalog, explain and version with arguments that fit nothing, and overlays that are broken."""
    scene.write("over/aws/rules.yaml", "a: [\n")
    for words in (["catalog", "gpus"], ["catalog", "platforms"], ["version"]):
        scene.refused(" ".join(words), "--providers", "over", *words, names=["rules.yaml"],
                      place="over/aws/rules.yaml")
        scene.refused(" ".join(words) + ", missing", "--providers", "none", *words,
                      codes=["GPU0002"], names=["none"])
    scene.refused("unknown platform", "catalog", "gpus", "--platform", "../aws")
    for code in ("GPU9999", "../../etc/passwd", "", "GPU0001/../GPU0002", "\x1b[2J", "a" * 5000):
        done = scene.refused(f"explain {code[:20]!r}", "explain", code, codes=["GPU0004", "GPU0008"])
        scene.check("\x1b" not in done.text, "an escape sequence reached the terminal")


USAGE = [[], ["frob"], ["validate"], ["validate", "lab.yaml", "--frob"], ["render", "lab.yaml"],
         ["apply", "lab.yaml"], ["render", "lab.yaml", "-o", "a", "--stdout"],
         ["validate", "lab.yaml", "-j", "0"], ["validate", "lab.yaml", "-j", "99999999999999999999"],
         ["--format", "xml", "version"], ["catalog"], ["catalog", "nothing"], ["explain"],
         ["render", "lab.yaml", "-rf"], ["validate", "lab.yaml", "--upload-pack=touch x"]]

TYPES = [("spec", "text"), ("spec", []), ("spec", None), ("metadata", 3), ("metadata.name", 3),
         ("metadata.name", ["lab"]), ("metadata.name", {"a": "b"}), ("spec.platform", 5),
         ("spec.openshift.version", 4.2), ("spec.openshift.version", True),
         ("spec.gpuPools", {"a": 1}), ("spec.gpuPools.0", "gpu"), ("spec.gpuPools.0.replicas", "1"),
         ("spec.gpuPools.0.replicas", 1.5), ("spec.gpuPools.0.replicas", -1),
         ("spec.gpuPools.0.replicas", 9223372036854775807), ("spec.gpuPools.0.instanceType", None),
         ("spec.access.pullSecret", "clear"), ("spec.access.pullSecret.env", []),
         ("spec.aws.zones", "eu-central-1a"), ("spec.gitops.repoURL", 5), ("frob", 1),
         ("spec.frob", 1), ("spec.aws.frob", 1), ("spec.gpuPools.0.frob", {"a": 1}),
         ("spec.extraManifests", [{"path": 3}]), ("spec.overrides", [{"target": 3}])]


def cases(full):
    for role in ROLES:
        for kind in role.kinds:
            yield f"{role.name}, {kind.__name__}", check_file, (role, kind)
    for option in ("--providers", "--templates", "--crds"):
        for kind in UNOPENED:
            if kind is not directory:
                yield f"{option}, {kind.__name__}", check_directory, (option, kind)
    for kind in UNOPENED:
        if kind not in (missing, directory, below_a_file):
            yield f"file of --crds, {kind.__name__}", check_crd, (kind,)
    for target in ("up", "absolute", "in and out", "folder", "inside"):
        yield f"extra manifest, link {target}", check_extra_link, (target,)
    for kind in (*UNOPENED, over_the_limit, empty, program, utf16, latin1, nul):
        if kind is not below_a_file:
            yield f"secret, {kind.__name__}", check_secret_file, (kind,)
    for option in ("--providers", "--templates"):
        yield f"{option}, links in circles", check_links_in_circles, (option,)
        yield f"{option}, many large files", check_many_large_files, (option,)
    for field, value in TYPES:
        yield f"type of {field}: {value!r}", check_typed, (field, value)
    yield "many findings", check_many_findings, ()
    for name, (spec, codes) in BOMBS.items():
        yield f"patch: {name}", check_bomb, (spec, codes)
    yield "manifests too large", check_many_manifests, (60, SOUND + "# filler\n" * 430_000)
    yield "manifests of small nodes", check_many_manifests, (
        200, SOUND + "list: [" + "a, " * 99_000 + "a]\n" + "# filler\n" * 70_000)
    yield "long echo", check_long_echo, ()
    for kind in (missing, utf16, alias_bomb, control_characters, program, key_twice):
        yield f"json, {kind.__name__}", check_json_findings, (kind,)
    for words in USAGE:
        yield f"usage: {' '.join(words)}", check_usage, (words,)
    yield "other commands", check_other_commands, ()
