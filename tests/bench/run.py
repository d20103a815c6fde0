#!/usr/bin/env python3
"""Times `gpuctl render` of one cluster beside `helm template`, `kubectl kustomize` and kustomize.

All give the same documents: helm gets a chart made of the rendered files, in which the values a
user would set are templated; kustomize and kubectl get the rendered folders themselves. Each is
timed as a whole process, with output to nowhere or into files, after a warm-up, in turns, so that a
slow moment of the machine meets all of them. Figures are medians; hyperfine is used when present.
"""

import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from interop.tools import HELM, KUBECTL, KUSTOMIZE, helm, kubectl, kustomize  # noqa: E402
from support.program import ROOT, environment, samples  # noqa: E402

RUNS = 20
WARM_UP = 3
TARGET_MS = 10


def make_chart(cluster, folder):
    """A chart that gives the same objects. `{{` of the manifests is kept as text; name of the
    cluster and replica counts become values, as a user of a chart would have them."""
    values = {"clusterName": cluster.name, "replicas": {}}
    (folder / "templates").mkdir(parents=True)
    count = 0
    for path in sorted(cluster.glob("layers/*/*.yaml")):
        if path.name == "kustomization.yaml":
            continue
        text = path.read_text().replace("{{", '{{ "{{" }}')
        key = f"d{count}"

        def templated(match):
            values["replicas"][key] = int(match[2])
            return f"{match[1]}{{{{ .Values.replicas.{key} }}}}"

        text = re.sub(r"^( +replicas: )(\d+)$", templated, text, count=1, flags=re.M)
        text = re.sub(rf"\b{re.escape(cluster.name)}\b", "{{ .Values.clusterName }}", text)
        (folder / "templates" / f"{path.parent.name}-{path.name}").write_text(text)
        count += 1
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: bench\nversion: 0.1.0\n")
    (folder / "values.yaml").write_text(json.dumps(values))
    return count


def make_kustomization(cluster):
    """One kustomization over all layers, so that kustomize and kubectl start once."""
    layers = sorted(path.parent.name for path in cluster.glob("layers/*/kustomization.yaml"))
    text = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n"
    (cluster / "layers/kustomization.yaml").write_text(
        text + "".join(f"- {name}\n" for name in layers))
    return cluster / "layers"


def by_hyperfine(commands, env, scratch):
    report = scratch / "report.json"
    subprocess.run(["hyperfine", "-N", "--style", "none", "--warmup", str(WARM_UP), "--runs",
                    str(RUNS), "--export-json", report,
                    *[" ".join(map(str, command)) for command in commands.values()]],
                   check=True, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    results = json.loads(report.read_text())["results"]
    return {name: [seconds * 1000 for seconds in result["times"]]
            for name, result in zip(commands, results)}


def by_ourselves(commands, env, _scratch):
    times = {name: [] for name in commands}
    for turn in range(WARM_UP + RUNS):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run([str(word) for word in command], check=True, env=env,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            if turn >= WARM_UP:
                times[name].append((time.perf_counter() - start) * 1000)
    return times


def main():
    gpuctl = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/gpuctl").resolve()
    sample = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else samples()[0]
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        scratch = pathlib.Path(temporary)
        env = environment(scratch)
        subprocess.run([gpuctl, "render", sample, "-o", scratch / "out"], check=True, env=env,
                       stderr=subprocess.DEVNULL)
        cluster = next((scratch / "out").rglob("gpuctl.lock")).parent
        count = make_chart(cluster, scratch / "chart")
        layers = make_kustomization(cluster)
        commands = {
            "gpuctl version": [gpuctl, "version"],
            "gpuctl validate": [gpuctl, "validate", sample],
            "gpuctl render --stdout": [gpuctl, "render", sample, "--stdout"],
            "gpuctl render -o": [gpuctl, "render", sample, "-o", scratch / "again"],
            f"helm template {HELM}": [helm(), "template", "bench", scratch / "chart"],
            f"kubectl kustomize {KUBECTL}": [kubectl(), "kustomize", layers],
            f"kustomize build {KUSTOMIZE}": [kustomize(), "build", layers],
        }
        timer = by_hyperfine if shutil.which("hyperfine") else by_ourselves
        times = timer(commands, env, scratch)
    base = statistics.median(times["gpuctl render --stdout"])
    print(f"{sample.stem}: {count} objects, {RUNS} runs each, median of the whole process\n")
    print("| Command | Median | Fastest | Slowest | To the one on stdout |")
    print("|---|---|---|---|---|")
    for name, row in times.items():
        median = statistics.median(row)
        print(f"| {name} | {median:.1f} ms | {min(row):.1f} ms | {max(row):.1f} ms "
              f"| {median / base:.2f} x |")
    print(f"\ntarget: at most {TARGET_MS} ms for gpuctl render")


if __name__ == "__main__":
    main()
