# SPDX-License-Identifier: Apache-2.0
"""Runs a command alone and under the agent, and checks that status and output are the same.

PENSTOCK_AGENT_LIB and PENSTOCK_ALONE (the folder of built victims) are set by CMakeLists.txt.
"""
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

AGENT = os.environ.get("PENSTOCK_AGENT_LIB", "")
VICTIMS = os.environ.get("PENSTOCK_ALONE", "")
PATIENCE = 60


def victim(*arguments):
    return [os.path.join(VICTIMS, "alone_victim"), *map(str, arguments)]


def environment(extra=None):
    """Returns our environment without the variables of Penstock, Python and the loader, and with those in `extra`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PENSTOCK", "PYTHON", "LD_"))}
    kept["PYTHONDONTWRITEBYTECODE"] = "1"
    kept.update(extra or {})
    return kept


def run(command, env, cwd=None, prepare=None):
    """Runs a command and returns (status, stdout, stderr). The status is negative for a signal, and None if the
    command ran longer than PATIENCE seconds."""
    with subprocess.Popen(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True, preexec_fn=prepare) as process:  # fmt: skip
        try:
            out, err = process.communicate(timeout=PATIENCE)
            return process.returncode, out, err
        except subprocess.TimeoutExpired:
            return None, b"", b""
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass


class Alone(unittest.TestCase):
    """A test with a folder of its own, which holds a data file and gets the trace."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="penstock-alone-")
        self.data = os.path.join(self.folder, "data.bin")
        with open(self.data, "wb") as file:
            file.write(bytes(range(256)) * 400)
        self.trace = os.path.join(self.folder, "trace.penstock")

    def tearDown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def traced(self, extra=None, out=None):
        return environment({"LD_PRELOAD": AGENT, "PENSTOCK_OUT": out or self.trace, **(extra or {})})

    def assertSame(self, command, extra=None, env=None, prepare=None, out=None, status=0, off=True):
        """Checks that `command` ends and prints the same alone, under the agent, and with the agent switched off."""
        alone = run(command, environment(extra), self.folder, prepare)
        if status is not None:
            self.assertEqual(alone[0], status, (command, alone))
        modes = {"traced": self.traced(extra, out)}
        if off:
            modes["off"] = self.traced({"PENSTOCK_OFF": "1", **(extra or {})})
        if env is not None:
            modes["other"] = env
        for name, variables in modes.items():
            self.assertEqual(run(command, variables, self.folder, prepare), alone, (name, command))
        return alone
