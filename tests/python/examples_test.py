#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The programs in docs/examples/ run, and say what the documents promise."""
import importlib.util
import os
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import BUILD, OPS, ROOT, WithSet, python  # noqa: E402

EXAMPLES = ROOT / "docs/examples"


class Examples(WithSet):
    def run_example(self, name, *arguments, needs=()):
        for package in needs:
            if importlib.util.find_spec(package) is None:
                self.skipTest("%s is not installed" % package)
        script = (EXAMPLES / name).read_text(encoding="utf-8")
        done = python(script, *arguments, timeout=300)
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    def trace(self, folder):
        path = folder / "run.penstock"
        subprocess.run([os.path.join(BUILD, "bin", "penstock-load"), str(self.set), "--ops", OPS, "--workers", "2",
                        "--batch", "4", "--epochs", "8", "--augment-cost", "sleep:5ms", "--step-ms", "2", "--trace", str(path)], check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        return path

    def test_training_before_and_after(self):
        for name, needs in (("train_torchvision.py", ["torch", "torchvision"]), ("train_penstock.py", ["torch"])):
            said = self.run_example(name, self.set, 2, needs=needs)
            self.assertRegex(said, r"^epoch 0: \d+ images/s, accuracy [01]\.\d\d\nepoch 1: \d+ images/s, accuracy")

    def test_masks_are_learned(self):
        for package in ("numpy", "PIL", "torch"):
            if importlib.util.find_spec(package) is None:
                self.skipTest("%s is not installed" % package)
        import numpy
        from PIL import Image

        data = self.folder / "masked"
        for name in ("images", "masks"):
            (data / name).mkdir(parents=True)
        rng = numpy.random.default_rng(0)
        for i in range(48):
            # A bright disc on a dark ground.
            y, x = numpy.mgrid[0:96, 0:128]
            mask = (y - rng.integers(20, 76)) ** 2 + (x - rng.integers(20, 108)) ** 2 < rng.integers(300, 1500)
            picture = rng.integers(0, 80, (96, 128, 3)) + 160 * mask[:, :, None]
            Image.fromarray(picture.astype(numpy.uint8)).save(data / "images" / ("%02d.jpg" % i), quality=90)
            Image.fromarray(mask.astype(numpy.uint8)).save(data / "masks" / ("%02d.png" % i))
        said = self.run_example("segment_penstock.py", data, 3)
        shares = [int(one) for one in re.findall(r"(?m)^epoch \d: (\d+) % of the pixels right", said)]
        self.assertEqual(3, len(shares), said)
        self.assertGreater(shares[-1], 95)

    def test_a_trace_is_asked(self):
        said = self.run_example("ask_trace.py", self.trace(self.folder), needs=["numpy"])
        self.assertRegex(said, r"^verdict: \w+, waiting \d+ %")
        self.assertEqual(3, len(re.findall(r"ms  \S*/class\d/\d+\.jpg$", said, re.M)), said)
        self.assertRegex(said, r"waits: median [\d.]+ ms")
        self.assertEqual(3, len(re.findall(r"^\d workers: \d+ samples/s", said, re.M)), said)

    def test_a_fleet_is_asked(self):
        self.trace(self.folder)
        (self.folder / "broken.penstock").write_bytes(b"nothing")
        said = self.run_example("fleet.py", self.folder / "*.penstock", self.folder / "lake", needs=["numpy", "pyarrow"])
        self.assertIn("unreadable: 1", said)
        self.assertRegex(said, r"(?m)^\w+ +1 runs, +\d+ s of waiting$")

    def test_the_recipes_for_engines_run(self):
        for package in ("numpy", "pyarrow", "duckdb", "dask"):
            if importlib.util.find_spec(package) is None:
                self.skipTest("%s is not installed" % package)
        import penstock

        penstock.open_many([self.trace(self.folder)]).to_parquet(self.folder / "lake")
        text = (ROOT / "docs/fleet.md").read_text(encoding="utf-8")
        recipes = [one for one in re.findall(r"```python\n(.*?)```", text, re.S) if "spark" not in one]
        self.assertEqual(3, len(recipes))
        done = python("\n".join(recipes) + "\nprint(runs.columns.tolist())", timeout=300, cwd=str(self.folder))
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("hours_waiting", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
