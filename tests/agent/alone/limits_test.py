# SPDX-License-Identifier: Apache-2.0
"""Limits of the process are the program's: what the agent needs for itself takes no part of them that
the program would miss."""
import os
import resource
import sys
import unittest

import runs
from runs import victim

MEGABYTE = 1 << 20


def limit(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


def may_be(kind, value):
    """This process may set that limit for its children."""
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
        # Counted for each user: a limit of what there is already allows nothing more.
        self.assertSame(victim("limits", "map:8", self.data), prepare=limit(resource.RLIMIT_NPROC, 1))


if __name__ == "__main__":
    if not runs.AGENT:
        sys.exit("PENSTOCK_AGENT_LIB is not set: run this through ctest")
    unittest.main(verbosity=2)
