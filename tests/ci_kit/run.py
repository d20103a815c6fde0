#!/usr/bin/env python3
"""The script that pipelines run: reports, one comment, commits, and no token in sight.

The forges are stand-ins on this machine (forge.py). What other programs say of the files around the
script, such as the linters of their platforms, is tested by tests/interop/ci_kit.py.
"""

import hashlib
import json
import pathlib
import re
import shutil
import stat
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from ci_kit.forge import Forge  # noqa: E402
from support.program import ROOT, Tally, arguments, environment, run, skip  # noqa: E402

SCRIPT = ROOT / "docs/ci/gpuctl-ci.sh"
TOKEN = "tok-3f9aVeryMuchASecret"
MARK = "<!-- gpuctl-ci plan -->"


class Place:
    """A checkout with blueprints, and an environment in which every started program is written down."""

    def __init__(self, gpuctl, scratch):
        self.gpuctl, self.scratch = gpuctl, scratch
        self.work = scratch / "work"
        (self.work / "clusters").mkdir(parents=True)
        shutil.copy(ROOT / "blueprints/aws-minimal.yaml", self.work / "clusters/good.yaml")
        shutil.copy(ROOT / "blueprints/aws-minimal.facts.yaml", self.work / "clusters/good.facts.yaml")
        self.started = scratch / "started"
        self.tools = scratch / "tools"
        self.tools.mkdir()
        # Programs that could be given a token note their arguments first; gpuctl, its environment, too.
        for name in ("curl", "jq", "git", "gpuctl"):
            real = gpuctl if name == "gpuctl" else shutil.which(name)
            also = f'env >>"{self.started}"\n' if name == "gpuctl" else ""
            (self.tools / name).write_text(
                f'#!/bin/sh\nprintf "%s\\n" "{name} $*" >>"{self.started}"\n{also}exec "{real}" "$@"\n')
            (self.tools / name).chmod(0o755)

    def break_blueprint(self):
        text = (self.work / "clusters/good.yaml").read_text()
        (self.work / "clusters/bad.yaml").write_text(
            re.sub(r"instanceType: \S+", "instanceType: g9.nothing", text, count=1)
            .replace("name: gpu-lab", "name: bad", 1))

    def run(self, *words, **variables):
        env = environment(self.scratch, **{"GPUCTL_CI_BLUEPRINTS": "clusters/[a-z]*d.yaml", "TMPDIR": self.scratch,
                                           **variables})
        env["PATH"] = f"{self.tools}:{env['PATH']}"
        return run(["sh", SCRIPT, *words], env=env, cwd=self.work)

    def comment(self, forge, **variables):
        known = {"GPUCTL_CI_FORGE": forge.kind, "GPUCTL_CI_API": forge.url, "GPUCTL_CI_PROJECT": "team/blueprints",
                 "GPUCTL_CI_CHANGE": "7", "GPUCTL_CI_TOKEN": forge.token}
        return {**known, **variables}


def said(done):
    return (done.stdout + done.stderr).decode()


