"""Behaves as openshift-install does where it matters to whoever drives it: files by stage, log lines,
exit codes, what it refuses, and controllers that outlive it.

The messages are the installer's own (openshift/installer, cmd/openshift-install/command/waitfor.go and
create.go, pkg/infrastructure/clusterapi). DOUBLE_SCENARIO names a JSON file:

  fail      {"verb": "create cluster", "after": TEXT, "exit": N, "lines": [[LEVEL, MESSAGE], ...]}:
            what it says and does instead of going on once it has said TEXT
  killed    {"verb": ..., "after": TEXT, "who": "both"}: it dies by SIGKILL there; `who` may be "driver",
            which is who started it, or "both"
  lines     seconds between two lines (default 0)
  loop      true: `destroy cluster` never ends, and tells so at debug level alone
  slow      seconds that it takes to end after SIGTERM
  shorter   a list of files that it does not write
  garbage   a list of files that hold no document
  early     {"verb": ..., "text": ..., "exit": N}: it prints this and ends before its log has a line

DOUBLE_CLOUD is a directory: what is made there is a file named after the infrastructure.
"""
import os
import signal
import sys
import time

import plain_json as json

words = sys.argv[1:]
if words[:1] == ["version"]:
    print(f"openshift-install {os.environ.get('DOUBLE_RELEASE', '4.20.3')}\nbuilt from commit 0123456789abcdef\n"
          "release image quay.io/openshift-release-dev/ocp-release@sha256:0\nrelease architecture amd64")
    sys.exit(0)
directory = words[words.index("--dir") + 1] if "--dir" in words else "."
debug = "--log-level" in words and words[words.index("--log-level") + 1] == "debug"
verb = " ".join(words[:2])
scenario = json.load(open(os.environ["DOUBLE_SCENARIO"])) if os.environ.get("DOUBLE_SCENARIO") else {}
cloud = os.environ["DOUBLE_CLOUD"]
early = scenario.get("early", {})
if early.get("verb") == verb:
    print(early["text"], file=sys.stderr)
    sys.exit(early["exit"])
state_file = os.path.join(directory, ".openshift_install_state.json")
log = open(os.path.join(directory, ".openshift_install.log"), "a")
controller = None


def note(text):
    with open(os.path.join(cloud, "calls"), "a") as out:
        out.write(text + "\n")


def say(level, message):
    quoted = message.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    log.write(f'time="2031-12-31T12:00:00Z" level={level} msg="{quoted}"\n')
    log.flush()
    if level != "debug" or debug:
        print(f"level={level} msg={message}", file=sys.stderr, flush=True)
    time.sleep(scenario.get("lines", 0))
    reach(message)


def reach(message):
    """What is to happen there does."""
    for kind in ("killed", "fail"):
        what = scenario.get(kind)
        if what and what.get("verb", "create cluster") == verb and what["after"] in message:
            scenario[kind] = None
            if kind == "killed":
                log.close()
                if what.get("who") in ("driver", "both"):
                    os.kill(os.getppid(), signal.SIGKILL)
                if what.get("who") != "driver":
                    os.kill(os.getpid(), signal.SIGKILL)
                time.sleep(60)
            for one_level, text in what.get("lines", []):
                say(one_level, text)
            stop_controller()
            sys.exit(what["exit"])


def fatal(message):
    say("fatal", message)
    sys.exit(1)


