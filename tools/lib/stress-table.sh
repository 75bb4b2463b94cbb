#!/usr/bin/env bash
# shellcheck disable=SC2154 # work, binaries and seconds are those of tools/stress-writers
# Sourced by tools/stress-writers: prints the table of many processes at one item through the Swift API. Uses that
# script's $work, $binaries and $seconds.

# one_row PROCESSES READS-PER-HUNDRED: prints a row; a wrong result ends the script.
one_row() {
    local processes="$1" reads_share="$2" group="$work/table" i begin end
    local -a started=()
    rm -rf -- "$group"
    "$binaries/groupctl" create "$group"
    echo 0 | "$binaries/groupctl" write "$group" n
    begin=$(($("$binaries/bench-worker" now) + 200000000))
    end=$((begin + seconds * 1000000000))
    for ((i = 0; i < processes; i++)); do
        "$binaries/bench-worker" work "$group" "$reads_share" "$begin" "$end" "$((i + 1))" >"$work/row.$i" &
        started+=($!)
        workers+=($!)
    done
    for i in "${started[@]}"; do wait "$i" || die 1 "a worker failed"; done
    workers=()
    local value records
    value="$("$binaries/groupctl" read "$group" n)"
    records="$(("$("$binaries/groupctl" changes --since start "$group" | wc -l)" - 1))"
    cat -- "$work"/row.* | awk -v n="$processes" -v share="$reads_share" -v s="$seconds" -v value="$value" -v records="$records" '
        { w += $1; r += $2; all = $1 + $2; if (NR == 1 || all < least) least = all; if (all > most) most = all
          if ($3 > wait) wait = $3; if ($4 > write) write = $4; faults += $5 }
        END {
            printf "| %d | %d | %d | %d | %.2f | %.1f | %.1f | %d | %d |\n", n, share, r / s, w / s, least / most,
                wait / 1000, write / 1000, w - value, faults
            exit w != value || records != value || faults > 0
        }'
    rm -f -- "$work"/row.*
}

stress_table() {
    local processes reads_share
    echo "| processes | reads of 100 | reads/s | writes/s | min/max | longest wait, ms | of a write, ms | lost | went back |"
    echo "|---|---|---|---|---|---|---|---|---|"
    for processes in 2 4 8 16; do
        for reads_share in 0 50 90; do
            one_row "$processes" "$reads_share" || die 1 "not exact"
        done
    done
}

# One writer beside processes that only read.
stress_readers() {
    local readers="$1" group="$work/table" begin end i
    rm -rf -- "$group"
    "$binaries/groupctl" create "$group"
    echo 0 | "$binaries/groupctl" write "$group" n
    begin=$(($("$binaries/bench-worker" now) + 200000000))
    end=$((begin + seconds * 1000000000))
    local -a started=()
    for ((i = 0; i < readers; i++)); do
        "$binaries/bench-worker" work "$group" 100 "$begin" "$end" "$((i + 1))" >"$work/row.$i" &
        started+=($!)
        workers+=($!)
    done
    "$binaries/bench-worker" work "$group" 0 "$begin" "$end" 99 >"$work/writer" &
    started+=($!)
    workers+=($!)
    for i in "${started[@]}"; do wait "$i" || die 1 "a worker failed"; done
    workers=()
    cat -- "$work"/row.* "$work/writer" | awk -v n="$readers" -v s="$seconds" '
        { w += $1; r += $2; if ($4 > write) write = $4; faults += $5 }
        END { printf "One writer beside %d readers: %d reads and %d writes a second; the writer waited %.1f ms at most.\n", n, r / s, w / s, write / 1000
              exit faults > 0 }' || die 1 "a reader saw the number go back"
    rm -f -- "$work"/row.* "$work/writer"
}
