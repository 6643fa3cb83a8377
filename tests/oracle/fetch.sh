#!/bin/sh
# Fetches what the oracles compare with into build/, once: the npm package that carries ggml's library (Linux on x86-64), and the
# PyPI package that carries llama.cpp. The safetensors package comes with scripts/setup.sh. Whatever cannot be had is left out:
# the oracles then skip it by name.
set -u
cd "$(dirname "$0")/../.."

version=3.22.1
dir=build/ggml/$version
if [ ! -e "$dir/package/bins/linux-x64/libggml-base.so" ]; then
    if command -v npm >/dev/null 2>&1; then
        mkdir -p "$dir"
        (cd "$dir" && npm pack --silent "@node-llama-cpp/linux-x64@$version" >/dev/null && tar xzf ./*.tgz package/bins/linux-x64/libggml-base.so && rm -f ./*.tgz) ||
            echo "oracle: @node-llama-cpp/linux-x64@$version could not be fetched" >&2
    else
        echo "oracle: no npm, so no @node-llama-cpp/linux-x64" >&2
    fi
fi

# The last part of the version is the build of llama.cpp.
llama=2026.10.11549
python=build/venv/bin/python
if [ -x "$python" ] && ! "$python" -c "import importlib.metadata as m; raise SystemExit(m.version('xllamacpp') != '$llama')" 2>/dev/null; then
    "$python" -m pip install -q --disable-pip-version-check "xllamacpp==$llama" >/dev/null 2>&1 || echo "oracle: xllamacpp==$llama could not be installed" >&2
fi

# Some gigabytes, since torch brings its GPU libraries along: only where the whole comparison was asked for (make oracle).
transformers=5.24.0
if [ -n "${WITH_TRANSFORMERS:-}" ] && [ -x "$python" ] && ! "$python" -c "import importlib.metadata as m; m.version('torch'); raise SystemExit(m.version('transformers') != '$transformers')" 2>/dev/null; then
    "$python" -m pip install -q --disable-pip-version-check "transformers==$transformers" torch >/dev/null 2>&1 || echo "oracle: transformers==$transformers and torch could not be installed" >&2
fi
exit 0
