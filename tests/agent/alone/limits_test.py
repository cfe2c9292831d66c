# SPDX-License-Identifier: Apache-2.0
"""Programs under resource limits end and print the same alone and under the agent. The agent uses no part of a limit
that the program needs itself."""
import os
import resource
import sys
import unittest

import runs
from runs import environment, run, victim

MEGABYTE = 1 << 20


def limit(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


def may_be(kind, value):
    """Returns whether this process may set the limit `kind` to `value` for its children."""
    hard = resource.getrlimit(kind)[1]
    return hard == resource.RLIM_INFINITY or 0 <= value <= hard


class Limits(runs.Alone):
    def test_address_space(self):
        for megabytes in (48, 96, 200, 600):
            for how in ("map:32", "map-late:32"):
                with self.subTest(how, megabytes=megabytes):
                    self.assertSame(victim("limits", how, self.data), prepare=limit(resource.RLIMIT_AS, megabytes * MEGABYTE))

    def test_data(self):
        for megabytes in (40, 64):
            with self.subTest(megabytes=megabytes):
                self.assertSame(victim("limits", "map:32", self.data), prepare=limit(resource.RLIMIT_DATA, megabytes * MEGABYTE))

    def test_locked_memory(self):
        kind = resource.RLIMIT_MEMLOCK
        for value in (0, MEGABYTE, 8 * MEGABYTE, 40 * MEGABYTE, resource.RLIM_INFINITY):
            for how in ("lock", "lock-late", "lock-future", "lock-syscall", "lock-future-late"):
                if may_be(kind, value):
                    with self.subTest(how, value=value):
                        self.assertSame(victim("limits", how, self.data), prepare=limit(kind, value))

    def test_descriptors(self):
        for count in (4, 5, 6):
            with self.subTest(count=count):
                self.assertSame(victim("limits", "map:1", self.data), prepare=limit(resource.RLIMIT_NOFILE, count))
        self.assertSame(victim("limits", "threads", self.data), prepare=limit(resource.RLIMIT_NOFILE, 11))

    def test_size_of_files(self):
        for size in (0, 4096, 65536, MEGABYTE):
            with self.subTest(size=size):
                self.assertSame(victim("limits", "threads", self.data), prepare=limit(resource.RLIMIT_FSIZE, size))

    def test_stack(self):
        for kilobytes in (64, 256):
            with self.subTest(kilobytes=kilobytes):
                self.assertSame(victim("limits", "map:8", self.data), prepare=limit(resource.RLIMIT_STACK, kilobytes << 10))

    def test_processes(self):
        # The user has other processes, so the program can start none, unless the user is root.
        self.assertSame(victim("limits", "map:8", self.data), prepare=limit(resource.RLIMIT_NPROC, 1))


class Recorded(runs.Alone):
    """Two of the checks with a collector, whose ring is mapped as a whole if there is room."""

    def check(self, how, kind, value):
        record = os.path.join(os.environ.get("PENSTOCK_BIN", ""), "penstock-record")
        if not os.access(record, os.X_OK):
            self.skipTest("penstock-record is not built")
        command = victim("limits", how, self.data)
        alone = run(command, environment(), self.folder, limit(kind, value))
        # Only the program gets the limit, not the recorder.
        inner = [sys.executable, "-c", "import os, resource, sys\nresource.setrlimit(%d, (%d, %d))\n"
                 "os.execv(sys.argv[1], sys.argv[1:])" % (kind, value, value), *command]  # fmt: skip
        line = [record, "--quiet", "--force", "-o", self.trace, "--", *inner]
        self.assertEqual(run(line, environment(), self.folder), alone)

    def test_locked_memory(self):
        for value in (MEGABYTE, 8 * MEGABYTE):
            for how in ("lock", "lock-late", "lock-future", "lock-syscall", "lock-future-late"):
                if may_be(resource.RLIMIT_MEMLOCK, value):
                    with self.subTest(how, value=value):
                        self.check(how, resource.RLIMIT_MEMLOCK, value)

    def test_address_space(self):
        for megabytes in (60, 120, 200, 400):
            with self.subTest(megabytes=megabytes):
                self.check("map:32", resource.RLIMIT_AS, megabytes * MEGABYTE)


if __name__ == "__main__":
    if not runs.AGENT:
        sys.exit("PENSTOCK_AGENT_LIB is not set: run this through ctest")
    unittest.main(verbosity=2)
