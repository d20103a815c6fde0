"""A Git server as a company has one: HTTPS with a certificate of its own authority, and a name and password for who reads.

It hands out a bare repository, to which commits are pushed one after the other: what is committed in the working copy is
not there yet.
"""

import base64
import http.server
import ssl
import subprocess
import threading
import urllib.parse

from support.program import environment, run

TIMEOUT_S = 60


class GitServer:
    """Serves one repository as `/fleet.git` on the loopback interface, between entry and exit; `folder` is private and
    empty. `certificate` is what clients trust."""

    def __init__(self, folder, user, password):
        self.folder, self.port = folder, 0
        self.bare, self.certificate = folder / "served.git", folder / "git.crt"
        self.wanted = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        self.refused = self.served = 0

    def __enter__(self):
        key = self.folder / "git.key"
        for command in (["git", "init", "-q", "--bare", "-b", "main", self.bare],
                        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=git",
                         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", self.certificate]):
            done = run(command, env=environment(self.folder))
            if done.returncode != 0:
                raise RuntimeError(done.stderr.decode())
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        # The thread of a connection does the handshake: a client that says nothing stops nobody else.
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def publish(self, repository, branch="main"):
        """Makes the newest commit of a branch what `main` is for those who read; gives its hash."""
        git = ["git", "-C", repository]
        for command in ([*git, "push", "-q", "--force", self.bare, f"{branch}:main"], [*git, "rev-parse", branch]):
            done = run(command, env=environment(self.folder))
            if done.returncode != 0:
                raise RuntimeError(done.stderr.decode())
        return done.stdout.decode().strip()

    def handler(self):
        served = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):  # the name is the library's
                if self.headers.get("Authorization") != served.wanted:
                    served.refused += 1
                    self.answer(401, {"WWW-Authenticate": 'Basic realm="git"'}, b"")
                    return
                served.served += 1
                address = urllib.parse.urlsplit(self.path)
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, timeout=TIMEOUT_S, check=True,
                                      env=environment(served.folder, GIT_PROJECT_ROOT=served.bare, GIT_HTTP_EXPORT_ALL="1",
                                                      PATH_INFO=address.path.removeprefix("/fleet.git"), QUERY_STRING=address.query,
                                                      REQUEST_METHOD=self.command, REMOTE_USER="reader",
                                                      CONTENT_TYPE=self.headers.get("Content-Type", ""),
                                                      HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding", ""),
                                                      GIT_PROTOCOL=self.headers.get("Git-Protocol", "")))
                head, _, content = done.stdout.partition(b"\r\n\r\n")
                fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
                self.answer(int(fields.pop("Status", "200").split()[0]), fields, content)

            do_POST = do_GET

            def answer(self, status, fields, content):
                self.send_response(status)
                for name, value in {**fields, "Content-Length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                """Says nothing."""

        return Handler
