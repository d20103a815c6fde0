#!/usr/bin/env python3
"""Completion as people get it: bash, zsh and fish on a terminal of ours, the script loaded as help
says, words typed and the key pressed. And what the hidden command answers, without a shell.

A shell that is not there is skipped, out loud; with CI=true that is a failure.
"""

import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]
from support import program  # noqa: E402
from support.program import ROOT, STRICT, Tally  # noqa: E402

PATIENCE_S = 20
SETTLED_S = 0.2  # fish colours a line before it takes the next key
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[=>78])")
FLEET = """apiVersion: gpuctl.dev/v1alpha1
kind: Fleet
metadata: {name: ml}
spec:
  extends: [base.yaml]
  stages: [{name: dev}, {name: prod, waves: [{name: canary, clusters: [ml-berlin]}, {name: rest}]}]
  clusters:
    - {name: ml-tiny, stage: dev}
    - {name: ml-berlin, stage: prod}
    - {name: ml-paris, stage: prod}
"""
BASE = """apiVersion: gpuctl.dev/v1alpha1
kind: Blueprint
metadata: {labels: {team: ml}}
spec: {platform: aws, baseDomain: example.com}
"""


class Terminal:
    """A shell on a pseudo terminal."""

    def __init__(self, command, env, folder):
        self.child, self.descriptor = pty.fork()
        if self.child == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, env)
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        self.text = ""

    def read(self, wanted, seconds=PATIENCE_S):
        """Reads until `wanted`, a pattern, is in what came since the last call; True when it came."""
        deadline = time.monotonic() + seconds
        while not re.search(wanted, self.plain()):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.descriptor], [], [], left)[0]:
                return False
            try:
                got = os.read(self.descriptor, 65536)
            except OSError:
                return False
            if not got:
                return False
            self.answer(got)
            self.text += got.decode("utf-8", "replace")
        return True

    def answer(self, got):
        """What a terminal says of itself when it is asked: fish waits for it."""
        if b"\x1b[c" in got or b"\x1b[0c" in got:
            os.write(self.descriptor, b"\x1b[?62c")
        if b"\x1b[6n" in got:
            os.write(self.descriptor, b"\x1b[1;1R")

    def plain(self):
        return ESCAPES.sub("", self.text)

    def type(self, text):
        """Types a line; what came before is forgotten."""
        self.text = ""
        self.press(text)

    def press(self, keys):
        os.write(self.descriptor, keys.encode())

    def close(self):
        os.close(self.descriptor)
        try:
            os.kill(self.child, 9)
        except ProcessLookupError:
            pass
        os.waitpid(self.child, 0)


def open_shell(name, env, folder):
    """The shell with the script loaded, ready for a line."""
    setting = {
        "bash": (["bash", "--noprofile", "--norc", "-i"],
                 "bind 'set show-all-if-ambiguous on'; bind 'set completion-query-items 0'; "
                 "bind 'set page-completions off'; eval \"$(gpuctl completion bash)\""),
        "zsh": (["zsh", "-f", "-i"],
                "autoload -Uz compinit && compinit -u; LISTMAX=0; eval \"$(gpuctl completion zsh)\""),
        "fish": (["fish", "--no-config", "-i"], "gpuctl completion fish | source"),
    }[name]
    shell = Terminal(setting[0], env, folder)
    time.sleep(SETTLED_S)
    shell.type(setting[1] + "; echo re''ady\n")
    if not shell.read(r"\nready|\rready|ready\r"):
        print(f"{name} does not start: {shell.plain()[-500:]!r}")
    return shell


# Line that is typed, what must show once the key is pressed.
CASES = [
    ("gpuctl vali", r"gpuctl validate "),
    ("gpuctl mig ", r"(?s)check.*plan.*show|plan.*check|check.*show"),
    ("gpuctl --format js", r"gpuctl --format json"),
    ("gpuctl explain GPU081", r"GPU0817"),
    ("gpuctl fleet list fleet.yaml --cluster ml-b", r"--cluster ml-berlin"),
    ("gpuctl fleet list fleet.yaml --wave can", r"--wave canary"),
    ("gpuctl mig check --gpu A100-40GB --layout 3g.20gb:1,4", r"--layout 3g\.20gb:1,4g\.20gb:"),
    ("gpuctl validate fl", r"gpuctl validate fleet\.yaml"),
]


def check_shell(name, env, folder, tally):
    for line, wanted in CASES:  # each in a shell of its own: none sees keys meant for another
        shell = open_shell(name, env, folder)
        shell.type(line)
        shell.read(re.escape(line[-4:]))
        time.sleep(SETTLED_S)
        shell.press("\t")  # what is typed and what is added stand one behind the other
        good = shell.read(wanted)
        tally.check(good, f"{name}: `{line}` and the key show {shell.plain()[-300:]!r}, not {wanted}")
        shell.close()


def answers(gpuctl, env, folder, *words):
    done = program.run([gpuctl, "__complete", *words], env=env, cwd=folder)
    lines = done.stdout.decode().splitlines()
    return lines[0] if lines else "", [line.split("\t")[0] for line in lines[1:]], done


