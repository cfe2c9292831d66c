#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The loader and the marks of a Python program under `penstock record`: its trace says what it did."""
import json
import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import BUILD, FILES, ROOT, WithSet, python  # noqa: E402

import penstock  # noqa: E402

EPOCHS = 3


class Case(WithSet):
    def record(self, script, *arguments, environment=None):
        path = str(self.folder / (self.id().rsplit(".", 1)[-1] + ".penstock"))
        prefix = (os.path.join(BUILD, "bin", "penstock-record"), "-o", path, "--")
        done = python(script, *arguments, prefix=prefix, environment=environment)
        self.assertEqual(0, done.returncode, done.stderr)
        trace = penstock.open(path)
        self.addCleanup(trace.close)
        return trace, done.stdout


LOOP = """
import sys, time
import penstock
loader = penstock.Loader(sys.argv[1], ops="random_resized_crop=%s,flip", output="u8", batch=4, workers=2)
for epoch in range(3):
    loader.set_epoch(epoch)
    for images, labels in loader:
        time.sleep(%s)
"""


def stages(trace):
    spans = trace.spans(columns=["stage", "sample", "batch"])
    names = spans["stage"].tolist()
    return {name: names.count(name) for name in set(names)}


class Loaders(Case):
    def test_stages_batches_and_samples_are_in_the_trace(self):
        trace, _ = self.record(LOOP % (16, 0.002), self.set)
        made = stages(trace)
        # The threads go on, and have begun the batches of one more epoch that nobody asks for.
        for stage in ("read", "decode", "augment", "sample"):
            self.assertGreaterEqual(made[stage], EPOCHS * FILES, stage)
            if stage != "augment":  # "augment" has more spans: one for each operation
                self.assertLessEqual(made[stage], (EPOCHS + 1) * FILES, stage)
        batches = trace.batches()
        self.assertEqual(EPOCHS * 6, len(batches))
        self.assertEqual(EPOCHS, len(set(batches["generation"].tolist())))
        self.assertTrue((batches["wait_ns"] >= 0).all())
        report = trace.report()
        self.assertEqual("penstock", report["loader"]["kind"])
        self.assertEqual(2, report["loader"]["num_workers"])
        self.assertEqual(4, report["loader"]["batch_size"])
        self.assertEqual(EPOCHS * 6, report["loader"]["batches"])
        self.assertEqual("<string>:4", report["loader"]["made_at"])
        places = [one["facts"].get("loader.0.made_at") for one in trace.processes]
        self.assertEqual(["<string>:4"], [place for place in places if place is not None])

    def test_a_loop_that_works_is_not_said_to_wait(self):
        trace, _ = self.record(LOOP % (16, 0.05), self.set)
        verdict = trace.report()["verdict"]
        self.assertEqual("compute", verdict["bottleneck"])
        self.assertLess(verdict["wait_fraction"], 0.3)

    def test_a_loop_that_waits_is_said_to_wait_for_pixels(self):
        trace, _ = self.record(LOOP % (1200, 0), self.set)
        verdict = trace.report()["verdict"]
        self.assertIn(verdict["bottleneck"], ("augment", "decode", "cpu"))
        self.assertGreater(verdict["wait_fraction"], 0.5)

    def test_two_loaders_of_a_process_are_told_apart(self):
        script = """
import sys, penstock
train = penstock.Loader(sys.argv[1], ops="random_resized_crop=16", output="u8", batch=4, workers=1)
val = penstock.Loader(sys.argv[1], ops="center_crop=16", output="u8", batch=5, workers=1, shuffle=False)
for epoch in range(2):
    for loader in (train, val):
        loader.set_epoch(epoch)
        for images, labels in loader:
            pass
"""
        trace, _ = self.record(script, self.set)
        report = trace.report()
        self.assertEqual([(4, 12), (5, 10)], sorted((one["batch_size"], one["batches"]) for one in report["loaders"]))
        self.assertEqual(4, len(set(trace.batches()["generation"].tolist())))

    def test_a_dataloader_beside_it_keeps_its_reads(self):
        try:
            import PIL.Image  # noqa: F401
            import torch  # noqa: F401
        except ImportError:
            self.skipTest("PyTorch or Pillow is missing")
        script = """
import pathlib, sys, torch, PIL.Image, penstock
files = sorted(pathlib.Path(sys.argv[1]).rglob("*.jpg"))
class Set(torch.utils.data.Dataset):
    def __len__(self): return len(files)
    def __getitem__(self, i):
        with PIL.Image.open(files[i]) as picture:
            return torch.tensor(picture.convert("RGB").size)
own = penstock.Loader(sys.argv[1], ops="random_resized_crop=16", output="u8", batch=4, workers=1)
for batch in own: pass
for batch in torch.utils.data.DataLoader(Set(), batch_size=4, num_workers=1, multiprocessing_context="fork"): pass
"""
        trace, _ = self.record(script, self.set)
        spans = trace.spans(stage="read")
        workers = [i for i, one in enumerate(trace.processes) if one["role"] == "worker"]
        self.assertEqual(1, len(workers))
        self.assertEqual(FILES, int((spans["process"] == workers[0]).sum()))
        self.assertEqual([4, 4], [one["batch_size"] for one in trace.report()["loaders"]])

    def test_the_time_of_a_transform_is_seen(self):
        script = """
import sys, time, penstock
loader = penstock.Loader(sys.argv[1], ops="random_resized_crop=16", output="u8", batch=4, workers=2,
                         transform=lambda images: time.sleep(0.01) or images)
for images, labels in loader:
    pass
"""
        trace, _ = self.record(script, self.set)
        marks = trace.spans(stage="mark")
        chosen = marks["name"] == "transform"
        self.assertEqual(6, int(chosen.sum()))
        self.assertGreaterEqual(int(marks["duration_ns"][chosen].min()), 10_000_000)


