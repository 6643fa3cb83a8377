#!/usr/bin/env python3
"""What did a framework's release change against the data?

    python3 rules/update_framework.py vllm 0.34.0            # fetches the package, prints what is new and what is gone
    python3 rules/update_framework.py vllm 0.34.0 --write    # and puts the architectures into rules/frameworks/arch/vllm.tsv
    python3 rules/update_framework.py vllm 0.34.0 --dir D    # reads an unpacked package instead of fetching one
    python3 rules/update_framework.py ollama                 # writes arch/ollama.tsv anew from the builds of ollama.json

Nothing of the package is run: its tables are read as text. Packages come through the registry's own client (pip download;
for llama.cpp also npm pack). Exit status: 0 nothing changed, 1 something did, 2 it could not be read.
docs/adding.md says what to do with the answer."""
import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "frameworks")


class Unreadable(Exception):
    pass


# ---- a package as { path: text } -------------------------------------------------------------------------------------


def unpack(path, wanted):
    """The Python (and TypeScript) files of an archive, without its first folder if that is all there is."""
    files = {}
    if path.endswith((".whl", ".zip")):
        with zipfile.ZipFile(path) as z:
            for name in z.namelist():
                if wanted.search(name):
                    files[name] = z.read(name).decode("utf-8", "replace")
    else:
        with tarfile.open(path) as t:
            for member in t:
                name = member.name.split("/", 1)[-1]
                if member.isfile() and wanted.search(name):
                    files[name] = t.extractfile(member).read().decode("utf-8", "replace")
    return files


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise Unreadable("%s failed:\n%s" % (" ".join(command), done.stdout.strip()[-2000:]))


def fetch(package, version, wanted):
    """A wheel for whatever machine there is one for; else the sources."""
    spec = package + ("==" + version if version else "")
    with tempfile.TemporaryDirectory() as d:
        base = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--dest", d]
        tries = [["--only-binary", ":all:"]]
        for tag in ("manylinux_2_35_x86_64", "manylinux_2_31_x86_64", "manylinux_2_28_x86_64", "manylinux2014_x86_64"):
            tries.append(["--only-binary", ":all:", "--python-version", "3.12", "--platform", tag])
        trouble = None
        for more in tries:
            try:
                run(base + more + [spec])
                break
            except Unreadable as e:
                trouble = trouble or e
        names = sorted(os.listdir(d))
        if not names:
            raise trouble
        found = re.match(r"[^-]+-([0-9][^-]*?)(-|\.tar|\.zip)", names[0])
        return unpack(os.path.join(d, names[0]), wanted), found.group(1) if found else version


def fetch_npm(package):
    with tempfile.TemporaryDirectory() as d:
        run(["npm", "pack", "--silent", "--pack-destination", d, package])
        return unpack(os.path.join(d, os.listdir(d)[0]), re.compile(r"\.(ts|mjs|js)$"))


def read_dir(d, wanted):
    files = {}
    for root, _, names in os.walk(d):
        for n in names:
            path = os.path.relpath(os.path.join(root, n), d).replace(os.sep, "/")
            if wanted.search(path):
                with open(os.path.join(root, n), encoding="utf-8", errors="replace") as f:
                    files[path] = f.read()
    return files


# ---- reading tables out of Python text -------------------------------------------------------------------------------


def one(files, path):
    if path not in files:
        raise Unreadable("the package has no %s: it has moved, and the reader in this script must follow" % path)
    return ast.parse(files[path])


def assigned(tree):
    """(name, value) of every assignment and every name.update(value) at the top of a module."""
    for node in tree.body:
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "update" and isinstance(call.func.value, ast.Name):
            yield call.func.value.id, call
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.value


def strings(node):
    """Every string in a literal; of a dictionary or of pairs only the keys."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.Dict):
        return [s for k in node.keys if k for s in strings(k)]
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [s for e in node.elts for s in (strings(e.elts[0]) if isinstance(e, ast.Tuple) and e.elts else strings(e))]
    if isinstance(node, ast.Subscript):  # Literal["a", "b"]
        return strings(node.slice)
    if isinstance(node, ast.Call):  # OrderedDict([...]), dict(a=...), f(**{...})
        return [s for a in node.args for s in strings(a)] + [s for k in node.keywords for s in ([k.arg] if k.arg else strings(k.value))]
    return []


def table(files, path, names):
    """Strings of the assignments whose name fits; names is a pattern."""
    found = []
    for name, value in assigned(one(files, path)):
        if re.fullmatch(names, name):
            found += strings(value)
    if not found:
        raise Unreadable("%s assigns nothing that is called %s" % (path, names))
    return set(found)


def compared_with(files, path, variable):
    """Strings that a variable (x, or config["x"]) is compared with."""
    text = files.get(path, "")
    found = set()
    for m in re.finditer(variable + r"""["'\])]*\s*(?:==|!=|in|not in)\s*(\([^)]*\)|\[[^\]]*\]|\{[^}]*\}|["'][^"']+["'])""", text):
        found |= set(re.findall(r"""["']([^"']+)["']""", m.group(1)))
    return found


