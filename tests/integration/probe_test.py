# SPDX-License-Identifier: Apache-2.0
"""record --probe: experiments inside the run measure what halving a stage's time gains, and change no result."""
import concurrent.futures
import functools
import json
import os
import shutil
import tempfile
import unittest

from support import PYTHON, environment, program, record, require, run, target
from tracefile import Trace


def at_once(function, arguments):
    """Calls the function for each argument at the same time. This saves time: the programs sleep nearly all the time,
    so they hardly hold each other up."""
    with concurrent.futures.ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(function, arguments))


def command(**options):
    words = [PYTHON, target("probe.py")]
    for name, value in options.items():
        words += ["--" + name, str(value)]
    return words


def windows(trace):
    told = [event["value"] & 255 for event in Trace(trace).events_of("probe")]
    return [factor for factor in told if factor != 255]  # 255: no more windows follow


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require("penstock-record", "penstock-export", "penstock")
        cls.work = tempfile.mkdtemp(prefix="penstock-it-")
        cls.addClassCleanup(shutil.rmtree, cls.work, True)

    @classmethod
    def probed(cls, trace, window, **options):
        """The outcome of a run whose experiments have windows of this length."""
        return run(record(trace, command(**options), "--probe-window", window), environment(), timeout=120)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.work, name + ".penstock")

    def report(self, trace):
        outcome = run([program("penstock"), "report", "--json", trace])
        self.assertEqual(outcome.status, 0, repr(outcome))
        return json.loads(outcome.stdout)


class Gains(Case):
    """Halving a cost in a run of its own gives the true gain. It must lie in the interval that the experiments of one
    run gave."""

    WORKER = dict(workers=1, sample=3, collate=12, step=6)
    STEP = dict(workers=2, sample=3, collate=6, step=20)
    INLINE = dict(workers=0, sample=2, collate=6, step=8)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        recorded = (cls.WORKER, cls.STEP, cls.INLINE)
        cls.traces = [cls.path("gains%d" % costs["workers"]) for costs in recorded]
        cls.outcomes = at_once(lambda one: cls.probed(one[0], "800ms", seconds=35, **one[1]),
                               list(zip(cls.traces, recorded)))  # fmt: skip

    def rate(self, costs):
        outcome = run(command(seconds=4, **costs), environment())
        return float(outcome.stderr.split("rate ")[1].split()[0])

    def check_gains(self, costs):
        """Checks the intervals with a margin of 0.08. Returns the measured gains. On a noisy machine some gains are
        unknown; then the report must say why."""
        for outcome in self.outcomes:
            self.assertEqual(outcome.status, 0, repr(outcome))
            self.assertNotIn("Error", outcome.stderr)
        probe = self.report(self.path("gains%d" % costs["workers"]))["probe"]
        found = {factor["factor"]: factor for factor in probe["factors"]}
        options = {"augment": "sample", "collate": "collate", "compute": "step"}
        # The runs take place at the same time, so that other programs slow all of them down alike.
        halves = [{**costs, option: costs[option] / 2} for option in options.values()]
        now, *halved = at_once(self.rate, [costs, *halves])
        for factor, rate in zip(options, halved):
            self.assertGreaterEqual(found[factor]["windows"], 3)
            if "low" not in found[factor]:
                self.assertTrue(found[factor].get("unknown") or probe.get("missing"), probe)
                continue
            self.assertLess(found[factor]["low"] - 0.08, rate / now, (factor, probe))
            self.assertGreater(found[factor]["high"] + 0.08, rate / now, (factor, probe))
        measured = {factor: found[factor]["measured"] for factor in found if "low" in found[factor]}
        print("    measured %s" % {factor: round(gain, 3) for factor, gain in measured.items()}, flush=True)
        return measured

    def test_gains_are_those_of_interventions_where_the_worker_is_the_limit(self):
        found = self.check_gains(self.WORKER)
        self.assertGreater(found.get("collate", 2), 1.2)
        self.assertGreater(found.get("augment", 2), 1.2)
        self.assertLess(found.get("compute", 1), 1.1)

    def test_gains_are_those_of_interventions_where_the_step_is_the_limit(self):
        found = self.check_gains(self.STEP)
        self.assertGreater(found.get("compute", 2), 1.4)
        self.assertLess(found.get("augment", 1), 1.1)

    def test_gains_are_those_of_interventions_without_workers(self):
        found = self.check_gains(self.INLINE)
        self.assertGreater(min(found.get(factor, 2) for factor in ("augment", "collate", "compute")), 1.08)


class Probe(Case):
    RESULTS = [dict(workers=workers, samples=400, batches=800, sample=0.5, step=2, status=3) for workers in (0, 2)]
    TIMEOUT = dict(workers=1, timeout=30, seconds=3, sample=1, step=2)
    LONG = dict(workers=1, seconds=6, sample=100, step=2)
    NONE = dict(batches=200, sample=1, step=2)

    @classmethod
    def setUpClass(cls):
        """All runs take place at the same time, because no check depends on their speed."""
        super().setUpClass()
        runs = {
            "alone0": functools.partial(run, command(**cls.RESULTS[0])),
            "alone2": functools.partial(run, command(**cls.RESULTS[1])),
            "results0": functools.partial(cls.probed, cls.path("results0"), "100ms", **cls.RESULTS[0]),
            "results2": functools.partial(cls.probed, cls.path("results2"), "100ms", **cls.RESULTS[1]),
            "timeout": functools.partial(cls.probed, cls.path("timeout"), "100ms", **cls.TIMEOUT),
            "long": functools.partial(cls.probed, cls.path("long"), "200ms", **cls.LONG),
            "none": functools.partial(run, record(cls.path("none"), command(**cls.NONE)), environment()),
        }
        cls.outcomes = dict(zip(runs, at_once(lambda start: start(), list(runs.values()))))

    def test_results_order_random_numbers_and_status_stay(self):
        for workers in "02":
            alone, traced, trace = self.outcomes["alone" + workers], self.outcomes["results" + workers], self.path(
                "results" + workers)  # fmt: skip
            with self.subTest(trace=trace):
                self.assertEqual((alone.status, alone.stdout), (traced.status, traced.stdout))
                self.assertEqual(traced.status, 3)
                self.assertNotIn("Error", traced.stderr)
                found = windows(trace)
                self.assertGreater(len(found), 8)
                self.assertIn(0, found, "windows without a slowdown (0) come between")
                self.assertGreater(len(set(found)), 3, found)
                self.assertLess(max(found), 7)

    def ended(self, name):
        """The trace of a run that ended well."""
        outcome = self.outcomes[name]
        self.assertEqual(outcome.status, 0, repr(outcome))
        self.assertNotIn("Error", outcome.stderr)
        return self.path(name)

    def test_a_loader_with_a_timeout_ends_the_experiments(self):
        trace = self.ended("timeout")
        self.assertEqual(windows(trace), [])
        self.assertIn("timeout", self.report(trace)["probe"]["missing"])

    def test_batches_that_take_longer_than_a_window_are_not_slowed_down(self):
        trace = self.ended("long")
        self.assertGreater(len(Trace(trace).of("fetch")), 10)
        self.assertRegex(self.report(trace)["probe"]["missing"],
                         r"too short for these batches\. Record again with --probe-window \d+m?s")

    def test_a_run_without_the_option_has_none(self):
        trace = self.ended("none")
        self.assertEqual(windows(trace), [])
        self.assertNotIn("probe", self.report(trace))


if __name__ == "__main__":
    unittest.main()
