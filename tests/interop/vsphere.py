"""The scripts for vSphere do what they say: those for templates against a simulated vCenter by govc,
those for hosts against stand-ins for esxcli and nvidia-smi that remember what was set. All of them are
clean for shellcheck.

The simulator has no GPUs: a passthrough device, which no govc command adds, is put in by an API call,
as the vSphere client does it.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from interop.tools import go_program  # noqa: E402
from support.program import environment, run, samples, skip  # noqa: E402

DATACENTER = 'it\'s my "dc"'
CLUSTER = "gpu $(touch taken-over) 'rack'"
LABEL = 'it\'s <A100> & "more"'
NOTE = 'it\'s "quoted" $(touch taken-over) `touch taken-over` \\ *'
SOURCE = "rhcos 4.20"

# What a pool with a network of its own has more than passthrough.yaml.
ADAPTERS = """        networkAdapters: {hardwareLabel: "it's <A100> & \\"more\\""}
"""
NETWORKS = """  gpuStack:
    networkOperator:
      networks:
        - {name: rail, kind: macvlan, master: ens192, ipam: {whereabouts: {range: 192.168.10.0/24}}}
"""

ADD_DEVICE = """<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body>
  <ReconfigVM_Task xmlns="urn:vim25"><_this type="VirtualMachine">{machine}</_this><spec><deviceChange>
    <operation>add</operation><device xsi:type="VirtualPCIPassthrough"><key>-1</key>
      <backing xsi:type="VirtualPCIPassthroughDynamicBackingInfo"><deviceName></deviceName>
        <allowedDevice><vendorId>{vendor}</vendorId><deviceId>8370</deviceId></allowedDevice>
        <customLabel>{label}</customLabel></backing></device>
  </deviceChange></spec></ReconfigVM_Task></soapenv:Body></soapenv:Envelope>"""


class VCenter:
    """A simulated vCenter on this machine, and govc to look into it."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.program = go_program(HERE / "vcenter")
        (scratch / "bin").mkdir()
        (scratch / "bin/govc").symlink_to(self.program)
        self.server = subprocess.Popen([self.program, "simulate"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, env=environment(scratch))
        self.env = environment(scratch, GOVC_URL=self.server.stdout.readline().decode().strip(),
                               GOVC_INSECURE="1")
        self.env["PATH"] = f"{scratch / 'bin'}{os.pathsep}{self.env['PATH']}"
        self.govc("vm.power", "-off", "/DC0/vm/DC0_H0_VM0")
        self.govc("object.rename", "/DC0/vm/DC0_H0_VM0", SOURCE)
        self.govc("vm.markastemplate", f"/DC0/vm/{SOURCE}")
        self.govc("object.rename", "/DC0/host/DC0_C0", CLUSTER)
        self.govc("object.rename", "/DC0", DATACENTER)

    def close(self):
        self.server.stdin.close()
        self.server.wait(timeout=60)
        self.server.stdout.close()

    def govc(self, *words, text=None):
        done = subprocess.run([str(self.scratch / "bin/govc"), *words], env=self.env, check=False,
                              input=(text or "").encode(), capture_output=True, timeout=60)
        if done.returncode != 0:
            raise ValueError(f"govc {words[0]}: {done.stderr.decode()}")
        return done.stdout.decode()

    def machine(self, path):
        found = json.loads(self.govc("vm.info", "-json", path))["virtualMachines"]
        return found[0] if found else None

    def add_device(self, path, label, vendor=0x10DE):
        machine = self.machine(path)["self"]["value"]
        for before, after in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
            label = label.replace(before, after)
        self.govc("session.login", "-X", "POST", "/sdk",
                  text=ADD_DEVICE.format(machine=machine, label=label, vendor=vendor))

    def script(self, path, *words, **more):
        return run(["sh", path, *words], env={**self.env, **more}, cwd=self.scratch)


def expect(tally, done, code, what, *texts):
    said = (done.stdout + done.stderr).decode()
    tally.check(done.returncode == code, f"{what}: exit code {done.returncode}: {said}")
    for text in texts:
        tally.check(text in said, f"{what}: does not say `{text}`: {said}")


def check_promises(tally, machine, what, wanted):
    """What govc itself reads of the template."""
    if not tally.check(machine is not None, f"{what}: is not there"):
        return
    config = machine["config"]
    extra = {entry["key"]: entry["value"] for entry in config["extraConfig"]}
    found = {
        "template": config["template"], "version": config["version"], "firmware": config["firmware"],
        "secure": config["bootOptions"].get("efiSecureBootEnabled", False),
        "memory": config["hardware"]["memoryMB"], "cpus": config["hardware"]["numCPU"],
        "reserved": config["memoryAllocation"]["reservation"],
        "pinned": config["memoryReservationLockedToMax"],
        "mmio": (extra.get("pciPassthru.use64bitMMIO"), extra.get("pciPassthru.64bitMMIOSizeGB")),
    }
    for key, value in wanted.items():
        seen = found.get(key, extra.get(key))
        tally.check(seen == value, f"{what}: {key} is {seen!r} instead of {value!r}")


COMMON = {"template": True, "firmware": "efi", "secure": False, "memory": 65536, "cpus": 16,
          "reserved": 65536, "pinned": True}


def check_passthrough(tally, center, script):
    target = f"/{DATACENTER}/vm/node & images/odd-gpu-fd-1"
    what = "template with passthrough"
    expect(tally, center.script(script, "another-domain"), 0, f"{what}: of another failure domain")
    tally.check(center.machine(target) is None, f"{what}: made for another failure domain")
    expect(tally, center.script(script), 1, f"{what}: without devices", "it has 0 of 2 promised GPU",
           f"Its hardware label: {LABEL}")
    tally.check(not center.machine(target)["config"]["template"], f"{what}: finished without GPUs")
    center.add_device(target, "another label")
    expect(tally, center.script(script), 1, f"{what}: with the wrong device", "it has 0 of 2",
           "1 passed-through devices in all")
    center.govc("device.remove", "-vm", target, "pcipassthrough-*")
    for _ in range(2):
        center.add_device(target, LABEL)
    expect(tally, center.script(script), 0, f"{what}: with its devices", "is as promised")
    wanted = {**COMMON, "version": "vmx-20", "mmio": ("TRUE", "512"), "pciPassthru.allowP2P": "TRUE",
              "pciPassthru.RelaxACSforP2P": "TRUE", "guestinfo.note": NOTE}
    check_promises(tally, center.machine(target), what, wanted)
    before = center.machine(target)["config"]
    expect(tally, center.script(script), 0, f"{what}: again", "is as promised")
    tally.check(center.machine(target)["config"] == before, f"{what}: the second run changes it")
    # A template that somebody changed is not touched, but what is wrong with it is said.
    center.govc("vm.markasvm", "-pool", f"/{DATACENTER}/host/{CLUSTER}/Resources", target)
    center.govc("vm.change", "-vm", target, "-mem.reservation", "1024", "-memory-pin=false",
                "-e", "pciPassthru.64bitMMIOSizeGB=64")
    center.govc("vm.markastemplate", target)
    expect(tally, center.script(script), 1, f"{what}: changed by hand",
           "1024 MiB of memory are reserved instead of 65536",
           "setting pciPassthru.64bitMMIOSizeGB is '64' instead of '512'", "stays as it is")
    center.govc("vm.markasvm", "-pool", f"/{DATACENTER}/host/{CLUSTER}/Resources", target)
    expect(tally, center.script(script), 0, f"{what}: repaired", "is as promised")
    check_promises(tally, center.machine(target), f"{what}: repaired", wanted)


def check_adapters(tally, center, script):
    target, what = f"/{DATACENTER}/vm/node & images/rails-gpu-fd-1", "template with network adapters"
    expect(tally, center.script(script), 1, f"{what}: without devices", "0 of 2 promised GPU",
           "0 of 1 network adapters", f"add 1 network adapters, too. Their hardware label: {LABEL}")
    for _ in range(2):
        center.add_device(target, LABEL)
    expect(tally, center.script(script), 1, f"{what}: with GPUs only", "2 of 2 promised GPU", "0 of 1")
    center.add_device(target, "another label", vendor=0x15B3)
    expect(tally, center.script(script), 1, f"{what}: with the wrong adapter", "0 of 1", "3 passed-through")
    center.govc("device.remove", "-vm", target, "pcipassthrough-*")
    for _ in range(2):
        center.add_device(target, LABEL)
    # The labels are the same on purpose: what tells adapters and GPUs apart is the vendor.
    center.add_device(target, LABEL, vendor=0x15B3)
    expect(tally, center.script(script), 0, f"{what}: with its devices", "is as promised")
    check_promises(tally, center.machine(target), what,
                   {**COMMON, "pciPassthru.allowP2P": "TRUE", "pciPassthru.RelaxACSforP2P": "TRUE"})


def check_vgpu(tally, center, script):
    target, what = f"/{DATACENTER}/vm/shared l40s", "template with vGPUs"
    expect(tally, center.script(script, RHCOS_TEMPLATE="no such template"), 1, f"{what}: no source",
           "there is no template no such template")
    expect(tally, center.script(script), 0, what, "is as promised")
    check_promises(tally, center.machine(target), what,
                   {**COMMON, "version": "vmx-19", "mmio": ("TRUE", "256")})
    profiles = [device["backing"].get("vgpu") for device in
                json.loads(center.govc("device.info", "-json", "-vm", target))["devices"]
                if device["type"] == "VirtualPCIPassthrough"]
    tally.check(profiles == ["nvidia_l40s-48c"] * 2, f"{what}: has {profiles}")
    before = center.machine(target)["config"]
    expect(tally, center.script(script), 0, f"{what}: again", "is as promised")
    tally.check(center.machine(target)["config"] == before, f"{what}: the second run changes it")


# What the host scripts call, with the state of the host as files of the working directory. What is set
# becomes true by a reboot.
ESXCLI = r"""#!/bin/sh
echo "$*" >>calls
case "$*" in
  'software vib list') printf 'Name Version\nNVD-gpu-mgmt-daemon 1.0-1\n'; cat driver 2>/dev/null ;;
  'software vib install -d '*|'software vib update -d '*)
    [ "$5" = "/vmfs/it's a \"bundle\".zip" ] || exit 1
    echo 'NVD-VGPU_ESXi_8.0.0_Driver 580.159.01-1OEM.800 NVIDIA' >driver ;;
  'system maintenanceMode get') cat maintenance ;;
  'graphics host get') printf '   Default Graphics Type: %s\n' "$(cat graphics)" ;;
  'graphics host set --default-type SharedPassthru') echo SharedPassthru >graphics ;;
  'system module parameters list -m nvidia') printf 'NVreg_RegistryDwords  string  %s  Registry\n' "$(cat dwords)" ;;
  'system module parameters set -m nvidia -p '*) echo "$8" | sed 's/^NVreg_RegistryDwords=//' >dwords ;;
  'hardware pci list') cat pci 2>/dev/null ;;
  'hardware pci pcipassthru list') printf 'Device ID     Enabled\n------------  -------\n'; cat passthru ;;
  'hardware pci pcipassthru set -d 0000:3b:00.0 -e true') sed -i '/3b/s/false/true/' passthru ;;
  *) echo "esxcli: unknown: $*" >&2; exit 1 ;;
esac
"""
NVIDIA_SMI = r"""#!/bin/sh
echo "nvidia-smi $*" >>calls
case "$*" in
  '') ;;
  '--query-gpu=index,ecc.mode.current,ecc.mode.pending --format=csv,noheader') cat ecc ;;
  '--query-gpu=index,mig.mode.current,mig.mode.pending --format=csv,noheader') cat mig ;;
  '-i '*' -e 1') sed -i "/^$2,/s/Disabled$/Enabled/" ecc ;;
  '-i '*' -mig 1') sed -i "/^$2,/s/Disabled$/Enabled/" mig ;;
  '-q') sed 's/^/        vGPU Heterogeneous Mode           : /' sizes ;;
  'mig -lgip') printf '|   0  MIG %s       14     3/3        19.50 |\n' "$(cat parts)" ;;
  *) echo "nvidia-smi: unknown: $*" >&2; exit 1 ;;
esac
"""


class Host:
    """A folder that plays an ESXi host."""

    def __init__(self, folder, **state):
        self.folder = folder
        (folder / "bin").mkdir(parents=True)
        for name, text in (("esxcli", ESXCLI), ("nvidia-smi", NVIDIA_SMI)):
            (folder / "bin" / name).write_text(text)
            (folder / "bin" / name).chmod(0o755)
        for name, text in state.items():
            (folder / name).write_text(text + "\n")
        self.env = environment(folder)
        self.env["PATH"] = f"{folder / 'bin'}{os.pathsep}{self.env['PATH']}"

    def run(self, script, *words):
        (self.folder / "calls").write_text("")
        return run(["sh", script, *words], env=self.env, cwd=self.folder)

    def reboot(self):
        for name in ("ecc", "mig"):
            lines = [line.split(", ") for line in (self.folder / name).read_text().splitlines()]
            (self.folder / name).write_text(
                "".join(f"{gpu}, {pending}, {pending}\n" for gpu, _, pending in lines))

    def changes(self):
        return [call for call in (self.folder / "calls").read_text().splitlines()
                if " set " in call or " install " in call or " -e " in call or " -mig " in call]


def check_vgpu_host(tally, folder, script, mig, parts):
    what = f"host with vGPUs, {'MIG' if mig else 'time slices'}"
    host = Host(folder, graphics="Shared", maintenance="Disabled", dwords="", parts=parts,
                ecc="0, Enabled, Enabled\n1, Disabled, Disabled\n2, [N/A], [N/A]" if not mig else
                "0, Enabled, Enabled\n1, Disabled, Disabled",
                mig="0, Disabled, Disabled\n1, Disabled, Disabled" if mig else
                "0, [N/A], [N/A]\n1, [N/A], [N/A]\n2, [N/A], [N/A]")
    bundle = "/vmfs/it's a \"bundle\".zip"
    expect(tally, host.run(script), 1, f"{what}: no bundle", "give the path of its offline bundle")
    expect(tally, host.run(script, bundle), 1, f"{what}: in use", "maintenance mode first")
    (folder / "maintenance").write_text("Enabled\n")
    expect(tally, host.run(script, bundle), 3, f"{what}: driver", "reboot the host")
    expect(tally, host.run(script), 3, f"{what}: modes", "580.159.01", "reboot the host")
    expect(tally, host.run(script), 3, f"{what}: not rebooted", "reboot the host")
    tally.check(host.changes() == [], f"{what}: sets again {host.changes()}")
    host.reboot()
    expect(tally, host.run(script), 0, f"{what}: done", "the host is as wanted")
    tally.check(host.changes() == [], f"{what}: changes what is right: {host.changes()}")
    read = {name: (folder / name).read_text() for name in ("graphics", "dwords", "ecc", "mig")}
    tally.check(read["graphics"] == "SharedPassthru\n" and "1, Enabled, Enabled" in read["ecc"]
                and ("0, Enabled, Enabled" in read["mig"]) == mig, f"{what}: {read}")
    tally.check(read["dwords"] == ("\n" if mig else "RmPVMRL=0x00020001\n"), f"{what}: {read}")
    if mig:
        (folder / "parts").write_text("1g.5gb\n")
        expect(tally, host.run(script), 1, f"{what}: another GPU", "has parts 2g.20gb")
    else:
        (folder / "dwords").write_text("RMSomething=1\n")
        expect(tally, host.run(script), 1, f"{what}: other settings", "by hand")


def check_mixed_host(tally, folder, script):
    what = "host with vGPUs of several sizes"
    host = Host(folder, graphics="SharedPassthru", maintenance="Enabled", dwords="", parts="",
                driver="NVD-VGPU_ESXi_8.0.0_Driver 580.159.01-1OEM.800 NVIDIA",
                ecc="0, Enabled, Enabled", mig="0, [N/A], [N/A]", sizes="Enabled\nDisabled")
    expect(tally, host.run(script), 1, f"{what}: one is not", "set every GPU to mixed size")
    (folder / "sizes").write_text("Enabled\nEnabled\n")
    expect(tally, host.run(script), 0, what, "vGPU mode mixed size", "the host is as wanted")
    (folder / "sizes").write_text("N/A\n")
    expect(tally, host.run(script), 1, f"{what}: cannot", "now it is 'N/A'")


def check_passthrough_host(tally, folder, script):
    what = "host with passthrough"
    host = Host(folder, passthru="0000:3b:00.0  false\n0000:86:00.0  true")
    expect(tally, host.run(script), 1, f"{what}: no address", "give the PCI addresses")
    expect(tally, host.run(script, "0000:01:00.0"), 1, f"{what}: no such device", "no device")
    expect(tally, host.run(script, "0000:3b:00.0", "0000:86:00.0"), 3, what, "reboot")
    expect(tally, host.run(script, "0000:3b:00.0", "0000:86:00.0"), 0, f"{what}: again", "as wanted")
    tally.check(host.changes() == [], f"{what}: changes what is right: {host.changes()}")
    listed = "0000:3b:00.0\n   Address: 0000:3b:00.0\n   Vendor ID: 0x{}\n   Device ID: 0x{}\n   SubVendor ID: 0x10de\n"
    (folder / "pci").write_text(listed.format("8086", "1592"))
    expect(tally, host.run(script, "0000:3b:00.0"), 1, f"{what}: a network card", "no GPU")
    tally.check(host.changes() == [], f"{what}: changes a network card: {host.changes()}")
    (folder / "pci").write_text(listed.format("10de", "1eb8"))
    expect(tally, host.run(script, "0000:3b:00.0"), 0, f"{what}: another GPU", "another GPU")


def render(gpuctl, blueprint, scratch):
    """The folder install/vsphere of a blueprint."""
    done = run([gpuctl, "render", blueprint, "-o", scratch], env=environment(scratch))
    if done.returncode != 0:
        raise ValueError(done.stderr.decode())
    return next(scratch.glob("clusters/*/*/install")) / "vsphere"


def check_vsphere(tally, gpuctl, scratch):
    """Renders, checks and runs the scripts; `scratch` is an empty folder."""
    for tool in ("shellcheck", "jq"):
        if not shutil.which(tool):
            skip("interop", f"{tool} is not here")
    odd = render(gpuctl, HERE / "vcenter/passthrough.yaml", scratch / "odd")
    shares = render(gpuctl, HERE / "vcenter/vgpu.yaml", scratch / "shares")
    parts = scratch / "parts.yaml"
    text = (HERE / "vcenter/vgpu.yaml").read_text()
    for before, after in (("name: shares", "name: parts"), ("model: L40S, perNode: 2", "model: A100-80GB, perNode: 1"),
                          ("delivery: vgpu", "delivery: mig-vgpu"), ("L40S-48C", "A100DX-2-20C"),
                          ("        host: {scheduler: {policy: equal-share, timeSliceMs: 2}}\n", "")):
        if before not in text:
            raise ValueError(f"vgpu.yaml holds no `{before}`")
        text = text.replace(before, after)
    parts.write_text(text)
    parts_scripts = render(gpuctl, parts, scratch / "parts")
    rails = scratch / "rails.yaml"
    text = (HERE / "vcenter/passthrough.yaml").read_text()
    for before, after in (("{name: odd}", "{name: rails}"), ("        peerToPeer: true\n", ADAPTERS)):
        if before not in text:
            raise ValueError(f"passthrough.yaml holds no `{before}`")
        text = text.replace(before, after)
    rails.write_text(text.replace("      replicas: 1\n", "      replicas: 1\n      rdmaNetworks: [rail]\n") + NETWORKS)
    rails_scripts = render(gpuctl, rails, scratch / "rails")
    folders = [odd, shares, parts_scripts, rails_scripts]
    folders += [render(gpuctl, sample, scratch / sample.stem) for sample in samples()
                if sample.stem.startswith("vsphere-")]
    for folder in folders:
        scripts = sorted(folder.glob("*.sh"))
        tally.check(len(scripts) >= 2, f"{folder}: only {len(scripts)} scripts")
        done = run(["shellcheck", "--severity=style", *scripts])
        tally.check(done.returncode == 0, done.stdout.decode())
    center = VCenter(scratch)
    try:
        check_passthrough(tally, center, odd / "prepare-gpu.sh")
        check_adapters(tally, center, rails_scripts / "prepare-gpu.sh")
        check_vgpu(tally, center, shares / "prepare-l40s.sh")
    except (ValueError, KeyError, TypeError) as problem:
        tally.check(False, f"vSphere: {problem}")
    finally:
        center.close()
    check_vgpu_host(tally, scratch / "host-slices", shares / "host-l40s.sh", False, "")
    check_vgpu_host(tally, scratch / "host-parts", parts_scripts / "host-l40s.sh", True, "2g.20gb")
    mixed = scratch / "mixed.yaml"
    mixed.write_text((HERE / "vcenter/vgpu.yaml").read_text().replace(
        "type: L40S-48C", "type: L40S-48C, mode: mixed-size").replace(
            "        host: {scheduler: {policy: equal-share, timeSliceMs: 2}}\n", ""))
    check_mixed_host(tally, scratch / "host-mixed", render(gpuctl, mixed, scratch / "mixed") / "host-l40s.sh")
    check_passthrough_host(tally, scratch / "host-passthrough", odd / "host-gpu.sh")
    tally.check(not list(scratch.rglob("taken-over")), "a name was taken for a command")


if __name__ == "__main__":
    import tempfile

    from support.program import Tally, arguments

    options, counted = arguments(__doc__), Tally()
    with tempfile.TemporaryDirectory(prefix="vsphere-") as temporary:
        check_vsphere(counted, options.gpuctl, pathlib.Path(temporary))
    counted.close()
