#!/usr/bin/env bash
# Sourced by tools/check; does nothing by itself.

# What does not run under a sanitizer, each with its reason; regular expressions for `swift test --skip`.
#
# FaultTests: they start a process anew for each of its system calls, under strace: with a sanitizer each takes a second
#     to start, so they pass their limits.
# a limit of file size: sanitizers write past it, and end the process.
# leaves the terminal as it was however it dies: a sanitizer makes another end of a signal that kills.
# in the moment of its grant leaves no lock, of tasks that count lose none: on a busy machine they take longer than their
#     limits, which are a test's and a lock's own.
sanitizer_skips=(
    'in the moment of its grant leaves no lock' 'of tasks that count lose none'
    '^FaultTests\.' 'a limit of file size is an error' 'leaves the terminal as it was however it dies'
)

# sanitize thread|address: builds the tests in .build/<kind>, runs them, and fails where a test fails or anybody reports.
#
# Our own handler of SIGBUS stays: a map's file that was cut short is no mistake of ours. `log_path` keeps reports out of
# what the processes print, which the tests read.
sanitize() {
    local kind="$1" reports skip=() pattern status=0
    reports="$(mktemp -d)"
    local common="handle_segv=0:handle_sigbus=0:handle_abort=0:log_path=$reports/report"
    case "$kind" in
        thread) export TSAN_OPTIONS="$common" ;;
        address)
            # LeakSanitizer does not see a reference that Swift keeps in an enum with several payloads: the kind is in bits of
            # the pointer. It takes what such a one refers to for lost.
            export ASAN_OPTIONS="$common:detect_leaks=0"
            ;;
    esac
    for pattern in "${sanitizer_skips[@]}"; do skip+=(--skip "$pattern"); done
    swift build --build-tests --sanitize="$kind" --scratch-path ".build/$kind" || status=1
    if ((status == 0)); then
        SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=6 GROUP_CONTAINER_PATIENCE=600 \
            ".build/$kind/debug/group-containerPackageTests.xctest" --testing-library swift-testing "${skip[@]}" || status=1
    fi
    for pattern in "$reports"/report*; do
        [[ -s "$pattern" ]] || continue
        cat -- "$pattern"
        status=1
    done
    rm -rf -- "$reports"
    return "$status"
}