# ---- one reader a framework: ({ table file: architectures }, methods, cache types) --------------------------------------


def read_vllm(files):
    base = "vllm/model_executor/"
    archs = table(files, base + "models/registry.py", r"_(?!PREVIOUSLY|OOT|SPECULATIVE_DECODING_DISABLED)[A-Z_]*MODELS")
    methods = table(files, base + "layers/quantization/__init__.py", "QuantizationMethods")
    cache = table(files, "vllm/config/cache.py", "CacheDType") if "vllm/config/cache.py" in files else set()
    return {"arch/vllm.tsv": archs}, methods, cache


def read_sglang(files):
    archs = set()
    for path, text in files.items():
        if re.fullmatch(r"sglang/srt/models/[^/]+\.py", path):
            for name, value in assigned(ast.parse(text)):
                if name == "EntryClass":
                    items = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
                    archs |= {n.id for n in items if isinstance(n, ast.Name)}
    if not archs:
        raise Unreadable("no EntryClass in sglang/srt/models")
    methods = table(files, "sglang/srt/layers/quantization/__init__.py", r"[A-Z_]*QUANTIZATION_METHODS")
    return {"arch/sglang.tsv": archs}, methods, set()


def read_transformers(files):
    base = "transformers/models/auto/"
    types = set()
    for path in ("configuration_auto.py", "auto_mappings.py"):
        if base + path in files:
            try:
                types |= table(files, base + path, "CONFIG_MAPPING_NAMES")
            except Unreadable:
                pass
    if not types:
        raise Unreadable("no CONFIG_MAPPING_NAMES in " + base)
    return {"arch/transformers.tsv": types}, table(files, "transformers/quantizers/auto.py", "AUTO_QUANTIZATION_CONFIG_MAPPING"), set()


def read_mlx(files):
    types = table(files, "mlx_lm/utils.py", "MODEL_REMAPPING")
    for path, text in files.items():
        m = re.fullmatch(r"mlx_lm/models/([^/]+)\.py", path)
        if m and re.search(r"^class Model\b|^from \S+ import .*\bModel\b", text, re.M):
            types.add(m.group(1))
    return {"arch/mlx-lm.tsv": types}, compared_with(files, "mlx_lm/utils.py", "quant_method"), set()


def read_lmdeploy(files):
    turbomind = table(files, "lmdeploy/turbomind/supported_models.py", "SUPPORTED_ARCHS")
    path = "lmdeploy/pytorch/models/module_map.py"
    pytorch, removed = table(files, path, "MODULE_MAP"), set()
    try:
        removed = table(files, path, "REMOVED_MODEL_MAP")
    except Unreadable:
        pass
    methods = compared_with(files, "lmdeploy/turbomind/converter.py", "quant_method") | compared_with(files, "lmdeploy/pytorch/config.py", "quant_method")
    return {"arch/lmdeploy-turbomind.tsv": turbomind, "arch/lmdeploy-pytorch.tsv": pytorch - removed}, methods, set()


def read_gguf(files):
    names, types = set(), set()
    for name, value in assigned(one(files, "gguf/constants.py")):
        if name == "MODEL_ARCH_NAMES" and isinstance(value, ast.Dict):
            names |= {v.value for v in value.values if isinstance(v, ast.Constant)}
    for node in one(files, "gguf/constants.py").body:
        if isinstance(node, ast.ClassDef) and node.name == "GGMLQuantizationType":
            types |= {t.id for a in node.body if isinstance(a, ast.Assign) for t in a.targets}
    return {"arch/llama.cpp.tsv": names - {"mmproj", "gptj"}}, types, set()


