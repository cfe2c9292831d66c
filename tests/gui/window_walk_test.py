#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Walks through every view of a real window and presses the keys of the timeline.

The effect of a key is read from the state that the window writes (--state); pictures of the window
show that the views differ. The traces are those of make_gui_traces.cc. Needs Xvfb and xdotool;
without them, or without OpenGL, it is skipped (exit status 77).
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

from window_support import State, WindowTest

VIEWS = ()
TRACES = None


def length(state):
    return state["to"] - state["from"]


class Walk(WindowTest):
    def start(self, trace, *words):
        path = pathlib.Path(self.folder.name) / "state.json"
        self.program = self.open_window(TRACES / trace, "--state", path, "--size", "1280x720", *words)
        self.state = State(self, self.program, path)
        return self.state.until(lambda s: s["timeline"] and s["analysis"] and not s["loading"], "loading")

    def press(self, keys, holds, what):
        """Presses keys and waits until holds(state) is true; it must be false before."""
        self.assertFalse(holds(self.state.now()), f"{what}: holds before {keys} is pressed")
        self.xdotool("key", *keys.split())
        self.state.until(holds, f"{what} after {keys}")
        return self.state.at_rest()

    def drag(self, begin, end):
        """Drags with the left button, which stays down."""
        for words in (("mousemove", *begin), ("mousedown", 1), ("mousemove", *end)):
            self.xdotool(*words)
            self.state.at_rest()

    def visit_every_view(self):
        for number, view in enumerate(VIEWS[:9]):
            self.xdotool("key", f"alt+{number + 1}")
            self.state.until(lambda s, view=view: s["view"] == view, f"view {view}")
        for view in VIEWS[9:]:  # views without a digit, by name
            self.xdotool("key", "ctrl+p")
            self.state.until(lambda s: s["commands"], "commands")
            self.xdotool("type", view)
            self.xdotool("key", "Escape")
            self.state.until(lambda s: not s["commands"], "no commands")

    def quit(self):
        self.xdotool("key", "ctrl+q")
        _, errors = self.program.communicate(timeout=100)
        self.assertEqual((0, ""), (self.program.returncode, errors))

    def walk_views_and_quit(self, trace):
        state = self.start(trace)
        self.visit_every_view()
        self.press("F1", lambda s: s["help"], "help")
        self.press("Escape", lambda s: not s["help"], "no help")
        self.quit()
        return state

    def test_every_view_of_an_empty_trace(self):
        state = self.walk_views_and_quit("empty.penstock")
        self.assertEqual(0, state["spans"])

    def test_every_view_of_a_trace_with_a_gpu(self):
        state = self.walk_views_and_quit("gpu.penstock")
        self.assertGreater(state["spans"], 0)

    def test_every_view_of_a_truncated_trace(self):
        state = self.walk_views_and_quit("cut.penstock")
        self.assertGreater(state["spans"], 0)

    def test_every_view_of_a_long_trace_and_its_timeline_moves(self):
        state = self.start("long.penstock")
        self.assertGreaterEqual(state["spans"], 100_000)
        self.visit_every_view()
        self.xdotool("key", "alt+2")
        whole = self.state.until(lambda s: s["view"] == "timeline", "timeline")
        self.press("w", lambda s: length(s) < length(whole), "closer")
        self.press("0", lambda s: length(s) >= length(whole), "all of it")
        self.press("l", lambda s: s["span"] is not None, "the longest span")
        self.quit()

    def test_views_look_different(self):
        self.start("run.penstock")
        seen = {}
        for number, view in enumerate(VIEWS[:9]):
            self.xdotool("key", f"alt+{number + 1}")
            self.state.until(lambda s, view=view: s["view"] == view, f"view {view}")
            self.assertTrue(self.settled(self.program.pid))
            picture = self.picture()
            self.assertNotIn(hash(picture), seen, f"{view} looks like {seen.get(hash(picture))}")
            seen[hash(picture)] = view
        self.quit()

    def test_keys_of_the_timeline(self):
        self.start("run.penstock", "--view", "timeline")
        whole = self.state.now()
        # Zoom and move.
        near = self.press("w w w", lambda s: length(s) < 0.97 * length(whole), "closer")
        self.press("d", lambda s: s["from"] > near["from"], "later")
        here = self.state.now()
        self.press("a a a", lambda s: s["from"] < here["from"], "earlier")
        here = self.state.now()
        self.press("s s s", lambda s: length(s) > length(here), "farther")
        here = self.state.now()
        self.press("plus plus plus", lambda s: length(s) < 0.6 * length(here), "closer with +")
        here = self.state.now()
        self.press("minus", lambda s: length(s) > 1.3 * length(here), "farther with -")
        self.press("Home", lambda s: length(s) == length(whole), "all of it")
        # Bookmarks, and back from jumps.
        kept = self.press("plus plus plus plus", lambda s: length(s) < 0.4 * length(whole), "closer")
        self.press("ctrl+4", lambda s: s["bookmarks"] == 1, "a bookmark")
        self.press("0", lambda s: length(s) == length(whole), "all of it")
        self.press("4", lambda s: abs(s["from"] - kept["from"]) <= 2, "the bookmark")
        self.press("alt+Left", lambda s: length(s) == length(whole), "back")
        self.press("alt+Right", lambda s: abs(s["from"] - kept["from"]) <= 2, "forward")
        self.press("b", lambda s: s["marks"], "the list of marks")
        self.press("b", lambda s: not s["marks"], "no list")
        # Search.
        self.press("slash d e c o d e", lambda s: s["hits"] > 100, "hits")
        first = self.press("Return", lambda s: s["stage"] == "decode", "the first hit")
        second = self.press("Return", lambda s: s["span"] != first["span"], "the next hit")
        self.press("shift+Return", lambda s: s["span"] == first["span"], "the hit before")
        self.assertNotEqual(first["hit"], second["hit"])
        self.xdotool("key", "Escape")
        self.state.at_rest()
        # From span to span, along a batch, the longest.
        self.press("period", lambda s: s["span"] != first["span"] and s["span"] is not None, "the next span")
        self.press("comma", lambda s: s["span"] == first["span"], "the span before")
        stop = self.press("bracketright", lambda s: s["span"] != first["span"], "along the batch")
        self.press("bracketright", lambda s: s["span"] != stop["span"], "farther along the batch")
        self.press("bracketleft", lambda s: s["span"] == stop["span"], "back along the batch")
        # Pin, panel, focus, mark, note.
        self.press("p", lambda s: s["pins"] == 1, "a pinned row")
        self.press("p", lambda s: s["pins"] == 0, "no pinned row")
        self.press("q", lambda s: s["panel_hidden"], "no panel")
        self.press("q", lambda s: not s["panel_hidden"], "the panel")
        here = self.state.now()
        self.press("f", lambda s: length(s) < length(here) or s["from"] != here["from"], "the span, close")
        self.press("m", lambda s: s["selection"] is not None, "the span selected")
        self.press("shift+m", lambda s: s["notes"] == 1, "a note")
        # The selection filters other views, and Escape clears it.
        self.press("alt+3", lambda s: s["view"] == "stages" and s["part"], "stages of the selection")
        self.press("f", lambda s: s["functions"], "functions")
        self.press("f", lambda s: not s["functions"], "durations again")
        self.press("Escape", lambda s: s["selection"] is None and not s["part"], "the whole trace")
        # Commands and help.
        self.press("ctrl+p", lambda s: s["commands"], "commands")
        self.xdotool("key", "f", "o", "l", "d")
        self.press("Return", lambda s: s["folded"] > 1 and not s["commands"], "everything folded")
        self.press("ctrl+r", lambda s: s["commands"], "recent files")
        self.press("Escape", lambda s: not s["commands"], "no list")
        self.press("question", lambda s: s["help"], "help")
        self.press("F1", lambda s: not s["help"], "no help")
        folded = self.state.now()["folded"]
        self.quit()
        # After a new start the marks are still there.
        whole = self.start("run.penstock", "--view", "timeline")
        self.assertEqual((1, 1, folded), (whole["bookmarks"], whole["notes"], whole["folded"]))
        self.press("4", lambda s: abs(s["from"] - kept["from"]) <= 2, "the bookmark of the run before")
        self.quit()

    def test_the_mouse_in_the_timeline(self):
        whole = self.start("run.penstock", "--view", "timeline")
        self.xdotool("mousemove", 700, 330)
        # Ctrl and wheel zoom at the pointer.
        self.xdotool("keydown", "ctrl")
        self.xdotool("click", "--repeat", "4", "4")
        self.state.until(lambda s: length(s) < 0.6 * length(whole), "closer by wheel")
        self.xdotool("keyup", "ctrl")
        near = self.state.at_rest()
        at = (700 - 204) / (1280 - 14 - 204)
        before = whole["from"] + at * length(whole)
        self.assertAlmostEqual(before, near["from"] + at * length(near), delta=0.02 * length(whole))
        # A drag selects, and the panel below says what is in it.
        # The drag goes step by step, because a frame sees only the present place of the pointer.
        self.drag((500, 330), (650, 332))
        self.state.until(lambda s: s["selection"], "a selection")
        half = self.state.at_rest()["selection"]
        self.xdotool("mousemove", 800, 334)
        self.state.until(lambda s: s["selection"] != half, "a longer selection")
        self.xdotool("mouseup", 1)
        chosen = self.state.at_rest()["selection"]
        share = (chosen[1] - chosen[0]) / length(near)
        self.assertAlmostEqual(300 / 1062, share, delta=0.05)
        # A click clears the selection; a click on a name folds its process.
        self.xdotool("mousemove", 900, 520)
        self.state.at_rest()
        self.xdotool("click", 1)
        self.state.until(lambda s: s["selection"] is None, "no selection")
        self.xdotool("mousemove", 100, 158)
        self.state.at_rest()
        self.xdotool("click", 1)
        self.state.until(lambda s: s["folded"] == 1, "a folded group")
        # The map moves the view.
        here = self.state.at_rest()
        self.drag((1200, 104), (1201, 104))
        self.state.until(lambda s: s["from"] > here["from"], "moved by the map")
        self.xdotool("mouseup", 1)
        self.quit()

    def point_at_a_span(self):
        """Moves the pointer over a span of the timeline. No span is chosen afterwards."""
        for y in range(250, 640, 14):
            self.xdotool("mousemove", 700, y, "click", 1)
            self.assertTrue(self.settled(self.program.pid))
            if self.state.now()["span"] is not None:
                self.xdotool("key", "Escape")
                self.state.until(lambda s: s["span"] is None, "no span")
                self.assertTrue(self.settled(self.program.pid))
                return
        self.fail("no span lies below x = 700")

    def test_what_a_released_button_changes_is_drawn_at_once(self):
        self.start("run.penstock", "--view", "timeline")
        self.point_at_a_span()
        # While the button is down the window draws all the time, so it is not about to draw more
        # frames for an earlier event when the button is released.
        self.xdotool("mousedown", 1)
        time.sleep(1)
        self.xdotool("mouseup", 1)
        self.state.until(lambda s: s["span"] is not None, "a span")
        self.assertTrue(self.settled(self.program.pid))
        shown = self.picture()
        self.xdotool("key", "shift")
        self.assertTrue(self.settled(self.program.pid))
        self.assertEqual(hash(shown), hash(self.picture()), "the window showed an old state")
        self.quit()

    def test_an_idle_window_uses_no_cpu(self):
        self.start("run.penstock", "--view", "timeline")
        self.assertTrue(self.settled(self.program.pid), "an idle window uses the CPU")
        before = self.cpu(self.program.pid)
        time.sleep(5)
        # A few ticks may pass, because other programs may send the window events.
        self.assertLessEqual(self.cpu(self.program.pid) - before, 0.03)
        self.quit()


def main():
    global TRACES, VIEWS
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--traces", required=True, help="make_gui_traces")
    parser.add_argument("--spans", default="200000")
    options, rest = parser.parse_known_args()
    WindowTest.PROGRAM = options.program
    with tempfile.TemporaryDirectory() as folder:
        TRACES = pathlib.Path(folder)
        subprocess.run([options.traces, folder, options.spans], check=True)
        probe = subprocess.run([options.program, TRACES / "run.penstock", "--screenshot", TRACES / "o.png"],
                               stderr=subprocess.PIPE, text=True, timeout=200, check=False)
        if probe.returncode == 3:
            print(f"skipped: {probe.stderr.strip()}")
            return 77
        words = subprocess.run([options.program, "--view", "?"], stderr=subprocess.PIPE, text=True,
                               check=False).stderr
        names = words.split("there is ")[1].split("\n")[0].split(", ")
        VIEWS = tuple(name for name in names if name != "functions")  # "functions" is half of the stages view
        result = unittest.main(argv=[sys.argv[0], *rest], exit=False).result
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
