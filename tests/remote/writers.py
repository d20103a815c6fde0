"""Several runs at once: on one server from many machines, and on one machine."""

import threading

from scene import FACTS
from transports import reach

# Writers and commits of each; fewer with sanitizers, where a run takes five times as long.
SIZES = {"git": (8, 10), "http": (4, 5)}
LONG = 40  # rounds from which sixteen writers meet on one server, too
FLEET = """apiVersion: gpuctl.dev/v1alpha1
kind: Fleet
metadata: {{name: writers}}
spec:
  extends: {name}.yaml
  clusters:
    - {{name: {name}}}
"""


def at_once(scene, jobs):
    """Runs each list of (command, environment) in order, all lists at the same time."""
    results = [[] for _ in jobs]

    def work(index):
        for step in jobs[index]:
            words, prepare, env = step
            prepare()
            results[index].append(scene.run(*words, env=env))

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def subject(scene, number):
    """How writer `number` names its cluster: every other one in a fleet of its own."""
    name = f"lab-{number}"
    if number % 2 == 0:
        return [f"{name}.yaml"]
    (scene.work / f"fleet-{number}.yaml").write_text(FLEET.format(name=name))
    (scene.work / "prod").mkdir(exist_ok=True)
    (scene.work / f"prod/{name}.facts.yaml").write_text(FACTS.format(name=name))
    return [f"fleet-{number}.yaml", "--cluster", name]


def many_writers(scene, kind, size):
    """Each writer has a machine of its own, that is a cache of its own, and a cluster of its own.
    A commit that says it was pushed is there at the end, in a history without branches."""
    writers, commits = (4, 3) if scene.sanitized else size
    scene.fill()
    url = reach(scene, kind)

    def job(number):
        name = f"lab-{number}"
        env = {"XDG_CACHE_HOME": str(scene.folder / f"cache-{number}")}
        # One that is always late says so and is called again, as a job of a pipeline would be.
        return [(("apply", *subject(scene, number), "--repo", url),
                 lambda count=count: scene.blueprint(name=name, replicas=count), env)
                for count in range(1, commits + 1)]

    rows = at_once(scene, [job(number) for number in range(writers)])
    results = [done for row in rows for done in row]
    good = [done for done in results if done.code == 0]
    late = [done for done in results if done.codes == ["GPU0523"]]
    scene.check(len(good) + len(late) == len(results),
                f"other ends: {[d.text for d in results if d.code and d.codes != ['GPU0523']][:1]}")
    # Each is allowed twenty attempts; that somebody loses them all must be rare.
    scene.check(len(late) <= len(results) // 20, f"{len(late)} of {len(results)} gave up")
    ids = scene.git("rev-list", "main").split()
    for done in good:
        scene.check(any(commit.startswith(done.pushed or "?") for commit in ids),
                    f"{done.pushed} is lost: {done.text}")
    scene.check(len(ids) == len(good) + 1, f"{len(ids)} commits, {len(good)} pushed")
    scene.check(not scene.git("rev-list", "--min-parents=2", "main").strip(), "merges")
    for number, row in enumerate(rows):
        last = max((count for count, done in enumerate(row, 1) if done.code == 0), default=0)
        found = scene.git("grep", "-l", f"replicas: {last}$", "main", "--",
                          f"clusters/prod/lab-{number}/layers/20-machines", good=False)
        scene.check(found, f"lab-{number} is not at its last commit, {last}")
    scene.sound(kind)


def local_writers(scene, kind, rounds):
    """Sixteen writers to one repository on this machine, each with a cluster of its own: nobody has
    to call again (at least 99 of 100), and nothing is lost."""
    writers = 16
    scene.fill()
    repo = scene.fleet
    if kind == "with a work tree":
        repo = scene.folder / "local"
        scene.git("clone", "-q", scene.fleet, repo, at=None)

    def job(number):
        name = f"lab-{number}"
        return [(("apply", *subject(scene, number), "--repo", repo),
                 lambda count=count: scene.blueprint(name=name, replicas=count), None)
                for count in range(1, rounds + 1)]

    results = [done for row in at_once(scene, [job(number) for number in range(writers)])
               for done in row]
    late = [done for done in results if done.code]
    scene.check(len(late) * 100 <= len(results), f"{len(late)} of {len(results)} failed: "
                                                 f"{late[0].text if late else ''}")
    scene.check(scene.git("rev-list", "--count", "main", at=repo).strip() ==
                str(len(results) - len(late) + 1), "number of commits")
    for number in range(writers):
        found = scene.git("grep", "-l", f"replicas: {rounds}$", "main", "--",
                          f"clusters/prod/lab-{number}/layers/20-machines", at=repo, good=False)
        scene.check(found or late, f"lab-{number} is not at its last commit")
    if kind == "with a work tree":
        scene.check(not scene.git("status", "--porcelain", at=repo), "the work tree is behind")
    scene.sound(kind, at=repo)


def one_machine(scene, kind):
    """Runs of one user wait for each other on the copy; nobody loses."""
    url = scene.fill()
    names = [f"lab-{number}" for number in range(6)]
    for name in names:
        scene.blueprint(name=name)
    jobs = []
    for number, name in enumerate(names):
        words = ["apply", f"{name}.yaml", "--repo", url]
        if kind == "two branches":
            words += ["--branch", f"team/{number % 2}"]
        jobs.append([(tuple(words), lambda: None, None)])
    for (done,) in at_once(scene, jobs):
        scene.check(done.code == 0 and done.pushed, done.text)
    if kind == "two branches":
        for branch in ("team/0", "team/1"):
            scene.check(scene.git("rev-list", "--count", branch).strip() == "4", branch)
    else:
        scene.check(scene.git("rev-list", "--count", "main").strip() == "7", "number of commits")
    scene.sound(kind)
    scene.sound("copy", at=scene.caches()[0])


def cases(options):
    return ([(f"many by {kind}", many_writers, kind, size) for kind, size in SIZES.items()
             if kind == "git" or not options.sanitized] +
            [("sixteen by git", many_writers, "git", (16, options.rounds))
             for _ in range(options.rounds >= LONG)] +
            [(f"local, {kind}", local_writers, kind, options.rounds)
             for kind in ("bare", "with a work tree") if not options.sanitized] +
            [(f"one machine, {kind}", one_machine, kind)
             for kind in ("one branch", "two branches")])
