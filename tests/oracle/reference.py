"""The reference readers, asked in a forked child with limits, so that a crash is a verdict and not the end of the run.

    safetensors   the package of that name (PyPI): safetensors.deserialize
    gguf          ggml's gguf_init_from_file, in libggml-base.so of the npm package @node-llama-cpp/linux-x64
"""
import ctypes
import os
import resource
import select
import signal
import sys
import tempfile
from pathlib import Path

LOG = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
SECONDS = 20            # for one file
MEMORY = 3 << 30


class Missing(Exception):
    """A package cannot be had here."""


class Safetensors:
    def __init__(self, root):
        for lib in sorted(Path(root, "build/venv").glob("lib/python3*/site-packages")):
            sys.path.append(str(lib))
        try:
            import safetensors
        except ImportError as e:
            raise Missing(f"the safetensors package of PyPI ({e})") from e
        self.deserialize = safetensors.deserialize
        self.name = f"safetensors {safetensors.__version__}"

    def read(self, raw, path):
        try:
            self.deserialize(raw)
        except Exception as e:      # the binding has one class of its own and some of Python's
            return f"{type(e).__name__}: {e}"
        return ""


class Params(ctypes.Structure):
    _fields_ = [("no_alloc", ctypes.c_bool), ("ctx", ctypes.c_void_p)]


class Gguf:
    def __init__(self, root):
        found = sorted(Path(root, "build/ggml").glob("*/package/bins/linux-x64/libggml-base.so"))
        if not found:
            raise Missing("libggml-base.so of the npm package @node-llama-cpp/linux-x64")
        self.lib = ctypes.CDLL(str(found[-1]))
        self.lib.gguf_init_from_file.restype = ctypes.c_void_p
        self.lib.gguf_init_from_file.argtypes = [ctypes.c_char_p, Params]
        self.lib.gguf_free.argtypes = [ctypes.c_void_p]
        self.texts = []
        self.log = LOG(lambda level, text, user: self.texts.append(text))
        self.lib.ggml_log_set(self.log, None)
        self.name = f"ggml of @node-llama-cpp/linux-x64 {found[-1].parents[3].name}"

    def read(self, raw, path):
        path.write_bytes(raw)
        self.texts.clear()
        g = self.lib.gguf_init_from_file(os.fsencode(path), Params(True, None))
        if g:
            self.lib.gguf_free(g)
            return ""
        return (b"".join(self.texts).decode("utf-8", "replace").strip() or "refused").replace("\n", " | ")


def child(reader, files, write):
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as d:
        for raw in files:
            signal.alarm(SECONDS)
            answer = reader.read(raw, Path(d, "x"))
            os.write(write, answer.encode("utf-8", "replace")[:300].replace(b"\n", b" ") + b"\n")


def ask(reader, files):
    """One text a file: "" accepted, "crash: ..." when the reader died of it, else why it was refused."""
    answers = []
    while len(answers) < len(files):
        r, w = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(r)
            try:
                child(reader, files[len(answers):], w)
            finally:
                os._exit(0)
        os.close(w)
        text = b""
        while select.select([r], [], [], 4 * SECONDS)[0]:
            more = os.read(r, 1 << 16)
            if not more:
                break
            text += more
        else:
            os.kill(pid, signal.SIGKILL)
        os.close(r)
        _, status = os.waitpid(pid, 0)
        answers += [line.decode("utf-8", "replace") for line in text.split(b"\n")[:-1]]
        if len(answers) < len(files):       # the next file was its last
            how = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"
            answers.append(f"crash: {how}")
    return answers
