"""Remembers what was made in a project, and refuses what the service would refuse, in its words.

DOUBLE_CLOUD names the folder: a JSON file a thing, and `calls`, a line a change. DOUBLE_SCENARIO names a JSON file:
`polls`: looks until a change is over (1); `stockout`, `refuse`, `half`: texts by name of the thing, or by NAME@ZONES for
a node pool in these zones: it ends in status ERROR; it is not made; it is made although the call fails; `taken`: names that somebody else makes first; `busy`: how
often node pools are refused; `unreadable`: names that cannot be described; `kill`: {verb, name, when, who, nth}.
"""
import os
import signal
import sys

import plain_json as json

CLOUD = os.environ["DOUBLE_CLOUD"]
given = json.load(open(os.environ["DOUBLE_SCENARIO"])) if os.environ.get("DOUBLE_SCENARIO") else {}
words = sys.argv[1:]
plain = [word for word in words if not word.startswith("--")]
flags = {}
for word in words:
    if word.startswith("--"):
        key, _, value = word[2:].partition("=")
        flags.setdefault(key, []).append(value)
VERBS = ("create", "describe", "delete", "list", "enable", "update", "get-credentials", "get-iam-policy",
         "add-iam-policy-binding", "remove-iam-policy-binding")
verb = next(word for word in plain if word in VERBS)
group = plain[:plain.index(verb)]
rest = plain[plain.index(verb) + 1:]
kind = group[-1]
name = rest[0] if rest else ""


def one(key, otherwise=""):
    return flags.get(key, [otherwise])[0]


def note(text):
    with open(os.path.join(CLOUD, "calls"), "a") as out:
        out.write(text + "\n")


def refuse(text):
    print(f"ERROR: (gcloud.{'.'.join(group + [verb])}) {text}", file=sys.stderr)
    sys.exit(1)


def path(of, called):
    return os.path.join(CLOUD, f"{of}--{called}".replace("/", "_").replace("@", "_at_"))


def load(of, called):
    try:
        with open(path(of, called)) as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def store(of, called, thing):
    """Whole or not at all."""
    with open(os.path.join(CLOUD, "..", f"writing-{os.getpid()}"), "w") as out:
        json.dump(thing, out)
    os.rename(out.name, path(of, called))


def things(of):
    for file in sorted(os.listdir(CLOUD)):
        if file.startswith(of + "--"):
            try:
                with open(os.path.join(CLOUD, file)) as source:
                    yield json.load(source)
            except FileNotFoundError:
                pass


def kill(when):
    """Once: the driver, or this program, or both are killed."""
    told = given.get("kill", {})
    if told.get("when") != when or told.get("verb") != verb or told.get("name") not in (name, "*"):
        return
    spent = os.path.join(CLOUD, "..", "killed")
    if os.path.exists(spent):
        return
    counted = os.path.join(CLOUD, "..", "counted")
    count = int(open(counted).read() or 0) if os.path.exists(counted) else 0
    with open(counted, "w") as out:
        out.write(str(count + 1))
    if count + 1 < told.get("nth", 1):
        return
    open(spent, "w").close()
    if told["who"] in ("driver", "both"):
        os.kill(os.getppid(), signal.SIGKILL)
    if told["who"] in ("program", "both"):
        os.kill(os.getpid(), signal.SIGKILL)


def told(key, called, zones):
    """The text for a thing in its zones."""
    texts = given.get(key, {})
    return texts.get(called) or texts.get(f"{called}@{zones}")


def settle(of, called, thing):
    """A look at something that changes: the last one sees it changed."""
    if thing.get("left", 0) > 0:
        thing["left"] -= 1
    elif thing.get("status") == "PROVISIONING":
        text = told("stockout", thing["name"], ",".join(thing.get("locations", [])))
        thing["status"] = "ERROR" if text else "RUNNING"
        if text:
            thing["statusMessage"] = text
            thing["conditions"] = [{"code": "GCE_STOCKOUT", "canonicalCode": "RESOURCE_EXHAUSTED", "message": text}]
    elif thing.get("status") == "STOPPING":
        os.unlink(path(of, called))
        return None
    else:
        return thing
    store(of, called, thing)
    return thing


