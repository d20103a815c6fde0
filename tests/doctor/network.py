"""Servers on loopback for the checks of doctor: name servers, TLS, a registry with the token dance,
SNTP, an HTTP proxy. They listen where real ones do, so a case needs a network of its own."""

import base64
import datetime
import http.server
import json
import pathlib
import socket
import socketserver
import ssl
import struct
import subprocess
import threading
import time
import urllib.parse

TYPES = {1: "A", 2: "NS", 6: "SOA", 12: "PTR", 28: "AAAA"}
CODES = {name: code for code, name in TYPES.items()}
NO_NAME, REFUSED, FAILED = 3, 5, 2


def encoded(name):
    return b"".join(bytes([len(part)]) + part.encode() for part in name.split(".") if part) + b"\0"


def record_data(kind, value):
    if kind == "A":
        return socket.inet_pton(socket.AF_INET, value)
    if kind == "AAAA":
        return socket.inet_pton(socket.AF_INET6, value)
    if kind == "SOA":
        return encoded(value) + encoded("admin." + value) + struct.pack(">5I", 1, 60, 60, 60, 60)
    return encoded(value)


class Names(socketserver.ThreadingUDPServer):
    """A name server. `records`: (name, type) -> values, `*.NAME` for all below it; `broken`: the
    code that every answer has instead; `mute`: it says nothing."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, address, records, broken=0, mute=False):
        self.records, self.broken, self.mute, self.asked = records, broken, mute, []
        super().__init__((address, 53), None)

    def lookup(self, name, kind):
        """Values, or None when there is no such name."""
        if (name, kind) in self.records:
            return self.records[name, kind]
        if any(known == name or known.endswith("." + name) for known, _ in self.records):
            return []
        above = name.partition(".")[2]
        while above:
            if any(known == f"*.{above}" for known, _ in self.records):
                return self.records.get((f"*.{above}", kind), [])
            above = above.partition(".")[2]
        return None

    def finish_request(self, request, client_address):
        packet, sock = request
        if self.mute:
            return
        parts, at = [], 12
        while packet[at]:
            parts.append(packet[at + 1:at + 1 + packet[at]].decode().lower())
            at += packet[at] + 1
        name, question = ".".join(parts), packet[12:at + 5]
        kind = TYPES.get(struct.unpack(">H", packet[at + 1:at + 3])[0], "")
        self.asked.append((name, kind))
        values = None if self.broken else self.lookup(name, kind)
        code = self.broken or (NO_NAME if values is None else 0)
        answers = b""
        for value in values or []:
            data = record_data(kind, value)
            answers += b"\xc0\x0c" + struct.pack(">HHIH", CODES[kind], 1, 5, len(data)) + data
        head = packet[:2] + struct.pack(">HHHHH", 0x8580 | code, 1, len(values or []), 0, 0)
        sock.sendto(head + question + answers, client_address)


class Clock(socketserver.ThreadingUDPServer):
    """SNTP, ahead by `skew` seconds."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, address, skew=0.0, stratum=2):
        self.skew, self.stratum = skew, stratum
        super().__init__((address, 123), None)

    def finish_request(self, request, client_address):
        packet, sock = request
        now = time.time() + self.skew + 2208988800
        stamp = struct.pack(">II", int(now) & 0xffffffff, int((now % 1) * 2**32))
        sock.sendto(bytes([0x24, self.stratum, 6, 0xec]) + bytes(20) + packet[40:48] + stamp + stamp,
                    client_address)