PYTHON = r"\.py$"
# name -> package, reader, files that are read, what the methods are
READERS = {
    "vllm": ("vllm", read_vllm, PYTHON, "quant"),
    "sglang": ("sglang", read_sglang, PYTHON, "quant"),
    "transformers": ("transformers", read_transformers, PYTHON, "quant"),
    "mlx-lm": ("mlx-lm", read_mlx, PYTHON, "quant"),
    "lmdeploy": ("lmdeploy", read_lmdeploy, PYTHON, "quant"),
    "llama.cpp": ("gguf", read_gguf, PYTHON, "gguf"),
}
# methods that are named by the data alone: not by a table of the package, but by a key or by the tensors
OWN_NAMES = {"mlx-lm": {"mlx", "fp8-blocks"}, "transformers": {"exl2", "exl3", "modelopt"}, "sglang": {"mlx_q4", "mlx_q8"}, "lmdeploy": {"modelslim_w8a8_static"}}
DATA_FILES = {"lmdeploy": ["lmdeploy-turbomind", "lmdeploy-pytorch"]}

# ---- the data ----------------------------------------------------------------------------------------------------------


def load(name):
    with open(os.path.join(DATA, name + ".json"), encoding="utf-8") as f:
        return json.load(f)


def rows_of(path):
    """[line, cells] of a table, comments with cells None."""
    out = []
    with open(os.path.join(DATA, path), encoding="utf-8") as f:
        for line in f.read().splitlines():
            out.append([line, None if line.startswith("#") or not line else line.split("\t")])
    return out


def columns_of(data, path):
    blocks = data.get("architectures", [])
    for b in blocks if isinstance(blocks, list) else [blocks]:
        if b["table"] == path:
            return b.get("columns", ["name"])
    raise Unreadable("%s.json does not name the table %s" % (data["name"], path))


def cell(cells, columns, key):
    i = columns.index(key) if key in columns else -1
    return cells[i] if 0 <= i < len(cells) and cells[i] != "-" else ""


def set_cell(cells, columns, key, value):
    i = columns.index(key)
    cells += ["-"] * (i + 1 - len(cells))
    cells[i] = value


def newest(data):
    return data.get("known_to", "")


def boundary(data, version):
    """What is known: the newest release read lacks it, this one has it."""
    return "%s..%s" % (newest(data), version) if newest(data) and newest(data) != version else version


def in_data(rows, columns):
    return {c[columns.index("name")] for _, c in rows if c and not cell(c, columns, "until")}


def show(title, names):
    if names:
        print("%s (%d)" % (title, len(names)))
        for n in sorted(names):
            print("    " + n)


def compare_architectures(data, path, have, version, write, runs_behind):
    rows, columns = rows_of(path), columns_of(data, path)
    known = in_data(rows, columns)
    plugin = {c[columns.index("name")] for _, c in rows if c and cell(c, columns, "plugin")}
    new, gone = have - known, known - have - plugin
    show("%s: new architectures" % path, new)
    gone = set() if runs_behind else gone
    show("%s: architectures that are gone" % path, gone)
    if write and (new or gone):
        for row in rows:
            if row[1] and row[1][columns.index("name")] in gone and not cell(row[1], columns, "until"):
                set_cell(row[1], columns, "until", boundary(data, version))
        for n in new:
            cells = ["-"] * len(columns)
            set_cell(cells, columns, "name", n)
            set_cell(cells, columns, "since", boundary(data, version))
            rows.append(["", cells])
        save(path, rows, columns)
    return bool(new or gone)


def save(path, rows, columns):
    head = [line for line, c in rows if not c]
    body = [c for _, c in rows if c]
    for c in body:
        while c and c[-1] in ("-", ""):
            c.pop()
    i = columns.index("name")
    body.sort(key=lambda c: (c[i], c))
    with open(os.path.join(DATA, path), "w", encoding="utf-8") as f:
        f.write("\n".join(head + ["\t".join(c) for c in body]) + "\n")
    print("wrote rules/frameworks/%s" % path)


def compare_methods(name, data, have):
    rows = [r for d in data for r in d.get("quant", []) if r["method"] != "gguf"]
    aliases = {a["from"] for d in data for a in d.get("quant_aliases", [])} | {a["to"] for d in data for a in d.get("quant_aliases", [])}
    known = {r["method"] for r in rows if "until" not in r}
    new, gone = have - known - aliases - {"gguf"}, known - have - aliases - OWN_NAMES.get(name, set())
    show("quantization methods without a live row", new)
    show("rows of methods that the package does not name", gone)
    return bool(new or gone)


def compare_types(data, have):
    rows = data["gguf"]["types"]
    known = {n for r in rows if "until" not in r for n in r.get("names", [r.get("name")])}
    new = have - known  # these packages run behind the engine: what they lack says nothing
    show("ggml types without a row", new)
    return bool(new)


def compare_cache(data, have):
    known = {n for r in data.get("kv_dtypes", []) if "until" not in r for n in r["names"]} | {"auto"}
    show("cache types without a row", have - known)
    show("cache types that are gone", known - have - {"auto"})
    return bool(have and (have - known or known - have - {"auto"}))


