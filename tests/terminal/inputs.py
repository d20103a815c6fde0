#!/usr/bin/env python3
"""What stands for blueprints: `-`, directories and patterns that no shell has expanded."""

import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]
from support import program  # noqa: E402
from support.program import ROOT, Tally  # noqa: E402

SAMPLE = ROOT / "blueprints/aws-minimal.yaml"


class Inputs:
    def __init__(self, gpuctl, folder, tally):
        self.gpuctl, self.folder, self.tally = gpuctl, folder, tally
        self.env = program.environment(folder / "home")

    def run(self, *words, given=None):
        more = {} if given is None else {"input": given}
        done = program.run([self.gpuctl, *words], env=self.env, cwd=self.folder, **more)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def expect(self, words, code, *said, given=None, none=()):
        got, out, err = self.run(*words, given=given)
        text = out + err
        self.tally.check(got == code and all(part in text for part in said)
                         and not any(part in text for part in none),
                         f"{words}: exit code {got}\n{text[:600]}\nwanted {code}, {said}, without {none}")
        return out, err


def check_waiting(gpuctl, tally, folder):
    """Who types `-` at a terminal is told that it waits, and for what."""
    reader, terminal = pty.openpty()
    process = subprocess.Popen([gpuctl, "validate", "-"], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               cwd=folder)
    os.close(terminal)
    os.write(reader, b"kind: x\n\x04")
    said = process.communicate(timeout=60)[1].decode()
    os.close(reader)
    tally.check(said.startswith("Reading standard input") and "GPU0601" in said, f"validate - at a terminal: {said!r}")


def main():
    gpuctl = str(program.arguments(__doc__).gpuctl)
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="inputs-") as temporary:
        folder = pathlib.Path(temporary)
        for path in ("all/sub", "all/.git", "empty", "others", "home"):
            (folder / path).mkdir(parents=True)
        text = SAMPLE.read_text()
        shutil.copy(SAMPLE, folder / "all/aws-minimal.yaml")
        shutil.copy(SAMPLE.with_suffix(".facts.yaml"), folder / "all/aws-minimal.facts.yaml")
        (folder / "all/sub/two.yml").write_text(text.replace("gpu-lab", "two").replace("aws-minimal", "two"))
        (folder / "all/.git/hidden.yaml").write_text(text)
        (folder / "all/base.yaml").write_text("apiVersion: gpuctl.dev/v1alpha1\nkind: Blueprint\nmetadata: {}\nspec: {platform: aws}\n")
        (folder / "all/service.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: a}\n")
        (folder / "all/notes.txt").write_text("kind: Blueprint\n")
        (folder / "others/service.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: a}\n")
        inputs = Inputs(gpuctl, folder, tally)
        bytes_ = text.encode()

        inputs.expect(["validate", "-"], 0, "<stdin>: ok", given=bytes_)
        plain, _ = inputs.expect(["render", "all/aws-minimal.yaml", "--stdout"], 0)
        piped, _ = inputs.expect(["render", "-", "--facts", "all/aws-minimal.facts.yaml", "--stdout"], 0, given=bytes_)
        tally.check(plain and plain == piped, "standard input renders to something else than its file")
        inputs.expect(["validate", "-"], 1, "<stdin>:", "GPU", given=bytes_.replace(b"platform: aws", b"platform: awss"))
        inputs.expect(["validate", "-"], 1, "GPU0011", "standard input is empty", given=b" \n")
        inputs.expect(["validate", "-", "-"], 1, "only once", given=bytes_)
        inputs.expect(["validate", "-"], 1, "longer than", given=b"#" * (17 << 20))
        shutil.copytree(ROOT / "blueprints/fleet", folder / "fleet")
        inputs.expect(["fleet", "list", "fleet"], 0, "ml-fra-train")
        inputs.expect(["apply", "-", "--repo", "piped"], 0, "created", given=bytes_)
        inputs.expect(["apply", "-", "--repo", "piped"], 0, "no change", given=bytes_)
        inputs.expect(["install", "-", "--repo", "piped"], 64, "give a file", given=bytes_)

        inputs.expect(["validate", "all"], 0, "all/aws-minimal.yaml: ok", "all/sub/two.yml: ok",
                      none=("hidden", "service.yaml", "base.yaml", "aws-minimal.facts.yaml:", "notes.txt"))
        inputs.expect(["validate", "all/"], 0, "aws-minimal.yaml: ok")
        inputs.expect(["render", "all", "-o", "out"], 0)
        tally.check(len(list((folder / "out/clusters").glob("*/*"))) == 2, "a directory renders two clusters")
        inputs.expect(["validate", "empty"], 1, "GPU0011", "no blueprint and no fleet below `empty`", "no such file")
        inputs.expect(["validate", "others"], 1, "GPU0011", "1 file with something else", "others/*.yaml")
        inputs.expect(["validate", "all/aws*.yaml"], 0, "all/aws-minimal.yaml: ok", none=("aws-minimal.facts.yaml:",))
        inputs.expect(["validate", "all/s?b"], 0, "all/sub/two.yml: ok")
        inputs.expect(["validate", "nothing/*.yaml"], 1, "GPU0011", "no file is called `nothing/*.yaml`")
        (folder / "all/odd[1].yaml").write_text(text.replace("gpu-lab", "odd").replace("aws-minimal", "odd"))
        inputs.expect(["validate", "all/odd[1].yaml"], 0, "all/odd[1].yaml: ok")
        inputs.expect(["validate", "absent.yaml"], 1, "GPU0002")
        (folder / "all/broken.yaml").write_text("apiVersion: gpuctl.dev/v1alpha1\nkind: Blueprint\nmetadata: {name: [\n")
        inputs.expect(["validate", "all"], 1, "all/broken.yaml")
        os.symlink(folder / "all", folder / "all/sub/loop")
        inputs.expect(["validate", "all/sub"], 0, "two.yml: ok", none=("loop",))
        check_waiting(gpuctl, tally, folder)
    tally.close()


if __name__ == "__main__":
    main()
