"""Random blueprints with pools and teams, and what each team may use, found by counting one device after the other.

Nothing here asks gpuctl: machine types, MIG instances and shares are enumerated node by node and GPU by GPU.
"""

import collections

# GPUs, vCPUs and GiB of a machine, and the layouts that fit its GPU.
A100 = [{"1g.5gb": 7}, {"2g.10gb": 3}, {"3g.20gb": 2}, {"7g.40gb": 1}, {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1},
        {"1g.5gb": 4, "3g.20gb": 1}]
MACHINES = {
    "aws": {"p4d.24xlarge": (8, 96, 1152, A100), "g5.xlarge": (1, 4, 16, []), "g5.12xlarge": (4, 48, 192, []),
            "g6.xlarge": (1, 4, 16, []), "g6.12xlarge": (4, 48, 192, [])},
    "gke": {"a2-highgpu-4g": (4, 48, 340, A100), "a2-highgpu-1g": (1, 12, 85, A100), "g2-standard-8": (1, 8, 32, []),
            "g2-standard-24": (2, 24, 96, [])},
}
HEADS = {
    "aws": {"baseDomain": "example.com", "openshift": {"version": "4.20"},
            "aws": {"region": "us-east-1", "zones": ["us-east-1b"]}, "access": {"pullSecret": {"env": "PULL_SECRET"}}},
    "existing-openshift": {"openshift": {"version": "4.20"}},
    "gke": {"gke": {"project": "example-ml", "location": "us-central1-a", "version": "1.35", "releaseChannel": "REGULAR",
                    "setup": "separatePool", "gpuDriver": {"installedBy": "google"}}},
    "vsphere": {},
}
# Where pods claim GPUs.
CLAIMED = {"aws": {"openshift": {"version": "4.22"}}, "gke": {"gke": {**HEADS["gke"]["gke"], "gpuDriver": {"installedBy": "googleInstaller"}}}}
WHOLE = "nvidia.com/gpu"


def layouts(random, gpus, fitting, google):
    """A `mig` for GPUs of a machine. Google's driver cuts all alike."""
    plain = [layout for layout in fitting if len(layout) == 1]
    if google or random.random() < 0.4:
        return {"strategy": "single", "layouts": [{"partitions": random.choice(plain)}]}
    if random.random() < 0.4:
        return {"strategy": "mixed", "layouts": [{"partitions": random.choice(fitting)}]}
    first = random.randint(1, gpus)
    parts = [{"devices": list(range(first)), "partitions": random.choice(fitting)}]
    if first < gpus and random.random() < 0.5:
        parts.append({"devices": list(range(first, gpus)), "partitions": random.choice(fitting)})
    return {"strategy": "mixed", "layouts": parts}


def sharing(random, cut, google):
    replicas = random.randint(2, 10)
    if not google and not cut and random.random() < 0.3:
        profile = {"mps": {"replicas": replicas}}
    else:
        profile = {"timeSlicing": {"replicas": replicas}}
    if not google and random.random() < 0.4:
        next(iter(profile.values()))["renameByDefault"] = True
    return {"default": "some", "profiles": {"some": profile}}


def pool(random, platform, name, claimed):
    """A pool as written, and (GPUs, CPUs, GiB) of its machines. GPUs that pods claim are whole."""
    if platform == "vsphere":
        written = {"name": name, "gpu": {"model": "L40S", "perNode": 1}, "delivery": "vgpu", "vgpu": {"type": "L40S-24C"},
                   "template": "rhcos-" + name, "cpus": random.choice([8, 16, 24]), "memoryMiB": 1024 * random.randint(32, 96),
                   "replicas": random.randint(1, 5)}
        machine = (1, written["cpus"], written["memoryMiB"] / 1024, [])
    elif platform == "existing-openshift":
        gpus = random.choice([1, 2, 4, 8])
        count = random.randint(1, 4)
        written = {"name": name, "gpu": {"model": "A100-40GB", "perNode": gpus},
                   "nodes": {"names": [f"{name}-{i}" for i in range(count)]}}
        machine = (gpus, random.randint(8, 200), random.randint(32, 2000), A100)
    else:
        kind = random.choice(sorted(MACHINES[platform]))
        written = {"name": name, "instanceType" if platform == "aws" else "machineType": kind}
        most = random.randint(1, 9)
        if random.random() < 0.5:
            written["replicas"] = most
        else:
            written["scaling"] = {"min": random.randint(1, most), "max": most}
        machine = MACHINES[platform][kind]
    if claimed:
        return written, machine
    google = platform == "gke"
    if machine[3] and random.random() < 0.5:
        written["mig"] = layouts(random, machine[0], machine[3], google)
    if random.random() < 0.35:
        written["sharing"] = sharing(random, "mig" in written, google)
    return written, machine


