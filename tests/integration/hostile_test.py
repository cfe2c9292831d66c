# SPDX-License-Identifier: Apache-2.0
"""No room, no permission, few descriptors: the run ends as it would without the agent.

Each program runs twice under the same condition: without the agent and with it. Both runs must print the same and
end with the same status. Conditions that cannot be made here (mounts need root) are skipped with the reason.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import support
from support import PYTHON, Case, bare, environment, record, require, run, train

# sh -c SCRIPT sh COMMAND...
IN_TMPFS = 'set -e; mount -t tmpfs -o size={size} tmpfs "{where}"; {then} exec "$@"'


def in_namespace(script, command):
    return ["unshare", "-m", "sh", "-c", script, "sh", *command]


def can_mount():
    if not shutil.which("unshare"):
        return "there is no unshare"
    try:
        done = subprocess.run(in_namespace("mount -t tmpfs -o size=1m tmpfs /mnt", ["true"]),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else "mounting is not permitted: " + done.stderr.strip()


NO_MOUNT = can_mount()


def limited(limit, value, command):
    """`command` under a limit of the shell: "n" descriptors, "f" size of files, "v" address space (both in KiB)."""
    return ["bash", "-c", 'ulimit -%s %s; exec "$@"' % (limit, value), "bash", *command]


class Hostile(Case):
    pictures = (24, support.SMALL_SIZES)

    def setUp(self):
        super().setUp()
        self.output = self.path("o.penstock")
        self.native = [support.JPEG_THREADS, self.data, "20"]  # about 3 MB of trace at least
        self.inline = train(self.data, "--epochs", 2)
        self.forked = train(self.data, "--workers", 2, "--start", "fork")

    def check_same(self, surround, command, output=None, modes=("bare", "record"), status=0):
        """`surround(command)` is a command line that runs `command` under the condition. Returns the outcomes with
        the agent, by mode."""
        output = output or self.output
        alone = run(surround(command), environment())
        self.assertEnded(alone, status)
        outcomes = {}
        for mode in modes:
            if mode == "bare":
                # Only the program itself gets these variables, so the tools around it are not traced.
                settings = ["env", "LD_PRELOAD=" + support.AGENT, "PENSTOCK_OUT=" + output]
                outcome = run(surround([*settings, *command]), environment())
            else:
                require("penstock-record")
                outcome = run(surround(record(output, command)), environment())
            self.assertEndedLike(alone, outcome, mode)
            if mode == "bare":
                self.assertEqual(outcome.stderr, alone.stderr, mode)
            outcomes[mode] = outcome
        return outcomes

    @unittest.skipIf(NO_MOUNT, NO_MOUNT)
    def test_disk_full(self):
        """The trace's file system has room for its header and a few chunks, or not even for its header."""
        # Records that find no room stay in the ring, for `penstock recover`.
        rings = tempfile.mkdtemp(prefix="penstock-it-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, rings)
        where = self.path("full")
        os.mkdir(where)
        cases = [(size, self.native) for size in ("5m", "1m", "300k", "64k", "4k")]
        for size, command in (*cases, ("1m", self.forked)):
            with self.subTest(size=size, command=command[:2]):
                keep = 'export PENSTOCK_SHM="%s";' % rings
                script = IN_TMPFS.format(size=size, where=where, then=keep)
                self.check_same(lambda c: in_namespace(script, c), command, where + "/o.penstock")

    def test_size_limit(self):
        """RLIMIT_FSIZE: a write beyond this limit sends a signal, which by default ends the program."""
        for blocks in ("1", "64", "512"):  # of 1 KiB; the program's own output fits into one
            with self.subTest(blocks=blocks):
                self.check_same(lambda c: limited("f", blocks, c), self.native)
                self.assertEqual([name for name in os.listdir(self.work) if name.endswith(".tmp")], [])
        self.check_same(lambda c: limited("f", "100000", c), self.forked, modes=("bare",))

    def test_read_only_directory(self):
        """Paths that cannot be written: no such directory, a file as a directory, a directory, a file in /proc."""
        blocked = self.path("file")
        with open(blocked, "w", encoding="utf-8"):
            pass
        outputs = self.path("no/such/o.penstock"), blocked + "/o.penstock", self.work, "/proc/o.penstock"
        for output in outputs:
            with self.subTest(output=output):
                self.check_same(list, self.native, output, modes=("bare",))

    def test_a_file_of_the_user_stays(self):
        """If PENSTOCK_OUT names a file that is no recording, the file stays as it is."""
        with open(self.output, "w", encoding="utf-8") as file:
            file.write("mine\n")
        self.check_same(list, self.native, modes=("bare",))
        with open(self.output, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine\n")

    @unittest.skipIf(NO_MOUNT, NO_MOUNT)
    def test_read_only_file_system(self):
        where = self.path("readonly")
        os.mkdir(where)
        script = IN_TMPFS.format(size="1m", where=where, then='mount -o remount,ro "%s";' % where)
        output = where + "/o.penstock"
        self.check_same(lambda c: in_namespace(script, c), self.forked, output, modes=("bare",))

    @unittest.skipIf(NO_MOUNT, NO_MOUNT)
    def test_little_shared_memory(self):
        """/dev/shm of 1 MB, too small for a ring and nearly too small for the batches; then a read-only /dev/shm."""
        script = IN_TMPFS.format(size="1m", where="/dev/shm", then="")
        self.check_same(lambda c: in_namespace(script, c), self.forked)
        self.assertTrue(os.path.exists(self.output))
        read_only = IN_TMPFS.format(size="1m", where="/dev/shm", then="mount -o remount,ro /dev/shm;")
        self.check_same(lambda c: in_namespace(read_only, c), self.inline)

    @unittest.skipIf(os.geteuid() != 0 or not shutil.which("setpriv"), "needs root and setpriv")
    def test_no_permission(self):
        """The run's user may write nothing here. Then PENSTOCK_OUT names a trace of another user."""
        for directory in (self.base, self.data, self.work):
            os.chmod(directory, 0o755)
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        readable = run([*nobody, "test", "-r", support.AGENT, "-a", "-r", support.target("train.py")])
        if readable.status != 0:
            self.skipTest("the build is not readable for other users")
        self.check_same(lambda c: [*nobody, *c], self.forked, modes=("bare",))
        self.assertEnded(run(self.native, bare(self.output)))
        before = os.stat(self.output)
        self.check_same(lambda c: [*nobody, *c], self.native, modes=("bare",))
        after = os.stat(self.output)
        self.assertEqual((after.st_ino, after.st_size), (before.st_ino, before.st_size))

    def test_few_descriptors(self):
        """With 32 descriptors, and with the smallest number that the program alone can run with."""
        for command in (self.native, self.inline, self.forked):
            self.check_same(lambda c: limited("n", 32, c), command)
        # The three threads of the native program open files at the same time. For each the agent may open one
        # descriptor more for a moment.
        for command, spare in ((self.native, 3), (self.inline, 0)):
            best = run(command)
            least = next(n for n in range(4, 32) if all(
                (r.status, r.stdout) == (0, best.stdout)
                for r in (run(limited("n", n, command)), run(limited("n", n, command)))))
            print("    %s lives with %d descriptors" % (command[:2], least), flush=True)
            with self.subTest(least=least):
                self.check_same(lambda c: limited("n", least + spare, c), command, modes=("bare",))

    def test_descriptors_that_run_out(self):
        """A program that opens files until it gets EMFILE can open as many as without the agent."""
        code = ("import os\nopen({0!r}, 'rb').read()\nfds = []\ntry:\n    while True:\n"
                "        fds.append(os.open({0!r}, os.O_RDONLY))\n        os.read(fds[-1], 100)\n"
                "except OSError as error:\n    print(len(fds), error)\n").format(self.paths[0])
        self.check_same(lambda c: limited("n", 32, c), [PYTHON, "-c", code], modes=("bare",))
        self.assertTrue(os.path.exists(self.output))

    def test_no_address_space(self):
        """The program runs out of memory as it does without the agent, and prints its own message."""
        code = ("open({0!r}, 'rb').read()\ntry:\n    x = bytearray(3 << 30)\nexcept MemoryError:\n"
                "    print('no memory')\n").format(self.paths[0])
        self.check_same(lambda c: limited("v", 2 << 20, c), [PYTHON, "-c", code], modes=("bare",))


if __name__ == "__main__":
    sys.exit(support.main())
