#!/usr/bin/env python3
"""Typing mistakes in copies of knowledge files are refused at their line, by the build and as an overlay.

Each is a file, what stands there, what is written instead, the code that must come, and the line that it must point to
(by default the first line of what is written). `mistakes.py --gpuctl PATH --pack PATH [--filter TEXT]`
"""

import argparse
import concurrent.futures
import os
import pathlib
import queue
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from program import ROOT, environment, run  # noqa: E402

BLUEPRINT = ROOT / "blueprints/aws-minimal.yaml"
MANIFESTS = ROOT / "tests/golden/import/aws-install-config/input"
P, T = "providers/", "templates/"
AWS, OCP, GPU = P + "aws/", P + "openshift/", P + "nvidia/"

MISTAKES = [
    # What a folder is.
    (AWS + "provider.yaml", "platform: true", "platfrom: true", "GPU0401"),
    (AWS + "provider.yaml", "kind: Provider", "kind: Providr", "GPU0401"),
    (AWS + "provider.yaml", "title: OpenShift on AWS", "titel: OpenShift on AWS", "GPU0401"),
    (AWS + "provider.yaml", "builds: [core, openshift,", "builds: [core, opensift,", "GPU0402"),
    (AWS + "provider.yaml", "- aws/machineset.yaml", "- aws/machinesets.yaml", "GPU0402"),
    (AWS + "provider.yaml", "apiVersion: gpuctl.dev/v1alpha1", "apiVersion: gpuctl.dev/v1alpha2", "GPU0401"),
    (OCP + "provider.yaml", "table: openshiftReleases", "table: openshiftRelease", "GPU0402"),
    (OCP + "provider.yaml", "derived: openshift.minor", "derived: openshift.mnior", "GPU0402"),
    (OCP + "provider.yaml", "    gates: openshiftGates", "    gate: openshiftGates", "GPU0401"),
    # Names of fields elsewhere, and what a first blueprint asks.
    (AWS + "synonyms.yaml", "names: [region, awsRegion", "name: [region, awsRegion", "GPU0401"),
    (AWS + "synonyms.yaml", "field: aws.region}", "field: aws.region, path: spec.aws.region}", "GPU0401"),
    (AWS + "start.yaml", "ask: AWS region", "asks: AWS region", "GPU0401"),
    # Kinds.
    (OCP + "kinds.yaml", "scope: Namespaced", "scope: Namespacd", "GPU0401"),
    (OCP + "kinds.yaml", "protection: keep", "protection: kept", "GPU0401"),
    (OCP + "kinds.yaml", "identity: metadata.namespace", "identify: metadata.namespace", "GPU0401"),
    (OCP + "kinds.yaml", "kind: MachineConfigPool", "kind: MachineConfigPol", "GPU0413", "kind: MachineConfigPool",
     T + "openshift/machine-config-pool.yaml"),
    # Heads of tables.
    (AWS + "tables/machines.yaml", "  columns:", "  colums:", "GPU0401"),
    (AWS + "tables/machines.yaml", "  key: type", "  key: tipe", "GPU0401"),
    (AWS + "tables/machines.yaml", "required: [type, ", "required: [type, famly, ", "GPU0401"),
    (AWS + "tables/machines.yaml", "family: {type: string,", "family: {type: strng,", "GPU0401"),
    (AWS + "tables/machines.yaml", "{gpuModel: gpus,", "{gpuModel: gpu,", "GPU0402"),
    (AWS + "tables/machines.yaml", "{gpuModel: gpus,", "{gpuModl: gpus,", "GPU0402"),
    (GPU + "tables/gpus.yaml", "display: [model, architecture,", "display: [model, architectur,", "GPU0401"),
    (GPU + "tables/gpus.yaml", "model: {type: string, description", "model: {type: string, descripton", "GPU0401"),
    # Rows of tables.
    (AWS + "tables/machines.yaml", "type: g3.8xlarge, family: g3", "type: g3.8xlarge, famliy: g3", "GPU0201"),
    (AWS + "tables/machines.yaml", "type: g3.8xlarge, family: g3", "type: g3.8xlarge, family: 3", "GPU0202"),
    (AWS + "tables/machines.yaml", "type: g3.8xlarge, ", "type: g3.4xlarge, ", "GPU0404", "gpuCount: 2"),
    (AWS + "tables/machines.yaml", "gpuVendor: nvidia, gpuModel: M60", "gpuVendor: nvidia, gpuModel: M61", "GPU0402"),
    (AWS + "tables/machines.yaml", "quotaCode: L-DB2E81BA", "quotaCode: L-DB2E81BX", "GPU0402"),
    (GPU + "tables/gpus.yaml", "migClass: A30-24", "migClass: A30-42", "GPU0402"),
    (OCP + "tables/openshift-gates.yaml", '{"4.18": TechPreview', '{"4.81": TechPreview', "GPU0402"),
    (OCP + "tables/openshift-features.yaml", "since: 414,", "since: 441,", "GPU0402"),
    (OCP + "tables/openshift-capabilities.yaml", "[baremetal, marketplace", "[baremetall, marketplace", "GPU0402"),
    (P + "gitops/tables/layers.yaml", "after: [00-namespaces]", "after: [00-namespace]", "GPU0402"),
    (P + "gitops/tables/layers.yaml", "      gate: applied\n", "", "GPU0203", "- name: 00-namespaces"),
    (P + "gitops/tables/layers.yaml", 'source: "argo-sync; flux-apply"', 'source: "argo-sync; flux-aply"', "GPU0402"),
    # Schemas.
    (AWS + "schema.yaml", "minItems: 1", "minItem: 1", "GPU0401"),
    (AWS + "schema.yaml", "required: [region]", "required: [regin]", "GPU0211", None),
    (AWS + "schema.yaml", "has(self.spot) && self.spot", "has(self.spt) && self.spt", "GPU0211"),
    (AWS + "schema.yaml", "pattern: ^ami-[0-9a-f]{8,17}$", "pattern: ^ami-[0-9a-f{8,17}$", "GPU0211"),
    (AWS + "schema.yaml", "x-gpuctl-shared: rootVolume\n", "x-gpuctl-shared: rootVolme\n", "GPU0402"),
    (OCP + "schema.yaml", "x-gpuctl-shared: secretSource", "x-gpuctl-shared: secretSorce", "GPU0402"),
    (OCP + "schema.yaml", "    cidr:\n", "    secretSource:\n", "GPU0402"),
    (AWS + "derived.yaml", "  shared:\n", "  shard:\n", "GPU0401"),
    (AWS + "facts.yaml", "  fields:\n", "  field:\n", "GPU0401"),
    (AWS + "facts.yaml", "x-gpuctl-obtain", "x-gpuctl-obtian", "GPU0401"),
    (OCP + "documents/install-config.yaml", "x-gpuctl-secret: true", "x-gpuctl-secert: true", "GPU0401"),
    (AWS + "derived.yaml", "region: {type: string", "region: {typ: string", "GPU0401"),
    # Derivations and versions.
    (AWS + "derive.yaml", "    - set: region\n      value:", "    - set: region\n      vallue:", "GPU0401", "vallue:"),
    (AWS + "derive.yaml", "- set: aws.region", "- set: aws.regoin", "GPU0407"),
    (AWS + "derive.yaml", "- set: aws.region", "- set: aws..region", "GPU0406"),
    (AWS + "derive.yaml", "value: has(spec.aws.vpc)", "value: has(spec.aws.vcp)", "GPU0302"),
    (AWS + "derive.yaml", "value: has(spec.aws.vpc)", "value: has(spec.aws.vpc", "GPU0301"),
    (AWS + "derive.yaml", "when: has(spec.aws.zones)", "wehn: has(spec.aws.zones)", "GPU0401"),
    (AWS + "derive.yaml", "copy: spec.aws.hostedZone\n", "copy: spec.aws.hostdZone\n", "GPU0302"),
    (AWS + "derive.yaml", "copy: spec.aws.hostedZone\n", "coppy: spec.aws.hostedZone\n", "GPU0401"),
    (AWS + "derive.yaml", "        columns: >-\n", "        colums: >-\n", "GPU0302", "column in columns"),
    (AWS + "derive.yaml", "      value: spec.aws.region\n", "", "GPU0401", "- set: region"),
    (OCP + "versions.yaml", "- name: orchestrator", "- name: orchestratr", "GPU0409", "between: [orchestrator, gpuOperator]",
     P + "gpu-operator/rules/compatibility.yaml"),
    (OCP + "versions.yaml", "values: catalog.openshiftReleases", "values: catalog.openshiftRelases", "GPU0302"),
    (OCP + "versions.yaml", "      pin:", "      pni:", "GPU0401"),
    (P + "gpu-operator/versions.yaml", "keep: gpuOperator.release", "keep: gpuOperator.relaese", "GPU0402"),
    # Rules.
    (AWS + "rules/machines.yaml", "      check:", "      chek:", "GPU0401"),
    (AWS + "rules/machines.yaml", "severity: error", "severity: eror", "GPU0401"),
    (AWS + "rules/machines.yaml", "code: GPU4101", "code: GPU41O1", "GPU0401"),
    (AWS + "rules/machines.yaml", "code: GPU4101", "code: GPU4198", "GPU0402"),
    (AWS + "rules/machines.yaml", "code: GPU4102", "code: GPU4101  # again", "GPU0408"),
    (AWS + "rules/machines.yaml", "pool: spec.gpuPools", "pol: spec.gpuPools", "GPU0302",
     "catalog.machines.map(type, type)"),
    (AWS + "rules/machines.yaml", "at: pool.instanceType", "at: pool.instanceTyp", "GPU0302"),
    (AWS + "rules/machines.yaml", "`${pool.instanceType}`", "`${pool.instanceTyp}`", "GPU0302"),
    (AWS + "rules/machines.yaml", "      message: unknown GPU", "      mesage: unknown GPU", "GPU0401"),
    (P + "gpu-operator/rules/compatibility.yaml", "between: [orchestrator, gpuOperator]", "between: [orchestrator, gpuOperater]", "GPU0409"),
    # Documents of others.
    (AWS + "documents/machineset.yaml", "extends: MachineSet", "extends: MachinSet", "GPU0402"),
    (AWS + "documents/machineset.yaml", "- where: ", "- were: ", "GPU0401"),
    (AWS + "documents/machineset.yaml", "at: spec.template.spec.", "at: spec.template[].", "GPU0401"),
    (AWS + "documents/machineset.yaml", "x-gpuctl-shared: reference", "x-gpuctl-shared: referense", "GPU0402"),
    (AWS + "documents/machineset.yaml", "strings: {type: array", "strings: {type: arry", "GPU0401"),
    (OCP + "documents/install-config.yaml", "x-gpuctl-reader: go", "x-gpuctl-reader: goo", "GPU0401"),
    (AWS + "documents/machineset.yaml", """value: '"m5.large"'""", """value: '"m5.large'""", "GPU0301"),
    (AWS + "documents/capacity-rules.yaml", "on: AWSMachineSet", "on: AWSMachinSet", "GPU0402"),
    (AWS + "documents/capacity-rules.yaml", "rendered: false", "renderd: false", "GPU0401"),
    (AWS + "documents/capacity-rules.yaml", "check: int(", "check: itn(", "GPU0302"),
    (AWS + "documents/install-config-releases.yaml", 'since: "4.17"', 'since: "4.71"', "GPU0402"),
    (AWS + "documents/install-config-releases.yaml", "gate: AWSClusterHostedDNS\n", "gate: AWSClusterHostdDNS\n", "GPU0402"),
    (AWS + "documents/install-config-releases.yaml", "{in: pool, path: iam", "{in: pol, path: iam", "GPU0402"),
    (AWS + "documents/install-config-releases.yaml", "{in: pool, path: iam", "{in: pool, pth: iam", "GPU0401"),
    (AWS + "documents/install-config-releases.yaml", "      gate: AWSDualStackInstall\n", "", "GPU0401",
     "- path: platform.aws.ipFamily"),
    (AWS + "documents/install-config-releases.yaml", "{path: platform.aws.vpc,", "{path: platform.aws.vcp,", "GPU0402"),
    (AWS + "documents/install-config-releases.yaml", "lacks: GPU3660", "lacks: GPU3699", "GPU0402"),
    # Imports.
    (AWS + "import.yaml", "      value: item.zone\n", "      vallue: item.zone\n", "GPU0401"),
    (AWS + "import.yaml", "- set: machineSets[].zone", "- set: machineSets[.zone", "GPU0406"),
    (AWS + "import.yaml", "- set: spec.aws.region", "- set: spec.aws.regoin", "GPU0407"),
    (AWS + "import.yaml", "in catalog.machines\n", "in catalog.machins\n", "GPU0302"),
    # Templates.
    (T + "openshift/machineset.yaml", "  forEach:\n", "  forEech:\n", "GPU0401"),
    (T + "openshift/machineset.yaml", "layer: 20-machines", "layer: 20-machine", "GPU0402"),
    (T + "openshift/machineset.yaml", "    kind: MachineSet", "    kind: MachinSet", "GPU0413"),
    (T + "openshift/machineset.yaml", "replicas: ${zone.replicas}", "replicas: ${zone.replica}", "GPU0302"),
    (T + "openshift/machine-autoscaler.yaml", "  layer: 20-machines\n", "  layer: 20-machines\n  output: x.yaml\n", "GPU0401", "spec:"),
    (T + "openshift/machine-autoscaler.yaml", "  layer: 20-machines\n", "", "GPU0401", "spec:"),
    (T + "aws/machineset.yaml", "- $forEach: {group:", "- $forEech: {group:", "GPU0411"),
    (T + "aws/machineset.yaml", "extends: openshift/machineset.yaml", "extends: openshift/machinset.yaml", "GPU0402"),
    (T + "aws/machineset.yaml", "  extends:", "  extend:", "GPU0401"),
    (T + "openshift/install-config.yaml", "raw: true", "rwa: true", "GPU0401"),
    (T + "aws/prerequisites.yaml", "$if: ours", "$iff: ours", "GPU0411"),
    (T + "aws/prerequisites.yaml", "$if: ours", "$if: our", "GPU0302"),
    (T + "aws/prerequisites.yaml", "$if: ours", "$if: ours &&", "GPU0301"),
    (T + "aws/prerequisites.yaml", "$if: ours", "$if ours", "GPU0411"),
    (T + "aws/prerequisites.yaml", "$if: ours", "$if: quotas", "GPU0302"),
    (T + "aws/prerequisites.yaml", "    $if: ours\n", "", "GPU0411", "$end\n\n    $if: cluster.existing\n    For families"),
    (T + "aws/prerequisites.yaml", "in it:\n    $end\n", "in it:\n", "GPU0411", "$if: !cluster.existing\n\n    ## Permissions"),
    (T + "aws/prerequisites.yaml", "part in fixed\n", "part of fixed\n", "GPU0411",
     "$forEach: part of"),
    (T + "aws/prerequisites.yaml", "$let: known = ", "$let: region = ", "GPU0411"),
    (T + "aws/prerequisites.yaml", "$forEach: type in types", "$forEach: type in typs", "GPU0302"),
    (T + "aws/prerequisites.yaml", "| ${type} | yes (${known.asOf})", "| ${type} | yes (${knwon.asOf})", "GPU0302"),
    (T + "aws/prerequisites.yaml", "    $else\n    A public", "    $else: x\n    A public", "GPU0411", "$else: x"),
    (T + "openshift/install-config.yaml", "schemaOf: {group: install.openshift.io, version: v1,", "schemaOf: {group: install.openshift.io,",
     "GPU0401"),
    # Secrets.
    (P + "core/secrets/credentials.yaml", "keywords: ['private key']", "keyword: ['private key']", "GPU0401"),
    (P + "core/secrets/credentials.yaml", "keywords: ['private key']", "keywords: [pk]", "GPU0401"),
    (P + "core/secrets/credentials.yaml", "PRIVATE KEY(?: BLOCK)?", "PRIVATE KEY(?: BLOCK?", "GPU0656"),
    (P + "core/secrets/names.yaml", "{ending: passwd, name: a password,", "{endng: passwd, name: a password,", "GPU0401"),
]

