#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Follows real recordings while they are made, until they end or until the collector is killed."""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

FOLLOW = RECORD = LOAD = GUI = ""


def children(pid):
    """Returns the processes whose parent is `pid`: pid -> name."""
    found = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        name = text[text.index("(") + 1:text.rindex(")")]
        if int(text[text.rindex(")") + 1:].split()[1]) == pid:
            found[int(stat.parent.name)] = name
    return found


class Live(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.trace = pathlib.Path(self.folder.name) / "run.penstock"

    def record(self, samples):
        """Starts a run. Each sample sleeps for 20 ms, so a second makes about a hundred samples."""
        words = [RECORD, "-o", self.trace, "--quiet", "--", LOAD, f"synthetic:{samples}", "--workers", "2", "--batch",
                 "4", "--decode-cost", "sleep:20ms", "--without", "read,augment"]
        run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: run.poll() is None and run.kill())
        part = pathlib.Path(f"{self.trace}.part")
        # As soon as the file is longer than its header, the first facts are on disk.
        self.wait_for(lambda: run.poll() is not None or (part.exists() and part.stat().st_size > 64))
        self.assertIsNone(run.poll(), "the run ended before it was recorded")
        return run

    def wait_for(self, holds):
        deadline = time.monotonic() + 120
        while not holds():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def follow(self):
        program = subprocess.Popen([FOLLOW, self.trace], stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.wait)
        self.addCleanup(lambda: program.poll() is None and program.kill())
        return program

    @staticmethod
    def states(text):
        return [(m.group(1), int(m.group(2)), m.group(3))
                for m in re.finditer(r"^(\w+) (\d+) spans (.+)$", text, re.MULTILINE)]

    def test_a_run_is_followed_to_its_end(self):
        run = self.record(600)
        text, _ = self.follow().communicate(timeout=250)
        _, errors = run.communicate(timeout=250)
        self.assertEqual(0, run.returncode, errors)
        states = self.states(text)
        live = [spans for state, spans, _ in states if state == "writing"]
        self.assertGreaterEqual(len(set(live)), 2, text)
        self.assertEqual(sorted(live), live, text)
        self.assertEqual("ended", states[-1][0], text)
        self.assertEqual("analysed", states[-1][2], text)
        self.assertGreaterEqual(states[-1][1], 600, text)
        # The finished trace has the same spans, and is not followed any more.
        again, _ = self.follow().communicate(timeout=120)
        self.assertEqual(("complete", states[-1][1], "analysed"), self.states(again)[-1])

    def test_a_picture_can_be_drawn_meanwhile(self):
        run = self.record(400)
        picture = pathlib.Path(self.folder.name) / "o.png"
        done = subprocess.run([GUI, self.trace, "--screenshot", picture, "--view", "timeline"], text=True,
                              stderr=subprocess.PIPE, timeout=250, check=False)
        if done.returncode == 3:
            self.skipTest(done.stderr)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertTrue(picture.exists())
        run.communicate(timeout=250)

    def test_that_the_collector_was_killed_is_said(self):
        run = self.record(3000)
        follower = self.follow()
        first = follower.stdout.readline()
        self.assertRegex(first, r"^writing \d+ spans")
        # Kills all processes at once, as when a container ends, so that none can finish the trace.
        family = children(run.pid)
        self.assertIn("penstock-record", family.values())
        os.kill(run.pid, signal.SIGKILL)
        for pid in family:
            os.kill(pid, signal.SIGKILL)
        run.wait(60)
        text, _ = follower.communicate(timeout=250)
        self.assertEqual("died", self.states(text)[-1][0], text)
        for ring in pathlib.Path("/dev/shm").glob(f"penstock-{os.getuid()}-*"):
            if any(f"-{pid}-" in ring.name for pid in family):
                ring.unlink()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("follow", "record", "load", "gui"):
        parser.add_argument(f"--{name}", required=name != "gui", default="")
    options, rest = parser.parse_known_args()
    FOLLOW, RECORD, LOAD, GUI = options.follow, options.record, options.load, options.gui
    unittest.main(argv=[__file__, *rest])
