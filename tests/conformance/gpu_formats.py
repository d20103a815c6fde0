"""What mig-parted and the device plugin take as configuration, strictly: unknown fields are refused.

Written from the published formats (NVIDIA/mig-parted v0.15.0 api/spec/v1 and pkg/types, NVIDIA/go-nvlib
mig_profile.go, NVIDIA/k8s-device-plugin v0.20.0 api/config/v1), and sharing nothing with gpuctl. Each
function raises ValueError with what is wrong.
"""

import re

LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
DEVICE_ID = re.compile(r"0[xX][0-9A-Fa-f]{8}(:0[xX][0-9A-Fa-f]{8})?")
LONGEST_RESOURCE = 63
MOST_MPS_CLIENTS = 48


def refuse(condition, what):
    if condition:
        raise ValueError(what)


def fields(tree, where, required, optional=()):
    refuse(not isinstance(tree, dict), f"{where} is no map")
    unknown = set(tree) - set(required) - set(optional)
    refuse(unknown, f"{where} has unknown fields {sorted(unknown)}")
    missing = set(required) - set(tree)
    refuse(missing, f"{where} lacks {sorted(missing)}")


def typed(value, kind, where):
    refuse(not isinstance(value, kind) or (kind is int and isinstance(value, bool)),
           f"{where} is {value!r}")
    return value


def profile(text):
    """(compute slices, gigabytes, attributes) of `1g.10gb+me`; the form with `c` is for compute instances."""
    refuse("+" in text and "-" in text, f"{text}: both signs")
    base, *attributes = re.split(r"[+-]", text, maxsplit=1)
    found = re.fullmatch(r"(?:(\d+)c\.)?(\d+)g\.(\d+)gb", base)
    refuse(not found, f"{text} is no profile")
    names = attributes[0].split(",") if attributes else []
    refuse(any(not name or name[0].isdigit() or name[0] == "." for name in names),
           f"{text}: attributes {names}")
    return int(found[2]), int(found[3]), names


def resource_of(text):
    """The name under which nodes offer instances of a profile with the strategy `mixed`."""
    return "nvidia.com/mig-" + text.replace("+", ".")


def resource_name(text):
    text = text if text.startswith("nvidia.com/") else "nvidia.com/" + text
    refuse(len(text) > LONGEST_RESOURCE, f"{text} is too long")
    refuse(not SUBDOMAIN.fullmatch(text.split("/", 1)[1]), f"{text} is no resource name")
    return text


def mig_entry(entry, where):
    fields(entry, where, ["devices", "mig-enabled"], ["device-filter", "mig-devices"])
    devices = entry["devices"]
    if isinstance(devices, str):
        refuse(devices != "all", f"{where}: devices {devices}")
    else:
        for device in typed(devices, list, where):
            typed(device, int, where)
    enabled = typed(entry["mig-enabled"], bool, where)
    parts = entry.get("mig-devices")
    refuse(enabled and parts is None, f"{where} says no mig-devices")
    refuse(not enabled and parts, f"{where} is off and has mig-devices")
    for name, count in (parts or {}).items():
        profile(typed(name, str, where))
        refuse(typed(count, int, where) < 0, f"{where}: {count} x {name}")
    refuse(parts and not any(parts.values()), f"{where}: all counts are 0")
    ids = entry.get("device-filter", [])
    for one in [ids] if isinstance(ids, str) else typed(ids, list, where):
        refuse(not DEVICE_ID.fullmatch(typed(one, str, where)), f"{where}: device-filter {one}")


def mig_parted(tree):
    fields(tree, "the file", ["version", "mig-configs"])
    refuse(tree["version"] != "v1", f"version {tree['version']!r}")
    refuse(not tree["mig-configs"], "no configurations")
    for name, entries in tree["mig-configs"].items():
        refuse(not LABEL_VALUE.fullmatch(name), f"{name} can be no label")
        refuse(not entries, f"{name} is empty")
        for i, entry in enumerate(entries):
            mig_entry(entry, f"{name}[{i}]")
    refuse("all-disabled" not in tree["mig-configs"], "no all-disabled")


def replicated(way, where, names):
    fields(way, where, ["resources"], ["renameByDefault", "failRequestsGreaterThanOne"])
    for key in ("renameByDefault", "failRequestsGreaterThanOne"):
        typed(way.get(key, False), bool, f"{where}.{key}")
    refuse(not way["resources"], f"{where} shares nothing")
    for one in way["resources"]:
        fields(one, where, ["name", "replicas"])  # `devices` and `rename` are read and ignored
        names.append(resource_name(typed(one["name"], str, where)))
        refuse(typed(one["replicas"], int, where) < 2, f"{where}: {one['replicas']} replicas")


def device_plugin(tree):
    fields(tree, "the file", ["version"], ["flags", "sharing"])
    refuse(tree["version"] != "v1", f"version {tree['version']!r}")
    flags = tree.get("flags", {})
    fields(flags, "flags", [], ["migStrategy"])
    strategy = flags.get("migStrategy", "none")
    refuse(strategy not in ("none", "single", "mixed"), f"strategy {strategy}")
    sharing = tree.get("sharing", {})
    fields(sharing, "sharing", [], ["timeSlicing", "mps"])
    refuse(len(sharing) > 1, "two ways to share")
    names = []
    for way, content in sharing.items():
        replicated(content, way, names)
    refuse(len(names) != len(set(names)), f"a resource twice: {names}")
    for name in names:
        bare = name.removeprefix("nvidia.com/")
        refuse(bare != "gpu" and strategy != "mixed", f"{name} with strategy {strategy}")
    if "mps" in sharing:
        refuse(strategy == "mixed", "MPS with strategy mixed")
        refuse(set(names) != {"nvidia.com/gpu"}, f"MPS for {names}")
        refuse(any(one["replicas"] > MOST_MPS_CLIENTS for one in sharing["mps"]["resources"]),
               "too many MPS clients")


def fits(gpu_class, parts):
    """Whether instances of these profiles can lie on a GPU of a class side by side: by trying."""
    known = {one["name"]: one for one in gpu_class["profiles"]}
    refuse(set(parts) - set(known), f"{gpu_class['name']} has no {sorted(set(parts) - set(known))}")
    if any(count > known[name]["most"] for name, count in parts.items()):
        return False
    wanted = sorted((name for name, count in parts.items() for _ in range(count)),
                    key=lambda name: -known[name]["units"])

    def place(left, taken, slices):
        if not left:
            return True
        one = known[left[0]]
        return slices >= one["slices"] and any(
            not taken & set(range(start, start + one["units"]))
            and place(left[1:], taken | set(range(start, start + one["units"])), slices - one["slices"])
            for start in one["starts"])

    return place(wanted, set(), gpu_class["slices"])
