#!/usr/bin/env bash
# Sourced by the scripts in tools/; does nothing by itself. Shows a line with the progress on a terminal.

progress_teller=

# tell_progress FUNCTION: where standard error is a terminal, shows the output of FUNCTION twice a second, after the
# first second.
tell_progress() {
    if [[ ! -t 2 ]]; then return; fi
    {
        exec {never}<> <(:)
        read -r -t 0.5 -u "$never" || true
        while ! read -r -t 0.5 -u "$never"; do printf '\r\e[K%.79s' "$("$1")" >&2; done
    } &
    progress_teller=$!
}

# end_progress: removes the line.
end_progress() {
    if [[ -z "$progress_teller" ]]; then return; fi
    kill -TERM "$progress_teller" 2>/dev/null || true
    wait "$progress_teller" 2>/dev/null || true
    progress_teller=
    printf '\r\e[K' >&2
}