class Functions(Case):
    def test_followed_calls_are_those_of_the_export(self):
        path = str(self.folder / "followed.penstock")
        program = ROOT / "tests/integration/targets/followed.py"  # follows nearly every unit
        subprocess.run([os.path.join(BUILD, "bin", "penstock-record"), "-o", path, "--", sys.executable, "-B", str(program),
                        "loop", "100"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        trace = penstock.open(path)
        self.addCleanup(trace.close)
        functions = trace.functions()
        self.assertGreater(len(functions), 5)
        done = subprocess.run([os.path.join(BUILD, "bin", "penstock-export"), path, "--to", "jsonl"], check=True,
                              stdout=subprocess.PIPE, universal_newlines=True)  # fmt: skip
        calls = [line for line in map(json.loads, done.stdout.splitlines()) if line["type"] == "followed_call"]
        keys = ("unit_at_ns", "node", "parent", "name", "file", "line", "count", "total_ns", "own_ns")
        columns = ("start_ns", "node", "caller", "function", "file", "line", "calls", "total_ns", "own_ns")
        expected = sorted(tuple(call[key] for key in keys) for call in calls)
        self.assertEqual(expected, sorted(zip(*(functions[column].tolist() for column in columns))))
        units = functions["unit"]
        self.assertTrue((units[1:] >= units[:-1]).all())
        self.assertEqual(len({call["unit_at_ns"] for call in calls}), len(set(units.tolist())))
        self.assertEqual(0, len(trace.functions(stage="step")))
        hot = trace.functions(stage="sample", columns=["stage", "function", "file", "kind", "total_ns", "unit_ns"])
        hot = hot.where([name.endswith("hot_loop") for name in hot["function"].tolist()])
        self.assertEqual({"sample"}, set(hot["stage"].tolist()))
        self.assertIn("function", hot["kind"].tolist())
        self.assertEqual({os.path.realpath(program)}, set(map(os.path.realpath, hot["file"].tolist())))
        self.assertTrue((hot["unit_ns"] >= hot["total_ns"]).all())


class Marks(Case):
    def test_marks_steps_and_batches_are_recorded(self):
        script = """
import time, penstock
@penstock.mark("tokenise")
def tokenise():
    time.sleep(0.002)
print(penstock.recording())
for i in range(5):
    tokenise()
    penstock.batch(i)
    with penstock.step():
        with penstock.mark("inner"):
            time.sleep(0.001)
"""
        trace, said = self.record(script)
        self.assertEqual("True\n", said)
        marks = trace.spans(stage="mark")
        names = marks["name"].tolist()
        self.assertEqual((5, 5), (names.count("tokenise"), names.count("inner")))
        tokenise = marks.where(marks["name"] == "tokenise")
        self.assertGreaterEqual(int(tokenise["duration_ns"].min()), 2_000_000)
        steps = trace.spans(stage="step")
        self.assertEqual([0, 1, 2, 3, 4], steps["batch"].tolist())
        self.assertEqual(5, len(trace.batches()))

    def test_an_epoch_that_is_no_number_is_the_first(self):
        loop = "import penstock\nfor i, epoch in enumerate((0, None, 1.0)):\n    penstock.batch(i, epoch)\n"
        trace, _ = self.record(loop)
        epochs = trace.batches()["generation"].tolist()
        self.assertEqual([epochs[0], epochs[0], epochs[0] + 1], epochs)

    def test_functions_that_defer_their_work_stay_what_they_are(self):
        script = """
import inspect, penstock
@penstock.mark("later")
async def later():
    pass
@penstock.mark("each")
def each():
    yield 1
print(inspect.iscoroutinefunction(later), inspect.isgeneratorfunction(each), list(each()))
with penstock.mark("nothing") as given:
    print(given)
"""
        _, said = self.record(script)
        self.assertEqual("True True [1]\nNone\n", said)

    def test_threads_may_share_a_mark(self):
        script = """
import threading, penstock
shared, both = penstock.mark("shared"), threading.Barrier(2)
def work(first):
    for _ in range(40):
        with shared:
            both.wait()
            if first:
                both.wait()
        if not first:
            both.wait()
threads = [threading.Thread(target=work, args=(first,)) for first in (True, False)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
        trace, _ = self.record(script)
        marks = trace.spans(stage="mark")
        self.assertEqual([0] * 80, marks["depth"].tolist())

    def test_a_mark_is_closed_by_an_exception(self):
        script = """
import penstock
for i in range(3):
    try:
        with penstock.mark("fails"):
            raise ValueError
    except ValueError:
        pass
with penstock.mark("after"):
    pass
"""
        trace, _ = self.record(script)
        marks = trace.spans(stage="mark")
        self.assertEqual([0, 0, 0, 0], marks["depth"].tolist())
        self.assertEqual(["fails", "fails", "fails", "after"], marks["name"].tolist())


if __name__ == "__main__":
    unittest.main()
