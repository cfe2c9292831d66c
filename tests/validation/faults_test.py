# SPDX-License-Identifier: Apache-2.0
"""Checks section (b) on known answers: the claims of a report, the judgement of them, and the tables."""
import os
import tempfile
import threading
import time
import unittest

import fault_runs
import fault_scores
import fault_storage
import fault_tables
import faults
from fault_cell_knobs import DEFAULTS


def report(verdict="read", gains=(("read", 3.0), ("compute", 1.1)), findings=(), workers=4):
    return {
        "verdict": {"bottleneck": verdict, "wait_fraction": 0.5, "confidence": 0.8,
                    "gains": [{"factor": name, "whole_run_speedup_if_free": gain} for name, gain in gains]},
        "findings": [{"id": name, "severity": severity, **({} if gain is None else {"predicted": {"whole_run_speedup": gain}})}
                     for name, severity, gain in findings],
        "replay": {"error": 0.01, "measured_samples_per_s": 100.0},
        "suggestion": {"loader": {"num_workers": workers, "prefetch_factor": 2, "persistent_workers": False}},
        "stages": [{"name": "sample", "wall_s": 10.0, "cpu_s": 2.0, "count": 1000},
                   {"name": "read", "wall_s": 8.0, "cpu_s": 0.1, "count": 1000}],
    }  # fmt: skip


def scenario(healthy=False, **knobs):
    return faults.make("X", "made up", {**faults.BASE, **knobs}, [{}], healthy=healthy)[0]


class Scenarios(unittest.TestCase):
    def test_every_fault_has_three_severities_that_differ(self):
        names = {}
        for one in faults.scenarios():
            names.setdefault(one.name, []).append(one)
        for name, found in names.items():
            self.assertEqual([one.severity for one in found], [1, 2, 3], name)
            self.assertEqual(len({fault_runs.key_of(one.knobs, 0) for one in found}), 3, name)
        left_out = {name.split()[0] for name, _why in faults.NOT_RUN}
        missing = {"F%d" % n for n in range(22)} - set(names) - left_out
        self.assertEqual(missing, set())
        self.assertIn("F22a", names)
        self.assertGreaterEqual(sum(found[0].healthy for found in names.values()), 2)

    def test_knobs_and_labels_are_known_and_a_fix_changes_something(self):
        for one in faults.scenarios():
            self.assertLessEqual(set(one.knobs), set(DEFAULTS))
            self.assertIn(one.knobs["pictures"], fault_runs.SIZES)
            self.assertEqual(len({fix.what for fix in one.fixes}), len(one.fixes), one.name)
            for fix in one.fixes:
                self.assertIn(fix.label, faults.LABELS)
                changed = {**one.knobs, **fix.knobs}
                self.assertNotEqual(fault_runs.key_of(one.knobs, 0), fault_runs.key_of(changed, 0), (one, fix))

    def test_the_quick_form_is_part_of_the_full_one(self):
        self.assertEqual(len(faults.chosen(full=False)), len(faults.QUICK))

    def test_without_augmentation_as_many_bytes_are_handed_over(self):
        for one in faults.scenarios():
            floats = one.knobs.get("augment") in ("float", "threads")
            for fix in one.fixes:
                if fix.what == "augmented already":
                    self.assertEqual(fix.knobs.get("floats", False), floats, one)

    def test_what_was_injected_can_be_taken_back(self):
        labels = {"F5": "read", "F7": "decode", "F8": "augment", "F9": "collate", "F12": "transfer", "F13": "threads",
                  "F14": "cores", "F16": "startup", "F17": "read", "F19": "prefetch"}  # fmt: skip
        for one in faults.scenarios():
            if one.name in labels:
                self.assertIn(labels[one.name], {fix.label for fix in one.fixes}, one.name)


class Claims(unittest.TestCase):
    def test_the_largest_claim_is_named_whether_verdict_or_finding(self):
        one = report(findings=[("too-few-workers", "warning", 1.9), ("small-files", "warning", 2.5)])
        found = faults.claims_of(one)
        self.assertAlmostEqual(found["read"], 2.0)
        self.assertAlmostEqual(found["workers"], 0.9)
        self.assertEqual(faults.ranking(one), ["read", "workers"])
        self.assertEqual(faults.ranking(report(findings=[("too-few-workers", "warning", 4.0)])), ["workers", "read"])

    def test_the_verdict_leads_where_another_claims_hardly_more(self):
        self.assertEqual(faults.ranking(report(findings=[("too-few-workers", "warning", 3.4)])), ["read", "workers"])

    def test_a_finding_that_predicts_nothing_comes_last_and_information_does_not_count(self):
        found = report(findings=[("cpu-quota-or-affinity", "warning", None), ("too-many-workers", "info", 1.2)])
        self.assertEqual(faults.ranking(found), ["read", "cores"])

    def test_without_a_bottleneck_nothing_is_named(self):
        self.assertEqual(faults.ranking(report("none", gains=())), ["none"])

    def test_baselines_see_the_same_trace(self):
        claims = fault_runs.baseline_claims(report(), scenario(workers=1, step_ms=1.0).knobs)
        # Batches of 8 take 80 ms, 64 of these for reading: twice the workers give twice the rate, and free
        # reads five times the rate.
        self.assertAlmostEqual(claims["bottleneck law"]["workers"], 1.0)
        self.assertAlmostEqual(claims["bottleneck law"]["read"], 4.0)
        self.assertEqual(claims["5 % rule"], {"workers": 1.0})


