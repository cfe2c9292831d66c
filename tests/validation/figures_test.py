# SPDX-License-Identifier: Apache-2.0
"""Checks the harness's statistics and baselines on numbers with known answers, and the public curves."""
import math
import os
import random
import tempfile
import unittest

import baselines
import curves
import figures
import grids
import runs
import tables
import validate
from runs import Cell


class Figures(unittest.TestCase):
    def test_quantile_interpolates_between_ranks(self):
        self.assertEqual(figures.quantile([4, 1, 3, 2], 0.5), 2.5)
        self.assertAlmostEqual(figures.quantile(range(101), 0.95), 95)
        self.assertEqual(figures.quantile([7], 0.95), 7)

    def test_bias_keeps_the_sign_that_the_mean_error_drops(self):
        found = figures.summarise([0.1, -0.1, 0.2, -0.4])
        self.assertAlmostEqual(found.mean_absolute, 0.2)
        self.assertAlmostEqual(found.bias, -0.05)
        self.assertAlmostEqual(found.median_absolute, 0.15)
        self.assertEqual(found.worst, 0.4)
        self.assertIsNone(figures.summarise([]))

    def test_an_error_is_positive_where_too_much_was_promised(self):
        self.assertAlmostEqual(figures.relative_error(110, 100), 0.1)

    def test_coverage_counts_both_ends(self):
        self.assertEqual(figures.coverage([(1, 2), (1, 2), (1, 2), (1, 2)], [1, 2, 2.1, 0.9]), 0.5)
        self.assertIsNone(figures.coverage([], []))

    def test_wilson_of_a_textbook_share(self):
        low, high = figures.wilson(81, 263)  # Newcombe 1998, table I, method 3: 0.2553 to 0.3662
        self.assertAlmostEqual(low, 0.2553, places=4)
        self.assertAlmostEqual(high, 0.3662, places=4)
        self.assertEqual(figures.wilson(0, 0), (0.0, 1.0))

    def test_noise_pools_repeats_and_ignores_single_runs(self):
        self.assertAlmostEqual(figures.repeat_noise([[9, 11], [90, 110], [5]]), math.sqrt(0.02))
        self.assertIsNone(figures.repeat_noise([[1], [2]]))

    def test_regret_is_zero_for_the_best(self):
        self.assertEqual(figures.regret("a", {"a": 10, "b": 8}), 0)
        self.assertAlmostEqual(figures.regret("b", {"a": 10, "b": 8}), 0.2)

    def test_honest_regret_of_equal_choices_is_no_noise_and_of_a_bad_one_is_found(self):
        draw = random.Random(2)
        naive, honest, bad = [], [], []
        for _ in range(400):
            runs = {name: [draw.gauss(100, 10) for _ in range(8)] for name in "abcd"}
            naive.append(figures.regret("a", {name: figures.mean(found) for name, found in runs.items()}))
            honest.append(figures.honest_regret("a", runs))
            bad.append(figures.honest_regret("a", {**runs, "a": [0.8 * rate for rate in runs["a"]]}))
        self.assertGreater(figures.mean(naive), 0.025)
        self.assertAlmostEqual(figures.mean(honest), 0, delta=0.008)
        self.assertAlmostEqual(figures.mean(bad), 0.2, delta=0.01)
        self.assertEqual(figures.honest_regret("a", {"a": [1.0, 2.0], "b": [1.0, 2.0]}), 0)
        self.assertIsNone(figures.honest_regret("a", {"a": [1.0], "b": [1.0, 2.0]}))

    def test_the_standard_error_is_of_the_mean_and_relative(self):
        self.assertAlmostEqual(figures.standard_error([9, 11]), 0.1)
        self.assertIsNone(figures.standard_error([9]))

    def test_machines_that_made_the_same_runs_are_compared_by_what_they_share(self):
        self.assertIsNone(figures.speed_difference([[("a", 100.0), ("a", 120.0)], [("b", 300.0)]]))
        mixed = [[("a", 100.0), ("b", 118.0)], [("a", 10.0), ("a", 12.0), ("b", 13.0)], [("b", 5.0)]]
        self.assertAlmostEqual(figures.speed_difference(mixed), 0.1809, places=3)
        noisy = [[("a", 100.0), ("b", 110.0)], [("a", 110.0), ("b", 100.0)]]
        self.assertAlmostEqual(figures.speed_difference(noisy), 0.0)

    def test_the_cheapest_good_choice_wins(self):
        rates = {1: 50, 2: 99, 4: 100, 8: 100.5}
        self.assertEqual(figures.cheapest(rates, cost=lambda workers: workers), 2)
        self.assertEqual(figures.cheapest(rates, cost=lambda workers: workers, within=0.001), 8)

    def test_nothing_is_named_below_five_percent(self):
        self.assertEqual(figures.name_of({"workers": 0.04, "step": 0.02}), "none")
        self.assertEqual(figures.name_of({"workers": 0.3, "step": 0.5}), "step")

    def test_a_near_tie_counts_as_right_and_a_false_alarm_does_not(self):
        gains = {"workers": 0.45, "step": 0.5, "prefetch": 0.1}
        self.assertTrue(figures.named_right("workers", gains))
        self.assertFalse(figures.named_right("prefetch", gains))
        self.assertFalse(figures.named_right("none", gains))
        self.assertFalse(figures.named_right("workers", {"workers": 0.01}))
        self.assertTrue(figures.named_right("none", {"workers": 0.01}))

    def test_discordant_pairs_within_the_margin_are_not_counted(self):
        measured = {"a": 100, "b": 104, "c": 200}
        self.assertEqual(figures.discordant({"a": 9, "b": 1, "c": 10}, measured, 0.1), ([], 2))
        self.assertEqual(figures.discordant({"a": 9, "b": 1, "c": 5}, measured, 0.1), ([("a", "c")], 2))


