#!/usr/bin/env python3
"""Commands that README and the pages show work, and print what stands below them.

Console blocks run in order, each page in a folder of its own (SCENES tells what users have there before). Programs of
clusters and registries are doubles that take their input and say nothing: what is shown below them is not compared.
`...` stands for any lines, a digest of a commit for any; notes may be left out. What is not run stands in ELSEWHERE,
with the test that runs it, or the reason.

Of all other commands of gpuctl in pages, inline ones too, each word has to be one that its help has.

`page_commands.py --gpuctl PATH [--filter PAGE] [--verbose]`
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent)]
from knowledge.guides import fits  # noqa: E402
from support.program import ROOT, TIMEOUT_S, Tally, arguments, environment  # noqa: E402

DOUBLES = ("oc", "kubectl", "oc-mirror", "kubeseal", "age-keygen", "htpasswd", "gcloud")
# Pages whose blocks other tests run, by what runs them.
PAGES_ELSEWHERE = {
    "docs/first-day.md": "knowledge/first_day.py", "docs/getting-started.md": "knowledge/guides.py",
    "docs/overrides.md": "knowledge/guides.py", "docs/install.md": "install/run.py",
    "docs/releases.md": "release/run.py makes, checks and installs releases; package managers of other systems and "
                        "podman are not here",
    "docs/testing.md": "builds Argo CD, which takes minutes and the network", "CONTRIBUTING.md": "the tests themselves",
}
# Page and beginning of a command -> what runs it, or why nothing can.
ELSEWHERE = {
    ("README.md", "gpuctl install"): "install/run.py", ("README.md", "gpuctl status"): "install/run.py",
    ("README.md", "gpuctl facts check"): "facts/run.py", ("README.md", "gpuctl destroy"): "install/run.py",
    ("README.md", "cd fleet/clusters/stage/vgpu-lab"): "interop/vsphere.py",
    ("README.md", "sh host-l40s.sh"): "interop/vsphere.py", ("README.md", "GOVC_URL="): "interop/vsphere.py",
    ("README.md", "gpuctl init"): "terminal/init.py", ("README.md", "./install.sh"): "the command that runs this test",
    ("README.md", "gpuctl apply gpu-lab.yaml --repo git@"): "remote/run.py",
    ("README.md", "sh install.sh --from"): "release/run.py, release/roots.py",
    ("README.md", "apt install"): "release/roots.py, by dpkg", ("README.md", "dnf install"): "there is no Fedora here",
    ("docs/ci.md", "gpuctl-ci"): "ci_kit/run.py",
    ("docs/cost.md", ".ci/prices.py"): "asks price lists on the network",
    ("docs/doctor.md", "gpuctl doctor"): "doctor/run.py",
    ("docs/fleets.md", "kustomize"): "interop/run.py",
    ("docs/knowledge.md", "gpuctl --providers"): "golden/provider",
}
# A file of a golden case: file of the case, name in it, where it goes.
OF_CASE = "awk -v name='-- %s --' '$0 == name {inside = 1; next} /^-- / {inside = 0} inside' $ROOT/tests/golden/%s > %s"
SAMPLES = "cp -r $ROOT/blueprints ."
# Three stages, the last in waves. Machines and prices as in the samples.
STAGES = """cat > fleet.yaml <<END
apiVersion: gpuctl.dev/v1alpha1
kind: Fleet
metadata: {name: ml}
spec:
  extends: blueprints/fleet/base.yaml
  stages:
    - name: dev
    - name: stage
    - name: prod
      waves:
        - {name: canary, clusters: [ml-a]}
        - {name: rest}
  clusters:
    - {name: ml-a, stage: dev, spec: {aws: {region: us-east-1}}}
    - {name: ml-a, stage: stage, spec: {aws: {region: us-east-1}}}
    - {name: ml-a, stage: prod, spec: {aws: {region: us-east-1}}}
    - {name: ml-b, stage: prod, spec: {aws: {region: eu-central-1}}}
END"""
# By page: what is there before, and by the beginning of a command what happens before it.
SCENES = {
    "README.md": {
        "": SAMPLES + r"""
awk '/^```yaml/ {inside = 1; next} /^```/ {if (inside) exit} inside' $ROOT/README.md > gpu-lab.yaml
cp blueprints/aws-minimal.facts.yaml gpu-lab.facts.yaml
echo '{"auths": {"quay.io": {"auth": "dTpw"}}}' > pull-secret.json""",
        "sed -i 's/replicas: 6/": """sed -i 's/g6.2xl$/g6.2xlarge/; s/replicas: 1/replicas: 6/' gpu-lab.yaml
echo '      zones: [eu-central-1a]' >> gpu-lab.yaml && rm -rf fleet && gpuctl apply gpu-lab.yaml --repo fleet""",
        "gpuctl upgrade gpu-lab.yaml": "sed -i 's/replicas: 6/replicas: 1/' gpu-lab.yaml",
        "gpuctl render blueprints/aws-openshift-ai": "cd $WORK",
        "gpuctl fleet show blueprints": "cd $WORK",
        "gpuctl apply blueprints/fleet/fleet.yaml": "rm -rf fleet",
        "gpuctl import install-config.yaml": """gpuctl render gpu-lab.yaml -o out --install-dir installed
