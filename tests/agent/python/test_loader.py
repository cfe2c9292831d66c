# SPDX-License-Identifier: Apache-2.0
"""Tests the hooks of torch's DataLoader: worker and training process give a batch the same number and epoch."""
import collections
import json
import unittest

from loader_programs import LoaderCase, run


class LoaderTest(LoaderCase):
    def test_start_methods_and_persistent_workers_agree_on_keys(self):
        for method in ("fork", "spawn", "forkserver"):
            for persistent in (False, True):
                if method != "fork" and not persistent:
                    continue  # slow, and covered by the other combinations
                with self.subTest(method=method, persistent=persistent):
                    result = run(
                        """
if __name__ == "__main__":
    loader = DataLoader(Map(11), batch_size=2, shuffle=True, num_workers=2, persistent_workers=%r,
                        multiprocessing_context=%r)
    for epoch in range(3):
        for data, index in loader:
            show(epoch, index.tolist())
"""
                        % (persistent, method)
                    )
                    self.check_clean(result)
                    delivered = self.check_keys(result)
                    self.assertEqual([e["generation"] for e in delivered], [1] * 6 + [2] * 6 + [3] * 6)
                    self.assertEqual([e["batch"] for e in delivered], list(range(6)) * 3)
                    self.check_transport(result, 2)
                    self.assertEqual([e["value"] for e in result.events("epoch_end")], [6, 6, 6])
                    self.assertEqual(len(result.events("worker_start")), 2 if persistent else 6)
                    self.assertEqual(result.facts()["loader.0.start_method"], method)
                    self.assertEqual(result.facts()["epoch.3"], "0")
                    self.assertEqual(len(result.spans("step")), 18)
                    for step in result.spans("step"):
                        self.assertGreaterEqual(step["batch"], 0)

    def test_leaving_an_epoch_early_keeps_generations_apart(self):
        result = run(
            """
if __name__ == "__main__":
    loader = DataLoader(Map(40), batch_size=2, num_workers=2, persistent_workers=True)
    for epoch in range(3):
        for step, (data, index) in enumerate(loader):
            show(epoch, index.tolist())
            if step == 2:
                break
"""
        )
        self.check_clean(result)
        delivered = result.events("delivered")
        self.assertEqual([e["generation"] for e in delivered], [1] * 3 + [2] * 3 + [3] * 3)
        printed = [json.loads(line) for line in result.out.splitlines()]
        for event, line in zip(delivered, printed):
            spans = result.spans("sample", generation=event["generation"], batch=event["batch"])
            self.assertEqual(sorted(s["sample"] for s in spans), line[1])
        put = {(e["generation"], e["batch"]) for e in result.events("batch_put")}
        got = {(e["generation"], e["batch"]) for e in result.events("batch_got")}
        self.assertLessEqual(got, put)

    def test_three_loaders_interleaved(self):
        result = run(
            """
if __name__ == "__main__":
    train = DataLoader(Map(12), batch_size=3, num_workers=2)
    valid = DataLoader(Map(8), batch_size=4, num_workers=1, persistent_workers=True)
    again = DataLoader(Map(4), batch_size=2)
    for data, index in train:
        show("train", index.tolist())
        for (_, a), (_, b) in zip(valid, again):
            show("valid", a.tolist())
            show("again", b.tolist())
"""
        )
        self.check_clean(result)
        printed = [json.loads(line) for line in result.out.splitlines()]
        spans = collections.defaultdict(list)
        for span in result.spans("sample"):
            spans[span["generation"], span["batch"]].append(span["sample"])
        delivered = {(e["generation"], e["batch"]) for e in result.events("delivered")}
        kept = sorted(sorted(found) for key, found in spans.items() if key in delivered)
        self.assertEqual(kept, sorted(line[1] for line in printed))
        facts = result.facts()
        with_affinity = {r["pid"] for r in result.of("fact", key="process.affinity")}
        # Each process that fetches records its affinity.
        self.assertLessEqual({r["pid"] for r in result.spans("fetch")}, with_affinity)
        self.assertEqual([facts["loader.%d.num_workers" % k] for k in range(3)], ["2", "1", "0"])
        self.assertEqual([facts["loader.%d.batch_size" % k] for k in range(3)], ["3", "4", "2"])
        self.assertEqual([facts["epoch.%d" % g] for g in range(1, 10)], list("012121212"))

    def test_no_workers_fetch_inside_wait(self):
        result = run(
            """
def gather(samples):
    return torch.tensor([index for _, index in samples])
for epoch in range(2):
    for index in DataLoader(Map(5, "data/set"), batch_size=2, collate_fn=gather, drop_last=True):
        show(epoch, index.tolist())
"""
        )
        self.check_clean(result)
        self.check_keys(result)
        wait = result.spans("wait", generation=1, batch=1)[0]
        fetch = result.spans("fetch", generation=1, batch=1)[0]
        collate = result.spans("collate", generation=1, batch=1)[0]
        self.assertEqual((wait["depth"], fetch["depth"], collate["depth"]), (0, 1, 2))
        self.assertEqual(collate["name"], "gather")
        self.assertLessEqual(wait["start"], fetch["start"])
        facts = result.facts()
        self.assertEqual(facts["loader.0.num_workers"], "0")
        self.assertEqual(facts["loader.0.drop_last"], "true")
        self.assertEqual(facts["loader.0.dataset_len"], "5")
        self.assertTrue(facts["loader.0.dataset_root"].endswith("/data/set"))
        self.assertEqual(result.of("role")[0]["role"], 1)

    def test_kinds_of_fetching(self):
        result = run(
            """
if __name__ == "__main__":
    for workers in (0, 2):
        for item in DataLoader(Stream(7), batch_size=2, num_workers=workers):
            show("stream", item.tolist())
    for item in DataLoader(Stream(3), batch_size=None):
        show("single stream", [item])
    for data, index in DataLoader(Map(3), batch_size=None, num_workers=1):
        show("single", [index])
    subset = torch.utils.data.Subset(Map(9), [8, 5, 2])
    for data, index in DataLoader(subset, batch_size=3):
        show("subset", index.tolist())
    for data, index in DataLoader(Map(4), batch_sampler=[[0, 3], [1]]):
        show("sampler", index.tolist())
"""
        )
        self.check_clean(result)
        lines = [json.loads(line) for line in result.out.splitlines()]
        delivered = result.events("delivered")
        self.assertEqual(len(lines), len(delivered))
        for event, (label, indices) in zip(delivered, lines):
            spans = result.spans("sample", generation=event["generation"], batch=event["batch"])
            found = sorted(span["sample"] for span in spans)
            wanted = [0, 1, 2] if label == "subset" else sorted(indices)
            self.assertEqual(found, wanted, (label, event))
            numbered = int("stream" in label)  # samples of a stream are numbered, since they have no index
            self.assertEqual({span["numbered"] for span in spans}, {numbered}, (label, event))
        kinds = {value for key, value in result.facts().items() if key.endswith("dataset_kind")}
        self.assertEqual(kinds, {"map", "iterable"})

    def test_batches_of_the_datasets_own_tell_their_length(self):
        result = run(
            """
class Rows(torch.utils.data.IterableDataset):
    def __init__(self, shape, classes):
        self.batch = torch.zeros(shape), torch.zeros(classes)
    def __iter__(self):
        return iter([self.batch])
# Only the first is taken for a batch. A first dimension of 3 may be the channels of one picture, and in a batch all
# tensors have the same length.
for shape, classes in (((8, 3, 2), 8), ((3, 5, 5), 3), ((8, 3), 1)):
    for batch in DataLoader(Rows(shape, classes), batch_size=None):
        pass
for batch in DataLoader(Rows((8, 3), 8), batch_size=1):
    pass
"""
        )
        self.check_clean(result)
        lengths = {key: value for key, value in result.facts().items() if key.endswith("batch_length")}
        self.assertEqual(lengths, {"loader.0.batch_length": "8"})

    def test_batched_getitems_is_one_sample_span(self):
        result = run(
            """
from torch.utils.data._utils.fetch import _MapDatasetFetcher
import inspect
class Batched(Map):
    def __getitems__(self, indices):
        return [Map.__getitem__(self, i) for i in indices]
show("__getitems__" in inspect.getsource(_MapDatasetFetcher))
for data, index in DataLoader(Batched(4), batch_size=2):
    pass
"""
        )
        self.check_clean(result)
        if not json.loads(result.out)[0]:
            self.skipTest("this torch does not know __getitems__")
        self.assertEqual([s["sample"] for s in result.spans("sample")], [-1, -1])
        self.assertEqual([s["batch"] for s in result.spans("sample")], [0, 1])

    def test_order_may_be_given_up(self):
        result = run(
            """
import inspect
class Slow(Map):
    def __getitem__(self, index):
        time.sleep(0.2 if index < 2 else 0)
        return index
if __name__ == "__main__":
    if "in_order" in inspect.signature(DataLoader.__init__).parameters:
        for index in DataLoader(Slow(8), batch_size=2, num_workers=2, in_order=False):
            show("", index.tolist())
"""
        )
        self.check_clean(result)
        if not result.out:
            self.skipTest("this torch keeps the order")
        self.check_keys(result)
        self.assertEqual(result.facts()["loader.0.in_order"], "false")

    def test_pin_memory_thread(self):
        # So that no accelerator is needed, the program patches torch: torch then sees one, and pin_memory() returns the
        # tensor itself.
        result = run(
            """
from torch.utils.data import _utils, dataloader
torch.Tensor.pin_memory = lambda self, *a, **k: self
torch.cuda.is_available = lambda: True
torch.cuda.current_device = lambda: 0
torch.cuda.set_device = lambda device: None
accelerator = getattr(torch, "accelerator", None)
if accelerator is not None:
    accelerator.is_available = lambda: True
    accelerator.current_accelerator = lambda *a, **k: torch.device("cuda")
    accelerator.current_device_index = lambda: 0
    accelerator.set_device_index = lambda device: None
if __name__ == "__main__":
    for data, index in DataLoader(Map(12), batch_size=3, num_workers=2, pin_memory=True):
        show("", index.tolist())
"""
        )
        self.assertEqual(result.status, 0, result.err)
        self.check_keys(result)
        self.check_transport(result, 2)
        pins = result.spans("pin")
        self.assertEqual(sorted(span["batch"] for span in pins), [0, 1, 2, 3])
        self.assertEqual({span["generation"] for span in pins}, {1})
        self.assertEqual({span["thread"] for span in pins}, {span["thread"] for span in result.spans("get")})
        self.assertNotIn("MainThread", {span["thread"] for span in pins})


if __name__ == "__main__":
    unittest.main()
