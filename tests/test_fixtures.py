#!/usr/bin/env python3
"""The base models are what they claim: the reference readers take their files, the sample is what its recipe builds, and
the writer writes the same bytes twice. Ends with `N passed, N failed`. Readers that cannot be had are named and left out."""
import json
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "oracle")]
import mkmodel    # noqa: E402
import reference  # noqa: E402

FIXTURES = HERE.parent / "fixtures"


def readers():
    for suffix, kind in ((".safetensors", reference.Safetensors), (".gguf", reference.Gguf)):
        try:
            yield suffix, kind(HERE.parent)
        except reference.Missing as e:
            print(f"left out: {e}", file=sys.stderr)


def contents(root):
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def complaints(name, root, known):
    """What is wrong with one built model."""
    for path, data in contents(root).items():
        if Path(path).suffix in known:
            says = known[Path(path).suffix].read(data, root / path)
            if says:
                yield f"{path}: the reference reader says {says}"
        elif path.endswith(".json"):
            json.loads(data)
        elif path.endswith(".bin") and zipfile.ZipFile(root / path).testzip():
            yield f"{path}: damaged member"
    if name == "sample" and contents(root) != contents(FIXTURES / "sample"):
        yield "fixtures/sample is not what fixtures/sample.recipe builds"


def main():
    known, passed, failed = dict(readers()), 0, 0
    for recipe in sorted(FIXTURES.glob("*.recipe")):
        with tempfile.TemporaryDirectory(prefix="modelcheck-fixtures-") as tmp:
            for copy in ("1", "2"):
                mkmodel.Recipe(Path(tmp, copy)).run(recipe)
            bad = list(complaints(recipe.stem, Path(tmp, "1/model"), known))
            if contents(Path(tmp, "1")) != contents(Path(tmp, "2")):
                bad.append("not the same bytes twice")
        passed, failed = passed + (not bad), failed + bool(bad)
        for line in bad:
            print(f"FAIL {recipe.name}: {line}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
