# SPDX-License-Identifier: Apache-2.0
"""Tests loops over other libraries' iterators, loops that ask for one batch ahead, and stages of a pipeline.

These tests use small doubles of the libraries. scripts/test_loaders.sh runs the real packages.
"""
import os
import tempfile
import unittest

import harness

# The doubles. Each module has the same name as in the real library, since the hooks find modules by name.
DOUBLES = {
    "torchdata/__init__.py": "",
    "torchdata/nodes/__init__.py": "",
    "torchdata/nodes/loader.py": """
        class LoaderIterator:
            def __init__(self, loader):
                self.loader = loader
            def reset(self):
                self.items = iter(self.loader.items)
            def __iter__(self):
                return self
            def __next__(self):
                return next(self.items)
        class Loader:
            def __init__(self, items):
                self.items = items
                self.it = None
            def __iter__(self):
                self.it = self.it or LoaderIterator(self)
                self.it.reset()
                return self.it
        """,
    "accelerate/__init__.py": "",
    "accelerate/data_loader.py": """
        class DataLoaderShard:
            def __init__(self, base):
                self.base = base
                self.closed = 0
            def __iter__(self):
                try:
                    batches = iter(self.base)
                    try:
                        current = next(batches)
                    except StopIteration:
                        return
                    while True:
                        try:
                            following = next(batches)
                        except StopIteration:
                            yield current
                            return
                        yield current
                        current = following
                finally:
                    self.closed += 1
        """,
    "timm/__init__.py": "",
    "timm/data/__init__.py": "",
    "timm/data/loader.py": """
        class PrefetchLoader:
            def __init__(self, loader):
                self.loader = loader
            def __iter__(self):
                first = True
                for following in self.loader:
                    following = following.float()
                    if not first:
                        yield batch
                    first = False
                    batch = following
                yield batch
        """,
    "ultralytics/__init__.py": "",
    "ultralytics/data/__init__.py": "",
    "ultralytics/data/augment.py": """
        class Compose:
            def __init__(self, transforms):
                self.transforms = transforms
            def __call__(self, data):
                for transform in self.transforms:
                    data = transform(data)
                return data
        class RandomFlip:
            def __call__(self, labels):
                return labels[::-1]
        """,
    "fastai/__init__.py": "",
    "fastai/data/__init__.py": "",
    "fastai/data/load.py": """
        from torch.utils import data
        class Batches(data.IterableDataset):
            def __init__(self, loader):
                self.loader = loader
            def __iter__(self):
                return self.loader.create_batches()
        class DataLoader:
            def __init__(self, dataset, bs, num_workers):
                self.dataset, self.bs, self.num_workers = dataset, bs, num_workers
            def __iter__(self):
                return iter(data.DataLoader(Batches(self), batch_size=None, num_workers=self.num_workers))
            def create_batches(self):
                samples = map(self.do_item, range(len(self.dataset)))
                for batch in zip(*[samples] * self.bs):
                    yield self.do_batch(batch)
            def do_item(self, s):
                return self.dataset[s]
            def do_batch(self, batch):
                return list(batch)
        """,
    "fasttransform/__init__.py": "",
    "fasttransform/transform.py": """
        class Pipeline:
            def __init__(self, functions):
                self.functions = functions
            def __call__(self, o):
                for function in self.functions:
                    o = function(o)
                return o
        """,
    "kornia/__init__.py": "",
    "kornia/augmentation/__init__.py": "",
    "kornia/augmentation/base.py": """
        class _BasicAugmentationBase:
            def __call__(self, *inputs, **kwargs):
                return self.forward(*inputs, **kwargs)
        """,
    "webdataset/__init__.py": "",
    "webdataset/filters.py": """
        class RestCurried:
            def __init__(self, f):
                self.f = f
            def __call__(self, *args, **kwargs):
                return lambda data: self.f(data, *args, **kwargs)
        def _map(data, f, handler=None):
            for sample in data:
                yield f(sample)
        map = RestCurried(_map)
        def default_collation_fn(samples):
            return list(samples)
        def _batched(data, batchsize=20, collation_fn=default_collation_fn, partial=True):
            batch = []
            for sample in data:
                batch.append(sample)
                if len(batch) == batchsize:
                    yield collation_fn(batch)
                    batch = []
        batched = RestCurried(_batched)
        """,
}
LOADER = """
import time
from torchdata.nodes.loader import Loader
"""
SHARD = """
import time
from torch.utils.data import DataLoader
from accelerate.data_loader import DataLoaderShard
class Numbers(list):
    pass
"""


