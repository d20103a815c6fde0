"""What source-controller does for a GitRepository: the files of a commit in an archive on a web server, and the
address, revision and digest of it in the status."""

import hashlib
import http.server
import threading

from support.program import run

SOURCE = "source.toolkit.fluxcd.io/v1"


class Source:
    """Serves commits of one repository on the loopback interface, between entry and exit."""

    def __init__(self, api, repository):
        self.api, self.repository, self.archives = api, repository, {}

    def __enter__(self):
        archives = self.archives

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # the name is the library's
                content = archives.get(self.path.strip("/"))
                self.send_response(200 if content else 404)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *_):
                """Says nothing."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def git(self, *words):
        done = run(["git", "-C", self.repository, *words])
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode())
        return done.stdout

    def publish(self, name, namespace, branch="main"):
        """Makes the newest commit of a branch the artifact of a GitRepository; gives the revision."""
        found = self.api.get(SOURCE, "gitrepositories", name, namespace)
        content = self.git("archive", "--format=tar.gz", branch)
        digest = hashlib.sha256(content).hexdigest()
        self.archives[f"{digest}.tar.gz"] = content
        revision = f"main@sha1:{self.git('rev-parse', branch).decode().strip()}"
        now = "2026-01-01T00:00:00Z"
        self.api.status("gitrepositories", found, {
            "observedGeneration": found["metadata"]["generation"],
            "conditions": [{"type": "Ready", "status": "True", "reason": "Succeeded", "message": "stored artifact",
                            "lastTransitionTime": now, "observedGeneration": found["metadata"]["generation"]}],
            "artifact": {"path": f"gitrepository/{namespace}/{name}/{digest}.tar.gz", "revision": revision,
                         "url": f"http://127.0.0.1:{self.server.server_port}/{digest}.tar.gz",
                         "digest": f"sha256:{digest}", "lastUpdateTime": now, "size": len(content)}})
        return revision
