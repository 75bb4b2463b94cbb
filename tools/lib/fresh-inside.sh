#!/usr/bin/env bash
# Run by tools/fresh-check inside the machine that it made; does nothing elsewhere.
#
# usage: fresh-inside.sh COUNT PACKAGE... COMMAND...
#
# Installs the packages, COUNT of them, then runs all commands, even after one has failed: `root: COMMAND` in the working
# directory, `user: COMMAND` as a new user, in a copy of that directory.
set -euo pipefail

count="$1"
shift
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get --quiet=2 update && apt-get --quiet=2 install --yes --no-install-recommends "${@:1:count}"; } \
    >/root/packages 2>&1 </dev/null; then
    tail -n 20 /root/packages >&2
    exit 1
fi
shift "$count"
useradd --create-home --shell /bin/bash user
cp -R -- "$PWD" /home/user/clone
chown -R user:user /home/user/clone

# run COMMAND
run() {
    case "$1" in
        user:*)
            runuser -u user -- env -C /home/user/clone HOME=/home/user PATH="/toolchain/usr/bin:/usr/local/bin:/usr/bin:/bin" \
                bash -c "${1#user:}"
            ;;
        root:*) bash -c "${1#root:}" ;;
    esac
}

status=0
SECONDS=0
for command in "$@"; do
    printf '== [%s s] %s\n' "$SECONDS" "$command"
    if ! run "$command" </dev/null; then
        printf '== [%s s] failed: %s\n' "$SECONDS" "$command"
        status=1
    fi
done
if ((status == 0)); then printf '== [%s s] all passed\n' "$SECONDS"; fi
exit "$status"
