"""Names, registries, clocks, Git, keys and programs."""

import json
import os
import pathlib
import subprocess

from doctor import network
from remote import servers

AWS = "aws-minimal.yaml"
ZONE = {("example.com", "NS"): ["ns1.example.com"], ("ns1.example.com", "A"): ["127.0.0.2"],
        ("example.com", "SOA"): ["ns1.example.com"]}
QUAY = {("quay.io", "A"): ["127.0.0.1"], ("registry.redhat.io", "A"): ["127.0.0.1"],
        ("2.rhel.pool.ntp.org", "A"): ["127.0.0.1"]}
DIGEST = "sha256:" + "a1" * 32
RELEASE = f"/v2/openshift-release-dev/ocp-release/manifests/{DIGEST}"
INDEX = "/v2/redhat/redhat-operator-index/manifests/v4.20"
INSTALLER = f"openshift-install 4.20.7\nbuilt from commit 0123abc\nrelease image quay.io/openshift-release-dev/ocp-release@{DIGEST}\n"


def installer(scene, version="4.20.7"):
    scene.stand_in("openshift-install", [{"words": ["version"], "output": INSTALLER.replace("4.20.7", version)}])


# D1 on a cloud: the record must not be there yet.

def absent_name(scene):
    scene.sample(AWS)
    scene.names(ZONE)
    scene.names(ZONE, "127.0.0.2")
    results = scene.doctor("--only", "D1,D2", code=0)
    scene.expect(results, "D1", "pass", "no name server knows `api.gpu-lab.example.com`")
    scene.expect(results, "D2", "pass", "no name server knows names below `apps.gpu-lab.example.com`")


def stale_name(scene):
    scene.sample(AWS)
    scene.names({**ZONE, ("api.gpu-lab.example.com", "A"): ["192.0.2.1"]})
    scene.names(ZONE, "127.0.0.2")
    results = scene.doctor("--only", "D1", code=1)
    scene.expect(results, "D1", "fail", r"is 192\.0\.2\.1 already \(system\)", "left its records behind")


def stale_in_zone(scene):
    scene.sample(AWS)
    scene.names(ZONE)
    scene.names({**ZONE, ("api.gpu-lab.example.com", "A"): ["192.0.2.7"]}, "127.0.0.2")
    results = scene.doctor("--only", "D1", code=1)
    scene.expect(results, "D1", "fail", r"is 192\.0\.2\.7 already \(zone\)", "remove the records")


def wildcard_name(scene):
    scene.sample(AWS)
    scene.names({**ZONE, ("*.example.com", "A"): ["192.0.2.9"]})
    scene.names(ZONE, "127.0.0.2")
    results = scene.doctor("--only", "D1,D2", code=1)
    scene.expect(results, "D1", "fail", r"192\.0\.2\.9", "remove the records")
    scene.expect(results, "D2", "fail", r"are 192\.0\.2\.9 already \(system\)", "choose another name")


def split_resolver(scene):
    scene.sample(AWS)
    scene.names(ZONE)
    scene.names(ZONE, "127.0.0.2")
    scene.names({**ZONE, ("api.gpu-lab.example.com", "A"): ["10.9.9.9"]}, "127.0.0.3")
    results = scene.doctor("--only", "D1", "--resolver", "127.0.0.3", code=1)
    scene.expect(results, "D1", "fail", r"10\.9\.9\.9 already \(resolver\)", "remove the records")


def mute_name_server(scene):
    scene.sample(AWS)
    scene.names({}, mute=True)
    results = scene.doctor("--only", "D1", code=0)
    scene.expect(results, "D1", "unknown", "no answer in time", "name server")


def broken_name_server(scene):
    scene.sample(AWS)
    scene.names({}, broken=network.REFUSED)
    results = scene.doctor("--only", "D1", code=0)
    scene.expect(results, "D1", "unknown", "none wants to answer", "name server")


def broken_resolver(scene):
    scene.sample(AWS)
    scene.names(ZONE)
    scene.names(ZONE, "127.0.0.2")
    scene.names({}, "127.0.0.3", broken=network.REFUSED)
    results = scene.doctor("--only", "D1", "--resolver", "127.0.0.3", code=0)
    scene.expect(results, "D1", "unknown", "asked of the resolver: .*refused", "name server")


# D5

