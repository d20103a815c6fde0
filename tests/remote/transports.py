"""Every way to a server: the first push, the next one, none without a change; and every way in which
a server cannot be reached or lets nobody in."""

import os
import shutil

import servers


def reach(scene, kind):
    """A server of this kind with all that git needs to get in; gives the address."""
    if kind == "file":
        return f"file://{scene.fleet}"
    if kind == "git":
        return servers.daemon(scene)
    if kind == "http":
        scene.web, url = servers.web(scene)
        servers.credentials(scene, url)
        return url
    if kind == "https":
        tls = servers.certificate(scene)
        if not tls:
            scene.skip("no openssl to make a certificate")
            return None
        _, url = servers.web(scene, tls=tls)
        servers.credentials(scene, url)
        with scene.gitconfig.open("a") as config:
            config.write(f"[http]\n\tsslCAInfo = {tls[0]}\n")
        return url
    ssh = secure(scene)
    if not ssh:
        return None
    return ssh.url if kind == "ssh" else f"{ssh.user}@fleet-server:{scene.fleet}"


def secure(scene):
    if not servers.sshd_program() or not shutil.which("ssh"):
        scene.skip("no sshd (package openssh-server)")
        return None
    return servers.Ssh(scene)


def push_and_again(scene, kind):
    scene.fill()
    url = reach(scene, kind)
    if not url:
        return
    before = scene.tip()
    done = scene.apply(url)
    if not scene.accepted(done, "first"):
        return
    scene.check(done.stdout.rstrip().endswith(f"of {url}"), f"last line: {done.stdout}")
    scene.check(scene.git("rev-parse", "main~1").strip() == before, "not on the old commit")
    scene.check("README.md" in scene.files(), "files of others are gone")
    scene.unchanged(scene.apply(url), "again")
    scene.blueprint(replicas=3)
    scene.commit_elsewhere("other", "x\n")
    scene.accepted(scene.apply(url), "after somebody else")
    scene.check("other" in scene.files(), "the commit of somebody else is gone")
    scene.check(scene.git("rev-list", "--count", "main").strip() == "4", "number of commits")
    scene.sound(kind)
    scene.sound(f"cache of {kind}", at=scene.caches()[0])
    scene.check(not scene.git_processes(), "programs are left running")


def empty_repository(scene, kind):
    scene.fill(empty=True)
    url = reach(scene, kind)
    if not url:
        return
    scene.accepted(scene.apply(url), "empty")
    scene.check(scene.git("rev-list", "--count", "main").strip() == "1", "number of commits")
    scene.unchanged(scene.apply(url), "again")


def missing_repository(scene, kind):
    scene.fill()
    url = reach(scene, kind)
    if not url:
        return
    done = scene.apply(url.replace("fleet.git", "absent.git"))
    scene.refused(done, "GPU0517", kind, ["absent.git", "git: "])
    scene.check(not (scene.server / "absent.git").exists(), "it was created")


def many_bytes(scene, kind):
    """More than one pack and one HTTP request hold: the push is sent in chunks."""
    scene.fill()
    url = reach(scene, kind)
    if not url:
        return
    with scene.gitconfig.open("a") as config:
        config.write("[http]\n\tpostBuffer = 65536\n[core]\n\tcompression = 0\n")
    for number in range(12):
        scene.blueprint(name=f"lab-{number}")
    done = scene.run("apply", *[f"lab-{number}.yaml" for number in range(12)], "--repo", url)
    scene.check(done.code == 0 and scene.tip().startswith(done.pushed or "?"), done.text)
    scene.check(len(scene.files()) > 200, "files are missing")
    scene.sound(kind)
    if kind == "http":
        scene.check(scene.web.chunked, "nothing was sent in chunks")


# Branches