def nodes_of(written):
    if "names" in written.get("nodes", {}):
        return len(written["nodes"]["names"])
    return written["scaling"]["max"] if "scaling" in written else written["replicas"]


def devices_of_node(written, gpus, claimed):
    """Names of the devices that pods can ask for on one node, one by one. What they claim is counted by its class, which is
    called like the pool."""
    if claimed:
        return ["nvidia.com/" + written["name"]] * gpus
    cut = written.get("mig")
    found = []
    for gpu in range(gpus):
        layout = None
        for one in (cut or {"layouts": []})["layouts"]:
            if one.get("devices", "all") == "all" or gpu in one["devices"]:
                layout = one["partitions"]
        if layout is None:
            found.append(WHOLE)
            continue
        for profile, count in layout.items():
            for _ in range(count):
                found.append(WHOLE if cut["strategy"] == "single" else "nvidia.com/mig-" + profile)
    if "sharing" not in written:
        return found
    profile = next(iter(written["sharing"]["profiles"]["some"].values()))
    suffix = ".shared" if profile.get("renameByDefault") else ""
    return [device + suffix for device in found for _ in range(profile["replicas"])]


def offers_of(pools, claimed):
    """resource -> how much all nodes of these pools offer; memory in GiB."""
    found = collections.Counter({"cpu": 0, "memory": 0})
    mebibytes = 0
    for written, machine in pools:
        for _ in range(nodes_of(written)):
            found.update(devices_of_node(written, machine[0], claimed))
            found["cpu"] += machine[1]
            mebibytes += int(machine[2] * 1024)
    found["memory"] = mebibytes // 1024
    return found


