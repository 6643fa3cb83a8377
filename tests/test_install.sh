#!/bin/sh
# make install into a staging directory: everything is there, a program builds against the header and the library, and
# exports nothing but the public API.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
check() { # name, command...
    name=$1
    shift
    if "$@" > "$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name"
        cat "$work/log"
    fi
}

check "make install" make --no-print-directory install DESTDIR="$work/stage" PREFIX=/opt/mc
root=$work/stage/opt/mc
for f in bin/modelcheck lib/libmodelcheck.so lib/pkgconfig/modelcheck.pc include/modelcheck.h share/man/man1/modelcheck.1 \
         share/doc/modelcheck/rules.md share/doc/modelcheck/report.schema.json; do
    check "$f" test -e "$root/$f"
done
check "the installed program" "$root/bin/modelcheck" fixtures/sample
small() { test "$(stat -c %s "$root/bin/modelcheck")" -lt 2097152; }
check "the program, its data embedded, is smaller than 2 MiB" small
others() { ! nm -D --defined-only "$root/lib/libmodelcheck.so" | awk '{print $3}' | grep -v '^modelcheck_'; }
check "exports only modelcheck_*" others

cat > "$work/user.c" <<'END'
#include <modelcheck.h>
int main(int argc, char **argv)
{
    uint64_t tensors = 0;
    modelcheck *mc = modelcheck_new();
    if (argc != 2 || !mc || modelcheck_set(mc, "context", "64") || modelcheck_set(mc, "ignore", "MC708") || modelcheck_add(mc, argv[1]))
        return 9;
    int status = modelcheck_run(mc);
    if (modelcheck_models(mc) != 1 || modelcheck_findings(mc, 0) != 0 || modelcheck_fact(mc, 0, "weights.tensors", &tensors) || tensors != 21)
        return 8;
    if (modelcheck_write(mc, stdout, "json", NULL) || modelcheck_write(mc, stdout, "text", "memory") || !modelcheck_write(mc, stdout, "xml", NULL))
        return 7;
    modelcheck_free(mc);
    return status;
}
END
check "a C program" ${CC:-cc} -std=c99 -Wall -Wextra -Wpedantic -Werror -I"$root/include" -o "$work/user" "$work/user.c" -L"$root/lib" -lmodelcheck
check "runs it" env LD_LIBRARY_PATH="$root/lib" "$work/user" fixtures/sample
if command -v c++ >/dev/null 2>&1; then
    check "a C++ program" c++ -x c++ -Wall -Wextra -I"$root/include" -o "$work/user++" "$work/user.c" -x none -L"$root/lib" -lmodelcheck
fi
check "make uninstall" make --no-print-directory uninstall DESTDIR="$work/stage" PREFIX=/opt/mc
nothing_left() { [ -z "$(find "$work/stage" -type f -o -type l)" ]; }
check "leaves nothing" nothing_left

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
