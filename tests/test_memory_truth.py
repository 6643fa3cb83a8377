#!/usr/bin/env python3
"""What `modelcheck memory` says against what engines printed: every row of data/memory_truth.tsv and data/memory_live.tsv.

    test_memory_truth.py MODELCHECK [--table] [--only ID,ID]     --table prints each row with its deviation

Published figures: at least 95 % of the rows within 0.5 %, none beyond 6 %, and no floor above what was seen by more than half
a unit of the last printed digit (carried through where the input is a printed figure). llama.cpp's own run: cache, state and
model buffers equal as far as it prints them.
"""
import csv
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import memory_models as models  # noqa: E402

UNITS = {"MiB": 2 ** 20, "GiB": 2 ** 30, "tokens": 1, "cells": 1}
LIMIT, WITHIN, SHARE = 6.0, 0.5, 0.95
MIB = 2 ** 20


def table(name):
    with open(HERE / "data" / name, newline="") as f:
        return list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))


def ask(binary, path, args):
    p = subprocess.run([binary, "memory", "--format", "json", "--isolated", *args, str(path)], capture_output=True, text=True, timeout=120)
    if not p.stdout:
        raise RuntimeError(p.stderr.strip())
    found = json.loads(p.stdout)["models"]
    if not found:
        raise RuntimeError("no model found")
    return found[0]["memory"]


# ---- published figures ----

def arguments(r):
    args = ["--engine", r["engine"], "--sequences", r["sequences"]]
    if r["context"] != "0":
        args += ["--context", r["context"]]
    if r["cache_type_k"] != "auto":
        args += ["--kv-dtype", f"{r['cache_type_k']},{r['cache_type_v']}"]
    for o in r["options"].split() if r["options"] != "-" else ():
        name, _, value = o.partition("=")
        if name in ("tp", "pp", "gpu-layers"):
            args += ["--" + name, value]
        elif name == "platform":
            args += ["--gpu", value]
        else:
            args += ["--engine-option", o]
    return args


def model(r, out):
    keys = json.loads(r["keys"]) if r["keys"] != "-" else None
    if r["config_dir"] == "gguf":
        models.gguf(out / "model.gguf", keys)
        return out / "model.gguf"
    if r["config_dir"] == "tensors":
        models.gguf_of_tensors(out / "model.gguf", keys)
        return out / "model.gguf"
    files = {"config.json": keys} if keys else CONFIGS[r["config_dir"]]
    models.directory(out / "model", files, r["input"] == "headers")
    return out / "model"


def caches(m, name, part=("k_bytes", "v_bytes")):
    return sum(c[p] for c in m["caches"] if c["name"] == name for p in part)


def device(m, name):
    return next(d for d in m["devices"] if d["name"] == name)


def term(m, name):
    return sum(t["bytes"] for t in m["terms"] if t["name"] == name)


QUANTITIES = {
    "kv_bytes": lambda m: m["kv_bytes"],
    "state_bytes": lambda m: m["state_bytes"],
    "kv_plus_state_bytes": lambda m: m["kv_bytes"] + m["state_bytes"],
    "kv_window_bytes": lambda m: caches(m, "window"),
    "kv_growing_bytes": lambda m: caches(m, "full"),
    "kv_growing_bytes_without_index": lambda m: caches(m, "full"),
    "cells_growing": lambda m: sum(c["cells"] * c["streams"] for c in m["caches"] if c["name"] == "full"),
    "weights_bytes": lambda m: m["weights_bytes"],
    "weights_host_bytes": lambda m: device(m, "host")["weights_bytes"],
    "weights_device_bytes": lambda m: device(m, "gpu0")["weights_bytes"],
    "weights_bytes_per_device": lambda m: device(m, "gpu0")["weights_bytes"],
    "kv_bytes_per_device": lambda m: device(m, "gpu0")["kv_bytes"],
    "k_bytes": lambda m: sum(c["k_bytes"] for c in m["caches"]),
    "k_bytes_per_device": lambda m: device(m, "gpu0")["k_bytes"],
    "kv_pool_tokens": lambda m: m["pool"]["tokens"],
    "kv_pool_tokens_by_groups": lambda m: m["pool"]["blocks"] // m["pool"]["groups"] * m["pool"]["block_tokens"],
    "max_context": lambda m: m["pool"]["tokens"],
    "block_tokens": lambda m: m["pool"]["block_tokens"],
    "state_bytes_ssm": lambda m: term(m, "ssm state"),
    "state_bytes_conv": lambda m: term(m, "conv state"),
}


def half_digit(text):
    """Half a unit of the last digit of a printed figure; a whole number is exact."""
    return 0.5 * 10.0 ** -len(text.split(".")[1]) if "." in text else 0.0


