"""safetensors files for the oracle: seeds, and structured mutations of them.

A header is kept as text pairs, so that a mutation can spell what no JSON library would write: keys twice, escapes,
white space, numbers of every form. Layout: u64 LE header length, JSON header, data. Nothing here comes from the parsers.
"""
import json

BITS = {"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8,
        "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64}
OTHER = ["F8", "F6", "F4_E2M1", "C128", "I4", "f32", "bf16", "BF16 ", "", "Bool", "F16\\u0000", "\\u0046\\u0033\\u0032"]
NUMBERS = ["0", "1", "-1", "-0", "1.0", "1e0", "1E2", "0.5", "01", "+1", "9223372036854775807", "9223372036854775808", "18446744073709551615",
           "18446744073709551616", "4294967296", "99999999999999999999999", "1e400", "NaN", "Infinity", "-Infinity", "true", "null", '"1"', "[]", "[1]", "{}", "", "1 ", "0x10", "1_0"]
VALUES = ["null", "true", "0", "-1.5e3", '""', '"a\\nb"', "[]", "{}", "[1,[2,[3]]]", '{"a":{"b":[null,false]}}', '"\\ud83d\\ude00"', '"\\ud800"', '"\\udc00x"', "nul", "'a'", "[1,]", "[,1]",
          '{"a":1,}', '{"a" 1}', "{a:1}", "/*c*/1", "1//c", '"\\x41"', '"\\u12"', '"\\u00e9"', "1e5", "tru", "-", "1.", ".5", '"' + "x" * 300 + '"']
NAMES = ["a", "model.embed_tokens.weight", "model.layers.0.mlp.up_proj.weight", "model.layers.0.self_attn.q_proj.bias", "", "x.\u00e9\u4e2d", "scale", "z" * 200,
         "dtype", "__metadata", "lm_head.weight", "a b", "tab\\tname", "\\u0061", "\\/slash", "emoji \\ud83d\\ude00"]
SPACES = [" ", "\n", "\t", "\r", "  \n\t", "\f", "\v", "\u00a0", "\0", ""]


class File:
    """entries: [name text, [[field text, value text], ...] or a raw value text]; everything is spelt as it will be written."""

    def __init__(self):
        self.entries = []
        self.data = 0               # bytes of the data section
        self.lead = self.tail = ""
        self.pad = 8
        self.length = None          # other length word
        self.inside = []            # changes of the header's bytes, before it is measured
        self.after = []             # changes of the file's bytes

    def header(self):
        parts = []
        for name, fields in self.entries:
            value = fields if isinstance(fields, str) else "{" + ",".join(f"{k}:{v}" for k, v in fields) + "}"
            parts.append(f"{name}:{value}")
        return self.lead + "{" + ",".join(parts) + "}" + self.tail

    def bytes(self):
        head = self.header().encode("utf-8", "surrogatepass")
        for change in self.inside:
            head = change(head)
        head += b" " * (-len(head) % self.pad)
        n = len(head) if self.length is None else self.length(len(head), self.data)
        raw = (n % (1 << 64)).to_bytes(8, "little") + head + b"\x11" * self.data
        for change in self.after:
            raw = change(raw)
        return raw


def quote(s):
    return '"' + s + '"'


def shape_for(rnd, dtype):
    rank = rnd.choice([0, 1, 1, 2, 2, 2, 3, 4, 6])
    shape = [rnd.choice([1, 2, 3, 4, 8, 16]) for _ in range(rank)]
    if rank and rnd.random() < 0.1:
        shape[rnd.randrange(rank)] = 0
    if BITS[dtype] < 8:
        shape = (shape or [1]) + [8]
    return shape


def seed(rnd):
    """A file that every reader takes."""
    f = File()
    for name in rnd.sample(NAMES, rnd.choice([0, 1, 1, 2, 3, 5, 8])):
        dtype = rnd.choice(list(BITS))
        shape, n = shape_for(rnd, dtype), BITS[dtype]
        for d in shape:
            n *= d
        f.entries.append([quote(name), [['"dtype"', quote(dtype)], ['"shape"', json.dumps(shape, separators=(",", ":"))],
                                        ['"data_offsets"', f"[{f.data},{f.data + n // 8}]"]]])
        f.data += n // 8
    if rnd.random() < 0.7:
        f.entries.insert(rnd.randint(0, len(f.entries)), ['"__metadata__"', rnd.choice(['{"format":"pt"}', "{}", "null", '{"a":"b","a":"c"}', '{"format":"mlx","x":"\\n"}'])])
    return f


# ---- mutations: each changes f in place; `legal` ones keep the meaning -------------------------------------------

def tensors(f):
    return [e for e in f.entries if not isinstance(e[1], str)]


def field(rnd, f, key):
    """[field text, value text] of that key in some tensor, or a throw-away pair."""
    hits = [p for e in tensors(f) for p in e[1] if p[0] == quote(key)]
    return rnd.choice(hits) if hits else ["", ""]


def spaces(rnd, f):
    for _ in range(rnd.randint(1, 4)):
        space, where = rnd.choice(SPACES), rnd.randrange(6)
        e = rnd.choice(f.entries) if f.entries else None
        if where == 0:
            f.lead += space
        elif where == 1:
            f.tail += space
        elif e and where == 2:
            e[0] = space + e[0] + rnd.choice(SPACES)
        elif e and isinstance(e[1], str):
            e[1] = space + e[1] + space
        elif e and e[1]:
            p = rnd.choice(e[1])
            p[0], p[1] = p[0] + space, rnd.choice(SPACES) + p[1].replace(",", space + ",")


def escape(rnd, f):
    """Spells one character of a key or string as \\uXXXX, which changes nothing."""
    e = rnd.choice(f.entries) if f.entries else None
    if not e:
        return
    target = rnd.choice([None] if isinstance(e[1], str) or not e[1] else [None] + [p for p in e[1]])
    text = e[0] if target is None else target[0] if rnd.random() < 0.7 else target[1]
    at = [i for i, c in enumerate(text) if c.isascii() and (c.isalnum() or c in "_.") and "\\" not in text]
    if not text.startswith('"') or not at:
        return
    i = rnd.choice(at)
    spelt = text[:i] + rnd.choice([f"\\u{ord(text[i]):04x}", f"\\u{ord(text[i]):04X}"]) + text[i + 1:]
    if target is None:
        e[0] = spelt
    elif text is target[0]:
        target[0] = spelt
    else:
        target[1] = spelt


def bad_string(rnd, f):
    e = rnd.choice(f.entries) if f.entries else None
    if e:
        i = rnd.randint(1, max(1, len(e[0]) - 1))
        e[0] = e[0][:i] + rnd.choice(["\\x", "\\u12", "\\ud800", "\\udc00", "\\ud800\\u0041", "\\", '"', "\x01", "\n", "\x1f", "\x7f", "\ud800", "\\u0000", "\U0001f600", "\\'"]) + e[0][i:]


def duplicate_entry(rnd, f):
    if f.entries:
        e = rnd.choice(f.entries)
        copy = [e[0], e[1] if isinstance(e[1], str) else [list(p) for p in e[1]]]
        f.entries.insert(rnd.randint(0, len(f.entries)), copy)
        if rnd.random() < 0.5:
            i = rnd.randint(1, len(copy[0]) - 1)
            if copy[0][i].isalnum() and "\\" not in copy[0]:
                copy[0] = copy[0][:i] + f"\\u{ord(copy[0][i]):04x}" + copy[0][i + 1:]


def duplicate_field(rnd, f):
    if tensors(f):
        e = rnd.choice(tensors(f))
        if e[1]:
            e[1].insert(rnd.randint(0, len(e[1])), list(rnd.choice(e[1])))


def drop(rnd, f):
    if tensors(f) and rnd.random() < 0.7:
        e = rnd.choice(tensors(f))
        if e[1]:
            del e[1][rnd.randrange(len(e[1]))]
    elif f.entries:
        del f.entries[rnd.randrange(len(f.entries))]


def extra_field(rnd, f):
    if tensors(f):
        e, depth = rnd.choice(tensors(f)), rnd.choice([0, 0, 1, 3, 30, 58, 61, 62, 63, 64, 65, 100, 124, 126, 127, 128, 129, 200, 5000])
        value = rnd.choice(VALUES) if depth == 0 else "[" * depth + "]" * depth if rnd.random() < 0.5 else '{"a":' * depth + "1" + "}" * depth
        e[1].insert(rnd.randint(0, len(e[1])), [quote(rnd.choice(["x", "", "Dtype", "shapes", "data_offset", "dtype\\u0000"])), value])


def dtype(rnd, f):
    field(rnd, f, "dtype")[1] = rnd.choice([quote(rnd.choice(list(BITS) + OTHER)), "null", "1", "[]", '["F32"]', '{"F32":null}', '{"BF16":null }', '{"F32":1}', '{"F32":{}}', "{}",
                                            '{"F32":null,"F16":null}', '{"F32":[]}', '{"NOPE":null}'])


def shape(rnd, f):
    p = field(rnd, f, "shape")
    rank = rnd.choice([0, 1, 2, 3, 7, 15, 16, 17, 40])
    p[1] = rnd.choice(["[" + ",".join(rnd.choice(NUMBERS) for _ in range(rank)) + "]", "[" + ",".join(["1"] * rank) + "]", "[" + ",".join(rnd.choice(["0", "1", "18446744073709551615", "2", "4294967296"]) for _ in range(rank)) + "]",
                       "null", "{}", "1", '"[1]"', "[[1]]", "[1,]", "[,]", "[1 2]", "[", "]", p[1][:-1] + ",1]", p[1] + " "])


def offsets(rnd, f):
    p = field(rnd, f, "data_offsets")
    a, b = rnd.randint(0, f.data + 4), rnd.randint(0, f.data + 4)
    p[1] = rnd.choice([f"[{a},{b}]", f"[{b},{a}]", f"[{a}]", f"[{a},{a},{b}]", "[]", "null", "{}", f'"{a}"', f"[{a},{rnd.choice(NUMBERS)}]", f"[{rnd.choice(NUMBERS)},{b}]", f"[[{a},{b}]]",
                       f"[{a},{b},]", f"[{a} ,\n{b} ]", "[18446744073709551600,18446744073709551615]", "[0,9223372036854775807]", "[9223372036854775800,9223372036854775808]"])


def offset_step(rnd, f):
    """Off by one, where a check of equality would be wrong by one."""
    p = field(rnd, f, "data_offsets")
    parts = p[1].strip("[]").split(",")
    if len(parts) != 2 or not all(x.isdigit() for x in parts):
        return
    a, b = map(int, parts)
    d = rnd.choice([(0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (-1, -1)])
    p[1] = f"[{a + d[0]},{b + d[1]}]"
    if rnd.random() < 0.3:
        f.data = max(0, f.data + rnd.choice([-1, 1]))


def array_form(rnd, f):
    if tensors(f):
        e = rnd.choice(tensors(f))
        values = [p[1] for p in e[1]]
        values = rnd.choice([values, values[:2], values + ["1"], values[::-1], values + [""]])
        e[1] = "[" + ",".join(values) + "]"


def entry_value(rnd, f):
    if f.entries:
        rnd.choice(f.entries)[1] = rnd.choice(VALUES)


def metadata(rnd, f):
    value = rnd.choice(VALUES + ['{"format":"pt"}', '{"a":1}', '{"a":null}', '{"a":"b","c":["d"]}', '{"a":{"b":"c"}}', '{"\\u0061":"x","a":"y"}', '{"a":"\\ud800"}', '{"a":"b",}', '{"a"}'])
    f.entries.insert(rnd.randint(0, len(f.entries)), [rnd.choice(['"__metadata__"'] * 4 + ['"__metadata\\u005f_"', '"__Metadata__"']), value])


def shuffle(rnd, f):
    rnd.shuffle(f.entries)
    for e in tensors(f):
        rnd.shuffle(e[1])


def number(rnd, f):
    """Any number anywhere."""
    hits = [p for e in tensors(f) for p in e[1] if p[1].startswith("[")]
    if hits:
        p = rnd.choice(hits)
        items = p[1].strip("[]").split(",")
        items[rnd.randrange(len(items))] = rnd.choice(NUMBERS)
        p[1] = "[" + ",".join(items) + "]"


SIGNS = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b" ", b"0", b"e", b"-", b"/", b"\0", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"]


def structure(rnd, f):
    """One sign more or less in the header; the length word follows it, or not."""
    where, sign, how = rnd.random(), rnd.choice(SIGNS), rnd.randrange(3)

    def change(raw):
        i = int(where * len(raw))
        return raw[:i] + sign + raw[i:] if how == 0 else raw[:i] + sign[:1] + raw[i + 1:] if how == 1 else raw[:i] + raw[i + 1:]
    if rnd.random() < 0.7:
        f.inside.append(change)
    else:
        f.after.append(lambda raw: raw[:8] + change(raw[8:]))


def flip(rnd, f):
    def change(raw):
        raw = bytearray(raw)
        for _ in range(rnd.choice([1, 1, 2, 8])):
            if raw:
                raw[rnd.randrange(min(len(raw), 400))] ^= 1 << rnd.randrange(8)
        return bytes(raw)
    f.after.append(change)


def length_word(rnd, f):
    value = rnd.choice([0, 1, 2, 3, 7, 8, 1 << 20, 25_000_001, 99_999_999, 100_000_000, 100_000_001, 1 << 32, 1 << 63, (1 << 64) - 1, (1 << 64) - 8, 0x20726576])
    step = rnd.choice([-9, -8, -2, -1, 1, 2, 7, 8, 9])
    f.length = rnd.choice([lambda n, d: value, lambda n, d: n + step, lambda n, d: n + d, lambda n, d: n + d + 1, lambda n, d: max(0, n + d - 1)])


def cut(rnd, f):
    def change(raw):
        at = rnd.choice([rnd.randint(0, len(raw)), rnd.randint(0, min(16, len(raw))), max(0, len(raw) - rnd.randint(1, 9))])
        return raw[:at]
    f.after.append(change)


def trailing(rnd, f):
    more = rnd.choice([b"\0", b" ", b"\x11" * 8, b"x" * 100, b"{}"])
    f.after.append(lambda raw: raw + more)


def prefix(rnd, f):
    f.lead = rnd.choice(["\ufeff", " " * 9, "\n" * 2000, "\0", "[", "//x\n", "null", "\u2028"]) + f.lead


def suffix(rnd, f):
    f.tail += rnd.choice([" " * 3000, "\0", "\0\0\0\0", "}", "{}", ",", "x", "\n\n", "\u00a0", "null"])


def padding(rnd, f):
    f.pad = rnd.choice([1, 2, 8, 64, 4096])


LEGAL = [spaces, escape, shuffle, padding]
ALL = [spaces, escape, bad_string, duplicate_entry, duplicate_field, drop, extra_field, dtype, shape, offsets, offset_step, array_form, entry_value, metadata, shuffle, number, structure, flip,
       length_word, cut, trailing, prefix, suffix, padding]


def make(rnd):
    """One file and the names of what was done to it."""
    f = seed(rnd)
    steps = rnd.choice([0, 1, 1, 1, 1, 2, 2, 3])
    todo = [rnd.choice(ALL if rnd.random() < 0.75 else LEGAL) for _ in range(steps)]
    for step in todo:
        step(rnd, f)
    return f.bytes(), [s.__name__ for s in todo]
