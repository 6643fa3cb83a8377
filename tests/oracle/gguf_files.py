"""GGUF files for the oracle: seeds, and mutations that know every field. Format: ggml, docs/gguf.md.

A file is kept as lists of fields; each can be given any value, sound or not. Nothing here comes from the parsers.
"""
import struct

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
PACK = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "B", U64: "Q", I64: "q", F64: "d"}
#: id -> (elements, bytes) of a block; ggml.h of ggml
TYPES = {0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36), 10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210),
         15: (256, 292), 16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82), 23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8),
         28: (1, 8), 29: (256, 56), 30: (1, 2), 34: (256, 54), 35: (256, 66), 39: (32, 17)}
KEYS = [b"general.name", b"general.file_type", b"llama.block_count", b"tokenizer.ggml.tokens", b"UPPER Key", b"k", b"\xff\xfe", b"k\0a", b"k\0b", b"x" * 300]
NAMES = [b"token_embd.weight", b"blk.0.attn_q.weight", b"blk.0.ffn_norm.weight", b"output.weight", b"", b"a", b"n" * 63, b"a\0b", b"a\0c", b"\xff"]
U64S = [0, 1, 2, 7, 8, 63, 64, 65, 255, 256, 1 << 20, (1 << 30) - 1, 1 << 30, (1 << 30) + 1, 1 << 31, 1 << 32, 1 << 40, (1 << 62), (1 << 63) - 1, 1 << 63, (1 << 64) - 32, (1 << 64) - 1,
        53624256028225440, 53624256028225441, 209622091746699450]


class Pair:
    def __init__(self, key, kind, value, inner=None):
        self.key, self.kind, self.value, self.inner = key, kind, value, inner
        self.key_length = self.count = None     # other lengths than the true ones
        self.code = kind
        self.inner_code = inner


class Info:
    def __init__(self, name, ne, kind):
        self.name, self.ne, self.kind = name, ne, kind
        self.length = self.dims = self.offset = None


class File:
    def __init__(self):
        self.magic, self.version, self.align = b"GGUF", 3, 32
        self.n_tensors = self.n_kv = None
        self.pairs, self.infos = [], []
        self.tail = b""
        self.short = 0              # bytes of data left out at the end
        self.after = []

    def text(self, s, n=None):
        return struct.pack("<Q", (len(s) if n is None else n) % (1 << 64)) + s

    def scalar(self, kind, v):
        if kind == STRING:
            return self.text(v)
        return struct.pack("<" + PACK[kind], v)

    def pair(self, p):
        out = self.text(p.key, p.key_length) + struct.pack("<I", p.code % (1 << 32))
        if p.kind == ARRAY:
            n = len(p.value) if p.count is None else p.count
            return out + struct.pack("<IQ", p.inner_code % (1 << 32), n % (1 << 64)) + b"".join(self.scalar(p.inner, v) for v in p.value)
        if p.kind == STRING:
            return out + self.text(p.value, p.count)
        return out + self.scalar(p.kind, p.value)

    def bytes(self):
        n_tensors = len(self.infos) if self.n_tensors is None else self.n_tensors
        n_kv = len(self.pairs) if self.n_kv is None else self.n_kv
        out = self.magic + struct.pack("<IQQ", self.version % (1 << 32), n_tensors % (1 << 64), n_kv % (1 << 64)) + b"".join(map(self.pair, self.pairs))
        at = 0
        for t in self.infos:
            size = size_of(t)
            dims = len(t.ne) if t.dims is None else t.dims
            out += self.text(t.name, t.length) + struct.pack("<I", dims % (1 << 32)) + b"".join(struct.pack("<Q", n % (1 << 64)) for n in t.ne)
            out += struct.pack("<IQ", t.kind % (1 << 32), (at if t.offset is None else at + t.offset) % (1 << 64))
            at += size + -size % self.align
        if self.infos:
            out += b"\0" * (-len(out) % self.align)
        out += b"\x22" * max(0, min(at, 1 << 22) - self.short) + self.tail
        for change in self.after:
            out = change(out)
        return out


