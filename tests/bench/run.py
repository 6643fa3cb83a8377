#!/usr/bin/env python3
"""Measure modelcheck beside a plain read of the same bytes: run.py --bin PROGRAM --plain PLAIN_READ --measure MEASURE [INPUT...]

Inputs are made in a temporary folder with holes for data (gen.py), about 130 MiB on disk at the largest, and removed at the end.
Both programs run in alternation on a warm cache; figures are medians. Nothing is asserted: targets stand beside the figures.
"""
import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import gen

#: name -> (kind, N, extra arguments of modelcheck, target as text)
INPUTS = {
    "a DeepSeek-V3": ("deepseek", 0, [], "wall 4 x, 96 MiB"),
    "b Llama-3.1-8B": ("llama", 0, [], "10 ms CPU"),
    "c GGUF 19.8 GB": ("gguf", 0, [], "wall 3 x"),
    "d 10 models": ("tree", 10, ["--recursive"], ""),
    "d 100 models": ("tree", 100, ["--recursive"], ""),
    "d 1000 models": ("tree", 1000, ["--recursive"], ""),
    "e 1,000": ("experts", 1000, [], ""),
    "e 10,000": ("experts", 10000, [], ""),
    "e 100,000": ("experts", 100000, [], ""),
    "e 1,000,000": ("experts", 1000000, [], "per tensor within 1.3"),
}


def once(measure, command):
    """(wall ms, cpu ms, peak MiB, status)"""
    p = subprocess.run([measure, *map(str, command)], stdout=subprocess.PIPE, check=True)
    wall, cpu, rss, status = map(int, p.stdout.split())
    return wall / 1000, cpu / 1000, rss / 1024, status


def pair(a, ours, plain, runs):
    """Medians of both commands, run in turn."""
    rows = ([], [])
    for i in range(runs + 1):
        for row, command in zip(rows, (ours, plain)):
            got = once(a.measure, command)
            if i:                   # the first round warms the cache
                row.append(got)
    return [tuple(statistics.median(column) for column in zip(*row)) for row in rows]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("bin", "plain", "measure"):
        ap.add_argument("--" + name, required=True, type=lambda p: Path(p).resolve())
    ap.add_argument("--runs", type=int, default=9)
    ap.add_argument("inputs", nargs="*", help="first letters of input names; all without")
    a = ap.parse_args()
    print(f"program {a.bin.stat().st_size / 2**20:.2f} MiB (target below 2)   --version "
          f"{statistics.median(once(a.measure, [a.bin, '--version'])[1] for _ in range(20)):.1f} ms CPU (target below 5)\n")
    # what decoding every framework file adds to a start: both explain something, and only the second looks at that data
    plain, whole = (statistics.median(once(a.measure, [a.bin, "explain", *words])[1] for _ in range(20)) for words in (["MC101"], ["--error", "nothing prints this"]))
    print(f"framework data {whole - plain:.1f} ms CPU (target below 8)\n")
    print(f"{'input':16}{'tensors':>10}  {'modelcheck: wall':>17}{'CPU':>9}{'peak':>11}   {'plain: wall':>12}{'CPU':>9}   {'wall':>7}{'CPU':>8}   status  target")
    each = {}
    for name, (kind, n, extra, target) in INPUTS.items():
        if a.inputs and not any(name.startswith(i) for i in a.inputs):
            continue
        folder = Path(tempfile.mkdtemp(prefix="modelcheck-bench-"))
        try:
            tensors = gen.KINDS[kind](folder, n)
            header = folder / "header-bytes"
            bytes_ = header.read_text() if header.exists() else "0"
            header.unlink(missing_ok=True)
            runs = a.runs if tensors < 200000 else max(3, a.runs // 3)
            ours, plain = pair(a, [a.bin, *extra, folder], [a.plain, bytes_, folder], runs)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        each[name] = (tensors, ours[1])
        print(f"{name:16}{tensors:>10,}  {ours[0]:>14.1f} ms{ours[1]:>6.1f} ms{ours[2]:>7.1f} MiB   {plain[0]:>9.1f} ms{plain[1]:>6.1f} ms   {ours[0] / plain[0]:>5.1f} x"
              f"{ours[1] / plain[1] if plain[1] else 0:>6.1f} x   {ours[3]:>6.0f}  {target}", flush=True)
    linear(each)
    return 0


def linear(each):
    """CPU per tensor of the growing inputs; the start of the program, from the two smallest, is taken off."""
    rows = [v for k, v in each.items() if k.startswith("e ")]
    if len(rows) < 3:
        return
    (n0, c0), (n1, c1) = rows[0], rows[1]
    start = c0 - (c1 - c0) / (n1 - n0) * n0
    per = [(n, (c - start) * 1000 / n) for n, c in rows[1:]]
    print("\nCPU per tensor, start of the program (%.1f ms) taken off: %s; largest to smallest %.2f (target 1.3)"
          % (start, ", ".join(f"{n:,}: {us:.2f} us" for n, us in per), max(us for _, us in per) / min(us for _, us in per)))


if __name__ == "__main__":
    sys.exit(main())
