#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests sweeps, comparisons and exports of penstock-gui from outside: files in, pictures and files out.

Without Xvfb and xdotool, the tests with a window are skipped. Without OpenGL, all are (exit status 77).
"""

import json
import os
import pathlib
import sys
import tempfile
import time
import unittest

import program_test as base
from program_test import read_png, run, without_display
from window_support import run_tests


def sweep():
    """A sweep of two axes, as penstock sweep writes it."""
    cells = []
    for workers in ("0", "2", "4"):
        for prefetch in ("2", "4"):
            rate = 100 + 80 * int(workers) + 5 * int(prefetch)
            cells.append({
                "name": f"workers:{workers}/prefetch:{prefetch}",
                "values": {"workers": workers, "prefetch": prefetch}, "state": "measured",
                "samples_per_s": {"median": rate, "min": rate - 9, "max": rate + 9}, "runs": [rate - 9, rate, rate + 9],
                "of_best": rate / 440, "within_noise": False, "bottleneck": "decode"})
    return {"schema": "penstock.sweep/1", "mode": "command", "subject": ["python", "train.py"], "repeats": 3,
            "interrupted": False, "tie": 0.02, "machine": {"cores": 8, "cpu": "a CPU"},
            "axes": [{"name": "workers", "values": ["0", "2", "4"]}, {"name": "prefetch", "values": ["2", "4"]}],
            "cells": cells, "best": "workers:4/prefetch:4", "suggested": "workers:4/prefetch:4"}


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        self.out = self.root / "o.png"

    def write(self, text, name="s.json"):
        path = self.root / name
        path.write_text(text)
        return path

    def picture(self, *words):
        done = run(*words, "--screenshot", self.out, env=without_display())
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return read_png(self.out)

    def test_a_sweep_draws_itself_in_both_themes_and_languages(self):
        path = self.write(json.dumps(sweep()))
        seen = {hash(self.picture(path, "--theme", theme, "--lang", language)[2])
                for theme in ("dark", "light") for language in ("en", "zh")}
        self.assertEqual(4, len(seen))
        # Without --view a sweep opens in its own view.
        self.assertEqual(self.picture(path)[2], self.picture(path, "--view", "sweep")[2])

    def test_two_traces_are_compared_without_being_asked(self):
        trace = base.SAMPLES / "v1.penstock"
        compared = self.picture(trace, trace)[2]
        self.assertEqual(compared, self.picture(trace, trace, "--view", "compare")[2])
        self.assertNotEqual(compared, self.picture(trace)[2])

    def test_what_is_no_sweep_is_one_line_and_status_4(self):
        whole = json.dumps(sweep())
        newer = dict(sweep(), schema="penstock.sweep/2")
        for text, word in (("", "empty"), (whole[:len(whole) // 2], "damaged"), ("[]", "has no spans"),
                           ('{"schema": "penstock.report/1"}', "penstock.report/1"),
                           (json.dumps(newer), "newer"), (json.dumps(dict(sweep(), cells=[])), "no settings"),
                           (json.dumps(dict(sweep(), axes=7)), "axes")):
            path = self.write(text)
            done = run(path, "--screenshot", self.out)
            self.assertEqual(4, done.returncode, (text[:60], done.stderr))
            self.assertEqual(1, done.stderr.count("\n"), done.stderr)
            self.assertIn(word, done.stderr)
            self.assertIn(str(path), done.stderr)
            self.assertFalse(self.out.exists())

    def test_a_damaged_second_trace_is_status_4(self):
        bad = self.write("not a trace", "bad.penstock")
        done = run(base.SAMPLES / "v1.penstock", bad, "--screenshot", self.out)
        self.assertEqual(4, done.returncode, done.stderr)
        self.assertEqual(1, done.stderr.count("\n"), done.stderr)

    def test_a_scale_that_is_no_number_is_status_2(self):
        for scale in ("nan", "inf", "-nan", "0.1", "4", "0x1", "1,5", ""):
            done = run(base.SAMPLES / "v1.penstock", "--screenshot", self.out, f"--scale={scale}")
            self.assertEqual(2, done.returncode, scale)
            self.assertEqual(1, done.stderr.count("\n"), done.stderr)
        for more in (("--from", "nan"), ("--to", "inf"), ("--size", "nanx5")):
            done = run(base.SAMPLES / "v1.penstock", "--screenshot", self.out, *more)
            self.assertEqual(2, done.returncode, more)


class Window(base.Window):
    """Tests in a real window. The inherited tests run in program_test.py, so they are switched off here."""

    test_keys_walk_through_the_views_and_an_idle_window_rests = None
    test_quitting_keeps_the_settings = None
    test_a_file_that_is_no_trace_is_said_in_the_window = None

    def setUp(self):
        super().setUp()
        self.root = pathlib.Path(self.folder.name)
        self.trace = self.root / "run.penstock"
        self.trace.write_bytes((base.SAMPLES / "v1.penstock").read_bytes())
        self.env["PATH"] = "/nonexistent"  # so no desktop's file dialog is found

    def xdotool(self, *words):
        env, self.env = self.env, dict(self.env, PATH=os.environ["PATH"])
        try:
            return super().xdotool(*words)
        finally:
            self.env = env

    def keys(self, program, *keys):
        for key in keys:
            self.xdotool("key", key)
            self.assertTrue(self.settled(program.pid))
            self.assertIsNone(program.poll(), f"ended after {key}")

    def quit(self, program):
        self.xdotool("key", "ctrl+q")
        _, errors = program.communicate(timeout=100)
        self.assertEqual((0, ""), (program.returncode, errors))

    def appears(self, path):
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline:
            if path.exists():
                return True
            time.sleep(0.1)
        return False

    def test_the_view_is_saved_as_the_picture_that_a_screenshot_is(self):
        program = self.open_window(self.trace, "--size", "1000x640")
        self.assertTrue(self.settled(program.pid))
        self.keys(program, "ctrl+shift+p", "Return")
        saved = self.root / "run-overview.png"
        self.assertTrue(self.appears(saved))
        width, height, pixels = read_png(saved)
        self.assertEqual((1000, 640), (width, height))
        self.assertGreater(len(set(pixels)), 20, "one colour is no view")
        self.quit(program)
        self.assertFalse((self.root / "run-overview.png.part").exists())

    def test_the_desktops_dialog_names_the_file(self):
        tools = self.root / "tools"
        tools.mkdir()
        saved = self.root / "named.html"
        (tools / "zenity").write_text(f"#!/bin/sh\necho {saved}\n")
        (tools / "zenity").chmod(0o755)
        self.env["PATH"] = str(tools)
        program = self.open_window(self.trace)
        self.assertTrue(self.settled(program.pid))
        self.keys(program, "ctrl+shift+h")
        self.assertTrue(self.appears(saved))
        self.assertIn("<html", saved.read_text())
        self.quit(program)
        kept = (self.root / "penstock" / "gui.conf").read_text()
        self.assertIn(f"folder={self.root}\n", kept)

    def test_a_sweep_and_a_comparison_in_a_window(self):
        path = self.root / "s.json"
        path.write_text(json.dumps(sweep()))
        program = self.open_window(self.trace, self.trace, path)
        self.assertTrue(self.settled(program.pid), "a window that compares comes to rest")
        self.keys(program, "alt+8", "alt+9", "ctrl+e", "Escape", "ctrl+r", "Escape")
        self.quit(program)
        kept = (self.root / "penstock" / "gui.conf").read_text()
        self.assertIn("s.json", kept)


def begin(program, samples):
    base.PROGRAM, base.SAMPLES = program, samples


if __name__ == "__main__":
    sys.exit(run_tests(begin, sys.argv))
