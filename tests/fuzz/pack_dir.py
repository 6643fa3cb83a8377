#!/usr/bin/env python3
"""Packs a directory into one input of the fuzz target `dir`: pack_dir.py DIR OUT. Only names that the target knows."""
import re
import sys
from pathlib import Path

source = (Path(__file__).resolve().parent / "dir.c").read_text()
names = re.findall(r'"([^"]+)"', source[source.index("names[]"):source.index("};")])
out = b""
for f in sorted(Path(sys.argv[1]).rglob("*")):
    name = f.relative_to(sys.argv[1]).as_posix()
    if f.is_file() and name in names and f.stat().st_size < 65536:
        data = f.read_bytes()
        out += bytes([names.index(name)]) + len(data).to_bytes(2, "little") + data
Path(sys.argv[2]).write_bytes(out)