# Files under a name that nothing reads: only an overlay can have them, and the build.
RENAMED = [
    (AWS + "rules/machines.yaml", AWS + "rule/machines.yaml"),
    (AWS + "tables/machines.yaml", AWS + "table/machines.yaml"),
    (OCP + "kinds.yaml", OCP + "kind.yaml"),
]

# Parts of platforms of one's own, one beside OpenShift and one with it: what each that is left out is missed by, once
# and not once for each expression, at the first place that asks for it.
CASES = ROOT / "tests/golden/provider"
NIMBUS = (CASES / "knowledge", CASES / "render", "nimbus")
STRATUS = (CASES / "stratus", CASES / "on-openshift", "stratus")
MISSING = [
    (NIMBUS, "providers/nimbus/provider.yaml", "GPU0402", "`providers/nimbus/` has no provider.yaml", "derive.yaml"),
    (NIMBUS, "providers/nimbus/schema.yaml", "GPU0402", "has no schema.yaml with `spec.nimbus`", "derive.yaml"),
    (NIMBUS, "providers/nimbus/derived.yaml", "GPU0402", "has no derived.yaml with `halls`", "derive.yaml"),
    (NIMBUS, "providers/nimbus/derive.yaml", "GPU0402", "has no derive.yaml with `cluster.halls`", "nimbus/order.yaml"),
    (NIMBUS, "providers/nimbus/facts.yaml", "GPU0402", "has no facts.yaml with `tenant`", "nimbus/fleet.yaml"),
    (NIMBUS, "providers/nimbus/kinds.yaml", "GPU0413", "no facts about kind `Fleet`", "nimbus/fleet.yaml"),
    (NIMBUS, "providers/nimbus/tables", "GPU0402", "has no tables `gpus`, `machines`, `migClasses`", "derive.yaml"),
    (NIMBUS, "providers/nimbus/tables/gpus.yaml", "GPU0402", "has no table `gpus`", "derive.yaml"),
    (NIMBUS, "providers/nimbus/tables/machines.yaml", "GPU0402", "has no table `machines`", "derive.yaml"),
    (NIMBUS, "providers/nimbus/tables/mig-classes.yaml", "GPU0402", "has no table `migClasses`", "derive.yaml"),
    (NIMBUS, "providers/nimbus/rules.yaml", "", "", ""),
    (NIMBUS, "templates/nimbus/order.yaml", "GPU0402", "no template `templates/nimbus/order.yaml`", "provider.yaml"),
    (NIMBUS, "templates/nimbus/fleet.yaml", "GPU0402", "no template `templates/nimbus/fleet.yaml`", "provider.yaml"),
    (NIMBUS, "templates/nimbus/slicing.yaml", "GPU0402", "no template `templates/nimbus/slicing.yaml`", "provider.yaml"),
    (STRATUS, "providers/stratus/provider.yaml", "GPU0402", "`providers/stratus/` has no provider.yaml", "derive.yaml"),
    (STRATUS, "providers/stratus/schema.yaml", "GPU0402", "has no schema.yaml with `spec.stratus`", "derive.yaml"),
    (STRATUS, "providers/stratus/derive.yaml", "GPU0402", "has no derive.yaml with `cluster.region`", "install-config.yaml"),
    (STRATUS, "providers/stratus/tables/machines.yaml", "GPU0402", "has no table `machines`", "derive.yaml"),
    (STRATUS, "providers/stratus/documents/install-config.yaml", "GPU0201",
     "has no documents/ with `controlPlane.platform.stratus`", "install-config.yaml"),
    # The same for each document that the template makes.
    (STRATUS, "providers/stratus/documents/machineset.yaml", "GPU0201",
     "has no documents/ with `spec.template.spec.providerSpec.value.apiVersion`", "machineset.yaml"),
    (STRATUS, "providers/stratus/rules.yaml", "", "", ""),
    (STRATUS, "templates/stratus/install-config.yaml", "GPU0402", "no template `templates/stratus/install-config.yaml`",
     "provider.yaml"),
    (STRATUS, "templates/stratus/machineset.yaml", "GPU0402", "no template `templates/stratus/machineset.yaml`",
     "provider.yaml"),
]
# A platform takes no more than this, and not by long lines.
MOST_LINES, LONGEST_LINE = 200, 120
# A build with more mistakes is likelier to stop at one that hides others.
MOST_AT_ONCE = 6


