#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs penstock-gui as a person would: pictures of every view, bad input, and a real window.

The window needs Xvfb and xdotool. Without them the tests of the window are skipped, with a message.
Without OpenGL all tests are skipped (exit status 77).
"""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

from window_support import WindowTest, run_tests

PROGRAM = SAMPLES = None
VIEWS = ("overview", "timeline", "stages", "what-if", "workers", "io", "gpu", "sweep", "compare", "sql")


def run(*words, **more):
    return subprocess.run([PROGRAM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=200, check=False, **more)


def without_display():
    return {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}


def read_png(path):
    """Returns width, height and the uncompressed bytes of the rows."""
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG"
    width, height = struct.unpack(">II", data[16:24])
    packed, at = b"", 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    return width, height, zlib.decompress(packed)


class Pictures(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = pathlib.Path(self.folder.name) / "o.png"

    def test_every_view_draws_without_a_display(self):
        seen = set()
        for view in VIEWS:
            for theme in ("dark", "light"):
                done = run(SAMPLES / "v1.penstock", "--screenshot", self.out, "--view", view, "--theme", theme,
                           "--size", "1000x640", env=without_display())
                self.assertEqual((0, ""), (done.returncode, done.stderr))
                width, height, pixels = read_png(self.out)
                self.assertEqual((1000, 640), (width, height))
                seen.add(hash(pixels))
        self.assertEqual(2 * len(VIEWS), len(seen), "two views look the same")

    def test_language_and_range_change_the_picture(self):
        pictures = set()
        for more in ((), ("--lang", "zh"), ("--from", "1ms", "--to", "2ms")):
            done = run(SAMPLES / "v1.penstock", "--screenshot", self.out, "--view", "timeline", *more)
            self.assertEqual((0, ""), (done.returncode, done.stderr))
            pictures.add(hash(read_png(self.out)[2]))
        self.assertEqual(3, len(pictures))

    def test_a_recording_that_is_not_packed_draws_too(self):
        done = run(SAMPLES / "v1.recording", "--screenshot", self.out)
        self.assertEqual((0, ""), (done.returncode, done.stderr))

    def test_a_truncated_trace_is_drawn_or_refused_never_a_crash(self):
        whole = (SAMPLES / "v1.penstock").read_bytes()
        for part in (0, 10, 64, len(whole) // 3, len(whole) - 20):
            cut = pathlib.Path(self.folder.name) / "cut.penstock"
            cut.write_bytes(whole[:part])
            for view in VIEWS:
                done = run(cut, "--screenshot", self.out, "--view", view)
                self.assertIn(done.returncode, (0, 4), done.stderr)
                self.assertEqual(0 if done.returncode == 0 else 1, done.stderr.count("\n"))

    def test_bad_input_is_one_line_and_status_4(self):
        text = pathlib.Path(self.folder.name) / "text.penstock"
        text.write_text("not a trace\n" * 100)
        for path in (text, pathlib.Path(self.folder.name) / "missing.penstock", self.folder.name):
            done = run(path, "--screenshot", self.out)
            self.assertEqual(4, done.returncode, done.stderr)
            self.assertEqual(1, done.stderr.count("\n"), done.stderr)
            self.assertFalse(self.out.exists())

    def test_what_the_trace_lacks_cannot_be_selected(self):
        done = run(SAMPLES / "v1.penstock", "--screenshot", self.out, "--select", "batch:1", "--at", "10ms..60ms")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.out.unlink()
        done = run(SAMPLES / "v1.penstock", "--screenshot", self.out, "--select", "batch:99")
        self.assertEqual(4, done.returncode, done.stderr)
        self.assertIn("batch:99", done.stderr)
        self.assertFalse(self.out.exists())

    def test_an_output_that_cannot_be_written_is_status_3(self):
        done = run(SAMPLES / "v1.penstock", "--screenshot", self.out / "no" / "o.png")
        self.assertEqual(3, done.returncode, done.stderr)

    def test_wrong_usage_is_status_2(self):
        for words in (("--view", "nosuch"), ("--nosuch",), ("--size", "0x0"), ("--at", "2s"),
                      ("--select", "batch:x")):
            self.assertEqual(2, run(SAMPLES / "v1.penstock", *words).returncode)

    def test_without_a_display_a_window_is_status_3(self):
        done = run(SAMPLES / "v1.penstock", env=without_display())
        self.assertEqual(3, done.returncode)
        self.assertEqual(1, done.stderr.count("\n"), done.stderr)
        self.assertIn("--screenshot", done.stderr)


class Window(WindowTest):
    def setUp(self):
        WindowTest.PROGRAM = PROGRAM
        super().setUp()

    def test_keys_walk_through_the_views_and_an_idle_window_rests(self):
        program = self.open_window(SAMPLES / "v1.penstock")
        self.assertTrue(self.settled(program.pid), "an idle window uses the CPU")
        for key in ("alt+2", "w", "s", "a", "d", "f", "0", "slash", "Escape", "alt+3", "alt+4", "alt+5",
                    "alt+6", "alt+7", "alt+8", "alt+9", "F1", "Escape", "alt+1"):
            self.xdotool("key", key)
            time.sleep(0.1)
            self.assertIsNone(program.poll(), f"ended after {key}")
        self.assertTrue(self.settled(program.pid), "the window does not come to rest")
        self.xdotool("key", "ctrl+q")  # xdotool releases ctrl first; all of it happens within one frame
        _, errors = program.communicate(timeout=100)
        self.assertEqual((0, ""), (program.returncode, errors))

    def test_quitting_keeps_the_settings(self):
        program = self.open_window(SAMPLES / "v1.penstock")
        self.assertTrue(self.settled(program.pid))
        self.xdotool("key", "ctrl+q")
        _, errors = program.communicate(timeout=100)
        self.assertEqual((0, ""), (program.returncode, errors))
        kept = (pathlib.Path(self.folder.name) / "penstock" / "gui.conf").read_text()
        self.assertIn("v1.penstock", kept)

    def test_a_file_that_is_no_trace_is_said_in_the_window(self):
        text = pathlib.Path(self.folder.name) / "text.penstock"
        text.write_text("not a trace\n")
        program = self.open_window(text)
        self.assertTrue(self.settled(program.pid))
        self.assertIsNone(program.poll())
        self.xdotool("key", "ctrl+q")
        _, errors = program.communicate(timeout=100)
        self.assertEqual((0, ""), (program.returncode, errors))


def begin(program, samples):
    global PROGRAM, SAMPLES
    PROGRAM, SAMPLES = program, samples


if __name__ == "__main__":
    sys.exit(run_tests(begin, sys.argv))