def room(r):
    """How much a floor may lie above the observed figure, in its unit."""
    seen = float(r["observed"])
    memory = re.search(r"kv-cache-memory-bytes=([\d.]+)GiB", r["options"])
    if memory:
        return seen * half_digit(memory[1]) / float(memory[1]) + 1
    if "+-0.5 MiB" in r["note"]:
        return 0.5 + half_digit(r["observed"])
    return half_digit(r["observed"]) if r["unit"] in ("MiB", "GiB") else 0.0


def truth(binary, out, only, show):
    passed, problems, within, counted = 0, [], 0, 0
    for r in table("memory_truth.tsv"):
        if only and r["id"] not in only:
            continue
        seen, got, off, why = float(r["observed"]), None, None, []
        place = Path(tempfile.mkdtemp(dir=out))
        try:
            got = QUANTITIES[r["quantity"]](ask(binary, model(r, place), arguments(r))) / UNITS[r["unit"]]
            off = 100 * (got - seen) / seen
            if r["input"] != "excluded":
                counted += 1
                within += abs(off) <= WITHIN
                if abs(off) > LIMIT:
                    why.append(f"beyond {LIMIT} %")
                if got > seen + room(r) * (1 + 1e-9):
                    why.append("above what was seen")
        except (RuntimeError, TypeError, KeyError, StopIteration, ZeroDivisionError) as e:
            why.append(f"no figure: {e!r}")
        shutil.rmtree(place)
        if show:
            print(r["id"], r["engine"], r["quantity"], r["observed"], r["unit"], "-" if got is None else f"{got:.4f}", "-" if off is None else f"{off:+.3f}", *why, sep="\t")
        passed += not why
        problems += [f"{r['id']} {r['quantity']}: {got} {r['unit']}, seen {r['observed']}: {w}" for w in why]
    if counted and within < SHARE * counted and not only:
        problems.append(f"only {within} of {counted} rows within {WITHIN} %")
    if not only:
        print(f"published: {within} of {counted} rows within {WITHIN} %")
    return passed, problems


# ---- llama.cpp's own run ----

def live_arguments(r):
    args = ["--engine", "llama.cpp", "--kv-dtype", f"{r['cache_type_k']},{r['cache_type_v']}"]
    context = r["context"] if r["context"] != "0" else str(json.loads(r["keys"])[r["architecture"] + ".context_length"])
    args += ["--context", context, "--sequences", r["sequences"] if r["sequences"] != "-1" else "4"]
    if r["sequences"] == "-1": # the server's own default: four unified slots
        args += ["--engine-option", "kv-unified"]
    words = r["options"].split() if r["options"] != "-" else []
    while words:
        name = words.pop(0)[2:]
        value = words.pop(0) if words and not words[0].startswith("--") else None
        if name != "embedding":
            args += ["--engine-option", f"{name}={value}" if value else name]
    return args


def live(binary, out, only, show):
    passed, problems = 0, []
    for r in table("memory_live.tsv"):
        if only and r["id"] not in only:
            continue
        path, why, got = out / f"{r['id']}.gguf", [], {}
        models.make_gguf.write(path, r["architecture"], json.loads(r["keys"]), r["weights"])
        lines = {"kv_bytes": len(re.findall(r"kv \d", r["printed"])), "state_bytes": 2 * len(re.findall("state |compressor", r["printed"])),
                 "weights_bytes": len(re.findall("model ", r["printed"]))}
        try:
            m = ask(binary, path, live_arguments(r))
            for name, n in lines.items():
                seen, got[name] = int(r["model_bytes" if name == "weights_bytes" else name]), m[name]
                if name == "weights_bytes" and "--repack" in r["options"]:
                    n = 400 # copies in another layout: not exact
                if got[name] is None or abs(got[name] - seen) > n * 0.005 * MIB + 1:
                    why.append(f"{name} {got[name]}, printed {seen} ({m['cache_reason']})")
        except RuntimeError as e:
            why.append(str(e))
        path.unlink()
        if show:
            print(r["id"], r["architecture"], *(got.get(x) for x in lines), *(why or ["equal"]), sep="\t")
        passed += not why
        problems += [f"{r['id']} {r['architecture']}: {w}" for w in why]
    return passed, problems


CONFIGS = json.loads((HERE / "data" / "memory_configs.json").read_text())


def main():
    binary, rest = str(Path(sys.argv[1]).resolve()), sys.argv[2:]
    only = set(rest[rest.index("--only") + 1].split(",")) if "--only" in rest else None
    with tempfile.TemporaryDirectory() as d:
        good, bad = 0, []
        for part in (truth, live):
            passed, problems = part(binary, Path(d), only, "--table" in rest)
            good += passed
            bad += problems
    for p in bad:
        print(p)
    print(f"{good} passed, {len(bad)} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
