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

    def test_pythonpath_gets_the_folder_of_the_hooks_unless_it_is_an_entry(self):
        hooks = os.path.join(os.path.dirname(runs.AGENT), "penstock_python")
        for before, after in (
            (None, hooks),
            ("", hooks),
            ("/mine", hooks + ":/mine"),
            (hooks, hooks),
            ("/mine:%s:/other" % hooks, "/mine:%s:/other" % hooks),
            (hooks + "_old", hooks + ":" + hooks + "_old"),
            ("/mine" + hooks, hooks + ":/mine" + hooks),
            (hooks + "_old:" + hooks, hooks + "_old:" + hooks),
        ):
            with self.subTest(before):
                extra = {} if before is None else {"PYTHONPATH": before}
                status, out, _ = run(["/usr/bin/env"], self.traced(extra), self.folder)
                self.assertEqual(status, 0)
                lines = out.decode("utf-8", "surrogateescape").splitlines()
                self.assertEqual(["PYTHONPATH=" + after], [line for line in lines if line.startswith("PYTHONPATH=")])

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
