#!/usr/bin/env python3
"""Writes the tables of docs/memory.md from the test data and the program's own answers: memory_tables.py MODELCHECK [--check]

Between `<!-- published -->` and `<!-- live -->` and their closing marks. --check says whether the page is up to date and writes nothing.
"""
import csv
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs/memory.md"
WITHIN = 0.05                       # per cent: beyond that a row needs a reason

#: rows beyond WITHIN and why
REASONS = {
    "M071": "printed with one decimal: 0.4 is anything from 0.35 to 0.45",
    "M082": "printed with two decimals: 3.8125 is printed as 3.81",
    "M085": "printed with two decimals: 0.9492 is printed as 0.95",
    "M094": "printed with two decimals: 4.375 is printed as 4.38",
    "M097": "the pool is known to two decimals of a GiB: half a unit is 73 tokens",
    "M113": "history, not counted: vLLM of early 2025 padded the latent row from 576 to 640 elements; no current version does",
    "M117": "the pool is known to two decimals of 0.56 GiB: half a unit is 0.9 %",
    "M125": "norms and routers are replicated, and vLLM holds small buffers of its own: 20 MiB of 28.5 GiB are not in any tensor",
    "M130": "MXFP4 kernels pad the packed values to 256 inputs; the rest of their layout (0.3 %) depends on the kernel that the GPU chooses and is left out",
    "M131": "as M130",
    "M133": "printed with two decimals, and vLLM counts some MiB of buffers that are in no tensor",
    "M134": "Gaudi keeps no table of rotary angles; 13 MiB of buffers are in no tensor",
    "M139": "printed with two decimals: 1.4225 is printed as 1.42",
    "M142": "printed with two decimals: 0.3433 is printed as 0.34",
}
UNIT = {"MiB": "MiB", "GiB": "GiB", "tokens": "tokens", "cells": "cells"}


def rows(name):
    with open(HERE / "data" / name, newline="") as f:
        return list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))


def answers(binary):
    """id -> the fields of test_memory_truth.py --table behind it."""
    p = subprocess.run([sys.executable, str(HERE / "test_memory_truth.py"), binary, "--table"], capture_output=True, text=True, timeout=900)
    return {x[0]: x[1:] for x in (line.split("\t") for line in p.stdout.splitlines()) if len(x) > 2}


def cell(text):
    return text.replace("|", "\\|")


def source(text):
    if not text.startswith("https://"):
        return text
    parts = text.removeprefix("https://github.com/").split("/")
    return f"[{parts[1]} {parts[-1]}]({text})" if len(parts) > 3 else f"<{text}>"


def published(said):
    out = ["| row | model | printed by | context × sequences, cache, switches | quantity | observed | computed | deviation | source |",
           "|---|---|---|---|---|---|---|---|---|"]
    notes, counted, close, half = [], 0, 0, 0
    for r in rows("memory_truth.tsv"):
        got, off = said[r["id"]][4], float(said[r["id"]][5])
        how = f"{r['context'] if r['context'] != '0' else 'default'} × {r['sequences']}"
        how += "" if r["cache_type_k"] == "auto" else f", {r['cache_type_k']}" + ("" if r["cache_type_k"] == r["cache_type_v"] else f"/{r['cache_type_v']}")
        how += "" if r["options"] == "-" else ", " + r["options"]
        mark = "" if abs(off) <= WITHIN else " *"
        out.append(f"| {r['id']} | {cell(r['model'])} | {cell(r['framework'])} | {cell(how)} | {r['quantity'].replace('_', ' ')} | {r['observed']} {UNIT[r['unit']]} | {float(got):g} | "
                   f"{off:+.3f} %{mark} | {source(r['source'])} |")
        if r["input"] != "excluded":
            counted, close, half = counted + 1, close + (abs(off) <= WITHIN), half + (abs(off) <= 0.5)
        if mark:
            if r["id"] not in REASONS:
                sys.exit(f"{r['id']} deviates by {off} % and has no reason in {Path(__file__).name}")
            notes.append(f"- {r['id']} ({off:+.2f} %): {REASONS[r['id']]}")
    return [f"{counted} rows are counted: {close} lie within 0.05 %, {half} within 0.5 %.", "", *out, "", "\\* Deviations beyond 0.05 %, and why:", "", *notes]


def mib(n):
    return f"{int(n) / 2 ** 20:.2f}"


def live(said):
    out = ["| row | architecture | geometry of | loaded with | cache: printed, computed | state: printed, computed | model: printed, computed |", "|---|---|---|---|---|---|---|"]
    n = repacked = 0
    for r in rows("memory_live.tsv"):
        kv, state, model = said[r["id"]][1:4]
        context = r["context"] if r["context"] != "0" else str(json.loads(r["keys"])[r["architecture"] + ".context_length"])
        how = f"{context} × {r['sequences'] if r['sequences'] != '-1' else 'auto'}, {r['cache_type_k']}" + ("" if r["cache_type_k"] == r["cache_type_v"] else "/" + r["cache_type_v"])
        how += "" if r["options"] == "-" else ", " + r["options"]
        n, repacked = n + 1, repacked + ("--repack" in r["options"])
        out.append(f"| {r['id']} | {r['architecture']} | {cell(r['model'])} | {r['weights']}; {cell(how)} | {mib(r['kv_bytes'])}, {mib(kv)} | {mib(r['state_bytes'])}, {mib(state)} | "
                   f"{mib(r['model_bytes'])}, {mib(model)}{' †' if '--repack' in r['options'] else ''} |")
    return [f"{n} loads; MiB. What is printed is the sum of lines of two decimals each. † {repacked} rows with --repack: the copies in another layout are counted at the size of their "
            "matrices.", "", *out]


def replaced(text, name, lines):
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
    head, rest = text.split(begin)
    return head + begin + "\n" + "\n".join(lines) + "\n\n" + end + rest.split(end)[1]


def main():
    binary, check = str(Path(sys.argv[1]).resolve()), "--check" in sys.argv[2:]
    said, old = answers(binary), PAGE.read_text()
    new = replaced(replaced(old, "published", published(said)), "live", live(said))
    if check:
        print("docs/memory.md is up to date" if new == old else "docs/memory.md: run make memory-tables")
        return int(new != old)
    PAGE.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
