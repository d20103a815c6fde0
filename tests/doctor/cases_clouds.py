"""Checks of clouds, whose programs are stand-ins that answer as the real ones do."""

import contextlib
import pathlib
import signal
import time

from doctor.cases_network import ZONE

AWS, GCP, GKE = "aws-minimal.yaml", "gcp-n1-t4.yaml", "gke-l4-separate-pool.yaml"
ARN = "arn:aws:iam::123456789012:user/installer"


def identity(arn=ARN):
    return {"words": ["get-caller-identity"], "output": {
        "UserId": "AIDAEXAMPLE", "Account": "123456789012", "Arn": arn}}


def quota(code, value, name="Running On-Demand G and VT instances"):
    return {"words": ["get-service-quota", code], "output": {"Quota": {
        "ServiceCode": "ec2", "QuotaCode": code, "QuotaName": name, "Value": value, "Unit": "None"}}}


def failure(words, text, code=254):
    return {"words": words, "output": "", "errors": f"\n{text}\n", "code": code}


def aws(scene, *rows, sample=AWS, **changes):
    scene.sample(sample, **changes)
    scene.stand_in("aws", list(rows))


# D12

def account(scene):
    aws(scene, identity())
    scene.expect(scene.doctor("--only", "D12", code=0), "D12", "pass", "account 123456789012 as `" + ARN)


def bad_keys(scene):
    aws(scene, failure(["get-caller-identity"], "An error occurred (InvalidClientTokenId) when calling the "
                       "GetCallerIdentity operation: The security token included in the request is invalid."))
    scene.expect(scene.doctor("--only", "D12", code=1), "D12", "fail", "InvalidClientTokenId", "AWS_PROFILE")


def no_keys(scene):
    aws(scene, failure(["get-caller-identity"], "Unable to locate credentials. You can configure credentials by "
                       "running \"aws configure\".", 253))
    scene.expect(scene.doctor("--only", "D12", code=1), "D12", "fail", "Unable to locate credentials", "log in again")


def no_endpoint(scene):
    aws(scene, failure(["get-caller-identity"], "Could not connect to the endpoint URL: "
                       "\"https://sts.eu-central-1.amazonaws.com/\"", 255))
    scene.expect(scene.doctor("--only", "D12", code=0), "D12", "unknown", "Could not connect", "log in again")


def root_user(scene):
    aws(scene, identity("arn:aws:iam::123456789012:root"))
    scene.expect(scene.doctor("--only", "D12", code=0), "D12", "warn", "root user", "rights of the installer")


def no_aws(scene):
    scene.sample(AWS)
    scene.expect(scene.doctor("--only", "D12", code=0), "D12", "unknown", "`aws` is not in any directory",
                 "install it: the package awscli")


# D13

def simulation(decision="allowed", **more):
    return {"words": ["simulate-principal-policy"], "output": {"EvaluationResults": [
        {"EvalActionName": "ec2:RunInstances", "EvalDecision": decision, **more},
        {"EvalActionName": "ec2:CreateTags", "EvalDecision": "allowed"}]}}


def allowed_actions(scene):
    aws(scene, identity("arn:aws:sts::123456789012:assumed-role/installer/me"), simulation())
    results = scene.doctor("--only", "D13", code=0)
    scene.expect(results, "D13", "pass", "actions are allowed to `arn:aws:iam::123456789012:role/installer`")
    calls = [call for call in scene.calls() if "simulate-principal-policy" in call]
    scene.check(len(calls) == 4, f"{len(calls)} groups")
    scene.check(any("ec2:CreateVpc" in call for call in calls), "the network is not among the actions")
    scene.check(all("s3:CreateBucket" in call for call in calls if "ec2:RunInstances" in call), "no S3")


def denied_actions(scene):
    aws(scene, identity(), simulation("implicitDeny"))
    scene.expect(scene.doctor("--only", "D13", code=1), "D13", "fail", "not allowed: ec2:RunInstances", "attach a policy")


