"""Models for the rows of the memory tables: directories and GGUF files whose tensors are holes."""
import json
import struct
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "oracle"))
import make_gguf  # noqa: E402

WIDTH = {"BF16": 2, "F16": 2, "F32": 4, "U8": 1}


def gguf(path, keys, tensors=()):
    """A GGUF with these keys; tensors: (name, dims, ggml type id, bytes)."""
    arch = next(iter(keys)).split(".")[0]
    kv = {"general.architecture": arch, **keys, "tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": ["<unk>", "<s>", "</s>", "a"]}
    tensors = list(tensors) or [("token_embd.weight", [8, 4], 1, 64), ("blk.0.attn_norm.weight", [8], 0, 32)]
    head = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(kv))]
    for k, v in kv.items():
        head += [struct.pack("<Q", len(k)), k.encode(), make_gguf.pack(v)]
    at = 0
    for name, dims, kind, size in tensors:
        head += [struct.pack("<Q", len(name)), name.encode(), struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, at)]
        at += -(-size // 32) * 32
    head = b"".join(head)
    with open(path, "wb") as f:
        f.write(head)
        f.truncate(-(-len(head) // 32) * 32 + at)


GGML = {"q8_0": (8, 32, 34), "q5_k": (13, 256, 176), "q6_k": (14, 256, 210), "i8": (24, 1, 1)}


def gguf_of_tensors(path, spec):
    """The embedding as published, and one tensor that stands for all others."""
    tensors = []
    for t in spec["tensors"]:
        kind, block, size = GGML[t["type"]]
        rows = 1
        for n in t["ne"][1:]:
            rows *= n
        tensors.append((t["name"], t["ne"], kind, t["ne"][0] // block * size * rows))
        assert tensors[-1][3] == t["bytes"], t
    if not spec["tied"]:
        tensors.append(("output_norm.weight", [8], 24, 8))
        tensors.append(("output.weight", [8], 24, 8))
    other = spec.get("other_tensors_bytes", 64) - (0 if spec["tied"] else 16)
    tensors.append(("blk.0.ffn_up.weight", [other], 24, other))
    gguf(path, {"llama.block_count": 1, "llama.context_length": 32768, "llama.embedding_length": 4096, "llama.attention.head_count": 32}, tensors)


# ---- safetensors ----

def save(directory, tensors, shard=5 << 30):
    """tensors: (name, dtype, shape). One header and a hole for each shard of about `shard` bytes."""
    shards, size = [[]], 0
    for name, dtype, shape in tensors:
        n = WIDTH[dtype]
        for d in shape:
            n *= d
        if size + n > shard and shards[-1]:
            shards.append([])
            size = 0
        shards[-1].append((name, dtype, shape, n))
        size += n
    names, weight_map = [], {}
    for i, part in enumerate(shards):
        base = "model.safetensors" if len(shards) == 1 else f"model-{i + 1:05d}-of-{len(shards):05d}.safetensors"
        at, header = 0, {}
        for name, dtype, shape, n in part:
            header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + n]}
            weight_map[name] = base
            at += n
        text = json.dumps({"__metadata__": {"format": "pt"}, **header}, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        with open(directory / base, "wb") as f:
            f.write(struct.pack("<Q", len(text)) + text)
            f.truncate(8 + len(text) + at)
        names.append(base)
    if len(shards) > 1:
        (directory / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))


def decoder(c, store_head=None):
    """Llama, Qwen2 and Qwen3, dense or with experts, in bf16."""
    qwen2, qwen3 = c["model_type"] == "qwen2", c["model_type"].startswith("qwen3")
    h, n, k, v = c["hidden_size"], c["num_attention_heads"], c["num_key_value_heads"], c["vocab_size"]
    d = c.get("head_dim") or h // n
    out = [("model.embed_tokens.weight", [v, h])]
    for i in range(c["num_hidden_layers"]):
        p = f"model.layers.{i}."
        a = p + "self_attn."
        out += [(p + "input_layernorm.weight", [h]), (a + "q_proj.weight", [n * d, h]), (a + "k_proj.weight", [k * d, h]), (a + "v_proj.weight", [k * d, h]),
                (a + "o_proj.weight", [h, n * d]), (p + "post_attention_layernorm.weight", [h])]
        if qwen2:
            out += [(a + "q_proj.bias", [n * d]), (a + "k_proj.bias", [k * d]), (a + "v_proj.bias", [k * d])]
        if qwen3:
            out += [(a + "q_norm.weight", [d]), (a + "k_norm.weight", [d])]
        experts = c.get("num_experts")
        mlps = [f"{p}mlp.experts.{e}." for e in range(experts)] if experts else [p + "mlp."]
        f = c["moe_intermediate_size"] if experts else c["intermediate_size"]
        for m in mlps:
            out += [(m + "gate_proj.weight", [f, h]), (m + "up_proj.weight", [f, h]), (m + "down_proj.weight", [h, f])]
        if experts:
            out.append((p + "mlp.gate.weight", [experts, h]))
    out.append(("model.norm.weight", [h]))
    if store_head if store_head is not None else not c.get("tie_word_embeddings"):
        out.append(("lm_head.weight", [v, h]))
    return [(name, "BF16", shape) for name, shape in out]


def gpt_oss(c):
    h, f, e, n, k, d, v = (c[x] for x in ("hidden_size", "intermediate_size", "num_local_experts", "num_attention_heads", "num_key_value_heads", "head_dim", "vocab_size"))
    out = [("model.embed_tokens.weight", "BF16", [v, h])]
    for i in range(c["num_hidden_layers"]):
        p = f"model.layers.{i}."
        a, m = p + "self_attn.", p + "mlp."
        for name, shape in ((p + "input_layernorm.weight", [h]), (p + "post_attention_layernorm.weight", [h]), (a + "q_proj.weight", [n * d, h]), (a + "q_proj.bias", [n * d]),
                            (a + "k_proj.weight", [k * d, h]), (a + "k_proj.bias", [k * d]), (a + "v_proj.weight", [k * d, h]), (a + "v_proj.bias", [k * d]),
                            (a + "o_proj.weight", [h, n * d]), (a + "o_proj.bias", [h]), (a + "sinks", [n]), (m + "router.weight", [e, h]), (m + "router.bias", [e]),
                            (m + "experts.gate_up_proj_bias", [e, 2 * f]), (m + "experts.down_proj_bias", [e, h])):
            out.append((name, "BF16", shape))
        for name, rows, wide in (("gate_up_proj", 2 * f, h), ("down_proj", h, f)):
            out += [(f"{m}experts.{name}_blocks", "U8", [e, rows, wide // 32, 16]), (f"{m}experts.{name}_scales", "U8", [e, rows, wide // 32])]
    return out + [("model.norm.weight", "BF16", [h]), ("lm_head.weight", "BF16", [v, h])]


def directory(path, files, headers):
    """A model directory: files {name: object}; headers: with sparse weights of the configuration."""
    path.mkdir(parents=True, exist_ok=True)
    for name, value in files.items():
        (path / name).write_text(json.dumps(value))
    if headers:
        c = files["config.json"]
        save(path, gpt_oss(c) if c["model_type"] == "gpt_oss" else decoder(c, store_head=True if c.get("hidden_size") == 1024 else None))
