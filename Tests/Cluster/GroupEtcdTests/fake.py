"""A server that is no etcd. Prints its port, and then the path of each request.

usage: fake.py HOW, where HOW says what each request gets
"""

import os
import socket
import sys
import threading
import time

how = sys.argv[1]
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)


def request(connection):
    """Reads one request, and returns its path; None at the end."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
        if line.lower().startswith(b"transfer-encoding: chunked"):
            while not body.endswith(b"\r\n"):
                body += connection.recv(65536)
    while len(body) < length:
        body += connection.recv(65536)
    return head.split(b" ")[1].decode()


def answer(body, status="200 OK", kind="application/json", length=None):
    length = len(body) if length is None else length
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n".encode() + body


def chunk(body):
    return b"%x\r\n%s\r\n" % (len(body), body)


GOOD = b'{"header":{"cluster_id":"7","revision":"5"},"kvs":[{"key":"YQ==","mod_revision":"5","value":"Yg=="}],"count":"1"}'
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
)
CREATED = b'{"result":{"header":{"revision":"5"},"created":true}}\n'


def serve(connection):
    answered = 0
    while path := request(connection):
        print(path, flush=True)
        if how == "once" and answered == 0:
            connection.sendall(answer(GOOD))
            answered += 1
        elif how == "once":
            return
        elif how == "good":
            connection.sendall(answer(GOOD))
        elif how == "slow":
            for byte in answer(GOOD):
                connection.sendall(bytes([byte]))
        elif how == "unhurried":
            body = answer(GOOD)
            for start in range(0, len(body), 4):
                connection.sendall(body[start : start + 4])
                time.sleep(0.1)
        elif how == "garbage":
            connection.sendall(answer(os.urandom(5000)))
        elif how == "noise":
            connection.sendall(os.urandom(5000))
            return
        elif how == "half":
            connection.sendall(answer(GOOD[:50], length=len(GOOD)))
            return
        elif how == "half-json":
            connection.sendall(answer(GOOD[:50]))
        elif how == "closed":
            return
        elif how == "silent":
            continue
        elif how == "nested":
            connection.sendall(answer(b"[" * 1_000_000))
        elif how == "html":
            connection.sendall(answer(b"<html>It is broken</html>", "500 Internal Server Error", "text/html"))
        elif how == "html-200":
            connection.sendall(answer(b"<html>Log in</html>", kind="text/html"))
        elif how == "not-found" or how == "no-method" and path == "/version":
            connection.sendall(answer(b"404 page not found", "404 Not Found", "text/plain"))
        elif how == "no-method":
            connection.sendall(answer(b"<html>No</html>", "501 Unsupported method ('POST')", "text/html"))
        elif how.startswith("etcd-") and path == "/version":
            connection.sendall(answer(b'{"etcdserver":"%s","etcdcluster":"3.3.0"}' % how[5:].encode()))
        elif how.startswith("etcd-"):
            connection.sendall(answer(b"404 page not found", "404 Not Found", "text/plain"))
        elif how == "redirect":
            target = sys.argv[2]
            connection.sendall(
                f"HTTP/1.1 307 Temporary Redirect\r\nLocation: {target}{path}\r\nContent-Length: 0\r\n\r\n".encode()
            )
        elif how == "bad-token":
            connection.sendall(answer(b'{"token":"a\\r\\nX-Injected: yes"}'))
        elif how == "unauthenticated":
            if path.endswith("authenticate"):
                connection.sendall(answer(b'{"token":"secret-token"}'))
            else:
                connection.sendall(
                    answer(b'{"error":"etcdserver: invalid auth token","code":16}', "401 Unauthorized")
                )
        elif how == "authenticated-closed":
            if path.endswith("authenticate"):
                connection.sendall(answer(b'{"token":"secret-token"}'))
            else:
                return
        elif how == "endless":
            connection.sendall(CHUNKED)
            while True:
                connection.sendall(chunk(b'{"header":{},"kvs":[' + b"1," * 500_000))
        elif how == "endless-head":
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            while True:
                connection.sendall(b"X: " + b"y" * 10_000 + b"\r\n")
        elif how == "endless-line":
            connection.sendall(CHUNKED + chunk(CREATED))
            while True:
                connection.sendall(chunk(b"x" * 1_000_000))
        elif how == "watch-garbage":
            connection.sendall(CHUNKED + chunk(CREATED) + chunk(os.urandom(100) + b"\n"))
        elif how == "watch-closed":
            connection.sendall(CHUNKED + chunk(CREATED) + chunk(b'{"result":{"hea'))
            return
        elif how == "watch-ended":
            connection.sendall(CHUNKED + chunk(CREATED) + chunk(b""))
            return


def accept(connection):
    with connection:
        try:
            serve(connection)
        except OSError:
            pass


while True:
    threading.Thread(target=accept, args=(listener.accept()[0],), daemon=True).start()
