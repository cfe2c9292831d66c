# SPDX-License-Identifier: Apache-2.0
"""Checks with one recording of each loader that predictions and measurements agree in direction.

Samples sleep so long that a busy machine changes little. The bounds catch a broken predictor. They do not
catch a predictor that is a few percent off; validate.py measures the percents.
"""
import os
import shutil
import sys
import tempfile
import time
import unittest

import fault_runs
import fault_scores
import fault_tables
import faults
import figures
import runs
import validate
from runs import Cell

MARGIN = 0.3  # the order of rates that differ by less is not checked


class Quick(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for name in ("penstock", "penstock-load", "penstock-record"):
            if not os.access(runs.program(name), os.X_OK):
                raise unittest.SkipTest("%s is not built" % name)
        cls.work = tempfile.mkdtemp(prefix="penstock-valid-")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.work, ignore_errors=True)

    def check(self, loader, source, cells, limit):
        """Predicts `cells` from `source`, measures them, and compares their order.

        limit(cell) is the rate that samples and step allow. Other load on the machine can make runs
        slower; nothing makes them faster.
        """
        trace = os.path.join(self.work, "trace.penstock")
        loader.record(source, 1, trace)
        cells = [source, *cells]
        predicted = runs.predict(trace, source, cells)
        self.assertEqual(set(predicted), set(cells))
        facts, recorded, wait = runs.facts(trace, loader.batch)
        self.assertGreater(facts.service, 0)
        self.assertGreater(wait, 0.05)  # in every source the training loop waits
        measured = {cell: loader.measure(cell, 2)["rate"] for cell in cells[1:]}
        measured[source] = recorded
        for cell, one in predicted.items():
            print("    %s: predicted %.1f (%.1f to %.1f), measured %.1f, at most %.1f" % (
                cell, one.rate, one.low, one.high, measured[cell], limit(cell)), flush=True)  # fmt: skip
            self.assertLessEqual(one.low, one.rate, cell)
            self.assertGreaterEqual(one.high, one.rate, cell)
            self.assertLess(one.rate, 1.25 * limit(cell), cell)
        rates = {cell: predicted[cell].rate for cell in cells}
        self.assertAlmostEqual(rates[source] / recorded, 1, delta=0.25)  # the recorded run itself
        wrong, count = figures.discordant(rates, measured, MARGIN)
        self.assertEqual(wrong, [])
        if count == 0:
            self.skipTest("measured rates differ by less than %d %%: too busy a machine" % (100 * MARGIN))
        return rates

    def test_reference_loader(self):
        loader = runs.ReferenceLoader(["--without", "read,decode,augment", "--read-latency", "20ms"], batches=24)
        slow, wide, stepping = Cell(1, 4, 0), Cell(4, 4, 0), Cell(4, 4, 200)
        rates = self.check(loader, slow, [wide, stepping],
                           lambda cell: 8 / max(0.16 / cell.workers, cell.step * 1e-3))  # fmt: skip
        self.assertGreater(rates[wide], 2 * rates[slow])  # threads that sleep do not compete for cores
        self.assertLess(rates[stepping], 0.5 * rates[wide])

    def test_dataloader(self):
        loader = runs.DataLoader("constant", batches=24, mean_ms=50)
        narrow, wide = Cell(1, 2, 0), Cell(4, 2, 0)
        rates = self.check(loader, narrow, [wide], lambda cell: 4 / (0.2 / cell.workers))
        self.assertGreater(rates[wide], (1 + MARGIN) * rates[narrow])

    def test_a_fault_is_recorded_its_fixes_measured_and_the_section_written(self):
        sys.path.insert(0, os.path.join(validate.ROOT, "tests", "integration"))
        import support

        pictures = os.path.join(self.work, "fault-pictures")
        support.make_pictures(os.path.join(pictures, "medium"), 4, ((96, 64),))
        waiting = {**faults.WAITING, "workers": 1, "batch": 4, "batches": 24, "size": 32, "step_ms": 0.0}
        slow = faults.make("F6", "every open waits", waiting, [{"read_ms": 50.0}])
        slow[0] = slow[0]._replace(fixes=[fix for fix in slow[0].fixes if fix.label in ("read", "step")])
        store = validate.Store(os.path.join(self.work, "state"))
        failed = fault_runs.work(slow, store, pictures, fault_runs.QUICK, time.monotonic() + 200)
        self.assertEqual(failed, 0)
        scores = validate.score_faults(slow, store, fault_runs.QUICK)
        self.assertEqual(scores.missing, [])
        judged = scores.judged[0]
        print("    named %s, claims %s, measured %s" % (judged.ranked, judged.claimed, judged.gains), flush=True)
        # A batch waits 200 ms for the storage; everything else takes a few milliseconds.
        self.assertEqual(judged.truth, "read")
        self.assertIn("read", judged.ranked[:2])
        self.assertEqual(fault_scores.macro_f1(scores.judged), 1.0 if judged.right else 0.0)
        self.assertIn("| F6/1 | every open waits | read ", fault_tables.section(scores))


if __name__ == "__main__":
    unittest.main(verbosity=2)
