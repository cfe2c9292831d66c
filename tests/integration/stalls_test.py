# SPDX-License-Identifier: Apache-2.0
"""Workers and training loops that stand still: the agent records their stacks, and the program does the same as without
the agent."""
import concurrent.futures
import json
import os
import unittest

import support
import tracefile
from functions_test import INTERPRETERS, line_of, version_of
from support import PYTHON, bare, environment, program, record, require, run, target

VICTIM = target("stalled.py")
LOOP = target("stalled_loop.py")
STALL = 64  # a flag of units: traces/FORMAT.md
WAITS = {"lock": "lock", "from_queue": "from_queue", "network": "network", "sleep": "sleep", "deep": "sleep",
         "generator": "generator", "leaving": "leaving"}  # fmt: skip


class Stalled(support.Case):
    pictures = (1, ((16, 16),))

    @classmethod
    def setUpClass(cls):
        require("penstock-export")
        super().setUpClass()

    def both(self, case):
        """Yields (interpreter, its stalls) for each interpreter. All programs run at the same time, because they mostly
        sleep."""
        traces = [self.path("%s-%d.%d" % ((case,) + version_of(python))) for python in INTERPRETERS]
        with concurrent.futures.ThreadPoolExecutor(2 * len(INTERPRETERS)) as pool:
            alone = [pool.submit(run, [python, VICTIM, case], environment()) for python in INTERPRETERS]
            traced = [pool.submit(run, [python, VICTIM, case], bare(trace))
                      for python, trace in zip(INTERPRETERS, traces)]  # fmt: skip
        for python, one, other, trace in zip(INTERPRETERS, alone, traced, traces):
            with self.subTest(python=python, case=case):
                self.assertEnded(one.result())
                self.assertEndedLike(one.result(), other.result(), "%s %s" % (python, case))
                yield python, [unit for unit in tracefile.Trace(trace).units() if unit["flags"] & STALL]

    def test_the_line_that_waits_is_on_the_stack(self):
        for case, function in WAITS.items():
            for python, units in self.both(case):
                with self.subTest(python=python, case=case):
                    self.assertEqual(1, len(units), units)
                    unit = units[0]
                    self.assertEqual(("sample", 100), (unit["stage"], unit["sample"]))
                    self.assertGreater(unit["duration_ns"], 1.2e9)
                    self.assertLess(unit["duration_ns"], 2.5e9)
                    lines = [(call["name"].rpartition(".")[2], call["line"]) for call in unit["calls"]
                             if call["kind"] == 3 and call["file"] == VICTIM]  # fmt: skip
                    name = "values" if case == "generator" else function
                    self.assertEqual((name, line_of(VICTIM, "# waits: " + function)), lines[-1])
                    self.assertLessEqual(unit["nodes"], 48)

    def test_a_stall_is_measured_from_the_start_of_the_last_span(self):
        for python, units in self.both("inner"):
            self.assertEqual(1, len(units), (python, units))
            self.assertGreater(units[0]["duration_ns"], 0.9e9)
            self.assertLess(units[0]["duration_ns"], 2.2e9)  # less than the whole sample, which takes 2.6 s

    def test_finalizers_and_forks_are_not_disturbed_by_the_stall_watcher(self):
        for case in ("garbage", "forks"):
            for python, units in self.both(case):
                self.assertLessEqual(len(units), 1, python)


class StalledLoop(support.Case):
    """Real DataLoaders under the recorder."""

    pictures = (1, ((16, 16),))

    @classmethod
    def setUpClass(cls):
        require("penstock-record", "penstock-export")
        super().setUpClass()

    def stalls(self, *words):
        command = [PYTHON, LOOP] + [str(word) for word in words]
        alone = run(command, environment())
        trace_path = self.path("-".join(str(word) for word in words) + ".penstock")
        self.assertEndedLike(alone, run(record(trace_path, command), environment()))
        report = json.loads(run([program("penstock"), "report", "--json", trace_path], environment()).stdout)
        return report["stalls"]

    def test_the_report_names_where_worker_and_loop_stood_still(self):
        for case, workers in (("both", 0), ("both", 2), ("forks", 2)):
            with self.subTest(case=case, workers=workers):
                stalls = {one["line"]: one for one in self.stalls(case, workers)}
                in_sample = stalls[line_of(LOOP, "# waits: sample")]
                self.assertEqual(("load", "sample", 150), (in_sample["function"], in_sample["stage"], in_sample["sample"]))
                self.assertEqual(workers > 0, "worker" in in_sample)
                in_step = stalls[line_of(LOOP, "# waits: step")]
                self.assertEqual(("main", "step"), (in_step["function"], in_step["stage"]))
                self.assertNotIn("worker", in_step)
                self.assertFalse(in_step["after_epoch"])
                self.assertEqual(2, len(stalls), stalls)
                for one in stalls.values():
                    self.assertEqual(os.path.realpath(LOOP), os.path.realpath(one["file"]))
                    self.assertGreater(one["longest_s"], 1.4)

    def test_where_nothing_stands_still_no_stack_is_recorded(self):
        self.assertEqual([], self.stalls("none", 2))


if __name__ == "__main__":
    support.main()