def check_validate(tally, place):
    done = place.run("validate")
    tally.check(done.returncode == 0, f"validate: {said(done)}")
    reports = place.work / "gpuctl-reports"
    log = json.loads((reports / "gpuctl.sarif").read_text())
    tally.check(log["version"] == "2.1.0" and all(one["level"] == "note" for one in log["runs"][0]["results"]),
                "validate: a good blueprint has notes alone")
    place.break_blueprint()
    (reports / "junit.xml").write_text("old")
    done = place.run("validate")
    tally.check(done.returncode == 1 and "GPU4101" in said(done), f"validate, broken: {said(done)}")
    results = json.loads((reports / "gpuctl.sarif").read_text())["runs"][0]["results"]
    errors = [one for one in results if one["level"] == "error"]
    tally.check(len(errors) == 1 and errors[0]["ruleId"] == "GPU4101", f"sarif: {errors}")
    place_of = errors[0]["locations"][0]["physicalLocation"] if errors else {}
    tally.check(place_of.get("artifactLocation") == {"uri": "clusters/bad.yaml"}, f"sarif: {place_of}")
    junit = (reports / "junit.xml").read_text()
    tally.check('tests="2" failures="1"' in junit and 'type="GPU4101"' in junit, f"junit: {junit}")
    entries = json.loads((reports / "code-quality.json").read_text())
    tally.check([one["check_name"] for one in entries if one["severity"] == "critical"] == ["GPU4101"],
                f"code quality: {entries}")
    tally.check(len({one["fingerprint"] for one in entries}) == len(entries), "code quality: fingerprints differ")
    tally.check(stat.S_IMODE((reports / "junit.xml").stat().st_mode) == 0o644, "others can read the reports")

    # Lines that come and go above a finding do not make it a new one.
    bad = place.work / "clusters/bad.yaml"
    bad.write_text("# a comment\n" + bad.read_text())
    place.run("validate")
    moved = json.loads((reports / "code-quality.json").read_text())
    tally.check([one["fingerprint"] for one in moved] == [one["fingerprint"] for one in entries],
                "code quality: fingerprints stay when lines move")

    done = place.run("validate", GITHUB_ACTIONS="true")
    lines = done.stdout.decode().splitlines()
    tally.check(any(line.startswith("::error file=clusters/bad.yaml,line=") for line in lines),
                f"annotations: {lines}")
    stopped = [i for i, line in enumerate(lines) if line.startswith("::stop-commands::")]
    ended = [i for i, line in enumerate(lines)
             if stopped and line == "::" + lines[stopped[0]].rsplit("::", 1)[1] + "::"]
    shown = [i for i, line in enumerate(lines) if "g9.nothing" in line and not line.startswith("::error")]
    tally.check(len(stopped) == len(ended) == 1 and shown and all(stopped[0] < i < ended[0] for i in shown),
                "what gpuctl quotes is no command of the runner")

    done = place.run("validate", GPUCTL_CI_ARGUMENTS="--strict\n--no-such-option")
    tally.check(done.returncode == 64 and not (reports / "gpuctl.sarif").exists(),
                f"validate, wrong option: exit code {done.returncode}, no report of an earlier run")
    done = place.run("validate", GPUCTL_CI_BLUEPRINTS="clusters/nothing*.yaml")
    tally.check(done.returncode == 1 and "nothing*.yaml" in said(done), f"validate, no such file: {said(done)}")
    done = place.run("validate", GPUCTL_CI_BLUEPRINTS="")
    tally.check(done.returncode == 64, "validate without blueprints")
    done = place.run("validate", GPUCTL_CI_BLUEPRINTS="clusters/good.yaml; touch x\n$(touch y)\n--help")
    tally.check(done.returncode == 1 and not (place.work / "x").exists() and not (place.work / "y").exists(),
                f"validate: a word is a file, whatever stands in it: {said(done)}")
    bad.unlink()


def check_comment(tally, place, kind):
    others = [("human", f"me too {i}") for i in range(150)] + [("mallory", MARK + "\nnot ours")]
    forge = Forge(kind, TOKEN, others)
    try:
        variables = place.comment(forge, GPUCTL_CI_REPO="fleet", GPUCTL_CI_COMMENT="true", GPUCTL_CI_AUTHOR="bot")
        done = place.run("plan", **variables)
        tally.check(done.returncode == 0 and len(forge.comments) == 152, f"{kind}: {said(done)}")
        first = forge.comments[-1]["body"]
        tally.check(first.startswith(MARK + "\n") and "1 cluster changes" in first, f"{kind}: {first}")
        tally.check((place.work / "gpuctl-reports/plan.md").exists(), f"{kind}: plan.md stays")
        gets = [path for method, path in forge.asked if method == "GET"]
        tally.check(len(gets) == 3 and gets[1].endswith("page=2"), f"{kind}: {gets}")

        blueprint = place.work / "clusters/good.yaml"
        before = blueprint.read_text()
        blueprint.write_text(before.replace("instanceType:", "instanceType: g9.nothing #"))
        done = place.run("plan", **variables)
        blueprint.write_text(before)
        second = forge.comments[-1]["body"]
        tally.check(done.returncode == 1 and len(forge.comments) == 152, f"{kind}: one comment: {said(done)}")
        tally.check("failed" in second and "    error[GPU4101]" in second, f"{kind}: {second}")
        tally.check(forge.comments[150]["body"] == MARK + "\nnot ours", f"{kind}: a comment of others stays")

        done = place.run("plan", **variables, GPUCTL_CI_KEY="other")
        tally.check(len(forge.comments) == 153, f"{kind}: another key, another comment: {said(done)}")

        long = place.work / "long.md"
        long.write_text("".join(f"| row {i} | äöü |\n" for i in range(20000)))
        done = place.run("comment", "long.md", **variables)
        body = forge.comments[151]["body"]
        tally.check(done.returncode == 0 and 60000 < len(body.encode()) <= 65000 and body.endswith("... (cut)\n"),
                    f"{kind}: long text: {len(body)}, {said(done)}")

        for change, code in (({"GPUCTL_CI_TOKEN": "wrong-" + TOKEN}, 1), ({"GPUCTL_CI_TOKEN": ""}, 64),
                             ({"GPUCTL_CI_CHANGE": ""}, 64), ({"GPUCTL_CI_CHANGE": "7/../8"}, 64),
                             ({"GPUCTL_CI_PROJECT": "team/../x"}, 64), ({"GPUCTL_CI_KEY": "a -->"}, 64),
                             ({"GPUCTL_CI_TOKEN": TOKEN + "\nX-Other: 1"}, 64),
                             ({"GPUCTL_CI_API": "http://forge.example.com"}, 64), ({"GPUCTL_CI_FORGE": "x"}, 64)):
            done = place.run("comment", "long.md", **{**variables, **change})
            tally.check(done.returncode == code and TOKEN not in said(done), f"{kind}, {change}: {said(done)}")
        forge.fails = 422
        done = place.run("comment", "long.md", **variables)
        tally.check(done.returncode == 1 and "422" in said(done), f"{kind}: {said(done)}")
        forge.fails = None
        traced = run(["sh", "-x", SCRIPT, "comment", "long.md"],
                     env={**environment(place.scratch, **variables), "TMPDIR": str(place.scratch)}, cwd=place.work)
        tally.check(traced.returncode == 0 and TOKEN not in said(traced), f"{kind}: a trace has no token")
    finally:
        forge.close()