def explicit_deny(scene):
    aws(scene, identity(), simulation("explicitDeny"))
    scene.expect(scene.doctor("--only", "D13", code=1), "D13", "fail", "denied: ec2:RunInstances", "remove the deny")


def organisation_deny(scene):
    aws(scene, identity(), simulation("explicitDeny", OrganizationsDecisionDetail={"AllowedByOrganizations": False}))
    scene.expect(scene.doctor("--only", "D13", code=1), "D13", "fail", "policy of the organisation forbids ec2:RunInstances",
                 "administers the organisation")


def no_simulation(scene):
    aws(scene, identity(), failure(["simulate-principal-policy"], "An error occurred (AccessDenied) when calling the "
                                   "SimulatePrincipalPolicy operation: User is not authorized"))
    scene.expect(scene.doctor("--only", "D13", code=0), "D13", "unknown", "AccessDenied", "iam:SimulatePrincipalPolicy")


# D14

def machines(*rows):
    return {"words": ["describe-instances"], "output": [{"type": kind, "lifecycle": None} for kind in rows]}


def enough_vcpus(scene):
    aws(scene, machines(), quota("L-DB2E81BA", 64.0), quota("L-1216C47A", 256.0, "Standard"))
    scene.expect(scene.doctor("--only", "D14", code=0), "D14", "pass", "L-DB2E81BA: 64 vCPUs")


def no_gpu_quota(scene):
    aws(scene, machines(), quota("L-DB2E81BA", 0.0), quota("L-1216C47A", 256.0, "Standard"))
    scene.expect(scene.doctor("--only", "D14", code=1), "D14", "fail",
                 r"L-DB2E81BA \(Running On-Demand G and VT instances\) is 0 vCPUs, of which 0 are taken; .* needs 4",
                 "request-service-quota-increase")


def quota_in_use(scene):
    aws(scene, machines("g5.12xlarge"), quota("L-DB2E81BA", 50.0), quota("L-1216C47A", 256.0, "Standard"))
    scene.expect(scene.doctor("--only", "D14", code=1), "D14", "fail", "is 50 vCPUs, of which 48 are taken", "it takes days")


def quota_for_growth(scene):
    aws(scene, machines(), quota("L-DB2E81BA", 8.0), quota("L-1216C47A", 256.0, "Standard"),
        replace=[("      replicas: 1", "      scaling: {min: 1, max: 4}")])
    scene.expect(scene.doctor("--only", "D14", code=0), "D14", "warn", "may grow to 16", "request more")


# D15, D16

def offerings(*zones):
    return {"words": ["describe-instance-type-offerings"], "output": {"InstanceTypeOfferings": [
        {"InstanceType": "g5.xlarge", "LocationType": "availability-zone", "Location": zone} for zone in zones]}}


def offered_type(scene):
    aws(scene, offerings("eu-central-1a", "eu-central-1b", "eu-central-1c"))
    scene.expect(scene.doctor("--only", "D15", code=0), "D15", "pass", "every zone")


def zone_without_type(scene):
    aws(scene, offerings("eu-central-1a", "eu-central-1b"))
    scene.expect(scene.doctor("--only", "D15", code=1), "D15", "fail",
                 "eu-central-1c of this account has no g5.xlarge; zones that do: eu-central-1a, eu-central-1b", "name zones")


def region_without_type(scene):
    aws(scene, offerings())
    scene.expect(scene.doctor("--only", "D15", code=1), "D15", "fail", "no zone of the region has it", "another type or region")


def no_vpc_left(scene):
    aws(scene, {"words": ["describe-vpcs"], "output": ["vpc-1", "vpc-2", "vpc-3", "vpc-4", "vpc-5"]},
        {"words": ["describe-addresses"], "output": []},
        *(quota(code, 5.0) for code in ("L-F678F1CE", "L-A4707A72", "L-FE5A380F", "L-0263D0A3", "L-E79EC296")))
    scene.expect(scene.doctor("--only", "D16", code=1), "D16", "fail", "VPCs: 5 are granted, 5 are taken, 1 are needed",
                 "network that is there")


