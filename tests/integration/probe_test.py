# SPDX-License-Identifier: Apache-2.0
"""record --probe: experiments inside the run measure what interventions gain, and change no result."""
import concurrent.futures
import json
import os
import shutil
import tempfile
import unittest

from support import PYTHON, environment, program, record, require, run, target
from tracefile import Trace


class Probe(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require("penstock-record", "penstock-export", "penstock")

    def setUp(self):
        self.work = tempfile.mkdtemp(prefix="penstock-it-")
        self.addCleanup(shutil.rmtree, self.work, True)
        self.output = os.path.join(self.work, "t.penstock")

    def command(self, **options):
        words = [PYTHON, target("probe.py")]
        for name, value in options.items():
            words += ["--" + name, str(value)]
        return words

    def probed(self, window, **options):
        outcome = run(record(self.output, self.command(**options), "--probe-window", window), environment(),
                      timeout=120)  # fmt: skip
        self.assertNotIn("Error", outcome.stderr)
        return outcome

    def report(self):
        outcome = run([program("penstock"), "report", "--json", self.output])
        self.assertEqual(outcome.status, 0, repr(outcome))
        return json.loads(outcome.stdout)

    def windows(self):
        told = [event["value"] & 255 for event in Trace(self.output).events_of("probe")]
        return [factor for factor in told if factor != 255]  # 255: no more windows follow

    def test_results_order_random_numbers_and_status_stay(self):
        for workers in (0, 2):
            with self.subTest(workers=workers):
                options = dict(workers=workers, samples=400, batches=800, sample=0.5, step=2, status=3)
                alone = run(self.command(**options))
                traced = self.probed("100ms", **options)
                self.assertEqual((alone.status, alone.stdout), (traced.status, traced.stdout))
                self.assertEqual(traced.status, 3)
                windows = self.windows()
                self.assertGreater(len(windows), 8)
                self.assertIn(0, windows, "plain ones come between")
                self.assertGreater(len(set(windows)), 3, windows)
                self.assertLess(max(windows), 7)

    def rate(self, options):
        outcome = run(self.command(seconds=4, **options), environment())
        return float(outcome.stderr.split("rate ")[1].split()[0])

    def gain_of(self, costs, option):
        """The gain of halving a cost. Both runs take place at the same time, so other programs slow them down alike."""
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            now, halved = pool.map(self.rate, (costs, {**costs, option: costs[option] / 2}))
        return halved / now

    def check_gains(self, **costs):
        """Checks that the gain of halving each cost, measured by separate runs, lies in the interval that one run
        measured, give or take eight points. Returns the gains that were measured: on a noisy machine some are not
        known, with the reason."""
        self.probed("800ms", seconds=35, **costs)
        probe = self.report()["probe"]
        found = {factor["factor"]: factor for factor in probe["factors"]}
        for factor, option in (("augment", "sample"), ("collate", "collate"), ("compute", "step")):
            self.assertGreaterEqual(found[factor]["windows"], 3)
            if "low" not in found[factor]:
                self.assertTrue(found[factor].get("unknown") or probe.get("missing"), probe)
                continue
            gain = self.gain_of(costs, option)
            self.assertLess(found[factor]["low"] - 0.08, gain, (factor, probe))
            self.assertGreater(found[factor]["high"] + 0.08, gain, (factor, probe))
        return {factor: found[factor]["measured"] for factor in found if "low" in found[factor]}

    def test_gains_are_those_of_interventions_where_the_worker_is_the_limit(self):
        found = self.check_gains(workers=1, sample=3, collate=12, step=6)
        self.assertGreater(found.get("collate", 2), 1.2)
        self.assertGreater(found.get("augment", 2), 1.2)
        self.assertLess(found.get("compute", 1), 1.1)

    def test_gains_are_those_of_interventions_where_the_step_is_the_limit(self):
        found = self.check_gains(workers=2, sample=3, collate=6, step=20)
        self.assertGreater(found.get("compute", 2), 1.4)
        self.assertLess(found.get("augment", 1), 1.1)

    def test_gains_are_those_of_interventions_without_workers(self):
        found = self.check_gains(workers=0, sample=2, collate=6, step=8)
        self.assertGreater(min(found.get(factor, 2) for factor in ("augment", "collate", "compute")), 1.08)

    def test_a_loader_with_a_timeout_ends_them(self):
        outcome = self.probed("100ms", workers=1, timeout=30, seconds=3, sample=1, step=2)
        self.assertEqual(outcome.status, 0, repr(outcome))
        self.assertEqual(self.windows(), [])
        self.assertIn("timeout", self.report()["probe"]["missing"])

    def test_batches_that_take_longer_than_a_window_are_not_slowed_down(self):
        outcome = self.probed("200ms", workers=1, seconds=6, sample=100, step=2)
        self.assertEqual(outcome.status, 0, repr(outcome))
        self.assertGreater(len(Trace(self.output).of("fetch")), 10)
        self.assertIn("too little", self.report()["probe"]["missing"])

    def test_a_run_without_the_option_has_none(self):
        outcome = run(record(self.output, self.command(batches=200, sample=1, step=2)), environment())
        self.assertEqual(outcome.status, 0, repr(outcome))
        self.assertEqual(self.windows(), [])
        self.assertNotIn("probe", self.report())


if __name__ == "__main__":
    unittest.main()