def size_of(t):
    """True bytes of a tensor; 0 where nothing sensible can be said."""
    block, size = TYPES.get(t.kind, (1, 0))
    n = 1
    for d in t.ne:
        n *= d
    return n // block * size if 0 <= n < 1 << 40 else 0


def value(rnd, kind):
    if kind == STRING:
        return bytes(rnd.randrange(256) for _ in range(rnd.choice([0, 1, 5, 30])))
    if kind == BOOL:
        return rnd.choice([0, 1, 1, 2, 255])
    if kind in (F32, F64):
        return rnd.choice([0.0, 1.5, -2.0, float("inf"), float("nan")])
    bits = {U8: 8, I8: 7, U16: 16, I16: 15, U32: 32, I32: 31, U64: 64, I64: 63}[kind]
    return rnd.choice([0, 1, (1 << bits) - 1, rnd.randrange(1 << bits)])


def pair(rnd, key):
    kind = rnd.randrange(13)
    if kind != ARRAY:
        return Pair(key, kind, value(rnd, kind))
    inner = rnd.choice([k for k in range(13) if k != ARRAY])
    return Pair(key, ARRAY, [value(rnd, inner) for _ in range(rnd.choice([0, 1, 3, 20]))], inner)


def info(rnd, name):
    kind = rnd.choice(list(TYPES))
    block = TYPES[kind][0]
    ne = [block * rnd.choice([1, 1, 2])] + [rnd.choice([1, 2, 3]) for _ in range(rnd.choice([0, 1, 1, 2, 3]))]
    if rnd.random() < 0.05:
        ne[rnd.randrange(len(ne))] = 0
    if block == 1 and rnd.random() < 0.1:
        ne = []
    return Info(name, ne, kind)


def seed(rnd):
    f = File()
    f.version = rnd.choice([2, 3, 3, 3])
    f.pairs = [pair(rnd, k) for k in rnd.sample(KEYS, rnd.choice([0, 1, 2, 4, 6]))]
    names = rnd.sample(NAMES, rnd.choice([0, 1, 1, 2, 3, 5]))
    if b"a\0b" in names and (b"a\0c" in names or b"a" in names):
        names.remove(b"a\0b")       # equal up to the NUL
    if b"a\0c" in names and b"a" in names:
        names.remove(b"a\0c")
    f.infos = [info(rnd, n) for n in names]
    if rnd.random() < 0.4:
        f.align = rnd.choice([1, 2, 4, 8, 16, 32, 64, 256])
        f.pairs.insert(rnd.randint(0, len(f.pairs)), Pair(b"general.alignment", U32, f.align))
    f.pairs.insert(0, Pair(b"general.architecture", STRING, b"llama"))
    return f


# ---- mutations ------------------------------------------------------------------------------------------------------

def some(rnd, items):
    return rnd.choice(items) if items else None


def header(rnd, f):
    which = rnd.randrange(4)
    if which == 0:
        f.magic = rnd.choice([b"GGUF", b"GGUA", b"FUGG", b"gguf", b"\0\0\0\0", b"ggjt"])
    elif which == 1:
        f.version = rnd.choice([0, 1, 2, 3, 4, 5, 255, 65536, 0x7fffffff, 0x80000000, 0xffffffff])
    elif which == 2:
        f.n_tensors = rnd.choice(U64S + [len(f.infos) + 1, max(0, len(f.infos) - 1)])
    else:
        f.n_kv = rnd.choice(U64S + [len(f.pairs) + 1, max(0, len(f.pairs) - 1)])