def room_for_network(scene):
    aws(scene, {"words": ["describe-vpcs"], "output": ["vpc-1"]}, {"words": ["describe-addresses"], "output": []},
        *(quota(code, 50.0) for code in ("L-F678F1CE", "L-A4707A72", "L-FE5A380F", "L-0263D0A3", "L-E79EC296")))
    scene.expect(scene.doctor("--only", "D16", code=0), "D16", "pass", "quotas are enough")


# D17

def zones(*rows):
    return {"words": ["list-hosted-zones-by-name"], "output": {"HostedZones": [
        {"Id": f"/hostedzone/Z{i}", "Name": name, "Config": {"PrivateZone": private}}
        for i, (name, private) in enumerate(rows)]}}


def hosted_zone(*servers):
    return {"words": ["get-hosted-zone"], "output": {"DelegationSet": {"NameServers": list(servers)}}}


def delegated_zone(scene):
    aws(scene, zones(("example.com.", False)), hosted_zone("ns1.example.com"))
    scene.names(ZONE)
    scene.expect(scene.doctor("--only", "D17", code=0), "D17", "pass", "delegated")


def zone_elsewhere(scene):
    aws(scene, zones(("example.com.", False)), hosted_zone("ns-1.awsdns-01.org", "ns-2.awsdns-02.net"))
    scene.names(ZONE)
    scene.expect(scene.doctor("--only", "D17", code=1), "D17", "fail",
                 "delegated to ns1.example.com, and the hosted zone is at ns-1.awsdns-01.org, ns-2.awsdns-02.net",
                 "change the NS records")


def no_zone(scene):
    aws(scene, zones(("example.com.", True), ("example.org.", False)))
    scene.expect(scene.doctor("--only", "D17", code=1), "D17", "fail", "no public hosted zone `example.com`, only a private",
                 "make the zone")


def two_zones(scene):
    aws(scene, zones(("example.com.", False), ("example.com.", False)))
    scene.expect(scene.doctor("--only", "D17", code=1), "D17", "fail", "2 public hosted zones", "remove those")


def nobody_delegates(scene):
    aws(scene, zones(("example.com.", False)), hosted_zone("ns-1.awsdns-01.org"))
    scene.names({("ns1.example.org", "A"): ["127.0.0.1"]})
    scene.expect(scene.doctor("--only", "D17", code=1), "D17", "fail", "nobody delegates `example.com`", "add NS records")


# D24, D25

def ranges(scene):
    aws(scene)
    scene.expect(scene.doctor("--only", "D24", code=0), "D24", "pass", "10.0.0.0/16, 10.128.0.0/14, 172.30.0.0/16")


def reserved(scene, **more):
    row = {"CapacityReservationId": "cr-0123456789abcdef0", "InstanceType": "g5.xlarge", "State": "active",
           "AvailabilityZone": "eu-central-1a", "AvailableInstanceCount": 2, **more}
    aws(scene, {"words": ["describe-capacity-reservations"], "output": {"CapacityReservations": [row]}},
        replace=[("      replicas: 1", "      replicas: 1\n      zones: [eu-central-1a]\n"
                  "      capacityReservation: {id: cr-0123456789abcdef0}")])


def good_reservation(scene):
    reserved(scene)
    scene.expect(scene.doctor("--only", "D25", code=0), "D25", "pass", "reservations have machines")


def other_reservation(scene):
    reserved(scene, InstanceType="g5.2xlarge")
    scene.expect(scene.doctor("--only", "D25", code=1), "D25", "fail", "of g5.2xlarge in eu-central-1a; pool `gpu` wants g5.xlarge",
                 "the same")


def taken_reservation(scene):
    reserved(scene, AvailableInstanceCount=0)
    scene.expect(scene.doctor("--only", "D25", code=1), "D25", "fail", "has 0 machines free", "reserve more")


