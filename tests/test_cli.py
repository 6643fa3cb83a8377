#!/usr/bin/env python3
"""The command line from outside: exit statuses, wrong usage, options, hostile names, write errors. test_cli.py [BINARY]

Standard library only. Models are written here, byte by byte. Prints `N passed, N failed`.
"""
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from xml.etree import ElementTree

BINARY = str(Path(sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else "build/modelcheck").resolve())
SIZES = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
         "vocab_size": 48, "max_position_embeddings": 512}
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "torch_dtype": "bfloat16", "tie_word_embeddings": False,
          "rms_norm_eps": 1e-5, **SIZES}


def tensors():
    """Names and shapes of a tiny llama."""
    out = {"model.embed_tokens.weight": [48, 16], "lm_head.weight": [48, 16], "model.norm.weight": [16]}
    for i in range(2):
        p = f"model.layers.{i}."
        out.update({p + "self_attn.q_proj.weight": [16, 16], p + "self_attn.k_proj.weight": [8, 16], p + "self_attn.v_proj.weight": [8, 16],
                    p + "self_attn.o_proj.weight": [16, 16], p + "mlp.gate_proj.weight": [32, 16], p + "mlp.up_proj.weight": [32, 16],
                    p + "mlp.down_proj.weight": [16, 32], p + "input_layernorm.weight": [16], p + "post_attention_layernorm.weight": [16]})
    return out


def safetensors(shapes):
    head, at = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in shapes.items():
        n = 2
        for d in shape:
            n *= d
        head[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + n]}
        at += n
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + bytes(i * 7 % 251 for i in range(at))


