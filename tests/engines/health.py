"""Health checks of Argo CD, as they are rendered, on states that the real controllers write (health.json).

A Lua interpreter runs them with what Argo CD gives a script: the basic functions and `table`, but none for
strings, files or the system (util/lua/lua.go of argo-cd v3.5.1: libraries are off unless asked for). Each check
must have states of at least two outcomes, and each state a check.
"""

import json
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from interop.run import as_objects  # noqa: E402
from interop.tools import debian_program  # noqa: E402
from interop.variants import write_variant  # noqa: E402
from support.program import ROOT, environment, run, samples  # noqa: E402

# Blueprints with kinds that no sample has.
MORE = ("license-sealed", "vsphere-mixed-delivery")
CUSTOM = re.compile(r"resource\.customizations\.health\.[^_]+_(\w+)")
STATUSES = {"Healthy", "Progressing", "Degraded", "Suspended", "Missing", "Unknown"}
# What comes of a script is written by the harness with functions that the script does not have.
HARNESS = """
local show, write = string.format, io.write
local function judge(check, obj)
  local seen = {obj = obj, ipairs = ipairs, pairs = pairs, next = next, type = type, tostring = tostring,
                tonumber = tonumber, select = select, error = error, pcall = pcall, table = table}
  local script, wrong = load(check, "check", "t", seen)
  if not script then
    return nil, wrong
  end
  local good, answer = pcall(script)
  if not good or type(answer) ~= "table" then
    return nil, tostring(answer)
  end
  return answer.status, answer.message
end
getmetatable("").__index = nil
for _, one in ipairs(states) do
  local status, message = judge(checks[one.check], one.object)
  write(show("%q\\t%q\\n", tostring(status), tostring(message)))
end
"""


def lua():
    return shutil.which("lua5.4") or debian_program("lua5.4", "usr/bin/lua5.4")


def literal(value):
    """A value of JSON as Lua writes it; Argo CD leaves out what is null."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"[{literal(key)}] = {literal(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ", ".join(map(literal, value)) + "}"
    if isinstance(value, str):
        return '"' + "".join(f"\\{byte:03d}" if byte < 32 or byte > 126 or byte in b'"\\' else chr(byte)
                             for byte in value.encode()) + '"'
    return json.dumps(value)


def rendered_checks(tally, gpuctl, kubectl, scratch):
    """Kind -> the check, the same wherever it is rendered."""
    found = {}
    sources = samples() + [ROOT / f"tests/golden/render/{name}/blueprint.yaml" for name in MORE]
    for number, sample in enumerate(sources):
        folder = scratch / str(number)
        folder.mkdir()
        blueprint = write_variant(sample, "argocd", folder / "in")
        done = run([gpuctl, "render", blueprint, "-o", folder / "out"], env=environment(folder))
        if not tally.check(done.returncode == 0, f"{sample}: {done.stderr.decode()}"):
            continue
        for path in sorted((folder / "out").rglob("bootstrap/2-controller/argocd*.yaml")):
            for value in as_objects(kubectl, folder, path.read_bytes()).values():
                checks = {row["kind"]: row["check"] for row in value.get("spec", {}).get("resourceHealthChecks", [])}
                checks.update({match[1]: text for key, text in value.get("data", {}).items()
                               if (match := CUSTOM.fullmatch(key))})
                for kind, text in checks.items():
                    tally.check(found.setdefault(kind, text) == text, f"{sample}: {kind} is judged in two ways")
    return found


def check_health(tally, gpuctl, kubectl, scratch):
    folder = scratch / "health"
    folder.mkdir()
    checks = rendered_checks(tally, gpuctl, kubectl, folder)
    states = json.loads((HERE / "health.json").read_text())["states"]
    outcomes = {kind: {state["expect"][0] for state in states if state["kind"] == kind} for kind in checks}
    for kind, found in outcomes.items():
        tally.check(len(found) > 1, f"{kind}: states of {sorted(found)} alone")
    for state in states:
        tally.check(state["kind"] in checks, f"{state['kind']}: no check is rendered")
    states = [state for state in states if state["kind"] in checks]
    script = folder / "judge.lua"
    script.write_text(f"local checks = {literal(checks)}\nlocal states = {{\n" + "".join(
        f"  {{check = {literal(state['kind'])}, object = {literal(state['object'])}}},\n" for state in states)
        + "}\n" + HARNESS)
    done = run([lua(), script], env=environment(folder))
    answers = [[word[1:-1].replace('\\"', '"') for word in line.split("\t")]
               for line in done.stdout.decode().splitlines()]
    if not tally.check(done.returncode == 0 and len(answers) == len(states), f"lua: {done.stderr.decode()}"):
        return
    for state, (status, message) in zip(states, answers):
        wanted, text = state["expect"]
        tally.check(status == wanted and status in STATUSES and text in message,
                    f"{state['kind']}, {state['name']}: {status}: {message}")
