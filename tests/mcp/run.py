#!/usr/bin/env python3
"""`gpuctl mcp`, message by message: both ways to open a connection, each tool with a good and a bad end,
what is no message at all, and that nothing is written, printed or told that must not be."""

import json
import os
import pathlib
import random
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE), str(HERE.parent / "git_secrets")]
from scene import Scene, shows  # noqa: E402
from server import NEWEST_WITH_HANDSHAKE, STATELESS, Server, meta  # noqa: E402
from support import program  # noqa: E402
from support.program import ROOT, Tally, read_tree  # noqa: E402

SAMPLE = "aws-minimal.yaml"
FACTS = "aws-minimal.facts.yaml"
TOOLS = ["validate", "render", "plan", "cost", "explain_origin", "explain", "catalog", "mig_check", "mig_plan"]
MOST_MESSAGE_BYTES = 1 << 20
RANDOM_MESSAGES = 1500
SOPS = "{sops: {recipients: [age1" + "q" * 58 + "]}}"
SEALED = "{sealedSecrets: {certificate: {file: fleet.pem}}}"


class Suite:
    def __init__(self, gpuctl, folder, tally):
        self.gpuctl, self.folder, self.tally = gpuctl, folder, tally
        self.env = program.environment(folder / "home")

    def server(self, *options):
        return Server(self.gpuctl, self.env, self.folder, *options)

    def opened(self):
        server = self.server()
        server.shake_hands()
        return server

    def check(self, good, what):
        self.tally.check(good, what if isinstance(what, str) else json.dumps(what)[:1500])

    def expect_error(self, answer, code, *said, identity=None):
        error = answer.get("error", {})
        self.check(error.get("code") == code and answer["id"] == identity
                   and all(part in json.dumps(answer) for part in said),
                   f"{answer} is not error {code} of {identity!r} with {said}")

    def expect_result(self, result, failed, *said):
        """A result of a tool in its two forms, which must say the same."""
        structured = result.get("structuredContent", {})
        blocks = [block["text"] for block in result.get("content", [])]
        good = (result.get("isError") == failed and blocks and json.loads(blocks[-1]) == structured
                and (structured.get("exitCode") != 0) == failed
                and all(finding["code"] in blocks[0] for finding in structured["findings"])
                and len(blocks) == (2 if structured["findings"] else 1)
                and all(part in "".join(blocks) for part in said))
        self.check(good, f"isError {result.get('isError')}, wanted {failed} with {said}: {str(result)[:1500]}")
        return structured


def check_handshake(suite):
    with suite.server() as server:
        suite.expect_error(server.ask("tools/list"), -32602, "initialize", identity=1)
        suite.check(server.ask("ping")["result"] == {}, "a ping before all else")
        for wanted, got in ((NEWEST_WITH_HANDSHAKE,) * 2, ("2025-06-18",) * 2, ("2024-11-05",) * 2,
                            ("2025-03-26", NEWEST_WITH_HANDSHAKE), ("1999-01-01", NEWEST_WITH_HANDSHAKE),
                            (STATELESS, NEWEST_WITH_HANDSHAKE)):
            result = server.shake_hands(wanted)
            suite.check(result["protocolVersion"] == got and result["serverInfo"]["name"] == "gpuctl"
                        and set(result["capabilities"]) == {"tools", "resources"}, result)
        suite.expect_error(server.ask("initialize", {"protocolVersion": 1}), -32602, identity=server.last_id)
        suite.check("resultType" not in server.ask("tools/list")["result"], "fields of a newer revision")
        code, rest, said = server.end()
        suite.check((code, rest, said) == (0, b"", b""), f"the end: {code} {rest} {said}")


