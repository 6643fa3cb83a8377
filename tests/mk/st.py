"""safetensors writer: 8 bytes header length, JSON header, data. https://github.com/huggingface/safetensors#format"""
import json

from . import payload
from .entries import Entries, blob


class File(Entries):
    """What a `safetensors` block describes; kept so that later blocks and `edit` can change it.

    Options of tensors: at, bytes, entry, zero, fill, and what payload.py takes.
    """

    TYPE, SHAPE = "dtype", "shape"

    def __init__(self):
        super().__init__()
        self.meta = {"format": "pt"}
        self.header = None          # raw text instead of the generated header
        self.header_length = None   # overrides the length field
        self.pad = 8
        self.trailing = b""
        self.gaps = {}              # name -> bytes of nothing in front of it

    def shape_of(self, word, options):
        return [len(options["text"].encode())] if word == "text" else super().shape_of(word, options)

    def size_of(self, t):
        if "bytes" in t:
            return int(t["bytes"])
        if t["dtype"] not in payload.BITS:
            raise ValueError(f"{t['name']}: dtype {t['dtype']} needs bytes=N")
        return -(-payload.elements(t["shape"]) * payload.BITS[t["dtype"]] // 8)

    def data_bytes(self):
        return sum(self.size_of(t) for t in self.tensors)

    def layout(self):
        """[(tensor, begin, end)] in file order."""
        at, out = 0, []
        for t in self.tensors:
            at += self.gaps.get(t["name"], 0)
            out.append((t, at, at + self.size_of(t)))
            at += self.size_of(t)
        return out

    def header_text(self):
        if self.header is not None:
            return self.header
        items = [("__metadata__", json.dumps(self.meta, ensure_ascii=False))] if self.meta is not None else []
        for t, begin, end in self.layout():
            offsets = [int(x) for x in t["at"].split(":")] if "at" in t else [begin, end]
            entry = {"dtype": t["dtype"], "shape": t["shape"], "data_offsets": offsets}
            items.append((t["name"], t.get("entry") or json.dumps(entry, separators=(",", ":"))))
        return "{" + ",".join(json.dumps(k, ensure_ascii=False) + ":" + v for k, v in items) + "}"

    def write(self, path):
        head = self.header_text().encode("utf-8", "surrogateescape")
        if self.pad:
            head += b" " * (-len(head) % self.pad)
        n = len(head) if self.header_length is None else self.header_length
        with open(path, "wb") as f:
            f.write((n % (1 << 64)).to_bytes(8, "little") + head)
            for t, begin, end in self.layout():
                f.seek(8 + len(head) + begin)
                payload.put(f, t["dtype"], end - begin, t.get("fill", t["name"]), "zero" in t, t)
            f.truncate(max(f.tell(), 8 + len(head)))
            f.seek(0, 2)
            f.write(self.trailing)

    def line(self, words, text):
        """One indented line of a block."""
        op, args = words[0], words[1:]
        if self.change(op, args):
            return
        if op == "meta":
            self.meta = dict(self.meta or {}, **{args[0]: args[1]})
        elif op == "no-meta":
            self.meta = None
        elif op == "prefix":            # prefix OLD NEW: names that begin with OLD
            for t in self.tensors:
                if t["name"].startswith(args[0]):
                    t["name"] = args[1] + t["name"][len(args[0]):]
        elif op == "gap":
            self.gaps[args[0]] = int(args[1])
        elif op == "header":
            self.header = text.split(None, 1)[1]
        elif op == "header-length":
            self.header_length = int(args[0], 0)
        elif op == "pad":
            self.pad = int(args[0])
        elif op == "trailing":
            self.trailing = blob(args)
        else:
            raise ValueError(f"unknown line {op!r} in a safetensors block")


def split(file, n):
    """The tensors of a File in n runs of about equal size."""
    total, done, groups = file.data_bytes(), 0, [[] for _ in range(n)]
    for i, t in enumerate(file.tensors):
        left = len(file.tensors) - i
        k = min(n - 1, done * n // max(total, 1))
        while k and not groups[k - 1]:
            k -= 1
        if left <= n - 1 - k:           # leave at least one tensor for every later group
            k = min(n - 1, k + (0 if not groups[k] else 1))
        groups[k].append(t)
        done += file.size_of(t)
    return groups