def key(rnd, f):
    p = some(rnd, f.pairs)
    if p:
        which = rnd.randrange(3)
        if which == 0:
            p.key = rnd.choice([b"", b"\0", b"a\0b", b"y" * 70000, rnd.choice(f.pairs).key])
        elif which == 1:
            p.key_length = rnd.choice(U64S + [len(p.key) + 1, max(0, len(p.key) - 1)])
        else:
            f.pairs.insert(rnd.randint(0, len(f.pairs)), pair(rnd, rnd.choice([p.key, p.key + b"\0", p.key[:-1] + b"\0"])))


def kind(rnd, f):
    p = some(rnd, f.pairs)
    if p:
        p.code = rnd.choice([*range(14), 20, 255, 256, 0x80000000, 0xffffffff])


def array(rnd, f):
    p = some(rnd, [p for p in f.pairs if p.kind == ARRAY])
    if not p:
        p = Pair(b"arr", ARRAY, [1, 2, 3], rnd.choice([U8, U32, U64]))
        f.pairs.append(p)
    if rnd.random() < 0.5:
        p.count = rnd.choice(U64S + [len(p.value) + 1, max(0, len(p.value) - 1)])
    else:
        p.inner_code = rnd.choice([*range(14), 255, 0xffffffff])


def string(rnd, f):
    p = some(rnd, [p for p in f.pairs if p.kind == STRING])
    if p:
        p.count = rnd.choice(U64S + [len(p.value) + 1, max(0, len(p.value) - 1)])


def alignment(rnd, f):
    f.pairs = [p for p in f.pairs if p.key != b"general.alignment"]
    n = rnd.choice([0, 1, 2, 3, 4, 7, 8, 24, 32, 48, 64, 4096, 1 << 16, 1 << 31, (1 << 32) - 1])
    t = rnd.choice([U32, U32, U32, U32, U32, U64, I32, U16, F32, STRING, ARRAY])
    v = b"32" if t == STRING else float(n) if t == F32 else n % 65536 if t == U16 else n & 0x7fffffff if t == I32 else [n] if t == ARRAY else n
    f.pairs.insert(rnd.randint(0, len(f.pairs)), Pair(b"general.alignment", t, v, U32 if t == ARRAY else None))
    if rnd.random() < 0.7 and 0 < n < 1 << 20:
        f.align = n


def name(rnd, f):
    t = some(rnd, f.infos)
    if t:
        which = rnd.randrange(3)
        if which == 0:
            t.name = rnd.choice([b"n" * 62, b"n" * 63, b"n" * 64, b"n" * 65, b"", b"\0", b"q\0r", rnd.choice(f.infos).name, rnd.choice(f.infos).name + b"\0x", b"n" * 5000])
        elif which == 1:
            t.length = rnd.choice(U64S + [len(t.name) + 1, max(0, len(t.name) - 1)])
        else:
            f.infos.append(info(rnd, rnd.choice([t.name, t.name + b"\0tail", t.name[:1]])))


def dims(rnd, f):
    t = some(rnd, f.infos)
    if t:
        which = rnd.randrange(4)
        if which == 0:
            t.dims = rnd.choice([0, 1, 2, 3, 4, 5, 8, 255, 0x80000000, 0xffffffff])
        elif which == 1:
            t.ne = [rnd.choice(U64S) for _ in range(rnd.randint(0, 5))]
        elif which == 2:
            t.ne = rnd.choice([[1 << 40, 1 << 40], [1 << 32, 1 << 32], [1 << 31, 1 << 31, 4], [1 << 16] * 4, [1 << 21] * 3, [(1 << 63) - 1], [0, 1 << 63], [1, 0, 1 << 40, 1 << 40], [1 << 62, 2], [3037000500, 3037000500],
                               [32, 1 << 57], [32, 1 << 58], [256, 1 << 55], [256, 1 << 54, 2]])
        elif t.ne:
            t.ne[rnd.randrange(len(t.ne))] += rnd.choice([1, -1, 16, 31])


def tensor_type(rnd, f):
    t = some(rnd, f.infos)
    if t:
        t.kind = rnd.choice([*range(64), 96, 100, 133, 137, 140, 152, 157, 201, 230, 255, 0x7fffffff, 0x80000000, 0xffffffff])