class Set:
    """A blueprint with teams, and what has to come of it."""

    def __init__(self, random, name, base):
        self.name = name
        self.platform = random.choices(["aws", "existing-openshift", "gke", "vsphere"], [5, 2, 2, 1])[0]
        self.claimed = self.platform in CLAIMED and random.random() < 0.3
        self.pools = [pool(random, self.platform, f"p{i}", self.claimed) for i in range(random.randint(1, 4))]
        self.flavors = self._flavors(random)
        self.offers = {flavor: offers_of(pools, self.claimed) for flavor, pools in self.flavors.items()}
        self.queued = random.random() < 0.85
        self.borrows = self.queued and random.random() < 0.8
        self.teams = self._teams(random)
        spec = {"platform": self.platform, "stage": "dev", **HEADS[self.platform]}
        if self.claimed:
            spec.update(CLAIMED[self.platform], gpuStack={"allocation": "dra"})
        if self.platform == "vsphere":
            spec = {**base["spec"], "stage": "dev"}
        queues = {"controller": "kueue" if self.queued else "none", "borrowing": self.borrows}
        grouped = [{"name": flavor, "pools": [written["name"] for written, _ in pools]}
                   for flavor, pools in self.flavors.items() if flavor.startswith("f")]
        if grouped:
            queues["flavors"] = grouped
        if self.platform == "existing-openshift":
            queues["nodes"] = [{"pool": written["name"], "cpu": machine[1], "memoryGiB": machine[2]}
                               for written, machine in self.pools]
        self.blueprint = {"apiVersion": "gpuctl.dev/v1alpha1", "kind": "Blueprint", "metadata": {"name": name},
                          "spec": {**spec, "gpuPools": [written for written, _ in self.pools], "teams": self.teams,
                                   "queues": queues, "gitops": {"repoURL": "https://git.example.com/fleet.git"}}}
        self.facts = {"apiVersion": "gpuctl.dev/v1alpha1", "kind": "Facts", "metadata": {"name": name},
                      "spec": {}}
        if self.platform in ("aws", "vsphere"):
            self.facts["spec"]["infraID"] = name + "-x7k2p"
        if self.platform == "aws":
            self.facts["spec"]["bootImages"] = {"amd64": "ami-0a1b2c3d4e5f60718"}

    def _flavors(self, random):
        """name -> pools; those whose devices are whole, or not, may go together where labels can say so."""
        alike = [one for one in self.pools if "sharing" not in one[0]]
        if self.platform == "gke" or len(alike) < 2 or random.random() < 0.6:
            return {one[0]["name"]: [one] for one in self.pools}
        together = alike[:random.randint(2, len(alike))]
        found = {}
        for one in self.pools:
            found.setdefault("f" if one in together else one[0]["name"], []).append(one)
        return found

    def _teams(self, random):
        count = random.randint(1, 5)
        fixed = random.randint(0, count)
        left = {flavor: dict(offers) for flavor, offers in self.offers.items()}
        teams = []
        for i in range(count):
            team = {"name": f"t{i}", "namespaces": [f"t{i}-{j}" for j in range(random.randint(1, 3))]}
            quota = self._quota(random, left) if i < fixed else []
            if quota:
                team["quota"] = quota
            else:
                team["share"] = 0
            if self.borrows and random.random() < 0.5:
                team["borrowing"] = {key: random.randint(0, 100) for key in ("limit", "lend") if random.random() < 0.6}
            teams.append(team)
        shared = [team for team in teams if "share" in team]
        bounds = sorted(random.sample(range(1, 100), len(shared) - 1)) + [100] if shared else []
        for team, until, before in zip(shared, bounds, [0, *bounds]):
            team["share"] = until - before
        random.shuffle(teams)
        return teams

    def _quota(self, random, left):
        """A quota that fits into what is left, which it lessens."""
        found = []
        for flavor in random.sample(sorted(left), random.randint(1, len(left))):
            devices = [name for name in left[flavor] if name not in ("cpu", "memory") and left[flavor][name] > 0]
            asked = {name: random.randint(0, left[flavor][name]) for name in devices if random.random() < 0.7}
            if not asked:
                continue
            entry = {"flavor": flavor, "resources": asked}
            needed = self.follow(flavor, entry)
            if any(needed[name] > left[flavor][name] for name in ("cpu", "memory")):
                entry["cpu"] = random.randint(0, left[flavor]["cpu"])
                entry["memoryGiB"] = random.randint(0, left[flavor]["memory"])
                needed = self.follow(flavor, entry)
            for name, amount in needed.items():
                left[flavor][name] -= amount
            found.append(entry)
        return found

    def follow(self, flavor, entry):
        """What a quota comes to: CPUs and memory follow the devices of which it has the largest part."""
        offers = self.offers[flavor]
        found = collections.Counter(entry["resources"])
        for name, said in (("cpu", entry.get("cpu")), ("memory", entry.get("memoryGiB"))):
            if said is not None:
                found[name] = said
            else:
                found[name] = max(offers[name] * count // offers[device] for device, count in entry["resources"].items())
        return found

    def expected(self):
        """team -> flavor -> resource -> its own part. Devices go to teams with a share one by one: the k-th of n belongs
        to the first team up to whose share there are at least k."""
        own = {team["name"]: {flavor: collections.Counter() for flavor in self.flavors} for team in self.teams}
        for flavor, offers in self.offers.items():
            left = dict(offers)
            for team in self.teams:
                for entry in team.get("quota", []):
                    if entry["flavor"] == flavor:
                        own[team["name"]][flavor] = self.follow(flavor, entry)
                        for name, amount in own[team["name"]][flavor].items():
                            left[name] -= amount
            for name, count in left.items():
                taken = until = 0
                for team in self.teams:
                    until += team.get("share", 0)
                    if "share" not in team:
                        continue
                    while taken < count and (taken + 1) * 100 <= count * until:
                        taken += 1
                        own[team["name"]][flavor][name] += 1
        return own
