#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests make_long_trace: it writes the trace that it is asked for. If an argument is no number, it ends with a usage
error and writes no file."""

import argparse
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = ""


class MakeLongTrace(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = pathlib.Path(self.folder.name) / "t.penstock"

    def run_it(self, *words):
        return subprocess.run([PROGRAM, str(self.out), *words], capture_output=True, text=True, timeout=120,
                              check=False)

    def test_bad_numbers_are_usage_errors(self):
        for words in (("--spans", "0"), ("--spans", "-5"), ("--spans", "many"), ("--spans", "1e3x"),
                      ("--epoch-batches", "0"), ("--epoch-batches", "-1"), ("--images", "0"),
                      ("--images", "99999999999"), ("--step-ms", "nan"), ("--step-ms", "-1"), ("--step-ms", "inf"),
                      ("--workers", "0"), ("--batch", "0"), ("--prefetch", "x"), ("--seed", "-"), ("--nosuch",)):
            done = self.run_it(*words)
            self.assertEqual(2, done.returncode, (words, done.stderr))
            self.assertEqual(1, done.stderr.count("\n"), (words, done.stderr))
            self.assertFalse(self.out.exists(), words)

    def test_both_shapes_begin_as_they_should(self):
        for words, magic in (((), b"PENSTPAK"), (("--recording",), b"PENSTREC")):
            done = self.run_it("--spans", "3000", *words)
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertEqual(magic, self.out.read_bytes()[:8])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    options, rest = parser.parse_known_args()
    PROGRAM = options.program
    unittest.main(argv=[__file__, *rest])