def made():
    """What the flags make."""
    if kind == "networks":
        return {"name": name, "mtu": int(one("mtu", "1460")), "autoCreateSubnetworks": False}
    if kind == "subnets":
        pairs = [pair.partition("=") for pair in one("secondary-range").split(",") if pair]
        return {"name": name, "ipCidrRange": one("range"), "network": "https://compute/v1/projects/p/global/networks/" + one("network"),
                "secondaryIpRanges": [{"rangeName": key, "ipCidrRange": value} for key, _, value in pairs]}
    if kind in ("routers", "firewall-rules"):
        return {"name": name, "network": "https://compute/v1/projects/p/global/networks/" + one("network")}
    if kind == "clusters":
        return {"name": name, "status": "PROVISIONING", "left": given.get("polls", 1), "network": one("network"),
                "subnetwork": one("subnetwork"), "ipAllocationPolicy": {
                    "clusterSecondaryRangeName": one("cluster-secondary-range-name"),
                    "servicesSecondaryRangeName": one("services-secondary-range-name")},
                "networkConfig": {"datapathProvider": "ADVANCED_DATAPATH" if "enable-dataplane-v2" in flags else "LEGACY_DATAPATH"},
                "privateClusterConfig": {"enablePrivateNodes": "enable-private-nodes" in flags},
                "workloadIdentityConfig": {"workloadPool": one("workload-pool")}}
    if kind == "node-pools":
        config = {"machineType": one("machine-type"), "labels": dict(pair.split("=", 1) for pair in one("node-labels").split(",") if pair)}
        accelerator = dict(pair.split("=", 1) for pair in one("accelerator").split(",") if pair)
        if accelerator:
            config["accelerators"] = [{"acceleratorType": accelerator["type"], "acceleratorCount": accelerator["count"]}]
        if "spot" in flags:
            config["spot"] = True
        return {"name": name, "status": "PROVISIONING", "left": given.get("polls", 1), "config": config,
                "locations": one("node-locations").split(",")}
    return {"name": name}


def need(of, called):
    if called and load(of, called) is None:
        refuse(f"Could not fetch resource:\n - The resource 'projects/p/global/{of}/{called}' was not found")


def busy():
    """GKE takes one change of a cluster at a time."""
    for of in ("clusters", "node-pools"):
        for thing in things(of):
            if thing.get("status") in ("PROVISIONING", "STOPPING"):
                note(f"refused {verb} {kind} {name}")
                refuse("ResponseError: code=400, message=FAILED_PRECONDITION: Cluster is running incompatible operation operation-17")
    spent = os.path.join(CLOUD, "..", "busy")
    count = int(open(spent).read()) if os.path.exists(spent) else 0
    if kind == "node-pools" and count < given.get("busy", 0):
        with open(spent, "w") as out:
            out.write(str(count + 1))
        refuse("ResponseError: code=400, message=FAILED_PRECONDITION: Cluster is running incompatible operation operation-18")


def create():
    key = one("cluster") + "." + name if kind == "node-pools" else name
    if kind == "service-accounts":
        key = f"{name}@{one('project')}.iam.gserviceaccount.com"
    if told("refuse", name, one("node-locations")):
        refuse(told("refuse", name, one("node-locations")))
    if name in given.get("taken", []) and load(kind, key) is None:
        store(kind, key, {**made(), "left": 0})
    if load(kind, key) is not None:
        note(f"again {kind} {name}")
        refuse(f"ResponseError: code=409, message=Already exists: projects/p/{kind}/{name}.")
    for of, flag in (("networks", "network"), ("subnets", "subnetwork"), ("routers", "router"), ("clusters", "cluster")):
        need(of, one(flag))
    if kind in ("clusters", "node-pools"):
        busy()
        if kind == "node-pools" and load(kind, one("cluster") + ".default-pool") is not None:
            note("refused: next to the first pool")
            refuse("the first pool is still there: GPU nodes would get a taint")
    if "--async" not in words and kind in ("clusters", "node-pools"):
        refuse("would block")
    store(kind, key, made())
    note(f"create {kind} {name}")
    if kind == "clusters":
        store("node-pools", f"{name}.default-pool", {"name": "default-pool", "status": "RUNNING", "config": {
            "machineType": "e2-medium", "labels": {"gpuctl.dev/first-pool": "true"}}, "locations": []})
    if name in given.get("half", {}):
        refuse(given["half"][name])
    print("{}")