class Baselines(unittest.TestCase):
    facts = baselines.Facts(service=0.04, cpu=0.01, cores=2)

    def test_the_law_is_the_lowest_of_its_limits(self):
        self.assertAlmostEqual(baselines.bottleneck_law(self.facts, 2, 0.0), 50)
        self.assertAlmostEqual(baselines.bottleneck_law(self.facts, 2, 0.04), 25)
        self.assertAlmostEqual(baselines.bottleneck_law(self.facts, 16, 0.0), 200)
        self.assertAlmostEqual(baselines.bottleneck_law(self.facts, 0, 0.06), 10)

    def test_the_formula_meets_the_law_where_one_side_is_far_slower(self):
        self.assertAlmostEqual(baselines.tfdata_formula(self.facts, 1, 4, 0.001), 25, places=3)
        self.assertAlmostEqual(baselines.tfdata_formula(self.facts, 4, 64, 0.1), 10, places=3)

    def test_the_formula_where_both_sides_are_as_fast(self):
        # P(empty) = 1 / (n + 1) is a third here: 20 ms of loop and a third of 20 ms of waiting.
        self.assertAlmostEqual(baselines.tfdata_formula(self.facts, 2, 2, 0.02), 1 / (0.02 * 4 / 3))
        near = baselines.tfdata_formula(self.facts, 2, 2, 0.02 * (1 + 1e-6))
        self.assertAlmostEqual(near, 1 / (0.02 * 4 / 3), places=3)

    def test_static_rules_take_what_the_grid_offers(self):
        self.assertEqual(baselines.nearest(3, (1, 2, 4)), 2)
        self.assertEqual(baselines.nearest(16, (1, 2, 4)), 4)
        self.assertEqual(baselines.five_percent_rule(0.051), "workers")
        self.assertEqual(baselines.five_percent_rule(0.05), "none")


class Curves(unittest.TestCase):
    def test_the_data_is_whole(self):
        machines = curves.load()
        self.assertEqual(len(machines), 5)
        self.assertEqual(sum(len(decoders) for decoders in machines.values()), 55)

    def test_the_fit_finds_the_constants_of_made_up_curves(self):
        made = [(rate, {count: curves.law(rate, count, 0.3e-3, 1500) for count in curves.WORKERS})
                for rate in (300, 500, 700)]  # fmt: skip
        handover, ceiling = curves.fit(made)
        self.assertAlmostEqual(handover, 0.3e-3, delta=0.01e-3)
        self.assertAlmostEqual(ceiling, 1500, delta=15)

    def test_unseen_decoders_are_predicted_within_the_goal(self):
        methods = curves.leave_one_out(curves.load())
        ours = figures.summarise(list(methods["two constants"].values()))
        print("    %d points: mean absolute error %.2f %%, bias %+.2f %%, worst %.1f %%" % (
            ours.count, 100 * ours.mean_absolute, 100 * ours.bias, 100 * ours.worst))
        self.assertEqual(ours.count, 55 * 3)
        self.assertLessEqual(ours.mean_absolute, curves.GOAL)
        naive = figures.summarise(list(methods["workers x rate"].values()))
        self.assertLess(ours.mean_absolute, naive.mean_absolute)


