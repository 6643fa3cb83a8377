"""Small GGUF models of many architectures for memory_live.py: real tensor names and shapes, random geometry, data as holes.

Model K comes from K alone. Shapes are those that llama.cpp's src/models/*.cpp ask for; the container is written by
tests/mk/gguf.py, which shares no code with the parser. Layer by layer, what a layer caches is what its architecture says;
sizes that have nothing to do with a cache (hidden, feed-forward, vocabulary, experts) are as small as a loader takes.
"""
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from mk import gguf  # noqa: E402

VOCAB = 288
WEIGHTS = ["F16", "BF16", "F32", "Q8_0", "Q4_0", "IQ4_NL"]
F32_ALWAYS = ("norm", "ssm_a", "ssm_d", "ssm_conv1d", "shortconv.conv", ".bias", "ffn_gate_inp", "lerp", "_sinks")


class Model:
    def __init__(self, arch, rnd):
        self.arch, self.rnd, self.file = arch, rnd, gguf.File()
        self.weights = rnd.choice(WEIGHTS)
        self.values = {}
        self.file.kvs.append(("general.architecture", "str", arch))

    def key(self, name, value):
        """A key below the architecture's prefix; ints are u32, lists of ints i32[]."""
        kind = ("bool" if isinstance(value, bool) else "u32" if isinstance(value, int) else "f32" if isinstance(value, float) else "str" if isinstance(value, str)
                else "[f32]" if isinstance(value[0], float) else "[i32]")
        self.values[name] = value
        self.file.kvs.append((f"{self.arch}.{name}", kind, value))

    def put(self, name, *ne):
        plain = len(ne) == 1 or any(w in name for w in F32_ALWAYS) or ne[0] % gguf.TYPES[self.weights][1]
        if not name.endswith((".bias", "ssm_a", "ssm_d")):
            name += ".weight"
        self.file.tensors.append({"name": name, "type": "F32" if plain else self.weights, "ne": list(ne), "hole": ""})

    def base(self, layers, hidden, context, ffn=64, eps="attention.layer_norm_rms_epsilon", head=None):
        self.layers, self.hidden, self.ffn = layers, hidden, ffn
        self.key("block_count", layers)
        self.key("context_length", context)
        self.key("embedding_length", hidden)
        self.key("feed_forward_length", ffn)
        self.key(eps, 1e-5)
        self.put("token_embd", hidden, VOCAB)
        self.put("output_norm", hidden)
        if self.rnd.random() < 0.5 if head is None else head:           # None: either; False: the loader knows no output matrix
            self.put("output", hidden, VOCAB)

    def heads(self, n, kv, k, v=None, rope=None):
        self.n, self.kv, self.k, self.v = n, kv, k, v or k
        self.key("attention.head_count", n)
        self.key("attention.head_count_kv", kv)
        self.key("attention.key_length", k)
        self.key("attention.value_length", self.v)
        self.key("rope.dimension_count", rope or k)

    # ---- parts of a layer ----

    def attention(self, i, q=1, norm=True, qk_norm=False, fused=False, bias=False):
        p, e = f"blk.{i}.", self.hidden
        kv = self.kv[i] if isinstance(self.kv, list) else self.kv
        if norm:
            self.put(p + "attn_norm", e)
        parts = {"q": q * self.n * self.k, "k": kv * self.k, "v": kv * self.v}
        if fused:
            self.put(p + "attn_qkv", e, sum(parts.values()))
        else:
            for name, width in parts.items():
                self.put(p + f"attn_{name}", e, width)
                if bias:
                    self.put(p + f"attn_{name}.bias", width)
        self.put(p + "attn_output", self.n * self.v, e)
        if qk_norm:
            self.put(p + "attn_q_norm", self.k)
            self.put(p + "attn_k_norm", self.k)

    def mlp(self, i, norm=True, gate=True, double_up=False):
        p, e = f"blk.{i}.", self.hidden
        if norm:
            self.put(p + "ffn_norm", e)
        if gate:
            self.put(p + "ffn_gate", e, self.ffn)
        self.put(p + "ffn_up", e, self.ffn * (2 if double_up else 1))
        self.put(p + "ffn_down", self.ffn, e)

    def experts(self, i, n, width, norm=True):
        p, e = f"blk.{i}.", self.hidden
        if norm:
            self.put(p + "ffn_norm", e)
        self.put(p + "ffn_gate_inp", e, n)
        self.put(p + "ffn_gate_exps", e, width, n)
        self.put(p + "ffn_up_exps", e, width, n)
        self.put(p + "ffn_down_exps", width, e, n)

    def shared_expert(self, i, width):
        p, e = f"blk.{i}.", self.hidden
        self.put(p + "ffn_gate_shexp", e, width)
        self.put(p + "ffn_up_shexp", e, width)
        self.put(p + "ffn_down_shexp", width, e)

    def post_norms(self, i):
        self.put(f"blk.{i}.post_attention_norm", self.hidden)
        self.put(f"blk.{i}.post_ffw_norm", self.hidden)

    def ssm(self, inner, state, dt, groups=None, conv=4):
        self.inner, self.state, self.dt, self.groups, self.conv = inner, state, dt, groups, conv
        for name, value in (("conv_kernel", conv), ("inner_size", inner), ("state_size", state), ("time_step_rank", dt), ("group_count", groups)):
            if value is not None:
                self.key("ssm." + name, value)

    def mamba1(self, i, norms=False):
        p, d = f"blk.{i}.", self.inner
        for name, *ne in (("attn_norm", self.hidden), ("ssm_in", self.hidden, 2 * d), ("ssm_conv1d", self.conv, d), ("ssm_conv1d.bias", d), ("ssm_x", d, self.dt + 2 * self.state),
                          ("ssm_dt", self.dt, d), ("ssm_dt.bias", d), ("ssm_a", self.state, d), ("ssm_d", d), ("ssm_out", d, self.hidden)):
            self.put(p + name, *ne)
        if norms:
            for name, width in (("dt", self.dt), ("b", self.state), ("c", self.state)):
                self.put(p + f"ssm_{name}_norm", width)

    def mamba2(self, i, norm=True):
        p, d = f"blk.{i}.", self.inner
        mixed = d + 2 * self.groups * self.state
        if norm:
            self.put(p + "attn_norm", self.hidden)
        for name, *ne in (("ssm_in", self.hidden, d + mixed + self.dt), ("ssm_conv1d", self.conv, mixed), ("ssm_conv1d.bias", mixed), ("ssm_dt.bias", self.dt),
                          ("ssm_a", 1, self.dt), ("ssm_d", 1, self.dt), ("ssm_norm", d // self.groups, self.groups), ("ssm_out", d, self.hidden)):
            self.put(p + name, *ne)


# ---- architectures -----------------------------------------------------------------------------------------------------

def plain(arch, qk_norm=False, bias=False, n_experts=0):
    def build(m):
        k = m.rnd.choice([32, 64, 96, 128])
        m.base(m.rnd.randint(2, 6), 8 * k if bias else 128, 8192)       # with biases: query rows are as wide as the hidden state
        m.heads(8, m.rnd.choice([1, 2, 4, 8]), k)
        if n_experts:
            m.key("expert_count", n_experts)
            m.key("expert_used_count", 2)
            m.key("expert_feed_forward_length", 32)
        for i in range(m.layers):
            m.attention(i, qk_norm=qk_norm, bias=bias)
            m.experts(i, n_experts, 32) if n_experts else m.mlp(i)
    return arch, build


def windowed(arch, layers, window, qk_norm=False, post=True):
    def build(m):
        k = m.rnd.choice([64, 128])
        m.base(m.rnd.randint(*layers), 4 * k, 32768, head=False)
        if arch == "cohere2":
            m.key("logit_scale", 0.25)
            m.key("attention.layer_norm_epsilon", 1e-5)
        m.heads(4, m.rnd.choice([1, 2, 4]), k)
        m.key("attention.sliding_window", m.rnd.choice(window))
        for i in range(m.layers):
            m.attention(i, qk_norm=qk_norm)
            m.mlp(i, norm=post)
            if post:
                m.post_norms(i)
    return arch, build


def gpt_oss(m):
    m.base(m.rnd.randint(2, 7), 128, 32768, head=True)
    m.heads(8, 2, 64)
    m.key("attention.sliding_window", m.rnd.choice([64, 128]))
    for name, value in (("expert_count", 4), ("expert_used_count", 2), ("expert_feed_forward_length", 64)):
        m.key(name, value)
    for i in range(m.layers):
        p = f"blk.{i}."
        m.attention(i, bias=True)
        m.put(p + "attn_output.bias", m.hidden)
        m.put(p + "attn_sinks", m.n)
        m.put(p + "post_attention_norm", m.hidden)
        m.experts(i, 4, 64, norm=False)
        for name, *ne in (("gate_inp", 4), ("gate_exps", 64, 4), ("up_exps", 64, 4), ("down_exps", m.hidden, 4)):
            m.put(p + f"ffn_{name}.bias", *ne)


def llama4(m):
    m.base(m.rnd.randint(4, 8), 128, 65536)
    m.heads(8, 2, 64)
    for name, value in (("expert_count", 4), ("expert_used_count", 1), ("expert_feed_forward_length", 32), ("interleave_moe_layer_step", 1)):
        m.key(name, value)
    for i in range(m.layers):
        m.attention(i)
        m.experts(i, 4, 32)
        m.shared_expert(i, 32)


def phi3(m):
    m.base(m.rnd.randint(2, 5), 256, 4096)
    m.heads(4, m.rnd.choice([2, 4]), 64)
    m.key("attention.sliding_window", 512)              # llama.cpp does not use it for this architecture
    for i in range(m.layers):
        m.attention(i, fused=True)
        m.mlp(i, gate=False, double_up=True)


def deepseek2(m):
    rank, rope, nope, value = m.rnd.choice([256, 512]), 64, 128, 128
    m.base(m.rnd.randint(2, 5), 128, 16384)
    m.heads(4, 1, rank + rope, rank, rope)
    for name, v in (("attention.q_lora_rank", 64), ("attention.kv_lora_rank", rank), ("attention.key_length_mla", nope + rope), ("attention.value_length_mla", value),
                    ("leading_dense_block_count", 1), ("expert_count", 4), ("expert_used_count", 2), ("expert_feed_forward_length", 32), ("expert_shared_count", 1),
                    ("expert_weights_scale", 1.0), ("expert_gating_func", 2)):
        m.key(name, v)
    for i in range(m.layers):
        p, e = f"blk.{i}.", m.hidden
        for name, *ne in (("attn_norm", e), ("attn_q_a_norm", 64), ("attn_q_a", e, 64), ("attn_q_b", 64, m.n * (nope + rope)), ("attn_kv_a_norm", rank), ("attn_kv_a_mqa", e, rank + rope),
                          ("attn_k_b", nope, rank, m.n), ("attn_v_b", rank, value, m.n), ("attn_output", m.n * value, e)):
            m.put(p + name, *ne)
        if i == 0:
            m.mlp(i)
        else:
            m.experts(i, 4, 32)
            m.shared_expert(i, 32)


def openelm(m):
    layers = m.rnd.randint(3, 6)
    m.base(layers, 128, 2048, head=False)
    kv = [m.rnd.choice([1, 2, 4]) for _ in range(layers)]
    m.n, m.kv, m.k, m.v = 0, kv, 64, 64
    m.key("attention.head_count", [4 * k for k in kv])
    m.key("attention.head_count_kv", kv)
    for name in ("attention.key_length", "attention.value_length", "rope.dimension_count"):
        m.key(name, 64)
    for i in range(layers):
        m.n = 4 * kv[i]
        m.attention(i, fused=True, qk_norm=True)
        m.mlp(i)


def mamba(m):
    hidden = m.rnd.choice([64, 128])
    m.base(m.rnd.randint(2, 6), hidden, 4096)
    m.ssm(2 * hidden, 16, 8)
    for i in range(m.layers):
        m.mamba1(i)


def mamba2(m):
    m.base(m.rnd.randint(2, 6), 64, 4096)
    heads = m.rnd.choice([4, 8])
    m.ssm(heads * 64, m.rnd.choice([64, 128]), heads, m.rnd.choice([1, 2]))
    for i in range(m.layers):
        m.mamba2(i)


def hybrid_heads(m, layers):
    """KV heads of each layer: 0 marks a recurrent layer, at least one of each kind."""
    kv = [m.rnd.choice([0, 0, 2]) for _ in range(layers)]
    kv[0], kv[-1] = 0, 2
    return kv


def jamba(m):
    layers = m.rnd.randint(3, 6)
    m.base(layers, 128, 8192)
    m.heads(4, hybrid_heads(m, layers), 32)
    m.ssm(256, 16, 8)
    for i in range(layers):
        m.attention(i) if m.kv[i] else m.mamba1(i, norms=True)
        m.mlp(i)


def granite_hybrid(m):
    layers = m.rnd.randint(3, 6)
    m.base(layers, 128, 8192)
    m.heads(4, hybrid_heads(m, layers), 64)
    m.ssm(256, 64, 4, 1)
    for i in range(layers):
        m.attention(i) if m.kv[i] else m.mamba2(i)
        m.mlp(i)


def falcon_h1(m):
    m.base(m.rnd.randint(2, 5), 128, 8192)
    m.heads(4, 2, 64)
    m.ssm(256, 64, 4, 1)
    for i in range(m.layers):
        m.attention(i)
        m.file.tensors.append({"name": f"blk.{i}.ffn_norm", "type": "F32", "ne": [m.hidden], "hole": ""})   # without .weight
        m.mlp(i, norm=False)
        m.mamba2(i, norm=False)


def lfm2(m):
    layers = m.rnd.randint(3, 6)
    m.base(layers, 128, 8192)
    m.file.tensors = [t for t in m.file.tensors if t["name"] == "token_embd.weight"]
    m.put("token_embd_norm", m.hidden)
    m.heads(4, hybrid_heads(m, layers), 32)
    m.key("shortconv.l_cache", m.rnd.choice([3, 4]))
    for i in range(layers):
        p = f"blk.{i}."
        m.put(p + "attn_norm", m.hidden)
        if m.kv[i]:
            m.attention(i, norm=False, qk_norm=True)
        else:
            m.put(p + "shortconv.conv", m.values["shortconv.l_cache"], m.hidden)
            m.put(p + "shortconv.in_proj", m.hidden, 3 * m.hidden)
            m.put(p + "shortconv.out_proj", m.hidden, m.hidden)
        m.mlp(i)


def qwen3next(m):
    m.base(m.rnd.choice([4, 5, 8]), 128, 16384)
    m.heads(4, 2, 64)
    k_heads, v_heads, dim = 2, 4, 32
    m.ssm(v_heads * dim, dim, v_heads, k_heads)
    for name, value in (("expert_count", 4), ("expert_used_count", 2), ("expert_feed_forward_length", 32), ("expert_shared_feed_forward_length", 32)):
        m.key(name, value)
    for i in range(m.layers):
        p, e, mixed = f"blk.{i}.", m.hidden, m.inner + 2 * k_heads * dim
        if (i + 1) % 4 == 0:
            m.attention(i, q=2, qk_norm=True)
        else:
            for name, *ne in (("attn_norm", e), ("ssm_ba", e, 2 * v_heads), ("ssm_conv1d", m.conv, mixed), ("ssm_dt.bias", v_heads), ("ssm_a", v_heads), ("ssm_norm", dim),
                              ("ssm_out", m.inner, e), ("attn_qkv", e, mixed), ("attn_gate", e, m.inner)):
                m.put(p + name, *ne)
        m.put(p + "post_attention_norm", e)
        m.experts(i, 4, 32, norm=False)
        m.put(p + "ffn_gate_inp_shexp", e)
        m.shared_expert(i, 32)


ARCHITECTURES = [
    plain("llama"), windowed("gemma3", (6, 14), [128, 512], qk_norm=True), ("deepseek2", deepseek2), ("qwen3next", qwen3next), ("gpt-oss", gpt_oss), ("falcon-h1", falcon_h1),
    ("openelm", openelm), ("lfm2", lfm2), ("mamba2", mamba2), ("phi3", phi3),
    plain("qwen2", bias=True), plain("qwen3", qk_norm=True), plain("qwen3moe", qk_norm=True, n_experts=4), windowed("gemma2", (2, 7), [64, 256, 4096]),
    windowed("cohere2", (4, 9), [128, 1024], post=False), ("llama4", llama4), ("mamba", mamba), ("jamba", jamba), ("granitehybrid", granite_hybrid),
]


def tokenizer(file):
    words = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    words += [f"w{i}" for i in range(VOCAB - len(words))]
    file.kvs += [("tokenizer.ggml.model", "str", "llama"), ("tokenizer.ggml.pre", "str", "default"), ("tokenizer.ggml.tokens", "[str]", words),
                 ("tokenizer.ggml.scores", "[f32]", [-float(i) for i in range(VOCAB)]),
                 ("tokenizer.ggml.token_type", "[i32]", [2, 3, 3] + [6] * 256 + [1] * (VOCAB - 259)),
                 ("tokenizer.ggml.bos_token_id", "u32", 1), ("tokenizer.ggml.eos_token_id", "u32", 2)]


def question(rnd, arch, block):
    """How the model is loaded. Cache types of 32-element blocks only where every head has whole blocks."""
    kinds = ["f16"] * 4 + ["bf16", "f32"] + (["q8_0", "q4_0"] if block else [])
    k = rnd.choice(kinds)
    v = k if arch == "deepseek2" or rnd.random() < 0.6 else rnd.choice(kinds)
    flash = rnd.choice(["on", "on", "auto"]) if v in ("q8_0", "q4_0") else rnd.choice(["auto", "on", "off"])
    return {"context": rnd.choice([1, 100, 256, 1000, 3000, 5000]), "sequences": rnd.choice([1, 1, 2, 3, 4]), "k": k, "v": v, "flash": flash,
            "unified": rnd.random() < 0.3, "swa_full": rnd.random() < 0.15, "ubatch": rnd.choice([512, 512, 128, 1024]), "no_mmap": rnd.random() < 0.2}


def make(k, path):
    """Writes model k. (architecture, how to load it, number of tensors)."""
    arch, build = ARCHITECTURES[k % len(ARCHITECTURES)]
    rnd = random.Random(f"modelcheck memory {k}")
    m = Model(arch, rnd)
    build(m)
    tokenizer(m.file)
    m.file.write(path)
    return arch, question(rnd, arch, block=getattr(m, "k", 32) % 32 == 0 and getattr(m, "v", 32) % 32 == 0), len(m.file.tensors)
