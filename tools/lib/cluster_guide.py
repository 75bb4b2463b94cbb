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

from guide_machines import BEGAN, NAMES, Failure, Machine, awaited, block, run
from guide_space import use_up_space

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
BUILT = os.path.join(ROOT, ".build", "tools", "debug")

HELP = """\
Follows docs/guide/cluster.md and running-a-cluster.md: certificates, three nodes of etcd, a user, three containers that
join, a file that arrives on the others, the way out where etcd's space is used up, a backup, and its return. The
machines a, b and c are namespaces of this machine, each with a network, /etc/etcd and a home of its own; the blocks are
run as printed, but for what only a whole machine has: systemd, and a person who types passwords. Prints a line for each
step, with the seconds since the start. Works as root, with etcd; uses what is built in .build/tools/debug (tools/test
builds it). Takes less than two minutes.

Status: 0 each step did what the guide says; 1 one did not; 69 not root, or no etcd."""


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