def branches(scene):
    url = scene.fill()
    scene.commit_elsewhere("second", "x\n")
    base = scene.tip()
    scene.accepted(scene.apply(url, "--branch", "new/one"), "new", branch="new/one")
    scene.check(scene.git("rev-parse", "new/one~1").strip() == base, "it starts elsewhere")
    scene.check(scene.tip() == base, "main moved")
    done = scene.apply(url, "--branch", "new/one")
    scene.check(done.code == 0 and not done.pushed and "branch new/one has that already" in done.stdout,
                f"again: {done.text}")
    scene.blueprint(replicas=2)
    done = scene.apply(url, "--branch", "new/one")
    scene.accepted(done, "existing", branch="new/one")
    scene.check("created" in done.stdout, f"not planned against the base: {done.stdout}")
    scene.check(scene.git("rev-parse", "new/one~1").strip() == base, "not made anew")
    # The default branch is the one that HEAD names, whatever its name.
    scene.git("symbolic-ref", "HEAD", "refs/heads/new/one")
    scene.blueprint(replicas=3)
    scene.accepted(scene.apply(url), "default", branch="new/one")
    # Removed on the server, and one in its place that cannot be beside it.
    scene.git("symbolic-ref", "HEAD", "refs/heads/main")
    scene.git("update-ref", "-d", "refs/heads/new/one")
    scene.accepted(scene.apply(url, "--branch", "new"), "in its place", branch="new")
    scene.check(scene.git("rev-parse", "new~1").strip() == base, "it starts elsewhere")
    scene.git("update-ref", "--no-deref", "HEAD", base)
    done = scene.apply(url)
    scene.refused(done, "GPU0503", "detached HEAD", ["--branch"])
    scene.accepted(scene.apply(url, "--branch", "third"), "from a detached HEAD", branch="third")
    scene.refused(scene.apply(url, "--branch", "-x"), "GPU0508", "name", ["-x"])


def branch_planned_on_start(scene):
    """What the default branch has is not made again on a new branch, and edits there count."""
    url = scene.fill()
    scene.accepted(scene.apply(url), "main")
    scene.unchanged(scene.apply(url, "--branch", "side"), "nothing new")
    scene.check(not scene.tip("side"), "a branch without a change")
    scene.commit_elsewhere("clusters/prod/lab/cluster.yaml", "mine\n")
    scene.blueprint(replicas=5)
    done = scene.apply(url, "--branch", "side")
    scene.check(done.code == 1 and "GPU0612" in done.codes, f"edited: {done.text}")
    scene.check(not scene.tip("side"), "a branch after an error")


def local_branch(scene):
    """The same without a server."""
    scene.fill()
    repo = scene.folder / "local"
    scene.git("clone", "-q", scene.fleet, repo, at=None)
    done = scene.run("apply", "lab.yaml", "--repo", repo, "--branch", "side")
    scene.check(done.code == 0 and "committed" in done.stdout, done.text)
    scene.check(scene.git("rev-list", "--count", "side", at=repo).strip() == "2", "an orphan")
    scene.check("README.md" in scene.git("ls-tree", "--name-only", "side", at=repo), "files gone")


# Trouble

def unreachable(scene):
    scene.fill()
    port = servers.free_port()
    for url in (f"git://127.0.0.1:{port}/x.git", f"http://127.0.0.1:{port}/x.git",
                "https://host.invalid/x.git", "git://host.invalid/x.git"):
        scene.refused(scene.apply(url), "GPU0518", url, [url])
    if shutil.which("ssh"):
        for url in (f"ssh://git@127.0.0.1:{port}/x.git", "git@host.invalid:x.git"):
            scene.refused(scene.apply(url), "GPU0518", url, [url])
    scene.check(not scene.git_processes(), "programs are left running")


def hangs(scene, kind):
    scene.fill()
    port = servers.silent(scene)
    url = {"git": f"git://127.0.0.1:{port}/x.git", "http": f"http://127.0.0.1:{port}/x.git",
           "https": f"https://127.0.0.1:{port}/x.git",
           "ssh": f"ssh://git@127.0.0.1:{port}/x.git"}[kind]
    if kind == "ssh" and not shutil.which("ssh"):
        return scene.skip("no ssh")
    done = scene.apply(url, "--timeout", "1")
    scene.refused(done, "GPU0520", kind, ["within 1 s", "--timeout"])
    scene.check(done.seconds < 15 * scene.slow, f"{kind}: took {done.seconds:.1f} s")
    return scene.check(scene.wait_for(lambda: not scene.git_processes(), 10), "left running")


