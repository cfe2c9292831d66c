# SPDX-License-Identifier: Apache-2.0
"""penstock tune on real programs: it finds and confirms a better setting, says "no action" and passes failures on.

A sample is a sleep, so that the gain from more workers does not depend on how busy the machine is.
"""
import json
import os
import signal
import subprocess
import sys

import support
from support import PYTHON, Case, program, require, run

SLEEPING = os.path.join(support.HERE, "..", "validation", "dataloader_cell.py")


def sleeping(workers, sample_ms, step_ms, batches=60):
    return [PYTHON, "-B", SLEEPING, "--mean-ms", str(sample_ms), "--workers", str(workers), "--prefetch", "2",
            "--batch", "4", "--batches", str(batches), "--seed", "1", "--step-ms", str(step_ms)]  # fmt: skip


class Tune(Case):
    pictures = (1, ((64, 64),))

    @classmethod
    def setUpClass(cls):
        require("penstock-record", "penstock")
        super().setUpClass()

    def tune(self, command, *options):
        outcome = run([program("penstock"), "tune", *options, "--", *command], timeout=240)
        print(outcome.stdout + outcome.stderr, flush=True)
        return outcome

    def skip_if_crowded(self, result):
        if result["verdict"] == "crowded":  # tune tried nothing; other programs must be running
            self.assertGreater(os.getloadavg()[0], 1.2)
            self.skipTest("other programs compete for the cores")

    def test_finds_and_confirms_a_better_setting_in_turns(self):
        outcome = self.tune(sleeping(workers=1, sample_ms=10, step_ms=2), "--json")
        self.assertEnded(outcome)
        result = json.loads(outcome.stdout)  # standard output is one JSON object
        self.assertEqual(result["schema"], "penstock.tune/1")
        self.skip_if_crowded(result)
        self.assertIn(result["verdict"], ("confirmed", "confirmed_in_part"), outcome.stdout)
        taken = result["settings"][result["taken"] - 1]
        self.assertGreater(taken["measured"]["low"], 1)
        self.assertGreater(taken["measured"]["estimate"], 1.5)
        self.assertGreaterEqual(taken["pairs"], 3)
        self.assertRegex(result["paste"][0], r"DataLoader\(dataset, .*num_workers=[2-9]")
        order = [run["setting"] for run in result["runs"]]
        self.assertEqual(order[0], 0)
        self.assertGreaterEqual(order.count(0), 3)

    def interrupted(self, after, sent):
        """(process, its JSON) of a `penstock tune` that gets the signal `sent` after printing a line with `after`."""
        command = [program("penstock"), "tune", "--json", "--", *sleeping(workers=1, sample_ms=10, step_ms=2)]
        process = subprocess.Popen(command, env=support.environment({"TMPDIR": self.work}), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, universal_newlines=True)  # fmt: skip
        for line in process.stderr:
            if after in line:
                process.send_signal(sent)
                break
        out, _ = process.communicate(timeout=120)
        result = json.loads(out)
        self.skip_if_crowded(result)
        return process, result

    def test_a_service_that_is_stopped_leaves_no_files(self):
        process, _ = self.interrupted("run 2", signal.SIGTERM)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertEqual([name for name in os.listdir(self.work) if name.startswith("penstock-tune-")], [])

    def test_an_interrupt_leaves_what_is_known(self):
        process, result = self.interrupted("run 2", signal.SIGINT)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(result["stopped"], "interrupted")
        self.assertEqual(result["verdict"], "not_decided")
        self.assertEqual(result["settings"][0]["pairs"], 1)

    def test_a_wrong_time_is_refused_in_one_line(self):
        for wrong in ("soon", "0", "-5m", "10d"):
            outcome = self.tune(["true"], "--budget-time=" + wrong)
            self.assertEqual(outcome.status, 2)
            self.assertEqual(len(outcome.stderr.strip().splitlines()), 1, outcome.stderr)

    def test_a_folder_for_traces_that_cannot_be_made_has_its_reason(self):
        wrong = support.environment({"TMPDIR": os.path.abspath(__file__)})
        outcome = run([program("penstock"), "tune", "--", "true"], env=wrong)
        self.assertEqual(outcome.status, 3)
        self.assertIn("Not a directory; set TMPDIR", outcome.stderr)

    def test_a_trace_that_was_left_earlier_is_not_that_of_a_run_that_failed(self):
        kept = self.path("run1.penstock")
        before = run([program("penstock-record"), "--quiet", "-o", kept, "--batches", "40", "--stop", "--",
                      *sleeping(workers=2, sample_ms=2, step_ms=10, batches=5000)], timeout=240)  # fmt: skip
        self.assertTrue(os.path.exists(kept), repr(before))
        outcome = self.tune(["true"], "--keep", self.work, "--for", "soon")  # the recorder refuses it
        self.assertEqual(outcome.status, 2)

    def test_says_no_action_where_the_step_is_the_limit(self):
        outcome = self.tune(sleeping(workers=2, sample_ms=2, step_ms=60))
        self.assertEnded(outcome)
        self.assertIn("No action", outcome.stdout)
        if "other programs compete" in outcome.stdout:  # then tune says nothing else
            self.assertGreater(os.getloadavg()[0], 1.2)
        else:
            self.assertIn("compute", outcome.stdout)

    def test_ends_with_the_status_of_a_command_that_fails(self):
        for options in ((), ("--for", "50s"), ("--batches", "1000")):
            outcome = self.tune([PYTHON, "-c", "raise SystemExit(7)"], *options)
            self.assertEqual(outcome.status, 7)
            self.assertIn("exit status 7", outcome.stderr)

    def test_a_limit_ends_the_run_and_is_no_failure(self):
        outcome = self.tune(sleeping(workers=2, sample_ms=2, step_ms=60, batches=5000), "--batches", "40")
        self.assertEnded(outcome)
        self.assertIn("No action", outcome.stdout)


if __name__ == "__main__":
    sys.exit(support.main())
