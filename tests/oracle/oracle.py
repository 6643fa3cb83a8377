#!/usr/bin/env python3
"""Compare modelcheck's header parsers with the reference readers on mutated files: oracle.py [-n N] [--seed S] [FORMAT...]

Each file comes from its own number (`--only K` makes file K again). modelcheck judges it in this process, through the public
C API of build/libmodelcheck.so; the reference in a forked child. It is a failure

  * when modelcheck accepts what the reference refuses (laxer), unless LAXER names the reason;
  * when modelcheck refuses what the reference accepts (stricter), unless STRICTER lists the rule that says why;
  * when a shorter prefix of the file gives another verdict than the whole, or the parser wants bytes the file does not have;
  * and, of course, when the parser takes the process down.

A file that fails is left in build/oracle/. A reference that cannot be had is skipped by name.
"""
import argparse
import collections
import ctypes
import random
import sys
import time
from pathlib import Path

import gguf_files
import reference
import st_files

ROOT = Path(__file__).resolve().parents[2]

#: (format, code) -> why we refuse what the reference takes
STRICTER = {
    ("safetensors", "MC303"): "a name twice: the reference keeps the last entry, other readers the first or refuse",
    ("safetensors", "MC901"): "deeper than 64, or more than 16 dimensions: our limits, reported as not checked",
    ("gguf", "MC608"): "a type that no current reader computes with",
    ("gguf", "MC901"): "our limits, reported as not checked",
}
#: where a reason depends on more than the code: (format, code) -> test(bytes)
STRICTER_IF = {
    ("gguf", "MC603"): (gguf_files.wraps, "2^63 elements or more: the reference's guard multiplies with wrap-around and misses it"),
    ("gguf", "MC605"): (gguf_files.short, "tensor data is not within the file: the reference does not look at it without loading, llama.cpp refuses"),
}
#: (format) -> [(test(bytes), reason)]: what the reference refuses only for a reason that is not the file's
LAXER = {
    "safetensors": [],
    "gguf": [(lambda raw: raw[4:8] != b"\0\0\0\0" and raw[4:6] == b"\0\0", "byte-swapped: legal on a big-endian host, the reference here runs on a little-endian one")],
}
MAKERS = {"safetensors": (st_files.make, reference.Safetensors), "gguf": (gguf_files.make, reference.Gguf)}
BATCH = 250


class Ours:
    def __init__(self, path):
        self.lib = ctypes.CDLL(str(path))
        self.lib.modelcheck_header.restype = ctypes.c_int
        self.lib.modelcheck_header.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64, ctypes.POINTER(ctypes.c_char_p)]

    def header(self, kind, raw, n=None):
        """"" accepted, a rule code refused, "more" when bytes are wanted."""
        why = ctypes.c_char_p()
        got = self.lib.modelcheck_header(kind.encode(), raw, len(raw) if n is None else n, len(raw), ctypes.byref(why))
        return "" if got == 0 else "more" if got < 0 else (why.value or b"?").decode()


def judge(kind, raw, ours, theirs):
    """(class, complaint or "")."""
    if ours == "more":
        return "wants more", "the parser wants more bytes than the file has"
    if ours == "" and theirs == "":
        return "both accept", ""
    if ours and theirs:
        return "both refuse", ""
    if theirs:
        for test, reason in LAXER[kind]:
            if test(raw):
                return f"laxer: {reason}", ""
        return "LAXER", f"accepted, but the reference refuses: {theirs}"
    if (kind, ours) in STRICTER:
        return f"stricter, {ours}: {STRICTER[kind, ours]}", ""
    if (kind, ours) in STRICTER_IF and STRICTER_IF[kind, ours][0](raw):
        return f"stricter, {ours}: {STRICTER_IF[kind, ours][1]}", ""
    return "STRICTER", f"{ours}, but the reference accepts and no listed rule says why"


def prefixes(rnd, lib, kind, raw, ours):
    """A shorter prefix must ask for more or agree."""
    n = rnd.choice([0, 1, 8, rnd.randint(0, len(raw)), min(len(raw), 1024), max(0, len(raw) - 1)])
    early = lib.header(kind, raw, min(n, len(raw)))
    if early not in ("more", ours):
        return f"{early or 'accepted'} from the first {n} bytes of {len(raw)}, {ours or 'accepted'} from all"
    return ""


def report(kind, index, raw, steps, complaint):
    out = ROOT / "build/oracle"
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{kind}-{index}.bin"
    path.write_bytes(raw)
    print(f"{kind} file {index} ({', '.join(steps) or 'unchanged'}; {len(raw)} bytes, {path}): {complaint}", flush=True)


def run(kind, indexes, seed, lib, reader):
    """Classes and their counts, and how many failed."""
    make = MAKERS[kind][0]
    seen, failed = collections.Counter(), 0
    for at in range(0, len(indexes), BATCH):
        made = [(i, *make(random.Random(f"{kind}/{seed}/{i}"))) for i in indexes[at:at + BATCH]]
        theirs = reference.ask(reader, [raw for _, raw, _ in made])
        for (i, raw, steps), their in zip(made, theirs):
            our = lib.header(kind, raw)
            what, complaint = judge(kind, raw, our, their)
            complaint = complaint or prefixes(random.Random(i), lib, kind, raw, our)
            seen[what] += 1
            if complaint:
                failed += 1
                if failed <= 20 or what == "LAXER":
                    report(kind, i, raw, steps, complaint)
            if len(indexes) == 1:
                print(f"modelcheck: {our or 'accepted'}; reference: {their or 'accepted'}")
    return seen, failed


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("-n", type=int, default=4000, help="files of each format")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--only", type=int, help="this file alone")
    ap.add_argument("--lib", default=ROOT / "build/libmodelcheck.so")
    ap.add_argument("formats", nargs="*", default=list(MAKERS))
    a = ap.parse_args()
    lib, passed, failed = Ours(a.lib), 0, 0
    for kind in a.formats:
        try:
            reader = MAKERS[kind][1](ROOT)
        except reference.Missing as e:
            print(f"SKIPPED {kind}: {e} is not here and could not be fetched")
            continue
        began = time.monotonic()
        indexes = range(a.n) if a.only is None else [a.only]
        seen, bad = run(kind, indexes, a.seed, lib, reader)
        print(f"{kind}: {len(indexes)} files against {reader.name} in {time.monotonic() - began:.1f} s")
        for what, n in seen.most_common():
            print(f"  {n:7d}  {what}")
        passed, failed = passed + len(indexes) - bad, failed + bad
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
