#!/usr/bin/env python3
"""The worked examples of docs/custom-rules.md: each rule fires on one model and is silent on another; and what is wrong with
data files is told with its place. test_custom.py [BINARY]. Standard library only. Prints `N passed, N failed`.
"""
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BINARY = str(Path(sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else "build/modelcheck").resolve())
EXAMPLES = [m.split("\n", 1) for m in re.findall(r"^### (.*?\n```json\n.*?)\n```", (ROOT / "docs/custom-rules.md").read_text(), re.S | re.M)]
EXAMPLES = {title: text.split("```json\n", 1)[1] for title, text in EXAMPLES}


def sample(where, name):
    """The sample model that ships with the project, under a name."""
    return Path(shutil.copytree(ROOT / "fixtures/sample", where / name))


def run(*args):
    p = subprocess.run([BINARY, *map(str, args)], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def edit(path, **keys):
    doc = json.loads(path.read_text())
    doc.update(keys)
    path.write_text(json.dumps(doc))


class Custom(unittest.TestCase):
    def setUp(self):
        self.dir = Path(self.enterContext(tempfile.TemporaryDirectory())) if hasattr(self, "enterContext") else Path(tempfile.mkdtemp())
        if not hasattr(self, "enterContext"):
            self.addCleanup(shutil.rmtree, self.dir)
        self.rules = self.dir / "rules"
        self.rules.mkdir()

    def example(self, title, *edits):
        text = EXAMPLES[title]
        for a, b in edits:
            self.assertIn(a, text)
            text = text.replace(a, b)
        (self.rules / "policy.json").write_text(text)

    def found(self, model, *args):
        status, out, err = run("check", "--rules", self.rules, "--format", "json", *args, model)
        self.assertEqual(err, "")
        findings = json.loads(out)["models"][0]["findings"]
        return {f["code"]: f for f in findings if f["code"].startswith("X-")}, status

    def test_every_example_is_sound(self):
        self.assertEqual(sorted(EXAMPLES), ["Dtypes", "Formats", "Licences", "Naming", "Sizes"])
        for title, text in EXAMPLES.items():
            (self.rules / f"{title}.json").write_text(text)
        self.assertEqual(run("rules", "lint", self.rules), (0, "", ""))

    def test_licences(self):
        self.example("Licences")
        m = sample(self.dir, "m")
        found, status = self.found(m)
        self.assertEqual((status, list(found)), (1, ["X-LICENSE"]))
        (m / "README.md").write_text("---\nlanguage: en\nlicense: other\n---\n# A model\n")
        self.assertIn("the licence is other", self.found(m)[0]["X-LICENSE"]["message"])
        (m / "README.md").write_text("---\nlanguage: en\nlicense: apache-2.0\n---\n# A model\n")
        self.assertEqual(self.found(m), ({}, 0))
        (m / "README.md").write_text("---\nlanguage: [" + "en, " * 400 + "]\nlicense: other\n---\n")  # beyond what is read: unknown
        self.assertEqual(self.found(m), ({}, 0))

    def test_formats(self):
        self.example("Formats")
        m = sample(self.dir, "m")
        self.assertEqual(self.found(m), ({}, 0))
        (m / "modeling_x.py").write_text("pass\n")
        self.assertEqual(list(self.found(m)[0]), ["X-NO-CODE"])
        (m / "pytorch_model.bin").write_bytes(b"\x80\x02}q\x00." + bytes(64))
        self.assertIn("X-SAFETENSORS-ONLY", self.found(m)[0])

    def test_sizes(self):
        self.example("Sizes")
        m = sample(self.dir, "m")
        self.assertEqual(self.found(m), ({}, 0))
        self.example("Sizes", ("42949672960", "12447"), ("5368709120", "8023"))
        found, status = self.found(m)
        self.assertEqual((status, sorted(found)), (1, ["X-SHARD-SIZE", "X-SIZE"]))
        self.assertIn("12448 bytes of weights", found["X-SIZE"]["message"])

    def test_dtypes(self):
        self.example("Dtypes")
        m = sample(self.dir, "m")
        self.assertEqual(self.found(m), ({}, 0))
        for f in m.glob("model-*.safetensors"):
            data = f.read_bytes()
            n = struct.unpack("<Q", data[:8])[0]
            head = data[8:8 + n].replace(b'"BF16"', b'"F16"')  # two bytes as well
            head += b" " * (n - len(head))
            f.write_bytes(data[:8] + head + data[8 + n:])
        self.assertEqual(self.found(m)[0], {})
        self.example("Dtypes", ("F32", "F16"))
        self.assertEqual(list(self.found(m)[0]), ["X-DTYPE"])
        edit(m / "config.json", quantization_config={"quant_method": "gptq", "bits": 4, "group_size": 1024, "desc_act": False, "sym": True})
        self.assertIn("X-4BIT-GROUP", self.found(m)[0])

    def test_naming(self):
        self.example("Naming")
        self.assertEqual(self.found(sample(self.dir, "tiny-7b")), ({}, 0))
        self.assertEqual(self.found(sample(self.dir, "tiny-7b-chat")), ({}, 0))
        m = sample(self.dir, "final_v2")
        found, status = self.found(m)
        self.assertEqual((status, list(found)), (0, ["X-NAME"]))  # a warning
        self.assertIn("final_v2", found["X-NAME"]["message"])
        q = sample(self.dir, "tiny-7b-small")
        edit(q / "config.json", quantization_config={"quant_method": "fp8"})
        self.assertIn("X-NAME-QUANT", self.found(q)[0])

    def test_options_take_the_codes(self):
        self.example("Naming")
        m = sample(self.dir, "final_v2")
        self.assertEqual(self.found(m, "--ignore", "X-NAME"), ({}, 0))
        self.assertEqual(self.found(m, "--ignore", "X-"), ({}, 0))
        self.assertEqual(list(self.found(m, "--select", "X-")[0]), ["X-NAME"])
        self.assertEqual(self.found(m, "--severity", "X-NAME=error")[1], 1)
        self.assertEqual(self.found(m, "--fail-on", "warning")[1], 1)

    def test_each_names_layers(self):
        (self.rules / "r.json").write_text(json.dumps({"schema": "modelcheck/rules-1", "rules": [
            {"code": "X-DOWN", "severity": "info", "each": "row_parallel", "when": {"fact": "in", "op": "eq", "args": [32]}, "message": "{tensor} has {in} inputs"}]}))
        found = self.found(sample(self.dir, "m"))[0]["X-DOWN"]
        self.assertEqual(found["count"], 2)
        self.assertEqual(found["subjects"], ["model.layers.0.mlp.down_proj", "model.layers.1.mlp.down_proj"])

    def test_faults_have_a_place(self):
        (self.rules / "bad.json").write_text('{\n  "schema": "modelcheck/rules-1",\n  "rules": [\n    {"code": "X-A", "severity": "error", "message": "{no_such}",\n'
                                             '     "when": {"fact": "nam", "op": "eq", "args": ["x"]}}\n  ]\n}\n')
        status, out, err = run("rules", "lint", self.rules)
        self.assertEqual((status, err), (1, ""))
        self.assertEqual(out.splitlines(), [f'{self.rules}/bad.json:4:53: the placeholder {{no_such}} names no fact', f'{self.rules}/bad.json:5:23: unknown fact "nam"'])
        status, out, err = run("check", "--rules", self.rules, sample(self.dir, "m"))
        self.assertEqual(status, 2)
        self.assertIn("bad.json:4:53", err)
        self.assertEqual(run("check", "--rules", self.dir / "none", self.dir / "m")[0], 2)
        self.assertEqual(run("rules", "lint", self.dir / "none")[0], 3)
        self.assertEqual(run("rules", "lint")[0], 2)
        (self.rules / "bad.json").write_text("{")
        self.assertEqual(run("rules", "lint", self.rules)[0], 1)

    def test_files_that_nothing_reads(self):
        for text, said in (('{"rules": []}', 'no "schema"'), ('{"schema": "modelcheck/rule-1", "rules": []}', 'unknown schema "modelcheck/rule-1"'), ('{"schema": ', "not JSON")):
            (self.rules / "policy.json").write_text(text)
            status, out, _ = run("rules", "lint", self.rules)
            self.assertEqual((status, said in out), (1, True), out)
            status, out, err = run("--rules", self.rules, ROOT / "fixtures/sample")
            self.assertEqual((status, out, said in err), (2, "", True), err)

    def test_every_fact_is_documented(self):
        code = (ROOT / "src/kb/fact_names.c").read_text()
        names = re.findall(r'"([a-z0-9_.]+)"', code[code.index("names[] ="):code.index("};")])
        text = (ROOT / "docs/frameworks.md").read_text()
        self.assertGreater(len(names), 90)
        self.assertEqual([n for n in names if f"`{n}`" not in text], [])

    def test_embedded_data_is_sound(self):
        self.assertEqual(run("rules", "lint", ROOT / "rules"), (0, "", ""))
        status, out, _ = run("rules", "--age")
        dates = [line.split()[0] for line in out.splitlines()[1:]]
        self.assertEqual(status, 0)
        self.assertEqual(dates, sorted(dates))


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad > 0)