def delete():
    key = one("cluster") + "." + name if kind == "node-pools" else name
    need(kind, key)
    if kind in ("clusters", "node-pools"):
        busy()
        thing = load(kind, key)
        store(kind, key, {**thing, "status": "STOPPING", "left": given.get("polls", 1)})
        if kind == "clusters":
            for pool in list(things("node-pools")):
                os.unlink(path("node-pools", f"{name}.{pool['name']}"))
    else:
        users = {"networks": ("subnets", "routers", "firewall-rules"), "routers": ("nats",), "subnets": ("clusters",)}
        if any(True for of in users.get(kind, ()) for thing in things(of)
               if thing.get("network", "").endswith("/" + name) or thing.get("subnetwork") == name or of == "nats"):
            refuse(f"Could not delete resource:\n - The {kind} resource '{name}' is already being used by another")
        os.unlink(path(kind, key))
    note(f"delete {kind} {name}")


def policy():
    roles = [] if not os.path.exists(path("policy", "p")) else load("policy", "p")["roles"]
    member, role = one("member"), one("role")
    if verb == "get-iam-policy":
        print(json.dumps({"bindings": [{"role": role, "members": [member]} for role, member in roles]}))
        return
    if verb.startswith("add"):
        if load("service-accounts", member.removeprefix("serviceAccount:")) is None:
            refuse(f"INVALID_ARGUMENT: Service account {member} does not exist.")
        roles.append([role, member])
    else:
        roles.remove([role, member])
    if roles:
        store("policy", "p", {"roles": roles})
    else:
        os.unlink(path("policy", "p"))
    note(f"{verb} {role}")
    print("{}")


def main():
    if "project" not in flags and group != ["projects"] or "quiet" not in flags:
        refuse("no project, or questions")
    kill("before")
    if group == ["projects"]:
        policy()
    elif group == ["services"]:
        if verb == "enable":
            note(f"enable {name}")
            open(os.path.join(CLOUD, "..", "service-" + name), "w").close()
        else:
            wanted = one("filter").removeprefix("config.name=")
            on = os.path.exists(os.path.join(CLOUD, "..", "service-" + wanted))
            print(json.dumps([{"config": {"name": wanted}}] if on else []))
    elif verb == "get-credentials":
        need("clusters", name)
        with open(os.environ["KUBECONFIG"], "w") as out:
            out.write("token: KUBECONFIG-TOKEN-TEXT\n")
        os.chmod(os.environ["KUBECONFIG"], 0o600)
        note("get-credentials")
    elif verb == "list":
        print(json.dumps([thing for thing in things(kind)
                          if thing.get("network", "").endswith("/" + one("filter").removeprefix("network~/").rstrip("$"))]))
    elif verb == "describe":
        if name in given.get("unreadable", []):
            refuse("ResponseError: code=403, message=Required \"container.clusters.get\" permission(s) for \"projects/p\".")
        key = one("cluster") + "." + name if kind == "node-pools" else name
        thing = load(kind, key)
        if thing is not None:
            thing = settle(kind, key, thing)
        if thing is None:
            kill("after")
            if kind == "service-accounts":
                refuse(f"NOT_FOUND: Unknown service account. This command is authenticated as me.")
            if kind == "nats":
                refuse(f"NAT `{name}` not found")
            refuse(f"ResponseError: code=404, message=Not found: projects/p/{kind}/{name}.")
        print(json.dumps(thing))
    elif verb == "update":
        cluster = load("clusters", name)
        window = cluster.setdefault("maintenancePolicy", {}).setdefault("window", {}).setdefault("maintenanceExclusions", {})
        window[one("add-maintenance-exclusion-name")] = {}
        store("clusters", name, cluster)
        note(f"exclude {one('add-maintenance-exclusion-name')}")
    elif verb == "create":
        create()
    else:
        delete()
    kill("after")


main()
