#!/usr/bin/env python3
"""Build a model directory from a recipe: mkmodel.py RECIPE OUTDIR (writes OUTDIR/model/...).

A recipe is read line by line; the first word of a line is a directive, indented lines belong to the block above.
`#` begins a comment line. Words are split as a shell does ('single' and "double" quotes). Paths are relative to
model/; ../NAME reaches the directory beside it. Directives:

  include NAME                 run fixtures/NAME.recipe
  mkdir PATH
  text PATH WORDS...           a text file of one line; `text PATH <<END` takes the lines up to END
  bytes PATH "TEXT"            exact bytes, \\n \\0 \\xff as in Python, no newline added
  hex PATH HEX...              exact bytes
  fill PATH SIZE               SIZE deterministic bytes
  json PATH JSON               a JSON file, indented; `json PATH <<END` for several lines
  set PATH /POINTER JSON       sets a value of a JSON file (makes objects on the way; - appends to an array)
  delete PATH /POINTER         removes one
  tokenizer PATH SIZE [ID=TEXT...]   a tokenizer.json of SIZE tokens, 0..2 or the given ids special
  copy-fixture NAME PATH       a file of fixtures/, byte for byte, or a directory; .xz is unpacked and the ending dropped
  spread PATH SIZE OFF+LEN...  PATH's bytes put at these places of a sparse file of SIZE bytes, one run after the other

  safetensors PATH             a block; a second block of the same path adds to the first
    tensor NAME DTYPE SHAPE [at=B:E] [bytes=N] [entry=JSON] [fill=NAME] [zero] [hex=HEX] [ints=LIST] [text=TEXT]
                               NAME may hold {0..3} and {a,b}; SHAPE is 96x64, scalar, or text: as long as TEXT; fill=NAME:
                               contents of that name; hex: repeated; ints=0..255//128 or ints=3,1,2 (the last repeated)
    meta KEY VALUE | no-meta   default: format=pt
    drop NAME... | rename GLOB NEW | prefix OLD NEW | retype GLOB DTYPE | reshape GLOB SHAPE | option GLOB at=0:4...
    gap NAME N                 N unused bytes in front of a tensor
    header TEXT                this text instead of the generated header
    header-length N            this number in the first eight bytes
    pad N                      header padded to N (default 8), 0: not at all
    trailing HEX | *N          bytes behind the data
  shards STEM N                splits STEM.safetensors into N numbered files and writes STEM.safetensors.index.json
  index PATH SHARD...          writes an index of these safetensors files (again)
  gguf PATH                    a block
    version N | big-endian | align N | magic HEX | no-final-pad | trailing HEX | *N
    kv KEY TYPE VALUE...       types u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 bool str; [T] is an array whose value is words,
                               JSON, A..B, or *N (N distinct texts); [[T]] nests
    set-kv KEY TYPE VALUE... | drop-kv GLOB | raw-kv HEX (a counted pair as raw bytes)
    tensor NAME TYPE SHAPE [at=N] [id=N] [bytes=N] [dims=N] [fill=NAME] [zero] [hole]    SHAPE as GGUF stores it: 64x96 = 64 wide
    drop NAME... | rename GLOB NEW | retype GLOB TYPE | reshape GLOB SHAPE | option GLOB ... | raw-tensor HEX
    tensor-count N | kv-count N       these numbers in the header
  gguf-split PATH N            STEM.gguf becomes STEM-00001-of-0000N.gguf ...
  torch PATH                   a block: tensor (as above), root NAME, member NAME SIZE, resize data/0 N, drop-member NAME, deflate
  edit PATH                    a block with lines for a file that already exists (safetensors, gguf, torch)
  derive PATH FROM             a copy of FROM that can be edited on its own

  truncate PATH N|-N           cut to N bytes, or by N bytes
  append PATH HEX|*N           patch PATH OFFSET HEX      (a negative offset counts from the end)
  size PATH N                  sparse file of N bytes (keeps what is there)
  lfs PATH [SIZE]              a Git LFS pointer instead of the file (or of a file of SIZE bytes)
  symlink PATH TARGET | fifo PATH | socket PATH | chmod PATH 000
  remove GLOB | rename PATH NEW | copy PATH NEW
"""
import copy
import hashlib
import json
import lzma
import os
import re
import shlex
import shutil
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from mk import entries, gguf, payload, st, tokenizer, torch  # noqa: E402

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
BLOCKS = {"safetensors": st.File, "gguf": gguf.File, "torch": torch.File}


