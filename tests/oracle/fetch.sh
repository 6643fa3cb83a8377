#!/bin/sh
# Fetches what the oracle compares with into build/, once: the npm package that carries ggml's library (Linux on x86-64).
# The safetensors package comes with scripts/setup.sh. Whatever cannot be had is left out: oracle.py then skips it by name.
set -u
cd "$(dirname "$0")/../.."
version=3.22.1
dir=build/ggml/$version
[ -e "$dir/package/bins/linux-x64/libggml-base.so" ] && exit 0
command -v npm >/dev/null 2>&1 || { echo "oracle: no npm, so no @node-llama-cpp/linux-x64" >&2; exit 0; }
mkdir -p "$dir"
(cd "$dir" && npm pack --silent "@node-llama-cpp/linux-x64@$version" >/dev/null && tar xzf ./*.tgz package/bins/linux-x64/libggml-base.so && rm -f ./*.tgz) ||
    echo "oracle: @node-llama-cpp/linux-x64@$version could not be fetched" >&2