find installed -name install-config.yaml -exec cp {} . ';'
for one in out/clusters/prod/gpu-lab/layers/20-machines/machineset-*; do echo ---; cat "$one"; done > machines.yaml
mkdir policies && cp out/clusters/prod/gpu-lab/layers/40-gpu/clusterpolicy-* policies""",
    },
    "docs/acceptance.md": {},
    "docs/agents.md": {},
    "docs/air-gap.md": {"": "awk '/^```yaml/ {inside = 1; next} /^```/ {if (inside) exit} inside' $ROOT/README.md > gpu-lab.yaml"},
    "docs/allocation.md": {"": SAMPLES},
    "docs/ci.md": {"": "mkdir clusters && cp $ROOT/blueprints/aws-minimal.yaml clusters && mkdir docs && cp -r $ROOT/docs/ci docs"},
    "docs/cost.md": {
        "": OF_CASE % ("lab.yaml", "cost/aws.case", "lab.yaml") + "\nsed -i '/unlisted/d; /machinePools/,$d' lab.yaml",
        "gpuctl cost lab.yaml --compare": """sed '/- {name/d' lab.yaml > other.yaml
for one in 'lab g5.xlarge' 'other g6.2xlarge'; do set -- $one
sed '/- {name/d' lab.yaml | sed "\\$ a\\    - {name: gpu, instanceType: $2, scaling: {min: 1, max: 4}}" > $1.new; done
mv lab.new lab.yaml; mv other.new other.yaml""",
        "gpuctl plan gke-inference.yaml": """cp $ROOT/blueprints/gke-l4-separate-pool.yaml gke-inference.yaml
