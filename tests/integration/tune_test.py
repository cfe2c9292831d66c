# SPDX-License-Identifier: Apache-2.0
"""penstock tune on real programs: finds and confirms a better setting, says "no action", passes on failures.

Samples sleep, so that what more workers gain does not depend on how busy the machine is.
"""
import os
import re
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

    def test_finds_and_confirms_a_better_setting(self):
        outcome = self.tune(sleeping(workers=1, sample_ms=40, step_ms=10))
        self.assertEnded(outcome)
        self.assertIn("Confirmed: as fast as predicted", outcome.stdout)
        self.assertRegex(outcome.stdout, r"DataLoader\(dataset, .*num_workers=[2-9]")
        gains = [float(gain) for gain in re.findall(r"([0-9.]+)x$", outcome.stdout, re.MULTILINE)]
        self.assertGreater(max(gains), 1.5)

    def test_says_no_action_where_the_step_is_the_limit(self):
        outcome = self.tune(sleeping(workers=2, sample_ms=2, step_ms=60))
        self.assertEnded(outcome)
        self.assertIn("No action", outcome.stdout)
        if "other programs compete" in outcome.stdout:  # then it says nothing else, and there are some
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
