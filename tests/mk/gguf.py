"""GGUF writer, versions 1 to 3, either byte order. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md"""
import copy
import fnmatch
import json
import struct

from . import payload
from .entries import Entries, blob

VALUE = {"u8": (0, "B"), "i8": (1, "b"), "u16": (2, "H"), "i16": (3, "h"), "u32": (4, "I"), "i32": (5, "i"), "f32": (6, "f"),
         "bool": (7, "B"), "str": (8, ""), "arr": (9, ""), "u64": (10, "Q"), "i64": (11, "q"), "f64": (12, "d")}

#: name -> (id, elements per block, bytes per block); ggml.h and ggml-common.h of ggml
TYPES = {"F32": (0, 1, 4), "F16": (1, 1, 2), "Q4_0": (2, 32, 18), "Q4_1": (3, 32, 20), "Q5_0": (6, 32, 22), "Q5_1": (7, 32, 24),
         "Q8_0": (8, 32, 34), "Q8_1": (9, 32, 36), "Q2_K": (10, 256, 84), "Q3_K": (11, 256, 110), "Q4_K": (12, 256, 144),
         "Q5_K": (13, 256, 176), "Q6_K": (14, 256, 210), "Q8_K": (15, 256, 292), "IQ2_XXS": (16, 256, 66), "IQ2_XS": (17, 256, 74),
         "IQ3_XXS": (18, 256, 98), "IQ1_S": (19, 256, 50), "IQ4_NL": (20, 32, 18), "IQ3_S": (21, 256, 110), "IQ2_S": (22, 256, 82),
         "IQ4_XS": (23, 256, 136), "I8": (24, 1, 1), "I16": (25, 1, 2), "I32": (26, 1, 4), "I64": (27, 1, 8), "F64": (28, 1, 8),
         "IQ1_M": (29, 256, 56), "BF16": (30, 1, 2), "TQ1_0": (34, 256, 54), "TQ2_0": (35, 256, 66), "MXFP4": (39, 32, 17),
         "NVFP4": (40, 64, 36), "Q1_0": (41, 128, 18), "Q2_0": (42, 64, 18)}


