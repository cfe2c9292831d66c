# SPDX-License-Identifier: Apache-2.0
"""Tests the hooks of Grain with a small double that has the names of Grain's modules and classes.

scripts/test_loaders.sh runs the real package.
"""
import collections
import os
import tempfile
import textwrap
import unittest

import harness

PYTHON = "grain/_src/python/"
DATASET = PYTHON + "dataset/"
CHANGES = DATASET + "transformations/"
DOUBLES = {
    "grain/__init__.py": "__version__ = '0.2'\n",
    DATASET + "dataset.py": """
        class Dataset:
            def __init__(self, *parents):
                self._parents = parents
                self.inside = False
                for parent in parents:
                    parent.inside = True
            @property
            def _parent(self):
                return self._parents[0]
            def __iter__(self):
                return self._iterator() if self.inside else _OutputIterDataset(self).__iter__()
        class _OutputIterDataset(Dataset):
            def __init__(self, parent):
                self._parents = (parent,)
            def __iter__(self):
                return self._parent._iterator()
        class Iterator:
            def __iter__(self):
                return self
        """,
    CHANGES + "source.py": """
        from grain._src.python.dataset.dataset import Dataset
        class SourceMapDataset(Dataset):
            def __init__(self, source):
                super().__init__()
                self._source = source
            def __len__(self):
                return len(self._source)
            def _index_mod_len(self, index):
                return index % len(self._source)
            def __getitem__(self, index):
                if isinstance(index, slice):
                    return SourceMapDataset(self._source[index])
                return self._source[self._index_mod_len(index)]
            def _getitems(self, indices):
                if hasattr(type(self._source), "_getitems"):
                    return self._source._getitems(indices)
                return [self[index] for index in indices]
        """,
    CHANGES + "map.py": """
        from grain._src.python.dataset.dataset import Dataset, Iterator
        class MapMapDataset(Dataset):
            def __init__(self, parent, transform):
                super().__init__(parent)
                self._map_fn = getattr(transform, "map", transform)
            def __len__(self):
                return len(self._parent)
            def _map_element(self, element):
                return self._map_fn(element)
            def __getitem__(self, index):
                return self._map_element(self._parent[index])
        class _MapDatasetIterator(Iterator):
            def __init__(self, parent, map_fn):
                self._parent, self._map_fn = parent, map_fn
            def __next__(self):
                return self._map_fn(next(self._parent))
        class MapIterDataset(Dataset):
            def __init__(self, parent, map_fn):
                super().__init__(parent)
                self._map_fn = map_fn
            def _iterator(self):
                return _MapDatasetIterator(self._parent.__iter__(), self._map_fn)
        """,
    CHANGES + "batch.py": """
        from grain._src.python.dataset.dataset import Dataset, Iterator
        def make_batch(values):
            return list(values)
        class _BatchDatasetIterator(Iterator):
            def __init__(self, parent, size, batch_fn):
                self._parent, self._size, self._batch_fn = parent, size, batch_fn
            def __next__(self):
                return self._batch_fn([next(self._parent) for _ in range(self._size)])
        class BatchIterDataset(Dataset):
            def __init__(self, parent, batch_size, batch_fn=None):
                super().__init__(parent)
                self._batch_size, self._drop_remainder = batch_size, True
                self._batch_fn = batch_fn or make_batch
            def _iterator(self):
                return _BatchDatasetIterator(self._parent.__iter__(), self._batch_size, self._batch_fn)
        """,
    CHANGES + "prefetch.py": """
        import concurrent.futures
        from grain._src.python.dataset.dataset import Dataset, Iterator
        class PrefetchDatasetIterator(Iterator):
            def __init__(self, parent):
                self._pool = concurrent.futures.ThreadPoolExecutor(2)
                self._ahead = [self._pool.submit(parent.__getitem__, index) for index in range(len(parent))]
            def __next__(self):
                if not self._ahead:
                    raise StopIteration
                return self._ahead.pop(0).result()
        class PrefetchIterDataset(Dataset):
            def _iterator(self):
                return PrefetchDatasetIterator(self._parent)
        class _MpContextIterDataset(Dataset):
            def __init__(self, parent, mp_context):
                super().__init__(parent)
                self._mp_context = mp_context
            def __iter__(self):
                return self._parent.__iter__()
        """,
    CHANGES + "process_prefetch.py": """
        def _put_dataset_elements_in_buffer(data, buffer):
            for element in data:
                buffer.put(element)
            buffer.put(None)
        """,
    PYTHON + "data_loader.py": """
        from grain._src.python.dataset.transformations import batch, map, prefetch, source
        class Options:
            num_workers = 0
        class Batch:
            def __init__(self, batch_size, drop_remainder=False):
                self.batch_size, self.drop_remainder = batch_size, drop_remainder
        def applied(transform, data):
            if isinstance(transform, Batch):
                return batch.BatchIterDataset(data, transform.batch_size)
            return map.MapIterDataset(data, lambda element: transform.map(element))
        class DataLoader:
            _multiprocessing_options = Options()
            def __init__(self, data_source, operations):
                self._operations = operations
                data = prefetch.PrefetchIterDataset(source.SourceMapDataset(data_source))
                for operation in operations:
                    data = applied(operation, data)
                self._dataset = map.MapIterDataset(data, lambda record: record)
            def __iter__(self):
                return DataLoaderIterator(self)
        class DataLoaderIterator:
            def __init__(self, loader):
                self._data_loader, self._iterator = loader, iter(loader._dataset)
            def __iter__(self):
                return self
            def __next__(self):
                return next(self._iterator)
        """,
}


