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

TESTS = os.path.join(os.environ.get("PENSTOCK_BIN", "build/release/bin"), "..", "tests")
LOAD = os.path.join(os.environ.get("PENSTOCK_BIN", "build/release/bin"), "penstock-load")
SOURCE = ["synthetic:100", "--batch", "16"]
# Small pictures: painting two as large as photographs takes five minutes under ThreadSanitizer.
PICTURES = pathlib.Path(__file__).resolve().parents[2] / "fuzz/corpus/fuzz_loader_jpeg"
# These operations only move bytes, so a device gives the CPU's bytes.
EXACT = ["--ops", "crop=64x48:top=5:left=8,flip,vflip", "--output", "u8", "--digest"]


def run(*arguments, status=0):
    done = subprocess.run([LOAD, *map(str, arguments)], capture_output=True, text=True, timeout=600)
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

    def test_wrong_placements_are_refused(self):
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
            for name in ("grey.jpg", "h2v2.jpg"):
                shutil.copy(PICTURES / name, folder)
            done = run(folder, "--device", "emulated", "--gpu", "decode,augment",
                       "--nvjpeg", "/nowhere/libnvjpeg.so", status=3)
            self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)
            self.assertIn("/nowhere/libnvjpeg.so", done.stderr)

    def test_nvjpeg_of_a_gpu_is_refused_on_the_emulated_device(self):
        done = run(*SOURCE, "--device", "emulated", "--gpu", "decode,augment", status=2)
        self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)
        self.assertIn("--nvjpeg", done.stderr)

    def test_digests_are_of_what_was_fetched_from_the_device(self):
        for options in ([], ["--gpu", "none"], ["--gpu", "augment"]):
            got = report(*EXACT, "--device", "emulated", *options)
            self.assertGreater(got["device"]["fetch_s"], 0, options)
        without = report(*EXACT[:-1], "--device", "emulated", "--gpu", "none")
        self.assertEqual(0, without["device"]["fetch_s"])

    def test_the_gpu_test_fails_where_a_gpu_is_required_and_missing(self):
        if run(*SOURCE, "--device", "cuda", status=None).returncode == 0:
            self.skipTest("this machine has a GPU")
        for required, status in (("", 0), ("1", 1)):
            done = subprocess.run([os.path.join(TESTS, "loader_device_gpu_test")], capture_output=True,
                                  text=True, timeout=120, check=False,
                                  env={**os.environ, "PENSTOCK_REQUIRE_GPU": required})
            self.assertEqual(status, done.returncode, done.stdout)


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

    def decode_line(self, *options):
        text = run("device-costs", "--device", "emulated", "--batch", 5, self.folder / "set", *options).stdout
        lines = [line for line in text.splitlines() if line.removeprefix("# ").startswith("decode")]
        self.assertEqual(1, len(lines), text)
        self.assertIn("\naugment ", text)
        return lines[0]

    def test_decoding_that_cannot_be_measured_is_a_comment(self):
        stand_in = ["--nvjpeg", os.path.join(TESTS, "libfake_nvjpeg.so")]
        run("make-set", "--count", 5, self.folder / "set")
        self.assertTrue(self.decode_line().startswith("# decode: "))
        self.assertIn(", 5 whole pictures of ", self.decode_line(*stand_in))
        pictures = sorted((self.folder / "set").rglob("*.jpg"))
        self.assertEqual(5, len(pictures))
        for path in pictures[:2]:
            path.write_bytes(b"no picture")
        self.assertIn(", 3 whole pictures of ", self.decode_line(*stand_in))
        for path in pictures:
            path.write_bytes(b"no picture")
        self.assertTrue(self.decode_line(*stand_in).startswith("# decode: nvJPEG takes none"))

    def test_pictures_are_spread_over_a_set_of_nearly_twice_as_many(self):
        (self.folder / "set").mkdir()
        for index in range(9):
            path = self.folder / "set" / f"{index}.jpg"
            if index < 5:
                path.write_bytes(b"no picture")
            else:
                shutil.copy(PICTURES / "h2v2.jpg", path)
        line = self.decode_line("--nvjpeg", os.path.join(TESTS, "libfake_nvjpeg.so"))
        # The files 0, 1, 3, 5 and 7 are read. Only 5 and 7 are pictures.
        self.assertIn(", 2 whole pictures of ", line)

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
