# SPDX-License-Identifier: Apache-2.0
"""Judges, at every build, what the analyzer says about recordings of faults. They were recorded and measured once.

The recordings stay the same, so only a change of the analyzer changes the scores. The bounds are a little
below the scores at the time when they were set; analyzer/VALIDATION.md has the figures and the goals.
"""
import os
import sys
import unittest

import fault_runs
import fault_scores
import faults
import figures
import runs
import validate

NAMED = 62  # at least this number of 66 faults is named right
REPLAY = 0.03  # mean absolute error
GAIN = 0.1  # mean absolute error of the gain that is claimed for the named part


class Measured(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.access(runs.program("penstock"), os.X_OK):
            raise unittest.SkipTest("penstock is not built")
        cls.scenarios = faults.chosen(True)
        cls.scores = validate.score_faults(cls.scenarios, validate.Store(validate.MEASURED), fault_runs.FULL)

    def test_every_scenario_is_there(self):
        self.assertEqual(self.scores.missing, [])
        self.assertEqual(len(self.scores.judged), len(self.scenarios))

    def test_what_holds_a_run_back_is_named(self):
        right, of = self.scores.shares(fault_scores.OURS)
        wrong = ["%s/%d: %s, not %s" % (*one.scenario[:2], one.ranked[0], one.truth)
                 for one in self.scores.judged if not one.right]  # fmt: skip
        print("    %d of %d; wrong: %s" % (right, of, "; ".join(wrong)))
        self.assertEqual(of, 66)
        self.assertGreaterEqual(right, NAMED, wrong)

    def test_nothing_is_blamed_in_a_healthy_run(self):
        self.assertEqual(self.scores.alarms(fault_scores.OURS), (0, 9))

    def test_the_baselines_are_behind(self):
        ours = self.scores.shares(fault_scores.OURS)[0]
        for method in self.scores.named:
            if method != fault_scores.OURS:
                self.assertLess(self.scores.shares(method)[0], ours, method)

    def test_the_replay_repeats_the_recording(self):
        errors = [abs(one.replay) for one in self.scores.judged]
        print("    replay off by %.1f %%, at most %.1f %%" % (100 * figures.mean(errors), 100 * max(errors)))
        self.assertLess(figures.mean(errors), REPLAY)

    def test_what_is_named_gains_what_is_promised(self):
        off = figures.mean(abs(error) for error in self.scores.gain_errors)
        print("    off by %.1f %%" % (100 * off))
        self.assertLess(off, GAIN)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
