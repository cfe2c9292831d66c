# SPDX-License-Identifier: Apache-2.0
"""Shared by the integration tests: paths, pictures, and functions that run programs.

The environment names the programs (CMakeLists.txt sets it): PENSTOCK_BIN, PENSTOCK_AGENT_LIB,
PENSTOCK_TARGETS (the programs of targets/ that are built). Everything is written below one temporary
directory per test class.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PYTHON = "/usr/bin/python3"
HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.environ.get("PENSTOCK_BIN", "")
AGENT = os.environ.get("PENSTOCK_AGENT_LIB", "")
JPEG_THREADS = os.path.join(os.environ.get("PENSTOCK_TARGETS", ""), "jpeg_threads")
TIMEOUT = 60


def program(name):
    return os.path.join(BIN, name)


def target(name):
    return os.path.join(HERE, "targets", name)


def make_pictures(directory, count, sizes, quality=90, seed=1):
    """Writes `count` photo-like JPEG files (smooth shapes, a little grain). Returns their paths."""
    import numpy
    from PIL import Image

    random = numpy.random.default_rng(seed)
    os.makedirs(directory, exist_ok=True)
    paths = []
    for index in range(count):
        width, height = sizes[index % len(sizes)]
        coarse = random.integers(0, 256, (max(2, height // 24), max(2, width // 24), 3), dtype=numpy.uint8)
        smooth = Image.fromarray(coarse).resize((width, height), Image.BICUBIC)
        pixels = numpy.asarray(smooth, dtype=numpy.int16)
        pixels = numpy.clip(pixels + random.integers(-6, 7, pixels.shape, dtype=numpy.int16), 0, 255)
        paths.append(os.path.join(directory, "picture%03d.jpg" % index))
        Image.fromarray(pixels.astype(numpy.uint8)).save(paths[-1], quality=quality)
    return paths


SMALL_SIZES = ((300, 200), (200, 300), (320, 240), (256, 256), (333, 187))


class Outcome:
    """How a command ended: status as subprocess gives it (negative: signal), texts, seconds."""

    def __init__(self, status, stdout, stderr, seconds):
        self.status = status
        self.stdout = stdout
        self.stderr = stderr
        self.seconds = seconds

    def __repr__(self):
        return "status %d\n--- stdout\n%s\n--- stderr\n%s" % (self.status, self.stdout, self.stderr)


def environment(extra=None):
    """This process's environment without the variables that make runs differ, and with one OpenMP thread.

    USE_LIBUV: PyTorch 2 wants libuv for process groups, but Debian's PyTorch is built without libuv.
    UCX_ERROR_SIGNALS: by default UCX handles SIGSEGV and prints process ids.
    """
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PENSTOCK") and k != "LD_PRELOAD"}
    kept.update(OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1", PYTHONHASHSEED="0", USE_LIBUV="0",
                UCX_ERROR_SIGNALS="")  # fmt: skip
    kept.pop("PYTHONPATH", None)
    kept.update(extra or {})
    return kept


def bare(output, extra=None):
    """The environment of a run under the agent alone."""
    return environment({"LD_PRELOAD": AGENT, "PENSTOCK_OUT": output, **(extra or {})})


def run(command, env=None, timeout=TIMEOUT, cwd=None):
    """Runs `command` in a session of its own and leaves no process behind.

    Its output goes to files: workers that outlive the command would keep pipes open for seconds.
    """
    start = time.monotonic()
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(command, env=environment() if env is None else env, cwd=cwd,
                                   stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                                   start_new_session=True)  # fmt: skip
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        process.wait()
        texts = []
        for file in (stdout, stderr):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    if status is None:
        raise AssertionError("still running after %d s: %s\n%s\n%s" % (timeout, command, *texts))
    return Outcome(status, *texts, time.monotonic() - start)


def record(output, command, *options):
    """The command line that runs `command` under penstock-record and replaces an earlier trace."""
    return [program("penstock-record"), "--quiet", "--force", "-o", output, *options, "--", *command]


def train(data, *options):
    """The command line of targets/train.py."""
    return [PYTHON, target("train.py"), "--data", data, *map(str, options)]


def under_agent(mode, output, command, *options, extra=None):
    """Runs `command` recorded: mode "bare" (the agent alone) or "record" (with the collector)."""
    if mode == "bare":
        return run(command, bare(output, extra))
    return run(record(output, command, *options), environment(extra))


def require(*names):
    """Skips the test if one of these programs of ours is not built."""
    for name in names:
        if not os.access(program(name), os.X_OK):
            raise unittest.SkipTest("%s is not built" % name)


class Case(unittest.TestCase):
    """A test with a temporary directory per class and pictures in it."""

    pictures = (48, SMALL_SIZES)

    @classmethod
    def setUpClass(cls):
        cls.base = tempfile.mkdtemp(prefix="penstock-it-")
        cls.data = os.path.join(cls.base, "data")
        cls.paths = make_pictures(cls.data, *cls.pictures)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.base, ignore_errors=True)

    def setUp(self):
        self.work = tempfile.mkdtemp(dir=self.base)

    def path(self, name):
        return os.path.join(self.work, name)

    def assertEnded(self, outcome, status=0):
        self.assertEqual(outcome.status, status, repr(outcome))

    def assertEndedLike(self, alone, traced, what=""):
        """Checks that both runs have the same exit status and the same standard output."""
        self.assertEqual((traced.status, traced.stdout), (alone.status, alone.stdout), (what, repr(traced)))


def main():
    if not AGENT:
        sys.exit("PENSTOCK_AGENT_LIB is not set: run this through ctest")
    unittest.main(verbosity=2)