class Authority:
    """Certificates of our own, made once for all cases."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.certificate = self.folder / "ca.pem"

    def make(self):
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                     "-nodes", "-days", "3650", "-subj", "/CN=test authority", "-keyout", "ca.key",
                     "-out", "ca.pem")
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                     "-nodes", "-days", "3650", "-subj", "/CN=authority of strangers", "-keyout",
                     "stranger.key", "-out", "stranger.pem")
        names = "DNS:*.example.com,DNS:quay.io,DNS:registry.redhat.io,DNS:*.local," \
                "IP:127.0.0.1,IP:10.30.0.5"
        self.issue("good", names)
        self.issue("wrong", "DNS:elsewhere.example.net")
        self.issue("stranger-signed", names, authority="stranger")
        self.issue("expired", names, days=-3)
        self.issue("soon", names, days=5)

    def openssl(self, *words):
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True,
                       stdin=subprocess.DEVNULL)

    def issue(self, name, names, authority="ca", days=365):
        (self.folder / f"{name}.ext").write_text(f"subjectAltName={names}\n")
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                     "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        start = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=30)
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=days, hours=1)
        (self.folder / "index.txt").write_text("")
        (self.folder / "ca.cnf").write_text(
            "[ca]\ndefault_ca=it\n[it]\ndatabase=index.txt\nnew_certs_dir=.\nrand_serial=yes\n"
            f"default_md=sha256\npolicy=any\ncertificate={authority}.pem\n"
            f"private_key={authority}.key\n[any]\ncommonName=supplied\n")
        self.openssl("ca", "-batch", "-notext", "-config", "ca.cnf", "-in", f"{name}.csr", "-out",
                     f"{name}.pem", "-extfile", f"{name}.ext", "-startdate",
                     start.strftime("%Y%m%d%H%M%SZ"), "-enddate", end.strftime("%Y%m%d%H%M%SZ"))

    def context(self, name):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / f"{name}.pem", self.folder / f"{name}.key")
        return context


class Tls(socketserver.ThreadingTCPServer):
    """Shakes hands and waits for the end."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, address, context, port=443):
        self.context = context
        super().__init__((address, port), None)

    def finish_request(self, request, client_address):
        try:
            with self.context.wrap_socket(request, server_side=True) as stream:
                stream.recv(1)
        except OSError:
            pass


class RegistryHandler(http.server.BaseHTTPRequestHandler):
    """`/v2/` refuses with a challenge; `/token` gives a token for a good account; manifests want it."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def date_time_string(self, timestamp=None):
        return super().date_time_string(time.time() + self.server.skew)

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def account(self):
        kind, _, value = self.headers.get("Authorization", "").partition(" ")
        return base64.b64decode(value).decode() if kind == "Basic" else ""

    def do_GET(self):
        server = self.server
        server.seen.append((self.command, self.path, self.headers.get("Authorization", "")))
        url = urllib.parse.urlsplit(self.path)
        if server.status:
            self.answer(server.status)
        elif url.path == "/token":
            query = urllib.parse.parse_qs(url.query)
            if self.account() in server.accounts:
                token = server.token + str(len(query.get("scope", [])))
                self.answer(200, json.dumps({"token": token}).encode(),
                            Content_Type="application/json")
            else:
                self.answer(401, b"{}")
        elif server.basic and self.account() in server.accounts:
            self.manifest(url.path)
        elif not server.basic and self.headers.get("Authorization", "").startswith(
                "Bearer " + server.token):
            self.manifest(url.path)
        else:
            host = self.headers["Host"]
            challenge = 'Basic realm="registry"' if server.basic else \
                f'Bearer realm="https://{host}/token",service="{host}",scope="a,b"'
            self.answer(401, b"{}", WWW_Authenticate=challenge)

    do_HEAD = do_GET

    def manifest(self, path):
        if path == "/v2/":
            self.answer(200)
        elif any(path.startswith(f"/v2/{place}/manifests/") for place in self.server.denied):
            self.answer(403)
        elif path in self.server.images:
            self.answer(200, b"{}")
        else:
            self.answer(404)


class Registry(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address, context, accounts=("user:pa55-W0rd-c4nary",), images=(), port=443):
        super().__init__((address, port), RegistryHandler)
        self.accounts, self.images, self.denied = accounts, images, ()
        self.token, self.basic, self.skew, self.status = "t0ken-c4nary-A1b2C3d4E5f6", False, 0, 0
        self.seen = []
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, *_):
        pass  # clients that do not trust the certificate


class ProxyHandler(socketserver.StreamRequestHandler):
    def handle(self):
        line = self.rfile.readline().decode()
        headers = []
        while (header := self.rfile.readline().decode().strip()):
            headers.append(header)
        self.server.asked.append(line.split()[1] if " " in line else line)
        status = self.server.status
        if any(line.split()[1].startswith(host) for host in self.server.blocked):
            status = 403
        self.wfile.write(f"HTTP/1.1 {status} said so\r\nContent-Length: 0\r\n".encode())
        if status == 407:
            self.wfile.write(b'Proxy-Authenticate: Basic realm="proxy"\r\n')
        self.wfile.write(b"\r\n")


class Proxy(socketserver.ThreadingTCPServer):
    """Answers CONNECT with a status, and leads nowhere."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, address, status=200, blocked=()):
        self.status, self.blocked, self.asked = status, blocked, []
        super().__init__((address, 3128), ProxyHandler)


def serve(stack, server):
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    stack.callback(server.server_close)
    stack.callback(server.shutdown)
    return server