def unreserved(scene):
    aws(scene)
    scene.expect(scene.doctor("--only", "D25", code=0), "D25", "unknown", r"no API says .*gpu \(g5.xlarge\)", "more zones")


# Google

def gcloud(scene, *rows, sample=GCP):
    scene.sample(sample, facts=sample == GCP)
    scene.stand_in("gcloud", list(rows))


GCP_HOSTS = ["compute", "cloudresourcemanager", "dns", "iamcredentials", "iam", "serviceusage", "cloudapis",
             "servicemanagement", "storage-api", "storage-component", "container"]


def services(*left_out):
    return {"words": ["services", "list"], "output": [
        {"config": {"name": f"{host}.googleapis.com"}, "state": "ENABLED"} for host in GCP_HOSTS if host not in left_out]}


def all_services(scene):
    gcloud(scene, services())
    scene.expect(scene.doctor("--only", "D18"), "D18", "pass", "switched on")


def missing_service(scene):
    gcloud(scene, services("dns"))
    scene.expect(scene.doctor("--only", "D18", code=1), "D18", "fail", "not switched on: dns.googleapis.com",
                 "gcloud services enable --project [a-z0-9-]+ dns.googleapis.com")


def missing_service_of_gke(scene):
    gcloud(scene, services("container"), sample=GKE)
    scene.expect(scene.doctor("--only", "D18", code=1), "D18", "fail", "not switched on: container.googleapis.com",
                 "gcloud services enable")


def not_logged_in(scene):
    gcloud(scene, failure(["services"], "ERROR: (gcloud.services.list) You do not currently have an active account selected.", 1))
    scene.expect(scene.doctor("--only", "D18"), "D18", "unknown", "do not currently have an active account", "gcloud auth login")


def google_quotas(limit, usage=0.0, everywhere=16.0):
    metrics = ["NVIDIA_T4_GPUS", "NVIDIA_L4_GPUS", "PREEMPTIBLE_NVIDIA_L4_GPUS", "PREEMPTIBLE_NVIDIA_T4_GPUS"]
    return ({"words": ["regions", "describe"], "output": {"quotas": [
        {"metric": metric, "limit": limit, "usage": usage} for metric in metrics]}},
            {"words": ["project-info", "describe"], "output": {"quotas": [
                {"metric": "GPUS_ALL_REGIONS", "limit": everywhere, "usage": 0.0}]}})


def enough_gpus(scene):
    gcloud(scene, *google_quotas(32.0))
    scene.expect(scene.doctor("--only", "D19"), "D19", "pass", "enough for")


def no_gpus(scene):
    gcloud(scene, *google_quotas(0.0))
    scene.expect(scene.doctor("--only", "D19", code=1), "D19", "fail", "NVIDIA_T4_GPUS in [a-z0-9-]+: 0 are free", "takes days")


def no_gpus_anywhere(scene):
    gcloud(scene, *google_quotas(32.0, everywhere=0.0))
    scene.expect(scene.doctor("--only", "D19", code=1), "D19", "fail", "GPUS_ALL_REGIONS of the project: 0 are free",
                 "iam-admin/quotas")


def gpus_for_growth(scene):
    gcloud(scene, *google_quotas(2.0), sample=GKE)
    scene.expect(scene.doctor("--only", "D19"), "D19", "warn", "NVIDIA_L4_GPUS in us-central1: 2 are free, .* may grow to 6",
                 "request more")


def google_cpus(**metrics):
    return {"words": ["regions", "describe"], "output": {"quotas": [
        {"metric": metric, "limit": limit, "usage": 8.0} for metric, limit in metrics.items()]}}


def enough_google_vcpus(scene):
    gcloud(scene, google_cpus(CPUS=200.0, N2_CPUS=200.0))
    scene.expect(scene.doctor("--only", "D19-vcpus"), "D19-vcpus", "pass", "enough of N2_CPUS, CPUS")