def start_controller():
    """One that lies below the directory, in a process group of its own."""
    global controller
    import shutil  # here, because most calls start none, and would wait for it
    import subprocess

    os.makedirs(os.path.join(directory, "cluster-api"), exist_ok=True)
    program = os.path.join(directory, "cluster-api", "cluster-api")
    shutil.copy("/bin/sleep", program)
    controller = subprocess.Popen([program, "3600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, preexec_fn=lambda: os.setpgid(0, 0))


def stop_controller():
    if controller is not None:
        controller.kill()
        controller.wait()


def interrupted(*_):
    say("warning", "Received interrupt signal")
    time.sleep(scenario.get("slow", 0))
    stop_controller()
    sys.exit(8)


signal.signal(signal.SIGTERM, interrupted)
signal.signal(signal.SIGINT, interrupted)


def write(path, text):
    if path in scenario.get("shorter", []):
        return
    path = os.path.join(directory, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as out:
        out.write("{half" if any(path.endswith(name) for name in scenario.get("garbage", [])) else text)


def read(path):
    with open(os.path.join(directory, path)) as file:
        return file.read()


def exists(path):
    return os.path.exists(os.path.join(directory, path))


def state():
    return json.load(open(state_file)) if os.path.exists(state_file) else None


def name_in(config):
    lines = config.splitlines()
    at = lines.index("metadata:")
    return next(line.split(":")[1].strip() for line in lines[at:] if line.strip().startswith("name:"))


def manifests():
    known = state()
    if exists("install-config.yaml"):
        config = read("install-config.yaml")
        if "pullSecret" not in config:
            say("error", 'failed to load asset "Install Config": pullSecret: Required value')
            sys.exit(3)
        if known is None:
            name = name_in(config)
            mark = os.urandom(3).hex()[:5]
            known = {"infraID": f"{name}-{mark}", "secret": "PULL-SECRET-OF-THE-STATE"}
            with open(state_file, "w") as out:  # in place, as the real one does (asset store, saveStateFile)
                reach("half of the state")
                json.dump(known, out)
        say("info", "Consuming Install Config from target directory")
        os.remove(os.path.join(directory, "install-config.yaml"))
    if known is None:
        fatal("failed to fetch Master Machines: failed to load asset \"Install Config\"")
    infra = known["infraID"]
    write("openshift/99_openshift-cluster-api_worker-machineset-0.yaml", f"""apiVersion: machine.openshift.io/v1beta1
kind: MachineSet
metadata: {{name: {infra}-worker-a, namespace: openshift-machine-api}}
spec:
  replicas: 1
  template:
    spec:
      providerSpec:
        value:
          ami: {{id: ami-0a1b2c3d4e5f60718}}
          disks: [{{image: projects/rhcos-cloud/global/images/rhcos-1}}]
""")
    write("manifests/cluster-infrastructure-02-config.yml", f"""apiVersion: config.openshift.io/v1
kind: Infrastructure
metadata: {{name: cluster}}
status: {{infrastructureName: {infra}}}
""")
    say("info", "Manifests created in: cluster-api, manifests and openshift")


def ignition():
    if state() is None:
        fatal("failed to fetch Bootstrap Ignition Config")
    infra = state()["infraID"]
    if exists("openshift"):
        say("info", "Consuming Openshift Manifests from target directory")
        added = sorted(name for name in os.listdir(os.path.join(directory, "openshift")) if "gpuctl" in name)
        note("day-zero " + " ".join(added))
        if scenario.get("drops"):
            say("warning", "Discarding the Openshift Manifests that was provided in the target directory because its "
                           "dependencies are dirty and it needs to be regenerated")
        import shutil

        shutil.rmtree(os.path.join(directory, "openshift"))
        shutil.rmtree(os.path.join(directory, "manifests"), ignore_errors=True)
    for name in ("bootstrap.ign", "master.ign", "worker.ign"):
        write(name, "{}")
    write("auth/kubeadmin-password", "KUBEADMIN-PASSWORD-TEXT")
    write("auth/kubeconfig", "apiVersion: v1\nkind: Config\nusers: [{name: admin, user: {token: KUBECONFIG-TOKEN-TEXT}}]\n")
    write("metadata.json", json.dumps({"clusterName": infra.rsplit("-", 1)[0], "clusterID": "c", "infraID": infra}))
    say("info", "Ignition-Configs created in: . and auth")


def before_api():
    infra = state()["infraID"]
    if exists(".clusterapi_output/envtest.kubeconfig"):
        fatal("local infrastructure provisioning artifacts already exist. There may already be a running cluster")
    say("info", "Consuming Bootstrap Ignition Config from target directory")
    say("info", "Credentials loaded from the default provider chain")
    say("info", "Creating infrastructure resources...")
    alive = [name for name in os.listdir(cloud) if name != "calls"]
    note("alive " + " ".join(alive))
    open(os.path.join(cloud, infra), "w").close()
    say("info", "Started local control plane with envtest")
    start_controller()
    write(".clusterapi_output/envtest.kubeconfig", "{}")
    say("info", "Stored kubeconfig for envtest in: .clusterapi_output/envtest.kubeconfig")
    say("info", "Creating infra manifests...")
    say("info", "Waiting up to 15m0s (until 12:15PM UTC) for network infrastructure to become ready...")
    say("info", "Network infrastructure is ready")
    say("info", f"Waiting up to 15m0s (until 12:15PM UTC) for machines [{infra}-bootstrap {infra}-master-0] to provision...")
    say("info", "Control-plane machines are ready")
    say("info", "Cluster API resources have been created. Waiting for cluster to become ready...")


def bootstrap():
    say("info", "Waiting up to 20m0s (until 12:20PM UTC) for the Kubernetes API at https://api.example.com:6443...")
    say("info", "API v1.33.5 up")
    say("info", "Waiting up to 45m0s (until 12:45PM UTC) for bootstrapping to complete...")


def remove_bootstrap():
    note("destroy bootstrap " + ("again" if exists(".bootstrap-gone") else "first"))
    say("info", "Destroying the bootstrap resources...")
    write(".bootstrap-gone", "")
    say("info", "Finished destroying bootstrap resources")


def complete():
    say("info", "Waiting up to 40m0s (until 12:40PM UTC) for the cluster at https://api.example.com:6443 to initialize...")
    say("debug", "Still waiting for the cluster to initialize: Working towards 4.20.1: 700 of 900 done (77% complete)")
    say("info", "Waiting up to 30m0s (until 12:30PM UTC) to ensure each cluster operator has finished progressing...")
    say("info", "All cluster operators have completed progressing")
    say("info", "Checking to see if there is a route at openshift-console/console...")
    say("info", "Install complete!")
    say("info", "To access the cluster as the system:admin user when using 'oc', run\n    export KUBECONFIG=auth/kubeconfig")
    say("info", 'Login to the console with user: "kubeadmin", and password: "KUBEADMIN-PASSWORD-TEXT"')
    say("info", "Time elapsed: 30m1s")


def controllers():
    """Those of an earlier run that still live."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink(f"/proc/{entry}/exe").startswith(os.path.realpath(directory) + "/"):
                found.append(entry)
        except OSError:
            pass
    return found


def destroy():
    if not exists("metadata.json"):
        fatal("failed to destroy cluster: open metadata.json: no such file or directory")
    infra = json.loads(read("metadata.json"))["infraID"]
    note(f"destroy {infra}")
    if controllers():
        note("destroys beside controllers")
    say("debug", f"search for matching resources by tag kubernetes.io/cluster/{infra}: owned")
    count = 0
    while scenario.get("loop"):
        count += 1
        say("debug", f"deleting EC2 security group sg-1: DependencyViolation: resource sg-1 has a dependent object, "
                     f"request id {count}")
        time.sleep(0.05)
    if os.path.exists(os.path.join(cloud, infra)):
        os.remove(os.path.join(cloud, infra))
    say("info", "Deleted EC2 instances")
    os.remove(os.path.join(directory, "metadata.json"))
    say("info", "Time elapsed: 5m1s")
    say("info", "Uninstallation complete!")


note(f"{verb} {os.path.basename(os.path.abspath(directory))}")
if verb == "create manifests":
    manifests()
elif verb == "create ignition-configs":
    ignition()
elif verb == "create cluster":
    before_api()
    bootstrap()
    stop_controller()
    remove_bootstrap()
    complete()
elif verb == "wait-for bootstrap-complete":
    bootstrap()
elif verb == "wait-for install-complete":
    complete()
elif verb == "destroy bootstrap":
    remove_bootstrap()
elif verb == "destroy cluster":
    destroy()
else:
    fatal("unknown command")
