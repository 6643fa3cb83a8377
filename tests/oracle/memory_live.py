#!/usr/bin/env python3
"""Compares what the real llama.cpp allocates with what `modelcheck memory --engine llama.cpp` says it will.

    memory_live.py [--bin build/modelcheck] [-n 19] [--only K]

Model K of live_models.py is written, loaded by llama.cpp (llama.py) and measured by modelcheck. Equal must be: each cache in cells,
layers, streams and in bytes of K and V as far as two decimals of a MiB show them, the recurrent state, and the model buffer up to the
alignment of its tensors. Skipped by name without the package xllamacpp. Prints `N passed, N failed`.
"""
import argparse
import concurrent.futures
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import live_models
import llama

MIB = 1 << 20
HALF = 0.005 * MIB + 1                  # half a unit of the last printed digit


def options(q):
    out = ["--context", q["context"], "--sequences", q["sequences"], "--kv-dtype", f"{q['k']},{q['v']}", "--engine-option", f"ubatch={q['ubatch']}"]
    for name, given in (("kv-unified", q["unified"]), ("swa-full", q["swa_full"]), ("no-mmap", q["no_mmap"]), ("flash-attn=off", q["flash"] == "off")):
        out += ["--engine-option", name] if given else []
    return [str(x) for x in out]


def asked(binary, path, q):
    """The memory object of modelcheck, or a line that says what went wrong."""
    p = subprocess.run([binary, "memory", path, "--engine", "llama.cpp", "--format", "json", *options(q)], capture_output=True, timeout=60)
    if p.returncode not in (0, 1) or not p.stdout:
        return f"modelcheck ends with {p.returncode}: {p.stderr.decode(errors='replace').strip()[:200]}"
    return json.loads(p.stdout)["models"][0]["memory"]


def differences(seen, said, n_tensors):
    """Lines, one for each figure that is not equal."""
    out = []
    ours = sorted((c["cells"], c["layers"], c["streams"], c["k_bytes"], c["v_bytes"]) for c in said["caches"])
    theirs = sorted((c["cells"], c["layers"], c["streams"], c["k_mib"] * MIB, c["v_mib"] * MIB) for c in seen["caches"])
    alike = len(ours) == len(theirs) and all(a[:3] == b[:3] and abs(a[3] - b[3]) <= HALF and abs(a[4] - b[4]) <= HALF for a, b in zip(ours, theirs))
    if not alike:
        out.append(f"caches (cells, layers, streams, K, V): llama.cpp {theirs}, modelcheck {ours}, {said['cache_reason'] or said['cache']}")
    checks = [("state", seen["state_mib"] * MIB, said["state_bytes"], 2 * HALF * seen["states"]),
              ("model", seen["model_mib"] * MIB, said["weights_bytes"], HALF * seen["models"] + 32 * n_tensors)]
    for name, theirs, ours, room in checks:
        if ours is None or abs(ours - theirs) > room:
            out.append(f"{name}: llama.cpp {theirs:.0f}, modelcheck {ours}")
    return out


def judge(k, binary, folder):
    """(architecture, problems)"""
    path = str(folder / f"{k}.gguf")
    arch, q, n_tensors = live_models.make(k, path)
    seen = llama.load(path, q)
    if not seen["ready"] or not seen["models"]:
        return arch, [f"llama.cpp does not load it: {[x for x in seen['log'].splitlines() if ' E ' in x or 'ASSERT' in x][:2]}"]
    said = asked(binary, path, q)
    problems = [said] if isinstance(said, str) else differences(seen, said, n_tensors)
    Path(path).unlink()
    return arch, [f"{p}\n    {' '.join(options(q))}" for p in problems]


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--bin", default="build/modelcheck")
    a.add_argument("-n", type=int, default=len(live_models.ARCHITECTURES), help="models; each architecture comes once in the default")
    a.add_argument("--only", type=int, help="one model")
    a = a.parse_args()
    if not llama.available():
        print("skipped: the package xllamacpp is not installed (tests/oracle/fetch.sh)\n0 passed, 0 failed")
        return 0
    numbers = range(a.n) if a.only is None else [a.only]
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="modelcheck-live-") as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for k, (arch, problems) in zip(numbers, pool.map(lambda k: judge(k, a.bin, Path(folder)), numbers)):
            for p in problems:
                print(f"model {k} {arch}: {p}")
            passed, failed = passed + (not problems), failed + bool(problems)
    print(f"memory of {passed + failed} models in llama.cpp: {passed} passed, {failed} failed")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
