#!/bin/sh
# Runs cmocka programs one after the other: their failures, then `N passed, N failed`.
passed=0 failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for t in "$@"; do
    "$t" >"$log" 2>&1
    status=$?
    ok=$(grep -c '^\[       OK \]' "$log")
    bad=$(grep '^\[  FAILED  \] [a-z][A-Za-z0-9_]*$' "$log" | sort -u | wc -l)
    if [ "$status" -ne 0 ]; then
        [ "$bad" -gt 0 ] || bad=1
        echo "FAIL $t (status $status)"
        grep -v '^\[\( RUN  \|       OK \)' "$log"
    fi
    passed=$((passed + ok))
    [ "$status" -eq 0 ] || failed=$((failed + bad))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
