#!/usr/bin/env python3
"""Loads one GGUF in the real llama.cpp (PyPI package xllamacpp, CPU) and says what it allocated: llama.py MODEL.gguf JSON

JSON: {"context", "sequences", "k", "v", "flash", "unified", "swa_full", "ubatch", "no_mmap"}. load() runs that in a child, since a
model that the loader does not like may end the process, and reads the lines that llama.cpp writes: model, KV and recurrent buffers
in MiB of two decimals, cells, layers, streams. The child is ended when all of them are out: what such a model would compute is of
no interest.
"""
import json
import os
import re
import subprocess
import sys
import threading

CACHE = re.compile(r"kv_cache\w*: size = +([\d.]+) MiB \( *(\d+) cells, +(\d+) layers, +(\d+)/(\d+) seqs\), K \((\w+)\): +([\d.]+) MiB, V \((\w+)\): +([\d.]+) MiB")
STATE = re.compile(r"recurrent\w*: size = +([\d.]+) MiB \( *(\d+) cells.*R \((\w+)\): +([\d.]+) MiB, S \((\w+)\): +([\d.]+) MiB")
MODEL = re.compile(r"load_tensors: +(\S+) model buffer size = +([\d.]+) MiB")


def available():
    try:
        import xllamacpp  # noqa: F401
    except ImportError:
        return False
    return True


def serve(path, q):
    import socket
    import xllamacpp as x
    p = x.CommonParams()
    p.model.path, p.n_ctx, p.n_parallel, p.n_ubatch, p.n_batch = path, q["context"], q["sequences"], q["ubatch"], 2048
    p.cache_type_k, p.cache_type_v = (getattr(x.ggml_type, "GGML_TYPE_" + q[side].upper()) for side in "kv")
    p.flash_attn_type = getattr(x.llama_flash_attn_type, "LLAMA_FLASH_ATTN_TYPE_" + {"on": "ENABLED", "off": "DISABLED", "auto": "AUTO"}[q["flash"]])
    p.kv_unified, p.swa_full, p.no_extra_bufts = q["unified"], q["swa_full"], True
    p.load_mode = x.llama_load_mode.LLAMA_LOAD_MODE_NONE if q["no_mmap"] else x.llama_load_mode.LLAMA_LOAD_MODE_MMAP
    p.warmup, p.fit_params, p.verbosity, p.cache_ram_mib = False, False, 4, 0
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        p.port = s.getsockname()[1]
    x.Server(p)
    print("LOADED", flush=True)
    os._exit(0)


def output(path, question, timeout):
    """What the child writes until it reserves its graphs, which is behind every cache."""
    p = subprocess.Popen([sys.executable, os.path.abspath(__file__), path, json.dumps(question)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT)
    watch = threading.Timer(timeout, p.kill)
    watch.start()
    lines = []
    for line in p.stdout:
        lines.append(line.decode(errors="replace"))
        if "sched_reserve: reserving" in lines[-1] or lines[-1].startswith("LOADED"):
            break
    p.kill()
    p.wait()
    p.stdout.close()
    watch.cancel()
    return "".join(lines)


def load(path, question, timeout=60):
    """{"ready": all lines are there, "caches": [...], "state_mib", "states": lines, "model_mib", "models": lines, "log"}."""
    text = output(path, question, timeout)
    caches = [{"cells": int(c[1]), "layers": int(c[2]), "streams": int(c[4]), "k_mib": float(c[6]), "v_mib": float(c[8])} for c in CACHE.findall(text)]
    states = STATE.findall(text)
    models = MODEL.findall(text)
    return {"ready": "sched_reserve" in text or "LOADED" in text, "caches": caches, "state_mib": sum(float(s[3]) + float(s[5]) for s in states), "states": len(states),
            "model_mib": sum(float(m[1]) for m in models), "models": len(models), "log": text}


if __name__ == "__main__":
    serve(sys.argv[1], json.loads(sys.argv[2]))
