# SPDX-License-Identifier: Apache-2.0
"""Tests the hooks of Ray Data and FFCV with small doubles that have the names of their modules.

scripts/test_loaders.sh runs the real packages.
"""
import collections
import os
import tempfile
import textwrap
import unittest

import harness

TRANSFORMS = "ray/data/_internal/execution/operators/map_transformer.py"
DOUBLES = {
    "ray/data/iterator.py": """
        class _IterableFromIterator:
            def __init__(self, iterator_gen):
                self.iterator_gen = iterator_gen
            def __iter__(self):
                return self.iterator_gen()
        def iter_batches(rows, batch_size, drop_last=False, prefetch_batches=1):
            def _create_iterator():
                try:
                    for at in range(0, len(rows), batch_size):
                        if drop_last and at + batch_size > len(rows) or not prefetch_batches:
                            return
                        yield rows[at:at + batch_size]
                finally:
                    print("closed")
            return _IterableFromIterator(_create_iterator)
        """,
    TRANSFORMS: """
        import enum
        Type = enum.Enum("Type", "Block Row Batch")
        class MapTransformFn:
            def __init__(self, fn, input_type=Type.Row):
                self._fn, self._input_type = fn, input_type
            def _apply_transform(self, ctx, inputs):
                return self._fn(inputs, ctx)
        def of_rows(udf):
            def _wrapped_udf_map_fn(item):
                return udf(item)
            return transform_of(_wrapped_udf_map_fn)
        def transform_of(fn):
            def transform_fn(rows, _):
                for row in rows:
                    yield fn(row)
            return MapTransformFn(transform_fn)
        """,
    "ffcv/loader/epoch_iterator.py": """
        class EpochIterator:
            def __init__(self, loader):
                self.loader, self.batches = loader, iter(loader.batches)
            def __iter__(self):
                return self
            def __next__(self):
                return next(self.batches)
        """,
}


def run(code):
    with tempfile.TemporaryDirectory(prefix="penstock-") as directory:
        for path, text in DOUBLES.items():
            target = os.path.join(directory, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            package = os.path.dirname(target)
            while package != directory:
                open(os.path.join(package, "__init__.py"), "a").close()
                package = os.path.dirname(package)
            with open(target, "w") as file:
                file.write(textwrap.dedent(text))
        return harness.run(code, path=[directory])


class Checked(unittest.TestCase):
    def check(self, result, out):
        self.assertEqual((result.status, result.out, result.err), (0, out, ""))
        return collections.Counter((span["stage"], span["name"]) for span in result.of("span"))


class LoopTest(Checked):
    def test_each_iteration_is_an_epoch(self):
        result = run("""
from ray.data.iterator import iter_batches
batches = iter_batches([1, 2, 3, 4, 5], batch_size=2)
for _ in range(2):
    print([batch for batch in batches])
""")
        found = self.check(result, "closed\n[[1, 2], [3, 4], [5]]\n" * 2)
        self.assertEqual(found, {("wait", "ray.data.next"): 6, ("wait", "ray.data.end"): 2, ("step", "ray.data.step"): 6})
        self.assertEqual([event["batch"] for event in result.events("delivered")], [0, 1, 2] * 2)
        facts = result.facts()
        self.assertEqual([facts["loader.0." + key] for key in ("package", "batch_size", "drop_last", "prefetch_factor")],
                         ["ray.data", "2", "false", "1"])
        self.assertNotIn("loader.0.num_workers", facts)

    def test_a_call_for_each_epoch_makes_one_loader(self):
        result = run("""
from ray.data.iterator import iter_batches
for _ in range(3):
    for batch in iter_batches([1, 2, 3], batch_size=2):
        pass
for batch in iter_batches([1, 2, 3], batch_size=2):
    pass
""")
        facts = result.facts()
        self.assertEqual([facts["epoch.%d" % epoch] for epoch in range(1, 5)], ["0", "0", "0", "1"])

    def test_leaving_early_ends_the_epoch_and_closes_what_is_inside(self):
        result = run("""
from ray.data.iterator import iter_batches
for batch in iter_batches([1, 2, 3, 4], 2):
    break
print("left")
""")
        self.assertEqual((result.status, result.err), (0, ""))
        self.assertEqual(sorted(result.out.split()), ["closed", "left"])
        self.assertEqual([event["value"] for event in result.events("epoch_end")], [1])

    def test_an_error_is_the_programs(self):
        result = run("""
from ray.data.iterator import _IterableFromIterator
def broken():
    yield 1
    raise ValueError("no more")
try:
    for batch in _IterableFromIterator(broken):
        print(batch)
except ValueError as error:
    print(error)
print(list(_IterableFromIterator(lambda: iter([2]))))
""")
        self.check(result, "1\nno more\n[2]\n")

    def test_ffcvs_iterator_is_a_loop(self):
        result = run("""
from ffcv.loader.epoch_iterator import EpochIterator
class Loader:
    batch_size, drop_last, num_workers, batches_ahead = 2, True, 3, 4
    batches = [[1, 2], [3, 4]]
print(list(EpochIterator(Loader())))
""")
        found = self.check(result, "[[1, 2], [3, 4]]\n")
        self.assertEqual(found["wait", "ffcv.next"], 2)
        facts = result.facts()
        self.assertEqual([facts["loader.0." + key] for key in ("batch_size", "num_workers", "prefetch_factor")],
                         ["2", "3", "4"])


class FunctionTest(Checked):
    def test_a_row_is_a_sample_and_later_functions_augment_it(self):
        result = run("""
import time
from ray.data._internal.execution.operators.map_transformer import of_rows
def load(row):
    time.sleep(0.02)
    return row * 10
class Cropped:
    def __call__(self, row):
        return row + 1
rows = of_rows(load)._apply_transform(None, iter([1, 2, 3]))
print(list(of_rows(Cropped())._apply_transform(None, rows)))
""")
        found = self.check(result, "[11, 21, 31]\n")
        self.assertEqual(found, {("sample", "load"): 3, ("augment", "Cropped"): 3})
        loads = [(span["start"], span["start"] + span["duration"]) for span in result.spans("sample")]
        for span in result.spans("augment"):  # it asks `load` for an item; the time of `load` is not in its span
            for begin, end in loads:
                self.assertTrue(span["start"] >= end or span["start"] + span["duration"] <= begin)
        self.assertEqual({span["depth"] for span in result.of("span")}, {0})

    def test_blocks_and_threads_of_its_own_are_left_alone(self):
        result = run("""
import threading
from ray.data._internal.execution.operators.map_transformer import MapTransformFn, Type
def elsewhere(rows, _):
    taken = []
    thread = threading.Thread(target=lambda: taken.extend(rows))
    thread.start()
    thread.join()
    yield from taken
print(list(MapTransformFn(elsewhere)._apply_transform(None, [1, 2])))
print(MapTransformFn(lambda blocks, _: blocks, Type.Block)._apply_transform(None, [3]))
""")
        self.assertEqual(self.check(result, "[1, 2]\n[3]\n"), {})

    def test_a_function_that_fails_or_is_left_ends_its_span(self):
        result = run("""
from ray.data._internal.execution.operators.map_transformer import of_rows
def broken(row):
    raise KeyError(row)
try:
    list(of_rows(broken)._apply_transform(None, [1, 2]))
except KeyError as error:
    print(error)
rows = of_rows(str)._apply_transform(None, [1, 2])
print(next(rows))
rows.close()
""")
        self.assertEqual(self.check(result, "1\n1\n"), {("sample", "broken"): 1, ("sample", "str"): 1})


if __name__ == "__main__":
    unittest.main()
