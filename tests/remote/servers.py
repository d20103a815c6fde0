"""Git servers on loopback: git daemon, http-backend with basic auth, sshd with git-shell, and ones
that misbehave. Each belongs to one case, takes a free port, and ends with it."""

import base64
import contextlib
import getpass
import http.server
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import traceback

HOST = "127.0.0.1"
USER, PASSWORD = "writer", "c4nary-Passw0rd-71"


def free_port():
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1):
        return True
    return False


def start(scene, command, port, env=None):
    """Starts a server program; it is ended with all it started when the case is over."""
    log = open(scene.folder / f"{pathlib.Path(command[0]).name}.log", "wb")
    child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log,
                             stderr=log, env=env or scene.env, start_new_session=True)

    def stop():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, 9)
        child.wait()
        log.close()

    scene.stack.callback(stop)
    if not scene.wait_for(lambda: answers(port) or child.poll() is not None) or \
            child.poll() is not None:
        raise RuntimeError(f"{command[0]} does not start: {pathlib.Path(log.name).read_text()}")
    return child


def daemon(scene, *options):
    """git:// without any authentication. Gives the address of the fleet."""
    port = free_port()
    # The program itself, not `git daemon`: it is the leader of what has to be ended.
    program = pathlib.Path(scene.git("--exec-path", at=None).strip()) / "git-daemon"
    start(scene, [program, f"--listen={HOST}", f"--port={port}", "--reuseaddr", "--export-all",
                  f"--base-path={scene.server}", *(options or ["--enable=receive-pack"]),
                  scene.server], port)
    return f"git://{HOST}:{port}/fleet.git"


