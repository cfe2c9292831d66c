# SPDX-License-Identifier: Apache-2.0
"""Checks run.py on known answers, and that programs.py and cases.py agree."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases  # noqa: E402
import run  # noqa: E402


def measured(share, line=12, name="Pictures.crop", findings=()):
    functions = [{"name": "Pictures.load", "share": 0.9, "lines": []},
                 {"name": name, "share": share, "lines": [{"line": 3, "share": 0.01}, {"line": line, "share": share}]},
                 {"name": "Pictures.__getitem__", "share": 0.05, "lines": []}]  # fmt: skip
    return {"functions": functions, "findings": list(findings), "rates": {"with": [60, 50, 75, 60], "without": [100, 100, 90, 110]}}


class JudgedTest(unittest.TestCase):
    def test_what_a_line_took_is_the_time_that_is_gone_without_it(self):
        took, low, high = run.gained(measured(0)["rates"])
        self.assertAlmostEqual(0.4, took)
        self.assertTrue(0.16 < low < 0.4 < high < 0.51, (low, high))

    def test_a_share_within_five_points_is_right(self):
        self.assertTrue(run.judged("crop", 12, measured(0.44))["right"])
        self.assertFalse(run.judged("crop", 12, measured(0.46))["right"])
        self.assertTrue(run.judged("crop", 12, measured(0.46))["found"])

    def test_a_comprehension_is_part_of_its_function(self):
        self.assertTrue(run.judged("crop", 12, measured(0.4, name="Pictures.crop.<locals>.<listcomp>"))["found"])

    def test_another_function_or_line_is_not_found(self):
        self.assertFalse(run.judged("resize", 12, measured(0.4))["found"])
        self.assertFalse(run.judged("crop", 13, measured(0.4))["found"])
        self.assertFalse(run.judged("crop", 12, dict(measured(0.4), functions=[]))["found"])

    def test_a_healthy_program_has_no_finding_about_a_function(self):
        self.assertTrue(run.judged(None, None, measured(0.3, findings=("no-pinned-memory",)))["right"])
        self.assertFalse(run.judged(None, None, measured(0.3, findings=("slow-call",)))["right"])


class CasesTest(unittest.TestCase):
    def test_there_are_twelve_lines_and_a_healthy_program(self):
        found = cases.places()
        self.assertEqual(13, len(found))
        self.assertEqual((None, None), found["healthy"])
        text = cases.PROGRAM.read_text(encoding="utf-8").splitlines()
        for case, (function, line) in found.items():
            if function is not None:
                above = [row for row in text[:line] if row.startswith("def ")]
                self.assertTrue(above[-1].startswith("def %s(" % function), case)


if __name__ == "__main__":
    unittest.main()
