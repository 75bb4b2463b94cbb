"""A file is downloaded from a server on loopback, by a command that ends when the file is there."""

import os
import subprocess
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .. import packages
from ..failures import Failed
from ..figures import median, percentile
from ..goals import Goal
from ..places import Place
from ..row import Contender, Finding, Row, cells, gathered
from ..table import Table
from ..watchers import Watcher

OURS = Watcher("group-transfer", lambda found: [found["group-transfer"]], lambda found, directory: [])
CURL = Watcher(
    "curl", lambda _: [packages.debian("curl", "curl")], lambda found, directory: [], lambda found: [*found, "--version"]
)
DURABLE, PLAIN = "curl and sync", "curl"
THROUGHPUT, MEDIAN, LATE = "large file, MiB/s", "small file, median, ms", "small file, p99, ms"
LIMIT = 120


class Handler(BaseHTTPRequestHandler):
    """Sends as many bytes as the path says, from a file in memory."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments) -> None:
        pass

    def do_GET(self) -> None:
        length = int(self.path[1:])
        self.send_response(200)
        self.send_header("Content-Length", str(length))
        self.send_header("ETag", f'"{length}"')
        self.end_headers()
        self.wfile.flush()
        with open(self.server.content, "rb") as file:
            self.connection.sendfile(file, 0, length)


class Transfer(Row):
    name = "transfer"
    title = "a file of {mebibytes} MiB and {small} files of 4 KiB are downloaded from a server on loopback"
    places = ("memory", "disk")
    rounds = 5
    sizes = {"mebibytes": (512, 16), "small": (40, 3)}

    def goals(self) -> list[Goal]:
        return [Goal("at least 0.8 of the throughput of curl and sync", THROUGHPUT, OURS.name, least=0.8, of=(DURABLE,))]

    def contenders(self) -> list[Contender]:
        return [Contender(OURS.name, OURS), Contender(DURABLE, CURL), Contender(PLAIN, CURL)]

    def round(self, bench, place: Place, contender: Contender) -> Finding:
        found, directory = bench.found(contender.watcher), place.fresh()
        large, small = self.size("mebibytes") << 20, 4096
        if contender.watcher is OURS:
            bench.changes.make_container(directory)
        with tempfile.TemporaryFile(dir="/dev/shm") as content:
            content.truncate(large)
            server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            server.content = f"/proc/self/fd/{content.fileno()}"
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                address = f"http://127.0.0.1:{server.server_address[1]}"
                # The first one of ours also makes the directories.
                download(contender, found, directory, f"{address}/{small}", "first", small)
                taken = download(contender, found, directory, f"{address}/{large}", "large", large)
                times = [
                    download(contender, found, directory, f"{address}/{small}", f"small-{number}", small) * 1000
                    for number in range(self.size("small"))
                ]
            finally:
                server.shutdown()
                thread.join()
                server.server_close()
        return {"throughput": (large >> 20) / taken, "times": times}

    def summarize(self, table: Table, findings: dict[Contender, list[Finding]]) -> None:
        table.add_ratio(table.add(THROUGHPUT, cells(gathered(findings, "throughput"), median)), DURABLE)
        times = gathered(findings, "times")
        table.add_ratio(table.add(MEDIAN, cells(times, median)), DURABLE)
        table.add(LATE, cells(times, lambda samples: percentile(samples, 99)))


def download(contender: Contender, found: list[str], directory: str, url: str, name: str, length: int) -> float:
    """The seconds until the command has ended."""
    path = os.path.join(directory, name)
    command = [*found, "--silent", "--show-error", "--fail", "--output", path, url]
    if contender.watcher is OURS:
        command = [*found, "download", "--wait", "--quiet", directory + "/", url, name]
    elif contender.column == DURABLE:
        command = ["sh", "-c", '"$@" && sync "$0" "$(dirname "$0")"', path, *command]
    began = time.monotonic()
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=LIMIT
    )  # fmt: skip
    taken = time.monotonic() - began
    if done.returncode != 0 or os.path.getsize(path) != length:
        raise Failed(f"status {done.returncode}: {(done.stdout + done.stderr).strip()[-200:]}")
    return taken
