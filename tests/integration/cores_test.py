# SPDX-License-Identifier: Apache-2.0
"""penstock whatif --cores: predicts a program's rate on one core from a run on two, and the other way round. The
predictions are compared with measured rates; a control group with a CPU quota provides the one core."""
import json
import os
import time
import unittest

import support
from support import PYTHON, environment, program, record, require, run, target

QUIET = 0.5  # if other programs keep more cores than this busy, measured rates are not compared


class Group:
    """A control group, of version 1 or 2, with a quota of `cores` cores. command() makes a command run in it."""

    def __init__(self, name, cores):
        period = 100_000
        for root, files in (("/sys/fs/cgroup/cpu", {"cpu.cfs_period_us": period, "cpu.cfs_quota_us": int(cores * period)}),
                            ("/sys/fs/cgroup", {"cpu.max": f"{int(cores * period)} {period}"})):  # fmt: skip
            self.path = os.path.join(root, name)
            try:
                os.mkdir(self.path)
            except OSError:
                continue
            try:
                for file, value in files.items():
                    with open(os.path.join(self.path, file), "w", encoding="ascii") as out:
                        out.write(str(value))
                return
            except OSError:
                os.rmdir(self.path)
        raise unittest.SkipTest("control groups cannot be made here")

    def command(self, words):
        return ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', self.path, *words]

    def close(self):
        for _ in range(50):
            try:
                os.rmdir(self.path)
                return
            except OSError:  # a process of the run is still ending
                time.sleep(0.1)


def busy(seconds=0.5):
    """How many cores are busy now, while the test itself runs nothing."""
    def used():
        with open("/proc/stat", encoding="ascii") as file:
            words = [int(word) for word in file.readline().split()[1:9]]
        return sum(words) - words[3] - words[4]
    before = used()
    time.sleep(seconds)
    return (used() - before) / os.sysconf("SC_CLK_TCK") / seconds


class Cores(support.Case):
    pictures = (1, ((16, 16),))

    @classmethod
    def setUpClass(cls):
        require("penstock-record", "penstock")
        super().setUpClass()
        cls.group = Group("penstock_test_%d" % os.getpid(), 1)

    @classmethod
    def tearDownClass(cls):
        cls.group.close()
        super().tearDownClass()

    def ask(self, name, wrap, cores):
        """(rate recorded, rate predicted with `cores` cores, usable cores that the recording names)."""
        trace = self.path(name + ".penstock")
        outcome = run(wrap(record(trace, [PYTHON, target("structures.py"), "computing", "2"])), environment())
        self.assertEnded(outcome)
        report = run([program("penstock"), "report", trace, "--json"])
        self.assertEnded(report)
        predicted = run([program("penstock"), "whatif", trace, "--cores", str(cores), "--json"])
        self.assertEnded(predicted)
        report = json.loads(report.stdout)
        return (report["throughput"]["samples_per_s"], json.loads(predicted.stdout)["configurations"][0]["samples_per_s"],
                report["signals"]["usable_cores"])  # fmt: skip

    def measure(self, wrap):
        outcome = run(wrap([PYTHON, target("structures.py"), "computing", "2"]), environment())
        self.assertEnded(outcome)
        return float(outcome.stdout.split()[0])

    def test_from_two_cores_to_a_quota_of_one_and_back(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one core")
        free, other = (lambda words: words), busy()
        two, to_one, cores_of_two = self.ask("two", free, 1)
        one, to_two, cores_of_one = self.ask("one", self.group.command, 2)
        self.assertAlmostEqual(cores_of_one, 1, delta=0.01)  # the agent read the quota of the run's control group
        self.assertGreater(cores_of_two, 1.5)
        # A sample takes 6 ms of CPU time. So a core makes at most 1 / 0.006 samples a second.
        self.assertLess(to_one, 1.05 / 0.006)
        self.assertLess(to_two, 2 * 1.05 / 0.006)
        print("    two cores: %.0f recorded, %.0f predicted; one: %.0f recorded, %.0f predicted; %.1f cores busy otherwise"
              % (two, to_two, one, to_one, other), flush=True)  # fmt: skip
        if other > QUIET or busy() > QUIET:
            return
        self.assertLess(abs(to_one / self.measure(self.group.command) - 1), 0.12)
        self.assertLess(abs(to_two / self.measure(free) - 1), 0.12)


if __name__ == "__main__":
    support.main()
