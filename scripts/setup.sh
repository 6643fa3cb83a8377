#!/bin/sh
# Installs what is missing, for one purpose: setup.sh run|test|fuzz|analyze. Debian and Ubuntu through apt (sudo when not root);
# elsewhere it names what is missing. Does nothing, quickly, when all is there.
set -eu
purpose=${1:-run}
cd "$(dirname "$0")/.."

has() { command -v "$1" >/dev/null 2>&1; }
header() { echo "#include <$1>" | ${CC:-cc} -E -x c - >/dev/null 2>&1; }

packages=""
want() { packages="$packages $1"; }
has cc || want gcc
has make || want make
{ has cc && header xxhash.h; } || want libxxhash-dev
if [ "$purpose" != run ]; then
    has python3 || want python3
    python3 -c 'import ensurepip, venv' 2>/dev/null || want python3-venv
    { has cc && printf '#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <setjmp.h>\n#include <cmocka.h>\n' | cc -E -x c - >/dev/null 2>&1; } || want libcmocka-dev
    has clang || want clang
    has git || want git
fi
if [ "$purpose" = fuzz ] && ! { has clang && echo 'int LLVMFuzzerTestOneInput(void){return 0;}' | clang -fsanitize=fuzzer,address -x c -o /dev/null - 2>/dev/null; }; then
    want clang
    want "libclang-rt-$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -1)-dev"
fi
if [ "$purpose" = analyze ]; then
    has clang-tidy || want clang-tidy
    has cppcheck || want cppcheck
    has clang-format || want clang-format
fi

if [ -n "$packages" ]; then
    if ! has apt-get; then
        echo "setup: please install:$packages" >&2
        exit 1
    fi
    sudo=""
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    echo "setup: installing$packages" >&2
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2
    # shellcheck disable=SC2086
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
fi

# Python packages that only tests use: the reference readers, the schema validator, the real pre-commit.
if [ "$purpose" = test ]; then
    stamp=build/venv/.complete-1
    if [ ! -e "$stamp" ]; then
        echo "setup: Python environment in build/venv" >&2
        mkdir -p build
        python3 -m venv build/venv
        build/venv/bin/pip install -q --disable-pip-version-check jsonschema safetensors numpy pre-commit
        : >"$stamp"
    fi
fi
