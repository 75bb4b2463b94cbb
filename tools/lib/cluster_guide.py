"""The command tools/cluster-guide: runs the blocks of the cluster's guides for three machines, as they are printed."""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
BUILT = os.path.join(ROOT, ".build", "tools", "debug")
PAGES = [os.path.join(ROOT, "docs", "guide", name) for name in ("cluster.md", "running-a-cluster.md")]

HELP = """\
Follows docs/guide/cluster.md and running-a-cluster.md: certificates, three nodes of etcd, a user, three containers that
join, a file that arrives on the others, the way out where etcd's space is used up, a backup, and its return. The machines a, b and c are namespaces of this machine, each with a
network, /etc/etcd and a home of its own; the blocks are run as printed, but for what only a whole machine has: systemd,
and a person who types passwords. Prints a line for each step, with the seconds since the start. Works as root, with
etcd; uses what is built in .build/tools/debug (tools/test builds it). Takes less than a minute.

Status: 0 each step did what the guide says; 1 one did not; 69 not root, or no etcd."""

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


SMALL_QUOTA = 24 << 20


def use_up_space(machines: list[Machine], nodes, start_nodes, root: str):
    """Restarts the nodes with a small quota, fills it, and takes the guide's way out. Returns the nodes' processes."""
    first = machines[0]
    state = "group-cluster status ~/shared/"
    defaults = {}

    def restart(quota: int):
        for node in nodes:
            node.send_signal(signal.SIGTERM)
            node.wait()
        for machine in machines:
            path = os.path.join(machine.directory, "default")
            with open(path, encoding="utf-8") as file:
                defaults.setdefault(machine.name, file.read())
            machine.write("default", re.sub("(?m)^ETCD_QUOTA_BACKEND_BYTES=.*$", f"ETCD_QUOTA_BACKEND_BYTES={quota}",
                                            defaults[machine.name]))
        started = start_nodes()
        awaited(f"the nodes have a quota of {quota >> 20} MiB",
                lambda: first.succeeds(root + "etcdctl --user root endpoint health"))
        return started

    nodes = restart(SMALL_QUOTA)
    # Bounded: ten files of 4 MiB.
    for number in range(10):
        first.run(f"head -c 4M /dev/urandom >~/shared/large{number}")
    awaited("etcd's space is used up, and the status says what to do",
            lambda: first.succeeds(f"{state} | grep -q 'space is used up' && {state} | grep -q '^remedy'"))
    awaited("reads of the latest go on", lambda: first.succeeds("group-cluster read ~/shared/ list"))
    nodes = restart(SMALL_QUOTA * 8)
    first.run(root + block("alarm disarm"))
    awaited("the files are on all machines, and nothing waits",
            lambda: all(machine.succeeds(f"[ $(ls ~/shared | grep -c large) = 10 ] && {state} | grep -q 'to send    0'")
                        for machine in machines))
    print(first.run(root + block("compact \"$revision\"")), flush=True)
    return nodes