def falls_silent(scene, kind):
    """A server that accepts and says nothing costs the idle time, not all of it; one that does not
    accept costs the time for a connection."""
    scene.fill()
    if kind == "ssh" and not shutil.which("ssh"):
        return scene.skip("no ssh")
    port = servers.unanswered(scene) if kind == "no connection" else servers.silent(scene)
    scheme = "git" if kind == "no connection" else kind
    url = f"{scheme}://{'git@' if kind == 'ssh' else ''}127.0.0.1:{port}/x.git"
    done = scene.apply(url, "--idle-timeout", "0" if kind == "no connection" else "2")
    if kind == "no connection":
        scene.refused(done, "GPU0518", kind, ["no connection within 10 s"])
        scene.check(10 <= done.seconds < 30 * scene.slow, f"{kind}: took {done.seconds:.1f} s")
    else:
        scene.refused(done, "GPU0534", kind, ["for 2 s", "--idle-timeout"])
        scene.check(2 <= done.seconds < 20 * scene.slow, f"{kind}: took {done.seconds:.1f} s")
    return scene.check(scene.wait_for(lambda: not scene.git_processes(), 10), "left running")


def works_silently(scene):
    """A hook that takes its time is no silence: the server gives signs of life."""
    scene.fill()
    scene.git("config", "receive.keepAlive", "1")
    scene.hook("pre-receive", "exec sleep 6\n")
    scene.accepted(scene.apply(servers.daemon(scene), "--idle-timeout", "4"), "slow hook")


def refuses_write(scene):
    """Reading goes, writing does not."""
    scene.fill()
    url = servers.daemon(scene, "--informative-errors")
    before = scene.tip()
    scene.refused(scene.apply(url), "GPU0516", "daemon without receive-pack")
    scene.check(scene.tip() == before, "the branch moved")
    _, url = servers.web(scene, auth=False,
                         before=lambda handler: handler.is_push() and (handler.answer(403) or True))
    scene.refused(scene.apply(url), "GPU0516", "403 for pushes", ["403"])


def password(scene, kind):
    scene.fill()
    server, url = servers.web(scene)
    if kind == "wrong":
        servers.credentials(scene, url, password="wrong")
    if kind == "user in the address":
        servers.credentials(scene, url)
        log = scene.folder / "calls"
        real = shutil.which("git")
        scene.tool("git", f'echo "$@" >>{log}\nexec {real} "$@"\n')
        done = scene.apply(url.replace("://", f"://{servers.USER}@"))
        scene.accepted(done, kind)
        text = log.read_text() + done.text
        scene.check(servers.USER not in text, "the user is among the arguments or messages")
        return
    done = scene.apply(url)
    scene.refused(done, "GPU0516", kind, ["credential"])
    tries = [seen for seen in server.seen if seen[2]]
    scene.check(len(tries) <= 3, f"{len(tries)} tries")
    scene.check(done.seconds < 20 * scene.slow, f"took {done.seconds:.1f} s")
    scene.check(servers.PASSWORD not in done.text and "wrong" not in done.text, "password shown")


def untrusted_certificate(scene):
    scene.fill()
    tls = servers.certificate(scene)
    if not tls:
        return scene.skip("no openssl to make a certificate")
    server, url = servers.web(scene, tls=tls)
    servers.credentials(scene, url)
    scene.refused(scene.apply(url), "GPU0519", "certificate", ["sslCAInfo"])
    return scene.check(not server.seen, "something was sent")


def object_format(scene, kind):
    """A server with SHA-256: nothing was sent, and the run says so."""
    scene.blueprint()
    scene.git("init", "-q", "--bare", "--object-format=sha256", "-b", "main", scene.fleet, at=None)
    if kind == "filled":
        tree = scene.git("mktree").strip()
        scene.git("update-ref", "refs/heads/main",
                  scene.git("commit-tree", "-m", "first", tree).strip())
    done = scene.apply(servers.daemon(scene))
    scene.refused(done, "GPU0503", kind, ["object format", "sha1", *(["sha256"] if kind == "filled" else [])])
    scene.check("not known" not in done.text, f"{kind}: {done.text}")


def host_key(scene, kind):
    scene.fill()
    ssh = secure(scene)
    if not ssh:
        return
    if kind == "unknown":
        ssh.know("")
        before = ssh.known.read_text()
        done = scene.apply(ssh.url)
        scene.refused(done, "GPU0514", kind, ["fingerprint"])
        scene.check(ssh.known.read_text() == before, "the key was accepted")
        scene.check("ssh-keyscan" not in done.text, "bad advice")
    elif kind == "changed":
        ssh.know((ssh.place / "stranger.pub").read_text())
        scene.refused(scene.apply(ssh.url), "GPU0515", kind, ["known_hosts", "git: "])
    elif kind == "wrong client key":
        ssh.write_config(key="stranger")
        scene.refused(scene.apply(ssh.url), "GPU0516", kind, ["Permission denied"])
    elif kind == "own ssh command":
        mine = scene.tool("my-ssh", 'echo mine >>"$HOME/mine"\nexec ssh "$@"\n')
        scene.gitconfig.write_text(f"[core]\n\tsshCommand = {mine}\n")
        scene.accepted(scene.apply(ssh.url), kind)
        scene.check("BatchMode" not in ssh.calls.read_text(), "options added to the user's command")
        scene.check((scene.home / "mine").exists(), "the user's command was not taken")
    else:
        scene.accepted(scene.apply(ssh.url), kind)
        calls = ssh.calls.read_text().splitlines()
        scene.check(all("BatchMode=yes" in call for call in calls), f"calls: {calls}")


