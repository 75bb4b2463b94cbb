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

# The traits of the package that the tools build with. The trait GTK is not among them, because it installs much.
readonly all_traits=InotifyTools,SQLite,Curl,Secrets,PNG,ICalendar

# The traits of packages: those that programs use, without libinotifytools, which is under the GPL-2 only and may not be
# passed on in one program with OpenSSL 3. Events come from the kernel then.
# shellcheck disable=SC2034 # used where this is sourced
readonly package_traits=SQLite,Curl,Secrets,GTK

# use_traits LIST: takes the value of an option --traits: names of traits, separated by commas, "all" among them, or "none".
# Sets `traits` to it, and the array `swift_options` to the options of `swift build` for it. Each list has a build
# directory of its own, because all is built anew when the list changes: .build for none, as that of a plain `swift build`,
# and .build/tools for all, whose modules are optimized (see Package.swift), without debug information: both make the build
# and the tests together faster.
use_traits() {
    local name
    traits=",$1,"
    traits="${traits/,all,/,$all_traits,}"
    traits="${traits:1:-1}"
    case "$traits" in
        none) swift_options=() ;;
        "$all_traits")
            swift_options=(--traits "$traits" --scratch-path "$root/.build/tools" -debug-info-format none)
            ;;
        *)
            for name in ${traits//,/ }; do
                [[ ",$all_traits,GTK," == *",$name,"* ]] ||
                    usage_error "there is no trait '$name'; the traits are ${all_traits//,/, }, GTK, all (but GTK) and none"
            done
            [[ -n "$traits" ]] || usage_error "--traits needs names of traits, or none"
            # shellcheck disable=SC2034 # used where this is sourced
            swift_options=(--traits "$traits" --scratch-path "$root/.build/$traits")
            ;;
    esac
}

# use_release: has `swift_options` be those of the programs that tools/install installs with the present traits, if they
# are linked with libraries of the system.
use_release() {
    swift_options=(
        -c release --static-swift-stdlib -Xlinker --gc-sections --scratch-path "$root/.build/install-dynamic"
    )
    [[ "$traits" == none ]] || swift_options+=(--traits "$traits")
}

# has_trait NAME: returns whether the trait is among those that use_traits was called with.
has_trait() {
    [[ ",$traits," == *",$1,"* ]]
}

use_traits "$all_traits"

# swift_build ARGUMENT...: runs `swift build`. SwiftPM passes the traits to the compiler in the order of a set, which is
# another one in each run unless hashes are deterministic; with another order, everything is built anew. (The tests run
# without the variable: they are to see all orders.)
swift_build() {
    with_package_settings env SWIFT_DETERMINISTIC_HASHING=1 swift build "$@"
}

# with_package_settings COMMAND...: runs a command, with the variable that Package.swift reads if its build directory is
# that of all traits.
with_package_settings() {
    if [[ " $* " == *" $root/.build/tools "* ]]; then
        GROUP_CONTAINER_OPTIMIZED=1 "$@"
    else
        "$@"
    fi
}

# build PRODUCT...: builds products of the package for debugging, and sets `binaries` to the directory that they are in.
build() {
    local product
    for product in "$@"; do swift_build --package-path "$root" "${swift_options[@]}" --product "$product"; done
    # shellcheck disable=SC2034 # used where this is sourced
    binaries="$(swift_build --package-path "$root" "${swift_options[@]}" --show-bin-path)"
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
