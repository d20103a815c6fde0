#!/usr/bin/env python3
"""Times gpuctl beside tools that do comparable work, for 1 to 10,000 clusters, in one run.

The clusters are copies of one sample under other names. Three comparisons:

- documents: `helm template` gets a chart made of the rendered files, in which names and replica
  counts are values, `kustomize build` and `kubectl kustomize` get the rendered folders. That all
  give the same documents is checked before anything is timed: the canonical JSON of every document
  of their output must be that of gpuctl's files.
- files: `cp -r` of the rendered tree.
- a repository: `git fast-import` of the same content, `git status` on a checkout of it.
- a chart that people really install, when `--chart` names one: `helm template` of it with its
  default values, beside one cluster, both to standard output. That of the GPU operator is in the
  folder deployments/gpu-operator of its repository.

Each command is timed as a whole process, in turns, so that a slow moment of the machine meets all
of them. Figures are medians; where other work shares the machine, the ratio of processor times says
more than that of wall times, though it gives no credit for a second thread. measured.c starts each
command, because memory of whoever does counts as that of the command. The slope is the cost of one
more cluster, by least squares over all sizes. Ratios of one run on one machine, never a test.

`--write-readme` puts the figures that README.md prints between its marks, with date and revision.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from interop.tools import HELM, KUBECTL, KUSTOMIZE, helm, kubectl, kustomize  # noqa: E402
from support.program import ROOT, environment, samples  # noqa: E402

SAMPLE = "aws-p4d-mig-mixed"
SIZES = (1, 10, 100, 1000)
MOST_RUNS = 20
SECONDS_A_COMMAND = 6  # fewer runs for what takes long
TMPFS = pathlib.Path("/dev/shm")
README = ROOT / "README.md"
MARKS = ("<!-- figures of tests/bench -->\n", "<!-- end of figures -->\n")
CHART = f"the chart: helm template {HELM}"
PRINTED = "render --stdout"
SMALL = "aws-minimal"  # one pool, few settings
PRINTED_SMALL = f"render --stdout, {SMALL}"
HEAVY = 10  # helm and kustomize are run up to this many clusters: their cost is linear


def write_blueprints(sample, count, folder):
    """`count` blueprints like the sample, with facts. Gives their paths."""
    name = re.search(r"^  name: (\S+)", sample.read_text(), re.M)[1]
    facts = sample.with_name(sample.stem + ".facts.yaml")
    folder.mkdir()
    out = []
    for number in range(count):
        new = f"bench-{number:05}"
        path = folder / f"{new}.yaml"
        path.write_text(sample.read_text().replace(name, new))
        if facts.exists():
            (folder / f"{new}.facts.yaml").write_text(facts.read_text().replace(name, new))
        out.append(path)
    return out


def write_fleet(sample, blueprints, folder):
    """The same clusters as a fleet: the sample as its base, and a table of their names."""
    folder.mkdir()
    (folder / "base.yaml").write_text(sample.read_text())
    rows = []
    for path in blueprints:
        stage = re.search(r"^  stage: (\S+)$", path.read_text(), re.M)
        rows.append(f"{path.stem},{stage[1] if stage else 'prod'}")
        facts = path.with_suffix(".facts.yaml")
        if facts.exists():
            (folder / rows[-1].split(",")[1]).mkdir(exist_ok=True)
            shutil.copy(facts, folder / rows[-1].split(",")[1] / facts.name)
    (folder / "clusters.csv").write_text("name,stage\n" + "\n".join(rows) + "\n")
    (folder / "fleet.yaml").write_text(
        "apiVersion: gpuctl.dev/v1alpha1\nkind: Fleet\nmetadata: {name: bench}\nspec:\n"
        "  extends: base.yaml\n  clusters:\n"
        "    - {name: '${item.name}', stage: '${item.stage}', table: clusters.csv}\n")
    return folder / "fleet.yaml"


def manifests(cluster):
    return [path for path in sorted(cluster.glob("layers/*/*.yaml"))
            if path.name != "kustomization.yaml"]


def make_chart(clusters, folder):
    """A chart that gives the same objects. `{{` of the manifests is kept as text; name of the
    cluster and replica counts become values, as a user of a chart would have them."""
    values = {}
    (folder / "templates").mkdir(parents=True)
    for cluster in clusters:
        key = cluster.name.replace("-", "_")
        values[key] = {"name": cluster.name, "replicas": {}}
        for count, path in enumerate(manifests(cluster)):
            text = path.read_text().replace("{{", '{{ "{{" }}')

            def templated(match, key=key, count=count):
                values[key]["replicas"][f"d{count}"] = int(match[2])
                return f"{match[1]}{{{{ .Values.{key}.replicas.d{count} }}}}"

            text = re.sub(r"^( +replicas: )(\d+)$", templated, text, count=1, flags=re.M)
            text = re.sub(rf"\b{re.escape(cluster.name)}\b", f"{{{{ .Values.{key}.name }}}}", text)
            (folder / "templates" / f"{cluster.name}-{path.parent.name}-{path.name}").write_text(text)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: bench\nversion: 0.1.0\n")
    (folder / "values.yaml").write_text(json.dumps(values))


def make_kustomizations(clusters, folder):
    """One folder a cluster: kustomize refuses two objects of one name, which clusters share."""
    out = []
    for cluster in clusters:
        target = folder / cluster.name
        target.mkdir(parents=True)
        names = []
        for path in manifests(cluster):
            names.append(f"{path.parent.name}-{path.name}")
            shutil.copy(path, target / names[-1])
        (target / "kustomization.yaml").write_text(
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n" +
            "".join(f"- {name}\n" for name in names))
        out.append(target)
    return out


def documents(texts):
    """Counted canonical JSON of all documents in YAML texts, by the probe of the tests."""
    import yaml
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found = collections.Counter()
    for text in texts:
        for document in yaml.load_all(text, Loader=loader):
            if document is not None:
                found[json.dumps(document, sort_keys=True, default=str)] += 1
    return found


def check_equal(clusters, commands, env):
    """Leaves unless every command gives the documents that gpuctl rendered. Says how many."""
    wanted = documents(path.read_text() for cluster in clusters for path in manifests(cluster))
    for name, command in commands.items():
        text = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
        found = documents([text])
        if found != wanted:
            odd = next(iter((wanted - found) or (found - wanted)))
            sys.exit(f"{name} gives other documents than gpuctl, such as\n{odd[:400]}")
    return sum(wanted.values())


def import_stream(tree, target):
    """The tree as `git fast-import` takes it."""
    with target.open("wb") as out:
        out.write(b"commit refs/heads/main\ncommitter Test <test@example.invalid> 1700000000 +0000\n"
                  b"data 4\nAll\n\n")
        for folder, below, names in os.walk(tree):
            below.sort()
            for name in sorted(names):
                path = pathlib.Path(folder, name)
                content = path.read_bytes()
                out.write(f"M 100644 inline {path.relative_to(tree)}\ndata {len(content)}\n".encode())
                out.write(content + b"\n")
        out.write(b"done\n")


def build_measured(folder):
    """The small program that starts and measures the others."""
    program = folder / "measured"
    source = pathlib.Path(__file__).with_name("measured.c")
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-o", program, source], check=True)
    return program


class Timed:
    """A command, what must be done before each of its runs, and how long these took."""

    measured = None  # the program that measures

    def __init__(self, command, env, before=None, shell=False):
        self.command, self.env, self.before = command, env, before
        self.words = ["sh", "-c", command] if shell else [str(word) for word in command]
        self.seconds, self.processor, self.megabytes = [], [], 0

    def run(self):
        if self.before:
            self.before()
        figures = self.measured.with_name("figures")
        subprocess.run([self.measured, figures, *self.words], env=self.env, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        seconds, processor, kilobytes, status = figures.read_text().split()
        if status != "0":
            sys.exit(f"failed with {status}: {str(self.command)[:300]}")
        self.seconds.append(float(seconds))
        self.processor.append(float(processor))
        self.megabytes = max(self.megabytes, int(kilobytes) / 1024)

    def wall(self):
        return statistics.median(self.seconds)

    def busy(self):
        return statistics.median(self.processor)


def take_turns(commands):
    for command in commands.values():
        command.run()  # warm-up, and how long it takes
    first = {name: command.seconds.pop() for name, command in commands.items()}
    for command in commands.values():
        command.processor.clear()
    for turn in range(MOST_RUNS):
        for name, command in commands.items():
            if turn < 3 or first[name] * turn < SECONDS_A_COMMAND:
                command.run()


def prepare(gpuctl, sample, count, folder, env):
    """Everything that is timed for `count` clusters, by name."""
    folder.mkdir()
    blueprints = write_blueprints(sample, count, folder / "in")
    fleet = write_fleet(sample, blueprints, folder / "fleet")
    tree, fresh, copy = folder / "tree", folder / "fresh", folder / "copy"
    done, imported, checkout = folder / "done.git", folder / "imported.git", folder / "checkout"
    subprocess.run([gpuctl, "render", *blueprints, "-o", tree], check=True, env=env,
                   stderr=subprocess.DEVNULL)
    import_stream(tree, folder / "stream")

    def remove(*paths):
        return lambda: [shutil.rmtree(path, ignore_errors=True) for path in paths]

    def bare(path):
        def make():
            shutil.rmtree(path, ignore_errors=True)
            subprocess.run(["git", "init", "-q", "--bare", "-b", "main", path], check=True, env=env)
        return make

    bare(done)()
    apply = [gpuctl, "apply", *blueprints, "--repo"]
    subprocess.run([*apply, done], check=True, env=env, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    subprocess.run(["git", "clone", "-q", done, checkout], check=True, env=env)
    render = [gpuctl, "render", *blueprints, "-o", fresh]
    commands = {
        "render": Timed(render, env, remove(fresh)),
        "render -j 1": Timed([*render, "-j", "1"], env, remove(fresh)),
        "render, one fleet": Timed([gpuctl, "render", fleet, "-o", fresh], env, remove(fresh)),
        "cp -r": Timed(["cp", "-r", tree, copy], env, remove(copy)),
        "apply": Timed([*apply, folder / "new.git"], env, bare(folder / "new.git")),
        "apply, one fleet": Timed([gpuctl, "apply", fleet, "--repo", folder / "new.git"], env,
                                  bare(folder / "new.git")),
        "apply -j 1": Timed([*apply, folder / "new.git", "-j", "1"], env, bare(folder / "new.git")),
        "git fast-import": Timed(
            f"git -C {imported} fast-import --quiet --done < {folder / 'stream'}", env,
            bare(imported), shell=True),
        "apply, nothing new": Timed([*apply, done], env),
        "apply --full": Timed([*apply, done, "--full"], env),
        "git status": Timed(["git", "-C", checkout, "status"], env),
    }
    clusters = sorted(path.parent for path in tree.rglob("gpuctl.lock"))
    files = sum(1 for path in tree.rglob("*") if path.is_file()) // count
    objects = len(manifests(clusters[0]))
    if count <= HEAVY:
        make_chart(clusters, folder / "chart")
        folders = make_kustomizations(clusters, folder / "kustomize")
        helm_command = [str(helm()), "template", "bench", str(folder / "chart")]
        builds = {f"kubectl kustomize {KUBECTL}": [str(kubectl()), "kustomize"],
                  f"kustomize build {KUSTOMIZE}": [str(kustomize()), "build"]}
        check_equal(clusters, {"helm": helm_command}, env)
        commands[f"helm template {HELM}"] = Timed(helm_command, env)
        for name, command in builds.items():
            for cluster, target in zip(clusters, folders):
                check_equal([cluster], {name: [*command, str(target)]}, env)
            line = " && ".join(" ".join([*command, str(target)]) for target in folders)
            commands[name] = Timed(line, env, shell=True)
    return commands, files, objects


def slope(points):
    """Milliseconds for one more cluster, by least squares; None for a single size."""
    if len(points) < 2:
        return None
    mean_x = statistics.mean(x for x, _ in points)
    mean_y = statistics.mean(y for _, y in points)
    return 1000 * (sum((x - mean_x) * (y - mean_y) for x, y in points) /
                   sum((x - mean_x) ** 2 for x, _ in points))


PEERS = {"render": "cp -r", "render -j 1": "cp -r", "render, one fleet": "cp -r",
         "apply": "git fast-import", "apply, one fleet": "git fast-import",
         "apply -j 1": "git fast-import", "apply, nothing new": "git status",
         "apply --full": "git fast-import"}


def print_table(sizes, results):
    names = list(dict.fromkeys(name for size in sizes for name in results[size]))
    print("| Command | " + " | ".join(f"{size}: wall, processor, peak" for size in sizes) +
          " | Slope a cluster | To its peer |")
    print("|---" * (len(sizes) + 3) + "|")
    for name in names:
        row, points = [], []
        for size in sizes:
            timed = results[size].get(name)
            if timed is None:
                row.append("")
                continue
            points.append((size, timed.wall()))
            row.append(f"{timed.wall() * 1000:.1f} ms, {timed.busy() * 1000:.1f} ms, "
                       f"{timed.megabytes:.1f} MB")
        steep = slope(points)
        peer = PEERS.get(name)
        ratio = ""
        if peer:
            last = sizes[-1]
            ours, theirs = results[last][name], results[last][peer]
            ratio = (f"{ours.wall() / theirs.wall():.2f} x {peer} at {last}, processor time "
                     f"{ours.busy() / theirs.busy():.2f} x")
        elif (name == CHART or name.split()[0] in ("helm", "kubectl", "kustomize")) and 1 in results:
            ours = (PRINTED, PRINTED_SMALL) if name == CHART else ("render",)
            ratio = ", ".join(f"{results[1][name].wall() / results[1][one].wall():.1f} x {one} at 1" for one in ours)
        print(f"| {name} | " + " | ".join(row) +
              f" | {'' if steep is None else f'{steep:.2f} ms'} | {ratio} |")


def duration(seconds):
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.{1 if seconds < 0.1 else 0}f} ms"


def revision():
    """The commit that was measured, and whether there is more in the work tree."""
    def git(*words):
        return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True,
                              text=True).stdout.strip()
    return git("rev-parse", "--short", "HEAD") + (
        " with changes" if git("status", "--porcelain", "--untracked-files=no") else "")


def readme_block(gpuctl, sizes, results, files):
    """The figures as README.md has them."""
    program = "a release" if gpuctl.parent.name == "static" else "a build for this machine"
    one, most = results[1], sizes[-1]
    all_of_them = results[most]
    ours = one["render"].wall()
    others = [(name, timed) for name, timed in one.items()
              if name.split()[0] in ("helm", "kubectl", "kustomize")]
    today = datetime.datetime.now(datetime.timezone.utc).date()
    lines = [
        f"Whole processes of {program}, medians of one run of `tests/bench/run.sh` on {today} at "
        f"revision {revision()}, {os.cpu_count()} cores and tmpfs. A cluster is {files} files here; helm and "
        "kustomize are given what makes the same documents, which is checked first.\n",
        "\n| | gpuctl | beside it | |\n|---|---|---|---|\n",
        f"| one cluster | {duration(ours)} | " +
        ", ".join(f"{name}: {duration(timed.wall())}" for name, timed in others) + " | " +
        ", ".join(f"{timed.wall() / ours:.1f}" for _, timed in others) + " times as fast |\n"]

    def row(what, name, peer, peer_name):
        mine, theirs = all_of_them[name], all_of_them.get(peer)
        line = f"| {what} | {duration(mine.wall())} | "
        if theirs:
            line += (f"{peer_name}: {duration(theirs.wall())} | {mine.wall() / theirs.wall():.1f} x, "
                     f"in processor time {mine.busy() / theirs.busy():.1f} x |\n")
        else:
            line += "| |\n"
        lines.append(line)

    row(f"{most:,} clusters into a new directory", "render", "cp -r", "`cp -r` of the tree")
    row(f"{most:,} clusters into a bare repository", "apply", "git fast-import",
        "`git fast-import` of the content")
    row("second run, no changes", "apply, nothing new", "git status",
        "`git status` on a checkout")
    row("second run, `--full`", "apply --full", None, None)
    if CHART in one:
        theirs = one[CHART].wall()
        for place, (what, name) in enumerate((("it to standard output", PRINTED),
                                              (f"a small one to standard output (`{SMALL}`)", PRINTED_SMALL))):
            mine = one[name].wall()
            lines.insert(3 + place, f"| {what} | {duration(mine)} | `helm template` of the GPU operator's chart: "
                                    f"{duration(theirs)} | {theirs / mine:.1f} times as fast |\n")
    peak = max(all_of_them[name].megabytes for name in PEERS)
    lines.append(f"\nPeak memory: {one['render'].megabytes:.0f} MB for one cluster, {peak:.0f} MB for "
                 f"{most:,}.\n")
    return "".join(lines)


def write_readme(block):
    text = README.read_text()
    begin, end = text.index(MARKS[0]) + len(MARKS[0]), text.index(MARKS[1])
    README.write_text(text[:begin] + block + text[end:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gpuctl", nargs="?", default=str(ROOT / "build/release/gpuctl"))
    parser.add_argument("--sample", default=SAMPLE, help="name of a file in blueprints/")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="such as 1,100,10000")
    parser.add_argument("--chart", type=pathlib.Path, help="a chart, such as the GPU operator's")
    parser.add_argument("--write-readme", action="store_true",
                        help="put the figures into README.md (sizes from 1 on)")
    options = parser.parse_args()
    gpuctl = pathlib.Path(options.gpuctl).resolve()
    sample = next(path for path in samples() if path.stem == options.sample)
    sizes = [int(word) for word in options.sizes.split(",")]
    tmpfs = TMPFS if os.access(TMPFS, os.W_OK) else None
    results = {}
    with tempfile.TemporaryDirectory(prefix="bench-", dir=tmpfs) as temporary:
        scratch = pathlib.Path(temporary)
        env = environment(scratch)
        Timed.measured = build_measured(scratch)
        for size in sizes:
            folder = scratch / str(size)
            commands, files, objects = prepare(gpuctl, sample, size, folder, env)
            if size == sizes[0]:
                commands["gpuctl version"] = Timed([gpuctl, "version"], env)
                if options.chart:
                    chart = [str(helm()), "template", "bench", str(options.chart.resolve())]
                    commands[CHART] = Timed(chart, env)
                    blueprint = next((folder / "in").glob("*-00000.yaml"))
                    commands[PRINTED] = Timed([gpuctl, "render", blueprint, "--stdout"], env)
                    small = next(path for path in samples() if path.stem == SMALL)
                    commands[PRINTED_SMALL] = Timed([gpuctl, "render", small, "--stdout"], env)
            take_turns(commands)
            results[size] = commands
            shutil.rmtree(folder)
    print(f"{sample.stem}: {files} files a cluster, {objects} of them objects for the cluster "
          f"itself, on {'tmpfs' if tmpfs else 'disk: no tmpfs is writable'}, {os.cpu_count()} cores; "
          f"helm and kustomize give the same documents as gpuctl\n")
    print_table(sizes, results)
    if options.write_readme:
        write_readme(readme_block(gpuctl, sizes, results, files))


if __name__ == "__main__":
    main()