def places(output):
    """Of each error: code, file and line."""
    return re.findall(r"error\[(GPU\d{4})\][^\n]*\n\s*--> (\S+?):(\d+):\d+", output.decode())


def refused(done, code, file, line):
    """Why a run did not refuse the mistake at its line, or nothing."""
    if done.returncode == 0:
        return "accepted"
    found = places(done.stderr)
    hits = [one for one in found if one[0] == code and one[1].endswith(file)]
    if line is None and hits or any(int(one[2]) == line for one in hits):
        return ""
    wanted = f"{code} at {file}:{line}"
    return f"not {wanted} but {', '.join(f'{one[0]} at {one[1]}:{one[2]}' for one in found[:4])}" + (
        "" if found else done.stderr.decode()[-300:])


class Mistake:
    """One of MISTAKES, looked up in the knowledge as it is."""

    def __init__(self, file, old, new, code, where="", shown_in=None):
        text = (ROOT / file).read_text()
        if old not in text:
            sys.exit(f"{file}: has no `{old}` any more\n0 passed, 1 failed")
        self.file, self.code, self.shown_in = file, code, shown_in or file
        self.name = f"{file}: `{new.strip() or 'without ' + old.strip()}`"
        self.wrong = text.replace(old, new, 1)
        self.line = None
        if where is not None:
            shown = (ROOT / shown_in).read_text() if shown_in else self.wrong
            self.line = shown[:shown.index(where or new.strip().split("\n")[0])].count("\n") + 1

    def __str__(self):
        return self.name

    def why_not_refused(self, done):
        return refused(done, self.code, self.shown_in, self.line)


