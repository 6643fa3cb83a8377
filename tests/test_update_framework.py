#!/usr/bin/env python3
"""rules/update_framework.py on small made-up packages: what is new, what is gone, a package that has moved its table."""
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "rules"))
import update_framework as up  # noqa: E402


def known(framework, column):
    data = up.load(framework)
    rows, columns = up.rows_of("arch/%s.tsv" % framework), up.columns_of(data, "arch/%s.tsv" % framework)
    return sorted(up.in_data(rows, columns)), sorted({r["method"] for r in data["quant"] if "until" not in r} - up.OWN_NAMES.get(framework, set()))


def mlx(types, methods):
    models = {"mlx_lm/models/%s.py" % t: "from .base import Model\n" if i else "class Model(object):\n    pass\n" for i, t in enumerate(types[1:])}
    text = "MODEL_REMAPPING = {%r: 'llama'}\n" % types[0] + "".join("if quant_method == %r:\n    pass\n" % m for m in methods)
    return {**models, "mlx_lm/utils.py": text, "mlx_lm/models/base.py": "x = 1\n"}


def run(files, version):
    with tempfile.TemporaryDirectory() as d:
        for name, text in files.items():
            path = Path(d) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        p = subprocess.run([sys.executable, ROOT / "rules/update_framework.py", "mlx-lm", version, "--dir", d], capture_output=True, text=True)
        return p.returncode, p.stdout + p.stderr


def main():
    types, methods = known("mlx-lm", "name")
    same = run(mlx(types, methods), "0.32.2")
    other = run(mlx(types[1:] + ["brand_new"], methods + ["q99"]), "0.33.0")
    moved = run({"mlx_lm/utils.py": "x = 1\n"}, "0.33.0")
    checks = [
        ("the data's own state", same[0] == 0 and "nothing changed" in same[1], same),
        ("new and gone", other[0] == 1 and "brand_new" in other[1] and "q99" in other[1] and types[0] in other[1], other),
        ("a table that has moved", moved[0] == 2 and "MODEL_REMAPPING" in moved[1], moved),
        ("boundary", up.boundary({"known_to": "0.32.2"}, "0.33.0") == "0.32.2..0.33.0", ""),
        ("builds", up.ollama_boundary([("0.1.0", 5), ("0.2.0", 9)], "b6") == ("0.1.0", "0.2.0") and up.ollama_boundary([("0.1.0", 5)], "b6") is None, ""),
    ]
    for name, good, got in checks:
        if not good:
            print("FAIL %s: %s" % (name, got))
    failed = sum(not good for _, good, _ in checks)
    print("%d passed, %d failed" % (len(checks) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
