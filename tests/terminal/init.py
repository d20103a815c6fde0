#!/usr/bin/env python3
"""`gpuctl init`: three people reach a blueprint that is accepted in one run each, typing on a terminal;
the same by options; and what is there already stays.

`init.py --gpuctl PATH`
"""

import os
import pathlib
import pty
import re
import select
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]
from support.program import TIMEOUT_S, Tally, arguments, environment, run, samples  # noqa: E402

QUIET_S = 30  # longest wait for the next question

# What each types: part of a question -> answer; an empty one takes what is proposed. Of several, the last
# one is right.
PERSONAS = {
    "AWS and Argo CD": {"platform": "aws", "name of the cluster": "ml-lab", "OpenShift version": "",
                        "DNS zone": "example.org", "AWS region": "eu-west-1", "GPU model": "L4",
                        "instance type": "", "GitOps controller": "argocd", "Git repository": ""},
    "vSphere, vGPU and Flux": {"platform": "vsphere", "name of the cluster": "vgpu-lab", "OpenShift version": "",
                               "base domain": "", "vCenter": "vc.example.org", "datacenter": "", "compute cluster": "",
                               "datastore": "", "network": "", "address range": "", "address of the API": "",
                               "address of the ingress": "", "GPU model": "L40S", "reaches the machines": "vgpu",
                               "vGPU type": "", "VM template": "", "GitOps controller": "flux",
                               "Git repository": "ssh://git@git.example.org/fleet.git"},
    "GKE by gcloud": {"platform": "gke", "name of the cluster": "serving", "Google Cloud project": "ml-serving",
                      "region or zone": "europe-west4", "Kubernetes version": "", "makes the cluster": "gcloud", "GPU model": "",
                      "machine type": "", "GitOps controller": "flux", "Git repository": ""},
    "GKE, after slips": {"platform": ("googel", "gke"), "name of the cluster": ("Not A Name", "again"),
                         "Google Cloud project": "", "region or zone": ("Belgium", ""), "Kubernetes version": "",
                         "makes the cluster": "", "GPU model": ("RTX 4090", "L4"), "machine type": "",
                         "GitOps controller": "", "Git repository": ""},
    "an OpenShift that is there": {"platform": "existing-openshift", "name of the cluster": "metal",
                                   "OpenShift version": "", "names of the nodes": "gpu-01, gpu-02",
                                   "GPU model": "H100-80GB", "GPUs in each": "8", "GitOps controller": "",
                                   "Git repository": ""},
}
BY_OPTIONS = (
    ["--platform", "aws", "--name", "a", "--gpu", "A10G", "--region", "eu-central-1", "--gitops", "argocd"],
    ["--platform", "aws", "--name", "b", "--instance-type", "p5.48xlarge", "--gitops", "flux"],
    ["--platform", "gcp", "--name", "c", "--gpu", "L4"],
    ["--platform", "gke", "--name", "d", "--set", "provisioner=configConnector"],
    ["--platform", "vsphere", "--name", "e", "--set", "delivery=passthrough"],
    ["--platform", "existing-openshift", "--name", "f", "--set", "nodes=n1,n2", "--gpu", "A100-80GB"],
)


