# SPDX-License-Identifier: Apache-2.0
"""Tests `penstock record` in unusual places: in a container with 64 MB of /dev/shm and a pid namespace of its own, as a
user with few rights, from any directory, called by a link, with blanks in every path. These tests do not need PyTorch.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from install_test import BUILD, NOBODY, PYTHON, Case

# Beginnings of command lines: each runs the command after it with a part of the host hidden. The last "sh" is $0.
SMALL_SHM = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=64m tmpfs /dev/shm && exec "$@"', "sh")
NO_SHM = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=64m,ro tmpfs /dev/shm && exec "$@"', "sh")
OWN_PIDS = ("unshare", "-m", "-p", "-f", "--mount-proc", "sh", "-c",
            'mount -t tmpfs -o size=64m tmpfs /dev/shm && exec "$@"', "sh")  # fmt: skip
AS_NOBODY = ("setpriv", "--reuid=%d" % NOBODY, "--regid=%d" % NOBODY, "--clear-groups", "--no-new-privs")

# Two workers read while their parent waits. Before that, prints the size of /dev/shm and how much of it is free.
SCRIPT = '''import json, os, sys
reads = int(sys.argv[2])
info = os.statvfs("/dev/shm")
for worker in range(2):
    if os.fork() == 0:
        for _ in range(reads):
            with open(sys.argv[1], "rb") as file:
                file.read()
        os._exit(0)
codes = [os.wait()[1] for worker in range(2)]
print(json.dumps({"codes": codes, "pid": os.getpid(), "uid": os.getuid(), "shm": info.f_blocks * info.f_frsize,
                  "free": info.f_bavail * info.f_frsize}))
'''
READS, BYTES = 7, 30000


def permitted(*prefix):
    return subprocess.run([*prefix, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          timeout=60, check=False).returncode == 0  # fmt: skip


class Places(Case):
    def setUp(self):
        self.work = os.path.join(self.base, "work of " + self.id().rsplit(".", 1)[-1])
        os.makedirs(os.path.join(self.work, "my data"))
        self.picture = os.path.join(self.work, "my data", "one of many.jpg")
        with open(self.picture, "wb") as file:
            file.write(os.urandom(BYTES))
        self.script = os.path.join(self.work, "my script.py")
        with open(self.script, "w", encoding="ascii") as file:
            file.write(SCRIPT)
        os.chmod(self.work, 0o777)

    def needs(self, *prefix):
        if not permitted(*prefix):
            self.skipTest("not permitted here: " + " ".join(prefix[:2]))

    def check_record(self, *prefix, trace=None, cwd=None, program=None):
        """Records the script. Returns what the script printed and the report on the trace."""
        output = self.run_([*prefix, program or self.program("penstock"), "record", "--quiet",
                            *(["-o", trace] if trace else []), "--", PYTHON, self.script, self.picture, str(READS)],
                           cwd=cwd or self.work)  # fmt: skip
        told = json.loads(output)
        self.assertEqual(told["codes"], [0, 0])
        trace = os.path.join(cwd or self.work, trace or "my script.penstock")
        self.run_([self.program("penstock"), "validate", trace])
        report = json.loads(self.run_([self.program("penstock"), "report", trace, "--json"]))
        reads = [stage for stage in report["stages"] if stage["name"] == "read"]
        self.assertEqual([(one["count"], one["bytes"]) for one in reads], [(2 * READS, 2 * READS * BYTES)])
        self.assertEqual(report["losses"]["dropped_events"], 0)
        return told

    def test_default_name_and_blanks_everywhere(self):
        self.check_record()

    def test_by_a_link_from_a_folder_that_is_nowhere(self):
        link = os.path.join(self.work, "a link")
        os.symlink(self.program("penstock"), link)
        self.check_record(program=link, cwd="/", trace=os.path.join(self.work, "from the root.penstock"))

    def test_preloaded_by_a_link_the_agent_finds_its_python_half(self):
        # LD_PRELOAD cannot name a path with a blank, so it names a link to the agent.
        agent = os.path.join(self.prefix, "lib", "penstock", "libpenstock_agent.so")
        self.assertIn(" ", agent)
        with tempfile.TemporaryDirectory(prefix="penstock-link-") as folder:
            link = os.path.join(folder, "agent.so")
            os.symlink("next.so", link)
            os.symlink(agent, os.path.join(folder, "next.so"))
            done = subprocess.run([PYTHON, "-c", "import sys; print('penstock_hooks' in sys.modules)"], cwd=self.work,
                                  env={"PATH": "/usr/bin:/bin", "LD_PRELOAD": link,
                                       "PENSTOCK_OUT": os.path.join(self.work, "linked.penstock")},
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  timeout=120, check=False)  # fmt: skip
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "True\n", ""))

    def test_small_shared_memory_stays_the_programs(self):
        self.needs(*SMALL_SHM)
        told = self.check_record(*SMALL_SHM)
        self.assertEqual(told["shm"], 64 << 20)
        self.assertGreater(told["free"], 63 << 20)  # the ring is not in /dev/shm

    def test_without_writable_shared_memory(self):
        self.needs(*NO_SHM)
        self.check_record(*NO_SHM)

    def test_as_the_first_process_of_a_container(self):
        self.needs(*OWN_PIDS)
        told = self.check_record(*OWN_PIDS)
        self.assertLess(told["pid"], 100)
        self.assertEqual(told["shm"], 64 << 20)

    def test_as_nobody_in_a_container(self):
        if os.geteuid() != 0:
            self.skipTest("only root becomes somebody else")
        self.needs(*OWN_PIDS, *AS_NOBODY)
        told = self.check_record(*OWN_PIDS, *AS_NOBODY)
        self.assertEqual(told["uid"], NOBODY)

    def test_a_folder_that_may_not_be_written_is_said_and_nothing_runs_unseen(self):
        if os.geteuid() != 0:
            self.skipTest("only root becomes somebody else")
        self.needs(*AS_NOBODY)
        closed = os.path.join(self.work, "closed")
        os.makedirs(closed, mode=0o755)
        done = subprocess.run([*AS_NOBODY, self.program("penstock"), "record", "--", PYTHON, "-c", "print('ran')"],
                              cwd=closed, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=120, check=False)  # fmt: skip
        self.assertIn("penstock", done.stderr)
        self.assertIn("python", done.stderr)  # the name of the trace that it could not write
        # The status must be 0 if the program ran, and another one if it did not run.
        self.assertEqual(done.returncode == 0, done.stdout == "ran\n", done.stderr)
        self.assertEqual(os.listdir(closed), [])


if __name__ == "__main__":
    if not BUILD or shutil.which("unshare") is None:
        sys.exit("PENSTOCK_BUILD is not set, or unshare is missing: run this through ctest")
    unittest.main(verbosity=2)
