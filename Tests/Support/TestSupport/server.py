#!/usr/bin/env python3
"""A server of files on loopback that misbehaves as the path of a request says.

usage: server.py [LOG]

Prints its port. /KIND/SEED/LENGTH has LENGTH pseudo-random bytes of SEED. KIND:
  good        as a server should
  cut         closes the connection after each 300,000 bytes of a body; resumes by ranges
  untagged    as cut, without a validator: the file cannot be resumed
  never       cuts the first 300,000 bytes in each response, without a validator: no attempt brings the file
  renewed     as never, with another validator in each response
  weak        as cut, with a weak validator
  stall       stands still in the first response after 100,000 bytes
  trickle     sends 100 bytes every 10 ms
  held        stands still after half of the body until a line comes on standard input
  mixed       cuts a first version of the file, and answers each range with the rest of another one and its validator
  mixed-bare  the same, without a validator in the answers to ranges
  large-head  a head of 100,000 bytes, always
  unknown     states no length, and closes the connection at the end
  short       states more bytes than it has
  changed     the first two responses are cut and of another file, with another validator
  lies        answers a range with another start, once
  wrong-total answers a range with another total, once
  piece       answers a range with the half of it, once
  loop        redirects for ever
  other       redirects to /good/…
  half-head   stands still in the head of the first redirection, before its address
  secret      401 without the field Authorization: Bearer open sesame
  bare        400 with a field Authorization
  near        redirects to /secret/…
  away        redirects to the server at the port that follows, and there to the path after the port
  file        redirects to a file
  user        redirects to an address with a user and a password
  encoded     has Content-Encoding: gzip
  missing     404
  busy        503 with Retry-After: 0, twice
PUT /put/NAME keeps the body's SHA-256; GET /put/NAME has it.
"""
import hashlib, random, socketserver, sys, threading, time
from http.server import BaseHTTPRequestHandler

bodies, counts, puts, lock, released = {}, {}, {}, threading.Lock(), threading.Event()
log = open(sys.argv[1], "a", buffering=1) if len(sys.argv) > 1 else None


def content(seed, length):
    with lock:
        if (seed, length) not in bodies:
            bodies[seed, length] = random.Random(seed).randbytes(length)
        return bodies[seed, length]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def count(self):
        with lock:
            counts[self.path] = counts.get(self.path, 0) + 1
            return counts[self.path]

    def head(self, status, fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, str(value))
        self.end_headers()

    def close(self):
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(2)

    def do_PUT(self):
        data = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.startswith("/busy/") and self.count() < 3:
            self.head(503, {"Content-Length": 0})
            return
        with lock:
            puts[self.path.rsplit("/", 1)[1]] = hashlib.sha256(data).hexdigest()
        self.head(201, {"Content-Length": 0})

    def do_GET(self):
        kind, *rest = self.path.strip("/").split("/")
        number = self.count()
        if log:
            log.write(f"{self.path} {self.headers.get('Range', '-')} {self.headers.get('If-Range', '-')}\n")
        if kind == "put":
            text = puts.get(rest[0], "none").encode()
            self.head(200, {"Content-Length": len(text)})
            self.wfile.write(text)
            return
        if kind == "missing":
            return self.head(404, {"Content-Length": 0})
        if kind == "loop":
            return self.head(302, {"Content-Length": 0, "Location": self.path + "x"})
        if kind == "file":
            return self.head(302, {"Content-Length": 0, "Location": "file:///etc/hostname"})
        if kind == "user":
            return self.head(302, {"Content-Length": 0, "Location": "http://ann:open%20sesame@127.0.0.1/good/1/1"})
        if kind == "half-head" and number == 1:
            self.wfile.write(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n")
            time.sleep(60)
            return self.close()
        if kind in ("other", "half-head"):
            return self.head(302, {"Content-Length": 0, "Location": "/good/" + "/".join(rest)})
        if kind == "near":
            return self.head(302, {"Content-Length": 0, "Location": "/secret/" + "/".join(rest)})
        if kind == "away":
            address = f"http://127.0.0.1:{rest[0]}/" + "/".join(rest[1:])
            return self.head(307, {"Content-Length": 0, "Location": address})
        if kind == "secret" and self.headers.get("Authorization") != "Bearer open sesame":
            return self.head(401, {"Content-Length": 0})
        if kind == "bare" and "Authorization" in self.headers:
            return self.head(400, {"Content-Length": 0})
        if kind == "busy" and number < 3:
            return self.head(503, {"Content-Length": 0, "Retry-After": 0})
        seed, length = int(rest[0]), int(rest[1])
        if (kind == "changed" and number <= 2) or (kind in ("mixed", "mixed-bare") and number == 1):
            seed += 1
        body = content(seed, length)
        tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        fields = {}
        if kind == "weak":
            fields["ETag"] = "W/" + tag
        elif kind == "renewed":
            fields["ETag"] = f'"{number}"'
        elif kind not in ("untagged", "never"):
            fields["ETag"] = tag
        if kind == "encoded":
            fields["Content-Encoding"] = "gzip"
        if kind == "large-head":
            for place in range(100):
                fields[f"X-Filler-{place}"] = "x" * 1000
        start, status = 0, 200
        wanted = self.headers.get("Range")
        mixes = kind in ("mixed", "mixed-bare")
        if wanted and kind == "mixed-bare":
            del fields["ETag"]
        if wanted and kind not in ("untagged", "weak", "never", "renewed") and (mixes or self.headers.get("If-Range", tag) == tag):
            start = int(wanted[len("bytes="):].split("-")[0])
            if start >= length:
                return self.head(416, {"Content-Length": 0, "Content-Range": f"bytes */{length}"})
            status, shown, total = 206, start, length
            if kind == "lies" and number == 2:
                shown = start = max(0, start - 10)
            if kind == "wrong-total" and number == 2:
                total += 1
            end = (start + length) // 2 if kind == "piece" and number == 2 else length
            fields["Content-Range"] = f"bytes {shown}-{end - 1}/{total}"
            body = body[:end]
        part = body[start:]
        if kind == "unknown":
            fields["Connection"] = "close"
        else:
            fields["Content-Length"] = len(part) + (1000 if kind == "short" else 0)
        self.head(status, fields)
        try:
            cuts = (
                kind in ("cut", "never", "renewed", "changed", "lies", "wrong-total")
                or (kind in ("piece", "mixed", "mixed-bare") and number == 1)
                or (kind in ("untagged", "weak") and number < 3)
            )
            if cuts and len(part) > 300_000:
                self.wfile.write(part[:300_000])
                return self.close()
            if kind == "stall" and number == 1:
                self.wfile.write(part[:100_000])
                self.wfile.flush()
                time.sleep(60)
                return self.close()
            if kind == "trickle":
                for begin in range(0, len(part), 100):
                    self.wfile.write(part[begin : begin + 100])
                    self.wfile.flush()
                    time.sleep(0.01)
                return
            if kind == "held":
                self.wfile.write(part[: length // 2])
                self.wfile.flush()
                released.wait(300)
                part = part[length // 2 :]
            self.wfile.write(part)
            if kind in ("short", "unknown"):
                self.close()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
# The server ends with its caller.
threading.Thread(target=server.serve_forever, daemon=True).start()
for _ in sys.stdin:
    released.set()