def run(code, **options):
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
        return harness.run(code, path=[directory], **options)


def counted(result):
    return collections.Counter((span["stage"], span["name"]) for span in result.of("span"))


class GrainTest(unittest.TestCase):
    def check(self, result, out):
        self.assertEqual((result.status, result.out, result.err), (0, out, ""))
        return counted(result)

    def test_a_loader_tells_its_batches_samples_and_maps(self):
        result = run("""
from grain._src.python.data_loader import Batch, DataLoader
class Numbers(list):
    pass
class Doubled:
    def map(self, element):
        return 2 * element
for batch in DataLoader(Numbers(range(6)), [Doubled(), Batch(2, True)]):
    print(batch)
""")
        found = self.check(result, "[0, 2]\n[4, 6]\n[8, 10]\n")
        self.assertEqual(found, {("sample", "Numbers"): 6, ("augment", "Doubled"): 6, ("collate", "grain.make_batch"): 3,
                                 ("wait", "grain.next"): 3, ("wait", "grain.end"): 1, ("step", "grain.step"): 3})
        self.assertEqual([event["batch"] for event in result.events("delivered")], [0, 1, 2])
        self.assertEqual(sorted(span["sample"] for span in result.spans("sample")), list(range(6)))
        facts = result.facts()
        self.assertEqual([facts["loader.0." + key] for key in ("package", "batch_size", "num_workers", "drop_last")],
                         ["grain", "2", "0", "true"])

    def test_a_dataset_is_a_loader_at_the_end_of_its_pipeline(self):
        result = run("""
from grain._src.python.dataset.transformations.batch import BatchIterDataset
from grain._src.python.dataset.transformations.map import MapMapDataset
from grain._src.python.dataset.transformations.prefetch import PrefetchIterDataset
from grain._src.python.dataset.transformations.source import SourceMapDataset
def tripled(element):
    return 3 * element
data = MapMapDataset(SourceMapDataset(list(range(4))), tripled)
data = BatchIterDataset(PrefetchIterDataset(data), 2, batch_fn=tuple)
for _ in range(2):
    print(list(data))
print(data._parent._parent._map_fn is tripled)
""")
        found = self.check(result, "[(0, 3), (6, 9)]\n" * 2 + "True\n")
        self.assertEqual(found, {("sample", "list"): 8, ("augment", "tripled"): 8, ("wait", "grain.next"): 4,
                                 ("wait", "grain.end"): 2, ("step", "grain.step"): 4})
        self.assertEqual([event["batch"] for event in result.events("delivered")], [0, 1, 0, 1])
        self.assertEqual(result.facts()["loader.0.batch_size"], "2")

    def test_parts_of_a_pipeline_in_a_source_are_no_samples(self):
        result = run("""
from grain._src.python.dataset.transformations.source import SourceMapDataset
parts = SourceMapDataset([SourceMapDataset([1]), SourceMapDataset([2])])
print([part[0] for part in (parts[0], parts[1])], len(parts[0:1]))
class Several(list):
    def _getitems(self, indices):
        return [self[index] for index in indices]
print(SourceMapDataset(Several([5, 6]))._getitems([1, 0]), SourceMapDataset([7, 8])._getitems([1, 0]))
""")
        found = self.check(result, "[1, 2] 1\n[6, 5] [8, 7]\n")
        self.assertEqual(found, {("sample", "list"): 4, ("sample", "Several"): 1})

    def test_a_sample_has_the_same_index_in_each_epoch(self):
        result = run("""
from grain._src.python.dataset.transformations.source import SourceMapDataset
source = SourceMapDataset([5, 6, 7])
print([source[index] for index in range(7)])
""")
        self.check(result, "[5, 6, 7, 5, 6, 7, 5]\n")
        self.assertEqual([span["sample"] for span in result.spans("sample")], [0, 1, 2, 0, 1, 2, 0])

    def test_a_source_that_fails_raises_as_before(self):
        result = run("""
from grain._src.python.data_loader import Batch, DataLoader
class Broken(list):
    def __getitem__(self, index):
        raise KeyError(index)
try:
    for batch in DataLoader(Broken([1, 2]), [Batch(2)]):
        pass
except KeyError as error:
    print(error)
""")
        found = self.check(result, "0\n")
        self.assertEqual(found["sample", "Broken"], 2)
        self.assertEqual(result.events("delivered"), [])

    def test_a_worker_says_who_it_is_and_has_no_loop(self):
        result = run("""
import multiprocessing
from grain._src.python.dataset.transformations import map, prefetch, process_prefetch, source
class Context:
    process_index = 3
def main():
    data = prefetch._MpContextIterDataset(prefetch.PrefetchIterDataset(source.SourceMapDataset([1, 2])), Context())
    data = map.MapIterDataset(data, int)
    spawn = multiprocessing.get_context("spawn")
    buffer = spawn.Queue()
    worker = spawn.Process(target=process_prefetch._put_dataset_elements_in_buffer, args=(data, buffer))
    worker.start()
    print(list(iter(buffer.get, None)))
    worker.join()
if __name__ == "__main__":
    main()
""")
        found = self.check(result, "[1, 2]\n")
        self.assertEqual(found, {("sample", "list"): 2, ("augment", "int"): 2})
        self.assertEqual([record["worker"] for record in result.of("role")], [3])


if __name__ == "__main__":
    unittest.main()
