# SPDX-License-Identifier: Apache-2.0
"""One recording of each loader, a few predictions, a few measurements: do they point the same way?

Services sleep, and long enough that a busy machine changes them little. Bounds catch a predictor that is
broken, not one that is a few percent off: the percents are validate.py's.
"""
import os
import shutil
import tempfile
import unittest

import figures
import runs
from runs import Cell

MARGIN = 0.5  # rates that differ by less are not ranked
TIMES = 2.5  # a prediction further off than this is broken


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

    def check(self, loader, source, cells):
        """Predicts `cells` from `source`, measures them, and compares order and size."""
        trace = os.path.join(self.work, "trace.penstock")
        loader.record(source, 1, trace)
        predicted = runs.predict(trace, source, [source, *cells])
        self.assertEqual(set(predicted), {source, *cells})
        for cell, one in predicted.items():
            self.assertLessEqual(one.low, one.rate, cell)
            self.assertGreaterEqual(one.high, one.rate, cell)
        measured = {cell: loader.measure(cell, 2)["rate"] for cell in cells}
        rates = {cell: predicted[cell].rate for cell in cells}
        for cell in cells:
            print("    %s: predicted %.1f, measured %.1f" % (cell, rates[cell], measured[cell]), flush=True)
        wrong, count = figures.discordant(rates, measured, MARGIN)
        self.assertEqual(wrong, [])
        self.assertGreaterEqual(count, 1, "nothing to rank: the machine stood still")
        for cell in cells:
            self.assertLess(max(rates[cell] / measured[cell], measured[cell] / rates[cell]), TIMES, cell)
        return rates

    def test_reference_loader(self):
        loader = runs.ReferenceLoader(["--without", "read,decode,augment", "--read-latency", "20ms~lognormal:0.5"],
                                      batches=24)  # fmt: skip
        slow, wide, stepping = Cell(1, 4, 0), Cell(4, 4, 0), Cell(4, 4, 200)
        rates = self.check(loader, Cell(2, 4, 0), [slow, wide, stepping])
        self.assertGreater(rates[wide], 3 * rates[slow])  # sleeping threads do not compete
        self.assertAlmostEqual(rates[stepping], 8 / 0.2, delta=4)  # the step alone decides

    def test_dataloader(self):
        loader = runs.DataLoader("constant", batches=24, mean_ms=50)  # 200 ms a batch
        rates = self.check(loader, Cell(2, 2, 0), [Cell(1, 2, 0), Cell(4, 2, 0)])
        self.assertGreater(rates[Cell(4, 2, 0)], 2 * rates[Cell(1, 2, 0)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
