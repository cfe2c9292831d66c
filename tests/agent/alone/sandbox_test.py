# SPDX-License-Identifier: Apache-2.0
"""Programs that forbid themselves system calls or the time stamp counter end as they would without the agent. After
that the agent makes no system call of its own and reads no clock.

The agent does not notice a filter that a program installs by its own system call instruction without
PR_SET_NO_NEW_PRIVS. README.md says so.
"""
import os
import sys
import unittest

import runs
from runs import victim

WAYS = ("prctl", "syscall", "syscall-prctl", "raw")


class Sandbox(runs.Alone):
    def ways(self):
        yield from WAYS
        yield "syscall-tsync"
        if os.geteuid() == 0:  # root needs no NO_NEW_PRIVS
            yield from ("prctl-root", "syscall-root", "syscall-prctl-root")

    def test_a_filter_that_kills(self):
        for how in self.ways():
            for when in ("reads", "first", "emfile"):
                with self.subTest(how, when=when):
                    self.assertSame(victim("lock-in", how, when, self.data))

    def test_a_thread_that_reads_first_behind_it(self):
        for how in ("syscall-tsync", *(("syscall-tsync-root",) if os.geteuid() == 0 else ())):
            with self.subTest(how):
                self.assertSame(victim("lock-in", how, "thread", self.data))

    def test_a_filter_from_outside_that_a_start_passes(self):
        # A program that reads no data needs no other system calls with the agent than without it.
        inner = victim("say", "something")
        command = victim("run-locked-in", *inner)
        alone = runs.run(command, runs.environment(), self.folder)
        self.assertEqual(alone[0], 0, alone)
        for extra in ({}, {"PENSTOCK_OFF": "1"}):
            script = 'exec "$0" run-locked-in env LD_PRELOAD="$LIB" PENSTOCK_OUT="$OUT" "$@"'
            line = ["/usr/bin/env", *("%s=%s" % pair for pair in extra.items()), "LIB=" + runs.AGENT, "OUT=" + self.trace,
                    "/bin/sh", "-c", script.replace("env LD", "/usr/bin/env LD"), *victim(), *inner]  # fmt: skip
            self.assertEqual(runs.run(line, runs.environment(), self.folder), alone, extra)

    def test_a_search_for_a_program_behind_a_filter(self):
        # The second name is too long for the agent, so it records nothing from the start.
        for out in (None, os.path.join(self.folder, "x" * 5000)):
            with self.subTest(out):
                self.assertSame(victim("search-locked-in", "no-such-program"), out=out)

    def test_strict_mode(self):
        for how in ("strict", "strict-syscall"):
            for when in ("reads", "first"):
                with self.subTest(how, when=when):
                    self.assertSame(victim("lock-in", how, when, self.data))

    def test_the_time_stamp_counter_forbidden(self):
        for how in ("tsc", "tsc-first", "tsc-syscall", "tsc-syscall-first", "cpuid", "cpuid-first"):
            with self.subTest(how):
                self.assertSame(victim("clock", how, self.data))


if __name__ == "__main__":
    if not runs.AGENT:
        sys.exit("PENSTOCK_AGENT_LIB is not set: run this through ctest")
    unittest.main(verbosity=2)
