"""The CI kit as others see it: reports by their published schemas, the files of the platforms by their own linters,
the hook run by pre-commit itself.

The runners of GitLab, Tekton and Jenkins cannot be had from a registry; tests/ci_kit runs the steps in their files.
"""

import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from interop.tools import actionlint, junit_schema, python_tools, sarif_schema, tekton_lint  # noqa: E402
from support.program import ROOT, environment, run  # noqa: E402

KIT = ROOT / "docs/ci"
OWN_ACTION = re.compile(r"OWNER/gpuctl/docs/ci/github@0{40}")


def said(done):
    return (done.stdout + done.stderr).decode()


def check_reports(tally, gpuctl, tools, scratch):
    """Of all samples, of the same with a mistake in each, and of golden cases about errors."""
    broken = scratch / "broken"
    broken.mkdir()
    for path in (ROOT / "blueprints").glob("*.yaml"):
        text = path.read_text()
        (broken / path.name).write_text(re.sub(r"^spec:", "spec:\n  noSuchField: \"<&]]> \\\\u0007 ](x)\"", text, flags=re.M))
    sets = {
        "samples": sorted((ROOT / "blueprints").glob("*[a-z].yaml")),
        "broken": sorted(broken.glob("*.yaml")),
        "errors": sorted((ROOT / "tests/golden/errors").glob("*/*.yaml")),
        "fleet": [ROOT / "blueprints/fleet/fleet.yaml"],
    }
    reports = {"sarif": [], "junit": [], "codequality": []}
    for name, files in sets.items():
        files = [path for path in files if not path.name.endswith(".facts.yaml")]
        tally.check(bool(files), f"reports: no files of {name}")
        words = [f"--report={format}={scratch / name}.{format}" for format in reports]
        done = run([gpuctl, "validate", *words, *files], env=environment(scratch))
        tally.check(done.returncode in (0, 1), f"reports of {name}: {said(done)[-2000:]}")
        for format, paths in reports.items():
            paths.append(scratch / f"{name}.{format}")
    done = run([tools / "check-jsonschema", "--regex-variant", "python", "--schemafile", sarif_schema(),
                *reports["sarif"]])
    tally.check(done.returncode == 0, f"SARIF by its schema: {said(done)}")
    judge = ("import sys, xmlschema\nschema = xmlschema.XMLSchema(sys.argv[1])\n"
             "for path in sys.argv[2:]: schema.validate(path)\n")
    done = run([tools / "python", "-c", judge, junit_schema(), *reports["junit"]])
    tally.check(done.returncode == 0, f"JUnit by its schema: {said(done)[-2000:]}")
    (scratch / "none.xml").write_text('<testsuites><testsuite name="x"/></testsuites>')
    done = run([tools / "python", "-c", judge, junit_schema(), scratch / "none.xml"])
    tally.check(done.returncode != 0, "JUnit: the schema refuses what is wrong")


def check_github(tally, tools, scratch):
    """In a repository where the action is a local one, so that its inputs are looked at, too."""
    workflows = scratch / "repository/.github/workflows"
    workflows.mkdir(parents=True)
    shutil.copytree(KIT, scratch / "repository/docs/ci")
    text = (KIT / "github/workflow.yml").read_text()
    tally.check(len(OWN_ACTION.findall(text)) == 3, "workflow.yml uses the action three times")
    local = OWN_ACTION.sub("./docs/ci/github", text)
    (workflows / "gpuctl.yml").write_text(local)
    (workflows.parent.parent / ".git").mkdir()
    done = run([actionlint(), workflows / "gpuctl.yml"], cwd=scratch / "repository")
    tally.check(done.returncode == 0, f"actionlint: {said(done)}")
    (workflows / "wrong.yml").write_text(local.replace("blueprints:", "blueprint:"))
    done = run([actionlint(), workflows / "wrong.yml"], cwd=scratch / "repository")
    tally.check(done.returncode == 1 and "blueprint" in said(done), f"actionlint knows the inputs: {said(done)}")
    for schema, path in (("vendor.github-workflows", KIT / "github/workflow.yml"),
                         ("vendor.github-actions", KIT / "github/action.yml")):
        done = run([tools / "check-jsonschema", "--builtin-schema", schema, path])
        tally.check(done.returncode == 0, f"{schema}: {said(done)}")
    done = run([tools / "zizmor", "--offline", "--quiet", KIT / "github/action.yml", KIT / "github/workflow.yml"],
               env=environment(scratch))
    tally.check(done.returncode == 0, f"zizmor: {said(done)}")