gpuctl apply gke-inference.yaml --repo fleet
sed -i 's/max: 8/max: 10/' gke-inference.yaml""",
    },
    "docs/fleets.md": {
        "": SAMPLES,
        "gpuctl apply fleet.yaml --repo fleet --stage prod --wave canary": STAGES,
        "gpuctl promote fleet.yaml --from stage": "gpuctl apply fleet.yaml --repo fleet --stage stage",
    },
    "docs/kubeflow.md": {},
    "docs/ml.md": {},
    "docs/secrets.md": {"gpuctl apply cluster.yaml": "cp $ROOT/blueprints/aws-minimal.yaml cluster.yaml"},
}


def console(text):
    """Of each command of console blocks: line, command, and what stands below it."""
    out, inside, end = [], False, None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside = line == "```console"
        elif not inside:
            continue
        elif end is not None or (out and out[-1][1].endswith("\\")):
            out[-1][1] += "\n" + line
            end = None if line == end else end
        elif line.startswith("$ "):
            out.append([number, line[2:], ""])
            if here := re.search(r"<<(\w+)$", line):
                end = here[1]
        else:
            out[-1][2] += line + "\n"
    return out


class Scene:
    """A folder in which the commands of a page run one after the other, as in one shell."""

    def __init__(self, page, gpuctl, scratch):
        self.before = dict(SCENES[page])
        self.root = scratch / page.replace("/", "-")
        self.folder, self.state, doubles = (self.root / name for name in ("work", "state", "doubles"))
        for folder in (self.folder, self.state, doubles, self.root / "home"):
            folder.mkdir(parents=True)
        for name in DOUBLES:
            double = doubles / name
            double.write_text("#!/bin/sh\n[ -t 0 ] || cat > /dev/null\n")
            double.chmod(0o755)
        self.env = environment(self.root / "home", NO_COLOR="1", ROOT=ROOT, WORK=self.folder)
        self.env["PATH"] = f"{doubles}{os.pathsep}{gpuctl.parent}{os.pathsep}{self.env['PATH']}"
        (self.state / "cwd").write_text(str(self.folder))
        (self.state / "env").write_text("")
        self.prepared = self.run(self.before.pop("", ""))

    def prepare(self, command):
        """Does what happens before the command; what that printed when it failed."""
        for prefix in [prefix for prefix in self.before if command.startswith(prefix)]:
            done = self.run(self.before.pop(prefix))
            if done.returncode != 0:
                return done.stdout
        return ""

    def run(self, command):
        state = shlex.quote(str(self.state))
        script = f"set -a; . {state}/env; cd \"$(cat {state}/cwd)\"\n{command}\nended=$?; pwd > {state}/cwd\n" \
                 f"export -p > {state}/env; exit $ended\n"
        return subprocess.run(["bash", "-c", script], env=self.env, stdin=subprocess.DEVNULL, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S)


def plain(text):
    """Without notes and warnings, and with one digest for all commits."""
    blocks = re.split(r"(?m)^(?=(?:note|warning|error)\[)", text)
    kept = blocks[:1]
    for block in blocks[1:]:
        kept.append(block if block.startswith("error") else block.partition("\n\n")[2])
    return re.sub(r"\b[0-9a-f]{12}\b", "<commit>", "".join(kept)).rstrip() + "\n"


def run_page(page, gpuctl, scratch, tally, verbose):
    scene = None
    used = set()
    for number, command, shown in console((ROOT / page).read_text()):
        elsewhere = [row for row in ELSEWHERE if row[0] == page and command.startswith(row[1])]
        used.update(elsewhere)
        if elsewhere:
            continue
        if scene is None:
            scene = Scene(page, gpuctl, scratch)
            tally.check(scene.prepared.returncode == 0, f"{page}: the scene:\n{scene.prepared.stdout}")
        problem = scene.prepare(command)
        tally.check(not problem, f"{page}:{number}: before `{command}`:\n{problem}")
        ran = scene.run(command)
        if verbose:
            print(f"--- {page}:{number}: {command}\n{ran.stdout}[{ran.returncode}]")
        fails = re.search(r"^error\[", shown, re.M) is not None
        double = any(re.search(rf"(?:^|[|&;] ?){re.escape(name)} ", command) for name in DOUBLES)
        # What looks through the output of a double finds nothing.
        tally.check((ran.returncode != 0) == fails or (double and "| grep" in command), f"{page}:{number}: `{command}`: exit code {ran.returncode}:\n{ran.stdout}")
        if shown and not double:
            tally.check(fits(plain(ran.stdout), plain(shown)),
                        f"{page}:{number}: `{command}`: the page shows\n{shown}but it prints\n{plain(ran.stdout)}")
    stale = {row for row in ELSEWHERE if row[0] == page} - used
    tally.check(not stale, f"no such command: {sorted(stale)}")
    if scene is not None:
        tally.check(not scene.before, f"{page}: nothing begins with {sorted(scene.before)}")
        shutil.rmtree(scene.root)


class Help:
    """Commands and options by what `--help` says, asked once each."""

    def __init__(self, gpuctl):
        self.gpuctl, self.known = gpuctl, {}

    def text(self, words):
        if words not in self.known:
            done = subprocess.run([self.gpuctl, *words, "--help"], capture_output=True, text=True, check=False)
            self.known[words] = done.stdout if done.returncode == 0 else None
        return self.known[words]

    def subcommands(self, words):
        listed = re.search(r"^Commands:\n((?:  .*\n)+)", self.text(words) or "", re.M)
        return set(re.findall(r"^  ([a-z][a-z-]*)", listed[1], re.M)) if listed else set()

    def problem(self, line):
        """What is wrong with a command line, or nothing."""
        words, path = re.split(r"\s+", line)[1:], ()
        while words and words[0] in ("--providers", "--templates", "--format", "--color"):
            words = words[2:]
        while words and words[0] in self.subcommands(path):
            path += (words.pop(0),)
        if self.subcommands(path) and words and re.fullmatch(r"[a-z][A-Za-z-]*", words[0]):
            return f"`{' '.join(('gpuctl', *path))}` has no command `{words[0]}`"
        spoken = (self.text(path) or "") + (self.text(()) or "")
        for word in words:
            option = re.match(r"-{1,2}[a-z][a-z-]*", word)
            if option and not re.search(rf"(?<![\w-]){re.escape(option[0])}(?![\w-])", spoken):
                return f"`{' '.join(('gpuctl', *path))}` has no option `{option[0]}`"
        return ""


def said(text):
    """Command lines of gpuctl in a page: line and command, up to what ends it in a shell."""
    for number, line in enumerate(text.splitlines(), 1):
        spans = re.findall(r"`([^`]+)`", line)
        for code in [line.removeprefix("$ ")] if line.startswith("$ ") else spans:
            for found in re.finditer(r"(?:^|[|&;(] ?)(gpuctl(?: [^|&;<>#`)]+)?)", code):
                yield number, found[1].strip()


def main():
    options = arguments(__doc__, lambda parser: (parser.add_argument("--filter", default=""),
                                                 parser.add_argument("--verbose", action="store_true")))
    tally = Tally()
    pages = [page for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
             if options.filter in str(page.relative_to(ROOT)) and "docs/decisions" not in str(page)]
    helps, commands = Help(options.gpuctl), 0
    with tempfile.TemporaryDirectory() as scratch:
        for page in sorted(pages):
            name = str(page.relative_to(ROOT))
            text = page.read_text()
            for number, line in said(text):
                problem = helps.problem(line)
                commands += 1
                tally.check(not problem, f"{name}:{number}: `{line}`: {problem}")
            if page.parent.name != "codes" and name not in PAGES_ELSEWHERE and "```console" in text:
                run_page(name, options.gpuctl, pathlib.Path(scratch), tally, options.verbose)
    if not options.filter:
        tally.check(commands > 400, f"only {commands} commands")
        tally.check(all((ROOT / page).exists() for page in PAGES_ELSEWHERE), "a page that is not there")
        for reason in (*PAGES_ELSEWHERE.values(), *ELSEWHERE.values()):
            for test in re.findall(r"[a-z_]+/[a-z_]+\.py", reason):
                tally.check((ROOT / "tests" / test).exists(), f"no test {test}")
    tally.close()


if __name__ == "__main__":
    main()
