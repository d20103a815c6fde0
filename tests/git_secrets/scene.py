"""A cluster whose licence and registry credentials lie on this machine, for tests of secrets in Git."""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "secrets")]
from inputs import token  # noqa: E402
from support.program import environment, run  # noqa: E402

BLUEPRINT = """\
apiVersion: gpuctl.dev/v1alpha1
kind: Blueprint
metadata: {name: lab}
spec:
  platform: vsphere
  baseDomain: example.com
  openshift: {version: "4.20"}
  vsphere:
    vCenters:
      - {server: vcenter.example.com, user: ops@vsphere.local, password: {env: VCENTER}, datacenters: [dc1]}
    failureDomains:
      - name: fd-1
        region: dc1
        zone: rack-1
        server: vcenter.example.com
        topology:
          datacenter: dc1
          computeCluster: /dc1/host/gpu
          datastore: /dc1/datastore/nvme
          networks: [VM Network]
    apiVIPs: [10.0.0.5]
    ingressVIPs: [10.0.0.6]
  access:
    pullSecret: {env: PULL}
  gpuPools:
    - name: gpu
      gpu: {model: L40S, perNode: 1}
      delivery: vgpu
      vgpu: {type: L40S-24C}
      template: rhcos-gpu
      cpus: 16
      memoryMiB: 65536
      replicas: 1
  gpuStack:
    gpuOperator:
      driver:
        repository: registry.example.com/nvidia
        image: vgpu-guest-driver
        version: 580.159.03
        pullSecret: {file: registry.json}
    license:
      token: {env: LICENCE}
  gitops:
    engine: ENGINE
    repoURL: https://git.example.com/fleet.git
    secrets: SECRETS
MORE
"""
FACTS = "apiVersion: gpuctl.dev/v1alpha1\nkind: Facts\nmetadata: {name: lab}\nspec: {infraID: lab-abcde}\n"
LAYER = "clusters/prod/lab/layers/30-operator-crs"
PASSWORD = "M4rkOfTheRegistry7Qz9"
TOKEN = token()
LOGIN = json.dumps({"auths": {"registry.example.com": {"auth": base64.b64encode(f"ops:{PASSWORD}".encode()).decode()}}})
# In the order in which they are spoken of.
FORMS = [TOKEN, TOKEN.split(".")[2][:40], TOKEN.split(".")[1][:40], LOGIN, PASSWORD,
         base64.b64encode(f"ops:{PASSWORD}".encode()).decode(), base64.b64encode(LOGIN.encode()).decode(),
         base64.b64encode(TOKEN.encode()).decode()]


class Scene:
    """Inputs, a repository, and a folder with programs that comes first in PATH."""

    def __init__(self, gpuctl, folder, engine, secrets, more=""):
        self.gpuctl, self.folder = gpuctl, folder
        self.home, self.inputs, self.programs, self.repo = (folder / name for name in ("home", "in", "bin", "repo"))
        for place in (self.home, self.inputs, self.programs):
            place.mkdir(parents=True)
        self.record = folder / "record"
        self.blueprint = self.inputs / "lab.yaml"
        self.write(engine, secrets, more)
        (self.inputs / "lab.facts.yaml").write_text(FACTS)
        (self.inputs / "registry.json").write_text(LOGIN + "\n")
        (self.inputs / "registry.json").chmod(0o600)
        self.env = environment(self.home, LICENCE=TOKEN, DOUBLE_RECORD=self.record)
        self.env["PATH"] = f"{self.programs}{os.pathsep}{self.env['PATH']}"

    def write(self, engine, secrets, more=""):
        self.blueprint.write_text(BLUEPRINT.replace("ENGINE", engine).replace("SECRETS", secrets).replace("MORE", more))

    def with_double(self):
        (self.programs / "sops").unlink(missing_ok=True)
        shutil.copy(HERE / "sops_double.py", self.programs / "sops")
        return self

    def run(self, *words, **env):
        merged = {key: value for key, value in {**self.env, **env}.items() if value is not None}
        return run([self.gpuctl, *words], env=merged, cwd=self.inputs)

    def apply(self, *words, **env):
        return self.run("apply", "lab.yaml", "--repo", self.repo, *words, **env)

    def files(self, pattern="*secret-*"):
        """The committed files with secrets: name -> bytes."""
        names = self.git("ls-tree", "-r", "--name-only", "main", "--", LAYER).split()
        return {name.rsplit("/", 1)[-1]: self.git("show", f"main:{name}").encode() for name in names
                if pathlib.PurePath(name).match(pattern)}

    def head(self):
        return self.git("rev-parse", "main").strip()

    def git(self, *words):
        done = subprocess.run(["git", "-C", str(self.repo), *words], env=self.env, check=True, capture_output=True)
        return done.stdout.decode()

    def everything(self):
        """All objects of the repository, and all files but the inputs: name -> bytes."""
        objects = run(["git", "-C", self.repo, "cat-file", "--batch-all-objects", "--batch"], env=self.env).stdout
        found = {"Git objects": objects}
        for place in (self.repo, self.home):
            for path in place.rglob("*"):
                if path.is_file():
                    found[str(path.relative_to(self.folder))] = path.read_bytes()
        return found


def shows(content):
    text = content if isinstance(content, bytes) else content.encode()
    return [form for form in FORMS if form.encode() in text]