def run(code, **options):
    with tempfile.TemporaryDirectory(prefix="penstock-") as directory:
        for name, text in DOUBLES.items():
            path = os.path.join(directory, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(harness.textwrap.dedent(text))
        return harness.run(code, path=[directory], **options)


class LoopTest(unittest.TestCase):
    def test_each_batch_is_waited_for_and_delivered_once(self):
        result = run(LOADER + "for batch in Loader([[1, 2], [3, 4], [5]]):\n    print(batch)\n")
        self.assertEqual((result.status, result.out, result.err), (0, "[1, 2]\n[3, 4]\n[5]\n", ""))
        self.assertEqual([event["batch"] for event in result.events("delivered")], [0, 1, 2])
        self.assertEqual([span["batch"] for span in result.spans("wait")], [0, 1, 2, -1])
        self.assertEqual([span["batch"] for span in result.spans("step")], [0, 1, 2])
        self.assertEqual(len(result.events("epoch_end", value=3)), 1)

    def test_an_iterator_that_is_reset_begins_an_epoch(self):
        result = run(LOADER + """
loader = Loader([1, 2, 3])
for _ in range(2):
    for batch in loader:
        if batch == 2:
            break
""")
        self.assertEqual(result.status, 0, result.err)
        keys = [(event["generation"], event["batch"]) for event in result.events("delivered")]
        first, second = sorted({generation for generation, _ in keys})
        self.assertEqual(keys, [(first, 0), (first, 1), (second, 0), (second, 1)])
        self.assertEqual([event["value"] for event in result.events("epoch_end")], [2])
        self.assertEqual({result.facts()["epoch.%d" % generation] for generation in (first, second)}, {"0"})

    def test_the_first_batch_tells_the_size_of_batches(self):
        code = LOADER + "import array\nfor batch in Loader([{'a': [b'x'] * 7, 'b': [1] * 7}]):\n    pass\n"
        facts = run(code).facts()
        self.assertEqual((facts["loader.0.kind"], facts["loader.0.package"]), ("other", "torchdata.nodes"))
        self.assertEqual(facts["loader.0.batch_size"], "7")

    def test_arrays_of_one_shape_are_samples_in_a_list_and_parts_in_a_tuple(self):
        for batch, size in (("[picture] * 6", "6"), ("(pictures, pictures)", "8"), ("{'a': pictures}", "8")):
            result = run(LOADER + """
import numpy
picture, pictures = numpy.zeros((3, 4, 5)), numpy.zeros((8, 3, 4, 5))
for batch in Loader([%s]):
    pass
""" % batch)
            self.assertEqual((result.status, result.err), (0, ""))
            self.assertEqual(result.facts()["loader.0.batch_size"], size, batch)

    def test_an_error_of_the_loader_is_the_programs(self):
        result = run(LOADER + """
def broken():
    yield 1
    raise ValueError("no more")
class Items:
    def __iter__(self):
        return broken()
for batch in Loader(Items()):
    print(batch)
""")
        self.assertEqual((result.status, result.out), (1, "1\n"))
        self.assertIn("ValueError: no more", result.err)
        self.assertEqual(len(result.events("delivered")), 1)

    def test_a_shell_around_a_dataloader_leaves_the_loop_to_it(self):
        result = run(LOADER + """
from torch.utils.data import DataLoader
for batch in Loader(DataLoader(list(range(6)), batch_size=2)):
    print(len(batch))
""")
        self.assertEqual((result.status, result.out), (0, "2\n2\n2\n"), result.err)
        self.assertEqual(len(result.events("delivered")), 3)
        self.assertEqual({span["name"] for span in result.spans("wait")}, {"DataLoader.__next__", "DataLoader.end"})
        self.assertEqual(len(result.spans("step")), 3)


class LookAheadTest(unittest.TestCase):
    def test_a_step_is_that_of_the_batch_in_hand(self):
        result = run(SHARD + """
for batch in DataLoaderShard(DataLoader(Numbers(range(6)), batch_size=2)):
    print(batch.tolist())
    time.sleep(0.02)
""")
        self.assertEqual((result.status, result.out), (0, "[0, 1]\n[2, 3]\n[4, 5]\n"), result.err)
        self.assertEqual([span["batch"] for span in result.spans("wait")], [0, 1, 2, -1])
        steps = result.spans("step")
        self.assertEqual([span["batch"] for span in steps], [0, 1, 2])
        self.assertGreaterEqual(min(span["duration"] for span in steps), 20_000_000)
        waits = result.spans("wait")
        for step, (before, after) in zip(steps, ((1, 2), (2, 3))):
            self.assertLessEqual(waits[before]["start"], step["start"])
            self.assertLessEqual(step["start"] + step["duration"], waits[after]["start"])

    def test_timms_prefetcher_gives_a_step_the_batch_in_hand(self):
        result = run("""
import time
from torch.utils.data import DataLoader
from timm.data.loader import PrefetchLoader
for batch in PrefetchLoader(DataLoader([0, 1, 2, 3, 4, 5], batch_size=2)):
    print(batch.tolist())
    time.sleep(0.02)
""")
        self.assertEqual((result.status, result.out), (0, "[0.0, 1.0]\n[2.0, 3.0]\n[4.0, 5.0]\n"), result.err)
        steps = result.spans("step")
        self.assertEqual([span["batch"] for span in steps], [0, 1, 2])
        self.assertGreaterEqual(min(span["duration"] for span in steps), 20_000_000)

    def test_the_epoch_after_one_that_was_left_gives_a_step_the_batch_in_hand(self):
        result = run(SHARD + """
shard = DataLoaderShard(DataLoader(Numbers(range(6)), batch_size=2, num_workers=1, persistent_workers=True))
for batch in shard:
    break
for batch in shard:
    time.sleep(0.02)
""")
        self.assertEqual(result.status, 0, result.err)
        last = max(event["generation"] for event in result.events("epoch_start"))
        self.assertEqual([span["batch"] for span in result.spans("step", generation=last)], [0, 1, 2])

    def test_leaving_early_closes_what_is_inside(self):
        result = run(SHARD + """
shard = DataLoaderShard(DataLoader(Numbers(range(6)), batch_size=2))
for batch in shard:
    break
del batch
print(shard.closed)
for batch in DataLoaderShard([]):
    print("none")
""")
        self.assertEqual((result.status, result.out, result.err), (0, "1\n", ""))
        self.assertEqual(len(result.events("delivered")), 2)


class StageTest(unittest.TestCase):
    def test_fastais_samples_belong_to_the_batches_that_it_makes_itself(self):
        for workers in (0, 1):
            result = run("""
from fastai.data.load import DataLoader
class Numbers(list):
    pass
for batch in DataLoader(Numbers(range(6)), 3, %d):
    print(batch)
""" % workers)
            self.assertEqual((result.status, result.out, result.err), (0, "[0, 1, 2]\n[3, 4, 5]\n", ""))
            samples = [(span["name"], span["sample"], span["batch"]) for span in result.spans("sample")]
            self.assertEqual(samples, [("Numbers", index, index // 3) for index in range(6)])
            self.assertEqual([span["name"] for span in result.spans("collate")][::2], ["fastai.do_batch"] * 2)

    def test_fastais_samples_may_be_asked_for_by_keyword(self):
        result = run("""
from fastai.data.load import DataLoader
class Own(DataLoader):
    def create_batches(self):
        yield self.do_batch([self.do_item(s=index) for index in range(len(self.dataset))])
for batch in Own([5, 6], 2, 0):
    print(batch)
""")
        self.assertEqual((result.status, result.out, result.err), (0, "[5, 6]\n", ""))
        self.assertEqual([span["sample"] for span in result.spans("sample")], [0, 1])

    def test_transforms_of_whole_batches_belong_to_the_batch_in_hand(self):
        result = run("""
from torch.utils.data import DataLoader
from fasttransform.transform import Pipeline
from kornia.augmentation.base import _BasicAugmentationBase
class RandomAffine(_BasicAugmentationBase):
    def forward(self, batch, by=1):
        return batch + by
changes = Pipeline([RandomAffine()])
for batch in DataLoader([1, 2, 3, 4], batch_size=2):
    print(changes(batch).tolist(), RandomAffine()(batch, by=2).tolist())
""")
        self.assertEqual((result.status, result.out, result.err), (0, "[2, 3] [3, 4]\n[4, 5] [5, 6]\n", ""))
        found = [(span["name"], span["batch"]) for span in result.spans("augment")]
        self.assertEqual(found, [(name, batch) for batch in (0, 1)
                                 for name in ("fastai.Pipeline", "RandomAffine", "RandomAffine")])  # fmt: skip

    def test_ultralytics_transforms_have_their_own_names(self):
        result = run("""
from ultralytics.data.augment import Compose, RandomFlip
class Mine:
    def __call__(self, labels):
        return labels + "!"
print(Compose([Compose([RandomFlip()]), Mine()])("ab"))
""")
        self.assertEqual((result.status, result.out, result.err), (0, "ba!\n", ""))
        self.assertEqual([span["name"] for span in result.spans("augment")], ["RandomFlip", "Mine"])

    def test_an_index_of_any_integer_type_begins_a_sample(self):
        result = run("""
import numpy
from penstock_hooks.tasks import on_item
def load(item):
    return item
step = on_item(load)
print([step(item) for item in (3, numpy.int64(4), (numpy.int32(5), "label"), [6], 7.0, -8, 1 << 70)])
""")
        self.assertEqual((result.status, result.err), (0, ""))
        told = [(span["stage"], span["sample"]) for span in result.of("span", name="load")]
        samples = [("sample", 3), ("sample", 4), ("sample", -1)]
        self.assertEqual(told, samples + [("collate", -1), ("augment", -1), ("sample", -1), ("sample", -1)])

    def test_webdatasets_decoding_has_the_bytes_of_what_it_decoded(self):
        result = run("""
import numpy
from PIL import Image
from webdataset import filters
class Decoder:
    def __call__(self, sample):
        return dict(sample, jpg=Image.new("RGB", (5, 4)), npy=numpy.zeros(3), cls=1)
def flipped(sample):
    return sample
samples = [{"__key__": key, "unknown": b"left as it is"} for key in "ab"]
for sample in filters.map(flipped)(filters.map(Decoder(), handler=None)(samples)):
    print(sample["__key__"], sample["jpg"].size)
""")
        self.assertEqual((result.status, result.out, result.err), (0, "a (5, 4)\nb (5, 4)\n", ""))
        decoded = [(span["name"], span["bytes"]) for span in result.spans("decode")]
        self.assertEqual(decoded, [("Decoder", 5 * 4 * 3 + 3 * 8)] * 2)
        self.assertEqual([span["name"] for span in result.spans("augment")], ["flipped", "flipped"])

    def test_webdatasets_samples_are_asked_for_with_the_first_batch(self):
        code = """
from webdataset import filters
class Shards:
    def __iter__(self):
        print("opened")
        return iter(range(4))
batches = filters.batched(2)(Shards())
print("built")
print(list(batches))
"""
        ours, plain = run(code), run(code, hooks=False)
        self.assertEqual((ours.status, ours.out, ours.err), (0, "built\nopened\n[[0, 1], [2, 3]]\n", ""))
        self.assertEqual(ours.out, plain.out)
        self.assertEqual(len(ours.spans("collate", name="default_collation_fn")), 2)


if __name__ == "__main__":
    unittest.main()