def check_known(tally, place):
    """What a runner tells is enough."""
    forge = Forge("github", TOKEN)
    event = place.scratch / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7}}))
    summary = place.scratch / "summary.md"
    done = place.run("plan", GITHUB_ACTIONS="true", GITHUB_API_URL=forge.url, GITHUB_REPOSITORY="team/blueprints",
                     GITHUB_EVENT_PATH=event, GITHUB_STEP_SUMMARY=summary, GPUCTL_CI_TOKEN=TOKEN,
                     GPUCTL_CI_COMMENT="true", GPUCTL_CI_REPO="fleet")
    tally.check(done.returncode == 0 and len(forge.comments) == 1, f"known to GitHub: {said(done)}")
    tally.check("gpuctl plan" in summary.read_text(), "summary of the job")
    forge.close()
    forge = Forge("gitlab", TOKEN)
    done = place.run("plan", GITLAB_CI="true", CI_API_V4_URL=forge.url, CI_PROJECT_ID="team/blueprints",
                     CI_MERGE_REQUEST_IID="7", GPUCTL_CI_TOKEN=TOKEN, GPUCTL_CI_COMMENT="true", GPUCTL_CI_REPO="fleet")
    tally.check(done.returncode == 0 and len(forge.comments) == 1, f"known to GitLab: {said(done)}")
    forge.close()


def check_apply(tally, place):
    done = place.run("apply", GPUCTL_CI_REPO="fleet")
    log = run(["git", "-C", place.work / "fleet", "log", "--oneline"], env=environment(place.scratch))
    tally.check(done.returncode == 0 and len(log.stdout.splitlines()) == 1, f"apply: {said(done)}")
    done = place.run("apply", GPUCTL_CI_REPO="fleet")
    tally.check(done.returncode == 0 and "no change" in said(done), f"apply again: {said(done)}")
    done = place.run("render", GPUCTL_CI_OUTPUT="tree")
    tally.check(done.returncode == 0 and list((place.work / "tree").rglob("cluster.yaml")), f"render: {said(done)}")
    done = place.run("apply")
    tally.check(done.returncode == 64, "apply without a repository")


def check_git_token(tally, place):
    forge = Forge("github", "unused")
    done = place.run("apply", GPUCTL_CI_REPO=forge.url + "/fleet.git", GPUCTL_CI_GIT_TOKEN=TOKEN)
    tally.check(done.returncode == 1 and set(forge.git_passwords) == {f"x-access-token:{TOKEN}"},
                f"git: {forge.git_passwords}, {said(done)}")
    tally.check(TOKEN not in said(done), "git: the token is not shown")
    forge.close()
    done = place.run("apply", GPUCTL_CI_REPO="git@git.example.com:fleet.git", GPUCTL_CI_GIT_TOKEN=TOKEN)
    tally.check(done.returncode == 64, "git: a token is for https alone")


def check_unpack(tally, place):
    folder = place.scratch / "packed/gpuctl-0.1.0/bin"
    folder.mkdir(parents=True)
    (folder / "gpuctl").write_text("#!/bin/sh\necho unpacked\n")
    (folder / "gpuctl").chmod(0o755)
    archive = place.work / "gpuctl.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder.parent, "gpuctl-0.1.0")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    done = place.run("unpack", "here", GPUCTL_CI_ARCHIVE="gpuctl.tar.gz", GPUCTL_CI_SHA256=digest)
    tally.check(done.returncode == 0 and done.stdout.decode() == "here/gpuctl-0.1.0/bin/gpuctl\n", f"unpack: {said(done)}")
    for wrong, code in (("0" * 64, 1), ("", 64), (digest[:-1], 64), (digest.upper(), 64)):
        done = place.run("unpack", "there", GPUCTL_CI_ARCHIVE="gpuctl.tar.gz", GPUCTL_CI_SHA256=wrong)
        tally.check(done.returncode == code and not (place.work / "there").exists(), f"unpack, {wrong}: {said(done)}")
    done = place.run("unpack", "there", GPUCTL_CI_ARCHIVE="http://example.com/a", GPUCTL_CI_SHA256=digest)
    tally.check(done.returncode == 64, "unpack: http is refused")