def offset(rnd, f):
    t = some(rnd, f.infos)
    if t:
        t.offset = rnd.choice([1, -1, 32, -32, f.align, -f.align, 1 << 20, 1 << 63, -(1 << 62), (1 << 64) - 32])


def order(rnd, f):
    rnd.shuffle(f.infos if rnd.random() < 0.5 else f.pairs)


def drop(rnd, f):
    items = f.infos if rnd.random() < 0.5 else f.pairs
    if items:
        del items[rnd.randrange(len(items))]


def more(rnd, f):
    for i in range(rnd.choice([1, 3, 30])):
        f.pairs.append(pair(rnd, b"more.%d" % i)) if rnd.random() < 0.5 else f.infos.append(info(rnd, b"more.%d" % i))


def data(rnd, f):
    if rnd.random() < 0.5:
        f.tail = b"\x33" * rnd.choice([1, 31, 32, 100])
    else:
        f.short = rnd.choice([1, 2, 31, 32, 33, 64, 1000])


def cut(rnd, f):
    where = rnd.random()
    f.after.append(lambda raw: raw[:int(len(raw) * where)])


def flip(rnd, f):
    picks = [(rnd.random(), rnd.randrange(8)) for _ in range(rnd.choice([1, 1, 2, 5]))]

    def change(raw):
        raw = bytearray(raw)
        for at, bit in picks:
            if raw:
                raw[int(at * min(len(raw), 600))] ^= 1 << bit
        return bytes(raw)
    f.after.append(change)


def splice(rnd, f):
    where, n, put = rnd.random(), rnd.choice([0, 1, 4, 8]), bytes(rnd.randrange(256) for _ in range(rnd.choice([0, 1, 4, 8])))

    def change(raw):
        i = int(where * min(len(raw), 600))
        return raw[:i] + put + raw[i + n:]
    f.after.append(change)


ALL = [header, key, kind, array, string, alignment, name, dims, tensor_type, offset, order, drop, more, data, cut, flip, splice]


def make(rnd):
    f = seed(rnd)
    todo = [rnd.choice(ALL) for _ in range(rnd.choice([0, 1, 1, 1, 1, 2, 2, 3]))]
    for step in todo:
        step(rnd, f)
    return f.bytes(), [s.__name__ for s in todo]


# ---- an exact reading, to justify where we are stricter ---------------------------------------------------------------

def exact(raw):
    """(some tensor has 2^63 elements or more, its data ends beyond the file); the file is one that the reference accepted."""
    at, align = 24, 32

    def take(form):
        nonlocal at
        values = struct.unpack_from("<" + form, raw, at)
        at += struct.calcsize("<" + form)
        return values[0]

    def text():
        nonlocal at
        n = take("Q")
        at += n
        return raw[at - n:at]

    def skip(kind, n):
        nonlocal at
        if kind == STRING:
            for _ in range(n):
                text()
        else:
            at += struct.calcsize("<" + PACK[kind]) * n

    tensors, pairs = struct.unpack_from("<QQ", raw, 8)
    for _ in range(pairs):
        key, code = text(), take("I")
        if key.split(b"\0")[0] == b"general.alignment" and code == U32:
            align = struct.unpack_from("<I", raw, at)[0]
        if code == ARRAY:
            code = take("I")
            skip(code, take("Q"))
        else:
            skip(code, 1)
    wraps, ends, unknown = False, [0], False
    for _ in range(tensors):
        text()
        product = 1
        for _ in range(take("I")):
            product *= take("Q")
        kind, offset = take("I"), take("Q")
        wraps |= product >= 1 << 63
        unknown |= kind not in TYPES
        block, size = TYPES.get(kind, (1, 0))
        ends.append(offset + product // block * size)
    start = at + -at % align
    return wraps, unknown or start + max(ends) > len(raw)


def wraps(raw):
    return exact(raw)[0]


def short(raw):
    return exact(raw)[1]