class Backend(http.server.BaseHTTPRequestHandler):
    """git http-backend behind basic auth. `server.before(handler)` may answer instead, and
    `server.after(handler)` may swallow the answer."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def log_error(self, words, *values):
        self.server.scene.check(False, f"the server of this test: {words % values}")

    def answer(self, status, *headers):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def body(self):
        if self.headers.get("Transfer-Encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.chunked = True
        parts = []
        while size := int(self.rfile.readline().strip() or b"0", 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def is_push(self):
        return "git-receive-pack" in self.path

    def handle_git(self):
        body = self.body()
        self.server.seen.append((self.command, self.path, self.headers.get("Authorization", "")))
        if self.server.before(self):
            return
        wanted = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if self.server.auth and self.headers.get("Authorization", "") != f"Basic {wanted}":
            self.answer(401, ("WWW-Authenticate", 'Basic realm="git"'))
            return
        path, _, query = self.path.partition("?")
        env = {**self.server.scene.env, "GIT_HTTP_EXPORT_ALL": "1", "REMOTE_USER": USER,
               "GIT_PROJECT_ROOT": str(self.server.folder(self)), "PATH_INFO": path,
               "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_ADDR": HOST,
               "CONTENT_TYPE": self.headers.get("Content-Type", ""),
               "CONTENT_LENGTH": str(len(body)),
               "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
               "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=env,
                              check=False, timeout=120)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        if self.server.after(self):
            self.close_connection = True
            return
        status, headers = 200, []
        for line in head.decode().split("\r\n"):
            name, _, value = line.partition(": ")
            if name == "Status":
                status = int(value.split()[0])
            elif name:
                headers.append((name, value))
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = handle_git


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    request_queue_size = 64  # a client that finds the queue full is reset

    def handle_error(self, *_):
        """A request without an answer: a client that went away, or a fault of this server."""
        error = traceback.format_exc()
        if isinstance(sys.exc_info()[1], ConnectionError):
            print(error, file=sys.stderr)
        else:
            self.scene.check(False, f"the server of this test: {error}")


def web(scene, auth=True, before=None, after=None, folder=None, tls=None):
    """http-backend. The caller tells git the password, see credentials(). Gives server, address."""
    server = Server((HOST, 0), Backend)
    server.scene, server.auth, server.seen = scene, auth, []
    server.chunked = False
    server.before = before or (lambda handler: False)
    server.after = after or (lambda handler: False)
    server.folder = folder or (lambda handler: scene.server)
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05},
                     daemon=True).start()
    scene.stack.callback(server.server_close)
    scene.stack.callback(server.shutdown)
    return server, f"http{'s' if tls else ''}://{HOST}:{server.server_address[1]}/fleet.git"


def credentials(scene, url, password=PASSWORD):
    """A credential helper of the user's own, in the user's own configuration."""
    store = scene.folder / "credentials"
    scheme, _, rest = url.partition("://")
    store.write_text(f"{scheme}://{USER}:{password}@{rest.split('/')[0]}\n")
    store.chmod(0o600)
    scene.gitconfig.write_text(f"[credential]\n\thelper = store --file={store}\n")


def certificate(scene):
    """A certificate for the loopback address that nobody trusts; None without openssl."""
    if not shutil.which("openssl"):
        return None
    key, cert = scene.folder / "key.pem", scene.folder / "cert.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-keyout", str(key), "-out", str(cert), "-subj", "/CN=loopback",
                    "-addext", f"subjectAltName=IP:{HOST}"], check=True, capture_output=True)
    return cert, key


def silent(scene):
    """Accepts connections and says nothing. Gives the port."""
    listener = socket.create_server((HOST, 0))
    kept = []

    def accept():
        with contextlib.suppress(OSError):
            while True:
                kept.append(listener.accept()[0])

    threading.Thread(target=accept, daemon=True).start()
    scene.stack.callback(listener.close)
    return listener.getsockname()[1]


def unanswered(scene):
    """A port at which nobody answers: the queue of the listener is full. Gives the port."""
    listener = socket.socket()
    listener.bind((HOST, 0))
    listener.listen(0)
    for _ in range(4):
        waiting = socket.socket()
        waiting.setblocking(False)
        waiting.connect_ex(listener.getsockname())
        scene.stack.callback(waiting.close)
    scene.stack.callback(listener.close)
    return listener.getsockname()[1]


def sshd_program():
    for place in (shutil.which("sshd"), "/usr/sbin/sshd", "/usr/local/sbin/sshd"):
        if place and os.access(place, os.X_OK):
            return place
    return None


def make_key(path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(path)],
                   check=True, stdin=subprocess.DEVNULL, capture_output=True)
    return pathlib.Path(f"{path}.pub").read_text()


class Ssh:
    """sshd with git-shell as the only command, and an ssh for the client that knows of nothing but
    this case: it takes our configuration and passes on all that it is called with."""

    def __init__(self, scene):
        self.scene, self.place = scene, scene.folder / "ssh"
        self.place.mkdir()
        self.user = getpass.getuser()
        self.port = free_port()
        self.host_key = make_key(self.place / "host")
        public = make_key(self.place / "client")
        make_key(self.place / "stranger")
        self.known = self.place / "known_hosts"
        self.know(self.host_key)
        shell = shutil.which("git-shell") or pathlib.Path(
            scene.git("--exec-path", at=None).strip()) / "git-shell"
        command = f'{shell} -c \\"$SSH_ORIGINAL_COMMAND\\"'
        (self.place / "authorized").write_text(f'command="{command}",restrict {public}')
        config = self.place / "sshd_config"
        config.write_text(
            f"Port {self.port}\nListenAddress {HOST}\nHostKey {self.place}/host\nPidFile none\n"
            f"AuthorizedKeysFile {self.place}/authorized\nStrictModes no\nUsePAM no\n"
            "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n"
            "PermitUserEnvironment no\nMaxStartups 100\nLogLevel ERROR\n")
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        start(scene, [sshd_program(), "-D", "-e", "-f", config], self.port)
        self.config = self.place / "config"
        self.write_config()
        self.calls = self.place / "calls"
        scene.tool("ssh", f'echo "$@" >>{self.calls}\n'
                          f'exec {shutil.which("ssh", path="/usr/bin:/bin:/usr/local/bin")} '
                          f'-F {self.config} "$@"\n')
        self.url = f"ssh://{self.user}@{HOST}:{self.port}{scene.fleet}"

    def write_config(self, key="client"):
        self.config.write_text(
            f"IdentityFile {self.place}/{key}\nIdentitiesOnly yes\nIdentityAgent none\n"
            f"UserKnownHostsFile {self.known}\nGlobalKnownHostsFile /dev/null\n"
            f"Host fleet-server\n  HostName {HOST}\n  Port {self.port}\n"
            f"  HostKeyAlias [{HOST}]:{self.port}\n")

    def know(self, key):
        self.known.write_text(f"[{HOST}]:{self.port} {key}" if key else "")
