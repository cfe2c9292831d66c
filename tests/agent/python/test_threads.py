# SPDX-License-Identifier: Apache-2.0
"""Tests workers that are threads, as in PyTorch's main branch (worker_method="thread").

No release has them yet. The program adds an iterator to the installed torch. It has the same names and the same order
of calls as the iterator in the main branch. Then the program calls the hooks' patch() again.
"""
import collections
import json
import unittest

from loader_programs import run

THREADS = """
import queue, threading
from torch.utils.data import _utils, dataloader
from torch.utils.data.dataloader import _BaseDataLoaderIter, _DatasetKind, _MultiProcessingDataLoaderIter

def _thread_worker_loop(dataset_kind, dataset, index_queue, data_queue, done_event, auto_collation,
                        collate_fn, drop_last, base_seed, init_fn, worker_id, num_workers,
                        persistent_workers, pin_memory=False):
    def make():
        return _DatasetKind.create_fetcher(dataset_kind, dataset, auto_collation, collate_fn, drop_last)
    fetcher = make()
    while True:
        try:
            r = index_queue.get(timeout=5)
        except queue.Empty:
            continue
        if isinstance(r, _utils.worker._ResumeIteration):
            data_queue.put((r, None))
            fetcher = make()
        elif r is None:
            break
        elif not done_event.is_set():
            data_queue.put((r[0], fetcher.fetch(r[1])))

class _ThreadingDataLoaderIter(_MultiProcessingDataLoaderIter):
    def __init__(self, loader):
        _BaseDataLoaderIter.__init__(self, loader)
        self._prefetch_factor = loader.prefetch_factor
        self._in_order = True
        self._worker_method = "thread"
        self._worker_result_queue = queue.SimpleQueue()
        self._shutdown = False
        self._workers_done_event = threading.Event()
        self._index_queues, self._workers = [], []
        for i in range(self._num_workers):
            index_queue = queue.SimpleQueue()
            worker = threading.Thread(target=_utils.worker._thread_worker_loop, daemon=True, args=(
                self._dataset_kind, self._dataset, index_queue, self._worker_result_queue,
                self._workers_done_event, self._auto_collation, self._collate_fn, self._drop_last,
                self._base_seed, None, i, self._num_workers, self._persistent_workers, self._pin_memory))
            worker.start()
            self._index_queues.append(index_queue)
            self._workers.append(worker)
        self._data_queue = self._worker_result_queue
        self._reset(loader, first_iter=True)
    def _try_get_data(self, timeout=5):
        try:
            return True, self._data_queue.get(timeout=timeout)
        except queue.Empty:
            return False, None
    def _shutdown_workers(self):
        if not self._shutdown:
            self._shutdown = True
            self._workers_done_event.set()
            for index_queue in self._index_queues:
                index_queue.put(None)
            for worker in self._workers:
                worker.join(timeout=5)

dataloader._ThreadingDataLoaderIter = _ThreadingDataLoaderIter
_utils.worker._thread_worker_loop = _thread_worker_loop
from penstock_hooks import torch_loader
torch_loader.patch(dataloader)
torch_loader.patch(dataloader)

class ThreadLoader(DataLoader):
    def _get_iterator(self):
        return _ThreadingDataLoaderIter(self)

for persistent in (False, True):
    loader = ThreadLoader(Map(11), batch_size=2, num_workers=3, persistent_workers=persistent)
    for epoch in range(3):
        for data, index in loader:
            show(epoch, index.tolist())
del loader
show(threading.active_count())
"""


class ThreadWorkerTest(unittest.TestCase):
    def test_keys_agree(self):
        result = run(THREADS)
        self.assertEqual((result.status, result.err), (0, ""))
        lines = [json.loads(line) for line in result.out.splitlines()]
        self.assertEqual(lines.pop(), [1])
        spans = collections.defaultdict(list)
        for span in result.spans("sample"):
            spans[span["generation"], span["batch"]].append(span["sample"])
        delivered = [(e["generation"], e["batch"]) for e in result.events("delivered")]
        self.assertEqual(delivered, [(g, b) for g in range(1, 7) for b in range(6)])
        self.assertEqual([sorted(spans[key]) for key in delivered], [line[1] for line in lines])
        for event in ("index_sent", "index_received", "batch_put", "batch_got"):
            found = sorted((e["generation"], e["batch"]) for e in result.events(event))
            self.assertEqual(found, delivered, event)
        self.assertEqual(len(result.of("role")), 1)
        self.assertEqual(len(result.events("worker_start")), 3 * 3 + 3)
        self.assertEqual(result.facts()["loader.0.start_method"], "thread")


if __name__ == "__main__":
    unittest.main()
