#!/usr/bin/env python3
"""Validates JSON reports against docs/report.schema.json: check_schema.py REPORT... (- is standard input).

Needs the Python package jsonschema. Beyond the schema it checks what a schema cannot say: the order of models and
findings, and that the summary counts what is there. Prints `N passed, N failed`.
"""
import json
import sys
from pathlib import Path

import jsonschema

SCHEMA = json.loads((Path(__file__).resolve().parent.parent / "docs/report.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
RANK = {"error": 0, "warning": 1, "info": 2}


def unique(pairs):
    """An object whose keys occur once."""
    keys = [k for k, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError(f"a key occurs twice: {keys}")
    return dict(pairs)


def problems(text):
    """What is wrong with one report, as a list of lines."""
    try:
        doc = json.loads(text, object_pairs_hook=unique, parse_constant=lambda c: (_ for _ in ()).throw(ValueError(c)))
    except ValueError as e:
        return [f"not JSON: {e}"]
    out = [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in VALIDATOR.iter_errors(doc)]
    if out:
        return out
    paths = [m["path"].encode("utf-8", "surrogatepass") for m in doc["models"]]
    if paths != sorted(paths):
        out.append("models are not ordered by path")
    counts = {"error": 0, "warning": 0, "info": 0}
    suppressed = 0
    for m in doc["models"]:
        keys = [(RANK[f["severity"]], f["code"], (f["file"] or "").encode()) for f in m["findings"]]
        if keys != sorted(keys):
            out.append(f"{m['path']}: findings are not ordered")
        for f in m["findings"]:
            counts[f["severity"]] += 1
        suppressed += len(m["suppressed"])
    s = doc["summary"]
    if (s["errors"], s["warnings"], s["infos"], s["suppressed"]) != (counts["error"], counts["warning"], counts["info"], suppressed):
        out.append(f"summary {s} does not count the findings {counts}, suppressed {suppressed}")
    if s["models"] != len(doc["models"]):
        out.append("summary counts other models")
    return out


def main():
    bad = 0
    for name in sys.argv[1:]:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        found = problems(data.decode("utf-8"))
        for line in found:
            print(f"{name}: {line}")
        bad += bool(found)
    print(f"{len(sys.argv) - 1 - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
