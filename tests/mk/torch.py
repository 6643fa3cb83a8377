"""PyTorch zip checkpoints: stored members <root>/data.pkl, data/<n>, version, byteorder (torch/serialization.py)."""
import struct
import zipfile

from . import payload
from .entries import expand

STORAGE = {"F32": ("FloatStorage", 4), "F16": ("HalfStorage", 2), "BF16": ("BFloat16Storage", 2), "F64": ("DoubleStorage", 8),
           "I64": ("LongStorage", 8), "I32": ("IntStorage", 4), "U8": ("ByteStorage", 1), "BOOL": ("BoolStorage", 1)}


class File:
    def __init__(self):
        self.root = None            # default: the file's stem
        self.tensors = []
        self.members = []           # extra (name, bytes)
        self.sizes = {}             # data/<n> -> size instead of the right one
        self.dropped = set()
        self.deflate = False

    def line(self, words, text):
        op, args = words[0], words[1:]
        if op == "tensor":
            options = dict((w.split("=", 1) if "=" in w else (w, "")) for w in args[3:])
            for name in expand(args[0]):
                self.tensors.append({"name": name, "dtype": args[1], "shape": payload.shape_of(args[2]), **options})
        elif op == "drop":
            for g in args:
                for n in expand(g):
                    self.tensors = [t for t in self.tensors if t["name"] != n]
        elif op == "root":
            self.root = args[0]
        elif op == "member":        # member NAME SIZE
            self.members.append((args[0], payload.make("U8", int(args[1]), args[0])))
        elif op == "resize":        # resize data/0 100
            self.sizes[args[0]] = int(args[1])
        elif op == "drop-member":
            self.dropped.add(args[0])
        elif op == "deflate":
            self.deflate = True
        else:
            raise ValueError(f"unknown line {op!r} in a torch block")

    def write(self, path):
        root = self.root or path.name.rsplit(".", 1)[0]
        members = [("data.pkl", pickle_of(self.tensors)), ("byteorder", b"little")]
        for i, t in enumerate(self.tensors):
            size = payload.elements(t["shape"]) * STORAGE[t["dtype"]][1]
            size = self.sizes.get(f"data/{i}", size)
            members.append((f"data/{i}", payload.make(t["dtype"], size, t.get("fill", t["name"]))))
        members += [("version", b"3\n")] + self.members
        kind = zipfile.ZIP_DEFLATED if self.deflate else zipfile.ZIP_STORED
        with zipfile.ZipFile(path, "w", kind) as z:
            for name, data in members:
                if name not in self.dropped:
                    z.writestr(zipfile.ZipInfo(f"{root}/{name}", (1980, 1, 1, 0, 0, 0)), data, kind)


def pickle_of(tensors):
    """A state dict, protocol 2, by hand: torch itself is not needed."""
    text = lambda s: b"X" + struct.pack("<I", len(s.encode())) + s.encode()
    num = lambda n: b"J" + struct.pack("<i", n)
    out = b"\x80\x02}("
    for i, t in enumerate(tensors):
        n, stride, strides = payload.elements(t["shape"]), 1, []
        for d in reversed(t["shape"]):
            strides.insert(0, stride)
            stride *= d
        out += text(t["name"]) + b"ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage")
        out += b"ctorch\n" + STORAGE[t["dtype"]][0].encode() + b"\n" + text(str(i)) + text("cpu") + num(n) + b"tQ" + num(0)
        out += b"(" + b"".join(map(num, t["shape"])) + b"t(" + b"".join(map(num, strides)) + b"t\x89ccollections\nOrderedDict\n)RtR"
    return out + b"u."
