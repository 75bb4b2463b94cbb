# shellcheck shell=bash
# What the reader of docs/guide/channels.md has: a channel of jobs with twelve messages, and a program for them.
# shellcheck source=tools/lib/pages/common.sh
. "$PAGES/common.sh"
groupctl() {
    if [ "$1 $2" = "channels follow" ]; then until_interrupted "$(type -P groupctl)" "$@"; else command groupctl "$@"; fi
}
groupctl create ./shared/
for job in 1 2 3 4 5 6 7 8 9 10 11 12; do groupctl channels post ./shared/ jobs "job $job"; done
groupctl channels follow ./shared/ jobs -l lamp -t 0
printf '#!/bin/sh\ncat\n' >do-job
chmod +x do-job
