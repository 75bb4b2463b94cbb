"""What tools/cluster-guide runs: the blocks of the cluster's guides, on machines that are namespaces of this one."""

import os
import re
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
PAGES = [os.path.join(ROOT, "docs", "guide", name) for name in ("cluster.md", "running-a-cluster.md")]
NAMES = "abc"
BEGAN = time.monotonic()


class Failure(Exception):
    """A step that did not do what the guide says."""


def block(mark: str) -> str:
    """The shell block of the pages that has a mark."""
    found = []
    for page in PAGES:
        with open(page, encoding="utf-8") as file:
            found += [text for text in re.findall(r"^```sh\n(.*?)^```", file.read(), re.S | re.M) if mark in text]
    if len(found) != 1:
        raise Failure(f"{len(found)} blocks of the guide contain '{mark}'")
    return found[0]


class Machine:
    """A machine: a process that keeps its namespaces."""

    def __init__(self, name: str, number: int, directory: str) -> None:
        self.name, self.directory = name, os.path.join(directory, name)
        self.programs: list[subprocess.Popen] = []
        for part in ("etc", "lib", "home"):
            os.makedirs(os.path.join(self.directory, part))
        hosts = "".join(f"192.0.2.{index + 1} {other}.example\n" for index, other in enumerate(NAMES))
        self.write("hosts", f"127.0.0.1 localhost\n{hosts}")
        self.write("default", "")
        setup = f"""
            mount --make-rprivate /; cd {self.directory}
            mkdir -p /etc/etcd /var/lib/etcd /etc/default; touch /etc/default/etcd
            mount --bind etc /etc/etcd; mount --bind lib /var/lib/etcd; mount --bind default /etc/default/etcd
            mount --bind hosts /etc/hosts; ip link set lo up; echo ready; exec sleep 600"""
        self.keeper = subprocess.Popen(
            ["unshare", "--net", "--mount", "bash", "-ec", setup], stdout=subprocess.PIPE, text=True)
        if self.keeper.stdout.readline() != "ready\n":
            raise Failure(f"machine {name} cannot be made")
        run(f"ip link add v{name} type veth peer name e0 netns {self.keeper.pid}")
        run(f"ip link set v{name} master bridge up")
        self.run(f"ip addr add 192.0.2.{number}/24 dev e0; ip link set e0 up")

    def write(self, name: str, text: str) -> None:
        with open(os.path.join(self.directory, name), "w", encoding="utf-8") as file:
            file.write(text)

    def words(self, script: str, directory: str = "") -> list[str]:
        home = os.path.join(self.directory, "home")
        script = f"set -e; export HOME={home}; cd {directory or home}; {script}"
        return ["nsenter", "-t", str(self.keeper.pid), "--net", "--mount", "bash", "-c", script]

    def run(self, script: str, directory: str = "") -> str:
        return run(self.words(script, directory))

    def start(self, script: str) -> subprocess.Popen:
        log = open(os.path.join(self.directory, f"log.{len(self.programs)}"), "w", encoding="utf-8")
        with log:
            program = subprocess.Popen(self.words(script), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.programs.append(program)
        return program

    def succeeds(self, script: str) -> bool:
        return subprocess.run(self.words(script), capture_output=True, check=False).returncode == 0

    def end(self) -> None:
        for program in self.programs + [self.keeper]:
            program.kill()
            program.wait()


def run(command) -> str:
    words = ["bash", "-ec", command] if isinstance(command, str) else command
    done = subprocess.run(
        words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False)
    if done.returncode != 0:
        raise Failure(f"status {done.returncode}: {words[-1]}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def awaited(what: str, is_so, seconds: int = 60) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise Failure(f"not within {seconds} s: {what}")
        time.sleep(0.1)
    print(f"[{time.monotonic() - BEGAN:5.1f}] {what}", flush=True)