class Truth(unittest.TestCase):
    def test_of_a_label_the_best_fix_counts(self):
        one = scenario(spread="jitter")
        rates = {"base": 100.0, "prefetch 8": 110.0, "even samples": 150.0, "no step": 90.0}
        found = fault_scores.gains_of(one, rates)
        self.assertAlmostEqual(found["prefetch"], 0.5)
        self.assertAlmostEqual(found["step"], -0.1)
        self.assertEqual(fault_scores.gains_of(one, {"prefetch 8": 1.0}), {})

    def test_where_the_data_gain_nothing_the_step_and_none_are_right_and_all_else_is_an_alarm(self):
        gains = {"step": 0.5, "read": 0.02, "workers": 0.0}
        for named in ("step", "none"):
            self.assertTrue(fault_scores.is_right(named, gains))
            self.assertFalse(fault_scores.is_alarm(named, gains))
        self.assertFalse(fault_scores.is_right("read", gains))
        self.assertTrue(fault_scores.is_alarm("read", gains))
        self.assertFalse(fault_scores.is_right("none", {"step": 0.5, "read": 0.3}))
        self.assertFalse(fault_scores.is_alarm("workers", {"read": 0.3}))

    def test_an_arm_is_settled_when_its_mean_is_known_by_the_runs_that_are_wanted_at_least(self):
        def settled(repeats, *rates):
            return fault_runs.settled([{"rate": rate} for rate in rates], repeats)

        self.assertTrue(settled(1, 100))
        self.assertFalse(settled(2, 100))
        self.assertFalse(settled(3, 100, 100))
        self.assertTrue(settled(3, 100, 100, 100))
        self.assertFalse(settled(3, 100, 80, 99))  # 6.5 %
        self.assertTrue(settled(3, 100, 80, 99, 101, 98, 100, 102, 97))  # 2.6 %


class Tables(unittest.TestCase):
    def scored(self, one, rates, found):
        scores = fault_scores.Scores()
        scores.count({arm: [{"rate": rate, "load": 0.1}] for arm, rate in rates.items()}, lambda runs: True)
        others = fault_runs.baseline_claims(found, one.knobs)
        scores.add(one, found, {arm: [0.9 * rate, rate] for arm, rate in rates.items()}, others, {"files in memory": 2.0})
        return scores

    def rates(self, one, **changed):
        return {"base": 100.0, "suggested": 95.0, **{fix.what: 100.0 for fix in one.fixes}, **changed}

    def test_a_right_name_with_the_right_gain_reaches_the_goals(self):
        one = scenario()
        scores = self.scored(one, self.rates(one, **{"files in memory": 300.0}), report())
        self.assertEqual(scores.shares("penstock"), (1, 1))
        self.assertEqual(scores.confusion, {("read", "read"): 1})
        self.assertAlmostEqual(scores.gain_errors[0], 0)
        self.assertAlmostEqual(scores.judged_regret("penstock"), 0.05)
        self.assertAlmostEqual(scores.expected_gain("penstock"), 1)
        text = fault_tables.section(scores)
        self.assertIn("| faults named right, severity 1 | 100.0 % (1 of 1", text)
        self.assertIn("| regret of the suggestion | 5.0 % | at most 2 % | no |", text)
        self.assertIn("| X/1 | made up | read +200 %", text)

    def test_a_wrong_name_is_called_so(self):
        one = scenario()
        scores = self.scored(one, self.rates(one, **{"4 workers": 200.0}), report())
        self.assertEqual(scores.shares("penstock"), (0, 1))
        self.assertEqual(scores.confusion, {("workers", "read"): 1})
        self.assertEqual(scores.expected_gain("penstock"), 0)
        self.assertIn("| read | +200 % | +0 % | 1 % | no |", fault_tables.section(scores))

    def test_a_name_on_a_healthy_control_is_an_alarm_and_no_fault(self):
        one = scenario(healthy=True)
        scores = self.scored(one, self.rates(one), report())
        self.assertEqual(scores.alarms("penstock"), (1, 1))
        self.assertEqual(scores.shares("penstock"), (0, 0))
        self.assertIn("| healthy controls with an alarm | 1 of 1 | none | no |", fault_tables.section(scores))

    def test_a_scenario_that_lacks_a_run_is_not_judged(self):
        one = scenario()
        rates = self.rates(one)
        del rates["no step"]
        scores = self.scored(one, rates, report())
        self.assertEqual((scores.judged, scores.missing), ([], ["X/1"]))
        self.assertIn("Not judged, for lack of runs: X/1.", fault_tables.section(scores))


class Storage(unittest.TestCase):
    def test_contents_arrive_after_the_delay_and_at_the_rate_of_all_together(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "some"))
            with open(os.path.join(folder, "some", "file"), "wb") as file:
                file.write(b"x" * 50000)
            with fault_storage.Storage(folder) as storage:
                threading.Thread(target=storage.serve_forever, daemon=True).start()
                readers = [fault_storage.Reader(storage.server_address[1]) for _ in range(2)]
                try:
                    start = time.monotonic()
                    self.assertEqual(readers[0].read("some/file", 0.05), b"x" * 50000)
                    self.assertGreaterEqual(time.monotonic() - start, 0.05)
                    start = time.monotonic()
                    threads = [threading.Thread(target=one.read, args=("some/file", 0.0, 1e6)) for one in readers]
                    for thread in threads:
                        thread.start()
                    for thread in threads:
                        thread.join()
                    self.assertGreaterEqual(time.monotonic() - start, 0.1)  # 100 kB at 1 MB/s
                finally:
                    for one in readers:
                        one.connection.close()
                    storage.shutdown()


if __name__ == "__main__":
    unittest.main(verbosity=2)
