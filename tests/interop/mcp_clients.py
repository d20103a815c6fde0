"""Published clients of the Model Context Protocol talk to `gpuctl mcp`: Python and TypeScript, with and without the
handshake. They check messages by the schemas of the protocol, and results by those that the tools give; here is checked
that all of them get the same."""

import json
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from interop.tools import mcp_clients  # noqa: E402
from support.program import ROOT, environment, run  # noqa: E402

STATELESS = "2026-07-28"
WITH_HANDSHAKE = "2025-11-25"


def check_mcp_clients(tally, gpuctl, scratch):
    python, packages = mcp_clients()
    shutil.copy(ROOT / "blueprints/aws-minimal.yaml", scratch / "good.yaml")
    text = (scratch / "good.yaml").read_text()
    (scratch / "bad.yaml").write_text(text.replace("platform: aws", "platform: awss"))
    first = None
    for program, mode, version in (
            ((python, HERE / "mcp/client.py"), "auto", STATELESS), ((python, HERE / "mcp/client.py"), "legacy", WITH_HANDSHAKE),
            (("node", HERE / "mcp/client.mjs"), "auto", STATELESS), (("node", HERE / "mcp/client.mjs"), "legacy", WITH_HANDSHAKE),
            (("node", HERE / "mcp/client.mjs"), "sdk", None)):
        what = f"{program[1].name} {mode}"
        done = run([*program, gpuctl, scratch, mode, packages], env=environment(scratch))
        if not tally.check(done.returncode == 0, f"{what}: {done.stderr.decode()[-2000:]}"):
            continue
        came = json.loads(done.stdout)
        spoken = came.pop("version")
        tally.check(version is None or spoken == version, f"{what}: it speaks {spoken}")
        first = first or came
        tally.check(came == first, f"{what}: it gets something else: {json.dumps(came)[:2000]}")
    if first is None:
        return
    bad = first["bad"]
    tally.check(first["server"] == "gpuctl" and first["readOnly"] and "validate" in first["tools"], "what is offered")
    tally.check(not first["good"]["isError"] and first["good"]["structured"]["blueprints"][0]["accepted"], "a good blueprint")
    tally.check(bad["isError"] and bad["structured"]["findings"][0]["code"] in bad["texts"][0], f"a bad blueprint: {bad}")
    tally.check(first["plan"]["structured"]["changed"] is True, "a plan")
    page = (ROOT / "docs/codes/GPU0201.md").read_text()
    tally.check(first["page"] == page == first["explain"]["structured"]["page"], "the page of a code")
