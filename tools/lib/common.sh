#!/usr/bin/env bash
# Sourced by the scripts in tools/ and .ci/; does nothing by itself.

# Exit statuses of sysexits.h.
readonly exit_usage=64
# shellcheck disable=SC2034 # used where this is sourced
readonly exit_unavailable=69

# The root of the package, wherever the clone is and whatever the working directory is.
root="$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)"
readonly root

# The name of the running script in messages: its path relative to the root.
script="$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)/$(basename -- "$0")"
script="${script#"$root"/}"
readonly script

# die STATUS MESSAGE: prints one line on standard error, and exits.
die() {
    printf '%s: %s\n' "$script" "$2" >&2
    exit "$1"
}

# Prints the help of the running script: the comment at its head.
help() {
    awk 'NR == 1 { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$root/$script"
}

# Reports a wrong option or argument.
usage_error() {
    die "$exit_usage" "$1; see $script --help"
}

# Runs git in the package's root, also where the clone belongs to another user, as in a container.
project_git() {
    git -c "safe.directory=$root" -C "$root" "$@"
}

# project_files [PATTERN...]: prints the project's existing files, NUL-terminated, relative to the root: the files in the
# index and those that are not ignored.
project_files() {
    local file
    project_git ls-files -z --cached --others --exclude-standard --deduplicate -- "$@" |
        while IFS= read -r -d '' file; do
            if [[ -f "$root/$file" ]]; then
                printf '%s\0' "$file"
            fi
        done
}
