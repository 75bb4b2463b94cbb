#!/usr/bin/env bash
# Sourced by the scripts in tools/ that take pictures of a screen; does nothing by itself.

# skip WHY: prints the one line of a script that cannot run here, and exits.
skip() {
    printf 'skipped: %s\n' "$1"
    exit 77
}

# need_pictures PROGRAM [SETUP_OPTION...]: makes sure that an X server without a screen, the tools for pictures and the
# program are installed; skips where they cannot be.
need_pictures() {
    local program=$1 output
    shift
    if ! output="$(tools/setup --pictures "$@" 2>&1)"; then
        if [[ "$output" == *xvfb* || "$output" == *"$program"* ]]; then skip "no X server: ${output##*$'\n'}"; fi
        # shellcheck disable=SC2154 # by common.sh
        die "$exit_unavailable" "${output##*$'\n'}"
    fi
    for program in Xvfb import "$program"; do
        command -v "$program" >/dev/null || skip "no X server: $program is missing"
    done
}

# start_display DIRECTORY WIDTH HEIGHT: starts Xvfb on a free display, sets DISPLAY to it, and adds its process to
# `processes`.
start_display() {
    local number directory=$1
    mkfifo "$directory/display"
    Xvfb -displayfd 3 -screen 0 "$2x$3x24" -nolisten tcp -noreset 3>"$directory/display" >"$directory/xvfb.log" 2>&1 &
    processes+=($!)
    if ! read -r -t 60 number <"$directory/display"; then
        tail -n 3 -- "$directory/xvfb.log" >&2
        die 1 "Xvfb did not start"
    fi
    export DISPLAY=":$number"
}

# picture FILE: saves a picture of the whole screen.
picture() { import -silent -window root "png:$1"; }

# pixels FILE WIDTH HEIGHT LEFT: prints a checksum of the pixels of a part of it, without the file's other data.
pixels() { convert "png:$1" -crop "$2x$3+$4+0" +repage rgb:- | sha256sum; }

# is_settled FILE: saves the screen to FILE, and returns whether it looks as at the last call.
is_settled() {
    local before=
    if [[ -e "$1" ]]; then before="$(convert "png:$1" rgb:- | sha256sum)"; fi
    picture "$1"
    [[ "$before" == "$(convert "png:$1" rgb:- | sha256sum)" ]]
}

# until_true COMMAND...: repeats the command until it succeeds; fails after 30 s.
until_true() {
    local end=$((SECONDS + 30))
    until "$@"; do
        if ((SECONDS > end)); then return 1; fi
        sleep 0.05
    done
}

# end_processes ID...: ends the processes, the last one first, and waits until each is gone.
end_processes() {
    local place
    for ((place = $#; place > 0; place--)); do
        kill "${!place}" 2>/dev/null || true
        wait "${!place}" 2>/dev/null || true
    done
}