def check_answers(gpuctl, env, folder, tally):
    def expect(words, form, *some, none=()):
        got, found, done = answers(gpuctl, env, folder, *words)
        tally.check(done.returncode == 0 and got == form and set(some) <= set(found)
                    and not set(none) & set(found),
                    f"{words}: {got} {found[:8]} {done.stderr[-200:]!r}, not {form} {some}")

    expect([""], "none", "validate", "apply", "help", none=["__complete"])
    expect(["app"], "none", "apply", none=["validate"])
    expect(["aply", ""], "none")
    expect(["apply", "--"], "none", "--repo", "--max-effect", "--format", none=["--gpu"])
    expect(["apply", "--repo", "x", "--"], "none", "--branch", none=["--repo"])
    expect(["apply", "--cluster", "x", "--"], "none", "--cluster")
    expect(["apply", "--max-effect", "node-"], "none", "node-reboot", "node-recreate")
    expect(["apply", "--max-effect=node-re"], "none", "--max-effect=node-reboot")
    expect(["apply", ""], "yaml")
    expect(["apply", "x.yaml", ""], "yaml")
    expect(["apply", "--repo", ""], "dirs")
    expect(["render", "x.yaml", "-o", ""], "dirs")
    expect(["apply", "--facts", ""], "files")
    expect(["apply", "--date", ""], "none")
    expect(["--color", ""], "none", "auto", "never")
    expect(["help", "mig", ""], "none", "plan")
    expect(["mig", "plan", "--gpu", "A100-40GB", "--demand", "1g"], "none nospace", "1g.5gb:")
    expect(["fleet", "show", "fleet.yaml", ""], "none", "prod/ml-berlin", "ml-tiny")
    expect(["promote", "fleet.yaml", "--from", ""], "none", "dev", "prod")
    expect(["upgrade", "lab.yaml", "--only", ""], "none", "gpuOperator.release")
    expect(["fleet", "list", "absent.yaml", "--stage", ""], "none")
    expect(["explain", "GPU000"], "none", "GPU0001", "GPU0003")
    expect(["explain", "spec.gpuPools.sc"], "none nospace", "spec.gpuPools.scaling", none=["GPU0001"])
    expect(["explain", "gpuP"], "none nospace", "gpuPools")
    expect(["explain", "spec.nothing.x"], "none nospace")
    expect(["init", "--from", "aws-min"], "none", "aws-minimal")
    expect(["fleet", "list", "fleet.yaml", "--stage", "pr"], "none", "prod")
    expect(["catalog", "machines", "--platform", "vsp"], "none", "vsphere")
    expect(["mig", "show", "--gpu", "A100-8"], "none", "A100-80GB")
    expect(["help", "mi"], "none", "mig")
    expect(["completion", "f"], "none", "fish")
    expect(["init", "-o", ""], "files")
    expect(["init", "--gpu", "A100-8"], "none", "A100-80GB")
    expect(["init", "--instance-type", "g6.2x"], "none", "g6.2xlarge")
    expect(["validate", "--report", ""], "none nospace", "sarif=", "junit=", "codequality=")
    expect(["validate", "--report", "sa"], "none nospace", "sarif=", none=["junit="])
    expect(["validate", "--report", "sarif="], "files")
    expect(["validate", "--report=sarif="], "files")
    expect(["status", "-o", ""], "none", "text", "json")
    expect(["explain", "gpuPools", "-o", ""], "none", "text", "json")
    expect(["explain", "--against", ""], "dirs")
    expect(["catalog", "gpus", "RTX-PRO-60"], "none", "RTX-PRO-6000")
    expect([], "none")
    state = folder / ".local/state/gpuctl/clusters/dev/journalled"
    state.mkdir(parents=True)
    (state / "journal").write_text("")
    got, found, _ = answers(gpuctl, env, folder, "status", "")
    tally.check(got == "none", f"status: {got} {found}")


def main():
    gpuctl = str(program.arguments(__doc__).gpuctl)
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="shells-") as temporary:
        folder = pathlib.Path(temporary)
        (folder / "bin").mkdir()
        (folder / "bin/gpuctl").symlink_to(gpuctl)
        (folder / "fleet.yaml").write_text(FLEET)
        (folder / "base.yaml").write_text(BASE)
        shutil.copy(ROOT / "blueprints/aws-minimal.yaml", folder / "lab.yaml")
        env = program.environment(folder, TERM="xterm", PS1="$ ", COLUMNS="200", LINES="50",
                                  LC_ALL="C.UTF-8")
        env["PATH"] = f"{folder}/bin:{env['PATH']}"
        check_answers(gpuctl, env, folder, tally)
        for name in ("bash", "zsh", "fish"):
            if shutil.which(name) is None:
                print(f"SKIPPED: completion in {name}, which is not there")
                tally.check(not STRICT, f"{name} is not there")
                continue
            check_shell(name, env, folder, tally)
            script = program.run([gpuctl, "completion", name], env=env).stdout
            parsed = subprocess.run([name, "-n"], input=script, capture_output=True, check=False)
            tally.check(parsed.returncode == 0, f"{name} -n: {parsed.stderr!r}")
        if shutil.which("shellcheck"):
            script = program.run([gpuctl, "completion", "bash"], env=env).stdout
            found = subprocess.run(["shellcheck", "-"], input=script, capture_output=True, check=False)
            tally.check(found.returncode == 0, f"shellcheck: {found.stdout.decode()}")
    tally.close()


if __name__ == "__main__":
    main()
