#!/usr/bin/env python3
"""The command line's contract, from outside: test_hostile.py BINARY [NAME...]. Ends with `N passed, N failed`.

Options, exit statuses, what goes to which stream, determinism; then hostile directories and damaged files: whatever the
bytes are, the program ends in time with one of its statuses, says why, and writes nothing raw to the terminal.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import mkmodel  # noqa: E402

BINARY = str(Path(sys.argv[1] if len(sys.argv) > 1 else "build/modelcheck").resolve())
TMP = Path(tempfile.mkdtemp(prefix="modelcheck-cli-"))
LATER = ["--deep", "--hash", "--baseline f", "--write-baseline f", "--suppress f", "--config f", "--jobs 2", "-o json=f"]


def run(*args, cwd=TMP, stdin=b"", env=None, stdout=subprocess.PIPE, timeout=60):
    e = {"PATH": os.environ["PATH"], "LC_ALL": "C", **{k: v for k, v in os.environ.items() if "SAN_" in k}, **(env or {})}
    p = subprocess.run([BINARY, *map(os.fsencode, args)], cwd=cwd, input=stdin, stdout=stdout, stderr=subprocess.PIPE, env=e, timeout=timeout)
    assert 0 <= p.returncode <= 3, f"{args}: status {p.returncode}\n{p.stderr.decode(errors='replace')[-3000:]}"
    return p


def status(*args, **kw):
    return run(*args, **kw).returncode


def report(*args, **kw):
    p = run(*args, "--format", "json", **kw)
    doc = json.loads(p.stdout)
    assert doc["summary"]["exit"] == p.returncode, f"{args}: summary says {doc['summary']['exit']}, status {p.returncode}"
    return doc


def codes(doc):
    return [f["code"] for m in doc["models"] for f in m["findings"]]


def build(name, recipe):
    """A model directory TMP/name from recipe lines."""
    where = TMP / "built" / name
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir(parents=True)
    (where / "recipe").write_text(recipe)
    mkmodel.Recipe(where).run(where / "recipe")
    assert (where / "model").is_dir()
    return where / "model"


# ---- statuses and options -----------------------------------------------------------------------

def test_version_and_help():
    for args in (["--version"], ["--help"], ["show", "--help"], ["memory", "--help"], ["check", "--help"]):
        p = run(*args)
        assert p.returncode == 0 and p.stdout and not p.stderr, args


def test_wrong_usage_is_2():
    good = build("usage", "include tl")
    for args in ([], ["--no-such-option", good], ["--format", "xml", good], ["--format"], ["--fail-on", "fatal", good], ["--context", "x", good],
                 ["--context", "0", good], ["--context", "-1", good], ["--sequences", "0", good], ["--kv-dtype", "f17", good], ["--vram", "lots", good],
                 ["--severity", "MC306", good], ["--severity", "MC306=fatal", good], ["--select", "MC999", good], ["--color", "maybe", good],
                 ["explain"], ["explain", "MC999"], ["--context", "99999999999999999999999", good]):
        p = run(*args)
        assert p.returncode == 2, f"{args}: {p.returncode}"
        assert p.stderr and not p.stdout, args


def test_options_of_later_versions_are_wrong_usage():
    good = build("usage", "include tl")
    for option in LATER:
        assert status(*option.split(), good) == 2, option


def test_a_sound_model_is_0():
    good = build("good", "include tl-sharded")
    p = run(good)
    assert p.returncode == 0 and b"0 errors, 0 warnings" in p.stdout and not p.stderr
    doc = report(good)
    assert doc["schema"] == "modelcheck.report/1" and doc["summary"]["models"] == 1
    m = doc["models"][0]
    assert m["weights"]["tensors"] == 21 and m["weights"]["bytes"] == 172672 and m["parameters"]["total"] == 86336, m["weights"]


def test_thresholds():
    bad = build("bad", "include tl\ntruncate model.safetensors -1000")
    assert status(bad) == 1
    assert status("--fail-on", "error", bad) == 1
    assert status("--fail-on", "never", bad) == 0
    assert status("--severity", "MC306=warning", bad) == 0
    assert status("--severity", "MC306=warning", "--fail-on", "warning", bad) == 1
    assert status("--severity", "st-truncated=info", "--fail-on", "warning", bad) == 0
    assert status("--severity", "MC306=info", "--fail-on", "info", bad) == 1


def test_select_and_ignore():
    bad = build("bad", "include tl\ntruncate model.safetensors -1000")
    assert status("--ignore", "MC306", bad) == 0
    assert status("--ignore", "st-truncated", bad) == 0
    assert status("--ignore", "MC3", bad) == 0
    assert status("--select", "MC1,MC2", bad) == 0
    assert status("--select", "MC306", bad) == 1
    assert codes(report("--ignore", "MC3,MC708", bad)) == []


def test_unchecked_is_3_whatever_the_threshold():
    empty = TMP / "empty"
    empty.mkdir(exist_ok=True)
    for extra in ([], ["--fail-on", "never"], ["--ignore", "MC903"], ["--select", "MC1"], ["--fail-on", "warning"]):
        assert status(*extra, empty) == 3, extra
        assert status(*extra, TMP / "not-there") == 3, extra
    assert status("") in (2, 3)
    assert status("/dev/null") == 3
    assert status("show", TMP / "not-there") == 3


def test_an_unreadable_path_is_told():
    p = run(TMP / "not-there")
    assert b"not-there" in p.stderr
    doc = report(TMP / "not-there")
    assert len(doc["errors"]) == 1 and "not-there" in doc["errors"][0]["path"], doc["errors"]


def test_error_and_unreadable_is_1():
    bad = build("bad", "include tl\ntruncate model.safetensors -1000")
    assert status(bad, TMP / "not-there") == 1
    assert status(build("good", "include tl"), TMP / "not-there") == 3


def test_require_weights():
    config = build("config", "include tl-config")
    assert status(config) == 3
    assert status("--require-weights", config) == 1
    assert "MC904" in codes(report("--require-weights", config))
    assert status(build("adapter", "include tl-adapter")) == 0


def test_show_never_fails():
    bad = build("bad", "include tl\ntruncate model.safetensors -1000")
    assert status("show", bad) == 0
    assert b"embed_tokens" in run("show", "--tensors", bad).stdout
    assert b"embed_tokens" in run("show", "--tree", bad).stdout


def test_memory_is_arithmetic():
    good = build("good", "include tl")
    memory = report("memory", "--context", "1000", "--sequences", "3", "--kv-dtype", "f16", good)["models"][0]["memory"]
    assert memory["kv_bytes"] == 2 * 2 * 2 * 16 * 2 * 1000 * 3, memory["kv_bytes"]
    assert memory["weights_bytes"] == 172672 and memory["floor_bytes"] == memory["kv_bytes"] + 172672
    eight = report("memory", "--kv-dtype", "f32,f16", good)["models"][0]["memory"]
    assert eight["kv_bytes"] == 2 * 2 * 16 * (4 + 2) * 2048, eight["kv_bytes"]


def test_vram():
    good = build("good", "include tl")
    assert status("--vram", "1GiB", good) == 0
    assert status("--vram", "100KiB", good) == 1 and "MC709" in codes(report("--vram", "100KiB", good))
    assert status("memory", "--vram", "100KiB", good) == 1
    assert status("memory", "--vram", "1GB", good) == 0
    for engine in ("generic", "llama.cpp", "vllm", "sglang", "transformers"):
        for numbers in ((1, 1), (2**63, 1), (2**64 - 1, 2**64 - 1), (1, 2**64 - 1)):
            args = ["memory", "--engine", engine, "--context", numbers[0], "--sequences", numbers[1], "--tp", "8", "--vram", "1KiB", "--plot", TMP / "p.svg", "--estimates", good]
            assert status(*map(str, args)) in (0, 1), args


def test_a_shard_stands_for_its_directory():
    good = build("good3", "include tl-sharded")
    shards = sorted(good.glob("*.safetensors"))
    doc = report(*shards)
    assert doc["summary"]["models"] == 1 and doc["models"][0]["weights"]["files"] == 3
    alone = TMP / "alone"
    alone.mkdir(exist_ok=True)
    shutil.copy(shards[1], alone / shards[1].name)
    doc = report(alone / shards[1].name)
    assert doc["summary"]["exit"] == 0 and "MC905" in codes(doc), codes(doc)
    split = build("split3", "include tl-gguf-split")
    doc = report(*sorted(split.glob("*.gguf")))
    assert doc["summary"]["models"] == 1 and doc["models"][0]["weights"]["files"] == 3


def test_trees_and_lists():
    tree = TMP / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    for name in ("a", "b/c", "b/d"):
        shutil.copytree(build("good", "include tl"), tree / name)
    doc = report("--recursive", tree)
    assert [Path(m["path"]).relative_to(tree).as_posix() for m in doc["models"]] == ["a", "b/c", "b/d"], [m["path"] for m in doc["models"]]
    listed = f"{tree}/a\n\n{tree}/b/c\n".encode()
    assert report("--files-from", "-", stdin=listed)["summary"]["models"] == 2
    (TMP / "list").write_bytes(listed)
    assert report("--files-from", TMP / "list")["summary"]["models"] == 2
    assert status("--files-from", TMP / "no-list") in (2, 3)
    assert status("--files-from", "-", stdin=b"") != 0


def test_names_that_look_like_commands():
    here = TMP / "named"
    shutil.rmtree(here, ignore_errors=True)
    here.mkdir()
    for name in ("check", "show", "-x"):
        shutil.copytree(build("good", "include tl"), here / name)
    assert status("./check", cwd=here) == 0
    assert status("check", "show", cwd=here) == 0
    assert status("check", "--", "-x", cwd=here) == 0
    assert status("--", "-x", cwd=here) == 0
    assert status("-x", cwd=here) == 2


def test_colour_only_when_wanted():
    bad = build("bad", "include tl\ntruncate model.safetensors -1000")
    assert b"\x1b[" in run("--color", "always", bad).stdout
    assert b"\x1b[" not in run("--color", "never", bad).stdout
    assert b"\x1b[" not in run(bad).stdout
    assert b"\x1b[" not in run("--color", "auto", bad, env={"NO_COLOR": "1"}).stdout


def test_output_is_the_same_every_time():
    bad = build("bad", "include tl-sharded\ntruncate model-00002-of-00003.safetensors -1000\nset config.json /num_hidden_layers 3")
    for args in ([], ["--format", "json"], ["--verbose"], ["--quiet"]):
        assert len({run(*args, bad).stdout for _ in range(3)}) == 1, args
    a = run("model", "--format", "json", cwd=bad.parent).stdout
    moved = TMP / "elsewhere"
    shutil.rmtree(moved, ignore_errors=True)
    shutil.copytree(bad.parent, moved)
    assert a == run("model", "--format", "json", cwd=moved).stdout     # fingerprints included


def test_explain_and_rules():
    listed = json.loads(run("rules", "--format", "json").stdout)["rules"]
    text = run("rules").stdout.decode()
    for r in listed:
        assert r["code"] in text and r["slug"] in text
        p, q = run("explain", r["code"]), run("explain", r["slug"])
        assert p.returncode == 0 and p.stdout == q.stdout and r["slug"].encode() in p.stdout, r["code"]
    assert run("rules", "--format", "md").stdout.startswith(b"#")
    assert [r["code"] for r in listed] == sorted(r["code"] for r in listed)


def test_a_full_disk_is_told():
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            p = run(build("good", "include tl"), stdout=full)
        assert p.returncode == 3 and p.stderr


# ---- hostile directories ------------------------------------------------------------------------

def raw_controls(text):
    """Control characters other than line feeds."""
    return [c for c in text.decode("utf-8", "replace") if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160]


def test_names_are_escaped():
    bad = build("names", "include tl")
    evil = "evil\x1b[31m\nerror MC999 fake: \r\x07.safetensors"
    (bad / evil).write_bytes(b"not a header at all, just text")
    (bad / (b"latin-\xe9.gguf".decode("utf-8", "surrogateescape"))).write_bytes(b"x" * 100)
    for args in ([], ["--verbose"], ["show"], ["show", "--tensors"]):
        p = run(*args, bad)
        assert not raw_controls(p.stdout) and not raw_controls(p.stderr), args
        assert b"\nerror MC999" not in p.stdout
    json.loads(run("--format", "json", bad).stdout.decode("utf-8"))


def test_hostile_text_in_files_is_escaped():
    bad = build("text", 'include tl\nset config.json /architectures ["\\u001b[2J\\nerror MC999 fake: x"]\nset config.json /model_type "\\u0007\\u009b31m"\n'
                'set config.json /vocab_size 7\nedit model.safetensors\n  rename model.norm.weight "a\x1b]0;title\x07"\n')
    for args in ([], ["--verbose"], ["show", "--tensors"], ["memory"]):
        p = run(*args, bad)
        assert not raw_controls(p.stdout), (args, raw_controls(p.stdout))
        assert b"\nerror MC999" not in p.stdout
    json.loads(run("--format", "json", bad).stdout)


def test_special_files_do_not_block():
    bad = build("special", "include tl\nremove model.safetensors\nfifo model.safetensors\nfifo tokenizer.json\nsocket x.gguf\n")
    assert status(bad, timeout=10) in (1, 3)
    assert status(bad / "model.safetensors", timeout=10) == 3
    assert status("/dev/zero", timeout=10) == 3
    assert status(build("special2", "include tl\nremove config.json\nfifo config.json\n"), timeout=10) in (1, 3)


def test_loops_and_depth():
    bad = build("loop", "include tl\nsymlink sub/up ..\nsymlink self self\nsymlink again .\n")
    assert status(bad, timeout=10) in (0, 1, 3)
    assert status("--recursive", bad, timeout=10) in (0, 1, 3)
    deep = TMP / "deep"
    shutil.rmtree(deep, ignore_errors=True)
    where = deep / "/".join(["d"] * 40)
    where.mkdir(parents=True)
    shutil.copytree(build("good", "include tl"), where / "m")
    assert status("--recursive", deep) == 3     # deeper than 16: not all was looked at, and that is said


def test_long_names():
    bad = build("long", "include tl")
    (bad / ("n" * 243 + ".safetensors")).write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    nested = bad / ("d" * 200) / ("e" * 200)
    nested.mkdir(parents=True)
    (nested / "model.safetensors").write_bytes(b"x")
    assert status(bad) in (0, 1)
    assert status("x" * 300) == 3
    assert status("y" * 100000) == 3


def test_index_values_never_open_anything():
    secret = TMP / "secret"
    secret.write_text("root:x:0:0")
    for value in ("../../secret", str(secret), "/etc/passwd", "..", ".", "", "sub/", "a\\\\b", "C:/x.safetensors", "model\\u0000.safetensors", "config.json"):
        bad = build("paths", f'include tl-sharded\nset model.safetensors.index.json /weight_map/model.norm.weight "{value}"\n')
        p = run(bad)
        assert p.returncode == 1, (value, p.returncode)
        assert b"root:x" not in p.stdout
    bad = build("paths", 'include tl-sharded\nset model.safetensors.index.json /weight_map {"a": 7, "b": null, "c": [], "d": {"e": 1}}\n')
    assert status(bad) == 1


# ---- damaged files ------------------------------------------------------------------------------

NAMES = ["model.safetensors", "model.gguf", "config.json", "model.safetensors.index.json", "tokenizer.json", "tokenizer_config.json",
         "generation_config.json", "pytorch_model.bin", "adapter_config.json", "adapter_model.safetensors", "model_index.json", "modules.json",
         "quantize_config.json", "hf_quant_config.json", "params.json", "special_tokens_map.json", "added_tokens.json", "chat_template.jinja",
         "model-00001-of-00002.safetensors", "m-00001-of-00002.gguf", "tokenizer.model", "vocab.json", "merges.txt", "preprocessor_config.json"]


def test_any_bytes_under_any_name():
    """Alone in a directory: a finding, or a status that is not 0."""
    rnd = random.Random(3)
    contents = [b"", b"\0" * 64, b"{}", b"[]", b"null", b"{", b"\xff" * 300, b"GGUF", b"GGUF\x03\0\0\0" + b"\xff" * 16, b"GGUF\x03\0\0\0" + bytes(16),
                b"\x08\0\0\0\0\0\0\0{\"a\":1}", b"\xff" * 8 + b"{}", bytes(8), b"PK\x03\x04", b"PK\x05\x06" + bytes(18), b"\x80\x02.", b"<html>",
                b"version https://git-lfs.github.com/spec/v1\n", rnd.randbytes(5000), b"[" * 100000, b'{"a":' * 50000, b'{"weight_map":{}}', b"1e999"]
    where, quiet = TMP / "any", []
    for name in NAMES:
        for i, data in enumerate(contents):
            shutil.rmtree(where, ignore_errors=True)
            where.mkdir()
            (where / name).write_bytes(data)
            p = run(where, "--format", "json", timeout=20)
            doc = json.loads(p.stdout)
            if p.returncode == 0 and not codes(doc):
                quiet.append((name, data[:20], p.returncode, codes(doc)))
    assert not quiet, quiet


def mutations(data, rnd, n):
    """n damaged copies: bytes changed, cut, doubled, moved; mostly in the first kilobytes, where headers are."""
    for _ in range(n):
        b = bytearray(data)
        for _ in range(rnd.choice((1, 1, 2, 5))):
            at = rnd.randrange(min(len(b), rnd.choice((16, 64, 400, 4000, len(b))))) if b else 0
            kind = rnd.randrange(6)
            if kind == 0 and b:
                b[at] = rnd.randrange(256)
            elif kind == 1 and b:
                b[at] ^= 1 << rnd.randrange(8)
            elif kind == 2:
                del b[at:at + rnd.choice((1, 4, 30))]
            elif kind == 3:
                b[at:at] = rnd.choice((b"\0", b"\xff" * 8, b"{", b"]", b'"', b"9" * 30, b"-1", b"NaN", b"\\ud800", b"null"))
            elif kind == 4:
                b[at:at + 8] = rnd.choice((b"\xff" * 8, bytes(8), b"\xff" * 7 + b"\x7f", (1 << 40).to_bytes(8, "little")))
            else:
                del b[at:]
        yield bytes(b)


def storm(recipe, name, n, seed):
    model = build(f"storm{seed}", recipe)
    data = (model / name).read_bytes()
    rnd = random.Random(seed)
    for i, damaged in enumerate(mutations(data, rnd, n)):
        (model / name).write_bytes(damaged)
        p = run(model, "--format", "json", timeout=20)
        try:
            doc = json.loads(p.stdout)
            assert doc["summary"]["exit"] == p.returncode
        except (ValueError, AssertionError) as e:
            raise AssertionError(f"{name}: mutation {i} of seed {seed}: {e}: {p.stdout[-300:]} {p.stderr[-300:]}")


def test_damaged_safetensors():
    storm("include tl", "model.safetensors", 60, 1)


def test_damaged_index():
    storm("include tl-sharded", "model.safetensors.index.json", 60, 2)


def test_damaged_gguf():
    storm("include tl-gguf", "tiny-llama-F16.gguf", 60, 3)


def test_damaged_split():
    storm("include tl-gguf-split", "tiny-llama-F16-00002-of-00003.gguf", 40, 4)


def test_damaged_config():
    storm("include tl", "config.json", 60, 5)


def test_damaged_tokenizer():
    storm("include tl", "tokenizer.json", 40, 6)
    storm("include tl", "tokenizer_config.json", 40, 7)


def test_damaged_adapter():
    storm("include tl-adapter", "adapter_config.json", 30, 8)
    storm("include tl-adapter", "adapter_model.safetensors", 30, 9)


def test_damaged_torch():
    storm("include tl-torch", "pytorch_model.bin", 30, 10)


def test_damaged_pipeline():
    storm("include tl-diffusers", "model_index.json", 30, 11)


def main():
    names = sys.argv[2:]
    passed = failed = 0
    for name, test in [(k, v) for k, v in globals().items() if k.startswith("test_")]:
        if names and name not in names:
            continue
        try:
            test()
            passed += 1
        except (Exception, SystemExit):
            failed += 1
            print(f"FAIL {name}\n" + "".join("  " + line + "\n" for line in traceback.format_exc().splitlines()[-6:]))
    shutil.rmtree(TMP, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
