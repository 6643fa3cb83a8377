#!/usr/bin/env python3
"""docs/framework.schema.json and `modelcheck rules lint` agree: test_framework_schema.py PROGRAM. Needs the package jsonschema.

Every file of rules/frameworks satisfies both. A key that no one knows, a required key left out and a value of another kind, put
into every object of vllm.json in turn, are refused by both. Prints `N passed, N failed`.
"""
import copy
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = json.loads((ROOT / "docs/framework.schema.json").read_text())
jsonschema.Draft202012Validator.check_schema(SCHEMA)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
FREE = {"schemes", "platforms", "default_source", "slow"}  # objects whose keys are names


def objects(doc, path=()):
    """Paths of all objects with fixed keys."""
    if isinstance(doc, dict):
        if not path or path[-1] not in FREE:
            yield path
        for k, v in doc.items():
            yield from objects(v, (*path, k))
    elif isinstance(doc, list):
        for i, v in enumerate(doc):
            yield from objects(v, (*path, i))


def at(doc, path):
    for p in path:
        doc = doc[p]
    return doc


def mutants(doc):
    """(what was done, document): one for each kind of object."""
    seen = set()
    for path in objects(doc):
        kind = tuple(p for p in path if isinstance(p, str))
        if kind in seen:
            continue
        seen.add(kind)
        bad = copy.deepcopy(doc)
        at(bad, path)["no-such-key"] = 1
        yield f"{path}: unknown key", bad
        for key in at(doc, path):
            if key not in ("args",):
                bad = copy.deepcopy(doc)
                at(bad, path)[key] = 1.5
                yield f"{path}: {key} is 1.5", bad
    for key in ("schema", "name", "display", "version_scheme", "read"):
        yield f"no {key}", {k: v for k, v in doc.items() if k != key}


def main():
    program = Path(sys.argv[1]).resolve()
    passed, complaints = 0, []
    for file in sorted((ROOT / "rules/frameworks").glob("*.json")):
        errors = [f"{list(e.absolute_path)}: {e.message[:200]}" for e in VALIDATOR.iter_errors(json.loads(file.read_text()))]
        passed += not errors
        complaints += [f"{file.name}: {e}" for e in errors]
    with tempfile.TemporaryDirectory() as tmp:
        where = Path(tmp) / "frameworks"
        shutil.copytree(ROOT / "rules/frameworks", where)
        lint = lambda: subprocess.run([program, "rules", "lint", where], capture_output=True, text=True, timeout=60)
        sound = lint()
        assert sound.returncode == 0, sound.stdout
        for what, doc in mutants(json.loads((where / "vllm.json").read_text())):
            (where / "vllm.json").write_text(json.dumps(doc, indent=1))
            by_schema, by_lint = not VALIDATOR.is_valid(doc), lint()
            if by_schema and by_lint.returncode == 1 and "vllm.json:" in by_lint.stdout + by_lint.stderr:
                passed += 1
            else:
                complaints.append(f"{what}: schema {'refuses' if by_schema else 'accepts'}, lint ends with {by_lint.returncode}")
    print("\n".join(["FAIL " + c for c in complaints] + [f"{passed} passed, {len(complaints)} failed"]))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
