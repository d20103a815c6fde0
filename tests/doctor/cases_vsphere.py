"""Checks of vSphere: names, addresses and certificates against servers of ours, the rest against the
simulated vCenter, by govc."""

import json
import pathlib
import subprocess

from doctor.cases_network import ZONE
from interop.tools import go_program

HERE = pathlib.Path(__file__).resolve().parent
SAMPLE = "vsphere-vgpu-licensed.yaml"
API, APPS = "api.vgpu-lab.example.com", "*.apps.vgpu-lab.example.com"
MACHINES = {("vcenter.example.com", "A"): ["127.0.0.1"], ("esx1.example.com", "A"): ["127.0.0.11"],
            ("esx2.example.com", "A"): ["127.0.0.12"]}
GOOD = {**ZONE, **MACHINES, (API, "A"): ["10.30.0.5"], (APPS, "A"): ["10.30.0.6"]}
PASSWORD = "vc-Passw0rd-c4nary"


def prepare():
    """Builds the simulator."""
    go_program(HERE / "vcenter")


def sample(scene, replace=(), pool=()):
    scene.env["VC_PASSWORD"] = PASSWORD
    return scene.sample(SAMPLE, facts=True, replace=[
        ("{file: ~/.config/gpuctl/vcenter-password}", "{env: VC_PASSWORD}"),
        ("{file: ~/.config/gpuctl/pull-secret.json}", "{env: PULL_SECRET}"),
        ("    sshKey: {file: ~/.ssh/id_ed25519.pub}\n", ""), *replace, *pool])


def names(scene, records=None, zone=None):
    sample(scene)
    scene.names(GOOD if records is None else records)
    scene.names(GOOD if zone is None else zone, "127.0.0.2")


def without(*keys, **more):
    return {**{key: value for key, value in GOOD.items() if key[0] not in keys}, **more}


# D1, D2

def right_names(scene):
    names(scene)
    results = scene.doctor("--only", "D1,D2", code=0)
    scene.expect(results, "D1", "pass", r"is 10\.30\.0\.5 \(system\)")
    scene.expect(results, "D2", "pass", r"\*\.apps\.vgpu-lab\.example\.com` is 10\.30\.0\.6")


def missing_names(scene):
    names(scene, without(API, APPS), without(API, APPS))
    results = scene.doctor("--only", "D1,D2", code=1)
    scene.expect(results, "D1", "fail", [r"has no address \(system\)", r"has no address \(zone\)"],
                 r"make records for api\.vgpu-lab\.example\.com with 10\.30\.0\.5")
    scene.expect(results, "D2", "fail", "no name below `apps.vgpu-lab.example.com`",
                 r"wildcard record `\*\.apps\.vgpu-lab\.example\.com` with 10\.30\.0\.6")


def names_elsewhere(scene):
    names(scene, {**GOOD, (API, "A"): ["10.30.0.99"], (APPS, "A"): ["10.30.0.98"]})
    results = scene.doctor("--only", "D1,D2", code=1)
    scene.expect(results, "D1", "fail", r"is 10\.30\.0\.99 \(system\), and the blueprint has 10\.30\.0\.5",
                 "make records")
    scene.expect(results, "D2", "fail", r"is 10\.30\.0\.98 \(system\)", "wildcard record")


def split_names(scene):
    names(scene, zone={**GOOD, (API, "A"): ["203.0.113.5"]})
    results = scene.doctor("--only", "D1", code=1)
    scene.expect(results, "D1", "fail", r"is 203\.0\.113\.5 \(zone\)", "on all name servers")


def single_name_instead_of_wildcard(scene):
    names(scene, {**without(APPS), ("console.apps.vgpu-lab.example.com", "A"): ["10.30.0.6"]})
    results = scene.doctor("--only", "D2", code=1)
    scene.expect(results, "D2", "fail", "no name below", "wildcard record")


def addresses_without_names(scene):
    names(scene)
    scene.expect(scene.doctor("--only", "D2-ptr"), "D2-ptr", "pass", r"10\.30\.0\.5, 10\.30\.0\.6 have no other names")


def addresses_with_own_names(scene):
    names(scene, {**GOOD, ("5.0.30.10.in-addr.arpa", "PTR"): [API]})
    scene.expect(scene.doctor("--only", "D2-ptr"), "D2-ptr", "pass", r"10\.30\.0\.5 is api\.vgpu-lab\.example\.com")