def too_few_google_vcpus(scene):
    """The bootstrap machine, control plane and workers, and pools whose GPUs are attached to N1."""
    gcloud(scene, google_cpus(CPUS=200.0, N2_CPUS=24.0))
    scene.expect(scene.doctor("--only", "D19-vcpus", code=1), "D19-vcpus", "fail",
                 r"N2_CPUS in [a-z0-9-]+: 16 vCPUs are free, and the machines begin with \d+", "takes days")
    gcloud(scene, google_cpus(CPUS=8.0, N2_CPUS=200.0))
    scene.expect(scene.doctor("--only", "D19-vcpus", code=1), "D19-vcpus", "fail", "CPUS in [a-z0-9-]+: 0 vCPUs are free", "takes days")
    gcloud(scene, google_cpus(CPUS=200.0))
    scene.expect(scene.doctor("--only", "D19-vcpus"), "D19-vcpus", "unknown", "has no quota N2_CPUS", "look for it")


def too_few_gke_vcpus(scene):
    gcloud(scene, google_cpus(CPUS=8.0), sample=GKE)
    scene.expect(scene.doctor("--only", "D19-vcpus", code=1), "D19-vcpus", "fail",
                 "CPUS in us-central1: 0 vCPUs are free", "request more")
    gcloud(scene, google_cpus(CPUS=64.0), sample=GKE)
    scene.expect(scene.doctor("--only", "D19-vcpus"), "D19-vcpus", "pass", "enough of CPUS")


def machine_types(*zones_of_it):
    return {"words": ["machine-types", "list"], "output": [{"name": "any", "zone": zone} for zone in zones_of_it]}


def google_type(scene):
    gcloud(scene, machine_types("us-central1-a", "us-central1-b", "us-central1-c"), sample=GKE)
    scene.expect(scene.doctor("--only", "D20"), "D20", "pass", "every zone")


def google_type_missing(scene):
    gcloud(scene, machine_types("https://www.googleapis.com/compute/v1/projects/p/zones/us-central1-a"), sample=GKE)
    scene.expect(scene.doctor("--only", "D20", code=1), "D20", "fail", "no g2-standard-8 in us-central1-b, us-central1-c",
                 "zones of the region that have it: us-central1-a")


DEV = {**ZONE, ("dev.example.com", "NS"): ["ns1.example.com"]}


def google_zone(scene):
    gcloud(scene, {"words": ["managed-zones"], "output": [
        {"name": "z", "dnsName": "dev.example.com.", "visibility": "public", "nameServers": ["ns1.example.com."]}]})
    scene.names(DEV)
    scene.expect(scene.doctor("--only", "D21"), "D21", "pass", "delegated")


def google_zone_elsewhere(scene):
    gcloud(scene, {"words": ["managed-zones"], "output": [
        {"name": "z", "dnsName": "dev.example.com.", "visibility": "public", "nameServers": ["ns-a1.googledomains.com."]}]})
    scene.names(DEV)
    scene.expect(scene.doctor("--only", "D21", code=1), "D21", "fail",
                 "delegated to ns1.example.com, and the zone is at ns-a1.googledomains.com", "NS records in the zone above")


def no_google_zone(scene):
    gcloud(scene, {"words": ["managed-zones"], "output": []})
    scene.names(DEV)
    scene.expect(scene.doctor("--only", "D21", code=1), "D21", "fail", "has no public zone `dev.example.com`",
                 "gcloud dns managed-zones create")


def policies(**given):
    rows = []
    for constraint in ("compute.vmExternalIpAccess", "compute.requireShieldedVm", "compute.trustedImageProjects",
                       "iam.disableServiceAccountKeyCreation"):
        rows.append({"words": ["org-policies", constraint],
                     "output": {"constraint": f"constraints/{constraint}", **given.get(constraint.split(".")[1], {})}})
    return rows


def no_policies(scene):
    gcloud(scene, *policies())
    scene.expect(scene.doctor("--only", "D22"), "D22", "pass", "no policy")


