#!/usr/bin/env python3
"""Directories as real quantizers wrote them (fixtures/written/): each must be recognised and be silent. test_written.py [BINARY [NAME...]]

Standard library only. Prints `N passed, N failed`.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from mk import written  # noqa: E402


def report(binary, directory):
    p = subprocess.run([binary, "--format", "json", str(directory)], capture_output=True, text=True, timeout=60)
    return json.loads(p.stdout)["models"][0], p.returncode


def problems(model, status, expect):
    """What differs from the description, as a list of lines."""
    q = dict(model["quantization"], parameters=model["parameters"]["total"])
    out = [f"{key} is {q[key]}, wants {value}" for key, value in expect.items() if q[key] != value]
    expected = model["parameters"]["expected"]
    if expected is not None and expected != q["parameters"]:
        out.append(f"the configuration implies {expected} parameters, counted are {q['parameters']}")
    out += [f"{f['code']} {f['severity']}: {f['message']}" for f in model["findings"] if f["severity"] != "info"]
    if status:
        out.append(f"exit status {status}")
    if not model["coverage"]["complete"]:
        out.append("the run is not complete")
    return out


def main():
    binary = str(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/modelcheck").resolve())
    bad = n = 0
    for path in sorted((ROOT / "fixtures/written").glob("*.json")):
        if sys.argv[2:] and path.stem not in sys.argv[2:]:
            continue
        n += 1
        with tempfile.TemporaryDirectory() as tmp:
            directory = Path(tmp) / "model"     # a name without a label
            expect = written.build(path, directory)["expect"]
            for line in (found := problems(*report(binary, directory), expect)):
                print(f"{path.stem}: {line}")
            bad += bool(found)
    print(f"{n - bad} passed, {bad} failed")
    return 1 if bad or not n else 0


if __name__ == "__main__":
    sys.exit(main())
