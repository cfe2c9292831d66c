# SPDX-License-Identifier: Apache-2.0
"""Followed units (samples and steps of which each call of a Python function is recorded): programs do the same as
without following, their profilers and tracers see the same, and hot functions and lines are found."""
import collections
import glob
import json
import os
import re
import statistics
import subprocess
import unittest

import support
import tracefile
from support import PYTHON, bare, environment, program, record, require, run, target

VICTIM = target("followed.py")
# The system's Python, and pyenv's interpreters from 3.9 on. Only PYTHON has torch; the tests that run the
# others do not need torch.
INTERPRETERS = [PYTHON] + sorted(
    path for path in glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))
    if re.search(r"/3\.(9|1\d)\.", path)
)  # fmt: skip
SAME = ("loop", "waits", "recursion", "exceptions", "generators", "destruction", "threads", "closures", "randomness", "calls",
        "forks")  # fmt: skip
CHOSEN = 32  # a flag of units: traces/FORMAT.md
TOOLS = ("profiler", "setprofile", "settrace", "monitoring")


def version_of(python):
    text = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2])"], stdout=subprocess.PIPE, text=True)
    return tuple(map(int, text.stdout.split()))


def line_of(path, text):
    with open(path, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


class Followed(support.Case):
    pictures = (1, ((16, 16),))

    @classmethod
    def setUpClass(cls):
        require("penstock-export")
        super().setUpClass()

    def both(self, python, case, times=40):
        alone = run([python, VICTIM, case, str(times)], environment())
        self.assertEnded(alone)
        trace = self.path("%s-%s" % (case, os.path.basename(os.path.dirname(os.path.dirname(python)))))
        traced = run([python, VICTIM, case, str(times)], bare(trace))
        self.assertEndedLike(alone, traced, "%s %s" % (python, case))
        self.followed = re.search(r"followed (\d+) off (.*)", traced.stderr)
        self.assertIsNotNone(self.followed, repr(traced))
        return trace

    def test_programs_do_the_same(self):
        for python in INTERPRETERS:
            for case in SAME:
                with self.subTest(python=python, case=case):
                    self.both(python, case)
                    # The number of followed units depends on what the first ones cost: more on a busy machine.
                    self.assertGreaterEqual(int(self.followed.group(1)), 1, self.followed.group(0))
                    self.assertEqual("None", self.followed.group(2))

    def test_tools_of_the_program_see_the_same_and_nothing_is_followed_beside_them(self):
        for python in INTERPRETERS:
            for case in TOOLS:
                with self.subTest(python=python, case=case):
                    self.both(python, case)
                    if case != "monitoring" or version_of(python) >= (3, 12):
                        self.assertEqual("a tool of the program", self.followed.group(2))
                        self.assertEqual("0", self.followed.group(1))

    def test_the_hot_function_and_its_lines_have_the_time(self):
        first = line_of(VICTIM, "def hot_loop")
        for python in INTERPRETERS:
            with self.subTest(python=python):
                rows = tracefile.Trace(self.both(python, "loop", 200)).units()
                self.assertGreater(len(rows), 5)
                in_loop = in_lines = total = 0
                for unit in rows:
                    names = {call["node"]: call for call in unit["calls"]}
                    self.assertEqual(len(names), unit["nodes"])
                    for call in unit["calls"]:
                        total += call["own_ns"]
                        parent = names.get(call["parent"])
                        self.assertTrue(call["parent"] == -1 or parent is not None)
                        if call["name"].endswith("hot_loop"):
                            self.assertEqual(os.path.realpath(VICTIM), os.path.realpath(call["file"]))
                            in_loop += call["own_ns"]
                            if call["kind"] == 3:
                                self.assertIn(call["line"], range(first, first + 6))
                                in_lines += call["own_ns"] * (call["line"] in (first + 3, first + 4))
                self.assertGreater(in_loop, 0.7 * total)
                self.assertGreater(in_lines, 0)


    def test_methods_of_c_have_the_names_of_their_classes(self):
        for python in INTERPRETERS:
            with self.subTest(python=python):
                rows = tracefile.Trace(self.both(python, "methods")).units()
                names = {call["name"] for unit in rows for call in unit["calls"] if call["kind"] == 2}
                self.assertLessEqual({"re.Pattern.findall", "re.Pattern.sub"}, names)
                self.assertNotIn("builtin_method", names)

    def test_the_line_that_waits_is_followed(self):
        line = line_of(VICTIM, "time.sleep(")
        for python in INTERPRETERS:
            with self.subTest(python=python):
                rows = tracefile.Trace(self.both(python, "waits", 100)).units()
                waits = [call["total_ns"] for unit in rows for call in unit["calls"]
                         if call["kind"] == 3 and call["line"] == line]  # fmt: skip
                self.assertGreater(len(waits), 2)
                self.assertGreater(min(waits), 2900000)


class Loop(support.Case):
    """A real DataLoader under the recorder."""

    pictures = (1, ((16, 16),))
    SAMPLES = 3200  # the agent's time budget allows it to follow two or three of every 1,600 samples

    @classmethod
    def setUpClass(cls):
        require("penstock-record", "penstock-export")
        super().setUpClass()

    def test_a_loop_over_elements_is_found_with_its_line_within_the_budget(self):
        victim = target("python_loop.py")
        trace_path = self.path("trace.penstock")
        outcome = run(record(trace_path, [PYTHON, victim, str(self.SAMPLES), "1"]), environment())
        self.assertEnded(outcome)
        trace = tracefile.Trace(trace_path)
        samples = [unit for unit in trace.units() if unit["stage"] == "sample"]
        self.assertGreater(len(samples), 1)
        line = line_of(victim, "edges[y, x] =")
        of_loop, of_line = [], []
        for unit in samples:
            by_node = {call["node"]: call for call in unit["calls"]}
            in_loop = 0
            lines = collections.Counter()
            for call in unit["calls"]:
                self.assertNotIn("penstock_hooks", call["file"])
                at = call
                while at is not None and not (at["name"] == "make_edges" and at["kind"] == 1):
                    at = by_node.get(at["parent"])
                in_loop += call["own_ns"] if at is not None else 0
                if call["kind"] == 3 and call["name"] == "make_edges":
                    lines[call["line"]] += call["total_ns"]
            of_loop.append(in_loop / sum(call["own_ns"] for call in unit["calls"]))
            if lines:
                of_line.append(lines[line] / sum(lines.values()))
            self.assertGreaterEqual(unit["neighbours"], 16)
            self.assertGreater(unit["ordinary_ns"], 100000)
        self.assertGreater(statistics.median(of_loop), 0.6)  # most of the other time is in numpy.roll
        self.assertGreater(statistics.median(of_line), 0.7)
        told = 0
        for process in trace.processes:
            facts = process.get("facts", {})
            if "functions.units" not in facts:
                continue
            told += 1
            spent, of = int(facts["functions.spent_ns"]), int(facts["functions.of_ns"])
            self.assertLess(spent, of / 500 + 5e6, facts)  # 5 ms more: the last unit may have been interrupted
        self.assertGreater(told, 0)

    def test_switched_off_nothing_is_followed_and_the_program_says_the_same(self):
        words = [PYTHON, target("python_loop.py"), "160", "0"]
        alone = run(words, environment())
        trace_path = self.path("off.penstock")
        outcome = run(record(trace_path, words), environment({"PENSTOCK_FUNCTIONS": "off"}))
        self.assertEndedLike(alone, outcome)
        self.assertEqual([], tracefile.Trace(trace_path).unit_rows)


class SlowSamples(support.Case):
    """Runs alone, because the report says nothing of slow samples if other programs crowd the cores."""

    @classmethod
    def setUpClass(cls):
        require("penstock", "penstock-record", "penstock-export")
        super().setUpClass()

    def test_slow_samples_are_followed_when_they_come_again(self):
        for workers in (0, 2):  # the workers of an epoch end with it
            with self.subTest(workers=workers):
                words = [PYTHON, target("slow_lines.py"), str(97 * 6), str(workers), "4"]
                alone = run(words, environment())
                trace_path = self.path("slow%d.penstock" % workers)
                self.assertEndedLike(alone, run(record(trace_path, words), environment()))
                trace = tracefile.Trace(trace_path)
                samples = [unit for unit in trace.units() if unit["stage"] == "sample"]
                chosen = [unit for unit in samples if unit["flags"] & CHOSEN]
                self.assertGreater(len(chosen), 4)
                slow = [unit for unit in chosen if unit["sample"] % 97 == 5]
                # One sample in 97 has the slow line; a random choice would have that share. On a busy machine other
                # samples wait for a core and are chosen too, so the share is not 1.
                self.assertGreater(len(slow), len(chosen) / 8)
                self.assertGreater(min(unit["duration_ns"] for unit in slow), 30e6)
                first = min(unit["generation"] for unit in samples)
                self.assertEqual(set(), {unit["sample"] for unit in chosen if unit["generation"] == first})
                self.assertEqual({0}, {unit["ordinary_ns"] for unit in chosen})
                drawn = [unit for unit in samples if not unit["flags"] & CHOSEN]
                self.assertLess(sum(unit["sample"] % 97 == 5 for unit in drawn), len(drawn) / 8)
                self.assert_names_the_line(trace_path)

    def assert_names_the_line(self, trace_path):
        report = json.loads(run([program("penstock"), "report", "--json", trace_path], environment()).stdout)
        finding = next(one for one in report["findings"] if one["id"] == "slow-samples")
        evidence = finding["evidence"]
        self.assertEqual(line_of(target("slow_lines.py"), "# the slow line"), evidence["line"], finding)
        self.assertEqual("load", evidence["function"])
        # The line takes 0.03 s. The mean over all slow samples is less: on a busy machine, samples without the line
        # are slow too, because they wait for a core.
        self.assertGreater(evidence["in_slow_samples_s"], 0.006)
        self.assertGreater(evidence["in_slow_samples_s"], 3 * evidence["in_others_s"])
        self.assertLess(evidence["in_others_s"], 0.003)


if __name__ == "__main__":
    support.main()
