#!/usr/bin/env bash
# Sourced by tools/check; does nothing by itself.

# Regular expressions, for `swift test --skip`, of the tests that do not run under a sanitizer, with the reasons:
#
# FaultTests: the tests start a process for each of its system calls, under strace. With a sanitizer each start takes a
#     second, so the tests exceed their limits.
# a limit of file size: sanitizers write past it, and end the process.
# the Today view restores the terminal however its process dies: with a sanitizer, a process that a signal kills ends in another way.
# cancelled in the moment of its grant, tasks that increase a number: on a busy machine the tests exceed the limits
#     of a test and of a lock.
sanitizer_skips=(
    'cancelled in the moment of its grant leaves no lock' 'tasks that increase a number at the same time'
    '^FaultTests\.' 'a limit of file size is an error' 'the Today view restores the terminal however its process dies'
)

# sanitize thread|address: builds the tests in .build/<kind>, runs them, and fails if a test fails or the sanitizer
# reports anything.
#
# Our own handler of SIGBUS stays, because a mapped file that was cut short is no fault of the code. `log_path` keeps
# reports out of the processes' output, which the tests read.
sanitize() {
    local kind="$1" reports skip=() pattern status=0
    reports="$(mktemp -d)"
    local common="handle_segv=0:handle_sigbus=0:handle_abort=0:log_path=$reports/report"
    case "$kind" in
        thread) export TSAN_OPTIONS="$common" ;;
        address)
            # LeakSanitizer does not recognize a reference in a Swift enum with several payloads, because the case is in
            # bits of the pointer, and reports the object as a leak.
            export ASAN_OPTIONS="$common:detect_leaks=0"
            ;;
    esac
    for pattern in "${sanitizer_skips[@]}"; do skip+=(--skip "$pattern"); done
    # shellcheck disable=SC2154 # by common.sh
    swift_build --traits "$all_traits" --build-tests --sanitize="$kind" --scratch-path ".build/$kind" || status=1
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
