#!/usr/bin/env python3
"""Model directories of published shapes whose data are holes: gen.py KIND DIR [N].

    deepseek   DeepSeek-V3: FP8 with block scales, 163 shards, 91,991 tensors, and the index
    llama      Llama-3.1-8B: BF16, 4 shards, 291 tensors
    gguf       Qwen3-30B-A3B: one GGUF of 19.8 GB, vocabulary of 151,936 tokens with merges
    tree       N small models, each in its own directory
    experts    N tensors in shards of 10,000, named as a mixture of experts

Headers, indexes and configurations are real; apparent sizes are right. Standard library only.
"""
import json
import math
import struct
import sys
from pathlib import Path

SIZE = {"BF16": 2, "F32": 4, "F8_E4M3": 1}


def shard_name(i, n, stem="model"):
    return f"{stem}-{i:05d}-of-{n:05d}.safetensors"


def write_safetensors(path, tensors):
    """tensors: (name, dtype, shape)."""
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, dtype, shape in tensors:
        end = at + math.prod(shape) * SIZE[dtype]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        f.truncate(8 + len(text) + at)
    return at


def write_sharded(directory, tensors, n):
    """n runs of about equal bytes, and the index as Transformers writes it."""
    total = sum(math.prod(s) * SIZE[d] for _, d, s in tensors)
    runs, done = [[] for _ in range(n)], 0
    for t in tensors:
        runs[min(n - 1, done * n // total)].append(t)
        done += math.prod(t[2]) * SIZE[t[1]]
    runs = [r for r in runs if r]
    where = {}
    for i, run in enumerate(runs, 1):
        write_safetensors(directory / shard_name(i, len(runs)), run)
        where.update({t[0]: shard_name(i, len(runs)) for t in run})
    index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(where.items()))}
    (directory / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")


def write_config(directory, **keys):
    (directory / "config.json").write_text(json.dumps(keys, indent=2) + "\n")


# ---- DeepSeek-V3 ----------------------------------------------------------------------------------------------------

def fp8(name, rows, columns):
    return [(f"{name}.weight", "F8_E4M3", [rows, columns]), (f"{name}.weight_scale_inv", "F32", [math.ceil(rows / 128), math.ceil(columns / 128)])]


def deepseek_layer(i, hidden, experts):
    at = f"model.layers.{i}"
    out = [(f"{at}.input_layernorm.weight", "BF16", [hidden]), (f"{at}.post_attention_layernorm.weight", "BF16", [hidden]),
           (f"{at}.self_attn.q_a_layernorm.weight", "BF16", [1536]), (f"{at}.self_attn.kv_a_layernorm.weight", "BF16", [512])]
    for name, rows, columns in (("q_a_proj", 1536, hidden), ("q_b_proj", 24576, 1536), ("kv_a_proj_with_mqa", 576, hidden), ("kv_b_proj", 32768, 512), ("o_proj", hidden, 16384)):
        out += fp8(f"{at}.self_attn.{name}", rows, columns)
    wide = 2048 if experts else 18432
    for part in [f"experts.{e}." for e in range(experts)] + ["shared_experts."] if experts else [""]:
        out += fp8(f"{at}.mlp.{part}gate_proj", wide, hidden) + fp8(f"{at}.mlp.{part}up_proj", wide, hidden) + fp8(f"{at}.mlp.{part}down_proj", hidden, wide)
    if experts:
        out += [(f"{at}.mlp.gate.weight", "BF16", [experts, hidden]), (f"{at}.mlp.gate.e_score_correction_bias", "F32", [experts])]
    return out


def deepseek(directory, _):
    hidden, vocab, layers, experts = 7168, 129280, 61, 256
    t = [("model.embed_tokens.weight", "BF16", [vocab, hidden])]
    for i in range(layers):
        t += deepseek_layer(i, hidden, 0 if i < 3 else experts)
    t += deepseek_layer(layers, hidden, experts)        # the layer that predicts one token more
    at = f"model.layers.{layers}"
    t += [(f"{at}.embed_tokens.weight", "BF16", [vocab, hidden]), (f"{at}.enorm.weight", "BF16", [hidden]), (f"{at}.hnorm.weight", "BF16", [hidden]),
          (f"{at}.eh_proj.weight", "BF16", [hidden, 2 * hidden]), (f"{at}.shared_head.norm.weight", "BF16", [hidden]), (f"{at}.shared_head.head.weight", "BF16", [vocab, hidden])]
    t += [("model.norm.weight", "BF16", [hidden]), ("lm_head.weight", "BF16", [vocab, hidden])]
    write_sharded(directory, t, 163)
    write_config(directory, architectures=["DeepseekV3ForCausalLM"], model_type="deepseek_v3", hidden_size=hidden, intermediate_size=18432, moe_intermediate_size=2048, num_hidden_layers=layers,
                 num_nextn_predict_layers=1, first_k_dense_replace=3, n_routed_experts=experts, n_shared_experts=1, num_experts_per_tok=8, num_attention_heads=128, num_key_value_heads=128,
                 q_lora_rank=1536, kv_lora_rank=512, qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128, vocab_size=vocab, max_position_embeddings=163840, tie_word_embeddings=False,
                 torch_dtype="bfloat16", quantization_config={"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic", "weight_block_size": [128, 128]})
    return len(t)


# ---- Llama ----------------------------------------------------------------------------------------------------------

def llama_tensors(layers, hidden, wide, kv, vocab):
    t = [("model.embed_tokens.weight", "BF16", [vocab, hidden])]
    for i in range(layers):
        at = f"model.layers.{i}"
        t += [(f"{at}.input_layernorm.weight", "BF16", [hidden]), (f"{at}.mlp.down_proj.weight", "BF16", [hidden, wide]), (f"{at}.mlp.gate_proj.weight", "BF16", [wide, hidden]),
              (f"{at}.mlp.up_proj.weight", "BF16", [wide, hidden]), (f"{at}.post_attention_layernorm.weight", "BF16", [hidden]), (f"{at}.self_attn.k_proj.weight", "BF16", [kv, hidden]),
              (f"{at}.self_attn.o_proj.weight", "BF16", [hidden, hidden]), (f"{at}.self_attn.q_proj.weight", "BF16", [hidden, hidden]), (f"{at}.self_attn.v_proj.weight", "BF16", [kv, hidden])]
    return t + [("model.norm.weight", "BF16", [hidden]), ("lm_head.weight", "BF16", [vocab, hidden])]


def llama_config(directory, layers, hidden, wide, heads, kv_heads, vocab, context):
    write_config(directory, architectures=["LlamaForCausalLM"], model_type="llama", hidden_size=hidden, intermediate_size=wide, num_hidden_layers=layers, num_attention_heads=heads,
                 num_key_value_heads=kv_heads, vocab_size=vocab, max_position_embeddings=context, tie_word_embeddings=False, torch_dtype="bfloat16")


def llama(directory, _):
    t = llama_tensors(32, 4096, 14336, 1024, 128256)
    write_sharded(directory, t, 4)
    llama_config(directory, 32, 4096, 14336, 32, 8, 128256, 131072)
    return len(t)


def tree(directory, n):
    t = llama_tensors(2, 64, 128, 32, 96)
    for i in range(n):
        d = directory / f"group-{i // 100:02d}" / f"model-{i:04d}"
        d.mkdir(parents=True)
        write_safetensors(d / "model.safetensors", t)
        llama_config(d, 2, 64, 128, 4, 2, 96, 2048)
        (d / "generation_config.json").write_text('{"bos_token_id": 1, "eos_token_id": 2}\n')
    return n * len(t)


# ---- any number of tensors ------------------------------------------------------------------------------------------

def experts(directory, n):
    hidden, wide, count, t, layer = 1024, 256, 128, [("model.embed_tokens.weight", "BF16", [1000, 1024])], 0
    while len(t) < n - 2:
        at = f"model.layers.{layer}"
        t += [(f"{at}.input_layernorm.weight", "BF16", [hidden]), (f"{at}.post_attention_layernorm.weight", "BF16", [hidden]), (f"{at}.mlp.gate.weight", "BF16", [count, hidden])]
        t += [(f"{at}.self_attn.{p}_proj.weight", "BF16", [hidden, hidden]) for p in "qkvo"]
        for e in range(count):
            t += [(f"{at}.mlp.experts.{e}.{p}_proj.weight", "BF16", [hidden, wide] if p == "down" else [wide, hidden]) for p in ("gate", "up", "down")]
        layer += 1
    t = t[:n - 2] + [("model.norm.weight", "BF16", [hidden]), ("lm_head.weight", "BF16", [1000, hidden])]
    write_sharded(directory, t, max(1, len(t) // 10000))
    write_config(directory, architectures=["BenchMoeForCausalLM"], model_type="bench_moe", hidden_size=hidden, num_hidden_layers=layer, num_attention_heads=16, num_key_value_heads=16,
                 num_experts=count, vocab_size=1000, max_position_embeddings=4096, torch_dtype="bfloat16", tie_word_embeddings=False)
    return len(t)


# ---- GGUF -----------------------------------------------------------------------------------------------------------

TYPES = {"F32": (0, 1, 4), "Q4_K": (12, 256, 144), "Q6_K": (14, 256, 210)}


def text(s):
    return struct.pack("<Q", len(s)) + s.encode()


def gguf_metadata(layers, hidden, tokens):
    """(count, bytes)"""
    arch, out = "qwen3moe", []

    def add(key, code, value):
        out.append(text(key) + struct.pack("<I", code) + value)

    add("general.architecture", 8, text(arch))
    add("general.name", 8, text("bench"))
    add("general.file_type", 4, struct.pack("<I", 15))
    add("general.quantization_version", 4, struct.pack("<I", 2))
    for key, v in (("block_count", layers), ("context_length", 40960), ("embedding_length", hidden), ("feed_forward_length", 6144), ("attention.head_count", 32), ("attention.head_count_kv", 4),
                   ("attention.key_length", 128), ("attention.value_length", 128), ("expert_count", 128), ("expert_used_count", 8), ("expert_feed_forward_length", 768)):
        add(f"{arch}.{key}", 4, struct.pack("<I", v))
    add(f"{arch}.attention.layer_norm_rms_epsilon", 6, struct.pack("<f", 1e-6))
    add(f"{arch}.rope.freq_base", 6, struct.pack("<f", 1e6))
    add("tokenizer.ggml.model", 8, text("gpt2"))
    add("tokenizer.ggml.pre", 8, text("qwen2"))
    words = [f"word{i:x}" for i in range(tokens)]
    add("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, tokens) + b"".join(map(text, words)))
    add("tokenizer.ggml.token_type", 9, struct.pack("<IQ", 5, tokens) + struct.pack("<i", 1) * tokens)
    merges = [f"{a} {b}" for a, b in zip(words, words[549:])]
    add("tokenizer.ggml.merges", 9, struct.pack("<IQ", 8, len(merges)) + b"".join(map(text, merges)))
    add("tokenizer.ggml.eos_token_id", 4, struct.pack("<I", tokens - 1))
    return len(out), b"".join(out)


def gguf(directory, _):
    layers, hidden, vocab, count, wide = 48, 2048, 151936, 128, 768
    t = [("token_embd.weight", "Q4_K", [hidden, vocab]), ("output.weight", "Q6_K", [hidden, vocab]), ("output_norm.weight", "F32", [hidden])]
    for i in range(layers):
        t += [(f"blk.{i}.{n}.weight", d, s) for n, d, s in (
            ("attn_norm", "F32", [hidden]), ("attn_q", "Q4_K", [hidden, 4096]), ("attn_k", "Q4_K", [hidden, 512]), ("attn_v", "Q6_K", [hidden, 512]), ("attn_output", "Q4_K", [4096, hidden]),
            ("attn_q_norm", "F32", [128]), ("attn_k_norm", "F32", [128]), ("ffn_norm", "F32", [hidden]), ("ffn_gate_inp", "F32", [hidden, count]), ("ffn_gate_exps", "Q4_K", [hidden, wide, count]),
            ("ffn_up_exps", "Q4_K", [hidden, wide, count]), ("ffn_down_exps", "Q6_K", [wide, hidden, count]))]
    pairs, metadata = gguf_metadata(layers, hidden, vocab)
    table, at = b"", 0
    for name, kind, shape in t:
        code, block, size = TYPES[kind]
        table += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, code, at)
        at += math.prod(shape) // block * size
        at += -at % 32
    head = b"GGUF" + struct.pack("<IQQ", 3, len(t), pairs) + metadata + table
    header = len(head)
    head += b"\0" * (-len(head) % 32)
    with open(directory / "bench-Q4_K_M.gguf", "wb") as f:
        f.write(head)
        f.truncate(len(head) + at)
    (directory / "header-bytes").write_text(str(header))
    return len(t)


KINDS = {"deepseek": deepseek, "llama": llama, "gguf": gguf, "tree": tree, "experts": experts}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    target = Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    print(KINDS[sys.argv[1]](target, int(sys.argv[3]) if len(sys.argv) > 3 else 0), "tensors")
