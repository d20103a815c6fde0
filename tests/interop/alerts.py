"""Prometheus takes the alerts that are written, and they fire when they should.

promtool checks the rules of golden cases, and plays measurements to them: alerts/NAME.yaml holds groups of
tests for the rules of tests/golden/render/NAME. Each group says which alerts fire, so that one that fires
without a reason is a failure, too. Every alert of the rules has to fire in some group.

Rules and dashboards read only what the exporter measures: by itself, in every line of the operator, or
because the case lists it. What a dashboard asks is checked as if it were rules.
"""

import json
import pathlib
import re
import sys

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from interop.tools import promtool  # noqa: E402
from support.program import ROOT, run  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = ROOT / "tests/golden"
FIRING = 'count by (alertname, node, gpu, severity) (ALERTS{alertstate="firing"})'


def rules_of(case):
    """The specs of all PrometheusRules that a golden case expects."""
    return [yaml.safe_load(path.read_text())["spec"]
            for path in sorted((case / "tree").rglob("prometheusrule-*.yaml"))]


def questions_of(case):
    """All that the dashboards of the case ask, as recording rules."""
    boards = [json.loads(text) for path in sorted((case / "tree").rglob("configmap-*-dashboard-*.yaml"))
              for text in yaml.safe_load(path.read_text())["data"].values()]
    return {"groups": [{"name": "dashboards", "rules": [
        {"record": f"panel:{panel['id']}:{target['refId']}", "expr": target["expr"]}
        for board in boards for row in board["rows"] for panel in row["panels"] for target in panel["targets"]]}]}


def usual():
    """Counters that the exporter measures by itself, in all lines of the operator."""
    table = yaml.safe_load((ROOT / "providers/gpu-operator/tables/dcgm-counters.yaml").read_text())
    return {row["field"] for row in table["spec"]["rows"] if row["usual"] and "since" not in row}


def unmeasured(case):
    """Counters that rules and dashboards of the case read, and the exporter does not give."""
    def read(pattern):
        return set(re.findall(r"DCGM_\w+", "".join(path.read_text() for path in (case / "tree").rglob(pattern))))
    return (read("prometheusrule-*.yaml") | read("configmap-*-dashboard-gpus.yaml")) - read(
        "configmap-*-dcgm-counters.yaml") - usual()


def expected(alert):
    """A sample of the expression above: `NAME SEVERITY [NODE [GPU]]`, a dash for no node."""
    name, severity, *place = alert.split()
    labels = {"alertname": name, "severity": severity, **{key: value for key, value in zip(("node", "gpu"), place) if value != "-"}}
    return {"labels": "{" + ", ".join(f'{key}="{value}"' for key, value in labels.items()) + "}", "value": 1}


def check_alerts(tally, scratch):
    """All rules by promtool; those with a file of tests are tried."""
    program = promtool()
    cases = sorted({path.parents[len(path.relative_to(GOLDEN).parts) - 3]
                    for path in GOLDEN.rglob("prometheusrule-*.yaml")})
    tested = {path.stem: path for path in (HERE / "alerts").glob("*.yaml")}
    for case in cases:
        what = str(case.relative_to(GOLDEN))
        specs = rules_of(case)
        if not tally.check(len(specs) == 1, f"{what}: {len(specs)} PrometheusRules"):
            continue
        tally.check(not unmeasured(case), f"{what}: nobody measures {sorted(unmeasured(case))}")
        folder = scratch / case.name
        folder.mkdir()
        (folder / "rules.yaml").write_text(yaml.safe_dump(specs[0]))
        (folder / "questions.yaml").write_text(yaml.safe_dump(questions_of(case)))
        for name in ("rules", "questions"):
            done = run([program, "check", "rules", folder / f"{name}.yaml"])
            tally.check(done.returncode == 0, f"{what}: {name}: {done.stdout.decode()}{done.stderr.decode()}")
        path = tested.pop(case.name, None)
        if not path:
            continue
        groups = yaml.safe_load(path.read_text())
        (folder / "tests.yaml").write_text(yaml.safe_dump({
            "rule_files": ["rules.yaml"], "evaluation_interval": "1m",
            "tests": [{"name": group["name"], "interval": "1m", "input_series": group["series"], "promql_expr_test": [{
                "expr": FIRING, "eval_time": group["at"],
                "exp_samples": [expected(alert) for alert in group["firing"]]}]} for group in groups]}))
        done = run([program, "test", "rules", "tests.yaml"], cwd=folder)
        tally.check(done.returncode == 0, f"{what}: {done.stdout.decode()}{done.stderr.decode()}")
        fired = {alert.split()[0] for group in groups for alert in group["firing"]}
        names = {rule["alert"] for group in specs[0]["groups"] for rule in group["rules"]}
        tally.check(fired == names, f"{what}: never tried: {sorted(names - fired)}, not there: {sorted(fired - names)}")
    tally.check(not tested, f"no golden case for {sorted(map(str, tested.values()))}")