def no_git(scene, kind):
    scene.fill()
    if kind == "absent":
        done = scene.apply(f"file://{scene.fleet}", env={"PATH": str(scene.home)})
    else:
        scene.tool("git", 'echo "error: unknown option" >&2\nexit 129\n')
        done = scene.apply(f"file://{scene.fleet}")
    scene.refused(done, "GPU0524", kind, ["2.31"])


def addresses(scene):
    """Refused before anything is started or made."""
    scene.fill()
    before = sorted(os.listdir(scene.work))
    for url, code in (("https://user:c4nary@host/x.git", "GPU0513"),
                      ("ssh://git:c4nary@host/x.git", "GPU0513"),
                      ("user:c4nary@host:x.git", "GPU0513"),
                      ("https://host/x.git?token=c4nary", "GPU0512"),
                      ("ext::sh -c 'touch c4nary'", "GPU0512"),
                      ("ssh://-oProxyCommand=touch${IFS}c4nary/x", "GPU0512"),
                      ("-oProxyCommand=c4nary@host:x", "GPU0512"),
                      ("git@-oProxyCommand=c4nary:x", "GPU0512"),
                      ("git@host:--upload-pack=c4nary", "GPU0512"),
                      ("ftp://host/x", "GPU0512"), ("file://host/x", "GPU0512")):
        done = scene.run("apply", "lab.yaml", f"--repo={url}")
        scene.refused(done, code, url)
        scene.check("c4nary" not in done.text, f"{url}: shown: {done.text}")
    scene.check(sorted(os.listdir(scene.work)) == before, "something was made")
    scene.check(not scene.cache_home.exists(), "a cache was made")


def redirected_by_config(scene):
    """Only protocols that run nothing, also when the user's configuration leads elsewhere."""
    scene.fill()
    scene.gitconfig.write_text('[url "ext::touch c4nary #"]\n\tinsteadOf = https://host/\n')
    done = scene.apply("https://host/x.git")
    scene.check(done.code == 1 and "not allowed" in done.stderr, done.text)
    scene.check(not (scene.work / "c4nary").exists(), "a program was run")


def cases(_):
    kinds = ("file", "git", "http", "https", "ssh", "scp form")
    rows = [(f"push by {kind}", push_and_again, kind) for kind in kinds]
    rows += [(f"empty repository by {kind}", empty_repository, kind)
             for kind in ("file", "git", "http", "ssh")]
    rows += [(f"missing repository by {kind}", missing_repository, kind)
             for kind in ("file", "git", "http", "ssh")]
    rows += [(f"many bytes by {kind}", many_bytes, kind) for kind in ("git", "http", "ssh")]
    rows += [("branches", branches), ("branch planned on its start", branch_planned_on_start),
             ("local branch", local_branch), ("unreachable", unreachable),
             ("no right to write", refuses_write), ("certificate", untrusted_certificate),
             ("addresses", addresses), ("redirected by configuration", redirected_by_config)]
    rows += [(f"silent server by {kind}", hangs, kind) for kind in ("git", "http", "https", "ssh")]
    rows += [(f"falls silent by {kind}", falls_silent, kind)
             for kind in ("git", "http", "https", "ssh", "no connection")]
    rows += [("works silently", works_silently)]
    rows += [(f"password: {kind}", password, kind)
             for kind in ("absent", "wrong", "user in the address")]
    rows += [(f"ssh: {kind}", host_key, kind)
             for kind in ("unknown", "changed", "wrong client key", "own ssh command", "batch mode")]
    rows += [(f"object format, {kind}", object_format, kind) for kind in ("empty", "filled")]
    rows += [(f"git program {kind}", no_git, kind) for kind in ("absent", "too old")]
    return rows
