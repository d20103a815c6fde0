"""Commands beside apply: retire and upgrade killed at random moments and run by many at once, and
plan beside them, which moves nothing."""

import random
import signal
import time

from transports import reach
from writers import at_once

BLUEPRINT = """apiVersion: gpuctl.dev/v1alpha1
kind: Blueprint
metadata: {{name: lab}}
spec:
  platform: aws
  baseDomain: example.com
  gitops: {{maxEffect: upgrade}}
  openshift: {{version: "{openshift}"}}
  aws: {{region: eu-central-1, zones: [eu-central-1a]}}
  access: {{pullSecret: {{env: PULL_SECRET}}}}
  gpuPools:
    - name: gpu
      instanceType: g5.xlarge
      replicas: 1
      sharing: {{default: shared, profiles: {{shared: {{timeSlicing: {{replicas: {shares}}}}}}}}}
"""
# Commits after which the command has something to do, and the command.
COMMANDS = {
    "retire": (({"shares": 2}, {"shares": 4}), ("retire", "gpu.shared", "lab.yaml")),
    "upgrade": (({"openshift": "4.17"}, {"openshift": "4.18"}), ("upgrade", "lab.yaml")),
    "upgrade --to": (({"openshift": "4.20"},), ("upgrade", "lab.yaml", "--to", "4.21")),
}
PLAN = ("plan", "lab.yaml", "--allow", "upgrade", "--allow", "unknown")


def write(scene, openshift="4.20", shares=2):
    (scene.work / "lab.yaml").write_text(BLUEPRINT.format(openshift=openshift, shares=shares))


def prepared(scene, command):
    """The commit before the command, the tree after it, and the words of a run of it."""
    scene.fill()
    states, words = COMMANDS[command]
    words += ("--repo", reach(scene, "git"), "--allow", "upgrade", "--allow", "unknown")
    for state in states:
        write(scene, **state)
        done = scene.apply(words[words.index("--repo") + 1], "--allow", "unknown")
        scene.check(done.code == 0 and done.pushed, f"before: {done.text}")
    before = scene.tip()
    done = scene.run(*words)
    scene.check(done.code == 0 and done.pushed, f"{command}: {done.text}")
    after = scene.git("rev-parse", "main^{tree}").strip()
    scene.check(after != scene.git("rev-parse", f"{before}^{{tree}}").strip(), "it changes nothing")
    scene.git("update-ref", "refs/heads/main", before)
    return before, after, words, done.seconds


def killed(scene, command, kills):
    before, after, words, length = prepared(scene, command)
    chance, moved = random.Random(command), 0
    for number in range(kills):
        scene.git("update-ref", "refs/heads/main", before)
        child = scene.start(*words)
        time.sleep(chance.uniform(0, length * 1.2))
        child.send_signal(signal.SIGKILL)
        out, _ = child.communicate()
        what = f"{command} {number}"
        scene.check(scene.wait_for(lambda: not scene.git_processes(), 10), f"{what}: left running")
        if scene.tip() != before:
            moved += 1
            scene.check(scene.git("rev-parse", "main^{tree}").strip() == after, f"{what}: another tree")
            scene.check(scene.git("rev-parse", "main~1").strip() == before, f"{what}: another parent")
        else:
            scene.check(b"pushed " not in out, f"{what}: said it was done, and it was not")
            again = scene.run(*words)
            # The server may still have been at the push: then there is nothing left to do.
            scene.check(again.code == 0 or again.codes == ["GPU0692"], f"{what}: next run: {again.text}")
        scene.check(scene.git("rev-parse", "main^{tree}").strip() == after, f"{what}: not done at the end")
        scene.sound(what)
    scene.check(kills < 20 or 0 < moved < kills, f"{moved} of {kills} moved: no spread")


def many(scene, command):
    """The same by four machines at once, and plan by two more: one commit, and plan is never wrong
    about whether there is one."""
    before, after, words, _ = prepared(scene, command)

    def job(number, what, times):
        env = {"XDG_CACHE_HOME": str(scene.folder / f"cache-{number}")}
        return [(what, lambda: None, env)] * times

    url = words[words.index("--repo") + 1]
    rows = at_once(scene, [job(number, words, 1) for number in range(4)] +
                   [job(number, (*PLAN, "--repo", url), 2) for number in range(4, 6)])
    # Two that make the same commit within one second have both pushed it.
    pushed = {done.pushed for row in rows[:4] for done in row if done.pushed}
    scene.check(len(pushed) == 1, f"pushed: {sorted(pushed)}")
    for (done,) in rows[:4]:
        # Whoever comes late finds nothing to do, or nothing of that name.
        scene.check(done.code == 0 or done.codes == ["GPU0692"], done.text)
    for done in (done for row in rows[4:] for done in row):
        # Once the cluster was brought further, the blueprint that nobody edited is behind it.
        behind = "--to" in words and done.codes == ["GPU3120"]
        scene.check(behind or done.code == 0 and "nothing was" not in done.stderr, f"plan: {done.text}")
    scene.check(scene.git("rev-list", "--count", f"{before}..main").strip() == "1", "number of commits")
    scene.check(scene.git("rev-parse", "main^{tree}").strip() == after, "another tree")
    scene.sound(command)


def planned(scene, kills):
    """Plan, killed or not, leaves the server as it was, and a copy that the next run can use."""
    before, after, words, length = prepared(scene, "retire")
    url, chance = words[words.index("--repo") + 1], random.Random("plan")
    refs = scene.git("for-each-ref")
    for number in range(kills):
        child = scene.start(*PLAN, "--repo", url)
        time.sleep(chance.uniform(0, length))
        child.send_signal(signal.SIGKILL)
        child.communicate()
        scene.check(scene.git("for-each-ref") == refs, f"plan {number}: a reference moved")
        scene.sound(f"plan {number}: copy", at=scene.caches()[0])
    done = scene.run(*words)
    scene.check(done.code == 0 and done.pushed, done.text)
    scene.check(scene.git("rev-parse", "main^{tree}").strip() == after, "another tree")


def cases(options):
    kills = max(options.kills // 4, 5)
    return ([(f"killed, {command}", killed, command, kills) for command in COMMANDS] +
            [(f"at once, {command}", many, command) for command in COMMANDS] +
            [("plan, killed", planned, kills)])