def address_of_another_machine(scene):
    names(scene, {**GOOD, ("6.0.30.10.in-addr.arpa", "PTR"): ["printer.example.com"]})
    scene.expect(scene.doctor("--only", "D2-ptr"), "D2-ptr", "warn",
                 r"10\.30\.0\.6 is called printer\.example\.com \(system\)", "another machine has the address")


# D3

def free_addresses(scene):
    sample(scene)
    results = scene.doctor("--only", "D3", code=0)
    scene.expect(results, "D3", "pass", r"nobody answers at 10\.30\.0\.5, 10\.30\.0\.6")


def taken_address(scene):
    sample(scene)
    subprocess.run(["ip", "addr", "add", "10.30.0.6/32", "dev", "lo"], check=True)
    results = scene.doctor("--only", "D3", code=1)
    scene.expect(results, "D3", "fail", r"10\.30\.0\.6 is taken: port 6443 is refused by a host there",
                 "outside of the range of DHCP")


def answering_address(scene):
    sample(scene)
    subprocess.run(["ip", "addr", "add", "10.30.0.5/32", "dev", "lo"], check=True)
    scene.tls("10.30.0.5", port=6443)
    results = scene.doctor("--only", "D3", code=1)
    scene.expect(results, "D3", "fail", r"10\.30\.0\.5 is taken: port 6443 answers", "that nobody has")


def address_outside(scene):
    sample(scene, [("ingressVIPs: [10.30.0.6]", "ingressVIPs: [10.31.0.6]")])
    results = scene.doctor("--only", "D3", code=1)
    scene.expect(results, "D3", "fail", r"10\.31\.0\.6 is outside of the machine network", "addresses of the machine")


# D4

def tls(scene, certificate, host="vcenter.example.com"):
    sample(scene)
    scene.names({**ZONE, (host, "A"): ["127.0.0.1"]})
    scene.tls("127.0.0.1", certificate)


def good_certificate(scene):
    tls(scene, "good")
    results = scene.doctor("--only", "D4", code=0)
    scene.expect(results, "D4", "pass", "vcenter.example.com:443 by CN=test authority")
    scene.expect(results, "D4-hosts", "unknown", "`govc` is not in any directory", "install it: https://github.com")


def certificate_case(certificate, evidence, remedy, verdict="fail"):
    def case(scene):
        tls(scene, certificate)
        results = scene.doctor("--only", "D4", code=1 if verdict == "fail" else None)
        scene.expect(results, "D4", verdict, evidence, remedy)
    return case


def no_vcenter(scene):
    sample(scene)
    scene.names({**ZONE, **MACHINES})
    results = scene.doctor("--only", "D4")
    scene.expect(results, "D4", "unknown", "Connection refused", "reaches it")


# The simulator

