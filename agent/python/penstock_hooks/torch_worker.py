# SPDX-License-Identifier: Apache-2.0
"""Hooks in the DataLoader's worker. They record how long it waits, when it has finished a batch, and how long sending
the batch takes.

The worker loop is replaced under its own module and name, so that a Process pickles it by reference
and a child without hooks finds the original. Its two queues are wrapped in thin objects. A
multiprocessing queue pickles and writes in a feeder thread, so `put` is measured there.
"""
import inspect
import multiprocessing.process as mp_process

from penstock_hooks import overrides, probe, stalls, wire
from penstock_hooks.bridge import begin, cancel, end, event, intern, role
from penstock_hooks.facts import write_affinity
from penstock_hooks.torch_state import CARRIER, Progress, local, process
from penstock_hooks.wrapping import payload_bytes, replace

_IDLE, _PUT, _STARTUP = wire.IDLE, wire.PUT, wire.STARTUP

consumers = {}  # for workers that are threads: id of the result queue -> first generation


class _IndexQueue:
    """The queue from which the worker loop takes its tasks."""

    __slots__ = ("_queue", "_progress", "_name", "_startup", "_results")

    def __init__(self, queue, progress, startup, results):
        self._queue = queue
        self._progress = progress
        self._name = intern("index_queue.get")
        self._startup = startup
        self._results = results

    def get(self, *args, **kwargs):
        progress = self._progress
        if self._startup:
            end(self._startup)
            self._startup = 0
        token = begin(_IDLE, self._name, -1, -1, progress.generation)
        try:
            message = self._queue.get(*args, **kwargs)
        finally:
            end(token)
        try:
            if not progress.generation:
                progress.generation = consumers.get(self._results, 0)
            if type(message) is tuple:
                progress.batch = index = message[0]
                event(wire.INDEX_RECEIVED, index, progress.generation, progress.worker)
            elif message is not None:  # _ResumeIteration: the same worker, a new epoch
                progress.batch = -1
                progress.generation = getattr(message, CARRIER, 0)
        except Exception:
            pass
        return message

    def __getattr__(self, name):
        return getattr(self._queue, name)


class _Sender:
    """The feeder thread's end of a result queue. It sends one batch at a time."""

    __slots__ = ("token", "bytes", "name", "due")

    def __init__(self):
        self.token = 0
        self.due = None  # a delay of probe.py, kept until the next batch: while sending, a lock is held
        self.bytes = 0
        self.name = intern("result_queue.put")

    def wrap(self, send_bytes):
        def send(message, *args, **kwargs):
            try:
                return send_bytes(message, *args, **kwargs)
            finally:
                token = self.token
                if token:
                    self.token = 0
                    end(token, self.bytes or len(message))
                    if probe.active:
                        self.due = probe.measure(probe.HANDING)

        return send


class _Parcel(tuple):
    """(index, batch) on its way to the feeder thread. It pickles as a plain tuple; pickling it begins the `put`
    span."""

    def __reduce_ex__(self, protocol):
        try:
            sender = self.sender
            if sender.due is not None:
                probe.delay(sender.due)
                sender.due = None
            if probe.active:
                probe.begin(probe.HANDING)
            if sender.token:  # the previous batch could not be pickled
                cancel(sender.token)
            sender.token = begin(_PUT, sender.name, -1, self[0], self.generation)
            sender.bytes = payload_bytes(self[1]) if sender.token else 0
        except Exception:
            pass
        return tuple, (tuple(self),)


class _ResultQueue:
    """The queue to which the worker loop gives its batches."""

    __slots__ = ("_queue", "_progress", "_sender", "_end", "_watched")

    def __init__(self, queue, progress, sender, end_type):
        self._queue = queue
        self._progress = progress
        self._sender = sender
        self._end = end_type
        self._watched = -1  # stalls.forks when the worker was watched last

    def _is_end(self, payload):
        if type(payload) is tuple and payload:  # torchdata's (batch, worker, state)
            payload = payload[0]
        return type(payload) is self._end

    def put(self, item, *args, **kwargs):
        try:
            if type(item) is tuple and type(item[0]) is int and not self._is_end(item[1]):
                progress = self._progress
                event(wire.BATCH_PUT, item[0], progress.generation, progress.worker)
                if self._sender is not None:
                    item = _Parcel(item)
                    item.sender = self._sender
                    item.generation = progress.generation
        except Exception:
            pass
        result = self._queue.put(item, *args, **kwargs)
        if self._watched != stalls.forks:  # see stalls.py: worker_init_fn has run, and the queue has a thread anyway
            self._watched = stalls.forks
            stalls.watch()
        return result

    def __getattr__(self, name):
        return getattr(self._queue, name)


def _open_worker(progress, threaded):
    """Announces the worker; returns the token of its startup span."""
    if threaded:
        progress.generation = 0  # set when the first index arrives
    else:
        here = process()
        here.has_role = here.is_worker = True
        role(wire.WORKER, progress.worker)
        overrides.enter_worker()
        write_affinity()
        progress.generation = mp_process.current_process().__dict__.get(CARRIER, 0)
    probe.enter()
    event(wire.WORKER_START, -1, progress.generation, progress.worker)
    return begin(_STARTUP, intern("worker"), -1, -1, progress.generation)


def _feeder(queue):
    """Puts a sender into a multiprocessing queue and returns it. None if this is another kind of queue, or its feeder
    thread has started."""
    if getattr(queue, "_thread", True) is not None or not hasattr(queue, "_buffer"):
        return None
    sender = _Sender()
    queue._send_bytes = sender.wrap(queue._send_bytes)
    return sender


def _make_loop(threaded, end_type):
    def make(original):
        places = {name: place for place, name in enumerate(inspect.signature(original).parameters)}
        index_at, result_at = places["index_queue"], places["data_queue"]
        worker_at, workers_at = places["worker_id"], places["num_workers"]

        def enter(args):
            progress = Progress(0, args[worker_at], args[workers_at])
            local.building = None
            local.progress = progress
            startup = _open_worker(progress, threaded)
            results = args[result_at]
            sender = None if threaded else _feeder(results)
            changed = list(args)
            changed[index_at] = _IndexQueue(args[index_at], progress, startup, id(results))
            changed[result_at] = _ResultQueue(results, progress, sender, end_type)
            return changed, progress

        def worker_loop(*args, **kwargs):
            progress = None
            try:
                args, progress = enter(args)
            except Exception:
                pass
            try:
                return original(*args, **kwargs)
            finally:
                if progress is not None:
                    overrides.check()
                    stalls.leave()
                    event(wire.WORKER_END, -1, progress.generation, progress.worker)
                    local.progress = None

        return worker_loop

    return make


def _make_start(original):
    def start(self):
        generation = local.building
        if generation is not None:
            try:
                setattr(self, CARRIER, generation)
            except Exception:
                pass
        return original(self)

    return start


def patch_loops(worker, end_type):
    """`worker`: a module with worker loops, torch's or torchdata's."""
    for name in ("_worker_loop", "_process_worker_loop", "_thread_worker_loop"):
        if hasattr(worker, name):
            replace(worker, name, _make_loop("thread" in name, end_type))


def patch(dataloader):
    """`dataloader`: the module torch.utils.data.dataloader."""
    worker = dataloader._utils.worker
    patch_loops(worker, worker._IterableDatasetStopIteration)
    replace(mp_process.BaseProcess, "start", _make_start)
