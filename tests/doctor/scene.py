"""What all cases of doctor share: a network of their own, blueprints, stand-ins for programs, and
expectations on results."""

import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from doctor import network  # noqa: E402
from remote.scene import Scene as RemoteScene  # noqa: E402
from support.program import ROOT  # noqa: E402

# What the machine may offer to gpuctl, besides stand-ins.
TOOLS = ["git", "git-receive-pack", "git-upload-pack", "ssh", "ssh-add", "sh", "cat", "env"]
ACCOUNT = "user:pa55-W0rd-c4nary"
SECRETS = ["pa55-W0rd-c4nary", "t0ken-c4nary", "dXNlcjpwYTU1", "vc-Passw0rd-c4nary"]
PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGqB8kXxk2CZ0J3xh2J4dCqjH3vqGz0mYt8bq1Dk0F4Z me@here"

STAND_IN = """#!{python}
import json, os, sys, time
words = sys.argv[1:]
open({calls!r}, "a").write(json.dumps([{name!r}, *words]) + "\\n")
for row in json.load(open({answers!r})):
    if all(any(word == given or (word.endswith("*") and given.startswith(word[:-1])) for given in words)
           for word in row["words"]):
        time.sleep(row.get("seconds", 0))
        sys.stdout.write(row["output"] if isinstance(row["output"], str) else json.dumps(row["output"]))
        sys.stderr.write(row.get("errors", ""))
        sys.exit(row.get("code", 0))
sys.stderr.write({name!r} + ": no answer for " + " ".join(words) + "\\n")
sys.exit(2)
"""


class Scene(RemoteScene):
    def __init__(self, gpuctl, folder, authority):
        super().__init__(gpuctl, folder, False)
        self.authority = authority
        self.resolv = self.folder / "resolv.conf"
        self.resolv.write_text("nameserver 127.0.0.1\noptions timeout:1\n")
        subprocess.run(["mount", "--bind", str(self.resolv), "/etc/resolv.conf"], check=True)
        self.env["SSL_CERT_FILE"] = str(authority.certificate)
        self.env["PATH"] = str(self.tools)
        for tool in TOOLS:
            found = shutil.which(tool)
            if found:
                # No links: a case may put another program in the place of one.
                (self.tools / tool).write_text(f'#!/bin/sh\nexec {found} "$@"\n')
                (self.tools / tool).chmod(0o755)
        self.answers, self.records = {}, {}
        self.pull_secret()

    # Servers

    def names(self, records, address="127.0.0.1", **more):
        return network.serve(self.stack, network.Names(address, records, **more))

    def clock(self, skew=0.0, **more):
        return network.serve(self.stack, network.Clock("127.0.0.1", skew, **more))

    def registry(self, address="127.0.0.1", certificate="good", **more):
        return network.serve(self.stack, network.Registry(
            address, self.authority.context(certificate), **more))

    def tls(self, address, certificate="good", port=443):
        return network.serve(self.stack, network.Tls(address, self.authority.context(certificate),
                                                     port))

    def proxy(self, **more):
        return network.serve(self.stack, network.Proxy("127.0.0.1", **more))

    # Inputs

    def pull_secret(self, registries=("quay.io", "registry.redhat.io"), account=ACCOUNT):
        import base64
        auth = base64.b64encode(account.encode()).decode()
        self.env["PULL_SECRET"] = json.dumps({"auths": {host: {"auth": auth} for host in registries}})

    def write(self, text, name="lab.yaml"):
        path = self.work / name
        path.write_text(text)
        return path

    def sample(self, name, **changes):
        """A blueprint of the project, with texts replaced."""
        text = (ROOT / "blueprints" / name).read_text()
        for before, after in changes.get("replace", []):
            if before not in text:
                raise ValueError(f"{name} has no `{before}`")
            text = text.replace(before, after)
        facts = ROOT / "blueprints" / name.replace(".yaml", ".facts.yaml")
        if facts.exists() and changes.get("facts"):
            (self.work / "lab.facts.yaml").write_text(facts.read_text())
        return self.write(text + changes.get("more", ""))

    def stand_in(self, name, rows):
        """A program that answers by the words of its command line: rows {words, output, errors, code}."""
        answers = self.folder / f"{name}.json"
        answers.write_text(json.dumps(rows))
        path = self.tools / name
        path.unlink(missing_ok=True)
        path.write_text(STAND_IN.format(python=sys.executable, name=name, answers=str(answers),
                                        calls=str(self.folder / "calls")))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def calls(self):
        path = self.folder / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    # Runs

    def doctor(self, *words, blueprint="lab.yaml", code=None, env=None):
        """Runs it; results by id, each with `verdict`, `text` (all evidence) and `remedies`."""
        done = self.run("doctor", blueprint, "-o", "json", *words, env=env)
        self.last = done
        for secret in SECRETS:
            self.check(secret not in done.text, f"a secret is shown: {done.text}")
        if code is not None:
            self.check(done.code == code, f"exit code {done.code}, not {code}: {done.text}")
        try:
            document = json.loads(done.stdout)
        except ValueError:
            self.check(False, f"no document: {done.text}")
            return {}
        self.document = document
        return {check["id"]: check for check in document.get("checks", [])}

    def expect(self, results, number, verdict, evidence="", remedy=""):
        """Verdict, evidence and remedy of one check."""
        found = results.get(number)
        if not self.check(found is not None, f"no result for {number}: {self.last.text}"):
            return
        said = json.dumps(found, ensure_ascii=False)
        self.check(found["verdict"] == verdict, f"{number} is {found['verdict']}, not {verdict}: {said}")
        all_evidence = "\n".join(one["evidence"] for one in found["findings"])
        all_remedies = "\n".join(one.get("remedy", "") for one in found["findings"])
        for text in [evidence] if isinstance(evidence, str) else evidence:
            self.check(re.search(text, all_evidence), f"{number}: no evidence `{text}`: {said}")
        if verdict in ("pass", "skip"):
            self.check(not all_remedies.strip(), f"{number}: a remedy for nothing: {said}")
        else:
            self.check(remedy and re.search(remedy, all_remedies),
                       f"{number}: no remedy `{remedy}`: {said}")
        self.check(found["source"], f"{number} has no source")