def check_steps(tally, place):
    """The steps of the platforms' files, as their runners would run them."""
    bin_folder = place.scratch / "bin"
    bin_folder.mkdir()
    (bin_folder / "gpuctl-ci").symlink_to(SCRIPT)
    env = environment(place.scratch, GPUCTL_CI_BLUEPRINTS="clusters/good.yaml", GPUCTL_CI_REPO="fleet",
                      GPUCTL_CI_REPORTS="of-steps", COMMAND="validate", GPUCTL_CI_FORGE="",
                      RUNNER_TEMP=place.scratch / "runner", GITHUB_OUTPUT=place.scratch / "outputs",
                      GITHUB_ACTION_PATH=ROOT / "docs/ci/github",
                      GPUCTL_CI_ARCHIVE=place.work / "gpuctl.tar.gz",
                      GPUCTL_CI_SHA256=hashlib.sha256((place.work / "gpuctl.tar.gz").read_bytes()).hexdigest())
    env["PATH"] = f"{bin_folder}:{place.tools}:{env['PATH']}"
    texts = {name: (ROOT / "docs/ci" / name).read_text()
             for name in ("github/action.yml", "gitlab/gpuctl.yml", "tekton/task.yaml", "jenkins/Jenkinsfile")}
    steps = {
        "github/action.yml": [re.sub(r"^ {8}", "", block, flags=re.M) for block in
                              re.findall(r"run: \|\n((?: {8}.*\n)+)", texts["github/action.yml"])]
                             + re.findall(r"run: '(.*)'", texts["github/action.yml"]),
        "gitlab/gpuctl.yml": re.findall(r"^    - (.*gpuctl-ci .*)$", texts["gitlab/gpuctl.yml"], re.M),
        "tekton/task.yaml": [re.sub(r"^ {8}", "", texts["tekton/task.yaml"].split("script: |\n", 1)[1], flags=re.M)],
        "jenkins/Jenkinsfile": re.findall(r"sh '(.*)'", texts["jenkins/Jenkinsfile"]),
    }
    counts = {"github/action.yml": 2, "gitlab/gpuctl.yml": 3, "tekton/task.yaml": 1, "jenkins/Jenkinsfile": 3}
    for name, commands in steps.items():
        tally.check(len(commands) == counts[name], f"{name}: {len(commands)} steps")
        for command in commands:
            done = run(["sh", "-e", "-c", command], env=env, cwd=place.work)
            tally.check(done.returncode == 0, f"{name}: {command}: {said(done)}")
        tally.check("${{" not in "".join(commands), f"{name}: no value is a part of a step")
    tally.check((place.scratch / "outputs").read_text().endswith("/bin/gpuctl\n"), "github: what was unpacked is used")


def check_pins(tally):
    """What a pipeline takes from elsewhere is named by its digest."""
    for path in sorted((ROOT / "docs/ci").rglob("*")):
        if not path.is_file():
            continue
        text = path.read_text()
        for used in re.findall(r"uses: (\S+)", text):
            tally.check(re.search(r"@[0-9a-f]{40}$", used) or "docs/ci/github@COMMIT" in used, f"{path.name}: {used}")
        for image in re.findall(r"(?:image:|image ')\s*([a-z][\w.-]*/\S+?)[,'\s]", text):
            tally.check(re.search(r"@sha256:([0-9a-f]{64}|DIGEST\")$", image), f"{path.name}: {image}")


def main():
    gpuctl = arguments(__doc__).gpuctl
    for name in ("curl", "jq", "git"):
        if not shutil.which(name):
            skip("ci_kit", f"{name} is not here")
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="ci-kit-") as temporary:
        place = Place(gpuctl, pathlib.Path(temporary))
        check_validate(tally, place)
        for kind in ("github", "gitlab"):
            check_comment(tally, place, kind)
        check_known(tally, place)
        check_apply(tally, place)
        check_git_token(tally, place)
        check_unpack(tally, place)
        check_steps(tally, place)
        tally.check(TOKEN not in place.started.read_text(), "a program was given a token as an argument, or gpuctl in its environment")
        left = [path.name for path in pathlib.Path(temporary).glob("gpuctl-ci.*")]
        tally.check(not left, f"nothing stays: {left}")
        for path in place.work.rglob("*"):
            if path.is_file() and TOKEN.encode() in path.read_bytes():
                tally.check(False, f"the token is in {path}")
    check_pins(tally)
    tally.close()


if __name__ == "__main__":
    main()
