"""A proxy before a node of etcd 3.4 or 3.5 that gives its answers the form of another version. Prints its port, and
then each error as it was sent.

usage: gateway.py VERSION HOST, where VERSION is 3.4, 3.5 or 3.6, and HOST is the node's address
"""

import json
import socket
import sys
import threading

version, host = sys.argv[1:]
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)

# The statuses of HTTP for the codes of gRPC: HTTPStatusFromCode of grpc-gateway.
STATUSES = {1: 408, 2: 500, 3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409, 11: 400, 12: 501, 13: 500}
STATUSES |= {14: 503, 15: 500, 16: 401}
if version == "3.4":
    STATUSES[9] = 412
if version == "3.6":
    STATUSES[1] = 499

# What the status of a node has in 3.6 besides.
NEWER_STATUS = {"storageVersion": "3.6.0", "dbSizeQuota": "2147483648", "downgradeInfo": {}}


def error(body):
    """Returns an error in the form of this version."""
    inner = body["error"]
    if isinstance(inner, dict):
        if version == "3.6":
            return {"error": {"code": inner["grpc_code"], "message": inner["message"]}}
        return body
    keys = {"3.4": ["error", "message", "code"], "3.5": ["error", "code", "message"], "3.6": ["code", "message"]}
    return {key: body[key] for key in keys[version]}


def rewritten(line):
    """Returns a body, or a line of a stream, in the form of this version, and the status of HTTP if it is an error."""
    body = json.loads(line)
    status = None
    if inner := body.get("error"):
        status = STATUSES[inner["grpc_code"] if isinstance(inner, dict) else body["code"]]
        body = error(body)
        print(json.dumps(body), flush=True)
    elif version == "3.6" and "raftIndex" in body:
        body |= NEWER_STATUS
    # protojson writes a space behind each comma, or none, by chance.
    separators = (", ", ":") if version == "3.6" else (",", ":")
    return json.dumps(body, separators=separators).encode(), status


def head(reader):
    """Reads the lines of a head; nothing at the end of the connection."""
    lines = []
    while (line := reader.readline()) not in (b"\r\n", b""):
        lines.append(line)
    return lines


def field(head, name):
    for line in head[1:]:
        key, _, value = line.partition(b":")
        if key.lower() == name:
            return value.strip().lower()
    return b""


def lines(reader):
    """The lines of a body in chunks."""
    line = b""
    while size := int(reader.readline() or b"-1", 16):
        if size < 0:
            raise ConnectionError
        line += reader.read(size)
        reader.readline()
        *complete, line = line.split(b"\n")
        yield from complete
    head(reader)
    if line:
        yield line


def start(status, length):
    return b"HTTP/1.1 %d Answer\r\nContent-Type: application/json\r\n%s\r\n\r\n" % (status, length)


def pump(reader, node):
    """Sends the rest of an open body. When the client ends the request, it ends at the node, too."""
    try:
        while piece := reader.read1(65536):
            node.sendall(piece)
        node.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def forward(reader, client, request, node):
    """Forwards a request, and its answer."""
    node.sendall(b"".join(request) + b"\r\n")
    if field(request, b"transfer-encoding") == b"chunked":
        threading.Thread(target=pump, args=(reader, node), daemon=True).start()
    else:
        node.sendall(reader.read(int(field(request, b"content-length") or b"0")))
    answers = node.makefile("rb")
    answer = head(answers)
    if not answer:
        raise ConnectionError
    status = int(answer[0].split()[1])
    if field(answer, b"transfer-encoding") != b"chunked":
        body, found = rewritten(answers.read(int(field(answer, b"content-length"))))
        client.sendall(start(found or status, b"Content-Length: %d" % len(body)) + body)
        return
    isFirst = True
    for line in lines(answers):
        line, found = rewritten(line)
        if isFirst:
            client.sendall(start(found or status, b"Transfer-Encoding: chunked"))
            isFirst = False
        client.sendall(b"%x\r\n%s\n\r\n" % (len(line) + 1, line))
    client.sendall(b"0\r\n\r\n")


def accept(client):
    with client:
        try:
            reader = client.makefile("rb")
            while request := head(reader):
                with socket.create_connection((host, 2379)) as node:
                    forward(reader, client, request, node)
                if field(request, b"connection") == b"close":
                    return
        except OSError:
            pass


while True:
    threading.Thread(target=accept, args=(listener.accept()[0],), daemon=True).start()
