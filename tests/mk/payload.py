"""Tensor contents: the same for the same name on every run, finite, not zero; holes when large."""
import random

#: larger payloads are left as holes of a sparse file
HOLE_FROM = 1 << 20

#: bits of one element of a safetensors dtype
BITS = {"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
        "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32,
        "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64}


def shape_of(word):
    """'96x64' -> [96, 64]; 'scalar' -> []."""
    return [] if word == "scalar" else [int(n) for n in word.split("x")]


def elements(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def make(dtype, size, name):
    """`size` bytes for a tensor; every float is small and finite, no byte run is zero."""
    rnd = random.Random(dtype + "/" + name)
    out = bytearray(rnd.randbytes(size))
    if dtype in ("F16", "BF16", "F32", "F64", "C64"):
        step = {"F16": 2, "BF16": 2, "F64": 8}.get(dtype, 4)
        out[step - 1::step] = b"\x3c" * len(out[step - 1::step])
    elif dtype == "BOOL":
        out = bytearray(b"\x01" * size)
    else:
        out = bytearray((b & 0x3f) | 0x20 for b in out)
    return bytes(out)


def stated(dtype, size, options):
    """Contents that a tensor line spells out, or None: hex=77777777 (repeated to the size), text={...} (as it is),
    ints=0..255//128 (i // 128 for each i) or ints=3,1,2 (the last one repeated)."""
    if "hex" in options:
        pattern = bytes.fromhex(options["hex"])
        return (pattern * (size // len(pattern) + 1))[:size]
    if "text" in options:
        return options["text"].encode()[:size].ljust(size, b" ")
    if "ints" in options:
        width = BITS[dtype] // 8
        if ".." in options["ints"]:
            run, _, by = options["ints"].partition("//")
            first, last = (int(x) for x in run.split(".."))
            values = [i // int(by or 1) for i in range(first, last + 1)]
        else:
            values = [int(x) for x in options["ints"].split(",")]
        values += values[-1:] * (size // width - len(values))
        return b"".join(v.to_bytes(width, "little", signed=v < 0) for v in values)[:size]
    return None


def put(f, dtype, size, name, zero, options={}):
    """Writes a payload at the file position, or leaves a hole of that size."""
    data = stated(dtype, size, options)
    if data is not None:
        f.write(data)
    elif zero or size >= HOLE_FROM:
        f.seek(size, 1)
    else:
        f.write(make(dtype, size, name))