def rounds(mistakes):
    """The mistakes in groups of one code, which the build finds at the same time, with one a file at most."""
    groups = []
    for one in mistakes:
        free = next((group for group in groups if len(group) < MOST_AT_ONCE and all(
            one.file != other.file and one.code == other.code for other in group)), None)
        if free is None:
            groups.append(free := [])
        free.append(one)
    return groups


class Bench:
    """A copy of the knowledge for the build, and a folder for overlays."""

    def __init__(self, folder, options):
        self.root, self.overlay, self.options = folder / "root", folder / "overlay", options
        for part in ("providers", "templates", "docs/codes"):
            shutil.copytree(ROOT / part, self.root / part)

    def build(self):
        return run([self.options.pack, self.root, self.root / "image"])

    def laid_over(self, file, text):
        shutil.rmtree(self.overlay, ignore_errors=True)
        path = self.overlay / file
        path.parent.mkdir(parents=True)
        path.write_text(text)
        for part in ("providers", "templates"):
            (self.overlay / part).mkdir(exist_ok=True)
        command = [self.options.gpuctl, "--providers", self.overlay / "providers",
                   "--templates", self.overlay / "templates"]
        if file.endswith("import.yaml"):
            command += ["import", *sorted(MANIFESTS.glob("*.yaml")), "-o", self.overlay / "out"]
        else:
            command += ["validate", BLUEPRINT]
        return run(command, env=environment(self.overlay))

    def built_with(self, mistakes):
        """What the build says when these files are wrong."""
        right = {one.file: (self.root / one.file).read_text() for one in mistakes}
        for one in mistakes:
            (self.root / one.file).write_text(one.wrong)
        done = self.build()
        for file, text in right.items():
            (self.root / file).write_text(text)
        return done

    def try_mistakes(self, *mistakes):
        """Mistakes in as many files, which the build refuses at once. It may stop at one of them, so that
        another is not seen: such a one is built alone."""
        found = []
        together = self.built_with(mistakes)
        for one in mistakes:
            why = one.why_not_refused(together)
            if why and len(mistakes) > 1:
                why = one.why_not_refused(self.built_with([one]))
            over = one.why_not_refused(self.laid_over(one.file, one.wrong))
            found += [f"{one}: {by}: {said}" for by, said in (("build", why), ("overlay", over)) if said]
        return found

    def try_name(self, file, name):
        text = (self.root / file).read_text()
        (self.root / name).parent.mkdir(exist_ok=True)
        (self.root / file).rename(self.root / name)
        results = {"build": self.build(), "overlay": self.laid_over(name, text)}
        (self.root / name).rename(self.root / file)
        return [f"{file}: as {name}: {by}: {why}" for by, done in results.items()
                if (why := refused(done, "GPU0401", name, None))]

    def try_without(self, platform, part, code, message, shown_in):
        knowledge, case, _ = platform
        shutil.rmtree(self.overlay, ignore_errors=True)
        shutil.copytree(knowledge, self.overlay)
        missing = self.overlay / part
        shutil.rmtree(missing) if missing.is_dir() else missing.unlink()
        done = run([self.options.gpuctl, "--providers", self.overlay / "providers", "--templates",
                    self.overlay / "templates", "validate", case / "blueprint.yaml", "--facts", case / "facts.yaml"],
                   env=environment(self.overlay))
        errors = re.findall(r"error\[(GPU\d{4})\]: ([^\n]*)\n\s*--> (\S+?):\d+:", done.stderr.decode())
        if not code:
            return [f"without {part}: {errors}"] if errors or done.returncode != 0 else []
        if len(errors) == 1 and errors[0][0] == code and message in errors[0][1] and errors[0][2].endswith(shown_in):
            return []
        return [f"without {part}: not one {code} in {shown_in} but {errors[:4]}"]


