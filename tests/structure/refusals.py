#!/usr/bin/env python3
"""What the published CRDs say is immutable, plan never calls anything but refused; and what plan calls
refused, a CRD, the API server's own validation or a webhook refuses.

Needs ../shared/schemas.
"""

import os
import re
import sys

from common import ROOT, main

try:
    import yaml
except ImportError:
    print("skipped: PyYAML is not here (Debian: python3-yaml)")
    raise SystemExit(77)

from formats import Loader

SCHEMAS = ROOT.parent / "shared/schemas"

# Kinds without a CRD: the validation of the API server itself, pkg/apis/*/validation of Kubernetes 1.35
# ("field is immutable", ValidateImmutableField), and of its RBAC storage (roleRef).
OF_THE_SERVER = {"", "apps", "batch", "rbac.authorization.k8s.io", "resource.k8s.io",
                 "scheduling.k8s.io"}

GKE_NETWORKS = "Google Cloud documentation, Set up multi-network support for Pods"

# Refused without a word of the CRD: kind -> {field: by what}.
HIVE = "openshift/hive, pkg/validating-webhooks/hive/v1: only mutableFields change"
WITH_TOPOLOGY = "its CRD, by a rule on spec where there is a topologyName"
BY_WEBHOOK = {
    "ClusterDeployment": {"spec": HIVE},
    "MachinePool": {"spec.platform": HIVE, "spec.name": HIVE, "spec.clusterDeploymentRef": HIVE},
    "MachineSet": {
        "spec.selector": "machine-api-operator, pkg/webhooks/machineset_webhook.go: selector is immutable",
        "spec.template.metadata.labels": "the same: labels must match the selector"},
    "ResourceFlavor": {
        "spec.topologyName": WITH_TOPOLOGY, "spec.nodeLabels": WITH_TOPOLOGY, "spec.tolerations": WITH_TOPOLOGY},
    "LVMCluster": dict.fromkeys(
        ["spec.storage.deviceClasses"] + [f"spec.storage.deviceClasses[].{field}" for field in (
            "fstype", "nodeSelector", "deviceSelector", "thinPoolConfig.name", "thinPoolConfig.sizePercent")],
        "openshift/lvm-operator release-4.22, api/v1alpha1/lvmcluster_webhook.go (ValidateUpdate)"),
    "NIMService": {"spec.draResources": "its CRD, by a rule on spec"},
    "Topology": {"spec.levels": "its CRD, by a rule on the labels of its levels"},
    "DataScienceCluster": {"spec.components.modelregistry.registriesNamespace": "its CRD, by a rule on modelregistry"},
    "Network": {
        "spec.type": GKE_NETWORKS, "spec.parametersRef": GKE_NETWORKS},
    "GKENetworkParamSet": {
        "spec.vpc": GKE_NETWORKS, "spec.vpcSubnet": GKE_NETWORKS, "spec.deviceMode": GKE_NETWORKS,
        "spec.podIPv4Ranges": GKE_NETWORKS},
}
PROVIDER = "Config Connector's webhook goes by ForceNew of terraform-provider-google-beta, not by the text of the CRD"

# Said to be immutable, and yet not refused: kind -> {field: why}.
IN_PLACE = {
    "ContainerNodePool": {"spec.nodeConfig.labels": "the provider updates them in place (HasChange)"}}


def effects():
    """(group, kind) -> rows, in order."""
    out = {}
    for path in sorted(ROOT.glob("providers/*/effects.yaml")):
        if path.parent.name == "formats":
            continue
        for kind in yaml.load(path.read_text(), Loader)["spec"].get("kinds", []):
            out.setdefault((kind.get("group", ""), kind["kind"]), []).extend(kind["rows"])
    return out


def steps(path):
    return [part for part in re.split(r"\.|(\[\])|\[\"([^\"]*)\"\]", path) if part]


