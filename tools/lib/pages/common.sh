# shellcheck shell=bash
# What several pages need.

# has_come COMMAND...: whether the reader has seen what the command is run for. A page that looks at that has its own.
has_come() { [ "$SECONDS" -ge $((began + 2)) ]; }

# A command that goes on until Ctrl-C is ended once the reader has seen enough, at the latest after half a minute.
until_interrupted() {
    local status=0 began=$SECONDS
    "$@" &
    local running=$!
    until has_come "$@" || [ "$SECONDS" -ge $((began + 30)) ] || ! kill -0 "$running" 2>/dev/null; do sleep 0.05; done
    # A shell without job control has its children ignore Ctrl-C.
    kill -TERM "$running" 2>/dev/null || true
    wait "$running" || status=$?
    ((status == 0 || status == 2 || status == 143))
}
watch-group() { until_interrupted "$(type -P watch-group)" "$@"; }
