# SPDX-License-Identifier: Apache-2.0
"""Runs programs that load data with torch's DataLoader, and checks what every recording of them must have."""
import collections
import json
import unittest

import harness

PRELUDE = """
import json, sys, time, warnings
warnings.filterwarnings("ignore", message="This DataLoader will create")  # on few cores
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

class Map(Dataset):
    def __init__(self, size, root=None):
        self.size = size
        self.root = root
    def __len__(self):
        return self.size
    def __getitem__(self, index):
        return torch.full((4,), float(index)), index

class Stream(IterableDataset):
    def __init__(self, size):
        self.size = size
    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        return iter(range(first, self.size, step))

class Broken(Map):
    def __getitem__(self, index):
        if index == 3:
            raise ValueError("sample %d is broken" % index)
        return index

def show(*values):
    print(json.dumps(values), flush=True)
"""


def run(code, **options):
    return harness.run(PRELUDE + code, **options)


class LoaderCase(unittest.TestCase):
    def check_clean(self, result):
        self.assertEqual(result.status, 0, result.err)
        self.assertEqual(result.err, "")

    def check_keys(self, result, with_samples=True):
        """Checks each batch that the program printed as [label, indices]. Its samples must have spans with the
        generation and the number with which the batch was delivered."""
        printed = [json.loads(line) for line in result.out.splitlines()]
        delivered = result.events("delivered")
        self.assertEqual(len(delivered), len(printed))
        spans = collections.defaultdict(list)
        for span in result.spans("sample"):
            spans[span["generation"], span["batch"]].append(span["sample"])
        for event, line in zip(delivered, printed):
            key = event["generation"], event["batch"]
            if with_samples:
                self.assertEqual(sorted(spans.pop(key)), sorted(line[1]), key)
            for stage in ("fetch", "wait"):
                found = result.spans(stage, generation=key[0], batch=key[1])
                self.assertEqual(len(found), 1, (stage, key))
        if with_samples:
            self.assertEqual(dict(spans), {})
        return delivered

    def check_transport(self, result, workers):
        """Checks that each batch has these events once and in this order: indices sent, indices received, batch put,
        batch got. All of them must name the same worker."""
        for event in result.events("delivered"):
            key = {"generation": event["generation"], "batch": event["batch"]}
            names = ("index_sent", "index_received", "batch_put", "batch_got")
            order = [result.events(name, **key) for name in names]
            self.assertEqual([len(found) for found in order], [1] * 4, key)
            times = [found[0]["start"] for found in order] + [event["start"]]
            self.assertEqual(times, sorted(times), key)
            self.assertEqual(len({found[0]["value"] for found in order[:3]}), 1)
            put, get = result.spans("put", **key), result.spans("get", **key)
            self.assertEqual((len(put), len(get)), (1, 1), key)
            self.assertEqual(put[0]["thread"], "QueueFeederThread")
            self.assertGreater(put[0]["bytes"], 0)
            self.assertGreater(get[0]["bytes"], 0)
        for worker in range(workers):
            self.assertTrue(result.of("role", role=2, worker=worker))
