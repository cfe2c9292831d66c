# SPDX-License-Identifier: Apache-2.0
"""readers_test.py PENSTOCK-EXPORT TRACE: other readers must find the same in all exported files."""
import collections
import csv
import gzip
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

EXPORT, TRACE = sys.argv[1:3]


class Readers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="penstock-readers-")
        lines = cls.export("jsonl", "t.jsonl")
        with open(lines, encoding="utf-8") as file:
            cls.everything = [json.loads(line) for line in file]
        cls.spans = [line for line in cls.everything if line["type"] == "span"]
        cls.stages = collections.Counter(span["stage"] for span in cls.spans)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def export(cls, form, name):
        path = os.path.join(cls.folder.name, name)
        subprocess.run([EXPORT, "--to", form, "-o", path, TRACE], check=True)
        return path

    def test_the_sample_has_something_of_everything(self):
        kinds = collections.Counter(line["type"] for line in self.everything)
        for kind in ("fact", "process", "thread", "span", "event", "counter"):
            self.assertGreater(kinds[kind], 0, kind)

    def test_chrome_json(self):
        for name, opener in (("t.json", open), ("t.json.gz", gzip.open)):
            with opener(self.export("chrome", name), "rt", encoding="utf-8") as file:
                events = json.load(file)["traceEvents"]
            spans = [event for event in events if event["ph"] == "X"]
            self.assertEqual(collections.Counter(event["cat"] for event in spans), self.stages)
            wanted = sorted((span["start_ns"], span["duration_ns"], span["sample"], span["bytes"]) for span in self.spans)
            found = sorted((round(event["ts"] * 1000), round(event["dur"] * 1000), event["args"]["sample"],
                            event["args"]["bytes"]) for event in spans)  # fmt: skip
            self.assertEqual(found, wanted)
            named = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
            self.assertLessEqual({(event["pid"], event["tid"]) for event in spans}, named)
            self.nest(spans)

    def nest(self, spans):
        """Checks that on each track a span ends before, or with, the span around it."""
        tracks = collections.defaultdict(list)
        for event in spans:
            start = round(event["ts"] * 1000)
            tracks[event["pid"], event["tid"]].append((start, start + round(event["dur"] * 1000)))
        for track in tracks.values():
            stack = []
            for start, end in sorted(track, key=lambda span: (span[0], -span[1])):
                while stack and stack[-1] <= start:
                    stack.pop()
                self.assertTrue(not stack or end <= stack[-1])
                stack.append(end)

    def test_sqlite(self):
        with sqlite3.connect(self.export("sqlite", "t.sqlite")) as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            self.assertEqual(database.execute("PRAGMA user_version").fetchone(), (1,))
            counts = dict(database.execute("SELECT stage, COUNT(*) FROM span GROUP BY stage"))
            self.assertEqual(counts, dict(self.stages))
            # One read was in flight at the end, so it has no length. The rest of a sample is augmenting,
            # and the time between two waits is a step.
            counts = dict(database.execute("SELECT stage, count FROM stage_summary"))
            self.assertEqual(counts, {"wait": 2, "sample": 8, "augment": 8, "read": 8, "step": 1})
            wanted = sorted((span["start_ns"], span["duration_ns"], span["name"], span["object"], span["pid"], span["tid"])
                            for span in self.spans)  # fmt: skip
            found = sorted((start, length, name or "", path or "", pid, tid) for start, length, name, path, pid, tid in
                           database.execute("SELECT start_ns, duration_ns, name, object, pid, tid FROM spans"))  # fmt: skip
            self.assertEqual(found, wanted)
            for view in ("name_summary", "file_reads", "batches"):
                self.assertGreater(len(database.execute("SELECT * FROM " + view).fetchall()), 0, view)
            fetching = {span["pid"] for span in self.spans if span["stage"] == "fetch"}
            self.assertEqual(len(database.execute("SELECT * FROM workers").fetchall()), len(fetching))
            for table in ("fact", "event", "counter", "process", "thread"):
                rows = database.execute("SELECT COUNT(*) FROM " + table).fetchone()[0]
                self.assertEqual(rows, sum(line["type"] == table for line in self.everything), table)
        database.close()

    def test_csv(self):
        with open(self.export("csv", "t.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["start_ns"] for row in rows], [str(span["start_ns"]) for span in self.spans])

    def test_pfw(self):
        with gzip.open(self.export("pfw", "t.pfw.gz"), "rt", encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual((lines[0], lines[-1]), ("[", "]"))
        events = [json.loads(line) for line in lines[1:-1]]
        self.assertEqual([event["id"] for event in events], list(range(len(events))))
        hashes = {event["args"]["value"]: event["args"]["name"] for event in events if event["ph"] == "M"}
        spans = [event for event in events if event["ph"] == "X"]
        self.assertEqual(len(spans), len(self.spans))
        for event, span in zip(spans, self.spans):
            self.assertIn(event["args"]["hhash"], hashes)
            if span["object"]:
                self.assertEqual(hashes[event["args"]["fhash"]], span["object"])
        reads = [event for event in spans if event["cat"] == "POSIX"]
        self.assertEqual(sum(event["args"]["ret"] for event in reads),
                         sum(span["bytes"] for span in self.spans if span["stage"] == "read"))  # fmt: skip

    def test_a_database_needs_a_file(self):
        done = subprocess.run([EXPORT, "--to", "sqlite", TRACE], stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("-o", done.stderr)
        said = subprocess.run([EXPORT, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertIn("sqlite: only to a file, uncompressed", " ".join(said.split()))

    def test_functions_that_were_not_followed_are_an_error(self):
        for form in ("speedscope", "collapsed"):
            path = os.path.join(self.folder.name, form)
            for where in ([], ["-o", path]):
                done = subprocess.run([EXPORT, "--to", form, TRACE, *where], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stdout), (4, ""))
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn("no calls of Python were followed", done.stderr)
                self.assertFalse(os.path.exists(path))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
