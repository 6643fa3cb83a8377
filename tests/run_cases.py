#!/usr/bin/env python3
"""Run the case folders of tests/cases (see README.md there) against a built modelcheck.

    run_cases.py [--bin build/modelcheck] [--update] [--keep DIR] [--schema FILE] [--no-coverage] [NAME-OR-GLOB...]

--update writes report.txt of the named folders (all: `make snapshots`); read it before you commit it.
--keep leaves the built models under DIR/<case>/ to look at. Ends with `N passed, N failed`.
"""
import argparse
import difflib
import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import mkmodel  # noqa: E402

NAME = re.compile(r"(MC\d{3})-(fires|silent)-[a-z0-9-]+|real-[a-z0-9._-]+|run-[a-z0-9-]+")
SEVERITIES = ("error", "warning", "info")
UNCHECKED = ("MC901", "MC902", "MC903")     # these give exit status 3


def run(binary, args, cwd, nobody):
    """(exit status, stdout, stderr). `nobody`: not as root, so that permissions count."""
    who = {"user": 65534, "group": 65534, "extra_groups": []} if nobody else {}
    env = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "NO_COLOR": "1"}
    for k in os.environ:
        if k.startswith(("ASAN_", "UBSAN_", "LSAN_")):
            env[k] = os.environ[k]
    p = subprocess.run([str(binary), *args], cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, **who)
    return p.returncode, p.stdout, p.stderr


def read_expect(path):
    """(Counter of (code, severity, file), exit status or None)."""
    want, status = Counter(), None
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        words = shlex.split(line, comments=True)
        if not words:
            continue
        if words[0] == "exit":
            status = int(words[1])
        elif len(words) == 3 and re.fullmatch(r"MC\d{3}", words[0]) and words[1] in SEVERITIES:
            want[tuple(words)] += 1
        else:
            raise ValueError(f"{path.name}: not understood: {line!r}")
    if status is None:
        codes = {c for c, _, _ in want}
        status = 1 if any(s == "error" for _, s, _ in want) else 3 if codes & set(UNCHECKED) else 0
    return want, status


def findings_of(out):
    doc = json.loads(out)
    return Counter((f["code"], f["severity"], f["file"] or "-") for m in doc["models"] for f in m["findings"])


def compare(name, want, got):
    """The sentences that say what is wrong."""
    kind = NAME.fullmatch(name)
    out = [f"missing: {' '.join(f)}" for f in (want - got).elements()]
    for f, n in got.items():
        if f in want and n > want[f]:
            out.append(f"reported {n} times: {' '.join(f)}")
        elif f not in want and f[1] != "info":
            out.append(f"not expected: {' '.join(f)}")
        elif f not in want and kind[2] == "silent" and f[0] == kind[1]:
            out.append(f"must be silent: {' '.join(f)}")
    return out


def check_folder(name, want):
    m = NAME.fullmatch(name)
    if not m:
        return ["name is not <CODE>-<fires|silent>-<topic>, real-<topic> or run-<topic>"]
    codes = {c for c, _, _ in want}
    if m[2] == "fires" and m[1] not in codes:
        return [f"a fires-case of {m[1]} that does not expect it"]
    if m[2] == "silent" and any(s != "info" or c == m[1] for c, s, _ in want):
        return ["a silent-case may expect infos of other rules only"]
    return []


def against_schema(out, schema):
    """What the JSON Schema has against a report."""
    import jsonschema
    checker = jsonschema.Draft202012Validator(json.loads(Path(schema).read_text()))
    return [f"schema: {'/'.join(map(str, e.path))}: {e.message[:200]}" for e in checker.iter_errors(json.loads(out))]


