# SPDX-License-Identifier: Apache-2.0
"""The agent changes nothing: losses, output, exit status and tracebacks are the same."""
import os
import re
import sys

import support
from support import Case, bare, environment, record, require, run, train

# Parts of the messages of Python and multiprocessing that differ from run to run.
VARYING = (re.compile(r"0x[0-9a-f]+"), re.compile(r"\bpid[s]?[ (:]+[0-9, ]+"))
OURS = re.compile(r'^  File "[^"]*/penstock_python/[^"]*", line \d+, in .*$')
# PyTorch notices a dead worker either in its handler of SIGCHLD, which may run at any line, or when it
# next looks at its workers. The two messages differ.
KILLED = re.compile(r"^RuntimeError: DataLoader worker \(pid(\(s\))? [0-9, ]+\) "
                    r"(is killed by signal: Killed\.|exited unexpectedly)", re.M)  # fmt: skip
FRAME = re.compile(r'^  File "')
# With spawned workers, the thread that feeds a queue may hold the last reference to the queue's semaphore. If
# the interpreter ends after that thread has unlinked the semaphore, but before it has told the resource
# tracker, the tracker warns. This rare race is Python's own: it also happens without the agent.
TRACKER = re.compile(r"^\S*/multiprocessing/resource_tracker\.py:\d+: UserWarning: resource_tracker: "
                     r"(There appear to be \d+ leaked semaphore objects to clean up at shutdown|"
                     r"'/mp-\S+': \[Errno 2\] No such file or directory)\n"
                     r"  warnings\.warn\(.*\n", re.M)  # fmt: skip


def plain(text):
    text = TRACKER.sub("", text)
    for pattern in VARYING:
        text = pattern.sub("*", text)
    return text.splitlines()


def without_our_frames(text):
    """(the lines of a text without our wrappers' frames in tracebacks, number of those frames)."""
    kept, ours, skipping = [], 0, False
    for line in plain(text):
        if OURS.match(line):
            ours += 1
            skipping = True
        elif skipping and line.startswith("    ") and not FRAME.match(line):
            continue  # skips the frame's source line and the carets below it
        else:
            skipping = False
            kept.append(line)
    return kept, ours


class Comparing(Case):
    pictures = (40, support.SMALL_SIZES)

    def compare(self, command, status=0, modes=("bare",), says=None):
        """Compares runs of `command` without and with the agent. Returns the number of our frames
        on standard error.

        `says`: a pattern that each standard error must match, for runs whose lines need not agree.
        """
        alone = run(command, environment())
        self.assertEqual(alone.status, status, repr(alone))
        frames = 0
        for mode in modes:
            output = self.path(mode + ".penstock")
            if mode == "bare":
                traced = run(command, bare(output))
            else:
                require("penstock-record")
                traced = run(record(output, command), environment())
            self.assertEndedLike(alone, traced, mode)
            lines, ours = without_our_frames(traced.stderr)
            frames += ours
            if says is None:
                self.assertEqual(lines, plain(alone.stderr), mode)
            else:
                self.assertRegex(alone.stderr, says)
                self.assertRegex(traced.stderr, says, mode)
            self.assertTrue(os.path.exists(output), "no trace: was the agent there at all?")
        if frames:
            print("    %d frames of our wrappers on standard error" % frames, flush=True)
        return frames


class Results(Comparing):
    """A run prints the same, losses to the last digit."""

    def test_losses_without_workers(self):
        command = train(self.data, "--epochs", 2, "--at", -1)
        self.assertEqual(self.compare(command, modes=("bare", "record")), 0)

    def test_losses_of_adam(self):
        command = train(self.data, "--epochs", 2, "--optimizer", "adam", "--decoder", "cv2")
        self.assertEqual(self.compare(command), 0)

    def test_losses_with_forked_workers(self):
        command = train(self.data, "--workers", 2, "--start", "fork", "--epochs", 2, "--optimizer", "adam")
        self.assertEqual(self.compare(command, modes=("bare", "record")), 0)

    def test_losses_with_spawned_workers(self):
        command = train(self.data, "--workers", 2, "--start", "spawn", "--decoder", "torchvision")
        self.assertEqual(self.compare(command, modes=("bare", "record")), 0)

    def test_losses_of_a_persistent_iterable(self):
        command = train(self.data, "--workers", 2, "--start", "fork", "--epochs", 2, "--persistent",
                        "--style", "iterable")  # fmt: skip
        self.assertEqual(self.compare(command), 0)

    def test_native_program(self):
        # The totals do not depend on the order in which the threads finish.
        self.assertEqual(self.compare([support.JPEG_THREADS, self.data, "2"], modes=("bare", "record")), 0)


class Ending(Comparing):
    """Runs a script that ends in a given way, without workers and with two."""

    def both(self, how, status):
        frames = self.compare(train(self.data, "--end", how), status, modes=("bare", "record"))
        return frames + self.compare(train(self.data, "--workers", 2, "--end", how), status)


class Exceptions(Ending):
    """Scripts that Python itself ends."""

    def test_exit_status_of_the_script(self):
        self.assertEqual(self.both("exit3", 3), 0)

    def test_exception_in_the_step(self):
        self.assertEqual(self.both("raise", 1), 0)

    def test_exception_in_the_dataset(self):
        self.assertLessEqual(self.both("dataset-raise", 1), 12)


class Signals(Ending):
    """Scripts that a signal ends; the status tells which."""

    def test_segmentation_fault(self):
        self.assertEqual(self.both("segv", -11), 0)

    def test_termination(self):
        self.assertEqual(self.both("term", -15), 0)

    def test_keyboard_interrupt(self):
        # Workers get no SIGINT. The main process prints its traceback, then ends itself with SIGINT.
        self.assertEqual(self.both("int", -2), 0)

    def test_a_worker_is_killed(self):
        command = train(self.data, "--workers", 2, "--start", "fork", "--end", "kill-worker")
        self.assertEqual(self.compare(command, 1, modes=("bare", "record"), says=KILLED), 0)


if __name__ == "__main__":
    sys.exit(support.main())
