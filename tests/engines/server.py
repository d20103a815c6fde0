"""A kube-apiserver of a test's own, with etcd and RBAC, and a client for what the test plays.

Both programs listen on the loopback interface, and keep all they write in one private folder. The server
is built from its Go module, etcd comes out of the distribution's package.
"""

import http.client
import json
import os
import pathlib
import secrets
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from interop.tools import debian_program, go_program, kubectl  # noqa: E402
from support.program import environment, run  # noqa: E402

PACKAGE = "k8s.io/kubernetes/cmd/kube-apiserver"
VERSION = "v1.35.4"
BUILD_TIMEOUT_S = 1800
START_TIMEOUT_S = 120
STOP_TIMEOUT_S = 10
REQUEST_TIMEOUT_S = 30
IDLE_S = 10


def programs():
    """kube-apiserver, etcd and kubectl; what is not there is built or fetched."""
    flags = ("-trimpath", "-ldflags", f"-s -w -X k8s.io/component-base/version.gitVersion={VERSION}")
    return {"kube-apiserver": go_program(HERE / "apiserver", PACKAGE, flags, BUILD_TIMEOUT_S),
            "etcd": shutil.which("etcd") or debian_program("etcd-server", "usr/bin/etcd"), "kubectl": kubectl()}


def free_ports(count):
    """Ports on which nobody listens at the moment."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


class ApiServer:
    """A server and its etcd, started on entry and ended on exit; `folder` is private and empty."""

    def __init__(self, found, folder):
        self.found, self.folder, self.running, self.logs = found, folder, [], []
        self.token = secrets.token_hex(16)
        self.own = threading.local()

    def start(self, name, *options, **more):
        """Starts a program, with more variables in its environment; it ends with the server."""
        log = (self.folder / f"{name}.log").open("wb")
        self.logs.append(log)
        process = subprocess.Popen([str(self.found[name]), *options], stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=subprocess.STDOUT, cwd=self.folder, env=environment(self.folder, **more))
        self.running.append((name, process))

    def __enter__(self):
        try:
            return self.started()
        except BaseException:
            self.__exit__()
            raise

    def started(self):
        self.folder.chmod(0o700)
        client, peer, self.port = free_ports(3)
        key = self.folder / "service-accounts.key"
        done = run(["openssl", "genrsa", "-out", key, "2048"])
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode())
        tokens = self.folder / "tokens.csv"
        tokens.touch(mode=0o600)
        tokens.write_text(f"{self.token},admin,admin,system:masters\n")
        self.start("etcd", "--data-dir", "etcd", "--listen-client-urls", f"http://127.0.0.1:{client}",
                   "--advertise-client-urls", f"http://127.0.0.1:{client}",
                   "--listen-peer-urls", f"http://127.0.0.1:{peer}",
                   "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
                   "--initial-cluster", f"default=http://127.0.0.1:{peer}")
        # Without controllers nobody makes the service accounts that its admission plug-in asks for.
        self.start("kube-apiserver", f"--etcd-servers=http://127.0.0.1:{client}", "--bind-address=127.0.0.1",
                   "--advertise-address=127.0.0.1", f"--secure-port={self.port}", "--cert-dir=certs",
                   "--service-cluster-ip-range=10.96.0.0/24", "--endpoint-reconciler-type=none",
                   "--service-account-issuer=https://kubernetes.default.svc",
                   f"--service-account-key-file={key}", f"--service-account-signing-key-file={key}",
                   "--authorization-mode=RBAC", "--allow-privileged=true", f"--token-auth-file={tokens}",
                   "--disable-admission-plugins=ServiceAccount")
        end = time.monotonic() + START_TIMEOUT_S
        while not self.ready():
            for name, process in self.running:
                if process.poll() is not None:
                    raise RuntimeError(f"{name} ended: {self.log_of(name)}")
            if time.monotonic() > end:
                raise RuntimeError(f"no server after {START_TIMEOUT_S} s: {self.log_of('kube-apiserver')}")
            time.sleep(0.1)
        self.write_access()
        return self

    def __exit__(self, *_):
        for _, process in reversed(self.running):
            process.terminate()
            try:
                process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for log in self.logs:
            log.close()

    def log_of(self, name):
        return "\n".join((self.folder / f"{name}.log").read_text(errors="replace").splitlines()[-15:])

    def ready(self):
        try:
            return self.request("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def request(self, method, path, body=None, kind="application/json"):
        """(status, document or text). The server's certificate is its own authority. Each thread keeps its connection."""
        connection = self.connection()
        try:
            connection.request(method, path, body and body.encode(), {"Authorization": f"Bearer {self.token}",
                                                    "Content-Type": kind, "Accept": "application/json"})
            answer = connection.getresponse()
            text = answer.read().decode()
        except BaseException:
            connection.close()
            self.own.connection = None
            raise
        self.own.used = time.monotonic()
        return answer.status, json.loads(text) if text[:1] == "{" else text

    def connection(self):
        """That of this thread; one that was idle may have been closed by the server."""
        connection = getattr(self.own, "connection", None)
        if connection and time.monotonic() < self.own.used + IDLE_S:
            return connection
        if connection:
            connection.close()
        context = ssl.create_default_context(cafile=self.folder / "certs/apiserver.crt")
        self.own.connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context,
                                                          timeout=REQUEST_TIMEOUT_S)
        return self.own.connection

    def write_access(self):
        """A kubeconfig, and a folder with kubectl, also by the name oc."""
        self.kubeconfig = self.folder / "kubeconfig"
        self.kubeconfig.touch(mode=0o600)
        self.kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {
                "server": f"https://127.0.0.1:{self.port}",
                "certificate-authority": str(self.folder / "certs/apiserver.crt")}}],
            "users": [{"name": "test", "user": {"token": self.token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}]}))
        tools = self.folder / "bin"
        tools.mkdir()
        for name in ("kubectl", "oc"):
            (tools / name).symlink_to(self.found["kubectl"])

    def environment(self, **more):
        env = environment(self.folder, KUBECONFIG=self.kubeconfig, **more)
        env["PATH"] = f"{self.folder / 'bin'}{os.pathsep}{env['PATH']}"
        return env