def policies_in_the_way(scene):
    gcloud(scene, *policies(vmExternalIpAccess={"listPolicy": {"allValues": "DENY"}},
                            disableServiceAccountKeyCreation={"booleanPolicy": {"enforced": True}},
                            trustedImageProjects={"listPolicy": {"allowedValues": ["projects/ours"]}}))
    scene.expect(scene.doctor("--only", "D22", code=1), "D22", "fail",
                 ["vmExternalIpAccess forbids", "disableServiceAccountKeyCreation forbids", "allows projects/ours, and not rhcos"],
                 "administers the organisation")


def shielded(scene):
    gcloud(scene, *policies(requireShieldedVm={"booleanPolicy": {"enforced": True}}))
    scene.expect(scene.doctor("--only", "D22"), "D22", "warn", "wants shielded machines", "signed driver")


# D27

def packages(scene, gpu_channels=("stable", "v25.3", "v25.10", "v26.3", "v26.7"), **more):
    scene.sample("openshift-bare-metal.yaml")

    def package(name, source, channels):
        return {"words": ["packagemanifest", name], "output": {"metadata": {"name": name}, "status": {
            "catalogSource": source, "channels": [{"name": channel} for channel in channels]}}}
    rows = [package("nfd", "redhat-operators", ["stable"]),
            package("gpu-operator-certified", more.get("source", "certified-operators"), gpu_channels),
            package("sriov-network-operator", "redhat-operators", ["stable"]),
            package("lvms-operator", "redhat-operators", ["stable-4.19", "stable-4.20"]),
            package("nim-operator-certified", "certified-operators", ["stable"]),
            package("nvidia-network-operator", "certified-operators", ["stable", "v25.4", "v25.7", "v25.10", "v26.1", "v26.4"])]
    scene.stand_in("oc", more.get("rows", []) + rows)


def channels_there(scene):
    packages(scene)
    scene.expect(scene.doctor("--only", "D27"), "D27-channels", "pass", "gpu-operator-certified, channel v2")


def channel_missing(scene):
    packages(scene, ["v1.10", "v23.9"])
    scene.expect(scene.doctor("--only", "D27-channels", code=1), "D27-channels", "fail",
                 "`gpu-operator-certified` has no channel `v.*`; it has v1.10, v23.9", "mirror the catalogue again")


def package_missing(scene):
    packages(scene, rows=[failure(["packagemanifest", "nfd"], "Error from server (NotFound): packagemanifests."
                                  "packages.operators.coreos.com \"nfd\" not found", 1)])
    scene.expect(scene.doctor("--only", "D27-channels", code=1), "D27-channels", "fail",
                 "no catalogue of the cluster has the operator `nfd`", "oc get catalogsources")


def package_elsewhere(scene):
    packages(scene, source="mirror-operators")
    scene.expect(scene.doctor("--only", "D27-channels"), "D27-channels", "warn",
                 "is in `mirror-operators`, and the blueprint takes it from `certified-operators`", "catalogSource")


def no_cluster_for_channels(scene):
    packages(scene, rows=[failure(["packagemanifest"], "Unable to connect to the server: dial tcp: i/o timeout", 1)])
    scene.expect(scene.doctor("--only", "D27-channels"), "D27-channels", "unknown", "Unable to connect", "KUBECONFIG")


def channels_before_there_is_a_cluster(scene):
    scene.sample(AWS)
    scene.expect(scene.doctor("--only", "D27-channels"), "D27-channels", "skip", "only the catalogue image has the channels")


def pinned_system_pool(scene):
    scene.sample(GKE, replace=[("nodeZones: [us-central1-a, us-central1-b, us-central1-c]", "nodeZones: [us-central1-a]")])
    scene.expect(scene.doctor("--only", "D26"), "D26", "warn", "no other zone than shared, batch: us-central1-a", "more zones")


