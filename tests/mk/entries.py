"""What the blocks of both formats have in common: a list of tensors, and the lines that change it."""
import fnmatch

from . import payload


def expand(word):
    """Brace expansion of names: x.{0..3}.{q,k} -> eight names."""
    at = word.find("{")
    end = word.find("}", at)
    if at < 0 or end < 0:
        return [word]
    body = word[at + 1:end]
    if ".." in body:
        a, b = body.split("..")
        choices = [str(i) for i in range(int(a), int(b) + 1)]
    else:
        choices = body.split(",")
    return [word[:at] + c + rest for c in choices for rest in expand(word[end + 1:])]


def blob(words):
    """'*N' -> N bytes of 0xAA; otherwise hex digits."""
    if len(words) == 1 and words[0].startswith("*"):
        return b"\xaa" * int(words[0][1:])
    return bytes.fromhex("".join(words))


class Entries:
    """Tensors as dictionaries: name, the keys that TYPE and SHAPE name, and the options of their line."""

    TYPE = SHAPE = ""

    def __init__(self):
        self.tensors = []

    def find(self, glob):
        hits = [t for t in self.tensors if fnmatch.fnmatchcase(t["name"], glob)]
        if not hits:
            raise ValueError(f"no tensor matches {glob!r}")
        return hits

    def shape_of(self, word, options):
        return payload.shape_of(word)

    def change(self, op, args):
        """Carries out a line that is the same in every format; False: it is none of those."""
        if op == "tensor":
            options = dict((w.split("=", 1) if "=" in w else (w, "")) for w in args[3:])
            for name in expand(args[0]):
                self.tensors.append({"name": name, self.TYPE: args[1], self.SHAPE: self.shape_of(args[2], options), **options})
        elif op == "drop":
            gone = [t for g in args for n in expand(g) for t in self.find(n)]
            self.tensors = [t for t in self.tensors if t not in gone]
        elif op == "retype":
            for t in self.find(args[0]):
                t[self.TYPE] = args[1]
        elif op == "reshape":
            for t in self.find(args[0]):
                t[self.SHAPE] = payload.shape_of(args[1])
        elif op == "option":
            for t in self.find(args[0]):
                t.update(dict((w.split("=", 1) if "=" in w else (w, "")) for w in args[1:]))
        elif op == "rename":
            for t in self.find(args[0]):
                t["name"] = args[1]
        else:
            return False
        return True
