# SPDX-License-Identifier: Apache-2.0
"""A signal handler reads files on a small stack. The agent needs little of this stack, even if the handler is the
first to read: then the agent attaches, names a file and calls functions for the first time."""
import os
import sys
import unittest

import runs
from runs import environment, run, victim

BOUND = 1536  # bytes of stack that the agent may use in addition to those of the program


class Stack(runs.Alone):
    def depth(self, size, what, env):
        # Without LD_BIND_NOW the loader looks a function up at its first call. That would take the most stack.
        env = dict(env, LD_BIND_NOW="1")
        file = os.path.join(self.folder, "depth")
        done = run(victim("stack", size, os.path.basename(self.data), "%s:%s" % (what, file)), env, self.folder)
        self.assertEqual(done[0], 0, (what, done))
        with open(file, encoding="ascii") as text:
            return int(text.read())

    def test_eight_kilobytes_are_enough(self):
        for what in ("read", "spawn"):
            for path in (self.data, "./data.bin", "data.bin"):
                with self.subTest(what, path=path):
                    self.assertSame(victim("stack", 8192, path, what + ":"))

    def test_its_share_is_bounded(self):
        for what in ("read", "spawn"):
            with self.subTest(what):
                alone = self.depth(65536, what, environment())
                traced = self.depth(65536, what, self.traced())
                off = self.depth(65536, what, self.traced({"PENSTOCK_OFF": "1"}))
                print("%s: %d alone, %d traced, %d switched off" % (what, alone, traced, off))
                self.assertLessEqual(traced, alone + BOUND)
                self.assertLessEqual(off, alone + BOUND)


if __name__ == "__main__":
    if not runs.AGENT:
        sys.exit("PENSTOCK_AGENT_LIB is not set: run this through ctest")
    unittest.main(verbosity=2)