class Api:
    """Objects of a server by a field manager's name. An answer that is not expected is an error."""

    def __init__(self, server, manager):
        self.server, self.manager = server, manager

    @staticmethod
    def path(version, plural, name, namespace=None):
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        inside = f"/namespaces/{namespace}" if namespace else ""
        return f"{root}{inside}/{plural}/{name}"

    def get(self, version, plural, name, namespace=None):
        """The object, or None: neither it nor its kind is there."""
        status, found = self.server.request("GET", self.path(version, plural, name, namespace))
        if status == 404:
            return None
        if status != 200:
            raise RuntimeError(f"{plural}/{name}: {status} {found}")
        return found

    def apply(self, plural, document, part=""):
        """Applies by the server side with force, as controllers do; `part` is `/status` or nothing."""
        metadata = document["metadata"]
        path = self.path(document["apiVersion"], plural, metadata["name"], metadata.get("namespace"))
        query = urllib.parse.urlencode({"fieldManager": self.manager, "force": "true"})
        status, answer = self.server.request("PATCH", f"{path}{part}?{query}", json.dumps(document),
                                             "application/apply-patch+yaml")
        if status not in (200, 201):
            raise RuntimeError(f"{plural}/{metadata['name']}{part}: {status} {answer}")
        return answer

    def status(self, plural, about, status):
        """Writes the status of an object, which must be there."""
        metadata = {key: about["metadata"][key] for key in ("name", "namespace") if key in about["metadata"]}
        return self.apply(plural, {"apiVersion": about["apiVersion"], "kind": about["kind"],
                                   "metadata": metadata, "status": status}, "/status")

    def apply_text(self, path, text):
        """Applies a document of YAML text at the path of its object."""
        query = urllib.parse.urlencode({"fieldManager": self.manager, "force": "true"})
        status, answer = self.server.request("PATCH", f"{path}?{query}", text, "application/apply-patch+yaml")
        if status not in (200, 201):
            raise RuntimeError(f"{path}: {status} {answer}")
        return answer
