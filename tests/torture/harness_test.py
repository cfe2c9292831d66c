# SPDX-License-Identifier: Apache-2.0
"""Tests that the harness finds lost reads, changed output, and processes or files that are left behind."""
import os
import subprocess
import sys
import time
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "integration")]
import document  # noqa: E402
import forge  # noqa: E402
import harness  # noqa: E402
import support  # noqa: E402
import torture  # noqa: E402


class Finds(unittest.TestCase):
    def setUp(self):
        self.run_ = harness.Run(True)
        self.addCleanup(self.run_.close)

    def check(self, *command, **options):
        return self.run_.check(harness.victim(*command), modes=("record",), **options)

    def test_a_sound_run_passes(self):
        figures = self.check("paced", 20, 0)[0]
        self.assertEqual((figures.expected, figures.spans, figures.lost), (20, 20, 0))
        self.assertGreater(figures.file_bytes, 0)

    def test_a_lost_read(self):
        with mock.patch.object(self.run_, "counted", return_value=21):
            with self.assertRaisesRegex(harness.Failure, "21 reads were finished, 20 are"):
                self.check("paced", 20, 0)

    def test_a_read_that_nobody_made(self):
        with mock.patch.object(self.run_, "counted", return_value=19):
            with self.assertRaisesRegex(harness.Failure, "19 reads were finished, but 20"):
                self.check("paced", 20, 0)

    def test_another_output(self):
        with self.assertRaisesRegex(harness.Failure, "without the agent"):
            self.run_.check(["sh", "-c", "echo $LD_PRELOAD"], modes=("bare",), in_file=False)

    def test_a_damaged_trace(self):
        figures = self.check("paced", 20, 0)[0]
        with open(figures.output, "r+b") as file:
            file.seek(200)
            file.write(b"\x00\xff" * 8)
        with self.assertRaisesRegex(harness.Failure, "damaged|finished"):
            self.run_.read_trace(figures, 0, True)

    def test_what_is_left(self):
        with open(os.path.join(self.run_.folder, "t.part"), "wb"):
            pass
        with self.assertRaisesRegex(harness.Failure, "t.part"):
            self.run_.gone()
        os.unlink(os.path.join(self.run_.folder, "t.part"))
        with open(os.path.join(self.run_.shm, "penstock-0-1"), "wb"):
            pass
        with self.assertRaisesRegex(harness.Failure, "shared memory"):
            self.run_.gone()
        os.unlink(os.path.join(self.run_.shm, "penstock-0-1"))
        process = subprocess.Popen(["sleep", "60"], env=self.run_.environment())
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 10
        while not harness.marked(self.run_.mark):  # up to its exec, the process has another environment
            self.assertLess(time.monotonic(), deadline)
        with mock.patch.object(harness, "PATIENCE", 0.1):
            with self.assertRaisesRegex(harness.Failure, "processes are left"):
                self.run_.gone()


class Parts(unittest.TestCase):
    def test_the_slope_is_that_of_the_second_half(self):
        points = [(i, 1000 * i) for i in range(20)] + [(i, 20_000 + 7 * i) for i in range(20, 40)]
        self.assertAlmostEqual(harness.slope(points), 7)
        self.assertEqual(harness.slope(points[:3]), 0)

    def test_forged_checks_are_right(self):
        # Published values of XXH64.
        self.assertEqual(forge.xxh64(b""), 0xEF46DB3751D8E999)
        self.assertEqual(forge.xxh64(b"abc"), 0x44BC2CF5AD770999)
        with harness.tempfile.NamedTemporaryFile() as file:
            file.write(forge.finished(forge.table() + [
                forge.section(forge.SPANS, forge.spans(1000), 1000, 0, 1000, 2000)]))
            file.flush()
            shown = harness.summary(file.name)
        self.assertTrue(shown["sound"], shown)
        self.assertEqual((shown["spans"], shown["processes"], shown["threads"]), (1000, 1, 1))

    def test_a_scenario_that_fails_is_a_line_and_a_row(self):
        def breaks_down(_):
            """is broken"""
            raise harness.Failure("it | broke")

        outcome = torture.play(breaks_down, True, None)
        self.assertRegex(outcome.line(), "^failed +breaks-down .*it | broke")
        with harness.tempfile.TemporaryDirectory() as folder, mock.patch.object(
            document, "ROOT", folder
        ), mock.patch.object(document, "PATH", os.path.join(folder, "document.md")):
            document.keep(outcome, mock.Mock(note="A note.", fuzz_seconds=5))
            document.write(["breaks-down", "was-never-run"])
            with open(document.PATH, encoding="utf-8") as file:
                text = file.read()
        row = next(line for line in text.splitlines() if line.startswith("| breaks-down"))
        self.assertEqual(row.count("|"), 11)
        self.assertIn("**failed**, it / broke", row)
        self.assertIn("A note.", text)
        self.assertIn("1 failed", text)


if __name__ == "__main__":
    if not support.AGENT:
        sys.exit("PENSTOCK_AGENT_LIB is not set: run this through ctest")
    unittest.main(verbosity=2)
