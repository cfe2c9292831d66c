# SPDX-License-Identifier: Apache-2.0
"""Drives a real window of penstock-gui by xdotool, in an X server that it starts."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest


def run_tests(begin, argv):
    """Reads --program and --samples, hands both to `begin`, and runs the tests of the main module.

    Without OpenGL the tests are skipped (exit status 77).
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--samples", required=True, type=pathlib.Path)
    options, rest = parser.parse_known_args(argv[1:])
    begin(options.program, options.samples)
    with tempfile.TemporaryDirectory() as folder:
        words = [options.program, options.samples / "v1.penstock", "--screenshot", pathlib.Path(folder) / "o.png"]
        probe = subprocess.run(words, stderr=subprocess.PIPE, text=True, timeout=200, check=False)
    if probe.returncode == 3:
        print(f"skipped: {probe.stderr.strip()}")
        return 77
    unittest.main(argv=[argv[0], *rest])
    return 0


class WindowTest(unittest.TestCase):
    """Starts an X server for each test. Subclasses say which PROGRAM to open."""

    PROGRAM = None

    def setUp(self):
        if not shutil.which("Xvfb") or not shutil.which("xdotool"):
            self.skipTest("Xvfb or xdotool is missing: scripts/deps.sh test")
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.assertTrue(self.start_server(), "Xvfb does not start")

    def start_server(self):
        # -noreset: without it, the server resets when its last client leaves, for example between two
        # calls of xdotool, and refuses clients that connect at that moment.
        # -r: no repeated keys. With them, a short press on a slow machine would count as a held key.
        read, write = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24",
                                        "-noreset", "-r", "-nolisten", "tcp", "-fbdir", self.folder.name], pass_fds=[write],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        self.addCleanup(self.stop_server)
        with os.fdopen(read) as ready:
            number = ready.readline().strip()
        self.env = dict(os.environ, DISPLAY=f":{number}", XDG_CONFIG_HOME=self.folder.name,
                        XDG_STATE_HOME=self.folder.name,
                        LIBGL_ALWAYS_SOFTWARE="1", LC_ALL="C.UTF-8")
        return bool(number)

    def stop_server(self):
        self.server.terminate()
        self.server.wait(20)

    def xdotool(self, *words):
        return subprocess.run(["xdotool", *map(str, words)], env=self.env, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, timeout=60, check=False)

    def open_window(self, *words):
        program = subprocess.Popen([self.PROGRAM, *map(str, words)], env=self.env, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: program.poll() is None and program.kill())
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            found = self.xdotool("search", "--onlyvisible", "--name", "Penstock").stdout.split()
            if found:
                self.xdotool("windowfocus", found[0])
                return program
            self.assertIsNone(program.poll(), "the program ended")
            time.sleep(0.2)
        return self.fail("no window came")

    def picture(self):
        """Returns the bytes of the screen."""
        return (pathlib.Path(self.folder.name) / "Xvfb_screen0").read_bytes()

    @staticmethod
    def cpu(pid):
        """Returns the CPU time of a process in seconds."""
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def settled(self, pid):
        """Waits until the program uses next to no CPU time in a whole second; False if it never does."""
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline:
            before = self.cpu(pid)
            time.sleep(1)
            if self.cpu(pid) - before <= 0.02:
                return True
        return False


class State:
    """The state that the window writes for tests (--state)."""

    def __init__(self, test, program, path):
        self.test, self.program, self.path = test, program, pathlib.Path(path)

    def now(self):
        self.test.assertIsNone(self.program.poll(), "the program ended")
        if not self.path.exists():
            return {}
        return json.loads(self.path.read_text())

    def at_rest(self, seconds=60):
        """Returns the state when it has been the same for half a second, or after `seconds`."""
        deadline = time.monotonic() + seconds
        state, since = self.now(), time.monotonic()
        while time.monotonic() < deadline and time.monotonic() - since < 0.5:
            time.sleep(0.05)
            fresh = self.now()
            if fresh != state:
                state, since = fresh, time.monotonic()
        return state

    def until(self, holds, what, seconds=120):
        """Waits until holds(state) is true; returns that state."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            state = self.now()
            if state and holds(state):
                return state
            time.sleep(0.05)
        return self.test.fail(f"{what}: not within {seconds} s; state: {self.now()}")
