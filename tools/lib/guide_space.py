"""What tools/cluster-guide does about the space of etcd: it uses it up, and takes the guide's way out."""

import os
import re
import signal

from guide_machines import Machine, awaited, block

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
