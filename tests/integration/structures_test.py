# SPDX-License-Identifier: Apache-2.0
"""Training loops with several loaders. The report names each loader by the line that made it. Loaders that the loop
uses at the same time are predicted together. Nothing is predicted if a loader starts anew for each batch of another.
There are also loaders whose samples other processes make."""
import concurrent.futures
import gzip
import json
import os

import support
import tracefile
from support import PYTHON, environment, program, record, require, run, target

with open(target("structures.py"), encoding="utf-8") as FILE:
    LINES = FILE.read().splitlines()


def line_of(text):
    """"structures.py:88" of the one line that holds `text`."""
    found = [number for number, line in enumerate(LINES, 1) if text in line]
    assert len(found) == 1, (text, found)
    return f"structures.py:{found[0]}"


class Structures(support.Case):
    pictures = (1, ((16, 16),))

    @classmethod
    def setUpClass(cls):
        require("penstock-record", "penstock")
        super().setUpClass()
        cls.printed = {}

    def report(self, kind, workers=1):
        """The report of a run. Each kind of run is recorded once, for all tests."""
        self.trace = os.path.join(self.base, "%s%d.penstock" % (kind, workers))
        if self.trace not in self.printed:
            outcome = run(record(self.trace, [PYTHON, target("structures.py"), kind, str(workers)]), environment())
            self.assertEnded(outcome)
            self.printed[self.trace] = outcome.stdout
        self.rate, self.cpu_of_children = map(float, self.printed[self.trace].split())
        outcome = run([program("penstock"), "report", self.trace, "--json"])
        self.assertEnded(outcome)
        report = json.loads(outcome.stdout)
        self.assertEqual(report["losses"]["dropped_events"], 0)
        return report

    def check_unpredicted(self, report):
        self.assertEqual("needs.one-loader", report["verdict"]["needs_statement"]["id"])
        self.assertEqual([], [finding["id"] for finding in report["findings"] if finding.get("predicted")])
        outcome = run([program("penstock"), "whatif", self.trace, "--workers", "4"])
        self.assertEnded(outcome, 4)
        self.assertIn("several loaders", outcome.stdout + outcome.stderr)
        for loader in report["loaders"]:
            self.assertEqual("interleaved", loader["use"])

    def check_speedup(self, report, kind):
        """Checks that a second worker for each loader gains as much as predicted. A sample is a sleep, so the number of
        cores does not limit the gain."""
        self.assertEqual("", report["verdict"]["needs"])
        outcome = run([program("penstock"), "whatif", self.trace, "--workers", "1,2", "--json"])
        self.assertEnded(outcome)
        predicted = json.loads(outcome.stdout)
        one, two = (configuration["samples_per_s"] for configuration in predicted["configurations"])
        # The runs take place at the same time, so other programs slow both down alike.
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            outcomes = list(pool.map(lambda workers: run([PYTHON, target("structures.py"), kind, workers]), "12"))
        for outcome in outcomes:
            self.assertEnded(outcome)
        rates = [float(outcome.stdout.split()[0]) for outcome in outcomes]
        self.assertLess(abs(two / one * rates[0] / rates[1] - 1), 0.25)
        return predicted

    def check_predicted(self, report, kind):
        for loader in report["loaders"]:
            self.assertEqual("interleaved", loader["use"])
        predicted = self.check_speedup(report, kind)
        self.assertIn("assumed.together", [note["id"] for note in predicted["notes_statements"]])
        outcome = run([program("penstock"), "whatif", self.trace, "--batch", "4"])
        self.assertEnded(outcome, 4)
        self.assertIn("one loader", outcome.stdout + outcome.stderr)

    def test_in_step(self):
        report = self.report("in_step")
        line = line_of("pair = [DataLoader")
        self.assertEqual({line, line + " #2"}, {loader["made_at"] for loader in report["loaders"]})
        # The loop waits for both.
        self.assertGreater(report["verdict"]["wait_fraction"], 0.5)
        self.assertLess(abs(2 * report["throughput"]["samples_per_s"] / self.rate - 1), 0.35)
        self.check_predicted(report, "in_step")

    def test_by_chance(self):
        report = self.report("by_chance")
        self.assertEqual(2, len(report["loaders"]))  # the program drops the loaders, but not their iterators
        self.check_predicted(report, "by_chance")

    def test_nested(self):
        report = self.report("nested")
        self.assertEqual({line_of("in Derived("), line_of("inner = make(")},
                         {loader["made_at"].replace(line_of("return DataLoader("), line_of("inner = make("))
                          for loader in report["loaders"]})  # fmt: skip
        self.check_unpredicted(report)
        # The inner loader starts anew for each batch of the outer one.
        self.assertEqual("whole_run", report["throughput"]["base"])

    def test_validated(self):
        report = self.report("validated")
        self.assertEqual([line_of("train = make("), line_of("held_out = make(")],
                         [loader["made_at"] for loader in report["loaders"]])  # fmt: skip
        self.assertEqual(16, report["loader"]["batch_size"])
        self.assertEqual(["in_turn", "in_turn"], [loader["use"] for loader in report["loaders"]])
        self.assertEqual("", report["verdict"]["needs"])
        # Validation between the epochs takes 1.2 s, training 3.9 s. If the time of validation counted, the rate of the
        # whole run would be 0.76 of the steady rate.
        rates = report["throughput"]
        self.assertGreater(rates["whole_run_samples_per_s"] / rates["samples_per_s"], 0.84)

    def test_one_of_two_loaders_is_asked_for(self):
        report = self.report("validated")
        train, held_out = line_of("train = make("), line_of("held_out = make(")
        by_name = {loader["made_at"]: loader for loader in report["loaders"]}
        for loader in report["loaders"]:
            if report["signals"]["cpu_crowded"]:  # other programs ran: no setting is sure to gain
                self.assertIn("suggestion", loader)
                continue
            self.assertGreater(loader["suggestion"]["num_workers"], 1, loader)
            self.assertGreater(loader["suggestion"]["speedup"], 1.2, loader)
        predicted = {}
        for name in (train, held_out):
            outcome = run([program("penstock"), "whatif", self.trace, "--loader", name, "--workers", "1,2", "--json"])
            if outcome.status == 4 and report["signals"]["cpu_crowded"]:  # other programs ran: the replay is wrong
                self.assertRegex(outcome.stderr, "not enough|does not match this run")
                return
            self.assertEnded(outcome)
            predicted[name] = [one["samples_per_s"] for one in json.loads(outcome.stdout)["configurations"]]
            # The report's rate may be that of the whole run, which includes the start of each
            # epoch.
            self.assertLess(abs(predicted[name][0] / by_name[name]["samples_per_s"] - 1), 0.35)
            self.assertGreater(predicted[name][1], 1.3 * predicted[name][0])  # a sample is a sleep: no core limits it
            outcome = run([program("penstock"), "plan", self.trace, "--loader", name, "--json"])
            self.assertEnded(outcome)
            plan = json.loads(outcome.stdout)
            self.assertLess(abs(plan["now"]["samples_per_s"] / by_name[name]["samples_per_s"] - 1), 0.35)
            self.assertIn("num_workers", [step["id"] for step in plan["steps"]])
        self.assertGreater(predicted[train][0], 3 * predicted[held_out][0])
        for command in ("whatif", "plan"):
            outcome = run([program("penstock"), command, self.trace, "--loader", "structures.py:1"])
            self.assertEnded(outcome, 2)
            for name in (train, held_out):
                self.assertIn(name, outcome.stderr)

    def test_one_of_two_loaders_is_changed(self):
        train, held_out = line_of("train = make("), line_of("held_out = make(")
        trace = self.path("changed.penstock")
        command = [PYTHON, target("structures.py"), "validated", "1"]
        outcome = run(record(trace, command, "--override", "workers=3,at=" + held_out), environment())
        self.assertEnded(outcome)
        outcome = run([program("penstock"), "report", trace, "--json"])
        self.assertEnded(outcome)
        workers = {one["made_at"]: one["num_workers"] for one in json.loads(outcome.stdout)["loaders"]}
        self.assertEqual({train: 1, held_out: 3}, workers)

    def test_tune_lists_the_loaders_that_there_are(self):
        outcome = run([program("penstock"), "tune", "--loader", "structures.py:1", "--",
                       PYTHON, target("structures.py"), "validated", "1"], environment(), timeout=120)  # fmt: skip
        self.assertEnded(outcome, 2)
        for name in (line_of("train = make("), line_of("held_out = make(")):
            self.assertIn(name, outcome.stderr)

    def test_served(self):
        # If the analysis took the server's reads for the workers' reads, more workers would seem to slow each
        # other down.
        self.check_speedup(self.report("served"), "served")

    def check_cores(self, kind, workers):
        """A sample also takes CPU time of other processes, so the cores bound the rate with any number of workers."""
        report = self.report(kind, workers)
        self.assertGreater(self.cpu_of_children, 0.002)
        outcome = run([program("penstock"), "whatif", self.trace, "--workers", "1,16", "--json"])
        if kind == "pooled" and outcome.status == 4:
            # The counters of a run of some seconds do not always show for how long the pool has lived.
            self.assertIn("processes that the program starts itself", outcome.stderr)
            self.assertIn("starts itself", report["suggestion"]["missing"])
        else:
            self.assertEnded(outcome)
            rates = [one["samples_per_s"] for one in json.loads(outcome.stdout)["configurations"]]
            self.assertLess(rates[1], 1.15 * len(os.sched_getaffinity(0)) / self.cpu_of_children)
        # The loop waits for the other processes: without their work it would be much faster.
        gains = {gain["factor"]: gain["speedup_if_free"] for gain in report["verdict"]["gains"]}
        self.assertGreater(gains["augment"], 2)

    def test_pool_of_the_dataset(self):
        self.check_cores("pooled", 0)

    def test_program_for_each_sample(self):
        self.check_cores("unpacked", 0)
        self.check_cores("unpacked", 1)

    def test_cpu_time_of_programs_that_run_for_a_moment(self):
        packed = self.path("data.bin.gz")
        with gzip.open(packed, "wb") as file:
            file.write(os.urandom(3 << 20))
        loop = "for i in 1 2 3 4 5 6; do gzip -dc %s > %s; done; sleep 0.3" % (packed, self.path("data.bin"))
        trace = self.path("moments.penstock")
        self.assertEnded(run(record(trace, ["sh", "-c", loop]), environment()))
        found = tracefile.Trace(trace)
        told = {counter["pid"]: counter["value"] for counter in found.counters if counter["name"] == "cpu_ns"}
        readers = {span.pid for span in found.of("read")}
        self.assertEqual(6, len(readers))
        # A process reads 3 MB in some ten milliseconds. It may start and end between two samples of the collector.
        for pid in readers:
            self.assertGreater(told.get(pid, 0), 2e6)

    def test_anew(self):
        report = self.report("anew")
        self.assertEqual([line_of("return DataLoader(")], [loader["made_at"] for loader in report["loaders"]])
        self.assertEqual(4, report["loader"]["epochs"])
        self.assertEqual("alone", report["loaders"][0]["use"])


if __name__ == "__main__":
    support.main()
