# SPDX-License-Identifier: Apache-2.0
"""record --stage: later reads go to copies, and the program's results stay the same, whatever happens to the copies."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import support
from support import PYTHON, Case, environment, program, record, require, run, target, train
from tracefile import Trace

MEMORY = "/dev/shm"


class Stage(Case):
    pictures = (12, support.SMALL_SIZES)

    @classmethod
    def setUpClass(cls):
        require("penstock-record", "penstock-export", "penstock")
        if not os.access(MEMORY, os.W_OK):
            raise unittest.SkipTest("no %s" % MEMORY)
        super().setUpClass()
        if os.stat(cls.data).st_dev == os.stat(MEMORY).st_dev:
            raise unittest.SkipTest("the temporary folder lies in memory already")
        # Each test that changes data has a copy of its own.
        cls.own = {trouble: os.path.join(cls.base, "own-" + trouble) for trouble in ("change", "replace", "append", "write")}
        for folder in cls.own.values():
            shutil.copytree(cls.data, folder)
        cls.databases = os.path.join(cls.base, "databases")
        os.mkdir(cls.databases)
        for name in ("a.sqlite", "b.h5", "c.mdb"):
            with open(os.path.join(cls.databases, name), "wb") as file:
                file.write(b"x" * 5000)
        time.sleep(4)  # files that were written a moment ago are not copied

    def setUp(self):
        super().setUp()
        self.stage = tempfile.mkdtemp(dir=MEMORY, prefix="penstock-test-")
        self.addCleanup(shutil.rmtree, self.stage, True)

    def read(self, data, trouble="", stage=None, **more):
        self.output = self.path("t.penstock")
        command = [PYTHON, target("reader.py"), "--data", data, "--trouble", trouble]
        outcome = run(record(self.output, command, "--stage", stage or self.stage, "--data", data), environment(), **more)
        self.assertEnded(outcome)
        self.assertEqual(glob.glob(self.stage + "/*"), [], "something is left")
        return outcome

    def alone(self, data, trouble):
        """Runs the program without the agent, on a further copy of the data, because `trouble` may change the data."""
        twin = self.path("twin")
        shutil.copytree(data, twin)
        outcome = run([PYTHON, target("reader.py"), "--data", twin, "--trouble", trouble, "--pause", "0"])
        self.assertEnded(outcome)
        return outcome

    def last_from(self, outcome):
        return outcome.stderr.strip().splitlines()[-1].split(" from ")[1].split()

    def test_later_reads_come_from_the_copies_under_the_names_of_the_originals(self):
        outcome = self.read(self.data)
        self.assertEqual(outcome.stdout, self.alone(self.data, "").stdout)
        self.assertTrue(self.last_from(outcome)[0].startswith(self.stage + "/penstock-stage-"), outcome.stderr)
        self.assertEqual(len(self.last_from(outcome)), 1, outcome.stderr)
        trace = Trace(self.output)
        self.assertEqual(trace.fact("stage.files"), str(len(self.paths)))
        self.assertEqual({span.object for span in trace.of("read") if "picture" in span.object}, set(self.paths))
        self.assertFalse([span.object for span in trace.of("read") if self.stage in span.object])
        report = run([program("penstock"), "report", self.output])
        self.assertIn("stage " + self.stage, " ".join(report.stdout.split()))

    def test_a_duplicate_of_a_descriptor_has_the_name_of_the_original(self):
        outcome = self.read(self.data, "duplicate")
        self.assertEqual(outcome.stdout, self.alone(self.data, "duplicate").stdout)
        self.assertTrue(self.last_from(outcome)[0].startswith(self.stage + "/penstock-stage-"), outcome.stderr)
        reads = [span for span in Trace(self.output).of("read") if "picture" in span.object]
        self.assertEqual({span.object for span in reads}, set(self.paths))
        # One for each file in each of three rounds, also when a copy was read.
        self.assertGreaterEqual(len(reads), 3 * len(self.paths))
        self.assertFalse([span.object for span in Trace(self.output).of("read") if self.stage in span.object])

    def test_a_training_gives_the_same_results(self):
        data, options = self.data, ("--epochs", 3, "--workers", 2, "--start", "fork")
        alone = run(train(data, *options), environment())
        traced = run(record(self.path("t"), train(data, *options), "--stage", self.stage), environment())
        self.assertEndedLike(alone, traced)
        self.assertEqual(Trace(self.path("t")).fact("stage.files"), str(len(self.paths)))

    def test_copies_that_vanish_are_not_missed(self):
        outcome = self.read(self.data, "vanish")
        self.assertEqual(outcome.stdout, self.alone(self.data, "").stdout)
        self.assertEqual(self.last_from(outcome), [self.data])

    def test_copies_that_were_cut_are_not_used(self):
        outcome = self.read(self.data, "garble")
        self.assertEqual(outcome.stdout, self.alone(self.data, "").stdout)
        self.assertEqual(self.last_from(outcome), [self.data])

    def test_files_that_change_meanwhile_are_read_as_they_are(self):
        for trouble, data in self.own.items():
            with self.subTest(trouble):
                self.setUp()
                alone = self.alone(data, trouble)
                outcome = self.read(data, trouble)
                self.assertEqual(outcome.stdout, alone.stdout)
                self.assertEqual(len(set(line.split()[2] for line in outcome.stdout.splitlines())), 2)
                # The changed file is read from its place again; the others still have their copies.
                self.assertIn(data, self.last_from(outcome))
                self.assertEqual(len(self.last_from(outcome)), 2, outcome.stderr)

    def test_a_folder_that_does_not_serve_is_refused_in_one_line(self):
        for wrong in ("/nonexistent/folder", self.paths[0], "/proc"):
            outcome = run(record(self.path("t"), ["true"], "--stage", wrong), environment())
            self.assertEqual(outcome.status, 2, repr(outcome))
            self.assertEqual(len(outcome.stderr.strip().splitlines()), 1, outcome.stderr)
            self.assertIn("--stage", outcome.stderr)

    def test_a_full_disk_leaves_the_rest_to_the_originals(self):
        small = self.path("small")
        os.mkdir(small)
        if subprocess.call(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small], stderr=subprocess.DEVNULL):
            self.skipTest("may not mount")
        self.addCleanup(subprocess.call, ["umount", small])
        outcome = self.read(self.data, stage=small)
        self.assertEqual(outcome.stdout, self.alone(self.data, "").stdout)
        trace = Trace(self.output)
        self.assertIn("no room", trace.fact("stage.trouble") or "")
        self.assertEqual(os.listdir(small), [])
        self.assertIn(self.data, self.last_from(outcome))

    def test_a_folder_that_becomes_read_only_leaves_the_rest_to_the_originals(self):
        small = self.path("ro")
        os.mkdir(small)
        if subprocess.call(["mount", "-t", "tmpfs", "tmpfs", small], stderr=subprocess.DEVNULL):
            self.skipTest("may not mount")
        self.addCleanup(subprocess.call, ["umount", small])
        command = "mount -o remount,ro %s && exec %s %s --data %s" % (small, PYTHON, target("reader.py"), self.data)
        outcome = run(record(self.path("t"), ["sh", "-c", command], "--stage", small), environment())
        self.assertEnded(outcome)
        self.assertEqual(outcome.stdout, self.alone(self.data, "").stdout)
        self.assertIn("ead-only", Trace(self.path("t")).fact("stage.trouble") or "")

    def test_databases_are_left_alone(self):
        outcome = self.read(self.databases)
        self.assertEqual(self.last_from(outcome), [self.databases])

    def test_nothing_is_left_when_the_recorder_is_killed(self):
        command = record(self.path("t"), [PYTHON, target("reader.py"), "--data", self.data, "--rounds", "6"], "--stage", self.stage)
        process = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while not glob.glob(self.stage + "/penstock-stage-*/*") and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertTrue(glob.glob(self.stage + "/penstock-stage-*/*"))
        process.kill()
        process.wait()
        deadline = time.monotonic() + 20
        while os.listdir(self.stage) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(os.listdir(self.stage), [])


if __name__ == "__main__":
    sys.exit(support.main())
