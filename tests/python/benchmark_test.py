#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""benchmarks/python_api.py and accuracy.py run, in a short form: their figures mean nothing here."""
import importlib.util
import json
import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import BUILD, OPS, ROOT, WithSet  # noqa: E402


class Benchmark(WithSet):
    def measured(self, what, *arguments):
        path = self.folder / (what + ".json")
        done = subprocess.run([sys.executable, "-B", str(ROOT / "benchmarks/python_api.py"), what, "--build", BUILD,
                               "--python", sys.executable, "--json", str(path), *map(str, arguments)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=300)  # fmt: skip
        self.assertEqual(0, done.returncode, done.stderr)
        return json.loads(path.read_text())[what], done.stdout

    def test_the_loader_is_compared_with_the_command(self):
        measured, said = self.measured("loader", "--data", self.set, "--ops", OPS, "--output", "f32", "--batch", 4,
                                       "--pairs", 2, "--warmup", 0, "--seconds", 0.1, "--arrays", "memoryview")  # fmt: skip
        self.assertEqual(2, len(measured["rounds"]))
        self.assertGreater(measured["ratio"], 0)
        self.assertRegex(said, r"(?m)^loader: python is [\d.]+ x the command \([\d.]+ to [\d.]+, [\d.]+ %\)$")

    def test_marks_are_measured(self):
        measured, said = self.measured("mark", "--repeats", 3)
        self.assertEqual({"mark", "decorated", "step", "batch"}, set(measured))
        self.assertRegex(said, r"(?m)^mark: batch +-?[\d.]+ ns more")

    def test_the_columns_of_a_trace_are_measured(self):
        if importlib.util.find_spec("numpy") is None:
            self.skipTest("NumPy is missing")
        path = self.folder / "run.penstock"
        subprocess.run([os.path.join(BUILD, "bin", "penstock-load"), str(self.set), "--ops", OPS, "--trace", str(path)],
                       check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        measured, said = self.measured("trace", "--trace", path, "--rounds", 1, "--warmup", 0)
        self.assertGreater(measured["all"][0]["columns_mb"], measured["two"][0]["columns_mb"])
        self.assertEqual(2, said.count("trace: "))

    def test_what_is_not_there_is_a_usage_error(self):
        done = subprocess.run([sys.executable, "-B", str(ROOT / "benchmarks/python_api.py"), "loading"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)  # fmt: skip
        self.assertEqual(2, done.returncode)
        self.assertIn("there is no loading", done.stderr)

    def test_both_pipelines_train_a_network(self):
        for package in ("torch", "torchvision", "PIL"):
            if importlib.util.find_spec(package) is None:
                self.skipTest("%s is missing" % package)
        path = self.folder / "accuracy.json"
        done = subprocess.run([sys.executable, "-B", str(ROOT / "benchmarks/accuracy.py"), "--build", BUILD, "--data",
                               str(self.set), "--seeds", "2", "--epochs", "1", "--batch", "4", "--size", "16", "--flip",
                               "--workers", "0", "--json", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, timeout=300)  # fmt: skip
        self.assertIn(done.returncode, (0, 1), done.stderr)  # a network of four steps knows nothing
        measured = json.loads(path.read_text())
        self.assertEqual(4, len(measured["runs"]))
        self.assertEqual(done.returncode == 0, measured["within"])
        self.assertLessEqual(measured["low"], measured["difference"])
        self.assertRegex(done.stdout, r"(?m)^accuracy: penstock - torchvision: [+-][\d.]+ \([+-][\d.]+ to [+-][\d.]+\), p")


if __name__ == "__main__":
    unittest.main(verbosity=2)
