"""Directories as real quantizers wrote them, made again from fixtures/written/NAME.json.

A description holds the side files as text and, for each weight file, its tensors in the order of the file ("NAME": "I32 64x256"),
`metadata`, and `data`: the small payloads that a reader looks at (quantization states, shapes, zero points, group indices). `keys`: "sorted" when
the header is. Data are text, or integers of the tensor's type, or "V*N" for N times V, or hexadecimal bytes for other types. Everything else is a hole.
Standard library only.
"""
import json
import struct
from pathlib import Path

BITS = {"BOOL": 8, "U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "I16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "I64": 64}
INTEGERS = {"U8": "B", "I8": "b", "I16": "h", "I32": "i", "I64": "q"}


def shape_of(text):
    return [] if text == "scalar" else [int(n) for n in text.split("x")]


def payload(dtype, data):
    if isinstance(data, list):
        values = []
        for v in data:
            value, _, times = str(v).partition("*")
            values += [int(value)] * int(times or 1)
        return struct.pack(f"<{len(values)}{INTEGERS[dtype]}", *values)
    return data.encode() if dtype == "U8" else bytes.fromhex(data)


def weight_file(path, w):
    head, at, places = {}, 0, []
    for name, text in w["tensors"].items():
        dtype, dims = text.split()
        shape = shape_of(dims)
        bits = BITS[dtype]
        for n in shape:
            bits *= n
        head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + bits // 8]}
        if name in w.get("data", {}):
            data = payload(dtype, w["data"][name])
            if len(data) != bits // 8:
                raise ValueError(f"{path.name}: {name}: {len(data)} bytes for {bits // 8}")
            places.append((at, data))
        at += bits // 8
    if "metadata" in w:
        head = {"__metadata__": w["metadata"], **head}
    mlx = w.get("keys") == "sorted"     # MLX sorts all keys and pads nothing
    text = json.dumps(head, separators=(",", ":"), ensure_ascii=False, sort_keys=mlx).encode()
    text += b"" if mlx else b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        f.truncate(8 + len(text) + at)
        for begin, data in places:
            f.seek(8 + len(text) + begin)
            f.write(data)


def build(description, out):
    """Makes the directory; returns what the description says of it."""
    d = json.loads(Path(description).read_text())
    for name, text in d["files"].items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text)
    for name, w in d["weights"].items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        weight_file(out / name, w)
    return d
