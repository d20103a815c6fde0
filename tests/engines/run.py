#!/usr/bin/env python3
"""What is rendered for GitOps controllers works where they work: on a real API server.

Needs Go, with which kube-apiserver and Flux's kustomize-controller are built once (their modules pin them; some
minutes, then from the cache), etcd and Lua out of the distribution's packages, kubectl out of the npm registry, and the
published schemas beside the project (../shared/schemas). What is missing is said, and fails with
GPUCTL_REQUIRE_SHARED=1.

The steps of the bootstrap (bootstrap.py), every sample and every release line of the operators applied (applied.py),
Flux from the first sync to the change to Argo CD and back (flux.py; two samples, all with --all), the rights that the
bootstrap gives to Argo CD (rights.py), its health checks (health.py), how it syncs what is rendered, by a model of its
rules (argocd.py), and, where GPUCTL_ARGOCD names a folder with its programs, Argo CD itself (argocd_controller.py;
docs/testing.md). Which of them holds what was once found wrong: docs/coverage/findings-1.md, section 13.
"""

import concurrent.futures
import functools
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from engines import applied, argocd_controller, bootstrap, flux, places  # noqa: E402
from engines.argocd import check_argocd  # noqa: E402
from engines.health import check_health  # noqa: E402
from engines.rights import check_rights  # noqa: E402
from engines.server import programs  # noqa: E402
from support.program import Tally, arguments, skip  # noqa: E402

CLUSTERS = [(places.OPENSHIFT_ARGOCD, "https", bootstrap.late), (places.OPENSHIFT_FLUX, "ssh", bootstrap.late),
            (places.OPENSHIFT_ARGOCD, "ssh", bootstrap.never), (places.OPENSHIFT_FLUX, "https", bootstrap.never),
            (places.GKE_ARGOCD, "https", bootstrap.late), (places.GKE_FLUX, "https", bootstrap.late),
            (places.GKE_ARGOCD, "ssh", bootstrap.never), (places.GKE_FLUX, "ssh", bootstrap.never)]
AT_ONCE = 4  # they wait more than they work; each has a server of its own, with 300 MB of memory


def add_options(parser):
    parser.add_argument("--filter", default="", help="only parts whose name has this text")
    parser.add_argument("--all", action="store_true", help="Flux with every sample")


def main():
    options = arguments(__doc__, add_options)
    if not places.SCHEMAS.is_dir():
        skip("engines", f"no published schemas at {places.SCHEMAS}")
    found = programs()
    argocd = argocd_controller.argocd_programs()
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="engines-") as temporary:
        common = (tally, options.gpuctl, found, pathlib.Path(temporary))
        # What takes longest begins first.
        parts = {"applied-samples": functools.partial(applied.check_applied, *common, applied.all_samples, "sample"),
                 "applied-lines": functools.partial(applied.check_applied, *common, applied.lines_of_operators, "line")}
        for story, place in argocd_controller.STORIES if argocd else []:
            parts[f"argo-cd-{story.sample}"] = functools.partial(
                argocd_controller.check_argocd_controller, tally, options.gpuctl, {**found, **argocd}, pathlib.Path(temporary),
                story, place)
        for story in flux.all_stories() if options.all else flux.STORIES:
            parts[f"flux-{story.sample}"] = functools.partial(flux.check_flux, *common, story)
        for place, way, story in CLUSTERS:
            parts[f"{place.name}-{way}-{story.__name__}"] = functools.partial(bootstrap.check_bootstrap, *common, place, way, story)
        parts["rights"] = functools.partial(check_rights, *common)
        parts["health"] = functools.partial(check_health, tally, options.gpuctl, found["kubectl"], pathlib.Path(temporary))
        parts["syncs"] = functools.partial(check_argocd, tally, options.gpuctl, found["kubectl"], pathlib.Path(temporary))
        wanted = {name: part for name, part in parts.items() if options.filter in name}
        if any(name.startswith("flux-") for name in wanted):
            found["kustomize-controller"] = flux.controller()
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for done in [pool.submit(part) for part in wanted.values()]:
                done.result()
    tally.close()


if __name__ == "__main__":
    main()
