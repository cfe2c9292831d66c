# SPDX-License-Identifier: Apache-2.0
"""Tests that with the hooks of torch's DataLoader a program gets the same batches and exceptions as without them."""
import json
import unittest

from loader_programs import LoaderCase, run


class ResultsTest(LoaderCase):
    def test_a_profiler_sees_no_call_of_ours(self):
        script = """
class Counted(Map):
    calls = 0
    def __len__(self):
        Counted.calls += 1
        return self.size
%s
for index, _ in DataLoader(Counted(5), batch_size=2):
    pass
show(Counted.calls)
"""
        watched = run(script % "sys.setprofile(lambda *event: None)")
        free = run(script % "")
        self.assertNotIn("loader.0.dataset_len", watched.facts())
        self.assertEqual(free.facts()["loader.0.dataset_len"], "5")
        self.assertEqual(json.loads(watched.out)[0] + 1, json.loads(free.out)[0])

    def test_a_sampler_that_takes_a_part_says_how_many_batches(self):
        script = """
from torch.utils.data import DistributedSampler, RandomSampler, SubsetRandomSampler
data = Map(10)
class Mine(RandomSampler):
    def __len__(self):
        raise AssertionError("called")
# Loaders that the same line makes are one.
for _ in DataLoader(data, batch_size=2, sampler=DistributedSampler(data, 2, 0)): pass
for _ in DataLoader(data, batch_size=2, sampler=RandomSampler(data, True, 4)): pass
for _ in DataLoader(data, batch_size=2, sampler=SubsetRandomSampler([1, 2, 3])): pass
for _ in DataLoader(data, batch_size=2, sampler=RandomSampler(data)): pass
for _ in DataLoader(data, batch_size=2, sampler=Mine(data)): pass
"""
        result = run(script)
        self.check_clean(result)
        told = [result.facts().get("loader.%d.epoch_batches" % k) for k in range(5)]
        self.assertEqual(told, ["3", "2", "2", None, None])

    def test_a_batch_sampler_of_the_program_is_not_asked_for_its_sampler(self):
        script = """
class Batches:
    def __iter__(self):
        return iter([[0, 1]])
    @property
    def sampler(self):
        print("asked")
        raise RuntimeError("there is none")
for _ in DataLoader(Map(2), batch_sampler=Batches()): pass
"""
        result = run(script)
        self.check_clean(result)
        self.assertEqual(result.out, "")
        self.assertEqual(result.facts()["loader.0.drop_last"], "false")

    def test_a_loader_that_is_not_hashable_has_its_facts(self):
        result = run(
            """
class Equal(DataLoader):
    def __eq__(self, other):
        return isinstance(other, Equal)
for data, index in Equal(Map(4), batch_size=2):
    show(0, index.tolist())
"""
        )
        self.check_clean(result)
        self.check_keys(result)
        facts = result.facts()
        self.assertEqual([facts.get("epoch.1"), facts.get("loader.0.batch_size")], ["0", "2"])
        self.assertIn("loader.0.batch_types", facts)
        self.assertNotIn("loader.0.made_at", facts)

    def test_batches_of_different_lengths_have_the_bytes_of_their_mean(self):
        result = run(
            """
class Growing(Map):
    def __getitem__(self, index):
        return torch.zeros(index)
for batch in DataLoader(Growing(9), batch_size=1): pass
"""
        )
        self.check_clean(result)
        self.assertEqual(result.facts()["loader.0.batch_types"], "float32:%d" % (4 * (0 + 1 + 3 + 7) / 4))

    def test_without_workers_the_first_samples_tell_whose_memory_they_are_in(self):
        result = run(
            """
import numpy
class Mixed(Map):
    def __getitem__(self, index):
        return {"a": torch.zeros(8), "b": [torch.from_numpy(numpy.ones(8)), numpy.ones(8)], "c": index}
if __name__ == "__main__":
    for workers in (0, 1):
        for _ in range(2):
            for batch in DataLoader(Mixed(64), batch_size=32, num_workers=workers): pass
    for batch in DataLoader(Mixed(2), batch_size=None): pass
    show(hasattr(torch.zeros(1), "untyped_storage"))
"""
        )
        self.check_clean(result)
        facts = {key: value for key, value in result.facts().items() if key.endswith("sample_memory")}
        self.assertEqual(list(facts), ["loader.0.sample_memory"])
        own, other = (int(part.partition(":")[2]) for part in facts["loader.0.sample_memory"].split())
        self.assertEqual(own + other, 32 * (32 + 64 + 64))
        if json.loads(result.out) == [True]:
            self.assertEqual(own, 32 * 32)
        else:  # an old PyTorch does not say who owns memory; some of NumPy's memory is aligned like PyTorch's
            self.assertGreaterEqual(own, 32 * 32)
            self.assertLess(own, 32 * (32 + 64))

    def test_a_list_of_indices_reaches_the_dataset_as_before(self):
        code = """
import numpy
from torch.utils.data import Subset
class Pairs(Map):
    def __getitem__(self, index):
        return [type(index).__name__] + [int(each) for each in index]
subset = Subset(Pairs(8), numpy.arange(7, -1, -1))
for batch in DataLoader(subset, batch_sampler=[[[0, 1], [2, 3]], [[4, 5]]], collate_fn=list):
    show(batch)
"""
        ours, plain = run(code), run(code, hooks=False)
        self.check_clean(ours)
        self.assertEqual(ours.out, plain.out)
        self.assertEqual(len(ours.spans("sample")), 3)

    def test_a_batch_that_notices_looks_at_it_notices_none_of_ours(self):
        code = """
from torch.overrides import TorchFunctionMode
calls = []
class Seen(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        calls.append(getattr(func, "__name__", str(func)))
        return func(*args, **(kwargs or {}))
class Noticing(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        calls.append("tensor " + getattr(func, "__name__", str(func)))
        return super().__torch_function__(func, types, args, kwargs or {})
class Bag:
    def __getattr__(self, name):
        calls.append("bag " + name)
        raise AttributeError(name)
class Lazy(dict):
    def values(self):
        calls.append("values")
        return super().values()
def collate(samples):
    data = torch.stack([data for data, index in samples])
    noticing = torch.zeros(2).as_subclass(Noticing)
    noticing.kept = True  # torch 1.13 cannot send a tensor without attributes on Python 3.11
    return [data, noticing, Bag(), Lazy(a=1)]
if __name__ == "__main__":
    with Seen():
        for batch in DataLoader(Map(4), batch_size=2, num_workers=1, collate_fn=collate):
            calls.append("batch")
    show(calls)
"""
        ours, plain = run(code), run(code, hooks=False)
        self.assertEqual((ours.status, ours.err, ours.out), (plain.status, plain.err, plain.out))
        self.assertEqual(ours.out.count('"batch"'), 2)
        for stage in ("put", "get"):
            self.assertEqual([span["bytes"] > 0 for span in ours.spans(stage)], [True, True], stage)

    def test_exceptions_are_the_datasets_own(self):
        code = """
if __name__ == "__main__":
    for workers in (0, 2):
        try:
            for index in DataLoader(Broken(6), batch_size=2, num_workers=workers):
                show(index.tolist())
        except ValueError as error:
            show(type(error).__name__, str(error).splitlines()[0], str(error).splitlines()[-1])
"""
        ours, plain = run(code), run(code, hooks=False)
        self.check_clean(ours)
        self.assertEqual(ours.out, plain.out)
        self.assertIn("sample 3 is broken", ours.out)

    def test_a_killed_worker_is_reported_as_before(self):
        # Batches are lists, not tensors, and the worker dies late. To receive a tensor, the main process asks the
        # worker for a file descriptor. If the worker is gone by then, that fails with another error.
        code = """
import os, signal, time
class Killer(Map):
    def __getitem__(self, index):
        if index == 4:
            time.sleep(1)
            os.kill(os.getpid(), signal.SIGKILL)
        return index
if __name__ == "__main__":
    try:
        for index in DataLoader(Killer(6), batch_size=2, num_workers=2, collate_fn=list):
            pass
    except RuntimeError as error:
        show(type(error).__name__, "exited unexpectedly" in str(error))
"""
        ours, plain = run(code), run(code, hooks=False)
        self.assertEqual(ours.out, plain.out)
        self.assertEqual(ours.status, plain.status)

    def test_training_is_bit_identical(self):
        code = """
import random
import numpy as np
class Noisy(Map):
    def __getitem__(self, index):
        return torch.randn(4) + random.random() + float(np.random.rand()), torch.tensor([float(index)])
def seed(worker):
    torch.manual_seed(torch.initial_seed() + worker)
if __name__ == "__main__":
    for workers in (0, 2):
        torch.manual_seed(1); random.seed(1); np.random.seed(1)
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        loader = DataLoader(Noisy(24), batch_size=5, shuffle=True, num_workers=workers, worker_init_fn=seed,
                            generator=torch.Generator().manual_seed(7), persistent_workers=workers > 0)
        for epoch in range(3):
            for data, target in loader:
                loss = ((model(data) - target) ** 2).mean()
                optimizer.zero_grad(); loss.backward(); optimizer.step()
                show(loss.item().hex())
"""
        ours, plain = run(code), run(code, hooks=False)
        self.check_clean(ours)
        self.assertEqual(ours.out, plain.out)
        self.assertEqual(len(ours.out.splitlines()), 30)

    def test_workers_stop_when_the_iterator_is_dropped(self):
        result = run(
            """
import multiprocessing
if __name__ == "__main__":
    iterator = iter(DataLoader(Map(100), batch_size=1, num_workers=2))
    next(iterator)
    show(len(multiprocessing.active_children()))
    del iterator
    show(len(multiprocessing.active_children()))
"""
        )
        self.check_clean(result)
        self.assertEqual(result.out.split(), ["[2]", "[0]"])


if __name__ == "__main__":
    unittest.main()
