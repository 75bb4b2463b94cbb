#!/usr/bin/env bash
# Sourced by the scripts in tools/; does nothing by itself. A line on a terminal that says how far something is.

progress_teller=

# tell_progress FUNCTION: from a second on, what FUNCTION prints, twice a second, where standard error is a terminal.
tell_progress() {
    if [[ ! -t 2 ]]; then return; fi
    {
        exec {never}<> <(:)
        read -r -t 0.5 -u "$never" || true
        while ! read -r -t 0.5 -u "$never"; do printf '\r\e[K%.79s' "$("$1")" >&2; done
    } &
    progress_teller=$!
}

# end_progress: the line goes.
end_progress() {
    if [[ -z "$progress_teller" ]]; then return; fi
    kill -TERM "$progress_teller" 2>/dev/null || true
    wait "$progress_teller" 2>/dev/null || true
    progress_teller=
    printf '\r\e[K' >&2
}