def gke_tools(scene):
    scene.sample(GKE)
    scene.stand_in("gcloud", [{"words": ["version"], "output": {"Google Cloud SDK": "540.0.0"}}])
    scene.stand_in("kubectl", [{"words": ["version"], "output": {"clientVersion": {"gitVersion": "v1.35.2"}}}])
    scene.expect(scene.doctor("--only", "D10", code=1), "D10", "fail", "`gke-gcloud-auth-plugin` is not in",
                 "google-cloud-cli-gke-gcloud-auth-plugin")


def slow_programs(scene):
    """Programs that hang are ended with the run, and who gets no place to run is not judged."""
    scene.sample(AWS)
    scene.stand_in("aws", [{"words": [], "output": "{}", "seconds": 300}])
    results = scene.doctor("--only", "D12,D14,D15,D16,D17", "--timeout", "4")
    scene.check(scene.last.seconds < 9, f"took {scene.last.seconds} s")
    evidence = {row["id"]: [one["evidence"] for one in row["findings"]] for row in results.values()}
    for name in ("D12", "D14", "D15", "D16", "D17"):
        scene.check(any("did not answer in time" in one or "not asked: " in one for one in evidence[name]),
                    f"{name}: {evidence[name]}")
    # How many were started in time is the machine's affair; `interrupted` waits until four run at once.
    silent = [name for name in evidence if any("did not answer in time" in one for one in evidence[name])]
    scene.check(silent, f"nobody was asked: {evidence}")
    scene.expect(scene.doctor("--only", "D12", "--timeout", "2"), "D12", "unknown", "did not answer in time", "log in again")


def interrupted(scene):
    """A signal ends the run at once, and the programs that it has started."""
    scene.sample(AWS)
    scene.stand_in("aws", [{"words": [], "output": "{}", "seconds": 300}])
    child = scene.start("doctor", "lab.yaml", "--only", "D12,D14,D15,D16")
    scene.check(scene.wait_for(lambda: len(scene.calls()) >= 4), "no programs run")
    started = time.monotonic()
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=30)
    scene.check(child.returncode == -signal.SIGINT, f"ended with {child.returncode}")
    scene.check(time.monotonic() - started < 5, "took its time")

    def running():
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if str(scene.tools / "aws") in path.read_bytes().decode(errors="replace"):
                    return True
        return False
    scene.check(scene.wait_for(lambda: not running(), 5), "programs outlive it")


def hostile_program(scene):
    """What a program prints steers no terminal, and is not taken for an answer."""
    scene.sample(AWS)
    scene.stand_in("aws", [{"words": [], "output": "", "errors": "\x1b[31mred\x1b[0m \x07 done\n", "code": 1}])
    done = scene.run("doctor", "lab.yaml", "--only", "D12,D15")
    scene.check("\x1b" not in done.stdout and "\x07" not in done.stdout, f"steers: {done.stdout!r}")


CASES = [(f"clouds: {name.replace('_', ' ')}", globals()[name]) for name in (
    "account", "bad_keys", "no_keys", "no_endpoint", "root_user", "no_aws", "allowed_actions", "denied_actions",
    "explicit_deny", "organisation_deny", "no_simulation", "enough_vcpus", "no_gpu_quota", "quota_in_use",
    "quota_for_growth", "offered_type", "zone_without_type", "region_without_type", "no_vpc_left",
    "room_for_network", "delegated_zone", "zone_elsewhere", "no_zone", "two_zones", "nobody_delegates", "ranges",
    "good_reservation", "other_reservation", "taken_reservation", "unreserved", "all_services", "missing_service",
    "missing_service_of_gke", "not_logged_in", "enough_gpus", "no_gpus", "no_gpus_anywhere", "gpus_for_growth",
    "enough_google_vcpus", "too_few_google_vcpus", "too_few_gke_vcpus",
    "google_type", "google_type_missing", "google_zone", "google_zone_elsewhere", "no_google_zone", "no_policies",
    "policies_in_the_way", "shielded", "pinned_system_pool",
    "channels_there", "channel_missing", "package_missing", "package_elsewhere", "no_cluster_for_channels",
    "channels_before_there_is_a_cluster", "gke_tools", "slow_programs", "interrupted", "hostile_program")]