def check_stateless(suite):
    with suite.server() as server:
        found = server.ask("server/discover", {"_meta": meta()})["result"]
        suite.check(found["supportedVersions"] == [STATELESS] and found["resultType"] == "complete"
                    and found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "gpuctl"
                    and found["ttlMs"] > 0 and found["cacheScope"] == "public", found)
        tools = server.ask("tools/list", {"_meta": meta()})["result"]
        suite.check([tool["name"] for tool in tools["tools"]] == TOOLS and tools["ttlMs"] > 0, "tools of 2026-07-28")
        result = server.ask("tools/call", {"_meta": meta(), "name": "explain", "arguments": {"about": "GPU0201"}})["result"]
        suite.check(result["resultType"] == "complete" and not result["isError"], result)
        wrong = server.ask("tools/list", {"_meta": meta("1900-01-01")})
        suite.expect_error(wrong, -32022, identity=server.last_id)
        suite.check(wrong["error"]["data"] == {"supported": [STATELESS], "requested": "1900-01-01"}, wrong)
        suite.expect_error(server.ask("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": STATELESS}}),
                           -32602, "clientCapabilities", identity=server.last_id)
        suite.expect_error(server.ask("server/discover"), -32602, identity=server.last_id)
        suite.expect_error(server.ask("ping", {"_meta": meta()}), -32601, identity=server.last_id)
        suite.expect_error(server.ask("resources/read", {"_meta": meta(), "uri": "gpuctl://codes/none"}), -32602,
                           "Resource not found", identity=server.last_id)