def covers(pattern, path):
    wanted, has = steps(pattern), steps(path)
    return len(wanted) <= len(has) and all(a in (b, "*") for a, b in zip(wanted, has))


def fixed_fields(schema, path=""):
    """(path, whether a rule says so; the text of the field does otherwise) for all immutable fields."""
    for rule in schema.get("x-kubernetes-validations", []):
        if re.sub(r"\s", "", rule["rule"]) == "self==oldSelf":
            yield path, True
    if schema.get("description", "").startswith("Immutable."):
        yield path, False
    for name, below in schema.get("properties", {}).items():
        yield from fixed_fields(below, f"{path}.{name}" if path else name)
    if isinstance(schema.get("items"), dict):
        yield from fixed_fields(schema["items"], path + "[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from fixed_fields(schema["additionalProperties"], path + ".*")


def definitions():
    """(group, kind) -> schemas of all its versions."""
    out = {}
    for path in sorted(SCHEMAS.rglob("*.yaml")):
        for document in yaml.load_all(path.read_text(), Loader):
            if document and document.get("kind") == "CustomResourceDefinition":
                spec = document["spec"]
                for version in spec["versions"]:
                    schema = version.get("schema", {}).get("openAPIV3Schema")
                    if schema:
                        out.setdefault((spec["group"], spec["names"]["kind"]), []).append(schema)
    return out


def is_known(schema, path):
    for step in steps(path):
        if step == "[]":
            schema = schema.get("items", {})
        else:
            schema = schema.get("properties", {}).get(step, schema.get("additionalProperties") or {})
        if schema is True or schema.get("x-kubernetes-preserve-unknown-fields"):
            return True
        if not schema:
            return False
    return True


def row_for(rows, path):
    for row in rows:
        if "on" in row and "changed" not in row["on"]:
            continue
        if any(covers(field, path) for field in row.get("fields", [])):
            return row
    return None


def check_fixed(key, rows, fixed, expect):
    for path, by_rule in sorted(fixed):
        if path.startswith("status"):
            continue
        row = row_for(rows, path)
        allowed = path in IN_PLACE.get(key[1], {}) and not by_rule
        # Without a row it is unknown, which exceeds every limit.
        expect(row is None or row["effect"] == "refused" or allowed,
               f"{key[1]} {path} is immutable, and plan says {row['effect'] if row else ''}")


def check_refused(key, rows, schemas, fixed, expect):
    for row in rows:
        for field in row.get("fields", []) if row["effect"] == "refused" else []:
            if field.startswith("metadata"):
                continue
            if not schemas:
                expect(key[0] in OF_THE_SERVER or field in BY_WEBHOOK.get(key[1], {}),
                       f"{key[1]} {field}: nothing shows that it is refused")
                continue
            expect(any(is_known(schema, field) for schema in schemas), f"{key[1]} has no {field}")
            said = any(covers(field, path) or covers(path, field) for path, _ in fixed)
            by_provider = key[0].endswith("cnrm.cloud.google.com") and PROVIDER
            expect(said or by_provider or field in BY_WEBHOOK.get(key[1], {}),
                   f"{key[1]} {field}: its CRD does not say that it is immutable")


def check():
    if not SCHEMAS.is_dir():
        print("skipped: ../shared/schemas is not here: immutable fields are not compared with CRDs")
        raise SystemExit(1 if os.environ.get("GPUCTL_REQUIRE_SHARED") else 77)
    published, findings, checked = definitions(), [], 0

    def expect(holds, what):
        nonlocal checked
        checked += 1
        if not holds:
            findings.append(what)

    for key, rows in sorted(effects().items()):
        schemas = published.get(key, [])
        fixed = {found for schema in schemas for found in fixed_fields(schema)}
        check_fixed(key, rows, fixed, expect)
        check_refused(key, rows, schemas, fixed, expect)
    return findings, checked, "fields that are immutable or refused"


if __name__ == "__main__":
    main(check)
