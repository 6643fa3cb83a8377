#!/usr/bin/env python3
"""Every stage of `make test`, one after the other, with one closing line: N passed, N failed.

A stage is a command. If it prints `N passed, N failed` its last such line counts, otherwise the stage is one test. The
output of a failed stage is shown; the others give one line. run_tests.py [STAGE...] runs some; --list names them.
"""
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ASAN = ("-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer")
MAKE = ["make", "--no-print-directory", "-j2"]
IN_ASAN = [*MAKE, "BUILD=build/asan", f"CFLAGS=-O1 -g {ASAN}", "HARDEN=-fPIE", f"LDFLAGS={ASAN}", "WERROR=-Werror"]
PYTHON = "build/venv/bin/python"

STAGES = [
    ("layers", [*MAKE, "layers"]),
    ("build gcc", [*MAKE, "CC=gcc", "WERROR=-Werror", "all"]),
    ("build clang", [*MAKE, "CC=clang", "BUILD=build/clang", "WERROR=-Werror", "all"]),
    ("build sanitized", [*IN_ASAN, "all"]),
    ("units", [*IN_ASAN, "units"]),
    ("cases", [PYTHON, "tests/run_cases.py", "--bin", "build/modelcheck", "--schema", "docs/report.schema.json"]),
    ("written models", ["python3", "tests/test_written.py", "build/modelcheck"]),
    ("written models sanitized", ["python3", "tests/test_written.py", "build/asan/modelcheck"]),
    ("cases sanitized", [PYTHON, "tests/run_cases.py", "--bin", "build/asan/modelcheck", "--no-coverage"]),
    ("fuzz corpus", [*IN_ASAN, "replay"]),
    ("command line", [PYTHON, "tests/test_cli.py", "build/modelcheck"]),
    ("memory figures", [PYTHON, "tests/test_memory_truth.py", "build/modelcheck"]),
    ("memory weights", [PYTHON, "tests/test_memory_weights.py", "build/modelcheck"]),
    ("releases of frameworks", [PYTHON, "tests/test_update_framework.py"]),
    ("frameworks", [PYTHON, "tests/test_frameworks.py", "build/modelcheck"]),
    ("framework schema", [PYTHON, "tests/test_framework_schema.py", "build/modelcheck"]),
    ("rules of users", [PYTHON, "tests/test_custom.py", "build/modelcheck"]),
    ("hostile input", [PYTHON, "tests/test_hostile.py", "build/modelcheck"]),
    ("hostile input sanitized", [PYTHON, "tests/test_hostile.py", "build/asan/modelcheck"]),
    ("documents", [*MAKE, "docs-check"]),
    ("memory page", [PYTHON, "tests/memory_tables.py", "build/modelcheck", "--check"]),
    ("oracle", [*MAKE, "oracle-headers"]),
    ("fixtures", [PYTHON, "tests/test_fixtures.py"]),
    ("oracle memory", [*MAKE, "oracle-memory", "MODELS=19"]),
    ("oracle frameworks", [*MAKE, "oracle-frameworks", "NAMES=12"]),
    ("pre-commit", ["sh", "tests/test_precommit.sh"]),
    ("install", ["sh", "tests/test_install.sh"]),
]


def run(name, command):
    """(passed, failed), after printing one line, or all of it when something failed."""
    began = time.monotonic()
    env = dict(os.environ, ASAN_OPTIONS="detect_leaks=1:exitcode=99", UBSAN_OPTIONS="print_stacktrace=1:exitcode=99")
    try:
        p = subprocess.run(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1200)
        text, status = p.stdout.decode(errors="replace"), p.returncode
    except (OSError, subprocess.TimeoutExpired) as e:
        text, status = f"{e}\n", 1
    sums = re.findall(r"^(\d+) passed, (\d+) failed", text, re.M)
    passed, failed = map(int, sums[-1]) if sums else (int(status == 0), int(status != 0))
    if status and not failed:
        failed = 1
    if failed:
        print(f"---- {name}: {' '.join(command)}\n{text.rstrip()}")
    print(f"{'FAIL' if failed else 'ok  '} {name}: {passed} passed, {failed} failed ({time.monotonic() - began:.1f} s)", flush=True)
    return passed, failed


def main():
    names = sys.argv[1:]
    if names == ["--list"]:
        print("\n".join(n for n, _ in STAGES))
        return 0
    total = [0, 0]
    for name, command in STAGES:
        if not names or name in names:
            for i, n in enumerate(run(name, command)):
                total[i] += n
    print(f"{total[0]} passed, {total[1]} failed")
    return 1 if total[1] or not sum(total) else 0


if __name__ == "__main__":
    sys.exit(main())