class Harness(unittest.TestCase):
    """A family with a known truth: twice the workers give twice the rate; queue and step change nothing."""

    cells = grids.product((1, 2), (2, 4), (0, 10))

    def family(self):
        return grids.Family("d", "made up", runs.ReferenceLoader([]), self.cells, [Cell(1, 2, 0)])

    def scored(self, claim):
        measured = {cell: [99.0 * cell.workers, 101.0 * cell.workers] for cell in self.cells}
        predicted = {cell: runs.Predicted(claim(cell), 0.9 * claim(cell), 1.1 * claim(cell)) for cell in self.cells}
        scores = grids.Scores()
        scores.repeats += measured.values()
        scores.add(self.family(), Cell(1, 2, 0), predicted, {"nothing matters": dict.fromkeys(self.cells, 100.0)},
                   dict.fromkeys(self.cells, 0.5), measured)  # fmt: skip
        return scores

    def test_a_true_prediction_has_no_error_and_reaches_every_goal(self):
        scores = self.scored(lambda cell: 100.0 * cell.workers)
        self.assertEqual(len(scores.errors["penstock"]), 7)  # the recorded cell is not predicted
        self.assertAlmostEqual(figures.summarise(scores.errors["penstock"]).worst, 0)
        self.assertEqual(scores.confusion, {("workers", "workers"): 4, ("none", "none"): 3})  # the largest cell has no change
        self.assertEqual(scores.regrets["penstock"], [0, 0])
        self.assertEqual(scores.regrets["nothing matters"], [0.5, 0.5])
        text = tables.grid_section("d", scores, (16, 24))
        self.assertIn("16 of 24 planned runs", text)
        self.assertIn("| mean absolute error | 0.0 % | at most 5 % | yes |", text)

    def test_a_false_prediction_is_called_so(self):
        scores = self.scored(lambda cell: 100.0)
        text = tables.grid_section("d", scores, (16, 24))
        self.assertIn("| 95th percentile | 50.0 % | at most 12 % | no |", text)
        self.assertIn("| best change named | 42.9 % (3 of 7", text)

    def test_a_section_that_is_not_measured_anew_stays_as_it_was(self):
        about = {"date": "2026-01-02", "cores": 2, "cpu": "a processor", "loads": [1.0, 2.0, 3.0],
                 "provisional": ["1 of 24 runs are measured."]}  # fmt: skip
        text = tables.titled(tables.grid_section("d", self.scored(lambda cell: 100.0), (16, 24)), about)
        self.assertIn("2026-01-02, 2 cores (a processor); load average", text)
        self.assertIn("1.0 to 3.0, median 2.0", text)
        self.assertIn("not a verdict on the goals.** 1 of 24 runs are measured.", text)
        document = tables.document(["## (a) Something\n\nfigures\n", text, "## (e) More\n"])
        self.assertEqual(tables.carried(document, "a"), "## (a) Something\n\nfigures\n")
        self.assertEqual(tables.carried(document, "d"), text.rstrip("\n") + "\n")
        self.assertIsNone(tables.carried(document, "b"))

    def test_runs_of_machines_that_differ_are_no_verdict(self):
        runs_of_two = [[{"machine": "one", "rate": 100.0}, {"machine": "other", "rate": 120.0}]]
        self.assertIn("differ by 20 %", validate.mixed(runs_of_two)[0])
        runs_of_two[0][1]["rate"] = 104.0
        self.assertEqual(validate.mixed(runs_of_two), [])
        self.assertEqual(validate.mixed([[{"rate": 100.0}, {"rate": 150.0}]]), [])  # runs without a machine

    def test_an_interrupted_line_is_measured_again(self):
        with tempfile.TemporaryDirectory() as folder:
            validate.Store(folder).add("one", {"rate": 1.0})
            with open(os.path.join(folder, "results.jsonl"), "a", encoding="utf-8") as file:
                file.write('{"key": "two", "ra')
            store = validate.Store(folder)
            self.assertEqual(list(store.runs), ["one"])
            store.add("three", {"rate": 3.0})
            self.assertEqual(list(validate.Store(folder).runs), ["one", "three"])

    def test_recordings_come_first_and_repeats_in_layers(self):
        planned = validate.plan([self.family()._replace(section="e")])
        self.assertEqual([repeat for _family, _cell, repeat in planned], [None] + [0] * 8 + [1] * 8)


if __name__ == "__main__":
    unittest.main(verbosity=2)
