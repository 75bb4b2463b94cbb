#!/usr/bin/env bash
# Sourced by tools/test; does nothing by itself.

# count_tests [TARGET...]: prints the number of tests in the sources of test targets, or of all: that of a run without a
# filter, or a little more.
count_tests() {
    local files patterns=("${@/#/Tests/*/}")
    mapfile -d '' -t files < <(project_files "${patterns[@]/%//*.swift}")
    cat -- "${files[@]}" | grep -c '^ *@Test'
}

# list_failures: prints those lines of the output of `swift test` that are about failures, each once (a failure outside of
# any test is printed for each test that runs); where the process died, the tests that ran then.
list_failures() {
    awk '
        function quoted() { return match($0, /"[^"]*"/) ? substr($0, RSTART, RLENGTH) : $0 }
        /^✘ (Suite|Test run) / { next }
        /^✘ / { shown = !seen[$0]++; if (shown) print; next }
        /^◇ Test .* started\.$/ && !/^◇ Test (case|run)/ { running[quoted()] = 1; shown = 0; next }
        /^✔ Test .* (passed|skipped)/ { delete running[quoted()]; shown = 0; next }
        /^(◇|✔|➜|↳ Test)/ { shown = 0; next }
        /[Ff]atal error|exited with|unexpected signal|error: / { died = 1; print; next }
        shown { print }
        END { if (died) for (test in running) print "had not ended: " test }
    '
}

# show_progress TOTAL: reads the output of `swift test`; on a terminal, shows one line with the progress, below the lines
# about failures. With 0 the line has no total. Prints all other lines as they are.
show_progress() {
    awk -v total="$1" -v began="$(date +%s)" '
        function status() {
            "date +%s" | getline now
            close("date +%s")
            printf "\r\033[K%d%s tests passed%s, %d s", passed, total > 0 ? " of about " total : "",
                failed > 0 ? ", \033[31m" failed " failed\033[0m" : "", now - began
            fflush()
        }
        function pass_on() { printf "\r\033[K%s\n", $0; status() }
        /^◇ / { next }
        /^✔ Test .* passed after / { passed++; if (passed % 5 == 0) status(); next }
        /^✔ Test run / { pass_on(); next }
        /^✔ / { next }
        /^✘ Test .* failed after / { failed++; shown = 1; pass_on(); next }
        /^✘ Suite / { next }
        /^✘ / { shown = 1; pass_on(); next }
        /^↳/ || /^  / { if (shown) pass_on(); next }
        /^➜ / { next }
        { shown = 1; pass_on() }
        END { printf "\r\033[K" }
    '
}

# show_slowest USAGE: prints the suites that used most processor time, of a file that the tests' process has written: a
# line for each suite, with the number of programs, microseconds and the suite's name. The time of a suite is that of its
# programs, and of its own threads if it blocks.
show_slowest() {
    printf '\nsuites by processor time:\n'
    # The last program reads to the end: if it ended earlier, the signal SIGPIPE to another one would be a failure.
    LC_ALL=C sort -t $'\t' -k 2,2nr -- "$1" |
        awk -F '\t' '$3 != "-" && ++shown <= 11 { printf "%7.1f s %6d programs  %s\n", $2 / 1e6, $1, $3 }'
}

readonly process_counts=Tests/Support/process-counts.txt

# check_process_counts USAGE: fails if a suite has started over half as many programs again as are recorded for it, and
# ten more.
check_process_counts() {
    # shellcheck disable=SC2154 # by common.sh
    local made="$root/.build/process-counts.txt"
    LC_ALL=C awk -F '\t' '$1 > 0 && $3 ~ /[.]/ { print $1 "\t" $3 }' "$1" | LC_ALL=C sort -t $'\t' -k 2 >"$made"
    awk -F '\t' '
        NR == FNR { recorded[$2] = $1; next }
        $1 > recorded[$2] * 1.5 + 10 {
            printf "%s starts %d programs, and %d are recorded\n", $2, $1, recorded[$2]
            failed = 1
        }
        END { exit failed }
    ' "$root/$process_counts" "$made" && return
    echo "if a suite needs them: cp .build/process-counts.txt $process_counts"
    return 1
}