def registries(scene, certificate="good", **more):
    scene.sample(AWS)
    installer(scene)
    scene.names(QUAY)
    return scene.registry(images=more.pop("images", (RELEASE, INDEX)), certificate=certificate, **more)


def good_pull_secret(scene):
    registry = registries(scene)
    results = scene.doctor("--only", "D5", code=0)
    scene.expect(results, "D5", "pass", "accepted by quay.io, registry.redhat.io")
    heads = [path for method, path, _ in registry.seen if method == "HEAD"]
    scene.check(sorted(heads) == sorted([RELEASE, INDEX]), f"asked for {heads}")
    tokens = [path for _, path, _ in registry.seen if path.startswith("/token")]
    scene.check(any("scope=repository%3Aopenshift-release-dev%2Focp-release%3Apull" in path
                    for path in tokens), f"no scope: {tokens}")


def wrong_password(scene):
    registries(scene)
    scene.pull_secret(account="user:other-secret-Wr0ng")
    results = scene.doctor("--only", "D5", code=1)
    scene.expect(results, "D5", "fail", "`quay.io` refuses the account", "download the pull secret anew")
    scene.check("other-secret-Wr0ng" not in scene.last.text, "the password is shown")


def denied_repository(scene):
    registries(scene).denied = ("openshift-release-dev/ocp-release",)
    results = scene.doctor("--only", "D5", code=1)
    scene.expect(results, "D5", "fail", "refuses the account for openshift-release-dev/ocp-release@sha256",
                 "download the pull secret anew")


def missing_release(scene):
    registries(scene, images=(INDEX,))
    results = scene.doctor("--only", "D5", code=1)
    scene.expect(results, "D5", "fail", "`quay.io` has no openshift-release-dev/ocp-release@sha256",
                 "see that the version exists")


def basic_registry(scene):
    registries(scene).basic = True
    results = scene.doctor("--only", "D5", code=0)
    scene.expect(results, "D5", "pass", "accepted by quay.io")


def no_registry(scene):
    registries(scene).status = 503
    results = scene.doctor("--only", "D5", code=1)
    scene.expect(results, "D5", "fail", "does not answer as a registry does .status 503", "such as a proxy")


def untrusted_registry(scene):
    registries(scene, certificate="stranger-signed")
    results = scene.doctor("--only", "D5", code=0)
    scene.expect(results, "D5", "unknown", "`quay.io`: SSL certificate problem", "reaches the registry")


def own_authority(scene):
    registry = registries(scene, certificate="stranger-signed")
    bundle = (scene.authority.folder / "stranger.pem").read_text()
    lines = "".join(f"        {line}\n" for line in bundle.splitlines())
    scene.sample(AWS, replace=[("    pullSecret: {env: PULL_SECRET}",
                                "    trustBundle:\n      certificates: |\n" + lines
                                + "    pullSecret: {env: PULL_SECRET}")])
    results = scene.doctor("--only", "D5", code=0)
    scene.expect(results, "D5", "pass", "accepted by quay.io")
    scene.check(registry.seen, "nobody asked")


def roots_elsewhere(scene):
    """Other distributions have what they trust in other places than the libraries of a release look in."""
    registry = registries(scene)
    roots = pathlib.Path(scene.env.pop("SSL_CERT_FILE")).read_text()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", "/etc/ssl"], check=True)
    pathlib.Path("/etc/ssl/ca-bundle.pem").write_text(roots)
    scene.sample(AWS)
    results = scene.doctor("--only", "D5", code=0)
    scene.expect(results, "D5", "pass", "accepted by quay.io")
    scene.check(registry.seen, "nobody asked")
    subprocess.run(["umount", "/etc/ssl"], check=True)


def no_pull_secret(scene):
    registries(scene)
    results = scene.doctor("--only", "D5", code=1, env={"PULL_SECRET": ""})
    scene.expect(results, "D5", "fail", "secret is empty", "access.pullSecret")


def malformed_pull_secret(scene):
    registries(scene)
    results = scene.doctor("--only", "D5", code=1, env={"PULL_SECRET": "pa55-W0rd-c4nary"})
    scene.expect(results, "D5", "fail", "is no JSON", "--pull-secret")


