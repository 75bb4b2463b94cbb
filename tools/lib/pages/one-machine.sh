# shellcheck shell=bash
# A node of etcd, and a machine of a cluster whose container is ./shared/.
url=http://127.0.0.1:23791
etcd --listen-client-urls $url --advertise-client-urls $url --listen-peer-urls http://127.0.0.1:23801 2>etcd.log &
groupctl create ./shared/
group-cluster join ./shared/ --etcd $url --name todo --host a &
for ((tries = 0; tries < 100; tries++)); do
    if group-cluster status ./shared/ 2>/dev/null | grep -q connected; then break; fi
    sleep 0.1
done
end_machine() {
    # shellcheck disable=SC2046 # numbers
    kill $(jobs -p)
    wait || true
}