class Recipe:
    def __init__(self, out):
        self.out = Path(out).resolve()
        self.root = self.out / "model"
        self.root.mkdir(parents=True, exist_ok=True)
        self.files = {}             # path -> description of a weight file

    def path(self, name):
        """Inside the output directory, links not followed; parents are made."""
        p = Path(os.path.normpath(self.root / name))
        if p != self.out and self.out not in p.parents:
            raise ValueError(f"{name} leaves the output directory")
        p.parent.mkdir(parents=True, exist_ok=True)
        return p

    # -- reading ---------------------------------------------------------------------------
    def run(self, recipe):
        lines = recipe.read_text(encoding="utf-8").split("\n")
        at = 0
        while at < len(lines):
            number, line = at + 1, lines[at]
            at += 1
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            try:
                if line[0] in " \t":
                    raise ValueError("an indented line without a block above it")
                here = re.search(r"<<(\w+)$", line)
                if here:
                    end = lines.index(here.group(1), at)
                    self.do(shlex.split(line[:here.start()]), "\n".join(lines[at:end]), line, True)
                    at = end + 1
                    continue
                body = []
                while at < len(lines) and (lines[at][:1] in (" ", "\t") or not lines[at].strip()):
                    if lines[at].strip() and not lines[at].lstrip().startswith("#"):
                        body.append((at + 1, lines[at].strip()))
                    at += 1
                free = line.split(None, 1)[0] in ("text", "json", "set")     # the rest of the line is taken as it stands
                words = line.split(None, 3) if free else shlex.split(line)
                if words[0] in BLOCKS or words[0] == "edit":
                    number = self.block(words, body) or number
                elif body:
                    raise ValueError(f"{words[0]} takes no indented lines")
                else:
                    self.do(words, None, line, False)
            except (ValueError, KeyError, IndexError, OSError, AttributeError) as e:
                sys.exit(f"{recipe}:{getattr(e, 'line', number)}: {type(e).__name__}: {e}")

    def block(self, words, body):
        kind, name = words
        if kind == "edit":
            f = self.files[name]
        else:
            f = self.files.setdefault(name, BLOCKS[kind]())
        for number, text in body:
            try:
                f.line(text.split(None, 1) if text.startswith("header ") else shlex.split(text), text)
            except Exception as e:
                e.line = number
                raise
        self.flush(name)

    def flush(self, name):
        self.files[name].write(self.free(name))

    def do(self, words, here, line, is_here):
        op, args = words[0], words[1:]
        method = getattr(self, "do_" + op.replace("-", "_"), None)
        if not method:
            raise ValueError(f"unknown directive {op!r}")
        if op in ("text", "json", "set"):
            rest = here if is_here else line.split(None, 3 if op == "set" else 2)[-1]
            method(*args[:2 if op == "set" else 1], rest)
        else:
            method(*args)

    # -- whole files -----------------------------------------------------------------------
    def do_include(self, name):
        self.run(FIXTURES / f"{name}.recipe")

    def do_mkdir(self, name):
        self.path(name).mkdir(parents=True, exist_ok=True)

    def do_text(self, name, text):
        self.path(name).write_text(text + "\n", encoding="utf-8")

    def do_bytes(self, name, text=""):
        self.path(name).write_bytes(text.encode("latin-1", "backslashreplace").decode("unicode_escape").encode("latin-1"))

    def do_hex(self, name, *digits):
        self.path(name).write_bytes(entries.blob(digits))

    def do_fill(self, name, size):
        self.path(name).write_bytes(payload.make("U8", int(size), name))

    def do_json(self, name, text):
        self.save_json(name, json.loads(text))

    def do_tokenizer(self, name, size, *specials):
        special = dict(s.split("=", 1) for s in specials) or {"0": "<pad>", "1": "<s>", "2": "</s>"}
        self.save_json(name, tokenizer.document(int(size), {int(k): v for k, v in special.items()}))

    def do_copy_fixture(self, fixture, name):
        source = FIXTURES / fixture
        for f in sorted(source.rglob("*")) if source.is_dir() else [source]:
            if f.is_file():
                to = self.path(name if f == source else f"{name}/{f.relative_to(source)}")
                data = lzma.decompress(f.read_bytes()) if f.suffix == ".xz" else f.read_bytes()
                (to.with_suffix("") if to.suffix == ".xz" else to).write_bytes(data)

    def do_spread(self, name, size, *runs):
        p, at = self.path(name), 0
        data = p.read_bytes()
        with open(p, "wb") as f:
            for run in runs:
                offset, length = map(int, run.split("+"))
                f.seek(offset)
                f.write(data[at:at + length])
                at += length
            f.truncate(int(size))

    def save_json(self, name, doc):
        self.path(name).write_text(json.dumps(doc, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def at_pointer(self, name, pointer, make):
        doc = json.loads(self.path(name).read_text(encoding="utf-8"))
        steps = [s.replace("~1", "/").replace("~0", "~") for s in pointer.split("/")[1:]]
        node = doc
        for s in steps[:-1]:
            if isinstance(node, list):
                node = node[int(s)]
            else:
                node = node.setdefault(s, {}) if make else node[s]
        return doc, node, steps[-1]

    def do_set(self, name, pointer, text):
        doc, node, last = self.at_pointer(name, pointer, True)
        value = json.loads(text)
        if isinstance(node, list) and last == "-":
            node.append(value)
        else:
            node[int(last) if isinstance(node, list) else last] = value
        self.save_json(name, doc)

    def do_delete(self, name, pointer):
        doc, node, last = self.at_pointer(name, pointer, False)
        del node[int(last) if isinstance(node, list) else last]
        self.save_json(name, doc)

    # -- sets ------------------------------------------------------------------------------
    def do_shards(self, stem, n):
        n, whole = int(n), self.files.pop(f"{stem}.safetensors")
        self.path(f"{stem}.safetensors").unlink()
        names = [f"{stem}-{i + 1:05d}-of-{n:05d}.safetensors" for i in range(n)]
        for name, group in zip(names, st.split(whole, n)):
            part = copy.deepcopy(whole)
            part.tensors = copy.deepcopy(group)
            self.files[name] = part
            self.flush(name)
        self.do_index(f"{stem}.safetensors.index.json", *names)

    def do_index(self, name, *shards):
        base = name.rpartition("/")[0]
        base = base + "/" if base else ""
        names = [s if not base or s.startswith(base) else base + s for s in shards]
        total = sum(self.files[s].data_bytes() for s in names)
        weight_map = {t["name"]: s[len(base):] for s in names for t in self.files[s].tensors}
        self.save_json(name, {"metadata": {"total_size": total}, "weight_map": dict(sorted(weight_map.items()))})

    def do_gguf_split(self, name, n):
        whole, stem = self.files.pop(name), name[:-len(".gguf")]
        self.path(name).unlink()
        for i, part in enumerate(gguf.split(whole, int(n))):
            part_name = f"{stem}-{i + 1:05d}-of-{int(n):05d}.gguf"
            self.files[part_name] = part
            self.flush(part_name)

    def do_derive(self, name, source):
        self.files[name] = copy.deepcopy(self.files[source])
        self.flush(name)

    # -- damage ----------------------------------------------------------------------------
    def do_truncate(self, name, n):
        p = self.path(name)
        os.truncate(p, int(n) if not n.startswith("-") else p.stat().st_size + int(n))

    def do_append(self, name, *what):
        with open(self.path(name), "ab") as f:
            f.write(entries.blob(what))

    def do_patch(self, name, offset, *digits):
        with open(self.path(name), "r+b") as f:
            f.seek(int(offset, 0), 2 if offset.startswith("-") else 0)
            f.write(entries.blob(digits))

    def do_size(self, name, n):
        with open(self.path(name), "ab") as f:
            f.truncate(int(n))

    def do_lfs(self, name, size=None):
        p = self.path(name)
        n = int(size) if size else p.stat().st_size
        oid = hashlib.sha256(name.encode()).hexdigest()
        p.write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {n}\n")

    def free(self, name):
        """The path, with nothing there."""
        p = self.path(name)
        if p.is_symlink() or p.exists():
            p.unlink()
        return p

    def do_symlink(self, name, target):
        self.free(name).symlink_to(target)

    def do_fifo(self, name):
        os.mkfifo(self.free(name))

    def do_socket(self, name):
        s = socket.socket(socket.AF_UNIX)
        here = os.getcwd()
        os.chdir(self.free(name).parent)    # socket names are limited to about 100 bytes
        try:
            s.bind(Path(name).name)
        finally:
            os.chdir(here)
            s.close()

    def do_chmod(self, name, mode):
        self.path(name).chmod(int(mode, 8))

    def do_remove(self, glob):
        hits = sorted(self.root.glob(glob))
        if not hits:
            raise ValueError(f"nothing matches {glob!r}")
        for p in hits:
            shutil.rmtree(p) if p.is_dir() and not p.is_symlink() else p.unlink()

    def do_rename(self, name, new):
        self.path(name).rename(self.path(new))
        if name in self.files:
            self.files[new] = self.files.pop(name)

    def do_copy(self, name, new):
        source = self.path(name)
        if source.is_dir():
            shutil.copytree(source, self.path(new), symlinks=True)
        else:
            shutil.copyfile(source, self.path(new))
        if name in self.files:
            self.files[new] = copy.deepcopy(self.files[name])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    Recipe(sys.argv[2]).run(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
