#!/usr/bin/env python3
"""An editor with `gpuctl schema` helps: the YAML language server offers fields, shows what they are
for, and marks wrong values.

The server is the published one, in the versions of package-lock.json, fetched once into a cache
folder. `language_server.py --gpuctl PATH`
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]
from interop.tools import locked_packages  # noqa: E402
from support.program import Tally, arguments, environment, run  # noqa: E402

ANSWER_TIMEOUT_S = 60

BLUEPRINT = """\
apiVersion: gpuctl.dev/v1alpha1
kind: Blueprint
metadata: {{name: lab}}
spec:
  platform: {platform}
  gpuPools:
    - name: gpu
      {line}
"""


def server():
    """The program, installed as the lock file says."""
    folder = locked_packages(HERE, "editor", "the YAML language server")
    return folder / "node_modules/yaml-language-server/bin/yaml-language-server"


class Editor:
    """Talks to the server as an editor does: JSON-RPC over its standard input and output."""

    def __init__(self, program, schemas):
        self.process = subprocess.Popen(["node", program, "--stdio"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.settings = {"yaml": {"schemas": schemas, "validate": True, "hover": True, "completion": True,
                                  "schemaStore": {"enable": False, "url": ""}}}
        self.number = 0
        self.arrived = threading.Condition()
        self.answers, self.marks = {}, {}
        threading.Thread(target=self.listen, daemon=True).start()
        self.ask("initialize", {
            "processId": os.getpid(), "rootUri": None,
            "capabilities": {"textDocument": {"completion": {"completionItem": {"documentationFormat": ["markdown"]}},
                                              "hover": {"contentFormat": ["markdown"]},
                                              "publishDiagnostics": {}},
                             "workspace": {"configuration": True}}})
        self.tell("initialized", {})
        self.tell("workspace/didChangeConfiguration", {"settings": self.settings})

    def write(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        self.process.stdin.flush()

    def tell(self, method, params):
        self.write({"method": method, "params": params})

    def ask(self, method, params):
        self.number += 1
        number = self.number
        self.write({"id": number, "method": method, "params": params})
        return self.wait(lambda: number in self.answers, lambda: self.answers.pop(number), method)

    def wait(self, ready, result, what):
        with self.arrived:
            if not self.arrived.wait_for(ready, ANSWER_TIMEOUT_S):
                raise TimeoutError(f"no answer to {what}")
            return result()

    def listen(self):
        while True:
            length = 0
            while (line := self.process.stdout.readline().strip()):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if not length:
                return
            self.take(json.loads(self.process.stdout.read(length)))

    def take(self, message):
        if "method" in message and "id" in message:  # the server asks for its settings
            items = message.get("params", {}).get("items", [])
            result = [self.settings.get(item.get("section"), {}) for item in items] \
                if message["method"] == "workspace/configuration" else None
            self.write({"id": message["id"], "result": result})
            return
        with self.arrived:
            if message.get("method") == "textDocument/publishDiagnostics":
                self.marks[message["params"]["uri"]] = message["params"]["diagnostics"]
            elif "id" in message:
                self.answers[message["id"]] = message.get("result")
            self.arrived.notify_all()

    def open(self, file, text):
        uri = file.as_uri()
        file.write_text(text)
        self.tell("textDocument/didOpen",
                  {"textDocument": {"uri": uri, "languageId": "yaml", "version": 1, "text": text}})
        return uri

    def marked(self, uri):
        """What the server says is wrong, once it has said anything."""
        return self.wait(lambda: uri in self.marks, lambda: self.marks[uri], "diagnostics")

    def offered(self, uri, line, column):
        answer = self.ask("textDocument/completion",
                          {"textDocument": {"uri": uri}, "position": {"line": line, "character": column}})
        return [item["label"] for item in (answer or {}).get("items", [])]

    def hover(self, uri, line, column):
        answer = self.ask("textDocument/hover",
                          {"textDocument": {"uri": uri}, "position": {"line": line, "character": column}})
        contents = (answer or {}).get("contents", "")
        return contents if isinstance(contents, str) else contents.get("value", "")

    def close(self):
        self.process.kill()
        self.process.wait()


def check(editor, folder, tally):
    def opened(name, platform, line):
        uri = editor.open(folder / name, BLUEPRINT.format(platform=platform, line=line))
        editor.marked(uri)  # by then it has read the schema
        return uri

    uri = opened("empty.yaml", "aws", "")
    offered = editor.offered(uri, 7, 6)
    for field in ("scaling", "instanceType", "spot"):
        tally.check(field in offered, f"completion in a pool does not offer `{field}`: {offered}")
    for field in ("machineType", "accelerator"):
        tally.check(field not in offered, f"completion on AWS offers `{field}`, which is of others")
    uri = opened("gke.yaml", "gke", "")
    tally.check("accelerator" in editor.offered(uri, 7, 6), "completion on GKE does not offer `accelerator`")

    uri = opened("scaling.yaml", "aws", "scaling: {min: 0, max: 4}")
    shown = editor.hover(uri, 7, 8)
    tally.check("autoscaler" in shown, f"hovering over `scaling` shows {shown!r}")

    for name, line, part in (("type.yaml", "replicas: many", "integer"), ("bound.yaml", "replicas: -1", "0"),
                             ("unknown.yaml", "autoscaling: {min: 0}", "autoscaling"),
                             ("enum.yaml", "taints: [{key: a, effect: Never}]", "NoSchedule")):
        uri = opened(name, "aws", line)
        marks = [mark for mark in editor.marked(uri) if mark["range"]["start"]["line"] == 7]
        tally.check(any(part in mark["message"] for mark in marks), f"{line}: marked with {marks}")
    uri = opened("platform.yaml", "azzure", "replicas: 1")
    tally.check(any(mark["range"]["start"]["line"] == 4 for mark in editor.marked(uri)),
                "an unknown platform is not marked")


def main():
    options = arguments(__doc__)
    program = server()
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        done = run([options.gpuctl, "schema"], env=environment(folder))
        schema = folder / "gpuctl.schema.json"
        schema.write_bytes(done.stdout)
        editor = Editor(program, {schema.as_uri(): "*.yaml"})
        try:
            check(editor, folder, tally)
        finally:
            editor.close()
    tally.close()


if __name__ == "__main__":
    main()
