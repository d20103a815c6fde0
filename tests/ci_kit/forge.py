"""A stand-in for what GitHub and GitLab do with comments, and for a Git server that wants a password."""

import base64
import http.server
import json
import re
import threading
import urllib.parse

PAGE = 100


class Forge:
    """Comments of one pull request, by either API, below `url`; what was asked is in `asked`."""

    def __init__(self, kind, token, comments=(), account="bot"):
        self.kind, self.token, self.account = kind, token, account
        self.comments = [{"id": 1000 + i, "body": body, **self.by(who)} for i, (who, body) in enumerate(comments)]
        self.asked = []
        self.fails = None  # answer everything by this code
        self.git_passwords = []
        forge = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                forge.answer(self)

            do_POST = do_PATCH = do_PUT = do_GET

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def by(self, who):
        return {"user": {"login": who}} if self.kind == "github" else {"author": {"username": who}}

    def answer(self, request):
        size = int(request.headers.get("Content-Length") or 0)
        body = request.rfile.read(size)
        address = urllib.parse.urlsplit(request.path)
        self.asked.append((request.command, request.path))
        if address.path.startswith("/fleet.git"):
            return self.ask_password(request)
        sent = request.headers.get("Authorization" if self.kind == "github" else "PRIVATE-TOKEN")
        wanted = f"Bearer {self.token}" if self.kind == "github" else self.token
        if self.fails or sent != wanted:
            return self.reply(request, self.fails or 401, {"message": "no"})
        return self.comment(request, address, body)

    def comment(self, request, address, body):
        if self.kind == "github":
            many = address.path == "/repos/team/blueprints/issues/7/comments"
            one = re.fullmatch(r"/repos/team/blueprints/issues/comments/(\d+)", address.path)
            change = "PATCH"
        else:
            many = address.path == "/projects/team%2Fblueprints/merge_requests/7/notes"
            one = re.fullmatch(r"/projects/team%2Fblueprints/merge_requests/7/notes/(\d+)", address.path)
            change = "PUT"
        if many and request.command == "GET":
            query = urllib.parse.parse_qs(address.query)
            first = (int(query["page"][0]) - 1) * PAGE
            return self.reply(request, 200, self.comments[first:first + PAGE])
        text = json.loads(body)["body"] if body else ""
        limit = 65536 if self.kind == "github" else 1000000
        if len(text) > limit:
            return self.reply(request, 422, {"message": "too long"})
        if many and request.command == "POST":
            self.comments.append({"id": 1000 + len(self.comments), "body": text, **self.by(self.account)})
            return self.reply(request, 201, self.comments[-1])
        found = [comment for comment in self.comments if one and comment["id"] == int(one[1])]
        if found and request.command == change:
            found[0]["body"] = text
            return self.reply(request, 200, found[0])
        return self.reply(request, 404, {"message": "not found"})

    def ask_password(self, request):
        sent = request.headers.get("Authorization")
        if sent is None:
            request.send_response(401)
            request.send_header("WWW-Authenticate", 'Basic realm="fleet"')
            request.send_header("Content-Length", "0")
            return request.end_headers()
        self.git_passwords.append(base64.b64decode(sent.split(" ", 1)[1]).decode())
        return self.reply(request, 404, {})

    @staticmethod
    def reply(request, code, value):
        text = json.dumps(value).encode()
        request.send_response(code)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(text)))
        request.end_headers()
        request.wfile.write(text)
