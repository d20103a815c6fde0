"""Published CustomResourceDefinitions on a test's own API server: which one a cluster's kinds need, and what
of an object the server added by their defaults."""

import dataclasses
import re
import sys
import time
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from interop.crds import SCHEMAS, lines_of  # noqa: E402
from support.program import ROOT  # noqa: E402

CRDS = "apiextensions.k8s.io/v1"
ESTABLISHED_S = 120
FOLDERS = [SCHEMAS / name for name in ("nvidia", "openshift", "gcp", "gitops", "queues", "ml")] + [ROOT / "tests/interop/crds.d"]


@dataclasses.dataclass(frozen=True)
class Published:
    """The text of one CustomResourceDefinition."""
    name: str
    group: str
    kind: str
    plural: str
    text: str


def published(folder):
    """(group, kind) -> CustomResourceDefinition, of the files of a folder."""
    found = {}
    for path in sorted(folder.glob("*.yaml")):
        for text in re.split(r"^---.*\n", path.read_text(), flags=re.M):
            parts = [re.search(pattern, text, re.M) for pattern in
                     (r"^  group: (\S+)$", r"^    kind: (\S+)$", r"^    plural: (\S+)$")]
            if "kind: CustomResourceDefinition" in text and all(parts):
                group, kind, plural = (part[1] for part in parts)
                found.setdefault((group, kind), Published(f"{plural}.{group}", group, kind, plural, text))
    return found


class Kinds:
    """The kinds that a server knows. What another release line has in another shape takes the place of the old."""

    def __init__(self, api):
        self.api, self.there, self.schemas = api, {}, {}
        self.folders = {folder: published(folder) for folder in FOLDERS}

    def wanted(self, cluster, kinds):
        """The published kinds among (apiVersion, kind) pairs, as the release lines of the cluster have them; those that
        nobody has published come second."""
        folders = [published(folder) for folder in lines_of(cluster)] + list(self.folders.values())
        found, unknown = [], []
        for version, kind in sorted(kinds):
            key = (version.rpartition("/")[0], kind)
            one = next((folder[key] for folder in folders if key in folder), None)
            if one:
                found.append(one)
            elif "." in key[0] and not key[0].endswith(".k8s.io"):
                unknown.append(f"{version} {kind}")
        return found, unknown

    def bring(self, wanted):
        """Makes them known, and waits until all are served."""
        for one in wanted:
            before = self.there.get(one.name)
            if before == one.text:
                continue
            if before:  # made anew, so that no request meets the old schema
                self.request("DELETE", one.name)
                self.until(lambda: self.get(one.name) is None, f"{one.name} does not go")
            self.api.apply_text(self.api.path(CRDS, "customresourcedefinitions", one.name), one.text)
            self.there[one.name] = one.text
            self.schemas.pop(one.name, None)
        for one in wanted:
            self.until(lambda: self.established(one.name), f"{one.name} is not served")

    def schema(self, group, version, kind):
        """The schema of a kind that came by `bring`; None: it is the server's own."""
        name = next((one for one, text in self.there.items() if one.partition(".")[2] == group
                     and re.search(rf"^    kind: {kind}$", text, re.M)), None)
        if not name:
            return None
        if name not in self.schemas:
            self.schemas[name] = {one["name"]: one["schema"]["openAPIV3Schema"]
                                  for one in self.get(name)["spec"]["versions"]}
        return self.schemas[name][version]

    def get(self, name):
        return self.api.get(CRDS, "customresourcedefinitions", name)

    def request(self, method, name):
        status, answer = self.api.server.request(method, self.api.path(CRDS, "customresourcedefinitions", name))
        if status != 200:
            raise RuntimeError(f"{method} {name}: {status} {answer}")

    def established(self, name):
        found = self.get(name) or {}
        if not any(condition["type"] == "Established" and condition["status"] == "True"
                   for condition in found.get("status", {}).get("conditions") or []):
            return False
        spec = found["spec"]
        served = [one["name"] for one in spec["versions"] if one["served"]]
        return all(self.api.server.request("GET", f"/apis/{spec['group']}/{version}/{spec['names']['plural']}?limit=1")[0] == 200
                   for version in served)

    @staticmethod
    def until(look, otherwise):
        end = time.monotonic() + ESTABLISHED_S
        while not look():
            if time.monotonic() > end:
                raise RuntimeError(otherwise)
            time.sleep(0.05)


def differs(wanted, live, place=""):
    """Where an object lacks something that Git has, or has it in another form: [text]."""
    if isinstance(wanted, dict) and isinstance(live, dict):
        return [text for key, value in wanted.items()
                for text in ([f"{place}.{key} is not there"] if key not in live
                             else differs(value, live[key], f"{place}.{key}"))]
    if isinstance(wanted, list) and isinstance(live, list) and len(wanted) == len(live):
        return [text for i, value in enumerate(wanted) for text in differs(value, live[i], f"{place}[{i}]")]
    same = wanted == live and isinstance(wanted, bool) == isinstance(live, bool)
    return [] if same else [f"{place} is {live!r} instead of {wanted!r}"]


def complete(schema, value):
    """A value with the defaults that its schema has inside of it."""
    if isinstance(value, dict):
        known = schema.get("properties", {})
        value = {key: complete(known.get(key, schema.get("additionalProperties") or {}), one) for key, one in value.items()}
        for key, one in known.items():
            if key not in value and "default" in one:
                value[key] = complete(one, one["default"])
        return value
    if isinstance(value, list):
        return [complete(schema.get("items") or {}, one) for one in value]
    return value
