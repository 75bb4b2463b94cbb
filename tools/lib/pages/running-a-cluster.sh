# shellcheck shell=bash
# What the reader of docs/guide/running-a-cluster.md has: a machine of a cluster whose container is ./shared/.
# shellcheck source=tools/lib/pages/one-machine.sh
. "$PAGES/one-machine.sh"
echo Milk >shared/list
finish() { end_machine; }
