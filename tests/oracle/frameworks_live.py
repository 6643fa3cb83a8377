#!/usr/bin/env python3
"""Compares the framework matrix with what real loaders do: `modelcheck --target NAME@VERSION` against the package itself.

    frameworks_live.py [--bin build/modelcheck] [-n 40]

llama.cpp (PyPI package xllamacpp, whose last version part is the build): every GGUF of tests/frameworks/llama.cpp.tsv and of the silent
case folders MC6xx, as far as modelcheck has no error to report; and every name of rules/frameworks/arch/llama.cpp.tsv, of which only
the word "unknown model architecture" is looked at. -n limits the names.
Transformers (PyPI packages transformers and torch, CPU): every directory of tests/frameworks/transformers.tsv that is asked for
without a version. Refusals for a package that is not installed say nothing and are left out.

Equal must be: no known obstacle and slow - it loads whole; refuses - it does not; wrong - it loads, and not whole. Needs and unknown
are not compared. A package that is not installed is skipped by name. Prints `N passed, N failed`.
"""
import argparse
import importlib.util
import json
import platform
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/oracle")]
import llama                # noqa: E402
import test_frameworks      # noqa: E402

QUESTION = {"context": 256, "sequences": 1, "k": "f16", "v": "f16", "flash": "auto", "unified": False, "swa_full": False, "ubatch": 64, "no_mmap": False}
# what the miniature lacks to be a model of the architecture that it names: no matter of the framework
INCOMPLETE = ("key not found in model", "wrong number of tensors", "check_tensor_dims", "missing tensor")


def asked(binary, path, *options):
    p = subprocess.run([binary, "check", "--format", "json", *options, path], capture_output=True, text=True, timeout=60)
    return p.returncode, json.loads(p.stdout)["models"][0] if p.stdout and json.loads(p.stdout)["models"] else None


def matrix(binary, path, target, *options):
    """(verdict, ids of limits)"""
    _, m = asked(binary, path, "--target", target, *options)
    f = m["frameworks"][0] if m and m["frameworks"] else {"verdict": "unknown", "limits": []}
    return f["verdict"], [x["id"] for x in f["limits"]]


def agree(verdict, loads, whole=True):
    want = {"no-known-obstacle": loads and whole, "slow": loads and whole, "refuses": not loads, "wrong": loads and not whole}
    return want.get(verdict, True)


# ---- llama.cpp ----

def recipes():
    """(name, text of a recipe)"""
    for _, (fixture, *_) in test_frameworks.rows(ROOT / "tests/frameworks/llama.cpp.tsv"):
        first, *lines = fixture.split(" ;; ")
        yield fixture, "\n".join([f"include {first}", *lines]) + "\n"
    for folder in sorted((ROOT / "tests/cases").glob("MC6*-silent-*")):
        yield folder.name, (folder / "recipe").read_text()


def make(where, text):
    where.mkdir()
    (where / "recipe").write_text(text)
    p = subprocess.run([sys.executable, ROOT / "tests/mkmodel.py", where / "recipe", where], capture_output=True, text=True)
    return sorted(where.glob("model/**/*.gguf")) if p.returncode == 0 else []


def load(path):
    """The loader writes its log from a thread, whose last lines are lost now and then: asked again until the cause is there."""
    for _ in range(5):
        seen = llama.load(str(path), QUESTION)
        if seen["ready"] or "error loading model" in seen["log"] or "gguf_init" in seen["log"]:
            break
    return seen


def one_gguf(binary, name, path, target):
    """None: not comparable, else a complaint or ""."""
    status, m = asked(binary, path)
    if status or not m or m["kind"] != "causal-lm" or any(f["severity"] == "warning" for f in m["findings"]):
        return None
    verdict, ids = matrix(binary, path, target, "--platform", platform.machine())
    if verdict in ("unknown", "needs"):
        return None
    seen = load(path)
    if agree(verdict, seen["ready"]):
        return ""
    if any(x in seen["log"] for x in INCOMPLETE):
        return None
    log = [x for x in seen["log"].splitlines() if " E " in x or "ASSERT" in x][:1]
    return f"{name}: {path.name} on {target}: {verdict} {','.join(ids) or '-'}, but it {'loads' if seen['ready'] else 'does not load'} {log}"