def check_gitlab(tally, tools, scratch):
    """The included file once its inputs are filled in, as the server does it, and the one that includes it."""
    header, _, jobs = (KIT / "gitlab/gpuctl.yml").read_text().partition("\n---\n")
    declared = set(re.findall(r"^    ([\w-]+):$", header, re.M))
    used = set(re.findall(r"\$\[\[ inputs\.([\w-]+) \]\]", jobs))
    tally.check(declared == used and len(used) == 7, f"gitlab: inputs {declared}, used {used}")
    (scratch / "gitlab.yml").write_text(re.sub(r"\$\[\[ inputs\.[\w-]+ \]\]", "value", jobs))
    given = set(re.findall(r"^      ([\w-]+):", (KIT / "gitlab/gitlab-ci.yml").read_text(), re.M))
    required = set(re.findall(r"^    ([\w-]+):\n(?:      (?!default).*\n)*(?=    [\w-]|\Z)", header + "\n", re.M))
    tally.check(required <= given <= declared, f"gitlab: {given} are given, {required} have no default")
    for path in (scratch / "gitlab.yml", KIT / "gitlab/gitlab-ci.yml"):
        done = run([tools / "check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", path])
        tally.check(done.returncode == 0, f"{path.name}: {said(done)}")


def check_tekton(tally, scratch):
    files = sorted((KIT / "tekton").glob("*.yaml"))
    done = run([tekton_lint(), *files], cwd=scratch)
    tally.check(done.returncode == 0 and not said(done).strip(), f"tekton-lint: {said(done)}")
    wrong = scratch / "wrong.yaml"
    wrong.write_text((KIT / "tekton/task.yaml").read_text().replace("$(params.blueprints)", "$(params.nothing)"))
    done = run([tekton_lint(), wrong], cwd=scratch)
    tally.check("nothing" in said(done), f"tekton-lint knows the parameters: {said(done)}")


def check_pre_commit(tally, gpuctl, tools, scratch):
    """pre-commit takes the hook from a repository at a commit and runs it, from its own cache."""
    env = environment(scratch, PRE_COMMIT_HOME=scratch / "cache")
    env["PATH"] = f"{gpuctl.parent}:{tools}:{env['PATH']}"
    hooks, work = scratch / "hooks", scratch / "work"

    def git(folder, *words):
        return run(["git", "-C", folder, *words], env=env).stdout.decode().strip()

    for folder in (hooks, work / "clusters"):
        folder.mkdir(parents=True)
    done = run([tools / "pre-commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml"], env=env)
    tally.check(done.returncode == 0, f"pre-commit, manifest: {said(done)}")
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
    for folder in (hooks, work):
        git(folder, "init", "-q")
    git(hooks, "add", "-A")
    git(hooks, "commit", "-qm", "hooks")
    example = re.search(r"^repos:\n(?:  .*\n)+", (ROOT / "docs/ci.md").read_text(), re.M)[0]
    (work / ".pre-commit-config.yaml").write_text(
        example.replace("https://git.example.com/gpuctl", str(hooks)).replace("0" * 40, git(hooks, "rev-parse", "HEAD")))
    for name in ("aws-minimal.yaml", "aws-minimal.facts.yaml"):
        shutil.copy(ROOT / "blueprints" / name, work / "clusters")
    (work / "other.yaml").write_text("a: 1\n")
    git(work, "add", "-A")
    done = run([tools / "pre-commit", "run", "--verbose"], cwd=work, env=env)
    tally.check(done.returncode == 0 and "clusters/aws-minimal.yaml: ok" in said(done)
                and "other.yaml" not in said(done), f"pre-commit: {said(done)}")
    blueprint = work / "clusters/aws-minimal.yaml"
    blueprint.write_text(blueprint.read_text().replace("g5.xlarge", "g9.nothing"))
    git(work, "add", "-A")
    done = run([tools / "pre-commit", "run"], cwd=work, env=env)
    tally.check(done.returncode == 1 and "GPU4101" in said(done), f"pre-commit refuses: {said(done)}")


def check_ci_kit(tally, gpuctl, scratch):
    tools = python_tools()
    for name, check in (("reports", lambda folder: check_reports(tally, gpuctl, tools, folder)),
                        ("github", lambda folder: check_github(tally, tools, folder)),
                        ("gitlab", lambda folder: check_gitlab(tally, tools, folder)),
                        ("tekton", lambda folder: check_tekton(tally, folder)),
                        ("pre-commit", lambda folder: check_pre_commit(tally, gpuctl, tools, folder))):
        (scratch / name).mkdir()
        check(scratch / name)
