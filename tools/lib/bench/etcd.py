"""Nodes of etcd on loopback, and the programs that keep containers in a cluster: started by this run, and ended by it."""

import json
import os
import random
import shutil
import subprocess
import time
import urllib.error
import urllib.request

from . import processes
from .failures import Failed, Unavailable
from .places import Place
from .stores import Store

# A process that holds many connections needs as many descriptors as it may have.
ALL_DESCRIPTORS = ["sh", "-c", 'ulimit -n "$(ulimit -Hn)"; exec "$@"', "sh"]


def needed() -> str:
    """The path of etcd. It is not installed here, because its package also enables a service of the system."""
    path = shutil.which("etcd")
    if path is None:
        raise Unavailable("needs etcd: tools/setup --tests")
    return path


def worker(found: dict[str, str]) -> list[str]:
    needed()
    return [found["cluster-bench"]]


# Two parties of one program: a machine of a cluster, and the same client of etcd by itself.
CLUSTER = Store("group-cluster", worker)
ETCD = Store("etcd", worker, version=lambda _: ["etcd", "--version"])


class Etcd:
    """A cluster of some nodes with their data on a place, used with `with`."""

    def __init__(self, place: Place, nodes: int = 1) -> None:
        self.program, self.place, self.nodes = needed(), place, nodes
        self.started: list[subprocess.Popen] = []
        self.endpoints = ""

    def __enter__(self) -> "Etcd":
        # Any other process is unlikely to use these addresses.
        hosts = [f"127.{random.randint(64, 250)}.{random.randint(1, 250)}.{random.randint(2, 250)}" for _ in range(self.nodes)]
        self.endpoints = ",".join(f"http://{host}:2379" for host in hosts)
        members = ",".join(f"n{number}=http://{host}:2380" for number, host in enumerate(hosts))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ETCD")}
        try:
            for number, host in enumerate(hosts):
                client, peer = f"http://{host}:2379", f"http://{host}:2380"
                command = [
                    self.program, "--name", f"n{number}", "--data-dir", self.place.fresh("etcd"),
                    "--listen-client-urls", client, "--advertise-client-urls", client,
                    "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", members,
                    "--quota-backend-bytes", str(8 << 30),
                ]  # fmt: skip
                self.started.append(
                    subprocess.Popen(
                        [*ALL_DESCRIPTORS, *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL, env=environment,
                    )  # fmt: skip
                )
            for host in hosts:
                self.await_ready(host)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        processes.end(self.started)

    def await_ready(self, host: str, limit: float = 60) -> None:
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline:
            if any(process.poll() is not None for process in self.started):
                raise Failed("etcd ended by itself")
            try:
                with urllib.request.urlopen(f"http://{host}:2379/health", timeout=5) as answer:
                    if json.load(answer).get("health") == "true":
                        return
            except (OSError, ValueError):
                pass
            time.sleep(0.05)
        raise Failed(f"etcd did not serve within {limit:.0f} s")

    def processor_seconds(self) -> float:
        return sum(processes.processor_seconds(process.pid) for process in self.started)

    def resident_mebibytes(self) -> float:
        return sum(processes.resident_mebibytes(process.pid) for process in self.started)


class Machine:
    """A container and its program, which joins the cluster; used with `with`, also again: then the program goes on."""

    def __init__(self, bench, place: Place, etcd: Etcd, host: str) -> None:
        self.program, self.etcd, self.host = bench.programs["group-cluster"], etcd, host
        self.directory, self.log = place.fresh(host), os.path.join(place.fresh("log"), "errors")
        self.process: subprocess.Popen | None = None
        bench.changes.make_container(self.directory)

    def __enter__(self) -> "Machine":
        words = ["join", self.directory + "/", "--etcd", self.etcd.endpoints, "--name", "bench", "--host", self.host]
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([self.program, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def __exit__(self, *_) -> None:
        processes.end([self.process])

    def last_line(self) -> str:
        with open(self.log, encoding="utf-8", errors="replace") as log:
            lines = log.read().splitlines()
        return lines[-1] if lines else "no line"

    def await_connected(self, limit: float = 60) -> "Machine":
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline:
            self.check()
            with open(self.log, encoding="utf-8", errors="replace") as log:
                if "connected at index" in log.read():
                    return self
            time.sleep(0.02)
        raise Failed(f"{self.host} did not connect within {limit:.0f} s ({self.last_line()})")

    def check(self) -> None:
        if self.process.poll() is not None:
            raise Failed(f"the program of {self.host} ended by itself ({self.last_line()})")

    def status(self) -> dict:
        """What `group-cluster status` prints; nothing before the program has written it."""
        self.check()
        command = [self.program, "status", "--json", self.directory + "/"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        try:
            status = json.loads(done.stdout)
        except ValueError:
            return {}
        if status.get("paused"):
            raise Failed(f"{self.host} paused: {status['paused']}")
        return status

    @staticmethod
    def is_done(status: dict, index: int) -> bool:
        """Whether everything up to an entry is here, and everything of this machine is sent."""
        return (
            status.get("connected") is True
            and status["toApply"] == status["toSend"] == status["behind"] == 0
            and status["index"] >= index
        )

    def await_done(self, index: int = 0, limit: float = 900, seconds: float = 0) -> float:
        """Waits until it is done, and stays so for some seconds: changes of plain programs are found later than they are made.
        Returns the time from which on it was."""
        deadline = time.monotonic() + limit
        since, last = 0.0, -1
        while time.monotonic() < deadline:
            now, status = time.monotonic(), self.status()
            if not self.is_done(status, index):
                last = -1
            elif status["index"] != last:
                since, last = now, status["index"]
            if last >= 0 and now - since >= seconds:
                return since
            time.sleep(0.2)
        raise Failed(f"{self.host} was not done within {limit:.0f} s: {self.status()}")
