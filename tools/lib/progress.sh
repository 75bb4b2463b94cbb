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
