#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the generator of victims: a number always gives the same program, differences are found, and a program is
shrunk to the lines that cause the difference."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import victim_differences
import victim_programs as programs
import victim_runs as runs
import victim_shrink as shrink

FLAVOURS = ("glibc", "static", "musl", "asan", "python")


def parse(text):
    return programs.Program.parse(text)


class ProgramTest(unittest.TestCase):
    def test_a_number_gives_the_same_program_each_time(self):
        for number in range(200):
            first, second = (programs.make("s.%d" % number, FLAVOURS).text() for _ in range(2))
            self.assertEqual(first, second)
        self.assertGreater(len({programs.make("s.%d" % n, FLAVOURS).text() for n in range(200)}), 190)

    def test_text_and_program_are_the_same(self):
        for number in range(200):
            text = programs.make("t.%d" % number, FLAVOURS).text()
            self.assertEqual(parse(text).text(), text)

    def test_every_operation_is_made(self):
        words = {line.split()[0].lstrip("~") for number in range(4000)
                 for lines in programs.make("u.%d" % number, FLAVOURS).blocks.values() for line in lines}  # fmt: skip
        for word in ("open", "openat", "openlink", "rawopen", "create", "memfd", "pipe", "fopen", "fdopen", "dup", "dup2",
                     "duphigh", "rawdup2", "close", "rawclose", "closeall", "closerange", "many", "send", "receive",
                     "read", "pread", "readv", "preadv", "preadv2", "readchk", "preadchk", "rawread", "readbad", "mmap",
                     "fread", "fgets", "getline", "getdelim", "fgetc", "thread", "cancel", "texit", "until", "fork",
                     "clonefork", "double", "vexec", "cloneexec", "spawn", "system", "popen", "execmissing", "exec",
                     "killme", "kill", "handle", "altstack", "timer", "ptimer", "sigwait", "mask", "try", "jump",
                     "seccomp", "strict", "noclock", "rlimit", "drop", "mlockall", "umask", "chdir", "dumpable",
                     "closestandard", "exit", "_exit", "quick_exit", "rawexit", "abort", "pyread"):  # fmt: skip
            self.assertIn(word, words)


class ShrinkTest(unittest.TestCase):
    def test_only_what_matters_is_left(self):
        program = parse("block 0\nsay 1\nloop 300 @1\nsay 2\nfork 3 @2\nblock 1\nopen 1 4\nread 1 9000\nclose 1\n"
                        "block 2\nsay 9\nblock 3\nsay 4\n")

        def differs(candidate):
            return any(line.startswith("read 1 ") for lines in candidate.blocks.values() for line in lines)

        small = shrink.shrink(program, differs)
        self.assertEqual(small.size(), 1)
        self.assertTrue(small.blocks[0][0].startswith("read 1 "))

    def test_what_belongs_together_stays(self):
        program = parse("block 0\nopen 1 4\nsay 1\nsay 2\nread 1 9000\nsay 3\nraise KILL\n")

        def differs(candidate):
            words = [line.split()[0] for line in candidate.blocks[0]]
            return [word for word in words if word != "say"] == ["open", "read", "raise"]

        self.assertEqual(shrink.shrink(program, differs).size(), 3)


class FakePlace:
    folder, traces = "/f", "/t"

    def __init__(self, *reports):
        self.reader = self
        self.reports = list(reports)

    def read(self, _path):
        return self.reports.pop(0)


def report(reads, lost=(), dropped=0):
    return {"reads": reads, "problems": [], "damaged": 0, "truncated": False, "unsealed": False, "dropped": dropped,
            "lost_bytes": 0, "processes": [[pid, 0, amount, 0, 0] for pid, amount in lost]}  # fmt: skip


def differences(rows, *reports, mode="bare"):
    outcome = runs.Outcome()
    outcome.rows = rows
    outcome.traces = ["T"] * len(reports)
    found = victim_differences.accounted(FakePlace(*reports), mode, outcome, victim_differences.Bytes())
    return [one.kind for one in found]


class AccountTest(unittest.TestCase):
    FILE = "/f/set/03.bin"

    def test_all_bytes_in_spans_are_no_difference(self):
        self.assertEqual(differences([(7, 0, {3: (100, 0, 0, 0)})], report([[7, "read", self.FILE, 100, 1]])), [])

    def test_bytes_that_are_in_no_span_are_missing_unless_counted_as_lost(self):
        rows = [(7, 0, {3: (100, 0, 0, 0)})]
        reads = [[7, "read", self.FILE, 60, 1]]
        self.assertEqual(differences(rows, report(reads)), ["missing"])
        self.assertEqual(differences(rows, report(reads, [(7, 39)])), ["missing"])
        self.assertEqual(differences(rows, report(reads, [(7, 40)])), [])
        self.assertEqual(differences(rows), ["missing"])

    def test_more_than_was_read_is_invented(self):
        rows = [(7, 0, {3: (100, 0, 0, 0)})]
        self.assertEqual(differences(rows, report([[7, "read", self.FILE, 101, 1]])), ["invented"])
        self.assertEqual(differences(rows, report([[7, "read", self.FILE, 100, 1], [8, "read", self.FILE, 1, 1]])), ["invented"])

    def test_another_files_name_is_seen(self):
        rows = [(7, 0, {3: (100, 0, 0, 0)})]
        self.assertEqual(sorted(differences(rows, report([[7, "read", "/f/set/04.bin", 100, 1]]))), ["invented", "missing"])
        self.assertEqual(sorted(differences(rows, report([[7, "read", "", 100, 1]]))), ["missing", "nameless"])

    def test_a_call_in_flight_may_be_in_the_trace_or_not(self):
        rows = [(7, 0, {3: (100, 0, 50, 0)})]
        for amount, kinds in ((99, ["missing"]), (100, []), (150, []), (151, ["invented"])):
            self.assertEqual(differences(rows, report([[7, "read", self.FILE, amount, 1]])), kinds)

    def test_where_the_agent_is_not_nothing_is_expected(self):
        self.assertEqual(differences([(7, 1, {3: (0, 0, 0, 100)})]), [])

    def test_what_outlives_the_command_is_expected_without_a_collector_only(self):
        rows = [(7, 0, {}), (8, 0, {3: (0, 100, 0, 0)})]
        self.assertEqual(differences(rows, mode="record"), [])
        self.assertEqual(differences(rows, mode="bare"), ["missing"])

    def test_an_unsound_trace_is_a_difference(self):
        bad = report([])
        bad["problems"] = ["something"]
        self.assertEqual(differences([(7, 0, {})], bad), ["unsound"])
        self.assertEqual(differences([(7, 0, {})], {"error": "not a trace"}), ["unreadable"])


if __name__ == "__main__":
    unittest.main()