def follow(directory: str, machines: list[Machine]) -> None:
    run(f"cd {directory}; {block('-keyout authority.key')}")
    for number, machine in enumerate(machines, 1):
        files = block("install -m 400 -o etcd").replace("systemctl stop etcd; ", "").replace("-o etcd", "")
        machine.run(re.sub(r"\ba\.(pem|key)", machine.name + r".\1", files), f"{directory}/certificates")
        lines = []
        for line in block("ETCD_NAME=a").splitlines():
            if not line.startswith("ETCD_INITIAL_CLUSTER"):
                line = re.sub(r"\ba\.(example|pem|key)", machine.name + r".\1", line)
                line = line.replace("192.0.2.1:", f"192.0.2.{number}:")
            lines.append(re.sub("^ETCD_NAME=a$", f"ETCD_NAME={machine.name}", line))
        machine.write("default", "\n".join(lines) + "\n")

    def start_nodes() -> list[subprocess.Popen]:
        start = "set -a; . /etc/default/etcd; set +a; exec etcd --data-dir /var/lib/etcd/default"
        return [machine.start(start) for machine in machines]

    first = machines[0]
    nodes = start_nodes()
    variables = block("etcdctl endpoint health").replace("etcdctl endpoint health\n", "")
    awaited("three nodes of etcd are healthy", lambda: first.succeeds(variables + "etcdctl endpoint health"))
    # A person types the passwords.
    users = block("etcdctl user add root").replace("user add root ", "user add root:secret ")
    first.run(variables + users.replace("user add todo\n", "user add todo:pass\n"))
    root = variables + 'etcdctl() { command etcdctl "${@/#root/root:secret}"; }\n'
    joined = []
    for machine in machines:
        machine.run(block("cat >~/todo.password").replace("cat >", "echo pass >"))
        join = block("groupctl create ~/shared/").replace("group-cluster join", "exec group-cluster join")
        joined.append(machine.start(join.replace("--name todo", f"--host {machine.name} --name todo")))
    state = "group-cluster status ~/shared/"

    def is_so_on_all(script: str) -> bool:
        return all(machine.succeeds(script) for machine in machines)

    awaited("three machines have joined", lambda: is_so_on_all(f"{state} | grep -q connected"))
    first.run("echo Milk >~/shared/list")
    awaited("a file of a is on b and c", lambda: is_so_on_all("[ $(cat ~/shared/list) = Milk ]"))
    nodes = use_up_space(machines, nodes, start_nodes, root)
    first.run(root + block("snapshot save todo.backup"), directory)
    machines[1].run("for n in 1 2 3 4 5; do echo $n | group-cluster write ~/shared/ n; done")
    for node in nodes:
        node.send_signal(signal.SIGTERM)
        node.wait()
    restore = block("snapshot restore").replace("systemctl st", "# systemctl st").replace("chown", "# chown")
    for machine in machines:
        machine.run(restore.replace("todo.backup", f"{directory}/todo.backup"))
    start_nodes()
    awaited("the restored nodes are healthy", lambda: first.succeeds(root + "etcdctl --user root endpoint health"))
    awaited("each machine says that the history is another one",
            lambda: is_so_on_all(f"{state} | grep -q 'paused: the cluster has another history'"))
    for machine in machines:
        machine.run("group-cluster accept ~/shared/")
    awaited("all are connected again, with what was written after the backup",
            lambda: is_so_on_all(f"{state} | grep -q connected && [ $(cat ~/shared/n) = 5 ]"))
    joined[-1].send_signal(signal.SIGTERM)
    joined[-1].wait()
    machines[-1].run(block("group-cluster leave ~/shared/").replace("systemctl", "# systemctl"))
    print(f"[{time.monotonic() - BEGAN:5.1f}] c has left", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="tools/cluster-guide", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    # Wrong usage exits with status 64, as in all our commands.
    parser.error = lambda message: parser.exit(64, f"tools/cluster-guide: {message}; see tools/cluster-guide --help\n")
    parser.parse_args()
    if os.geteuid() != 0 or not shutil.which("etcd") or not shutil.which("etcdctl"):
        print("tools/cluster-guide: this needs root, etcd and etcdctl", file=sys.stderr)
        return 69
    if "GUIDE_NETWORK" not in os.environ:
        # The bridge between the machines is in a network of its own.
        os.environ.update(GUIDE_NETWORK="1", PATH=BUILT + ":" + os.environ["PATH"])
        os.execvp("unshare", ["unshare", "--net", sys.executable, "-B", *sys.argv])
    machines: list[Machine] = []
    with tempfile.TemporaryDirectory() as directory:
        try:
            run("ip link add bridge type bridge; ip link set bridge up")
            for number, name in enumerate(NAMES, 1):
                machines.append(Machine(name, number, directory))
            follow(directory, machines)
        except Failure as failure:
            print(f"tools/cluster-guide: {failure}", file=sys.stderr)
            return 1
        finally:
            for machine in machines:
                machine.end()
    return 0