def compare(name, version, files, write):
    _, read, _, methods_are = READERS[name]
    tables, methods, cache = read(files)
    data = [load(n) for n in DATA_FILES.get(name, [name])]
    print("%s %s against data up to %s" % (name, version or "?", newest(data[0])))
    changed = False
    for d in data:
        blocks = d.get("architectures", [])
        for b in blocks if isinstance(blocks, list) else [blocks]:
            if b["table"] in tables:
                changed |= compare_architectures(d, b["table"], tables.pop(b["table"]), version, write, methods_are == "gguf")
    changed |= compare_types(data[0], methods) if methods_are == "gguf" else compare_methods(name, data, methods)
    if cache:
        changed |= compare_cache(data[0], cache)
    if not changed:
        print("nothing changed")
    return changed


# ---- ggml types of the npm package ---------------------------------------------------------------------------------------


def compare_npm(data):
    names = {n for text in fetch_npm("@huggingface/gguf").values() for n in re.findall(r"\bGGMLQuantizationType\d?\.([A-Z][A-Z0-9_]*)", text)}
    if not names:
        raise Unreadable("@huggingface/gguf names no GGMLQuantizationType")
    return compare_types(data, names)


# ---- Ollama: its architectures follow from llama.cpp's -------------------------------------------------------------------

# model/models of its own engine by 0.20 (@ fb3076099687); from 0.30.0 on llama-server runs everything
OWN_ENGINE = """bert gemma2 gemma3 gemma3n gemma4 gptoss llama llama4 mistral3 mllama qwen2 qwen25vl qwen3 qwen3moe qwen3vl qwen35 deepseek2
deepseekocr glm4moelite glmocr lfm2 nemotron_h nomic-bert olmo3""".split()
OWN_BY, OWN_UNTIL = "0.20.0", "0.30.0"


def parts(version):
    return tuple(int(n) for n in version.lstrip("v").split("."))


def ollama_boundary(builds, since):
    """The releases of the table between which a build was reached: (last without, first with); None: not yet."""
    need, before = int(since.split("..")[-1].lstrip("b")), ""
    for version, build in builds:
        if build >= need:
            return before, version
        before = version
    return None


def write_ollama():
    data = load("ollama")
    builds = sorted(((r["v"], int(r["build"].lstrip("b"))) for r in data["builds"]), key=lambda r: parts(r[0]))
    first = builds[0][0]
    out = {}
    for _, cells in rows_of("arch/llama.cpp.tsv"):
        reached = ollama_boundary(builds, cells[1]) if cells and len(cells) > 1 else None
        if reached:
            out[cells[0]] = [cells[0]] if not reached[0] else [cells[0], "%s..%s" % reached]
    for name in OWN_ENGINE:
        have = out.get(name)
        if have and len(have) == 1:
            continue
        by = min([OWN_BY] + [have[1].split("..")[1]] if have else [OWN_BY], key=parts)
        out[name] = [name, "%s..%s" % (first, by)] + ([] if have else [OWN_UNTIL])
    head = ["# general.architecture by Ollama release: that of its llama.cpp build (arch/llama.cpp.tsv through the builds of ollama.json); those of",
            "# its own engine (model/models @ fb3076099687, 2026-08-21) from 0.20 at the latest until 0.30. Written by rules/update_framework.py ollama",
            "# columns: name, since, until (A..B: last release of the table without it, first one with it)"]
    save("arch/ollama.tsv", [[h, None] for h in head] + [["", c] for c in out.values()], ["name", "since", "until"])


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("framework", choices=sorted(READERS) + ["ollama"])
    p.add_argument("version", nargs="?", default="", help="release to read; the newest without it")
    p.add_argument("--dir", help="an unpacked package instead of the registry's")
    p.add_argument("--write", action="store_true", help="put new and ended architectures into the table")
    a = p.parse_args()
    if a.framework == "ollama":
        write_ollama()
        return 0
    package, _, pattern, methods_are = READERS[a.framework]
    try:
        files, version = (read_dir(a.dir, re.compile(pattern)), a.version) if a.dir else fetch(package, a.version, re.compile(pattern))
        changed = compare(a.framework, version, files, a.write)
        if methods_are == "gguf" and not a.dir:
            print("npm package @huggingface/gguf")
            changed |= compare_npm(load(a.framework))
        return 1 if changed else 0
    except (Unreadable, OSError, SyntaxError) as e:
        print("update_framework.py: %s" % e, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
