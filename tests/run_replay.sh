#!/bin/sh
# Replays the fuzz corpora: run_replay.sh DIR TARGET... Each file is one test; a crash names it. Ends with `N passed, N failed`.
dir=$1
shift
passed=0 failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for t in "$@"; do
    set -- tests/fuzz/corpus/"$t"/*
    if [ ! -e "$1" ]; then
        echo "FAIL $t: no corpus in tests/fuzz/corpus/$t"
        failed=$((failed + 1))
    elif "$dir/replay-$t" "$@" >"$log" 2>&1; then
        passed=$((passed + $#))
    else
        echo "FAIL replay-$t"
        tail -30 "$log"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
