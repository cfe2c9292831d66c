#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""penstock.open(): its tables say what `penstock-export` says, its report is the command's."""
import csv
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import BUILD, FILES, OPS, WithSet  # noqa: E402

import penstock  # noqa: E402
from penstock.trace import TraceError  # noqa: E402

EPOCHS, BATCH = 8, 4


def run(program, *arguments):
    done = subprocess.run([os.path.join(BUILD, "bin", program), *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True, check=False, timeout=120)  # fmt: skip
    assert done.returncode == 0, (program, arguments, done.stderr)
    return done.stdout


class Case(WithSet):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = cls.folder / "run.penstock"
        run("penstock-load", cls.set, "--ops", OPS, "--workers", 2, "--batch", BATCH, "--epochs", EPOCHS, "--step-ms", 2,
            "--augment-cost", "sleep:5ms",  # a busy machine does not change a sleep, so the run can be predicted
            "--trace", cls.path)  # fmt: skip

    def setUp(self):
        self.trace = penstock.open(self.path)
        self.addCleanup(self.trace.close)

    def installed(self, *names):
        for name in names:
            if importlib.util.find_spec(name) is None:
                self.skipTest("%s is not installed" % name)


class Tables(Case):
    def test_spans_are_those_of_the_export(self):
        rows = list(csv.DictReader(io.StringIO(run("penstock-export", self.path, "--to", "csv"))))
        spans = self.trace.spans()
        self.assertEqual(len(rows), len(spans))
        self.assertEqual(len(rows), self.trace.span_count)
        self.assertGreaterEqual(len(rows), EPOCHS * FILES * 4)
        for column in ("start_ns", "duration_ns", "busy_ns", "bytes", "sample", "batch", "generation", "flags", "depth"):
            self.assertEqual([int(row[column]) for row in rows], spans[column].tolist(), column)
        self.assertEqual([int(row["cpu_ns"] or -1) for row in rows], spans["cpu_ns"].tolist())
        for column in ("stage", "name", "object"):
            self.assertEqual([row[column] for row in rows], spans[column].tolist(), column)
        threads, processes = self.trace.threads, self.trace.processes
        self.assertEqual([int(row["tid"]) for row in rows], [threads[i]["tid"] for i in spans["thread"].tolist()])
        self.assertEqual([int(row["pid"]) for row in rows], [processes[i]["pid"] for i in spans["process"].tolist()])

    def test_stages_and_columns_are_chosen(self):
        whole = self.trace.spans()
        for stages in ("decode", ("read", "decode"), "kernel"):
            chosen = [stages] if isinstance(stages, str) else stages
            some = self.trace.spans(stage=stages, columns=["start_ns", "object"])
            mask = [one in chosen for one in whole["stage"].tolist()]
            self.assertEqual(whole.where(mask)["start_ns"].tolist(), some["start_ns"].tolist())
            self.assertEqual(whole.where(mask)["object"].tolist(), some["object"].tolist())
            self.assertEqual(["start_ns", "object"], some.columns)

    def test_what_is_not_there_is_named(self):
        for said, ask in (("no stage 'decoding'", lambda: self.trace.spans(stage="decoding")),
                          ("no column 'duration'", lambda: self.trace.spans(columns=["duration"])),
                          ("no column 'pid'", lambda: self.trace.events(columns=["pid"]))):  # fmt: skip
            with self.assertRaisesRegex(ValueError, said):
                ask()
        with self.assertRaisesRegex(TraceError, "/nowhere/run.penstock"):
            penstock.open("/nowhere/run.penstock")

    def test_events_and_counters_are_those_of_the_export(self):
        lines = [json.loads(line) for line in run("penstock-export", self.path, "--to", "jsonl").splitlines()]
        for kind, table, column in (("event", self.trace.events(), "event"), ("counter", self.trace.counters(), "name")):
            rows = [line for line in lines if line["type"] == kind]
            self.assertEqual([row[column] for row in rows], table[column].tolist())
            for number in ("at_ns", "value"):
                self.assertEqual([row[number] for row in rows], table[number].tolist(), (kind, number))

    def test_batches_are_those_that_were_delivered(self):
        batches = self.trace.batches()
        of_epoch = -(-FILES // BATCH)
        self.assertEqual(list(range(of_epoch)) * EPOCHS, batches["batch"].tolist())
        self.assertEqual(EPOCHS * of_epoch, self.trace.report()["loader"]["batches"])
        self.assertTrue((batches["asked_ns"] <= batches["got_ns"]).all())
        self.assertTrue((batches["got_ns"] <= batches["delivered_ns"]).all())
        self.assertEqual(EPOCHS, int((batches["step_ns"] < 0).sum()))
        steps = batches["step_ns"][batches["step_ns"] >= 0]
        self.assertGreaterEqual(int(steps.min()), 2_000_000)

    def test_a_trace_without_followed_calls_has_an_empty_table_of_functions(self):
        functions = self.trace.functions()
        self.assertEqual(0, len(functions))
        for column in ("unit", "stage", "function", "file", "line", "own_ns", "total_ns", "calls", "kind"):
            self.assertEqual([], functions[column].tolist(), column)
        self.assertEqual(["own_ns", "function"], self.trace.functions(columns=["own_ns", "function"]).columns)
        with self.assertRaisesRegex(ValueError, "no column 'own'"):
            self.trace.functions(columns=["own"])

    def test_a_table_outlives_its_trace(self):
        trace = penstock.open(self.path)
        spans = trace.spans()
        expected = spans["name"].tolist()
        trace.close()
        del trace
        self.assertEqual(expected, spans["name"].tolist())


    def test_a_closed_trace_says_so(self):
        (trace,) = penstock.open_many([self.path])
        trace.close()
        for use in (trace.spans, trace.events, trace.counters, trace.functions, trace.batches, lambda: trace.facts):
            with self.assertRaisesRegex(TraceError, "run.penstock: the trace is closed"):
                use()
        self.assertGreater(trace.span_count, 0)
        self.assertIn("run.penstock: closed", repr(trace))


class Libraries(Case):
    def test_pandas(self):
        self.installed("pandas")
        spans = self.trace.spans()
        frame = spans.to_pandas()
        self.assertEqual(spans["name"].tolist(), frame["name"].tolist())
        self.assertEqual(int(spans["bytes"].sum()), int(frame["bytes"].sum()))

    def test_polars(self):
        self.installed("polars")
        spans = self.trace.spans()
        frame = spans.to_polars()
        self.assertEqual(spans["stage"].tolist(), frame["stage"].cast(str).to_list())
        self.assertEqual(spans["start_ns"].tolist(), frame["start_ns"].to_list())

    def test_arrow_and_parquet(self):
        self.installed("pyarrow")
        import pyarrow.parquet

        spans = self.trace.spans()
        self.assertEqual(spans["object"].tolist(), spans.to_arrow()["object"].to_pylist())
        path = self.folder / "spans.parquet"
        spans.to_parquet(path)
        self.assertEqual(spans["duration_ns"].tolist(), pyarrow.parquet.read_table(path)["duration_ns"].to_pylist())

    def test_many_traces_are_one_data_set(self):
        self.installed("pyarrow")
        import pyarrow.dataset
        import pyarrow.parquet

        runs = self.folder / "runs"
        runs.mkdir()
        for name, rank in (("a", 0), ("b", 1)):
            run("penstock-load", self.set, "--ops", OPS, "--workers", 1, "--batch", BATCH, "--rank", rank, "--world", 2,
                "--trace", runs / (name + ".penstock"))  # fmt: skip
        fleet = penstock.open_many(str(runs / "*.penstock"))
        self.assertEqual(2, len(fleet))
        rows = fleet.to_parquet(self.folder / "lake", tables=["runs", "spans", "functions"])
        self.assertEqual(0, rows["functions"])
        self.assertEqual(0, len(pyarrow.parquet.read_table(self.folder / "lake/functions/run=a/rank=0/part-0.parquet")))
        table = pyarrow.dataset.dataset(str(self.folder / "lake" / "spans"), partitioning="hive").to_table()
        self.assertEqual(rows["spans"], len(table))
        self.assertEqual(sum(trace.span_count for trace in fleet), len(table))
        self.assertEqual({("a", 0), ("b", 1)}, set(zip(table["run"].to_pylist(), table["rank"].to_pylist())))
        one = pyarrow.dataset.dataset(str(self.folder / "lake" / "runs"), partitioning="hive").to_table().to_pylist()
        self.assertEqual(["penstock", "penstock"], [row["kind"] for row in one])
        self.assertEqual({json.loads(row["report"])["verdict"]["bottleneck"] for row in one},
                         {row["verdict"] for row in one})  # fmt: skip

    def test_runs_of_one_name_get_numbers_that_no_other_run_has(self):
        self.installed("pyarrow")
        paths = []
        for name in ("1/run", "2/run", "3/run-2", "4/run"):
            path = self.folder / "alike" / (name + ".penstock")
            path.parent.mkdir(parents=True)
            shutil.copy(self.path, path)
            paths.append(path)
        rows = penstock.open_many(paths).to_parquet(self.folder / "alike-lake", tables=["batches"])
        self.assertEqual(["run=run", "run=run-2", "run=run-3", "run=run-4"],
                         sorted(os.listdir(self.folder / "alike-lake" / "batches")))  # fmt: skip
        self.assertEqual(4 * EPOCHS * 6, rows["batches"])

    def test_a_trace_of_many_that_cannot_be_read_is_told_or_stops(self):
        self.installed("pyarrow")
        bad = self.folder / "bad.penstock"
        bad.write_bytes(b"no trace")
        fleet = penstock.open_many([self.path, bad])
        with self.assertRaisesRegex(TraceError, "bad.penstock"):
            fleet.to_parquet(self.folder / "lake2")
        told = []
        rows = fleet.to_parquet(self.folder / "lake3", tables=["batches"], on_error=lambda path, _: told.append(str(path)))
        self.assertEqual([str(bad)], told)
        self.assertEqual(EPOCHS * 6, rows["batches"])

    def test_a_pattern_without_files_and_a_table_that_is_none_are_refused(self):
        with self.assertRaisesRegex(TraceError, "no file"):
            penstock.open_many(str(self.folder / "*.nothing"))
        with self.assertRaisesRegex(ValueError, "no table"):
            penstock.open_many([self.path]).to_parquet(self.folder / "lake4", tables=["samples"])

    def test_what_is_not_installed_is_named(self):
        script = """
import sys, penstock
trace = penstock.open(sys.argv[1])
print(trace.span_count, len(trace.threads), trace.report()["loader"]["kind"])
try:
    trace.spans()
except penstock.TraceError as error:
    print(error)
"""
        done = subprocess.run([sys.executable, "-S", "-c", script, str(self.path)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, check=False,
                              env=dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(penstock.__file__))))  # fmt: skip
        self.assertEqual("", done.stderr)
        self.assertIn("penstock\ncolumns of a trace are NumPy arrays: pip install numpy\n", done.stdout)


class Report(Case):
    def test_the_report_is_the_commands(self):
        self.assertEqual(json.loads(run("penstock", "report", self.path, "--json")), self.trace.report())

    def test_whatif_is_the_commands(self):
        expected = json.loads(run("penstock", "whatif", self.path, "--workers", "1,2,4", "--prefetch", "2", "--json"))
        self.assertEqual(expected["configurations"], self.trace.whatif(workers=[1, 2, 4], prefetch=2))
        self.assertEqual([1, 2, 4], [one["num_workers"] for one in self.trace.whatif(workers=(1, 2, 4))])
        self.assertEqual(1, len(self.trace.whatif(ram_cache=True)))
        with self.assertRaisesRegex(TraceError, "wrkers"):
            self.trace.whatif(wrkers=[1])
        with self.assertRaisesRegex(TraceError, "collate, transfer, h2d and compute"):
            self.trace.whatif(without="decoding")
        with self.assertRaisesRegex(ValueError, "name at least one"):
            self.trace.whatif()

    def test_a_notebook_shows_the_page(self):
        page = self.trace.html()
        self.assertTrue(page.lstrip().lower().startswith("<!doctype html"))
        shown = self.trace._repr_html_()
        self.assertTrue(shown.startswith('<iframe srcdoc="'))
        import html

        self.assertEqual(page, html.unescape(shown[len('<iframe srcdoc="') : shown.rindex('" style')]))

    def test_a_name_may_contain_the_ends_of_lines_of_unicode(self):
        name = "a\u2028b\u2029c\x85d"
        named = {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": name}}
        span = {"ph": "X", "cat": "c", "name": "n", "pid": 1, "tid": 2, "ts": 1, "dur": 1}
        file = self.folder / "named.json"
        file.write_text(json.dumps({"traceEvents": [named, span]}), encoding="utf-8")
        run("penstock-import", file, "-o", self.folder / "named.penstock")
        with penstock.open(self.folder / "named.penstock") as trace:
            self.assertEqual([name], [thread["name"] for thread in trace.threads])

    def test_facts_say_what_ran(self):
        self.assertEqual(1, len(self.trace.processes))
        self.assertEqual("penstock", self.trace.processes[0]["facts"]["loader.0.kind"])
        self.assertEqual(0, self.trace.losses["dropped_events"])
        self.assertGreater(self.trace.end_ns, self.trace.begin_ns)
        self.assertIn("run.penstock", repr(self.trace))


if __name__ == "__main__":
    unittest.main(verbosity=2)
