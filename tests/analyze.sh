#!/bin/sh
# Static analysis of the sources given: clang-tidy, cppcheck, gcc -fanalyzer. Shows what they say; fails if any says something.
# Checks that are off: those that contradict the house style, and false alarms that were looked at (each with its reason).
cd "$(dirname "$0")/.." || exit 1
flags="-std=c17 -D_XOPEN_SOURCE=700 -D_FILE_OFFSET_BITS=64 -Isrc -Iinclude"
failed=0

# bugprone-easily-swappable-parameters, -narrowing-conversions: -Wconversion decides. insecureAPI: wants C11's _s functions.
# -branch-clone: rows of alike cases read better. -not-null-terminated-result: memchr and memcpy on byte tables, on purpose.
# -sizeof-expression: arrays of pointers. -implicit-widening: products of small counts. valist: a false alarm of clang 14.
# -reserved-identifier: feature macros. optin.performance.Padding: order of fields is for readers. misc-no-recursion stays on: nothing recurses on input.
echo "== clang-tidy"
# shellcheck disable=SC2086
clang-tidy --quiet --warnings-as-errors='*' \
  --checks='-*,bugprone-*,-bugprone-easily-swappable-parameters,-bugprone-narrowing-conversions,-bugprone-branch-clone,-bugprone-assignment-in-if-condition,-bugprone-not-null-terminated-result,-bugprone-sizeof-expression,-bugprone-implicit-widening-of-multiplication-result,-bugprone-misplaced-widening-cast,-bugprone-too-small-loop-variable,-bugprone-reserved-identifier,-bugprone-suspicious-include,cert-err34-c,clang-analyzer-*,-clang-analyzer-valist.Uninitialized,-clang-analyzer-optin.performance.Padding,-clang-analyzer-security.FloatLoopCounter,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,misc-no-recursion,misc-redundant-expression,misc-unused-parameters,performance-*,readability-misleading-indentation,readability-non-const-parameter' \
  "$@" -- $flags 2>/dev/null || failed=1

echo "== cppcheck"
cppcheck --quiet --std=c11 --enable=warning,portability,performance --inline-suppr --error-exitcode=1 -Isrc -Iinclude \
  -D_XOPEN_SOURCE=700 --suppress=missingIncludeSystem --suppress=internalAstError --suppress=uninitvar:src/api/header.c --suppress=normalCheckLevelMaxBranches "$@" || failed=1

echo "== gcc -fanalyzer"
for f in "$@"; do
    # shellcheck disable=SC2086
    gcc $flags -O1 -fanalyzer -Werror -c -o /dev/null "$f" || failed=1
done
exit "$failed"
