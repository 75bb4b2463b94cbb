#!/usr/bin/env bash
# Sourced by the scripts in tools/ and .ci/; does nothing by itself.

# Exit statuses of sysexits.h.
readonly exit_usage=64
# shellcheck disable=SC2034 # used where this is sourced
readonly exit_unavailable=69

# The root of the package, wherever it was cloned to and wherever we were called from.
root="$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)"
readonly root

# How the running script is called in messages: its path below the root.
script="$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)/$(basename -- "$0")"
script="${script#"$root"/}"
readonly script

# die STATUS MESSAGE: exactly one line on standard error.
die() {
    printf '%s: %s\n' "$script" "$2" >&2
    exit "$1"
}

# Prints the comment block at the head of the running script, which is its help.
help() {
    awk 'NR == 1 { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$root/$script"
}

# A wrong option or argument.
usage_error() {
    die "$exit_usage" "$1; see $script --help"
}

# git in the package's root, also when the clone belongs to another user, as in a container.
project_git() {
    git -c "safe.directory=$root" -C "$root" "$@"
}

# project_files [PATTERN...]: the project's own files that exist, NUL-terminated, relative to the root:
# those in the index and those not ignored.
project_files() {
    local file
    project_git ls-files -z --cached --others --exclude-standard --deduplicate -- "$@" |
        while IFS= read -r -d '' file; do
            if [[ -f "$root/$file" ]]; then
                printf '%s\0' "$file"
            fi
        done
}