def model(where, shards=1, broken=False):
    where.mkdir(parents=True)
    (where / "config.json").write_text(json.dumps(CONFIG))
    names = list(tensors().items())
    if shards == 1:
        data = safetensors(dict(names))
        (where / "model.safetensors").write_bytes(data[:-100] if broken else data)
        return where
    weight_map, total = {}, 0
    for i in range(shards):
        part = dict(names[i::shards])
        file = f"model-{i + 1:05}-of-{shards:05}.safetensors"
        (where / file).write_bytes(safetensors(part))
        weight_map.update({n: file for n in part})
    for shape in tensors().values():
        n = 2
        for d in shape:
            n *= d
        total += n
    (where / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": total}, "weight_map": weight_map}))
    return where


def run(*args, cwd=None, env=None, **kw):
    p = subprocess.run([BINARY, *map(os.fsencode, args)], cwd=cwd, env=dict(os.environ, **(env or {})), capture_output=True, timeout=20, **kw)
    return p.returncode, p.stdout, p.stderr


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tmp = tempfile.TemporaryDirectory(prefix="modelcheck-cli-")
        cls.dir = Path(cls.tmp.name)
        cls.good = model(cls.dir / "good")
        cls.bad = model(cls.dir / "bad", broken=True)
        cls.sharded = model(cls.dir / "sharded", shards=3)
        cls.empty = cls.dir / "empty"
        cls.empty.mkdir()

    @classmethod
    def tearDownClass(cls):
        cls.tmp.cleanup()

    def status(self, want, *args, **kw):
        code, out, err = run(*args, **kw)
        self.assertEqual(code, code if want is None else want, f"{args}: {out.decode(errors='replace')}{err.decode(errors='replace')}")
        return out, err

    def report(self, want, *args, **kw):
        return json.loads(self.status(want, *args, "--format", "json", **kw)[0])


class Statuses(Base):
    def test_sound(self):
        out, err = self.status(0, self.good)
        self.assertEqual(err, b"")
        self.assertTrue(out.endswith(b"\n0 errors, 0 warnings\n"))

    def test_findings(self):
        out, _ = self.status(1, "check", self.bad)
        self.assertIn(b"\nerror MC306 ", out)
        self.assertIn(b"\n  fix: ", out)
        self.assertTrue(out.endswith(b"\n1 error, 0 warnings\n"))

    def test_could_not_check(self):
        for path in (self.dir / "nowhere", self.empty, "", "/dev/null"):
            self.status(3, path)
        self.status(3, self.good, self.dir / "nowhere")
        self.status(1, self.bad, self.dir / "nowhere")       # when 1 and 3 both hold, 1

    def test_status_3_is_not_negotiable(self):
        self.status(3, self.empty, "--ignore", "MC9")
        self.status(3, self.empty, "--select", "MC1")
        self.status(3, self.empty, "--fail-on", "never")
        self.status(3, self.empty, "--require-weights", "--fail-on", "never")
        self.status(3, self.dir / "nowhere", "--fail-on", "never")

    def test_fail_on(self):
        self.status(0, self.bad, "--fail-on", "never")
        self.status(1, self.bad, "--fail-on", "info")
        self.status(0, self.bad, "--severity", "MC306=warning")
        self.status(1, self.bad, "--severity", "MC306=warning", "--fail-on", "warning")
        self.status(0, self.bad, "--severity", "st-truncated=info", "--fail-on", "warning")
        self.status(1, self.bad, "--severity", "MC3=info", "--severity", "MC306=error")   # the last one counts

    def test_select_and_ignore(self):
        self.assertEqual(self.report(0, self.bad, "--ignore", "MC306,MC708")["models"][0]["findings"], [])
        self.assertEqual(self.report(0, self.bad, "--ignore", "MC1,MC7,st-truncated")["models"][0]["findings"], [])
        self.assertEqual(self.report(0, self.bad, "--select", "MC1,MC2")["models"][0]["findings"], [])
        self.assertEqual([f["code"] for f in self.report(1, self.bad, "--select", "MC3")["models"][0]["findings"]], ["MC306"])

    def test_require_weights(self):
        doc = self.report(1, self.empty, "--require-weights")
        self.assertEqual([f["code"] for f in doc["models"][0]["findings"]], ["MC904"])
        self.status(0, self.good, "--require-weights")

    def test_show_knows_no_findings(self):
        self.status(0, "show", self.bad)
        self.status(3, "show", self.empty)
        self.status(3, "show", self.dir / "nowhere")

    def test_memory(self):
        self.status(0, "memory", self.good)
        self.status(0, "memory", self.good, "--vram", "24GiB")
        self.status(1, "memory", self.good, "--vram", "1KiB")
        self.status(1, self.good, "--vram", "1KiB")
        self.status(0, self.good, "--vram", "1GB")
        doc = self.report(1, "memory", self.good, "--vram", "2KB")
        self.assertEqual(doc["models"][0]["memory"]["fit"]["verdict"], "does-not-fit")
        self.assertEqual(doc["models"][0]["memory"]["fit"]["vram_bytes"], 2000)
        self.assertEqual(doc["summary"]["exit"], 1)

    def test_memory_answers(self):
        """12,448 bytes of weights, 64 bytes of cache for each token."""
        def memory(status, *args):
            return self.report(status, "memory", self.good, *args)["models"][0]["memory"]
        m = memory(0, "--vram", "40000", "--context", "400")
        self.assertEqual(m["fit"]["max_context"], {"tokens": (40000 - 12448) // 64, "with_margin": 0, "limited_by": "memory"})
        self.assertEqual(m["fit"]["max_sequences"], {"count": 1, "with_margin": 0})
        self.assertEqual((m["fit"]["verdict"], m["fit"]["margin_bytes"], m["fit"]["advice"]), ("tight", 1 << 30, None))
        self.assertEqual(memory(0, "--vram", "24GiB")["fit"]["max_context"], {"tokens": 512, "with_margin": 512, "limited_by": "model"})
        self.assertEqual((m["larger"], m["crossover_context"]), ("cache", 12448 // 64))
        self.assertEqual(m["halving"], {"from": 400, "to": 200, "saves_bytes": 200 * 64})
        self.assertEqual([(x["lever"], x["from"], x["to"], x["saves_bytes"]) for x in m["levers"]][:2],
                         [("context", "400", "200", 200 * 64), ("kv-dtype", "bf16", "fp8", 200 * 64)])
        m = memory(1, "--vram", "20000", "--context", "400", "--sequences", "4")
        self.assertEqual(m["fit"]["max_context"]["tokens"], (20000 - 12448) // 256)
        self.assertEqual(m["fit"]["advice"], "shorten the context to 29 tokens or less")
        self.assertEqual([x["lever"] for x in m["levers"]][:3], ["context", "sequences", "kv-dtype"])
        f16 = next(x for x in m["what_if"] if x["precision"] == "f16")
        self.assertEqual((f16["weights_bytes"], f16["by"]), (12448, "tensors"))
        self.assertNotIn("fit", memory(0))
        self.assertEqual(memory(0)["estimates"], [])
        self.assertTrue(all(0 < e["min_bytes"] <= e["max_bytes"] and e["source"] for e in memory(0, "--estimates")["estimates"]))
        self.assertIn(b"ESTIMATE", self.status(0, "memory", self.good, "--estimates")[0])
        self.status(2, self.good, "--estimates")

    def test_plot(self):
        picture = self.dir / "plot & <b>.svg"
        self.status(1, "memory", self.good, "--vram", "20000", "--sequences", "3", "--plot", picture)
        root = ElementTree.parse(picture).getroot()
        texts = ["".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")]
        for words in ("1 sequence", "3 sequences", "device 19.5 KiB", "full at 118 tokens", "weights 12.2 KiB"):
            self.assertIn(words, texts)
        self.assertIn("prefers-color-scheme: dark", picture.read_text())
        self.status(3, "memory", self.good, "--plot", self.dir / "nowhere" / "plot.svg")
        hostile = model(self.dir / "a&b<script>\n")
        self.status(0, "memory", hostile, "--plot", picture)
        self.assertNotIn("<script>", picture.read_text())
        ElementTree.parse(picture)
        self.status(2, self.good, "--plot", picture)

    def test_write_errors(self):
        for args in ([self.good], ["--help"], ["--version"], ["rules"], ["explain", "MC306"], ["show", self.good], [self.good, "--format", "json"]):
            with open("/dev/full", "wb") as full:
                p = subprocess.run([BINARY, *map(str, args)], stdout=full, stderr=subprocess.PIPE, timeout=20)
            self.assertEqual(p.returncode, 3, args)
            self.assertIn(b"standard output", p.stderr)

    def test_closed_pipe(self):
        r, w = os.pipe()
        os.close(r)
        p = subprocess.run([BINARY, str(self.good)], stdout=w, stderr=subprocess.PIPE, timeout=20)
        os.close(w)
        self.assertEqual(p.returncode, 3)

    def test_fifo(self):
        where = self.dir / "fifo"
        if not where.exists():
            where.mkdir()
            os.mkfifo(where / "model.safetensors")
        doc = self.report(3, where)
        self.assertFalse(doc["models"][0]["coverage"]["complete"])

    @unittest.skipIf(os.geteuid() == 0, "root reads everything")
    def test_unreadable(self):
        where = model(self.dir / "unreadable")
        os.chmod(where / "model.safetensors", 0)
        self.assertIn("MC902", [f["code"] for f in self.report(3, where)["models"][0]["findings"]])


class Usage(Base):
    def wrong(self, *args):
        out, err = self.status(2, *args)
        self.assertEqual(out, b"")
        self.assertTrue(err.startswith(b"modelcheck: "))
        return err.decode()

    def test_wrong_usage(self):
        self.wrong()
        self.wrong("show")
        self.wrong("memory", self.good, self.bad)
        self.wrong("explain")
        self.wrong("explain", "MC000")
        self.wrong("explain", "nothing-like-it")
        self.wrong("rules", "x")
        self.wrong("--nothing", self.good)
        self.wrong("-x", self.good)
        self.wrong("--context", )
        self.wrong("--quiet=yes", self.good)
        self.wrong("show", self.good, "--fail-on", "error")
        self.wrong(self.good, "--tensors")
        self.wrong("rules", "--quiet")

    def test_no_abbreviations(self):
        for word in ("--cont=4096", "--vers", "--form=json", "--qui"):
            self.assertIn("written in full", self.wrong(word, self.good))

    def test_engines(self):
        for words, why in ((["--engine", "ollama"], "generic, llama.cpp"), (["--engine-option", "block"], "block-size"), (["--tp", "0"], "devices"),
                           (["--engine", "vllm", "--engine-option", "ubatch=64"], "vllm has block-size"), (["--engine-option", "ubatch"], "needs a value"),
                           (["--engine-option", "swa-full=1"], "takes no value"), (["--engine-option", "ubatch=64", "--engine", "sglang"], "one of llama.cpp"),
                           (["--tp", "32", "--pp", "32"], "tp times pp"), (["--gpu", "abacus"], "sm"), (["--engine", "generic", "--engine-option", "batch=1"], "no such"),
                           (["--engine-option", "kv-cache-memory-bytes=much"], "size"), (["--engine-option", "swa-full-tokens-ratio=1.5"], "share")):
            self.assertIn(why, self.wrong(*words, self.good), words)
        self.assertIn("or all", self.wrong("memory", "--gpu-layers", "most", self.good))
        for words in (["--engine", "llama.cpp", "--engine-option", "ubatch=64"], ["--engine-option", "ubatch=64", "--engine-option", "kv-unified"],
                      ["--engine", "vllm", "--tp", "2", "--pp", "2"], ["--gpu", "H100"], ["--gpu", "sm90"], ["--gpu", "gfx942"], ["--kv-dtype", "auto"]):
            self.status(0, *words, self.good)
        self.status(0, "memory", "--engine", "llama.cpp", "--gpu-layers", "all", self.good)

    def test_targets(self):
        known = ("transformers", "vllm", "sglang", "tgi", "llama.cpp", "ollama", "mlx-lm", "lmdeploy", "tensorrt-llm", "exllamav2", "exllamav3", "ktransformers")
        for name in known:
            f = self.report(None, self.good, "--target", name)["models"][0]["frameworks"]
            self.assertEqual([x["name"] for x in f], [name])
            self.assertIn(name, self.wrong("--target", "no-such-engine", self.good))
        for word in ("vllm@", "@0.33", "vllm@new", "llama.cpp@b", "vllm@0..1"):
            self.wrong("--target", word, self.good)
        self.assertIn("0.11.0 to", self.wrong("--target", "vllm@latest", self.good))
        self.assertIn("h100", self.wrong("--gpu", "h1000", self.good))
        self.assertIn("sm90", self.wrong("--gpu", "sm91", self.good))
        self.assertIn("s390x", self.wrong("--platform", "vax", self.good))
        self.assertIn("vllm/quant-gpu", self.wrong("--target", "vllm", "--ignore", "vllm/no-such-limit", self.good))

    def test_verdicts(self):
        def asked(*words):
            m = self.report(None, self.good, *words)["models"][0]
            return [(f["name"], f["version"], f["verdict"]) for f in m["frameworks"]], sorted(f["code"] for f in m["findings"] if f["severity"] != "info")
        self.assertEqual(asked("--target", "vLLM@0.33.0", "--target", "sglang@v0.5.20"), ([("vllm", "0.33.0", "no-known-obstacle"), ("sglang", "0.5.20", "no-known-obstacle")], []))
        self.assertEqual(asked("--target", "vllm@0.33.0", "--tp", "16")[1][:1], ["MC701"])
        self.assertEqual(asked("--target", "vllm@0.33.0", "--tp", "16", "--ignore", "vllm/heads-tp,vllm/kv-heads-tp")[1], [])
        self.assertEqual(asked("--target", "vllm@99", "--tp", "16"), ([("vllm", "99", "unknown")], []))
        found, _ = asked()
        self.assertIn(("vllm", "0.33.0", "no-known-obstacle"), found)
        self.assertGreaterEqual(len(found), 12)
        self.assertEqual(self.status(0, self.good, "--tp", "16")[0].count(b"MC701"), 0)     # without a target no framework makes a run fail
        self.assertIn(b"  loads in  transformers, vllm, ", self.status(0, self.good)[0])
        self.assertIn(b"target    vLLM 0.33.0: no known obstacle", self.status(0, self.good, "--target", "vllm@0.33.0")[0])

    def test_explain_error(self):
        text = "ValueError: Total number of attention heads (28) must be divisible by tensor parallel size (8)."
        self.assertIn(b"limit vllm/heads-tp", self.status(0, "explain", "--error", text)[0])
        causes = json.loads(self.status(0, "explain", "--format", "json", "--error", "error: unknown model architecture: 'x'")[0])["causes"]
        self.assertIn(("llama.cpp", "arch", "MC701"), [(c["framework"], c["limit"], c["code"]) for c in causes])
        self.assertEqual(json.loads(self.status(0, "explain", "--format", "json", "--error", "all is well")[0])["causes"], [])
        self.wrong("explain", "--error", " ")
        self.wrong("explain", "MC106", "--error", "x")

    def test_later_options(self):
        for word in ("--deep", "--hash", "--baseline", "--suppress", "--config", "--jobs", "-o"):
            self.assertIn("later version", self.wrong(word, "x", self.good), word)
        for word in ("triage", "lock", "verify"):
            self.assertIn("later version", self.wrong(word, self.good), word)

    def test_bad_values_say_what_is_accepted(self):
        for option, value, words in (
                ("--fail-on", "fatal", "error, warning, info or never"), ("--color", "yes", "auto, always or never"), ("--context", "0", "number"),
                ("--context", "-1", "number"), ("--context", "99999999999999999999", "number"), ("--sequences", "1.5", "number"),
                ("--kv-dtype", "f17", "f16"), ("--kv-dtype", "f16,f16,f16", "f16"), ("--kv-dtype", ",", "f16"), ("--vram", "24XB", "24GiB"),
                ("--vram", "0", "24GiB"), ("--vram", "", "24GiB"), ("--vram", "-1GiB", "24GiB"), ("--vram", "99999999999TiB", "24GiB"),
                ("--select", "MC0", "codes"), ("--ignore", "MC106,", "codes"), ("--ignore", "", "codes"), ("--severity", "MC306", "CODE=error"),
                ("--severity", "MC306=fatal", "CODE=error"), ("--severity", "=error", "CODE=error"), ("--format", "sarif", "text and json")):
            self.assertIn(words, self.wrong(self.good, f"{option}={value}"), option)

    def test_values_that_are_fine(self):
        for args in (["--vram", "24GiB"], ["--vram", "24gb"], ["--vram", "1.5TiB"], ["--vram", "25769803776"], ["--kv-dtype", "q8_0,q4_0"],
                     ["--context", "4096", "--sequences", "4"], ["--isolated"], ["--follow-links"], ["--recursive"], ["--color=never"], ["--verbose"]):
            self.status(0, self.good, *args)

    def test_commands_and_paths(self):
        check = model(self.dir / "cwd" / "check")
        self.status(0, "./check", cwd=check.parent)
        self.status(0, "--", "check", cwd=check.parent)
        self.status(0, "check", "check", cwd=check.parent)
        self.status(2, "check", cwd=check.parent)
        self.status(0, "--context", "64", "show", self.good)
        dashed = model(self.dir / "cwd" / "--dash")
        self.status(0, "--", "--dash", cwd=dashed.parent)

    def test_help_and_version(self):
        out, _ = self.status(0, "--help")
        for word in (b"check", b"show", b"memory", b"explain", b"rules", b"--files-from FILE", b"exit status"):
            self.assertIn(word, out)
        self.assertNotIn(b"--fail-on LEVEL", self.status(0, "show", "--help")[0])
        self.assertIn(b"--tree", self.status(0, "show", "-h")[0])
        self.assertRegex(self.status(0, "--version")[0], rb"^modelcheck \d+\.\d+\.\d+\n$")

    def test_version_is_quick(self):
        best = 1.0
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run("--version")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        self.assertLess(best, 0.05)     # the target is 5 ms; sanitizers and a busy machine are slower


class Reports(Base):
    def test_top_level(self):
        doc = self.report(0, self.good)
        self.assertEqual(list(doc), ["schema", "tool", "models", "errors", "summary"])
        self.assertEqual(doc["schema"], "modelcheck.report/1")
        m = doc["models"][0]
        self.assertEqual(list(m), ["path", "format", "kind", "architecture", "parameters", "weights", "dtypes", "quantization", "memory",
                                   "frameworks", "suppressed", "findings", "coverage"])
        self.assertEqual((m["format"], m["kind"], m["parameters"]["total"], m["weights"]["tensors"]), ("safetensors", "causal-lm", 6224, 21))
        self.assertEqual(m["dtypes"], [{"dtype": "BF16", "tensors": 21, "elements": 6224, "bytes": 12448}])
        self.assertEqual(m["quantization"]["bits_per_weight"], 16.0)
        self.assertEqual(m["memory"]["kv_bytes"], 2 * 2 * 1 * 8 * 2 * 512)

    def test_finding(self):
        f = self.report(1, self.bad)["models"][0]["findings"][0]
        self.assertEqual(list(f), ["code", "slug", "severity", "certainty", "file", "message", "count", "subjects", "evidence", "fix", "fingerprint"])
        self.assertEqual((f["code"], f["slug"], f["file"]), ("MC306", "st-truncated", "model.safetensors"))
        self.assertRegex(f["fingerprint"], "^[0-9a-f]{16}$")

    def test_errors(self):
        doc = self.report(3, self.dir / "nowhere", self.good)
        self.assertEqual(doc["errors"], [{"path": str(self.dir / "nowhere"), "message": "No such file or directory"}])
        self.assertEqual(len(doc["models"]), 1)
        self.assertEqual(doc["summary"]["exit"], 3)

    def test_options_change_the_floor(self):
        base = self.report(0, self.good, "--context", "100", "--kv-dtype", "f16")["models"][0]["memory"]
        self.assertEqual((base["context"], base["kv_bytes"], base["kv_dtype_k"]), (100, 2 * 2 * 8 * 2 * 100, "f16"))
        self.assertEqual(self.report(0, self.good, "--context", "100", "--sequences", "3")["models"][0]["memory"]["kv_bytes"], 3 * base["kv_bytes"])
        mixed = self.report(0, self.good, "--context", "32", "--kv-dtype", "f16,f32")["models"][0]["memory"]
        self.assertEqual((mixed["kv_dtype_k"], mixed["kv_dtype_v"], mixed["kv_bytes"]), ("f16", "f32", 2 * 8 * 32 * 6))

    def test_each_directory_once(self):
        shards = sorted(self.sharded.glob("*.safetensors"))
        doc = self.report(0, *shards)
        self.assertEqual([m["weights"]["files"] for m in doc["models"]], [3])
        self.assertEqual(len(self.report(0, self.sharded, f"{self.sharded}/", f"{self.sharded}/.", *shards)["models"]), 1)
        doc = self.report(0, *[s.name for s in shards], ".", cwd=self.sharded)
        self.assertEqual(len(doc["models"]), 1)

    def test_order_and_determinism(self):
        one = self.status(1, self.sharded, self.bad, self.good, "--format", "json")[0]
        two = self.status(1, self.good, self.sharded, self.bad, "--format", "json")[0]
        self.assertEqual(one, two)
        self.assertEqual([m["path"] for m in json.loads(one)["models"]], [str(self.bad), str(self.good), str(self.sharded)])

    def test_files_from(self):
        names = f"{self.good}\n\n{self.bad}\n".encode()
        self.assertEqual(len(json.loads(run("--files-from", "-", "--format", "json", input=names)[1])["models"]), 2)
        (self.dir / "list").write_bytes(names)
        self.assertEqual(len(self.report(1, "--files-from", self.dir / "list")["models"]), 2)
        self.status(3, "--files-from", self.dir / "no-list")
        self.assertEqual(run("--files-from", "-", input=b"")[0], 3)
        self.assertEqual(run("--files-from", "-", input=b"a\0b\n")[0], 2)

    def test_views(self):
        doc = self.report(0, "show", self.good, "--tensors")
        self.assertEqual(len(doc["models"][0]["tensors"]), 21)
        self.assertNotIn("tensors", self.report(0, "show", self.good)["models"][0])
        self.assertIn(b"layers.0-1\n", self.status(0, "show", self.good, "--tree")[0])
        self.assertIn(b"(config.json#/num_hidden_layers)", self.status(0, "show", self.good)[0])
        self.assertIn(b"2*2*1*8*2*512*1", self.status(0, "memory", self.good)[0])
        self.assertEqual(self.report(0, "memory", self.good)["models"][0]["memory"]["devices"][0]["name"], "gpu0")

    def test_quiet_and_verbose(self):
        self.assertEqual(self.status(0, self.good, "--quiet", "--ignore", "MC708")[0], b"")
        out = self.status(1, self.bad, "--quiet")[0]
        self.assertTrue(out.startswith(b"error MC306 "))
        self.assertIn(str(self.bad).encode(), self.status(1, self.bad, self.good, "--quiet")[0])

    def test_color(self):
        self.assertNotIn(b"\x1b", self.status(1, self.bad)[0])
        self.assertIn(b"\x1b[1;31merror\x1b[0m", self.status(1, self.bad, "--color", "always")[0])
        self.assertNotIn(b"\x1b", self.status(1, self.bad, "--color", "always", "--color", "never")[0])
        self.assertNotIn(b"\x1b", self.status(1, self.bad, "--color", "always", "--format", "json")[0])

    def test_explain_and_rules(self):
        out = self.status(0, "explain", "MC306")[0]
        self.assertEqual(out, self.status(0, "explain", "st-truncated")[0])
        self.assertEqual(out, self.status(0, "explain", "mc306")[0])
        self.assertTrue(out.startswith(b"MC306 st-truncated: "))
        doc = json.loads(self.status(0, "explain", "MC306", "--format", "json")[0])
        self.assertEqual([r["code"] for r in doc["rules"]], ["MC306"])
        rules = json.loads(self.status(0, "rules", "--format", "json")[0])["rules"]
        listed = self.status(0, "rules")[0].splitlines()
        self.assertEqual(len(rules), len(listed))
        markdown = self.status(0, "rules", "--format", "md")[0].decode()
        for r in rules:
            self.assertIn(f"### {r['code']} {r['slug']}\n", markdown)
        self.status(2, "explain", "MC306", "--format", "md")


class Hostile(Base):
    NASTY = b"a\nb\x1b]0;owned\x07\x1b[31m\r\xff\xc2\x9b\xe2\x80\xae\"\\.safetensors"

    def test_names_in_a_directory(self):
        where = self.dir / "nasty"
        if not where.exists():
            where.mkdir()
            (where / os.fsdecode(self.NASTY)).write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 5\n")
            (where / ("x" * 240 + ".safetensors")).write_bytes(b"")
        for args in ([where], ["show", where], ["memory", where], [where, "--format", "json"], [where, "--quiet", "--verbose"]):
            code, out, err = run(*args)
            self.assertIn(code, (0, 1, 3))
            self.assertEqual([c for c in out + err if (c < 32 and c != 10) or c == 127], [], args)
            self.assertNotIn(b"\xff", out)
            self.assertNotIn("\u202e".encode(), out)
            self.assertNotIn(b"\xc2\x9b", out)
            out.decode("utf-8")
        self.assertIn(rb"a\nb\x1b]0;owned", run(where)[1])
        files = [f["file"] for f in json.loads(run(where, "--format", "json")[1])["models"][0]["findings"]]
        self.assertTrue(any(f and f.startswith("a\nb\x1b]0;owned\x07\x1b[31m\r\ufffd\x9b\u202e\"\\") for f in files), files)

    def test_names_as_arguments(self):
        code, out, err = run(os.fsdecode(self.NASTY), cwd=self.dir)
        self.assertEqual(code, 3)
        self.assertIn(rb"a\nb\x1b]0", err)
        self.assertEqual(err.count(b"\n"), 1)
        code, out, err = run("--" + os.fsdecode(self.NASTY))
        self.assertEqual(code, 2)
        self.assertNotIn(b"\x1b", err)
        self.assertEqual(run("x" * 5000)[0], 3)

    def test_names_in_a_header(self):
        where = self.dir / "tensor-names"
        if not where.exists():
            where.mkdir()
            head = {"t\n\x1b[2J\u202e%s%n": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}, "\ud800": {"dtype": "Q\x07", "shape": [1], "data_offsets": [4, 6]}}
            text = json.dumps(head).encode()
            (where / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(6))
        for args in ([where, "--verbose"], ["show", where, "--tensors", "--tree"], ["show", where, "--tensors", "--format", "json"]):
            code, out, err = run(*args)
            self.assertIn(code, (0, 1, 3))
            self.assertEqual([c for c in out if (c < 32 and c != 10) or c == 127], [], args)
            out.decode("utf-8")

    def test_loop_of_links(self):
        where = self.dir / "loop"
        if not where.exists():
            (where / "sub").mkdir(parents=True)
            (where / "sub" / "up").symlink_to("..")
            (where / "self").symlink_to("self")
        began = time.monotonic()
        self.assertEqual(run(where, "--recursive")[0], 3)
        self.assertLess(time.monotonic() - began, 10)


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad - len(result.skipped)} passed, {bad} failed")
    sys.exit(1 if bad else 0)
