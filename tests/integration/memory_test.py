# SPDX-License-Identifier: Apache-2.0
"""Memory of real workers: why it grows, how fast, and how far; and whether batches fit into a small /dev/shm.

The recorded program measures the true values itself: it reads its workers' smaps_rollup and how much of /dev/shm is
used.
"""
import concurrent.futures
import json
import os
import statistics
import subprocess
import sys
import unittest

import support
from support import PYTHON, Case, environment, program, record, require, run, target

SMALL = 64 << 20
IN_SMALL_SHM = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=64m tmpfs /dev/shm && exec "$@"', "sh")


class Watched(Case):
    pictures = (1, support.SMALL_SIZES)

    @classmethod
    def setUpClass(cls):
        require("penstock-record", "penstock")
        super().setUpClass()

    @staticmethod
    def recorded(output, kind, *arguments, options=("--memory", "200ms"), before=()):
        """The outcome of the recorded program."""
        command = [PYTHON, target("memory.py"), "--kind", kind, *map(str, arguments)]
        return run([*before, *record(output, command, *options)], environment(), timeout=120)

    def load(self, kind, *arguments, **options):
        """Records the program and reads its output and its report."""
        output = self.path(kind + ".penstock")
        self.read(output, self.recorded(output, kind, *arguments, **options))

    def read(self, output, outcome):
        """Sets self.truth to what the program measured, self.report to what Penstock says."""
        self.assertEnded(outcome)
        self.truth = json.loads(outcome.stdout)
        told = run([program("penstock"), "report", output, "--json"])
        self.assertEnded(told)
        self.report = json.loads(told.stdout)
        self.text = " ".join(run([program("penstock"), "report", output, "--verbose"]).stdout.split())
        self.found = {finding["id"]: finding for finding in self.report["findings"]}

    def rate(self, column, batches=False):
        """A worker's measured growth, in bytes a second or in bytes for each of its batches. The first fifth of the run
        is left out."""
        rates = []
        for series in self.truth["workers"].values():
            first, last = series[len(series) // 5], series[-1]
            along = (last[1] - first[1]) / len(self.truth["workers"]) if batches else last[0] - first[0]
            rates.append((last[column] - first[column]) / along)
        return statistics.mean(rates)

    def assertClose(self, told, true, share):
        print("    told %.4g, true %.4g" % (told, true), flush=True)
        self.assertLess(abs(told - true), share * abs(true), self.report["memory"])


class Growth(Watched):
    # The recording of "objects" stops after about half of the epoch; the report forecasts the rest.
    RUNS = {
        "objects": ((), ("--memory", "200ms", "--batches", "220")),
        "early": (("--batches", 350), ()),
        "leak": ((), ("--memory", "200ms")),
        "arrays": (("--batches", 200), ("--memory", "200ms")),
        "mapped": (("--batches", 200), ("--memory", "200ms")),
    }  # fmt: skip

    @classmethod
    def setUpClass(cls):
        """Makes all recordings at the same time. They do not disturb each other: the programs sleep nearly all the
        time, and each measures only its own processes."""
        super().setUpClass()
        cls.outputs = {kind: os.path.join(cls.base, kind + ".penstock") for kind in cls.RUNS}
        with concurrent.futures.ThreadPoolExecutor(len(cls.RUNS)) as pool:
            cls.outcomes = dict(zip(cls.RUNS, pool.map(
                lambda kind: cls.recorded(cls.outputs[kind], kind, *cls.RUNS[kind][0], options=cls.RUNS[kind][1]),
                cls.RUNS)))  # fmt: skip

    def look(self, kind):
        self.read(self.outputs[kind], self.outcomes[kind])

    def test_copies_of_python_objects_are_named_and_forecast(self):
        self.look("objects")
        self.assertNotIn("worker-memory-leak", self.found)
        finding = self.found["worker-memory-growth"]
        evidence = finding["evidence"]
        self.assertEqual(evidence["kind"], "copy on write")
        self.assertIn("copy on write", self.text)
        self.assertEqual(len(finding["where"]["pids"]), 2)
        # "Anonymous" does not grow: pages are copied, not added.
        self.assertLess(abs(self.rate(3)), 0.2 * self.rate(2), self.truth)
        self.assertClose(evidence["bytes_per_batch"], self.rate(2, batches=True), 0.15)
        self.assertLessEqual(evidence["bytes_per_s_low"], evidence["bytes_per_s"])
        self.assertLess(abs(evidence["new_bytes_per_s"]), 0.2 * evidence["bytes_per_s"])
        end = statistics.mean(series[-1][2] for series in self.truth["workers"].values())
        self.assertClose(evidence["private_bytes_at_epoch_end"], end, 0.2)
        self.assertEqual(evidence["epoch_batches"], self.truth["epoch"])
        forecasts = {one["of"]: one for one in self.report["memory"]["forecasts"]}
        self.assertGreater(forecasts["recorded"]["ram_bytes"], 2 * 0.8 * end)

    def test_copies_that_are_over_early_are_named_from_a_short_run(self):
        self.look("early")
        self.assertNotIn("worker-memory-growth", self.found)
        finding = self.found["worker-memory-copied"]
        evidence = finding["evidence"]
        last = [series[-1] for series in self.truth["workers"].values()]
        private = statistics.mean(one[2] for one in last)
        self.assertGreater(private, 100e6)
        self.assertClose(evidence["copied_bytes"] + evidence["fresh_bytes"], private, 0.15)
        self.assertClose(evidence["parent_bytes"], statistics.mean(one[3] for one in last), 0.15)
        self.assertGreater(evidence["minor_faults"] * 4096, 0.9 * evidence["copied_bytes"])

    def test_a_leak_is_named(self):
        self.look("leak")
        self.assertNotIn("worker-memory-growth", self.found)
        evidence = self.found["worker-memory-leak"]["evidence"]
        self.assertClose(evidence["bytes_per_s"], 2 * self.rate(3), 0.25)
        self.assertClose(evidence["bytes_per_batch"], self.rate(3, batches=True), 0.15)
        self.assertIn("leak", self.text)

    def test_arrays_do_not_grow(self):
        self.look("arrays")
        self.assertTrue(self.report["memory"]["known"], self.report["memory"])
        self.assertNotIn("worker-memory-growth", self.found)
        self.assertNotIn("worker-memory-leak", self.found)
        self.assertNotIn("grows by", self.text)

    def test_pages_of_a_mapped_file_are_no_growth(self):
        self.look("mapped")
        self.assertTrue(self.report["memory"]["known"], self.report["memory"])
        # Each worker has read about half of the mapped file, both together all of it.
        self.assertGreater(self.report["memory"]["page_cache"]["grown_bytes"], 20e6)
        self.assertNotIn("worker-memory-growth", self.found)
        self.assertNotIn("worker-memory-leak", self.found)


class PageFaults(Watched):
    """A sample makes two arrays of 6 MB. The allocator gives their pages back to the kernel after each sample."""

    VARIABLES = ("MALLOC_MMAP_THRESHOLD_=33554432", "MALLOC_TRIM_THRESHOLD_=268435456")

    def faults(self):
        """The measured page faults for each sample, from a worker's first reading to its last."""
        each = [(last[4] - first[4]) / ((last[1] - first[1]) * 8 / 2)
                for first, *_, last in self.truth["workers"].values()]  # fmt: skip
        return statistics.mean(each)

    def test_memory_that_is_given_back_is_named_and_the_advice_keeps_it(self):
        self.load("pictures", "--batches", 120, "--step-ms", 0)
        evidence = self.found["allocator-page-faults"]["evidence"]
        self.assertClose(evidence["faults_per_sample"], self.faults(), 0.1)
        self.assertGreater(evidence["faults_per_sample"], 500)
        for variable in self.VARIABLES:
            self.assertIn(variable, self.text)
        before = self.faults()
        self.load("pictures", "--batches", 120, "--step-ms", 0, before=("env", *self.VARIABLES))
        self.assertNotIn("allocator-page-faults", self.found)
        self.assertLess(self.faults(), 0.1 * before)


class SmallSharedMemory(Watched):
    """Runs in a mount namespace of its own, with 64 MB of /dev/shm as in a container."""

    @classmethod
    def setUpClass(cls):
        tried = subprocess.run([*IN_SMALL_SHM, "true"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, timeout=60, check=False)  # fmt: skip
        if tried.returncode != 0:
            raise unittest.SkipTest("no mount namespace here: " + tried.stdout.strip())
        super().setUpClass()

    def in_small(self, kind, megabytes, *arguments):
        self.load(kind, "--batches", 160, "--sample-bytes", int(megabytes * 1e6 / 8), *arguments, options=(),
                  before=IN_SMALL_SHM)  # fmt: skip
        self.assertEqual(self.report["losses"]["dropped_events"], 0)
        self.assertEqual(self.report["memory"]["shared_memory"]["size_bytes"], SMALL)
        return self.found.get("shared-memory-too-small")

    def test_batches_that_may_not_fit(self):
        # 2 workers with 2 + 1 batches of 8 MB each, and a margin of half as much: 72 MB.
        finding = self.in_small("batches", 8)
        self.assertIsNotNone(finding, self.report["memory"])
        evidence = finding["evidence"]
        self.assertEqual(evidence["shm_bytes"], SMALL)
        self.assertEqual(evidence["batch_bytes"], 8e6)
        self.assertEqual(evidence["needed_bytes"], 1.5 * 8e6 * 6)
        # The program and the collector read at different moments how much is used. Each must have seen nearly two
        # batches at least, and no more than six: what is needed without the margin.
        most = self.truth["shm_most"] - self.truth["shm_before"]
        for seen in (most, evidence["most_used_bytes"]):
            self.assertGreater(seen, 1.9 * 8e6)
            self.assertLessEqual(seen, 1.02 * 8e6 * 6)
        self.assertIn("--shm-size=", finding["action"])

    def test_batches_that_fit(self):
        self.assertIsNone(self.in_small("batches", 5))  # 45 MB with the margin

    def test_batches_that_are_pickled_take_none(self):
        self.assertIsNone(self.in_small("pickled", 8))
        self.assertTrue(self.report["memory"]["shared_memory"]["unused"])


if __name__ == "__main__":
    sys.exit(support.main())
