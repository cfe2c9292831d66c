# SPDX-License-Identifier: Apache-2.0
"""If PENSTOCK_OUT names no file that can be written, programs print and end as they do without the agent."""
import os
import socket
import sys
import unittest

import runs
from runs import victim


class Outputs(runs.Alone):
    def names(self):
        fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(fifo)
        listening = socket.socket(socket.AF_UNIX)
        self.addCleanup(listening.close)
        listening.bind(os.path.join(self.folder, "socket"))
        loop = os.path.join(self.folder, "loop")
        os.symlink(loop, loop)
        dangling = os.path.join(self.folder, "dangling")
        os.symlink(os.path.join(self.folder, "target"), dangling)
        to_fifo = os.path.join(self.folder, "to-fifo")
        os.symlink(fifo, to_fifo)
        yield from (fifo, to_fifo, os.path.join(self.folder, "socket"), loop, dangling, self.folder, "/dev/null", "/dev/full",
                    "/dev/zero", "/dev/stdout", "/dev/tty", "/proc/self/mem", "/sys/kernel/notes", "/no/such/folder/t.penstock",
                    "/proc/t.penstock", self.data + "/t.penstock", "x" * 300, "y/" * 3000, "", " ", ".", "..", "/")  # fmt: skip

    def test_programs_end_as_alone(self):
        code = "print(len(open(%r, 'rb').read()))" % self.data
        for name in self.names():
            for command in (victim("read", self.data), ["/bin/sh", "-c", "echo a; /bin/true; echo $?"],
                            ["/usr/bin/python3", "-c", code]):  # fmt: skip
                with self.subTest(name[:80], command=command):
                    self.assertSame(command, out=name)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "target")))


if __name__ == "__main__":
    if not runs.AGENT:
        sys.exit("PENSTOCK_AGENT_LIB is not set: run this through ctest")
    unittest.main(verbosity=2)
