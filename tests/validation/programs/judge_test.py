# SPDX-License-Identifier: Apache-2.0
"""Checks judge.py, sets.py and common.py's clock on known answers, and the data of cases.py."""
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases  # noqa: E402
import common  # noqa: E402
import judge  # noqa: E402
import sets  # noqa: E402

CASE = cases.Case("one", "a program", "frameworks.py", (), workers=1, counts=(0, 1, 2))


def kept_of(bottleneck="decode", needs="", claimed=2.0, **rates):
    """The stored result of a program that makes 100 samples/s. `rates`: {arm: rate}, with underscores for spaces."""
    found = {"1": [{"rate": 100.0}, {"rate": 100.0}]}
    found.update({arm.replace("_", " ").strip(): [{"rate": rate}] for arm, rate in rates.items()})
    verdict = {"bottleneck": bottleneck, "needs": needs, "gains": [{"factor": bottleneck, "speedup_if_free": claimed}]}
    return {"said": {"rate": 98.0}, "rates": found, "workers": {}, "free": {},
            "report": {"verdict": verdict, "throughput": {"samples_per_s": 49.0}}}  # fmt: skip


class EpochTest(unittest.TestCase):
    def test_an_epoch_has_each_picture_eight_times(self):
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder)
            (data / "pictures" / "cats").mkdir(parents=True)
            for name in ("a-1.jpg", "b.jpg"):
                (data / "pictures" / "cats" / name).write_text(name)
            for _ in range(2):  # the second call finds the files there
                sets.link_epoch(data)
            found = sorted((data / "epoch" / "cats").iterdir())
            self.assertEqual(16, len(found))
            for link in found:
                self.assertEqual(common.first_name(str(link)), link.read_text())
                self.assertEqual(1, link.name.count("."))  # webdataset ends a key at the first dot


class VerdictTest(unittest.TestCase):
    def test_what_gains_most_is_right(self):
        kept = kept_of(no_decode=200, no_augment=120, no_step=105)
        self.assertEqual(judge.verdict_of(CASE, kept), ("right", "decode"))
        self.assertEqual(judge.verdict_of(CASE, kept_of("augment", no_decode=200, no_augment=120)), ("wrong", "augment"))

    def test_gains_within_a_fifth_are_a_tie(self):
        self.assertEqual(judge.verdict_of(CASE, kept_of("augment", no_decode=200, no_augment=185))[0], "right")

    def test_a_step_that_holds_the_run_back_is_no_alarm(self):
        kept = kept_of("compute", no_decode=101, no_augment=102, no_step=400)
        self.assertEqual(judge.verdict_of(CASE, kept), ("right", "step"))
        self.assertEqual(judge.verdict_of(CASE, kept_of("decode", no_decode=101, no_step=400))[0], "wrong")

    def test_what_was_not_freed_is_right_or_wrong_by_the_others_alone(self):
        self.assertEqual(judge.verdict_of(CASE, kept_of("collate", claimed=1.4, no_decode=110))[0], "not tested")
        self.assertEqual(judge.verdict_of(CASE, kept_of("collate", claimed=1.1, no_decode=190))[0], "wrong")

    def test_none_may_mean_that_it_is_not_known(self):
        self.assertEqual(judge.verdict_of(CASE, kept_of("none", needs="a loader", no_decode=300))[0], "not known")
        self.assertEqual(judge.verdict_of(CASE, kept_of("none", no_decode=300))[0], "wrong")


class PredictionTest(unittest.TestCase):
    def test_far_is_what_no_interval_holds(self):
        self.assertTrue(judge.is_far(150, 140, 160, 100))
        self.assertFalse(judge.is_far(150, 90, 160, 100))
        self.assertFalse(judge.is_far(120, 115, 125, 100))
        self.assertFalse(judge.is_far(None, None, None, 100))

    def test_what_was_refused_or_not_measured_is_no_error(self):
        kept = kept_of(**{"2": 180}, no_decode=200)
        kept["workers"] = {"1": {"samples_per_s": 101, "low": 90, "high": 110}, "2": "needs more", "0": "needs more"}
        kept["free"] = {"decode": {"samples_per_s": 210, "low": 190, "high": 220}}
        self.assertEqual(judge.predictions(CASE, kept), [("1", 101, 90, 110, 100.0), ("2", None, None, None, 180),
                                                         ("no decode", 210, 190, 220, 200)])  # fmt: skip

    def test_the_count_of_samples_is_held_against_the_programs(self):
        self.assertEqual(judge.counted(kept_of()), 0.5)

    def test_the_table_has_a_line_for_each_program(self):
        lines = judge.table([(CASE, kept_of(no_decode=200)), (CASE, {}), (CASE, {"failed": "why"})])
        self.assertEqual([line.split("|")[2].strip() for line in lines[2:5]], ["100", "not run", "failed"])


class ClockTest(unittest.TestCase):
    def test_the_first_batches_of_an_epoch_are_left_out(self):
        clock = common.Clock(10, workers=1)
        clock.first = 0.0
        clock.epochs = [[(0.0, 4), (0.1, 4), (1.1, 4), (2.1, 4), (3.1, 2)], [(9.0, 4), (9.1, 4), (10.1, 4)]]
        told = clock.result()
        self.assertAlmostEqual(told["rate"], (10 + 8) / (3.0 + 1.1))
        self.assertEqual((told["batches"], told["samples"], told["epochs"]), (8, 30, 2))
        self.assertAlmostEqual(told["whole_rate"], 30 / 10.1)


class CasesTest(unittest.TestCase):
    def test_there_are_twelve_programs_of_different_names(self):
        self.assertGreaterEqual(len(cases.CASES), 12)
        self.assertEqual(len({case.name for case in cases.CASES}), len(cases.CASES))

    def test_each_is_measured_as_it_was_recorded_and_with_what_is_freed(self):
        here = os.path.dirname(os.path.abspath(__file__))
        for case in cases.CASES:
            self.assertIn(case.workers, case.counts)
            self.assertLessEqual(set(case.free), set(common.FREE))
            self.assertTrue(os.path.exists(os.path.join(here, case.file)), case.file)
            self.assertLessEqual(set(case.packages), set(cases.PACKAGES[case.python].split()))
            self.assertEqual(judge.arms(case)[0], (str(case.workers), case.workers, ()))


if __name__ == "__main__":
    unittest.main()