def one(job):
    """Builds and runs one folder: (name, list of complaints, text report)."""
    folder, binary, work, update, schema = job
    name, there = folder.name, Path(work) / folder.name
    try:
        want, status = read_expect(folder / "expect")
        bad = check_folder(name, want)
        shutil.rmtree(there, ignore_errors=True)
        there.mkdir(parents=True)
        there.chmod(0o755)
        mkmodel.Recipe(there).run(folder / "recipe")
        args = shlex.split((folder / "args").read_text(), comments=True) if (folder / "args").exists() else ["model"]
        nobody = os.geteuid() == 0 and re.search(r"^chmod ", (folder / "recipe").read_text(), re.M) is not None
        code, out, err = run(binary, args, there, nobody)
        jcode, jout, jerr = run(binary, [*args, "--format", "json"], there, nobody)
        if code != status:
            bad.append(f"exit status {code}, expected {status}" + (f": {err.decode(errors='replace').strip()[-2000:]}" if err else ""))
        if jcode != code:
            bad.append(f"exit status {jcode} with --format json, {code} without")
        if jout or not err:
            bad += compare(name, want, findings_of(jout))
            bad += against_schema(jout, schema) if schema else []
        elif want or status != 2:
            bad.append(f"no report: {jerr.decode(errors='replace').strip()[-2000:]}")
        bad += snapshot(folder / "report.txt", out + err if code == 2 else out, update)
    except (Exception, SystemExit) as e:
        bad, out = [f"{type(e).__name__}: {e}"], b""
    finally:
        subprocess.run(["chmod", "-R", "u+rwX", str(there)], capture_output=True)
    return name, bad, out


def snapshot(path, text, update):
    # which frameworks load a model changes with their data: tests/frameworks/ looks at that
    text = re.sub(rb"^  (loads in  .*|frameworks    .*\n(?: {16}.*\n)*)\n?", b"", text, flags=re.M)
    if update:
        path.write_bytes(text)
        return []
    if not path.exists():
        return ["no report.txt: look at the report, then `make snapshots`"]
    old = path.read_bytes()
    if old == text:
        return []
    lines = lambda b: b.decode(errors="backslashreplace").splitlines(keepends=False)
    return ["report.txt differs:", *difflib.unified_diff(lines(old), lines(text), "report.txt", "now", lineterm="", n=1)]


def coverage(binary, names):
    """Every rule fires in one folder and has a silent one."""
    status, out, err = run(binary, ["rules", "--format", "json"], ".", False)
    if status:
        return [f"`modelcheck rules --format json` ends with {status}: {err.decode(errors='replace').strip()}"]
    doc = json.loads(out)
    have = {n.rpartition("-")[0] for n in names} | {"-".join(n.split("-")[:2]) for n in names}
    rules = [r["code"] for r in (doc["rules"] if isinstance(doc, dict) else doc)]
    return [f"{c}: no folder {c}-{kind}-*" for c in rules for kind in ("fires", "silent") if f"{c}-{kind}" not in have]


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--bin", default="build/modelcheck")
    ap.add_argument("--update", action="store_true", help="write report.txt")
    ap.add_argument("--keep", help="directory for the built models")
    ap.add_argument("--schema", help="JSON Schema that every JSON report must satisfy (needs jsonschema)")
    ap.add_argument("--no-coverage", action="store_true")
    ap.add_argument("--verbose", action="store_true", help="print the text reports")
    ap.add_argument("names", nargs="*")
    a = ap.parse_args()
    all_folders = sorted(p for p in (HERE / "cases").iterdir() if (p / "recipe").exists())
    folders = [p for p in all_folders if not a.names or any(fnmatch.fnmatchcase(p.name, n.rstrip("/").rpartition("/")[2]) for n in a.names)]
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="modelcheck-cases-") as tmp:
        os.chmod(tmp, 0o755)
        binary = Path(tmp) / "modelcheck"       # a copy that any user can run
        shutil.copy(a.bin, binary)
        work = a.keep or os.path.join(tmp, "work")
        os.makedirs(work, exist_ok=True)
        with ProcessPoolExecutor(2) as pool:
            for name, bad, out in pool.map(one, [(f, binary, work, a.update, a.schema) for f in folders]):
                failed, passed = failed + bool(bad), passed + (not bad)
                if bad:
                    print(f"FAIL {name}\n" + "\n".join("  " + line for line in bad))
                if a.verbose:
                    print(f"---- {name}\n{out.decode(errors='replace')}")
        if not a.no_coverage and not a.names:
            for line in coverage(binary, [p.name for p in all_folders]):
                print("FAIL " + line)
                failed += 1
    if not folders:
        print("FAIL no folder matches")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