def one_name(binary, where, arch, target):
    [path] = make(where, f"include tl-gguf\nedit tiny-llama-F16.gguf\n  set-kv general.architecture str {arch}\n")
    _, ids = matrix(binary, path, target)
    known = "unknown model architecture" not in load(path)["log"]
    return "" if known != ("arch" in ids) else f"architecture {arch} on {target}: the loader {'knows' if known else 'does not know'} it, the matrix says {ids or 'nothing'}"


def of_llama(binary, n, folder):
    if not llama.available():
        return None
    target = f"llama.cpp@b{version('xllamacpp').split('.')[-1]}"
    seen, jobs = set(), []
    for i, (name, text) in enumerate(recipes()):
        if text in seen:
            continue
        seen.add(text)
        paths = make(folder / f"g{i}", text)
        jobs += [(one_gguf, binary, name, p, target) for p in paths if "-of-" not in p.name or "-00001-of-" in p.name]
    table = (ROOT / "rules/frameworks/arch/llama.cpp.tsv").read_text().splitlines()
    names = dict.fromkeys(x.split("\t")[0] for x in table if x and x[0] not in "#" and not x.startswith("name\t"))
    step = max(1, len(names) // n)
    jobs += [(one_name, binary, folder / f"n{i}", a, target) for i, a in enumerate([*list(names)[::step], "no-such-arch", "llama5"])]
    with ThreadPoolExecutor(2) as pool:
        return [x for x in pool.map(lambda j: j[0](*j[1:]), jobs) if x is not None]


# ---- Transformers ----

LOAD = """
import json, os, sys
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", CUDA_VISIBLE_DEVICES="")
import transformers
try:
    config = transformers.AutoConfig.from_pretrained(sys.argv[1], local_files_only=True)
    cls = getattr(transformers, (config.architectures or [""])[0], transformers.AutoModelForCausalLM)
    _, info = cls.from_pretrained(sys.argv[1], local_files_only=True, dtype="auto", output_loading_info=True)
    scales = [k for k in info["unexpected_keys"] if "scale" in k]  # codes without their scales are no weights
    print(json.dumps({"loads": True, "whole": not info["missing_keys"] and not info["mismatched_keys"] and not scales}))
except BaseException as e:
    print(json.dumps({"loads": False, "package": isinstance(e, ImportError), "error": f"{type(e).__name__}: {str(e)[:200]}"}))
"""


def one_directory(binary, fixture, model, target):
    verdict, ids = matrix(binary, model, target)
    if verdict in ("unknown", "needs") or not (Path(model) / "config.json").exists():  # an adapter loads with its base, elsewhere
        return None
    p = subprocess.run([sys.executable, "-c", LOAD, model], capture_output=True, text=True, timeout=300)
    seen = json.loads(p.stdout.splitlines()[-1]) if p.stdout else {"loads": False, "error": f"ended with {p.returncode}"}
    if seen.get("package") or agree(verdict, seen["loads"], seen.get("whole", False)):
        return None if seen.get("package") else ""
    return f"{fixture} on {target}: {verdict} {','.join(ids) or '-'}, but {seen}"


def of_transformers(binary, folder):
    if not all(importlib.util.find_spec(x) for x in ("transformers", "torch")):
        return None
    target = f"transformers@{version('transformers')}"
    fixtures = dict.fromkeys(c[0] for _, c in test_frameworks.rows(ROOT / "tests/frameworks/transformers.tsv") if c[1] == "transformers" and c[2] == "-")
    out = [one_directory(binary, f, test_frameworks.build(f, folder / f"t{i}"), target) for i, f in enumerate(fixtures)]
    return [x for x in out if x is not None]


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--bin", default="build/modelcheck")
    a.add_argument("-n", type=int, default=1000, help="architecture names of llama.cpp")
    a = a.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="modelcheck-live-") as tmp:
        binary = str(Path(a.bin).resolve())
        for name, got in (("llama.cpp", of_llama(binary, max(1, a.n), Path(tmp))), ("transformers", of_transformers(binary, Path(tmp)))):
            if got is None:
                print(f"skipped: {name}, its package is not installed" + (" (tests/oracle/fetch.sh)" if name == "llama.cpp" else " (make oracle fetches it)"))
                continue
            bad = [x for x in got if x]
            print("\n".join(bad + [f"{name}: {len(got)} compared, {len(bad)} differ"]))
            passed += len(got) - len(bad)
            failed += len(bad)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
