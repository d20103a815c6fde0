"""All scripts that are rendered, of samples and of golden cases, are clean for shellcheck, those inside of Jobs as
well; and the one for gcloud does what it says, against a stand-in that remembers what was made.
"""

import json
import os
import pathlib
import shlex
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from support import yaml_text  # noqa: E402
from support.program import ROOT, environment, run, samples, skip  # noqa: E402

GOLDEN = ROOT / "tests/golden"
ODD = {
    "--network=projects/example-ml-prod/global/networks/it's my \"net\" $(touch taken-over)",
    "--subnetwork=projects/example-ml-prod/regions/us-central1/subnetworks/nodes & 'more' `touch taken-over` \\ *",
    "--cluster-secondary-range-name=pods; touch taken-over",
    "--services-secondary-range-name=$HOME | services",
    "--maintenance-window-recurrence=FREQ=WEEKLY;BYDAY=SA,SU' $(touch taken-over)",
    "--service-account=it's$(touch taken-over)@example-ml-prod.iam.gserviceaccount.com",
    "--reservation=projects/shared/reservations/it's \"mine\" $(touch taken-over)",
}


# What the script of a Job does on purpose, by the name of its container.
WANTED = {"approve": "SC1007,SC2086,SC2254"}  # empty values, words of an answer, patterns of versions


def scripts_of_jobs(tally, folders, scratch):
    """Those that a shell runs in containers, written to files once for each container and text: (name, file)."""
    found = {}
    for path in sorted(path for folder in folders for path in folder.rglob("job-*.yaml")):
        pod = yaml_text.load(path.read_text())["spec"]["template"]["spec"]
        for container in pod.get("initContainers", []) + pod["containers"]:
            command = container.get("command") or []
            if command[:1] == ["/bin/sh"]:
                # The script, and where it wants a program in Python, its own name and that.
                tally.check(command == ["/bin/sh", "-euc"] and len(container["args"]) in (1, 3), f"{path}: {command}")
                found.setdefault((container["name"], container["args"][0]), f"job-{len(found)}.sh")
    for (name, text), file in found.items():
        (scratch / file).write_text("#!/bin/sh -eu\n" + text)
        yield name, scratch / file


