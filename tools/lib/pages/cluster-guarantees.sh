# shellcheck shell=bash
# What the reader of docs/reference/cluster-guarantees.md has: a machine of a cluster whose container is ./shared/, with a
# plan, a program that counts, and one that reports.
# shellcheck source=tools/lib/pages/one-machine.sh
. "$PAGES/one-machine.sh"
echo '{"days": 3}' >plan.json
# shellcheck disable=SC2016 # the program's own expression
printf '#!/bin/sh\nread -r n; echo $((n + 1))\n' >next
printf '#!/bin/sh\necho done\n' >report
chmod +x next report
finish() {
    [ "$(group-cluster read ./shared/ n)" = 2 ]
    end_machine
}