class File(Entries):
    """What a `gguf` block describes. Options of tensors: at, id, bytes, zero, fill, hole."""

    TYPE, SHAPE = "type", "ne"

    def __init__(self):
        super().__init__()
        self.version = 3
        self.order = "<"
        self.align = 32
        self.kvs = []               # (key, type words, value) or ("", "raw", bytes)
        self.n_kv = self.n_tensors = None
        self.raw_tensors = []       # raw table entries, counted
        self.trailing = b""
        self.pad_last = True
        self.magic = b"GGUF"

    def text(self, s):
        raw = s.encode("utf-8", "surrogateescape")
        return self.count(len(raw)) + raw

    def count(self, n):
        return struct.pack(self.order + ("I" if self.version == 1 else "Q"), n)

    def u32(self, n):
        return struct.pack(self.order + "I", n)

    def value(self, kind, v):
        if kind == "str":
            return self.text(v)
        if kind == "bool":
            return bytes([int(v) & 255])
        if kind.startswith("["):    # the array's type and count are written here
            inner = kind[1:-1]
            return (self.u32(VALUE["arr" if inner.startswith("[") else inner][0]) + self.count(len(v))
                    + b"".join(self.value(inner, x) for x in v))
        return struct.pack(self.order + VALUE[kind][1], v)

    def header(self):
        out = self.magic + self.u32(self.version)
        out += self.count(len(self.tensors) + len(self.raw_tensors) if self.n_tensors is None else self.n_tensors)
        out += self.count(len(self.kvs) if self.n_kv is None else self.n_kv)
        for key, kind, v in self.kvs:
            if kind == "raw":
                out += v
                continue
            out += self.text(key) + self.u32(VALUE["arr" if kind.startswith("[") else kind][0]) + self.value(kind, v)
        for t, at, _ in self.layout():
            out += self.text(t["name"]) + self.u32(int(t.get("dims", len(t["ne"]))))
            out += b"".join(struct.pack(self.order + ("I" if self.version == 1 else "Q"), n) for n in t["ne"])
            out += self.u32(int(t["id"]) if "id" in t else TYPES[t["type"]][0])
            out += struct.pack(self.order + "Q", int(t["at"]) if "at" in t else at)
        return out + b"".join(self.raw_tensors)

    def size_of(self, t):
        if "bytes" in t:
            return int(t["bytes"])
        _, block, size = TYPES[t["type"]]
        return payload.elements(t["ne"]) // block * size

    def layout(self):
        at, out = 0, []
        for t in self.tensors:
            out.append((t, at, self.size_of(t)))
            at += self.size_of(t)
            at += -at % self.align
        return out

    def write(self, path):
        head = self.header()
        start = len(head) + -len(head) % self.align if self.tensors else len(head)
        with open(path, "wb") as f:
            f.write(head)
            end = start
            for t, at, size in self.layout():
                f.seek(start + at)
                kind = {"F32": "F32", "F16": "F16", "BF16": "BF16", "F64": "F64"}.get(t["type"], "U8")
                payload.put(f, kind, size, t.get("fill", t["name"]), "zero" in t or "hole" in t)
                end = start + at + size
            if self.pad_last and self.tensors:
                end += -(end - start) % self.align
            f.truncate(max(end, len(head)))
            f.seek(0, 2)
            f.write(self.trailing)

    def kv(self, key, kind, words):
        """kv KEY TYPE VALUE; an array value is JSON, or the words, or A..B for a run of numbers."""
        if kind.startswith("["):
            if len(words) == 1 and words[0].startswith("["):
                v = json.loads(words[0])
            elif len(words) == 1 and ".." in words[0] and kind != "[str]":
                a, b = words[0].split("..")
                v = list(range(int(a), int(b) + 1))
            elif len(words) == 1 and words[0].startswith("*"):          # *96: 96 distinct texts
                v = [f"tok{i}" for i in range(int(words[0][1:]))]
            else:
                v = [number(kind[1:-1], w) for w in words]
        else:
            v = number(kind, words[0] if words else "")
        self.kvs.append((key, kind, v))

    def line(self, words, text):
        op, args = words[0], words[1:]
        if self.change(op, args):
            return
        if op == "kv":
            self.kv(args[0], args[1], args[2:])
        elif op == "set-kv":        # replaces, in its place
            at = [i for i, k in enumerate(self.kvs) if k[0] == args[0]]
            if not at:
                raise ValueError(f"no key {args[0]!r}")
            self.kv(args[0], args[1], args[2:])
            self.kvs[at[0]] = self.kvs.pop()
        elif op == "drop-kv":
            before = len(self.kvs)
            self.kvs = [k for k in self.kvs if not fnmatch.fnmatchcase(k[0], args[0])]
            if len(self.kvs) == before:
                raise ValueError(f"no key matches {args[0]!r}")
        elif op == "raw-kv":
            self.kvs.append(("", "raw", blob(args)))
        elif op == "raw-tensor":
            self.raw_tensors.append(blob(args))
        elif op in ("version", "align", "tensor-count", "kv-count"):
            setattr(self, {"tensor-count": "n_tensors", "kv-count": "n_kv"}.get(op, op), int(args[0], 0))
        elif op == "magic":
            self.magic = blob(args)
        elif op == "big-endian":
            self.order = ">"
        elif op == "no-final-pad":
            self.pad_last = False
        elif op == "trailing":
            self.trailing = blob(args)
        else:
            raise ValueError(f"unknown line {op!r} in a gguf block")


def number(kind, word):
    if kind == "str":
        return word
    if kind == "bool":
        return {"true": 1, "false": 0}[word] if word in ("true", "false") else int(word)
    return float(word) if kind in ("f32", "f64") else int(word, 0)


def split(file, n):
    """n Files: the first has all keys, each the three split keys; tensors dealt out in runs."""
    per = -(-len(file.tensors) // n)
    out = []
    for i in range(n):
        part = copy.deepcopy(file)
        part.tensors = part.tensors[i * per:(i + 1) * per]
        part.kvs = (part.kvs if i == 0 else []) + [("split.no", "u16", i), ("split.count", "u16", n),
                                                   ("split.tensors.count", "i32", len(file.tensors))]
        out.append(part)
    return out
