"""A client of `gpuctl mcp` that can send anything, wrong messages above all."""

import json
import select
import subprocess

STATELESS = "2026-07-28"
NEWEST_WITH_HANDSHAKE = "2025-11-25"
ANSWER_S = 60


def meta(version=STATELESS):
    return {"io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"}}


class Server:
    """A running `gpuctl mcp`; leaving it closes its input and waits for its end."""

    def __init__(self, gpuctl, env, folder, *options):
        self.last_id = 0
        self.process = subprocess.Popen([str(gpuctl), *options, "mcp"], env=env, cwd=folder, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if not self.process.stdout.closed:
            self.end()

    def write(self, data):
        self.process.stdin.write(data)

    def line(self):
        """The next line of the server, as bytes; None at its end."""
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], ANSWER_S)
            if not ready:
                raise TimeoutError("no answer")
            got = self.process.stdout.read(1 << 20)
            if not got:
                return None
            self.buffer += got
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line

    def raw(self, data):
        """Sends bytes and a line feed; what comes back, parsed."""
        self.write(data + b"\n")
        return json.loads(self.line())

    def ask(self, method, params=None, **more):
        """A request; the whole response, whose id must be that of the request."""
        self.last_id += 1
        message = {"jsonrpc": "2.0", "id": self.last_id, "method": method, **more}
        if params is not None:
            message["params"] = params
        answer = self.raw(json.dumps(message).encode())
        assert answer["jsonrpc"] == "2.0" and answer["id"] == self.last_id, answer
        return answer

    def shake_hands(self, version=NEWEST_WITH_HANDSHAKE):
        answer = self.ask("initialize", {"protocolVersion": version, "capabilities": {},
                                         "clientInfo": {"name": "test", "version": "0"}})
        self.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        return answer["result"]

    def call(self, tool, **arguments):
        """The result of a tool."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        return answer["result"] if "result" in answer else answer

    def end(self):
        """(exit code, rest of standard output, standard error)."""
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()
        rest = self.buffer + self.process.stdout.read()
        said = self.process.stderr.read()
        code = self.process.wait(ANSWER_S)
        self.process.stdout.close()
        self.process.stderr.close()
        return code, rest, said