def check_messages(suite):
    """What is no request gets an error that says so, or no answer, and the next one is answered."""
    with suite.opened() as server:
        for data, code, identity in (
                (b"{", -32700, None), (b"\xff\xfe", -32700, None), (b'{"a":1} x', -32700, None), (b"{'a':1}", -32700, None),
                (b"[" * 5000, -32700, None), (b"\x00", -32700, None), (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32700, None),
                (b"1", -32600, None), (b'"ping"', -32600, None), (b"null", -32600, None), (b"{}", -32600, None),
                (b"[]", -32600, None), (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
                (b'{"id":1,"method":"ping"}', -32600, 1), (b'{"jsonrpc":"1.0","id":"a","method":"ping"}', -32600, "a"),
                (b'{"jsonrpc":"2.0","id":2}', -32600, 2), (b'{"jsonrpc":"2.0","id":3,"method":4}', -32600, 3),
                (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
                (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
                (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, None),
                (b'{"jsonrpc":"2.0","id":5,"method":"tools/list","params":[]}', -32602, 5),
                (b'{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"apply"}}', -32602, 6),
                (b'{"jsonrpc":"2.0","id":6,"method":"tools/call"}', -32602, 6),
                (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"validate","arguments":[]}}', -32602, 7),
                (b'{"jsonrpc":"2.0","id":8,"method":"tools/list","params":{"cursor":"x"}}', -32602, 8),
                (b'{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}', -32002, 9),
                (b'{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"gpuctl://schema/../x"}}', -32002, 9),
                (b'{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{}}', -32602, 9),
                (b'{"jsonrpc":"2.0","id":9,"method":"logging/setLevel","params":{}}', -32601, 9),
                (b'{"jsonrpc":"2.0","id":9,"method":"prompts/list"}', -32601, 9),
                (b'{"jsonrpc":"2.0","id":"\xe2\x80\xa8","method":"a\\nb"}', -32601, "\u2028")):
            suite.expect_error(server.raw(data), code, identity=identity)
        for silent in (b"", b"  ", b"\r", b'{"jsonrpc":"2.0","method":"ping"}', b'{"jsonrpc":"2.0","method":"tools/call"}',
                       b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
                       b'{"jsonrpc":"2.0","id":1,"result":{}}', b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}'):
            server.write(silent + b"\n")
            suite.check(server.ask("ping")["result"] == {}, f"a ping after {silent}")
        for size in (MOST_MESSAGE_BYTES + 1, 5 * MOST_MESSAGE_BYTES):
            suite.expect_error(server.raw(b'"' + b"a" * (size - 2) + b'"'), -32600, "longer than")
        text = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"'
        full = text + b"b" * (MOST_MESSAGE_BYTES - len(text) - 3) + b'"}}'
        suite.check(len(full) == MOST_MESSAGE_BYTES and server.raw(full).get("result") == {}, "the longest message")
        suite.check(server.raw(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r').get("result") == {}, "a carriage return")
        # All at once, and the last one without its line feed.
        server.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * 300 + b'{"jsonrpc":"2.0","id":2,"method":"ping"}')
        code, rest, said = server.end()
        ids = [json.loads(line)["id"] for line in rest.splitlines()]
        suite.check((code, said) == (0, b"") and ids == [1] * 300 + [2], f"messages in a row: {code} {said} {ids[-3:]}")


def check_tools(suite):
    folder = suite.folder
    with suite.opened() as server:
        listed = server.ask("tools/list")["result"]["tools"]
        suite.check([tool["name"] for tool in listed] == TOOLS, listed)
        for tool in listed:
            schema = tool["inputSchema"]
            suite.check(tool["annotations"] == {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True,
                                                "openWorldHint": False}, tool["annotations"])
            suite.check(schema["type"] == "object" and schema["required"] and not schema["additionalProperties"]
                        and set(schema["required"]) <= set(schema["properties"])
                        and all(part.get("description") or part.get("enum") for part in schema["properties"].values()),
                        tool)
        wanted = {"validate": {"blueprints", "facts", "crds", "clusters", "stages", "waves", "strict", "date"},
                  "explain_origin": {"object", "path", "blueprint", "facts"}, "catalog": {"table", "words", "platform", "date"},
                  "mig_plan": {"gpus", "demand", "perNode", "headroom", "objective"}}
        for tool in listed:
            properties = set(tool["inputSchema"]["properties"])
            suite.check(properties == wanted.get(tool["name"], properties), f"{tool['name']}: {properties}")

        good = suite.expect_result(server.call("validate", blueprints=[SAMPLE]), False, '"accepted":true')
        suite.check(good["kind"] == "Validate", good)
        absolute = suite.expect_result(server.call("validate", blueprints=[str(folder / SAMPLE)]), False)
        suite.check(absolute["blueprints"][0]["file"] == str(folder / SAMPLE), absolute)
        bad = suite.expect_result(server.call("validate", blueprints=["wrong.yaml"]), True, "wrong.yaml:", "aws")
        suite.check(bad["findings"][0]["severity"] == "error" and bad["findings"][0]["spans"][0]["line"] > 0, bad)
        # Findings of one call are not said again in the next.
        suite.check(suite.expect_result(server.call("validate", blueprints=[SAMPLE]), False) == good, "a second time")
        suite.expect_result(server.call("validate", blueprints=["none.yaml"]), True, "none.yaml")
        suite.expect_result(server.call("validate", blueprints=["-"]), True, "standard input is empty")
        suite.expect_result(server.call("validate", blueprints=["/dev/stdin"]), True)

        rendered = suite.expect_result(server.call("render", blueprints=[SAMPLE]), False, "apiVersion")
        files = {one["path"]: one["content"] for one in rendered["clusters"][0]["files"]}
        done = program.run([suite.gpuctl, "render", SAMPLE, "-o", "out"], env=suite.env, cwd=folder)
        there = {path: text.decode() for path, text in read_tree(folder / "out").items()}
        suite.check(done.returncode == 0 and files == there, "what is rendered is what `render` writes")
        suite.expect_result(server.call("render", blueprints=["wrong.yaml"]), True)

        costs = suite.expect_result(server.call("cost", blueprints=[SAMPLE], hours=["100"]), False, "USD")
        compared = suite.expect_result(server.call("cost", blueprints=[SAMPLE], hours=["100"], compare=[SAMPLE]), False)
        rows = compared.pop("compared")
        suite.check(rows and all(row["this"] == row["other"] for row in rows), rows)
        suite.check(compared == costs and "month" in json.dumps(costs), costs)
        suite.expect_result(server.call("cost", blueprints=[SAMPLE], costs="none.yaml"), True, "none.yaml")
        suite.expect_result(server.call("cost", blueprints=[SAMPLE], hours=["always"]), True)
        suite.expect_result(server.call("cost", blueprints=["wrong.yaml"]), True, "wrong.yaml:")

        page = suite.expect_result(server.call("explain", about="GPU0201"), False)
        suite.check(page["page"] == (ROOT / "docs/codes/GPU0201.md").read_text(), page)
        suite.expect_result(server.call("explain", about="spec.gpuPools"), False, "variants")
        suite.expect_result(server.call("explain", about="spec.gpuPools", recursive=True), False)
        suite.expect_result(server.call("explain", about="GPU9999"), True, "GPU0004")
        suite.expect_result(server.call("explain", about="spec.gpuPolls"), True, "GPU0008", "gpuPools")
        suite.expect_result(server.call("explain", about="--origin"), True)
        suite.expect_result(server.call("explain_origin", object="clusters/none", path="spec", blueprint=SAMPLE), True)
        suite.expect_result(server.call("explain_origin", object="Namespace/nvidia-gpu-operator", path="metadata.name", blueprint=SAMPLE), False)

        gpus = suite.expect_result(server.call("catalog", table="gpus"), False)
        model = next(row["model"] for row in gpus["rows"] if row.get("migClass") == "A100-40")
        suite.expect_result(server.call("catalog", table="machines", words=[model, "8"]), False)
        suite.expect_result(server.call("catalog", table="releases", date="2026-01-01"), False)
        suite.expect_result(server.call("catalog", table="platforms"), False, "aws")
        suite.expect_result(server.call("catalog", table="gpus", words=["nothing like it"]), True, "GPU0012")
        suite.expect_result(server.call("catalog", table="secrets"), True)
        suite.expect_result(server.call("catalog", table="platforms", platform="aws"), True, "GPU0001")

        suite.expect_result(server.call("catalog", table="mig"), False, "profiles")
        gpu, first = model, "1g.5gb"
        suite.expect_result(server.call("mig_check", gpu=gpu, layouts=[f"{first}:1"]), False)
        suite.expect_result(server.call("mig_check", gpu=gpu, layouts=[f"{first}:99"]), True)
        suite.expect_result(server.call("mig_check", gpu="none", layouts=["1g:1"]), True, "unknown GPU model")
        suite.expect_result(server.call("mig_plan", gpus=[gpu], demand=f"{first}:9", perNode=8), False)
        suite.expect_result(server.call("mig_plan", gpus=[gpu], demand=f"{first}:9", perNode=1000), True, "--per-node")

        wrong = ({}, {"blueprints": []}, {"blueprints": SAMPLE}, {"blueprints": [1]}, {"blueprints": [""]},
                 {"blueprints": ["a\0b"]}, {"blueprints": [SAMPLE], "strict": "yes"}, {"blueprints": [SAMPLE], "facts": []},
                 {"blueprints": [SAMPLE], "report": ["sarif=out.sarif"]}, {"blueprints": [SAMPLE], "date": "tomorrow"},
                 {"blueprints": [SAMPLE], "jobs": 4})
        for arguments in wrong:
            suite.expect_result(server.call("validate", **arguments), True, "GPU0001")
        # Words of arguments are never options.
        for word in ("--report=sarif=out.sarif", "--help", "-h", "--version", "help", "--"):
            suite.expect_result(server.call("validate", blueprints=[word]), True)
        suite.expect_result(server.call("render", blueprints=[SAMPLE, "--output=out2"]), True)
        suite.expect_result(server.call("mig_plan", gpus=[gpu], demand=f"{first}:9", perNode="8"), True, "perNode")


def check_plan(suite):
    folder = suite.folder
    done = program.run([suite.gpuctl, "apply", SAMPLE, "--repo", "repo"], env=suite.env, cwd=folder)
    suite.check(done.returncode == 0, done.stderr.decode())
    before = read_tree(folder / "repo")
    with suite.opened() as server:
        same = suite.expect_result(server.call("plan", blueprints=[SAMPLE], repo="repo"), False)
        suite.check(same["changed"] is False and same["dryRun"] is True, same)
        changed = suite.expect_result(server.call("plan", blueprints=["changed.yaml"], facts=FACTS, repo="repo"), False)
        suite.check(changed["changed"] is True and changed["clusters"][0]["worst"] == changed["worst"], changed)
        suite.expect_result(server.call("plan", blueprints=["changed.yaml"], facts=FACTS, repo="repo", maxEffect="none"), True,
                            "GPU0690")
        suite.expect_result(server.call("plan", blueprints=[SAMPLE], repo="repo", maxEffect="nonsense"), True, "GPU0001")
        new = suite.expect_result(server.call("plan", blueprints=[SAMPLE], repo="not-there"), False)
        suite.check(new["changed"] is True and not (folder / "not-there").exists(), "a repository that is not there")
        for address in ("https://git.example.invalid/fleet", "file:///" + str(folder / "repo"), "git@example.invalid:fleet",
                        "ssh://git@example.invalid/fleet"):
            suite.expect_result(server.call("plan", blueprints=[SAMPLE], repo=address), True, "GPU0001", "clone it, and give the path")
        suite.expect_result(server.call("plan", blueprints=[SAMPLE]), True, "repo")
    suite.check(read_tree(folder / "repo") == before, "a plan leaves the repository as it was")


def check_secrets(suite):
    """Secrets are there, in files and variables, and the command line would encrypt them: here they are not read."""
    for engine, secrets in (("flux", SOPS), ("argocd", SEALED)):
        scene = Scene(suite.gpuctl, suite.folder / f"secrets-{engine}", engine, secrets).with_double()
        shutil.copy(HERE.parent / "git_secrets/good.pem", scene.inputs / "fleet.pem")
        (scene.inputs / "registry.json").unlink()  # who wants to read it fails
        with Server(suite.gpuctl, scene.env, scene.inputs) as server:
            server.shake_hands()
            answers = [suite.expect_result(server.call("validate", blueprints=["lab.yaml"]), False),
                       suite.expect_result(server.call("render", blueprints=["lab.yaml"]), False),
                       suite.expect_result(server.call("plan", blueprints=["lab.yaml"], repo="repo"), False)]
            # A file with a secret that is no blueprint, and a blueprint with a secret in clear.
            (scene.inputs / "token.yaml").write_text(scene.env["LICENCE"] + "\n")
            text = scene.blueprint.read_text()
            (scene.inputs / "clear.yaml").write_text(text.replace("{env: LICENCE}", scene.env["LICENCE"]))
            for name in ("token.yaml", "clear.yaml"):
                answers.append(suite.expect_result(server.call("validate", blueprints=[name]), True))
                answers.append(suite.expect_result(server.call("render", blueprints=[name]), True))
            code, _, said = server.end()
        suite.check(code == 0 and not shows(json.dumps(answers)) and not shows(said), f"{engine}: a secret is told")
        suite.check(not scene.record.exists(), f"{engine}: a program was run")
        suite.check(not scene.repo.exists() and not list(scene.home.iterdir()), f"{engine}: something was written")


def check_resources(suite):
    with suite.opened() as server:
        listed = server.ask("resources/list")["result"]["resources"]
        suite.check([one["uri"] for one in listed] == [f"gpuctl://schema/{kind}" for kind in ("blueprint", "facts", "fleet")],
                    listed)
        for one in listed:
            content = server.ask("resources/read", {"uri": one["uri"]})["result"]["contents"][0]
            kind = one["uri"].rpartition("/")[2]
            done = program.run([suite.gpuctl, "schema", kind], env=suite.env, cwd=suite.folder)
            suite.check(content["mimeType"] == one["mimeType"] and content["text"] == done.stdout.decode(), one)
        templates = server.ask("resources/templates/list")["result"]["resourceTemplates"]
        suite.check([one["uriTemplate"] for one in templates] == ["gpuctl://codes/{code}"], templates)
        content = server.ask("resources/read", {"uri": "gpuctl://codes/GPU0201"})["result"]["contents"][0]
        suite.check(content["text"] == (ROOT / "docs/codes/GPU0201.md").read_text(), content)


def mutated(rng, message):
    """A message with some bytes changed, taken out, doubled, or put in."""
    data = bytearray(message)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data)) if data else 0
        kind = rng.randrange(4)
        if kind == 0 and data:
            data[at] = rng.randrange(256)
        elif kind == 1 and data:
            del data[at:at + rng.randint(1, 8)]
        elif kind == 2:
            data[at:at] = data[at:at + rng.randint(1, 30)]
        else:
            data[at:at] = rng.choice((b"{", b"[", b'"', b"\\u0000", b"null", b"-1e999", b"\xc3", b"}}", b":"))
    return bytes(data).replace(b"\n", b" ")


def check_random(suite):
    """Whatever comes, each line of the server is a sound response, and a ping after it is answered."""
    rng = random.Random(7)
    seeds = [json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() for method, params in (
        ("initialize", {"protocolVersion": NEWEST_WITH_HANDSHAKE, "capabilities": {}}), ("ping", {}), ("tools/list", {}),
        ("tools/call", {"name": "explain", "arguments": {"about": "GPU0201"}}),
        ("tools/call", {"name": "mig_check", "arguments": {"gpu": "A", "layouts": ["1g:1"]}}),
        ("tools/call", {"name": "catalog", "arguments": {"table": "codes", "words": ["quota"]}}),
        ("resources/read", {"uri": "gpuctl://codes/GPU0201"}), ("server/discover", {"_meta": meta()}))]
    bad = []
    with suite.opened() as server:
        for turn in range(RANDOM_MESSAGES):
            server.write(mutated(rng, rng.choice(seeds)) + b'\n{"jsonrpc":"2.0","id":"end %d","method":"ping"}\n' % turn)
            for _ in range(2):
                line = server.line()
                answer = json.loads(line) if line is not None else {}
                if answer.get("jsonrpc") != "2.0" or ("result" in answer) == ("error" in answer):
                    bad.append(line)
                if answer.get("error", {}).get("code") == -32603:
                    bad.append(line)
                if answer.get("id") == f"end {turn}":
                    break
        code, rest, said = server.end()
    suite.check(not bad and (code, rest, said) == (0, b"", b""), f"{bad[:3]} {code} {rest[:300]} {said[:300]}")


def check_process(suite):
    """Memory that stays level, a client that goes away, and faults before there is a server."""
    def resident(server):
        status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])
    with suite.opened() as server:
        for _ in range(20):
            server.call("validate", blueprints=[SAMPLE])
        first = resident(server)
        for _ in range(100):
            server.call("validate", blueprints=[SAMPLE])
        grown = resident(server) - first
        suite.check(grown < 4096 or "ASAN_OPTIONS" in os.environ, f"100 calls took {grown} KiB more")
    with suite.opened() as server:
        server.process.stdout.close()
        server.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * 3)
        server.process.stdin.close()
        code = server.process.wait(60)
        suite.check((code, server.process.stderr.read()) == (0, b""), "a client that has gone away")
        server.process.stderr.close()
    done = program.run([suite.gpuctl, "mcp", "--providers", "not-there"], env=suite.env, cwd=suite.folder)
    suite.check(done.returncode == 1 and b"not-there" in done.stderr and not done.stdout, done.stderr.decode())
    done = program.run([suite.gpuctl, "mcp", "--format", "json"], env=suite.env, cwd=suite.folder)
    suite.check(done.returncode == 64 and json.loads(done.stdout)["kind"] == "Usage", done.stdout.decode())
    done = program.run([suite.gpuctl, "mcp"], env=suite.env, cwd=suite.folder)
    suite.check((done.returncode, done.stdout, done.stderr) == (0, b"", b""), "input that is empty")


def main():
    gpuctl = program.arguments(__doc__).gpuctl
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="mcp-") as temporary:
        folder = pathlib.Path(temporary)
        (folder / "home").mkdir()
        shutil.copy(ROOT / "blueprints" / SAMPLE, folder / SAMPLE)
        shutil.copy(ROOT / "blueprints" / FACTS, folder / FACTS)
        text = (folder / SAMPLE).read_text()
        (folder / "wrong.yaml").write_text(text.replace("platform: aws", "platform: awss"))
        (folder / "changed.yaml").write_text(text.replace("replicas: 1", "replicas: 2"))
        suite = Suite(gpuctl, folder, tally)
        for check in (check_handshake, check_stateless, check_messages, check_tools, check_plan, check_secrets, check_resources,
                      check_random, check_process):
            check(suite)
    tally.close()


if __name__ == "__main__":
    main()
