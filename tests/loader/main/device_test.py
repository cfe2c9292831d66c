#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""penstock-load with stages on a device, on machines with and without a GPU.

Needs no packages. PENSTOCK_BIN names the folder of the programs.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

LOAD = os.path.join(os.environ.get("PENSTOCK_BIN", "build/release/bin"), "penstock-load")
SOURCE = ["synthetic:100", "--batch", "16"]
# Bytes that are only moved: a device's are the CPU's.
EXACT = ["--ops", "crop=64x48:top=5:left=8,flip,vflip", "--output", "u8", "--digest"]


def run(*arguments, status=0):
    done = subprocess.run([LOAD, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert status in (None, done.returncode), (arguments, done.returncode, done.stdout, done.stderr)
    return done


def report(*arguments):
    return json.loads(run(*SOURCE, *arguments, "--json").stdout)


class PlacementTest(unittest.TestCase):
    def test_cuda_without_a_gpu_is_one_line_and_status_1(self):
        done = run(*SOURCE, "--device", "cuda", status=None)
        if done.returncode == 0:
            self.skipTest("this machine has a GPU")
        for options in (["--device", "cuda"], ["--gpu", "augment"], ["--gpu", "decode,augment"],
                        ["--device", "cuda:3", "--json"]):
            done = run(*SOURCE, *options, status=1)
            self.assertEqual("", done.stdout)
            self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)
            self.assertIn("CUDA is unavailable", done.stderr)

    def test_emulated_device_delivers_the_same_bytes(self):
        wanted = report(*EXACT)
        for options in ([], ["--gpu", "none"], ["--gpu", "augment", "--workers", "2"],
                        ["--gpu", "augment", "--workers", "0"]):
            got = report(*EXACT, "--device", "emulated", *options)
            self.assertEqual(wanted["digest"], got["digest"], options)

    def test_json_names_the_placement(self):
        got = report(*EXACT, "--device", "emulated", "--gpu", "augment")
        self.assertEqual("emulated", got["placement"]["device"])
        self.assertEqual(["cpu", "cpu", "device"],
                         [got["placement"][stage] for stage in ("read", "decode", "augment")])
        self.assertEqual(["cpu", "cpu", "device"], [stage["on"] for stage in got["stages"]])
        self.assertEqual(7, got["device"]["batches"])
        self.assertGreater(got["device"]["h2d_bytes"], 0)
        self.assertGreater(got["device"]["augment_bytes"], 0)
        plain = report(*EXACT)
        self.assertEqual("cpu", plain["placement"]["device"])
        self.assertNotIn("device", plain)

    def test_off_is_the_cpu_whatever_the_device(self):
        self.assertEqual("cpu", report("--gpu", "off", "--device", "emulated")["placement"]["device"])

    def test_placements_that_are_none(self):
        for options, word in ((["--gpu", "decode"], "decode,augment"), (["--gpu", "read"], "--gpu read"),
                              (["--device", "gpu"], "--device gpu"), (["--device", "cuda:x"], "cuda:x"),
                              (["--device", "cpu", "--gpu", "augment"], "--device cpu"),
                              (["--gpu-decoder", "fast", "--device", "emulated"], "fast"),
                              (["--device", "emulated", "--gpu", "augment", "--without", "augment"],
                               "switched off")):
            done = run(*SOURCE, *options, status=2)
            self.assertIn(word, done.stderr)

    def test_without_nvjpeg_decoding_there_is_refused_in_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            run("make-set", "--count", 2, pathlib.Path(folder) / "set")
            done = run(pathlib.Path(folder) / "set", "--device", "emulated", "--gpu", "decode,augment",
                       "--nvjpeg", "/nowhere/libnvjpeg.so", status=3)
            self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)
            self.assertIn("/nowhere/libnvjpeg.so", done.stderr)


class DeviceCostsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="penstock-costs-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def test_the_file_has_a_figure_for_each_stage(self):
        file = self.folder / "costs.txt"
        run("device-costs", "--device", "emulated", "--batch", 1, "-o", file)
        figures = {}
        for line in file.read_text(encoding="utf-8").splitlines():
            words = line.split()
            if words[0] in ("augment", "convert"):
                figures[words[0]] = float(words[1])
        self.assertEqual({"augment", "convert"}, set(figures))
        self.assertGreater(min(figures.values()), 0)
        self.assertIn("device emulated", file.read_text(encoding="utf-8"))

    def test_without_a_gpu_nothing_is_written(self):
        file = self.folder / "costs.txt"
        done = run("device-costs", "-o", file, status=None)
        if done.returncode == 0:
            self.skipTest("this machine has a GPU")
        self.assertEqual(1, done.returncode)
        self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)
        self.assertFalse(file.exists())


if __name__ == "__main__":
    unittest.main()
