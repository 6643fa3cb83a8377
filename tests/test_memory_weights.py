#!/usr/bin/env python3
"""Which weights lie where: test_memory_weights.py MODELCHECK. Small models of holes, one rule each."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import memory_models as models  # noqa: E402

BINARY = "build/modelcheck"
H, L, V = 64, 4, 1000
CONFIG = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_hidden_layers": L, "num_attention_heads": 8, "num_key_value_heads": 2, "hidden_size": H,
          "intermediate_size": 128, "vocab_size": V, "max_position_embeddings": 512, "torch_dtype": "bfloat16", "tie_word_embeddings": False}
Q, KV, O, MLP, NORMS = H * H * 2, H * 16 * 2, H * H * 2, 3 * H * 128 * 2, 2 * H * 2
LAYER = Q + 2 * KV + O + MLP + NORMS
EMBED, NORM = V * H * 2, H * 2
ROPE = 512 * 8 * 2
PADDED = (1024 - V) * H * 2


class Weights(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.path = Path(self.dir.name)

    def tearDown(self):
        self.dir.cleanup()

    def model(self, config=(), tensors=None, change=lambda ts: ts):
        c = {**CONFIG, **dict(config)}
        (self.path / "config.json").write_text(json.dumps(c))
        models.save(self.path, change(tensors or models.decoder(c)))
        return self.path

    def ask(self, path, *args):
        p = subprocess.run([BINARY, "memory", "--format", "json", "--isolated", *args, str(path)], capture_output=True, text=True)
        self.assertIn(p.returncode, (0, 3), p.stderr)
        return json.loads(p.stdout)["models"][0]["memory"]

    def weights(self, path, *args):
        return self.ask(path, *args)["weights_bytes"]

    def devices(self, path, *args):
        return {d["name"]: d["weights_bytes"] for d in self.ask(path, *args)["devices"]}

    def test_table_and_padding(self):
        path, stored = self.model(), 2 * EMBED + NORM + L * LAYER
        for engine in ("generic", "llama.cpp", "sglang", "transformers"):
            self.assertEqual(self.weights(path, "--engine", engine), stored, engine)
        self.assertEqual(self.weights(path, "--engine", "vllm"), stored + ROPE + 2 * PADDED)
        self.assertEqual(self.weights(path, "--engine", "vllm", "--gpu", "gaudi3"), stored + 2 * PADDED)

    def test_float32(self):
        path = self.model({"torch_dtype": "float32"}, change=lambda ts: [(n, "F32", s) for n, _, s in ts])
        half = 2 * EMBED + NORM + L * LAYER
        self.assertEqual(self.weights(path), 2 * half)
        self.assertEqual(self.weights(path, "--engine", "transformers"), 2 * half)
        self.assertEqual(self.weights(path, "--engine", "sglang"), half)
        self.assertEqual(self.weights(path, "--engine", "vllm"), half + ROPE + 2 * PADDED)
        self.assertEqual(self.ask(path, "--engine", "transformers")["kv_dtype_k"], "f32")
        self.assertEqual(self.ask(path, "--engine", "llama.cpp")["kv_dtype_k"], "f16")

    def test_in_flight(self):
        path = self.model()
        linear = L * (Q + 2 * KV + O + MLP)
        self.assertEqual(self.weights(path, "--engine", "vllm", "--engine-option", "quantization=fp8"), 2 * EMBED + NORM + L * NORMS + linear // 2 + ROPE + 2 * PADDED)
        self.assertEqual(self.weights(path, "--engine", "vllm", "--engine-option", "quantization=bitsandbytes"),
                         2 * EMBED + NORM + L * NORMS + linear // 4 + linear // 2 // 64 * 4 + ROPE + 2 * PADDED)

    def test_tied(self):
        path = self.model({"tie_word_embeddings": True}, change=lambda ts: ts + [("lm_head.weight", "BF16", [V, H])])
        once = EMBED + NORM + L * LAYER
        self.assertEqual(self.weights(path), once)
        self.assertEqual(self.weights(path, "--engine", "vllm"), once + ROPE + PADDED)
        d = self.devices(path, "--engine", "vllm", "--pp", "2") # both stages hold the matrix
        self.assertEqual(list(d.values()), [EMBED + PADDED + 2 * LAYER + ROPE, EMBED + PADDED + NORM + 2 * LAYER + ROPE])
        self.assertEqual(list(self.devices(path, "--pp", "2").values()), [EMBED + 2 * LAYER, NORM + 2 * LAYER])

    def test_ranks(self):
        path = self.model()
        d = self.devices(path, "--tp", "4") # two KV heads: each is held twice
        layer = (Q + O + MLP) // 4 + 2 * KV // 2 + NORMS
        self.assertEqual(list(d.values()), [2 * EMBED // 4 + NORM + L * layer] * 4)
        self.assertEqual(len(self.devices(path, "--tp", "2", "--pp", "2")), 4)
        self.assertEqual(sum(self.devices(path, "--pp", "3").values()), self.weights(path))

    def test_prediction_layers(self):
        extra = [(n.replace("layers.0.", f"layers.{L}."), t, s) for n, t, s in models.decoder(CONFIG) if "layers.0." in n]
        path = self.model({"model_type": "deepseek_v3", "num_nextn_predict_layers": 1}, change=lambda ts: ts + extra)
        stored = 2 * EMBED + NORM + L * LAYER
        self.assertEqual(self.weights(path), stored + LAYER)
        for engine in ("sglang", "transformers", "llama.cpp"):
            self.assertEqual(self.weights(path, "--engine", engine), stored, engine)
        once = self.weights(path, "--engine", "vllm")
        self.assertEqual(self.weights(path, "--engine", "vllm", "--engine-option", "num-speculative-tokens=1"), once + LAYER)

    def test_mxfp4(self):
        e, f = 2, 96
        ts = models.decoder({**CONFIG, "num_experts": None}) + [("model.layers.0.mlp.experts.gate_up_proj_blocks", "U8", [e, 2 * f, H // 32, 16]),
                                                                ("model.layers.0.mlp.experts.gate_up_proj_scales", "U8", [e, 2 * f, H // 32])]
        path = self.model({"model_type": "gpt_oss", "head_dim": 8, "quantization_config": {"quant_method": "mxfp4"}}, ts)
        values, stored = e * 2 * f * H // 2, self.weights(path)
        self.assertEqual(self.weights(path, "--engine", "transformers", "--gpu", "h100"), stored)
        self.assertEqual(self.weights(path, "--engine", "transformers", "--gpu", "cpu"), stored + 3 * values)
        self.assertEqual(self.weights(path, "--engine", "transformers", "--gpu", "v100"), stored + 3 * values)
        self.assertEqual(self.weights(path, "--engine", "vllm"), stored + 3 * values + ROPE + 2 * PADDED) # 64 inputs become 256
        self.assertEqual(self.weights(path, "--engine", "vllm", "--gpu", "mi300x"), stored + ROPE + 2 * PADDED)

    def test_gptq(self):
        quant = {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": False, "sym": True}
        extra = [("model.layers.0.self_attn.q_proj.g_idx", "F32", [H]), ("model.layers.0.self_attn.q_proj.qzeros", "F32", [2, 8])]
        path = self.model({"quantization_config": quant}, change=lambda ts: ts + extra)
        base = 2 * EMBED + NORM + L * LAYER + ROPE + 2 * PADDED
        self.assertEqual(self.weights(path, "--engine", "vllm"), base)
        self.model({"quantization_config": {**quant, "desc_act": True, "sym": False}}, change=lambda ts: ts + extra)
        self.assertEqual(self.weights(path, "--engine", "vllm"), base + H * 4 + 64)

    def gguf(self, tied):
        ts = [("token_embd.weight", [256, 64], 12, 9216), ("output_norm.weight", [256], 0, 1024)]
        ts += [] if tied else [("output.weight", [256, 64], 14, 13440)]
        for i in range(3):
            ts += [(f"blk.{i}.attn_norm.weight", [256], 0, 1024), (f"blk.{i}.ffn_up.weight", [256, 256], 12, 36864)]
        path = self.path / ("tied.gguf" if tied else "free.gguf")
        models.gguf(path, {"llama.block_count": 3, "llama.context_length": 512, "llama.embedding_length": 256, "llama.attention.head_count": 2}, ts)
        return path

    def test_layer_split(self):
        path, layer = self.gguf(False), 1024 + 36864
        self.assertEqual(self.weights(path, "--engine", "llama.cpp"), 9216 + 1024 + 13440 + 3 * layer)
        split = lambda p, n, *more: self.devices(p, "--engine", "llama.cpp", "--gpu-layers", n, *more)
        self.assertEqual(split(path, "all"), {"gpu0": 1024 + 13440 + 3 * layer, "host": 9216})
        self.assertEqual(split(path, "1"), {"gpu0": 1024 + 13440, "host": 9216 + 3 * layer})
        self.assertEqual(split(path, "2"), {"gpu0": 1024 + 13440 + layer, "host": 9216 + 2 * layer})
        self.assertEqual(split(path, "0"), {"gpu0": 0, "host": 9216 + 1024 + 13440 + 3 * layer})
        self.assertEqual(split(path, "all", "--pp", "2"), {"gpu0": 2 * layer, "gpu1": layer + 1024 + 13440, "host": 9216})
        tied = self.gguf(True) # the head is a second copy of the embedding
        self.assertEqual(split(tied, "all"), {"gpu0": 1024 + 9216 + 3 * layer, "host": 9216})
        self.assertEqual(split(tied, "0")["host"], 9216 + 1024 + 3 * layer)
        self.assertEqual(self.weights(tied, "--engine", "llama.cpp"), 9216 + 1024 + 3 * layer)
        self.assertEqual(self.weights(tied, "--engine", "llama.cpp", "--engine-option", "repack"), 2 * 9216 + 1024 + 3 * layer + 3 * 36864)
        self.assertEqual(self.weights(tied, "--engine", "llama.cpp", "--engine-option", "repack", "--engine-option", "no-mmap"), 2 * 9216 + 1024 + 3 * layer)


if __name__ == "__main__":
    BINARY = str(Path(sys.argv.pop(1)).resolve())
    result = unittest.main(exit=False).result
    print(f"{result.testsRun - len(result.failures) - len(result.errors)} passed, {len(result.failures) + len(result.errors)} failed")
    sys.exit(not result.wasSuccessful())