class VCenter:
    """Serves the inventory of the sample."""

    def __init__(self, scene, **settings):
        self.scene, self.program = scene, go_program(HERE / "vcenter")
        sample(scene)
        scene.names(GOOD)
        link = scene.tools / "govc"
        link.write_text(f'#!/bin/sh\nexec {self.program} "$@"\n')
        link.chmod(0o755)
        folder = scene.authority.folder
        self.server = subprocess.Popen([self.program, "simulate", folder / "good.pem", folder / "good.key"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        scene.stack.callback(self.server.wait)
        scene.stack.callback(self.server.kill)
        self.server.stdin.write(json.dumps(settings).encode())
        self.server.stdin.close()
        if not self.server.stdout.readline():
            raise RuntimeError("the simulator does not start")
        for words in (("object.rename", "/DC0/host/DC0_C0", "gpu"),
                      ("pool.create", "/DC0/host/gpu/Resources/openshift"),
                      ("folder.create", "/DC0/vm/openshift"), ("folder.create", "/DC0/vm/openshift/vgpu-lab"),
                      ("object.rename", "/DC0/vm/DC0_C0_RP0_VM0", "rhcos-4.20-l40s-24c"),
                      ("object.mv", "/DC0/vm/rhcos-4.20-l40s-24c", "/DC0/vm/openshift/vgpu-lab"),
                      ("object.rename", "/DC0", "dc1")):
            self.govc(*words)

    def govc(self, *words):
        env = {**self.scene.env, "GOVC_URL": "https://vcenter.example.com", "GOVC_PERSIST_SESSION": "false",
               "GOVC_USERNAME": "openshift@vsphere.local", "GOVC_PASSWORD": PASSWORD}
        done = subprocess.run([self.program, *words], env=env, capture_output=True, check=False, timeout=60)
        if done.returncode:
            raise RuntimeError(f"govc {words}: {done.stderr.decode()}")


def good_inventory(scene):
    VCenter(scene)
    results = scene.doctor("--only", "D23")
    scene.expect(results, "D23", "pass", "vCenter 8.0.3; all objects of 1 failure domains are there")
    scene.expect(results, "D23-gpus", "pass", "2 hosts with GPUs, and 1 templates as promised")
    scene.expect(results, "D23-rights", "pass", "all privileges on 6 objects")


def host_certificates(scene):
    VCenter(scene)
    scene.tls("127.0.0.11", "good")
    scene.tls("127.0.0.12", "stranger-signed")
    results = scene.doctor("--only", "D4", code=1)
    scene.expect(results, "D4-hosts", "fail", "esx2.example.com: unable to get local issuer certificate",
                 "put the authority that has signed it into the store")


def trusted_hosts(scene):
    VCenter(scene)
    scene.tls("127.0.0.11", "good")
    scene.tls("127.0.0.12", "good")
    results = scene.doctor("--only", "D4")
    scene.expect(results, "D4-hosts", "pass", "2 hosts")


def old_vcenter(scene):
    VCenter(scene, Version="7.0.1")
    scene.expect(scene.doctor("--only", "D23", code=1), "D23", "fail", "vCenter is 7.0.1", "upgrade vCenter")


def unpatched_vcenter(scene):
    VCenter(scene, Version="8.0.0", Build="20000000")
    scene.expect(scene.doctor("--only", "D23", code=1), "D23", "fail", "has build 20000000", "patch vCenter")


def no_drs(scene):
    VCenter(scene, NoDRS=True)
    scene.expect(scene.doctor("--only", "D23"), "D23", "warn", "`/dc1/host/gpu` has no DRS", "switch DRS on")


def full_datastore(scene):
    VCenter(scene, FreeBytes=100 << 30)
    scene.expect(scene.doctor("--only", "D23"), "D23", "warn", "has 100 GiB free", "make room")


def missing_objects(scene):
    VCenter(scene, Datastore="other")
    results = scene.doctor("--only", "D23", code=1)
    scene.expect(results, "D23", "fail", "there is no `/dc1/datastore/gpu-nvme`", "govc find /dc1")


def missing_network(scene):
    VCenter(scene, Network="other")
    results = scene.doctor("--only", "D23", code=1)
    scene.expect(results, "D23", "fail", "0 port groups are called `openshift-gpu`", "make the port group")


def hosts_without_gpus(scene):
    VCenter(scene, NoGPUs=True)
    results = scene.doctor("--only", "D23-gpus", code=1)
    scene.expect(results, "D23-gpus", "fail", "no host of failure domain `dc1-gpu` shows an NVIDIA GPU", "SR-IOV")


def shared_otherwise(scene):
    VCenter(scene, Graphics="shared")
    results = scene.doctor("--only", "D23-gpus", code=1)
    scene.expect(results, "D23-gpus", "fail", r"are not shared directly \(shared\)", "SharedPassthru")


def no_host_driver(scene):
    VCenter(scene, Profiles=[])
    results = scene.doctor("--only", "D23-gpus", code=1)
    scene.expect(results, "D23-gpus", "fail", "offers nvidia_l40s-24c; offered: nothing", "install the host driver")


def other_profiles(scene):
    VCenter(scene, Profiles=["nvidia_l40s-48c"])
    results = scene.doctor("--only", "D23-gpus", code=1)
    scene.expect(results, "D23-gpus", "fail", "offered: nvidia_l40s-48c", "take an offered profile")


def other_template(scene):
    VCenter(scene, TemplateVGPU="nvidia_l40s-48c")
    results = scene.doctor("--only", "D23-gpus", code=1)
    scene.expect(results, "D23-gpus", "fail", r"has 0 of the 1 GPUs .*\(nvidia_l40s-24c\)", "add the device")


def machine_as_template(scene):
    VCenter(scene, Machine=True)
    results = scene.doctor("--only", "D23-gpus", code=1)
    scene.expect(results, "D23-gpus", "fail", "is a machine and no template", "govc vm.markastemplate")


def no_template(scene):
    VCenter(scene).govc("object.rename", "/dc1/vm/openshift/vgpu-lab/rhcos-4.20-l40s-24c", "other")
    results = scene.doctor("--only", "D23-gpus", code=1)
    scene.expect(results, "D23-gpus", "fail", "there is no `/dc1/vm/openshift/vgpu-lab/rhcos-4.20-l40s-24c`",
                 "script in install/vsphere")


def missing_rights(scene):
    VCenter(scene, Missing=["Network.Assign", "VApp.Import", "Folder.Create"])
    results = scene.doctor("--only", "D23-rights", code=1)
    scene.expect(results, "D23-rights", "fail",
                 ["lacks on the cluster `/dc1/host/gpu`: VApp.Import", "datacenter `/dc1`: Folder.Create, VApp.Import"],
                 "govc role.create openshift-cluster Resource.AssignVMToPool")


# Licences, clocks, tags

def good_licences(scene):
    VCenter(scene)
    scene.expect(scene.doctor("--only", "D23-licence"), "D23-licence", "pass", "VMware vSphere 8 Enterprise Plus")
    scene.check("LICEN-CEKEY" not in scene.last.text, "a key is shown")


def small_licence(scene):
    VCenter(scene, Licences=["VMware vCenter Server 8 Standard", "VMware vSphere 8 Standard"])
    scene.expect(scene.doctor("--only", "D23-licence"), "D23-licence", "warn",
                 "no licence is known to cover vGPU and DRS: .*VMware vSphere 8 Standard", "Enterprise Plus")


def evaluation(scene):
    VCenter(scene, Licences=["Evaluation Mode"])
    scene.expect(scene.doctor("--only", "D23-licence"), "D23-licence", "warn", "evaluation mode", "assign licences")


def hidden_licences(scene):
    VCenter(scene, Licences=[])
    scene.expect(scene.doctor("--only", "D23-licence"), "D23-licence", "unknown", "shows no licences", "Global.Licenses")


def hosts_with_clocks(scene):
    """Servers that tell the time, as those of hosts do."""
    scene.registry("127.0.0.11")
    scene.registry("127.0.0.12")


def good_clocks(scene):
    VCenter(scene)
    hosts_with_clocks(scene)
    scene.expect(scene.doctor("--only", "D23-clocks"), "D23-clocks", "pass",
                 r"vcenter\.example\.com: .* a time service runs on 2 hosts")


def host_without_ntp(scene):
    VCenter(scene, NoNTP=True)
    hosts_with_clocks(scene)
    scene.expect(scene.doctor("--only", "D23-clocks"), "D23-clocks", "warn",
                 "no time service runs on /dc1/host/gpu/esx2.example.com", "same time servers")


def silent_clocks(scene):
    VCenter(scene)
    scene.expect(scene.doctor("--only", "D23-clocks"), "D23-clocks", "unknown",
                 "nobody told the time of esx1.example.com, esx2.example.com", "port 443")


TWO_DOMAINS = [("    failureDomains:\n", """    failureDomains:
      - name: dc1-second
        region: dc1
        zone: second
        server: vcenter.example.com
        topology:
          datacenter: dc1
          computeCluster: /dc1/host/gpu
          datastore: /dc1/datastore/gpu-nvme
          networks: [openshift-gpu]
""")]


def tags_of(vcenter, *attached):
    for category in ("openshift-region", "openshift-zone"):
        vcenter.govc("tags.category.create", category)
    for category, tag, path in attached:
        vcenter.govc("tags.create", "-c", category, tag)
        if path:
            vcenter.govc("tags.attach", "-c", category, tag, path)


def one_domain_without_tags(scene):
    VCenter(scene)
    scene.expect(scene.doctor("--only", "D23-tags"), "D23-tags", "skip", "one failure domain needs no tags")


def no_categories(scene):
    VCenter(scene)
    sample(scene, TWO_DOMAINS)
    scene.expect(scene.doctor("--only", "D23-tags", code=1), "D23-tags", "fail", "has no category `openshift-region`",
                 "govc tags.category.create -t Datacenter openshift-region")


def missing_tags(scene):
    vcenter = VCenter(scene)
    tags_of(vcenter, ("openshift-region", "dc1", ""), ("openshift-zone", "gpu", "/dc1/host/gpu"))
    sample(scene, TWO_DOMAINS)
    scene.expect(scene.doctor("--only", "D23-tags", code=1), "D23-tags", "fail",
                 ["category `openshift-zone` has no tag `second`", "`/dc1` does not carry the tag `dc1`"],
                 "govc tags.attach -c openshift-region dc1 ./dc1.")


def good_tags(scene):
    vcenter = VCenter(scene)
    tags_of(vcenter, ("openshift-region", "dc1", "/dc1"), ("openshift-zone", "gpu", "/dc1/host/gpu"),
            ("openshift-zone", "second", "/dc1/host/gpu"))
    sample(scene, TWO_DOMAINS)
    scene.expect(scene.doctor("--only", "D23-tags"), "D23-tags", "pass", "tags are where they belong")


def wrong_password(scene):
    VCenter(scene)
    results = scene.doctor("--only", "D23", env={"VC_PASSWORD": "not-the-Passw0rd-77"})
    scene.expect(results, "D23", "unknown", "(?i)login|password", "may log in")
    scene.check("not-the-Passw0rd-77" not in scene.last.text, "the password is shown")


# D29: the licence service.

DLS = [("      token: {externalSecret: {store: vault, key: gpu/vgpu-lab, property: token}}",
        "      token: {existing: licensing-config}\n"
        "      dls: {nodes: [dls-1.example.com, 127.0.0.12]}")]


def dls(scene, certificate, records):
    scene.sample("vsphere-vgpu-licensed.yaml", replace=DLS)
    scene.names(records)
    scene.tls("127.0.0.11", certificate)
    scene.tls("127.0.0.12", "stranger-signed")


def good_dls(scene):
    dls(scene, "good", {("dls-1.example.com", "A"): ["127.0.0.11"]})
    results = scene.doctor("--only", "D29", code=0)
    scene.expect(results, "D29", "pass", "all answer: dls-1.example.com:443, 127.0.0.12:443")
    scene.expect(results, "D29-names", "pass", "dls-1.example.com is 127.0.0.11")


def old_dls(scene):
    dls(scene, "expired", {("dls-1.example.com", "A"): ["127.0.0.11"]})
    scene.expect(scene.doctor("--only", "D29", code=1), "D29", "fail", "certificate has expired", "make a new token")


def nameless_dls(scene):
    dls(scene, "good", {("other.example.com", "A"): ["127.0.0.11"]})
    results = scene.doctor("--only", "D29", code=1)
    scene.expect(results, "D29-names", "fail", "`dls-1.example.com` has no address", "make a record")


CASES = [(f"vsphere: {name.replace('_', ' ')}", globals()[name]) for name in (
    "right_names", "missing_names", "names_elsewhere", "split_names", "single_name_instead_of_wildcard",
    "addresses_without_names", "addresses_with_own_names", "address_of_another_machine", "good_licences", "small_licence",
    "evaluation", "hidden_licences", "good_clocks", "host_without_ntp", "silent_clocks", "one_domain_without_tags",
    "no_categories", "missing_tags", "good_tags", "free_addresses", "taken_address", "answering_address", "address_outside", "good_certificate",
    "no_vcenter", "good_inventory", "host_certificates", "trusted_hosts", "old_vcenter",
    "unpatched_vcenter", "no_drs", "full_datastore", "missing_objects", "missing_network",
    "hosts_without_gpus", "shared_otherwise", "no_host_driver", "other_profiles", "other_template",
    "machine_as_template", "no_template", "missing_rights", "wrong_password",
    "good_dls", "old_dls", "nameless_dls")]
CASES += [
    ("vsphere: expired certificate", certificate_case(
        "expired", "certificate has expired", "renew the certificate")),
    ("vsphere: certificate of another host", certificate_case(
        "wrong", "the certificate is for elsewhere.example.net", "write the name of the certificate")),
    ("vsphere: unknown authority", certificate_case(
        "stranger-signed", "unable to get local issuer certificate .issued by CN=authority of strangers",
        "put the roots of https://vcenter.example.com/certs")),
    ("vsphere: certificate that ends soon", certificate_case(
        "soon", "ends in 5 days", "renew the certificate", "warn")),
]
