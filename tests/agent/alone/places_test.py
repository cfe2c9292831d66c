# SPDX-License-Identifier: Apache-2.0
"""Programs in situations that could break an agent: without an environment, after closing all descriptors, in another
root or namespace, under a debugger. They print and end as they do without the agent."""
import os
import re
import shutil
import sys
import unittest

import runs
from runs import environment, run, victim


class Places(runs.Alone):
    def test_what_a_program_does_to_itself(self):
        again = victim("read", self.data)
        for how, command in (("environ-null", again), ("environ-other", again), ("undumpable", again), ("descriptors", ()),
                             ("traced", ()), ("clone-vm", ()), ("close-numbers", ()), ("exec", again), ("late-exec", again)):  # fmt: skip
            with self.subTest(how):
                self.assertSame(victim("places", how, self.data, *command))

    def test_a_vfork_child_that_locks_itself_in(self):
        self.assertSame(victim("places", "vfork", self.data, *victim("read", self.data)))

    def test_other_namespaces_and_roots(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        for how in ("unshare", "chroot"):
            with self.subTest(how):
                self.assertSame(victim("places", how, self.data))

    def test_under_a_debugger(self):
        for tool in ("strace", "gdb"):
            if shutil.which(tool):
                with self.subTest(tool):
                    alone = self.debugged(tool, ())
                    self.assertIn(b"read 102400", alone[1])
                    self.assertEqual(self.debugged(tool, ("LD_PRELOAD=" + runs.AGENT, "PENSTOCK_OUT=" + self.trace)), alone)

    def debugged(self, tool, variables):
        """Returns status and output of a program under strace or gdb. Only the program gets `variables`."""
        program = victim("read", self.data)
        if tool == "strace":
            line = ["strace", "-f", "-o", "/dev/null", "env", *variables, *program]
        else:
            settings = ["set startup-with-shell off", "set confirm off",
                        *("set environment " + variable.replace("=", " = ") for variable in variables)]  # fmt: skip
            line = ["gdb", "-nx", "-q", "-batch", *(word for text in (*settings, "run") for word in ("-ex", text)), "--args", *program]
        status, out, _ = run(line, environment(), self.folder)
        return status, re.sub(rb"process \d+", b"process", out)


if __name__ == "__main__":
    if not runs.AGENT:
        sys.exit("PENSTOCK_AGENT_LIB is not set: run this through ctest")
    unittest.main(verbosity=2)