def entry_without_auth(scene):
    registries(scene)
    secret = scene.work / "pull.json"
    secret.write_text(json.dumps({"auths": {"quay.io": {"auth": "%%%"}}}))
    results = scene.doctor("--only", "D5", "--pull-secret", secret, code=1)
    scene.expect(results, "D5", "fail", "entry `quay.io` has no `auth`", "download the pull secret anew")


def no_entries(scene):
    registries(scene)
    secret = scene.work / "pull.json"
    secret.write_text('{"auths": {}}')
    results = scene.doctor("--only", "D5", "--pull-secret", secret, code=1)
    scene.expect(results, "D5", "fail", "has no entries", "merge accounts")


# D7

def clocks(scene, skew=0.0, web=0, **more):
    scene.sample(AWS)
    scene.names(QUAY)
    scene.clock(skew, **more)
    scene.registry().skew = web


def good_clock(scene):
    clocks(scene)
    results = scene.doctor("--only", "D7", code=0)
    scene.expect(results, "D7", "pass", r"2\.rhel\.pool\.ntp\.org: -?0")


def skewed_clock(scene):
    clocks(scene, 7.5)
    results = scene.doctor("--only", "D7", code=0)
    scene.expect(results, "D7", "warn", r"ntp\.org` is 7\.\d+ s ahead", "chrony")


def wrong_clock(scene):
    clocks(scene, -3600.0, web=-3600)
    results = scene.doctor("--only", "D7", code=1)
    scene.expect(results, "D7", "fail", [r"ntp\.org` is -3(600|599)", "quay.io` is -3"], "runs in UTC")


def lost_clock(scene):
    clocks(scene, stratum=0)
    results = scene.doctor("--only", "D7", code=0)
    scene.expect(results, "D7", "pass", "quay.io: -?[01]")


def only_silence(scene):
    scene.sample(AWS)
    scene.names(QUAY)
    results = scene.doctor("--only", "D7", code=0)
    scene.expect(results, "D7", "unknown", "nobody told the time: .*nobody listens there", "chrony")


# D9

def git_by_ssh(scene):
    scene.sample(AWS)
    scene.fill()
    url = servers.Ssh(scene).url
    results = scene.doctor("--only", "D9", "--repo", url, code=0)
    scene.expect(results, "D9", "pass", "takes pushes")
    scene.check(scene.git("for-each-ref").count("\n") == 1, "the server has another branch")


def git_stranger(scene):
    scene.sample(AWS)
    scene.fill()
    ssh = servers.Ssh(scene)
    ssh.write_config("stranger")
    results = scene.doctor("--only", "D9", "--repo", ssh.url, code=1)
    scene.expect(results, "D9", "fail", "cannot be read: .*[Pp]ermission denied", "may read it")


def git_read_only(scene):
    scene.sample(AWS)
    scene.fill()
    url = servers.daemon(scene, "--enable=upload-pack", "--disable=receive-pack")
    results = scene.doctor("--only", "D9", "--repo", url, code=1)
    scene.expect(results, "D9", "fail", "can be read, and takes no pushes", "right to write")


def git_by_http(scene):
    scene.sample(AWS)
    scene.fill()
    scene.git("config", "http.receivepack", "true")
    _, url = servers.web(scene)
    servers.credentials(scene, url)
    results = scene.doctor("--only", "D9", "--repo", url, code=0)
    scene.expect(results, "D9", "pass", "takes pushes")


def git_without_password(scene):
    scene.sample(AWS)
    scene.fill()
    _, url = servers.web(scene)
    results = scene.doctor("--only", "D9", "--repo", url, code=1)
    scene.expect(results, "D9", "fail", "cannot be read", "may read it")


def git_server_down(scene):
    scene.sample(AWS)
    results = scene.doctor("--only", "D9", "--repo", f"git://127.0.0.1:{servers.free_port()}/fleet.git", code=0)
    scene.expect(results, "D9", "unknown", "[Cc]onnection refused", "reaches the server")


def no_git_program(scene):
    scene.sample(AWS)
    (scene.tools / "git").unlink()
    results = scene.doctor("--only", "D9", "--repo", "ssh://git@127.0.0.1/fleet.git", code=0)
    scene.expect(results, "D9", "unknown", "there is no git program", "git is installed")


def no_git(scene):
    scene.sample(AWS)
    results = scene.doctor("--only", "D9", code=0)
    scene.expect(results, "D9", "skip", "names no repository")