def on_terminal(gpuctl, folder, answers, tally, who):
    """Types the answers as questions come; (what was shown, exit code)."""
    reader, terminal = pty.openpty()
    process = subprocess.Popen([gpuctl, "init", "--color", "never"], cwd=folder, env=environment(folder),
                               stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True)
    os.close(terminal)
    shown, new, asked = "", "", []
    left = {part: list(answer) if isinstance(answer, tuple) else [answer] for part, answer in answers.items()}
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        if not select.select([reader], [], [], QUIET_S)[0]:
            break
        try:
            chunk = os.read(reader, 65536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk.decode()
        new += chunk.decode()
        if not new.endswith(": "):
            continue
        question = new.splitlines()[-1]
        new = ""
        key = next((part for part in answers if part in question and left[part]), None)
        if not tally.check(key is not None, f"{who}: nobody knows what to type at {question!r}"):
            process.kill()
            break
        os.write(reader, (left[key].pop(0) + "\n").encode())
        if not left[key]:
            asked.append(key)
    os.close(reader)
    code = process.wait(timeout=TIMEOUT_S)
    tally.check(asked == list(answers), f"{who}: was asked {asked}")
    return shown.replace("\r\n", "\n"), code


def check_personas(gpuctl, scratch, tally):
    for number, (who, answers) in enumerate(PERSONAS.items()):
        folder = scratch / str(number)
        folder.mkdir()
        shown, code = on_terminal(gpuctl, folder, answers, tally, who)
        name = answers["name of the cluster"]
        if isinstance(name, tuple):
            name = name[-1]
        slips = sum(len(answer) - 1 for answer in answers.values() if isinstance(answer, tuple))
        tally.check(shown.count("error[") == slips, f"{who}: {slips} slips, shown:\n{shown}")
        tally.check(code == 0 and re.search(rf"^{name}\.yaml: ok \(dev/{name}, \d+ documents\)$", shown, re.M),
                    f"{who}: exit code {code}, shown:\n{shown}")
        again = run([gpuctl, "validate", f"{name}.yaml"], cwd=folder, env=environment(folder))
        tally.check(again.returncode == 0, f"{who}: validate refuses it later:\n{again.stderr.decode()}")


def check_mistypes(gpuctl, scratch, tally):
    """A wrong answer is said to be one, and asked for again."""
    folder = scratch / "mistyped"
    folder.mkdir()
    reader, terminal = pty.openpty()
    process = subprocess.Popen([gpuctl, "init", "--color", "never", "--platform", "aws"], cwd=folder,
                               env=environment(folder), stdin=terminal, stdout=terminal, stderr=terminal,
                               start_new_session=True)
    os.close(terminal)
    os.write(reader, b"Not A Name\nfine\n\x04")
    shown = b""
    while select.select([reader], [], [], QUIET_S)[0]:
        try:
            chunk = os.read(reader, 65536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    os.close(reader)
    process.wait(timeout=TIMEOUT_S)
    text = shown.decode()
    tally.check("name of the cluster: `Not A Name` is not a valid answer" in text and "OpenShift version" in text,
                f"a wrong answer is not asked for again:\n{text}")
    tally.check(not list(folder.glob("*.yaml")), "a file was written although nobody answered to the end")


def check_options(gpuctl, scratch, tally):
    folder = scratch / "options"
    folder.mkdir()
    env = environment(folder)
    for options in BY_OPTIONS:
        done = run([gpuctl, "init", *options], cwd=folder, env=env)
        name = options[options.index("--name") + 1]
        tally.check(done.returncode == 0 and f"{name}.yaml: ok".encode() in done.stdout,
                    f"init {' '.join(options)}: exit code {done.returncode}: {done.stderr.decode()}")
    text = (folder / "a.yaml").read_text()
    tally.check("infraID" in text and "a.facts.yaml" in text, "the facts that are needed are not named")
    done = run([gpuctl, "init", *BY_OPTIONS[0], "-o", "-"], cwd=folder, env=env)
    tally.check(done.returncode == 0 and done.stdout.decode() == text and b"a.yaml: ok" in done.stderr and
                not (folder / "-").exists(), f"-o - writes {done.stdout[:200]!r}: {done.stderr.decode()}")
    done = run([gpuctl, "init", *BY_OPTIONS[0]], cwd=folder, env=env)
    tally.check(done.returncode == 1 and b"it is there already" in done.stderr and
                (folder / "a.yaml").read_text() == text, "a file that was there is overwritten")
    for wrong in (["--name", "x"], ["--platform", "awss"], ["--platform", "vsphere", "--region", "here"],
                  ["--platform", "aws", "--gpu", "A10Q"], ["--from", "aws-minimall"],
                  ["--platform", "aws", "--gitops", "spinnaker"]):
        done = run([gpuctl, "init", *wrong, "-o", "wrong.yaml"], cwd=folder, env=env)
        tally.check(done.returncode in (1, 64) and b"error[" in done.stderr and not (folder / "wrong.yaml").exists(),
                    f"init {' '.join(wrong)}: exit code {done.returncode}: {done.stderr.decode()}")


def check_models(gpuctl, scratch, tally):
    """Every GPU that a platform offers as an answer leads to a blueprint that is accepted."""
    folder = scratch / "models"
    folder.mkdir()
    env = environment(folder)
    for platform in ("aws", "gcp", "gke"):
        refused = run([gpuctl, "init", "--platform", platform, "--gpu", "no such"], cwd=folder, env=env)
        models = re.search(r"expected: one of (.*)", refused.stderr.decode())
        for model in models[1].split(", ") if tally.check(models, f"{platform}: no list of GPUs") else ():
            name = re.sub(r"[^a-z0-9]", "-", f"{platform}-{model}".lower())
            done = run([gpuctl, "init", "--platform", platform, "--gpu", model, "--name", name], cwd=folder, env=env)
            tally.check(done.returncode == 0, f"{platform}, {model}: {done.stderr.decode()}")


def check_samples(gpuctl, scratch, tally):
    folder = scratch / "samples"
    folder.mkdir()
    for sample in samples():
        done = run([gpuctl, "init", "--from", sample.stem, "-o", f"{sample.stem}.yaml"], cwd=folder,
                   env=environment(folder))
        wanted = sample.read_text()
        written = folder / f"{sample.stem}.yaml"
        tally.check(written.exists() and written.read_text().startswith(wanted), f"--from {sample.stem}: "
                    f"exit code {done.returncode}, another text: {done.stderr.decode()}")
    done = run([gpuctl, "init", "--from", "aws-minimal", "--name", "mine"], cwd=folder, env=environment(folder))
    text = (folder / "mine.yaml").read_text() if done.returncode == 0 else ""
    tally.check("\n  name: mine " in text, f"--from with --name: {done.stderr.decode()}")


def main():
    options = arguments(__doc__)
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        for check in (check_personas, check_mistypes, check_options, check_models, check_samples):
            check(options.gpuctl, pathlib.Path(scratch), tally)
    tally.close()


if __name__ == "__main__":
    main()