def too_long(platform):
    """What of a platform of one's own is more than it should take, or not tried without."""
    knowledge, _, name = platform
    files = [path for path in sorted(knowledge.rglob("*")) if path.is_file()]
    lines = [line for path in files for line in path.read_text().splitlines()]
    found = [f"{name}: {len(line)} characters in `{line.strip()[:40]}...`" for line in lines if len(line) > LONGEST_LINE]
    if len(lines) > MOST_LINES:
        found.append(f"{name}: {len(lines)} lines, at most {MOST_LINES}")
    tried = {case[1] for case in MISSING if case[0] == platform}
    return found + [f"{name}: nothing tries it without {path.relative_to(knowledge)}" for path in files
                    if str(path.relative_to(knowledge)) not in tried]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpuctl", required=True)
    parser.add_argument("--pack", required=True)
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    mistakes = [Mistake(*case) for case in MISTAKES if options.filter in str(case)]
    cases = [(Bench.try_name, case) for case in RENAMED] + [(Bench.try_without, case) for case in MISSING]
    cases = [(how, case) for how, case in cases if options.filter in str(case)]
    number = len(mistakes) + len(cases)
    cases += [(Bench.try_mistakes, group) for group in rounds(mistakes)]
    workers = os.cpu_count() or 1
    findings = too_long(STRATUS)
    with tempfile.TemporaryDirectory() as folder:
        benches = queue.Queue()
        for worker in range(workers):
            benches.put(Bench(pathlib.Path(folder) / str(worker), options))

        def attempt(job):
            how, case = job
            bench = benches.get()
            try:
                return how(bench, *case)
            finally:
                benches.put(bench)

        bench = benches.get()
        if (clean := bench.build()).returncode != 0:
            findings.append("the build refuses the knowledge as it is: " + clean.stderr.decode())
        benches.put(bench)
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            for found in pool.map(attempt, cases):
                findings += found
    for finding in findings:
        print(finding)
    print(f"{number} mistakes, by the build and as an overlay")
    print(f"{number - min(len(findings), number)} passed, {len(findings)} failed")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