# D10

def right_tools(scene):
    scene.sample(AWS)
    installer(scene)
    scene.stand_in("oc", [{"words": ["version"], "output": "Client Version: 4.20.7\n"}])
    results = scene.doctor("--only", "D10", code=0)
    scene.expect(results, "D10", "pass", "installer of 4.20.7")


def other_installer(scene):
    scene.sample(AWS)
    installer(scene, "4.19.3")
    scene.stand_in("oc", [{"words": ["version"], "output": "Client Version: 4.20.7\n"}])
    results = scene.doctor("--only", "D10", code=1)
    scene.expect(results, "D10", "fail", "installer of 4.19.3, and the blueprint asks for 4.20",
                 "mirror.openshift.com")


def no_tools(scene):
    scene.sample(AWS)
    results = scene.doctor("--only", "D10", code=1)
    scene.expect(results, "D10", "fail", ["`openshift-install` is not in", "`oc` or `kubectl` is not in"],
                 "install it: https://mirror.openshift.com")


# D28

def agent(scene):
    """An ssh agent of the case's own; gives the environment that leads to it."""
    path = scene.folder / "agent"
    child = subprocess.Popen(["ssh-agent", "-D", "-a", str(path)], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    scene.stack.callback(child.wait)
    scene.stack.callback(child.kill)
    scene.wait_for(path.exists)
    return {"SSH_AUTH_SOCK": str(path)}


def with_key(scene):
    scene.sample(AWS, replace=[("    pullSecret:", "    sshKey: {file: key.pub}\n    pullSecret:")])
    servers.make_key(scene.work / "key")


def loaded_key(scene):
    with_key(scene)
    env = agent(scene)
    subprocess.run(["ssh-add", "-q", str(scene.work / "key")], check=True, env={**os.environ, **env},
                   capture_output=True)
    results = scene.doctor("--only", "D28", code=0, env=env)
    scene.expect(results, "D28", "pass", "has the private half of `ssh-ed25519` test")


def empty_agent(scene):
    with_key(scene)
    results = scene.doctor("--only", "D28", code=0, env=agent(scene))
    scene.expect(results, "D28", "warn", "the ssh agent has no keys", "ssh-add")


def no_agent(scene):
    with_key(scene)
    results = scene.doctor("--only", "D28", code=0)
    scene.expect(results, "D28", "warn", "no ssh agent answers", "ssh-add")


def other_key(scene):
    with_key(scene)
    env = agent(scene)
    servers.make_key(scene.work / "other")
    subprocess.run(["ssh-add", "-q", str(scene.work / "other")], check=True,
                   env={**os.environ, **env}, capture_output=True)
    results = scene.doctor("--only", "D28", code=0, env=env)
    scene.expect(results, "D28", "warn", "has other keys", "ssh-add")


def private_instead_of_public(scene):
    with_key(scene)
    (scene.work / "key.pub").write_text((scene.work / "key").read_text())
    results = scene.doctor("--only", "D28", code=1)
    scene.expect(results, "D28", "fail", "no public key of ssh", "id_ed25519.pub")
    scene.check("OPENSSH PRIVATE" not in scene.last.text, "the private key is shown")


# D6

def mirrors(scene, images, host="mirror.example.com", **more):
    text = f"""    mirrors:
      - {{source: quay.io/openshift-release-dev/ocp-release, mirrors: [{host}/ocp/release]}}
      - {{source: registry.redhat.io/redhat/redhat-operator-index, mirrors: [{host}/redhat/redhat-operator-index]}}
    pullSecret: {{env: PULL_SECRET}}"""
    scene.sample(AWS, replace=[("    pullSecret: {env: PULL_SECRET}", text)])
    scene.names({("mirror.example.com", "A"): ["127.0.0.1"]})
    scene.pull_secret(registries=more.get("accounts", (host,)))
    return scene.registry(images=images)


COPIES = (f"/v2/ocp/release/manifests/{DIGEST}", INDEX)


def good_mirror(scene):
    installer(scene)
    mirrors(scene, COPIES)
    results = scene.doctor("--only", "D6", code=0)
    scene.expect(results, "D6", "pass", "mirror.example.com/ocp/release, mirror.example.com/redhat")


def gap_in_mirror(scene):
    installer(scene)
    mirrors(scene, COPIES[:1])
    results = scene.doctor("--only", "D6", code=1)
    scene.expect(results, "D6", "fail", "has no redhat/redhat-operator-index:v4.20, the copy of `registry.redhat.io",
                 "mirror again, with `oc-mirror`")


def mirror_without_account(scene):
    installer(scene)
    mirrors(scene, COPIES, accounts=("quay.io",))
    results = scene.doctor("--only", "D6", code=1)
    scene.expect(results, "D6", "fail", "refuses the account", "add an account for the mirror")


def mirror_without_installer(scene):
    mirrors(scene, COPIES)
    results = scene.doctor("--only", "D6", code=0)
    scene.expect(results, "D6", "unknown", "the installer says, and it is not here", "install the installer")


def no_mirrors(scene):
    scene.sample(AWS)
    scene.expect(scene.doctor("--only", "D6", code=0), "D6", "skip", "names no mirrors")


# D8

def behind_proxy(scene, extra="", **more):
    scene.sample(AWS, replace=[("    pullSecret:", "    proxy: {httpsProxy: \"http://127.0.0.1:3128\"" + extra
                                + "}\n    pullSecret:")])
    return scene.proxy(**more)


def good_proxy(scene):
    proxy = behind_proxy(scene)
    results = scene.doctor("--only", "D8", code=0)
    scene.expect(results, "D8", "pass", "a way to quay.io, registry.redhat.io, nvcr.io")
    scene.check(sorted(proxy.asked) == ["nvcr.io:443", "quay.io:443", "registry.redhat.io:443"],
                f"asked for {proxy.asked}")


def direct_hosts(scene):
    proxy = behind_proxy(scene, ", noProxy: [.redhat.io, quay.io]")
    results = scene.doctor("--only", "D8", code=0)
    scene.expect(results, "D8", "pass", "a way to nvcr.io")
    scene.check(proxy.asked == ["nvcr.io:443"], f"asked for {proxy.asked}")


def blocking_proxy(scene):
    behind_proxy(scene, blocked=("nvcr.io",))
    results = scene.doctor("--only", "D8", code=1)
    scene.expect(results, "D8", "fail", "no way to nvcr.io:443 .status 403", "hosts that images come from")


def proxy_with_account(scene):
    behind_proxy(scene, status=407)
    results = scene.doctor("--only", "D8", code=1)
    scene.expect(results, "D8", "fail", "wants an account before it leads to quay.io", "addresses of the nodes")


def no_proxy_there(scene):
    scene.sample(AWS, replace=[("    pullSecret:", "    proxy: {httpsProxy: \"http://127.0.0.1:3128\"}\n    pullSecret:")])
    results = scene.doctor("--only", "D8", code=1)
    scene.expect(results, "D8", "fail", "does not answer: .*refused|does not answer: .*connect", "address of the proxy is right")


def odd_exceptions(scene):
    behind_proxy(scene, ", noProxy: [\"*.example.com\"]")
    results = scene.doctor("--only", "D8")
    scene.expect(results, "D8", "warn", r"`\*\.example\.com` in noProxy", "leading dot")


# D11

def new_directory(scene):
    scene.sample(AWS)
    results = scene.doctor("--only", "D11", "--installer", scene.work / "install/lab", code=0)
    scene.expect(results, "D11", "pass", "no state of earlier runs")


def used_directory(scene):
    scene.sample(AWS)
    place = scene.work / "install"
    place.mkdir(mode=0o700)
    (place / "metadata.json").write_text("{}")
    results = scene.doctor("--only", "D11", "--installer", place, code=1)
    scene.expect(results, "D11", "fail", "has the state of an earlier run: metadata.json", "destroy the cluster")


def open_directory(scene):
    scene.sample(AWS)
    place = scene.work / "it's here"
    place.mkdir(mode=0o755)
    results = scene.doctor("--only", "D11", "--installer", place, code=0)
    scene.expect(results, "D11", "warn", "others on this machine can look into", r"chmod 700 '.*it'\\''s here'")


def no_programs_from_there(scene):
    scene.sample(AWS)
    place = scene.work / "install"
    place.mkdir(mode=0o700)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec,size=1m", "none", place], check=True)
    results = scene.doctor("--only", "D11", "--installer", place, code=1)
    scene.expect(results, "D11", "fail", ["may not be started", "has 0 GiB free"], "take another disk")
    subprocess.run(["umount", place], check=True)


def file_as_directory(scene):
    scene.sample(AWS)
    (scene.work / "install").write_text("")
    results = scene.doctor("--only", "D11", "--installer", scene.work / "install", code=1)
    scene.expect(results, "D11", "fail", "is no directory", "take a new directory")


# D27

def good_catalogue(scene):
    certified = "/v2/redhat/certified-operator-index/manifests/v4.20"
    registries(scene, images=(INDEX, certified))
    results = scene.doctor("--only", "D27", code=0)
    scene.expect(results, "D27", "pass", "certified-operator-index:v4.20")


def no_catalogue(scene):
    registries(scene, images=(INDEX,))
    results = scene.doctor("--only", "D27", code=1)
    scene.expect(results, "D27", "fail", "there is no `registry.redhat.io/redhat/certified-operator-index:v4.20`",
                 "mirror the catalogue")


# Libraries

def missing_library(scene):
    """GPU0902, and only where the network is asked."""
    scene.sample(AWS)
    empty = scene.folder / "libraries"
    empty.mkdir()
    (empty / "libcares.so.2").write_text("")
    env = {"LD_LIBRARY_PATH": str(empty)}
    done = scene.run("doctor", "lab.yaml", "--only", "D10", env=env)
    scene.check(done.code == 1 and "error[GPU0902]: cannot load libcares.so.2" in done.stderr, done.text)
    done = scene.run("validate", "lab.yaml", env=env)
    scene.check(done.code == 0, f"validate needs it, too: {done.text}")


def libraries_of_others(scene):
    """Other commands map no library of the network."""
    scene.sample(AWS)
    for words in (["version"], ["validate", "lab.yaml"], ["render", "lab.yaml", "--stdout"],
                  ["doctor", "lab.yaml", "--only", "D10"]):
        done = scene.run(*words, env={"LD_DEBUG": "files"})
        found = [name for name in ("libcares", "libcurl", "libssl.") if name in done.stderr]
        wanted = 3 if words[0] == "doctor" else 0
        scene.check(len(found) == wanted, f"{words[0]} maps {found}")


def unreachable(scene):
    """Everything drops what it gets: the run ends within its bound all the same."""
    subprocess.run(["ip", "route", "add", "default", "dev", "lo"], check=True)
    scene.resolv.write_text("nameserver 10.99.0.53\nnameserver 10.98.0.53\n")
    scene.sample(AWS)
    installer(scene)
    for seconds in (3, 30):
        results = scene.doctor("--timeout", seconds)
        scene.check(scene.last.seconds < seconds + 3, f"took {scene.last.seconds} s of {seconds}")
        scene.expect(results, "D1", "unknown", "no answer in time", "name server")
        scene.expect(results, "D5", "unknown", "quay.io", "reaches the registry")
        scene.expect(results, "D7", "unknown", "nobody told the time", "chrony")


CASES = [(f"network: {name.replace('_', ' ')}", function) for name, function in [
    (name, globals()[name]) for name in (
        "absent_name", "stale_name", "stale_in_zone", "wildcard_name", "split_resolver",
        "mute_name_server", "broken_name_server", "broken_resolver", "good_pull_secret", "wrong_password",
        "denied_repository", "missing_release", "basic_registry", "no_registry",
        "untrusted_registry", "own_authority", "roots_elsewhere", "no_pull_secret", "malformed_pull_secret",
        "entry_without_auth", "no_entries", "good_clock", "skewed_clock", "wrong_clock",
        "lost_clock", "only_silence", "git_by_ssh", "git_stranger", "git_read_only", "git_by_http",
        "git_without_password", "git_server_down", "no_git_program", "no_git", "right_tools", "other_installer", "no_tools",
        "loaded_key", "empty_agent", "no_agent", "other_key", "private_instead_of_public",
        "good_mirror", "gap_in_mirror", "mirror_without_account", "mirror_without_installer", "no_mirrors",
        "good_proxy", "direct_hosts", "blocking_proxy", "proxy_with_account", "no_proxy_there",
        "odd_exceptions", "new_directory", "used_directory", "open_directory", "no_programs_from_there",
        "file_as_directory", "good_catalogue", "no_catalogue", "missing_library", "libraries_of_others", "unreachable")]]
