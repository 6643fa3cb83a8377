#!/usr/bin/env python3
"""Verdicts of frameworks: every row of tests/frameworks/*.tsv is one model, one target and the verdict that must come out.

    test_frameworks.py [BINARY] [NAME...]      NAME: only tests/frameworks/NAME.tsv

Columns, separated by tabs:
  fixture   a recipe of fixtures/, and lines of tests/mkmodel.py behind it, separated by " ;; " ("  " begins an indented one)
  target    as --target takes it
  options   further options (--gpu sm80 --tp 2), "-": none; "@NAME" gives model/NAME instead of the directory
  verdict   no-known-obstacle, unknown, slow, needs, wrong or refuses
  limits    ids that must have fired, with commas; "-": none may have
A line that begins with # is a comment. Standard library only. Prints `N passed, N failed`.
"""
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERDICTS = {"no-known-obstacle", "unknown", "slow", "needs", "wrong", "refuses"}


def rows(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            cells = line.split("\t")
            if len(cells) != 5 or cells[3] not in VERDICTS:
                sys.exit(f"{path}:{number}: not five columns with a verdict in the fourth")
            yield f"{path.relative_to(ROOT)}:{number}", cells


def build(fixture, where):
    """Makes where/model once for each fixture."""
    first, *lines = fixture.split(" ;; ")
    recipe = where / "recipe"
    where.mkdir()
    recipe.write_text("\n".join([f"include {first}", *lines]) + "\n")
    p = subprocess.run([sys.executable, ROOT / "tests/mkmodel.py", recipe, where], capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"{fixture}: {p.stderr.strip()}")
    return where / "model"


def judge(binary, model, target, options):
    words = shlex.split("" if options == "-" else options)
    path = next((model / w[1:] for w in words if w.startswith("@")), model)
    words = [w for w in words if not w.startswith("@")]
    p = subprocess.run([binary, "check", "--format", "json", "--target", target, *words, path], capture_output=True, text=True, timeout=60)
    if not p.stdout:
        return None, [p.stderr.strip()]
    frameworks = json.loads(p.stdout)["models"][0].get("frameworks", [])
    name = target.split("@")[0]
    entry = next((f for f in frameworks if f["name"] == name), frameworks[0] if len(frameworks) == 1 else None)
    return (entry["verdict"], [x["id"] for x in entry["limits"]]) if entry else (None, ["no verdict on this framework"])


def main():
    args = sys.argv[1:]
    binary = Path(args.pop(0) if args and Path(args[0]).exists() else ROOT / "build/modelcheck").resolve()
    tables = [t for t in sorted((ROOT / "tests/frameworks").glob("*.tsv")) if not args or t.stem in args]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        models = {}
        for table in tables:
            for place, (fixture, target, options, verdict, limits) in rows(table):
                if fixture not in models:
                    models[fixture] = build(fixture, Path(tmp) / str(len(models)))
                got, ids = judge(binary, models[fixture], target, options)
                want = set() if limits == "-" else set(limits.split(","))
                good = got == verdict and want <= set(ids) and (limits != "-" or not ids)
                passed += good
                failed += not good
                if not good:
                    print(f"{place}: {fixture} on {target} {options}: {got} {','.join(ids) or '-'}, not {verdict} {limits}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
