"""A stand-in for gcloud: it knows what was made, and refuses what the service would refuse.

The folder in the variable CLOUD holds `calls` (a JSON list of words a line) and `made.json`.
"""

import json
import os
import pathlib
import sys

CLOUD = pathlib.Path(os.environ["CLOUD"])
words = sys.argv[1:]
with open(CLOUD / "calls", "a", encoding="utf-8") as calls:
    calls.write(json.dumps(words) + "\n")
made = json.loads((CLOUD / "made.json").read_text())
plain = [word for word in words if not word.startswith("--")]
flags = dict(word[2:].split("=", 1) if "=" in word else (word[2:], "") for word in words
             if word.startswith("--"))


def refuse(text):
    sys.exit(f"ERROR: (gcloud.{'.'.join(plain[:-1])}) {text}")


def need(*key):
    if "/".join(key) not in made:
        refuse(f"{' '.join(key)} was not found")


def main():
    if "project" not in flags or "quiet" not in flags:
        refuse("no project, or questions")
    if (CLOUD / "denied").exists():
        refuse("PERMISSION_DENIED: you may not do this")
    if plain[:2] == ["services", "enable"]:
        return
    if plain[:2] == ["projects", "add-iam-policy-binding"]:
        account = "service-accounts/" + flags["member"].removeprefix("serviceAccount:")
        if account not in made or (CLOUD / "deaf").exists():
            refuse("INVALID_ARGUMENT: the service account does not exist")
        if not made[account]["known"]:  # the first time; it takes a while until all have heard of it
            made[account]["known"] = True
            (CLOUD / "made.json").write_text(json.dumps(made))
            refuse("INVALID_ARGUMENT: the service account does not exist")
        return
    kind, verb, name = plain[-3:]
    if kind == "service-accounts" and verb == "create":
        name = f"{name}@{flags['project']}.iam.gserviceaccount.com"
    parent = flags.get("cluster", flags.get("router", ""))
    key = "/".join(part for part in (kind, parent, name) if part)
    if verb == "describe":
        need(key)
        field = flags["format"].removeprefix("value(").removesuffix(")")
        print(made[key].get(field, name))
    elif verb == "delete":
        need(key)
        del made[key]
    elif verb == "create":
        if key in made:
            refuse(f"{key} already exists")
        made[key] = {"status": "RUNNING", "known": False, "config.labels": flags.get("node-labels", "")}
        if kind in ("subnets", "firewall-rules"):
            need("networks", flags["network"])
        if kind == "nats":
            need("routers", flags["router"])
        if kind == "node-pools":
            need("clusters", flags["cluster"])
            if f"node-pools/{parent}/default-pool" in made and name != "default-pool":
                refuse("the first pool is still there: GPU nodes would get a taint")
        if kind == "clusters":
            made[f"node-pools/{name}/default-pool"] = dict(made[key])
    else:
        refuse("unknown")
    (CLOUD / "made.json").write_text(json.dumps(made))


main()