class Cloud:
    """A project at Google Cloud, as far as the stand-in knows it, and a shell that sees no other."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "bin").mkdir(parents=True)
        stand_in = f'exec {shlex.quote(sys.executable)} {shlex.quote(str(HERE / "gcloud/gcloud.py"))} "$@"\n'
        for name, text in (("gcloud", stand_in), ("sleep", "exit 0\n")):
            (folder / "bin" / name).write_text("#!/bin/sh\n" + text)
            (folder / "bin" / name).chmod(0o755)
        self.env = environment(folder, CLOUD=folder)
        self.env["PATH"] = f"{folder / 'bin'}{os.pathsep}{self.env['PATH']}"
        self.calls = []
        self.set_made({})

    def made(self):
        return json.loads((self.folder / "made.json").read_text())

    def set_made(self, things):
        (self.folder / "made.json").write_text(json.dumps(things))

    def run(self, script):
        """(exit code, what was said, the calls that change something)."""
        (self.folder / "calls").write_text("")
        done = run(["sh", script], env=self.env, cwd=self.folder)
        self.calls = [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]
        return (done.returncode, (done.stdout + done.stderr).decode(),
                [call for call in self.calls if "create" in call or "delete" in call])


def render(gpuctl, blueprint, scratch):
    """The folder of the cluster."""
    done = run([gpuctl, "render", blueprint, "-o", scratch], env=environment(scratch))
    if done.returncode != 0:
        raise ValueError(done.stderr.decode())
    return next(scratch.glob("clusters/*/*"))


def check_separate(tally, folder, script):
    what = "gcloud, separate pool"
    cloud = Cloud(folder)
    code, said, changes = cloud.run(script)
    tally.check(code == 0, f"{what}: exit code {code}: {said}")
    created = [call[call.index("create") - 1] for call in changes if "create" in call]
    tally.check(created == ["networks", "subnets", "routers", "nats", "service-accounts", "clusters"]
                + ["node-pools"] * 5, f"{what}: makes {created}")
    tally.check(sum("delete" in call for call in changes) == 1, f"{what}: {changes}")
    pools = {key.rpartition("/")[2] for key in cloud.made() if key.startswith("node-pools/")}
    tally.check(pools == {"system-g3", "flex", "parts", "mps", "spot"}, f"{what}: pools {pools}")
    roles = [word for call in cloud.calls for word in call if word.startswith("--role=")]
    tally.check(len(set(roles)) == 5 and len(roles) == 6, f"{what}: one role is given again: {roles}")
    complete = cloud.made()
    code, said, changes = cloud.run(script)
    tally.check(code == 0 and not changes, f"{what}: again: {code}, {changes}")
    tally.check("node pool flex (RUNNING) is there and stays as it is" in said, f"{what}: {said}")
    for key in complete:
        if key.startswith("networks/") or "/default-pool" in key:
            continue
        cloud.set_made({name: value for name, value in complete.items() if name != key})
        code, said, changes = cloud.run(script)
        # A cluster that is made comes with a first pool.
        wanted = 2 if key.startswith("clusters/") else 1
        tally.check(code == 0 and len(changes) == wanted, f"{what}: without {key}: {code}, {changes}\n{said}")
        tally.check(set(cloud.made()) == set(complete), f"{what}: without {key}: {sorted(cloud.made())}")
    foreign = {**complete, "node-pools/scripted/default-pool": {"status": "RUNNING", "config.labels": "team=a"}}
    cloud.set_made(foreign)
    code, said, changes = cloud.run(script)
    tally.check(code == 0 and not changes, f"{what}: takes away a pool of others: {changes}")
    cloud.set_made({})
    (folder / "denied").write_text("")
    code, said, changes = cloud.run(script)
    tally.check(code != 0 and not changes and "PERMISSION_DENIED" in said, f"{what}: denied: {code}, {said}")


def check_networks(tally, folder, script):
    """Networks for the cards of GPUs: all are made before the pools that want them, and once."""
    what = "gcloud, networks for GPUs"
    cloud = Cloud(folder)
    code, said, changes = cloud.run(script)
    tally.check(code == 0, f"{what}: exit code {code}: {said}")
    made = [key.partition("/")[0] for key in cloud.made()]
    counts = {kind: made.count(kind) for kind in ("networks", "subnets", "firewall-rules", "node-pools")}
    # The one of the cluster, eight for A3 Mega, one beside RDMA, and one for eight cards of RDMA.
    tally.check(counts == {"networks": 11, "subnets": 18, "firewall-rules": 9, "node-pools": 3}, f"{what}: {counts}")
    profiles = [word for call in cloud.calls for word in call if word.startswith("--network-profile=")]
    tally.check(profiles == ["--network-profile=us-central1-a-vpc-roce"], f"{what}: {profiles}")
    for name, cards in (("mega-g2", 8), ("ultra", 9)):
        calls = [call for call in changes if "node-pools" in call and name in call]
        found = [word for call in calls for word in call if word.startswith("--additional-node-network=")]
        tally.check(len(calls) == 1 and len(set(found)) == cards, f"{what}: {name}: {calls}")
        for network in (dict(pair.split("=", 1) for pair in word.split("=", 1)[1].split(",")) for word in found):
            tally.check(f"networks/{network['network']}" in cloud.made()
                        and f"subnets/{network['subnetwork']}" in cloud.made(), f"{what}: {name}: {network}")
    code, said, changes = cloud.run(script)
    tally.check(code == 0 and not changes, f"{what}: again: {code}, {changes}")


def check_patience(tally, folder, script):
    """An account that nobody ever hears of is waited for, but not for ever."""
    cloud = Cloud(folder)
    (folder / "deaf").write_text("")
    code, said, changes = cloud.run(script)
    tries = sum("add-iam-policy-binding" in call for call in cloud.calls)
    tally.check(code != 0 and tries == 6, f"gcloud, patience: {code}, {tries} tries: {said}")
    tally.check(not any("clusters" in call for call in changes), f"gcloud, patience: goes on: {changes}")


def check_unreadable(tally, folder, script):
    """What cannot be asked for is not taken for missing."""
    cloud = Cloud(folder)
    broken = folder / "bin/gcloud"
    text = broken.read_text()
    broken.write_text(text.replace("exec", 'case " $* " in *" describe "*) echo "Forbidden" >&2; exit 1 ;; esac\nexec', 1))
    code, said, changes = cloud.run(script)
    tally.check(code == 1 and not changes and "Forbidden" in said, f"gcloud, unreadable: {code}, {said}, {changes}")


def check_existing(tally, folder, script):
    """Pools are not made in a cluster that is not there, and nothing else is."""
    cloud = Cloud(folder)
    code, said, changes = cloud.run(script)
    tally.check(code == 1 and not changes and "there is no cluster" in said, f"gcloud, existing: {code}, {said}, {changes}")


def check_odd(tally, folder, script):
    cloud = Cloud(folder)
    code, said, _ = cloud.run(script)
    tally.check(code == 0, f"gcloud, odd names: exit code {code}: {said}")
    arrived = {word for call in cloud.calls for word in call}
    tally.check(ODD <= arrived, f"gcloud, odd names: lost {sorted(ODD - arrived)}")
    tally.check(not list(folder.rglob("taken-over")), "gcloud: a name was taken for a command")


def check_scripts(tally, gpuctl, scratch):
    """Checks all scripts, and runs those for gcloud; `scratch` is an empty folder."""
    if not shutil.which("shellcheck"):
        skip("interop", "shellcheck is not here")
    try:
        odd = render(gpuctl, HERE / "gcloud/odd.yaml", scratch / "odd")
        folders = [odd, *(render(gpuctl, sample, scratch / sample.stem) for sample in samples())]
        scripts = {}
        for case in ("separate-pool", "only-pool", "gpu-networks", "existing"):
            cluster = render(gpuctl, GOLDEN / f"render/gke-gcloud-{case}/blueprint.yaml", scratch / case)
            scripts[case] = cluster / "install/create.sh"
            tally.check(not (cluster / "management").exists(), f"gcloud, {case}: writes management/ as well")
            folders.append(cluster)
    except ValueError as problem:
        tally.check(False, f"scripts: {problem}")
        return
    found = sorted(path for folder in [*folders, *GOLDEN.glob("**/tree")] for path in folder.rglob("*.sh"))
    tally.check(len(found) >= 10, f"only {len(found)} scripts: {found}")
    for path in found:
        done = run(["shellcheck", "--severity=style", path])
        tally.check(done.returncode == 0, f"{path}: {done.stdout.decode()}")
    names = set()
    for name, path in scripts_of_jobs(tally, [*folders, *GOLDEN.glob("**/tree")], scratch):
        names.add(name)
        done = run(["shellcheck", "--severity=style", f"--exclude={WANTED.get(name, '')}", path])
        tally.check(done.returncode == 0, f"the Job's container {name}: {done.stdout.decode()}")
    known = {"approve", "ask", "enable", "diagnostics", "bandwidth", "all-reduce", "between-machines", "storage"}
    tally.check(names == known, f"scripts of Jobs: {sorted(names)}")
    check_separate(tally, scratch / "cloud-separate", scripts["separate-pool"])
    check_networks(tally, scratch / "cloud-networks", scripts["gpu-networks"])
    check_patience(tally, scratch / "cloud-patience", scripts["separate-pool"])
    check_unreadable(tally, scratch / "cloud-unreadable", scripts["separate-pool"])
    check_odd(tally, scratch / "cloud-odd", odd / "install/create.sh")
    check_existing(tally, scratch / "cloud-existing", scripts["existing"])
    cloud = Cloud(scratch / "cloud-only")
    code, said, changes = cloud.run(scripts["only-pool"])
    made = [call[call.index("create") - 1] for call in changes if "create" in call]
    tally.check(code == 0 and made == ["clusters", "node-pools"], f"gcloud, only pool: {code}, {made}\n{said}")
    code, said, changes = cloud.run(scripts["only-pool"])
    tally.check(code == 0 and not changes, f"gcloud, only pool: again: {code}, {changes}")


if __name__ == "__main__":
    import tempfile

    from support.program import Tally, arguments

    options, counted = arguments(__doc__), Tally()
    with tempfile.TemporaryDirectory(prefix="scripts-") as temporary:
        check_scripts(counted, options.gpuctl, pathlib.Path(temporary))
    counted.close()
