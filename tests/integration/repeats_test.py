# SPDX-License-Identifier: Apache-2.0
"""The report suggests storing samples only if they were the same in all epochs. It warns of an iterable dataset that
would give all samples to each worker."""
import json
import os

import support
from support import PYTHON, environment, program, record, require, run, target


class Repeats(support.Case):
    pictures = (96, ((640, 480), (480, 640), (600, 600)))

    @classmethod
    def setUpClass(cls):
        require("penstock-record", "penstock")
        super().setUpClass()
        cls.traces = {}

    def report(self, kind, workers=2):
        """The report of a run. Each kind of run is recorded once, for all tests."""
        trace = self.traces.get((kind, workers))
        if trace is None:
            trace = os.path.join(self.base, "%s%d.penstock" % (kind, workers))
            outcome = run(record(trace, [PYTHON, target("repeats.py"), kind, self.data, str(workers)]), environment())
            self.assertEnded(outcome)
            self.traces[kind, workers] = trace
        outcome = run([program("penstock"), "report", trace, "--json"])
        self.assertEnded(outcome)
        report = json.loads(outcome.stdout)
        self.assertEqual(report["losses"]["dropped_events"], 0)
        self.text = outcome.stdout
        return report

    def repeated(self, report):
        """(the finding repeated-work or None, what the report says it needs in order to look for that finding)."""
        found = [finding for finding in report["findings"] if finding["id"] == "repeated-work"]
        needs = [one["needs"] for one in report["not_checked"] if "repeated-work" in one["ids"]]
        return (found or [None])[0], needs

    def check_no_store(self, report):
        finding, needs = self.repeated(report)
        self.assertIsNone(finding)
        self.assertEqual(needs, [])
        self.assertNotIn("Store the", self.text)

    def test_a_random_crop_is_not_to_be_stored(self):
        self.check_no_store(self.report("random_crop"))

    def test_a_cache_of_its_own_leaves_nothing_to_store(self):
        self.check_no_store(self.report("cache", 0))

    def test_samples_before_random_numbers_in_own_code_may_be_stored(self):
        finding, needs = self.repeated(self.report("own_flip"))
        self.assertEqual(needs, [])
        self.assertEqual(finding["evidence"]["finished_samples"], "different")
        self.assertIn("as ToTensor returns them", finding["action"])
        self.assertNotIn("finished samples", finding["action"])

    def test_finished_samples_that_are_the_same(self):
        for workers in (0, 2):
            finding, needs = self.repeated(self.report("fixed", workers))
            self.assertEqual(needs, [])
            self.assertEqual(finding["evidence"]["finished_samples"], "same")
            self.assertIn("Store the finished samples once", finding["action"])
            self.assertIn("over 3 epochs", finding["action"])
            self.assertGreaterEqual(finding["evidence"]["compared_pairs"], 16)

    def test_only_what_comes_before_a_random_crop(self):
        finding, needs = self.repeated(self.report("prefix"))
        self.assertEqual(needs, [])
        self.assertEqual(finding["evidence"]["transforms"], "Resize")
        self.assertIn("as Resize returns them, without loss", finding["action"])
        self.assertIn("drop Resize from the transforms", finding["action"])

    def test_streams_are_not_compared(self):
        finding, needs = self.repeated(self.report("stream", 0))
        self.assertIsNone(finding)
        self.assertEqual(len(needs), 1)
        self.assertIn("read by index", needs[0])

    def test_advice_on_workers_says_that_a_stream_would_repeat(self):
        for kind, repeats in (("stream", True), ("sharded", False), ("fixed", False)):
            report = self.report(kind, 0)
            suggestion = report["suggestion"]
            repeats = repeats and suggestion["loader"]["num_workers"] > 1
            self.assertEqual("every sample again" in suggestion["note"], repeats, suggestion)
            for finding in report["findings"]:
                if finding["id"] == "no-worker-processes":
                    self.assertEqual("every sample again" in finding["action"], repeats, finding["action"])


if __name__ == "__main__":
    support.main()
