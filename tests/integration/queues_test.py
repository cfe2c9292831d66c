# SPDX-License-Identifier: Apache-2.0
"""Training loops without a known loader, whose samples come from threads and processes that the program starts itself
(makers). A second run, which decodes each file only once, checks what the report says of decoding."""
import concurrent.futures
import json
import re

import support
from support import PYTHON, environment, program, record, require, run, target

# A step is a sleep of this many ms. With two makers, decoding and resizing a sample takes some 2 ms.
LONG_MS = 12


class Queues(support.Case):
    """The checks. Each class below runs them on several kinds of loops."""

    pictures = (32, ((500, 375), (520, 375), (540, 390)))

    @classmethod
    def setUpClass(cls):
        require("penstock-record", "penstock")
        super().setUpClass()

    def rate(self, kind, *options):
        outcome = run([PYTHON, target("queues.py"), kind, self.data, *map(str, options)])
        self.assertEnded(outcome)
        return float(outcome.stdout.split()[0])

    def report(self, kind, *options):
        """(report, samples a second as the recorded program counted them)."""
        trace = self.path(kind + ".penstock")
        command = [PYTHON, target("queues.py"), kind, self.data, *map(str, options)]
        outcome = run(record(trace, command), environment())
        self.assertEnded(outcome)
        counted = float(re.match(r"[0-9.]+", outcome.stdout).group())
        outcome = run([program("penstock"), "report", trace, "--json"])
        self.assertEnded(outcome)
        report = json.loads(outcome.stdout)
        self.assertEqual(report["losses"]["dropped_events"], 0)
        return report, counted

    def check_data(self, kind, *options):
        """Checks a loop that its data path holds back: the report says that it waits much of the time, and the reported
        rate is right."""
        report, counted = self.report(kind, "--count", 320, *options)
        verdict = report["verdict"]
        self.assertIn(verdict["bottleneck"], ("decode", "augment"), verdict["summary"])
        self.assertGreater(verdict["wait_fraction"], 0.4, verdict["summary"])
        self.assertLess(abs(report["throughput"]["samples_per_s"] / counted - 1), 0.2, verdict["summary"])
        self.assertGreater(self.rate(kind, "--count", 320, "--free", *options) / counted, 1.5)
        return verdict

    def check_step(self, kind, *options):
        """Checks a loop that its step holds back: the verdict says so, and promises little gain from faster data."""
        options = ("--count", 160, "--step", LONG_MS, *options)
        report, counted = self.report(kind, *options)
        verdict = report["verdict"]
        self.assertEqual("compute", verdict["bottleneck"], verdict["summary"])
        self.assertLess(verdict["wait_fraction"], 0.1, verdict["summary"])
        self.assertLess(verdict["speedup_if_data_free"], 1.15, verdict["summary"])
        self.assertLess(abs(report["throughput"]["samples_per_s"] / counted - 1), 0.2, verdict["summary"])
        # The three runs take place at the same time, so that other programs slow all of them down alike. They sleep
        # most of the time, so they hardly slow each other down.
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            plain, *free = pool.map(lambda more: self.rate(kind, *options, *more), ((), ("--free",), ("--free",)))
        self.assertLess(min(free) / max(counted, plain), 1.2)

    def check_both(self, kind):
        verdict = self.check_data(kind)
        self.assertEqual(2, verdict["feed"]["makers"])
        self.check_step(kind)


class Processes(Queues):
    def test_queue(self):
        self.check_both("processes")

    def test_one_maker(self):
        self.check_data("processes", "--makers", 1)
        self.check_step("processes", "--makers", 1)

    def test_futures(self):
        self.check_both("process_futures")

    def test_sockets(self):
        self.check_both("pipes")

    def test_pool(self):
        self.check_data("pool")

    def test_names_no_setting(self):
        """Nothing is predicted for more makers, because their number is not a setting of a loader."""
        self.report("processes", "--count", 200)
        outcome = run([program("penstock"), "whatif", self.path("processes.penstock"), "--workers", "4"])
        self.assertEnded(outcome, 4)
        self.assertIn("none was seen", outcome.stdout + outcome.stderr)


class Threads(Queues):
    def test_queue(self):
        self.check_both("threads")

    def test_futures(self):
        self.check_both("thread_futures")

    def test_map(self):
        self.check_data("mapped")

    def test_loop_without_threads(self):
        """The report cannot tell whether the loop's work besides decoding is its step or belongs to making samples."""
        report, counted = self.report("alone", "--count", 320)
        verdict = report["verdict"]
        self.assertEqual(0, verdict["feed"]["makers"])
        self.assertGreater(verdict["feed"]["own_fraction"], 0.3)
        self.assertGreater(verdict["speedup_if_data_free"], 1.4)
        self.assertLess(abs(report["throughput"]["samples_per_s"] / counted - 1), 0.2)


class Mixed(Queues):
    def test_condition(self):
        self.check_both("condition")

    def test_queues_of_c(self):
        self.check_both("simple")

    def test_asyncio(self):
        self.check_both("tasks")

    def test_loop_in_a_thread(self):
        self.check_both("another_thread")

    def test_loop_that_decodes_too(self):
        verdict = self.check_data("shared_reading")
        self.assertGreater(verdict["feed"]["own_fraction"], 0.4)
        self.assertEqual(1, verdict["feed"]["makers"])


if __name__ == "__main__":
    support.main()
