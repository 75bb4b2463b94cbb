# shellcheck shell=bash
# What the reader of docs/guide/cluster.md has: after the first block, a machine of a cluster whose container is ./shared/,
# with a plan, a program that counts, and one that reports.
kill() {
    builtin kill "$@"
    wait || true
    url=http://127.0.0.1:23791
    etcd --listen-client-urls $url --advertise-client-urls $url --listen-peer-urls http://127.0.0.1:23801 2>etcd.log &
    groupctl create ./shared/
    group-cluster join ./shared/ --etcd $url --name todo --host a &
    for ((tries = 0; tries < 100; tries++)); do
        if group-cluster status ./shared/ 2>/dev/null | grep -q connected; then break; fi
        sleep 0.1
    done
    echo '{"days": 3}' >plan.json
    # shellcheck disable=SC2016 # the program's own expression
    printf '#!/bin/sh\nread -r n; echo $((n + 1))\n' >next
    printf '#!/bin/sh\necho done\n' >report
    chmod +x next report
}
finish() {
    [ "$(group-cluster read ./shared/ n)" = 2 ]
    # shellcheck disable=SC2046 # numbers
    builtin kill $(jobs -p)
    wait || true
}
