# SPDX-License-Identifier: Apache-2.0
"""Hooks on torch.utils.data.DataLoader in the training process, for PyTorch 1.13 to 2.x, with processes or threads as
workers.

Nothing here holds a reference to an iterator or forms a cycle with a queue: the iterator's __del__
stops the workers, so a reference of ours to the iterator would keep the workers alive. """
from penstock_hooks import functions, probe, slow_samples, stalls, torch_fetch, torch_options, torch_worker, wire
from penstock_hooks.bridge import begin, cancel, context, delivered, emit, end, event, intern, now, role
from penstock_hooks.torch_queues import PinQueue, attach
from penstock_hooks.torch_state import Progress, local, next_generation, process
from penstock_hooks.wrapping import replace

_WAIT, _STEP, _STARTUP, _PIN = wire.WAIT, wire.STEP, wire.STARTUP, wire.PIN


class Consumer:
    """What the hooks on one iterator remember between calls."""

    __slots__ = (
        "generation", "first_generation", "receiving", "acks", "workers", "progress", "ended",
        "count", "batch", "left_at", "in_order", "got", "pin", "wait_name", "step_name",
        "end_name", "reset_name", "recv_at", "recv_bytes", "fixed", "number", "built", "follow", "watched",
    )  # fmt: skip

    def __init__(self, workers):
        self.workers = workers
        self.generation = self.first_generation = self.receiving = next_generation()
        self.acks = 0  # persistent workers that have not yet confirmed the new epoch
        self.progress = Progress(self.generation, 0, 1) if workers == 0 else None
        self.in_order = True
        self.got = -1  # index of the batch taken from the queue last
        self.pin = False  # the queue is read by the pin-memory thread
        self.recv_at = 0
        self.recv_bytes = 0
        self.fixed = None
        self.number = None  # number of the loader among those of this process
        self.built = False  # __init__ has returned; torchdata calls next() inside __init__ to resume an epoch
        self.wait_name = intern("DataLoader.__next__")
        self.end_name = intern("DataLoader.end")
        self.step_name = intern("step")
        self.reset_name = intern("DataLoader.reset")
        self.restart()

    def restart(self):
        self.count = 0  # batches delivered in this epoch
        self.batch = -1
        self.left_at = 0  # when next() returned; 0: no step is under way
        self.follow = None  # the step as a unit of functions.py
        self.watched = -1  # stalls.forks when the loop was watched last
        self.ended = False

    def finish(self):
        """To be called when the epoch is over, or was left early and another begins."""
        if not self.ended:
            self.ended = True
            event(wire.EPOCH_END, -1, self.generation, self.count)
            context(-1, -1, 0)

    def run_out(self):
        """To be called when the loader has no more batches. Tells this to a loader that asks ahead (local.ahead).
        finish() cannot do so: it also ends an epoch that was left early, and local.ahead then belongs to the next
        epoch."""
        self.finish()
        if local.ahead is not None:
            local.ahead.ended = True

    def deliver(self, index):
        """To be called when a batch goes to the program. Without workers, stalls are watched from the second batch on,
        so that a program that takes only one batch gets no extra thread. With workers the process has more threads
        anyway."""
        self.count += 1
        self.batch = index
        delivered(index, self.generation)
        local.delivered += 1
        if local.ahead is not None:
            probe.veto(probe.AHEAD)
            local.ahead.got(index, self.generation)
        else:
            context(-1, index, self.generation)
            self.left_at = now()
            if self.watched != stalls.forks and self.count >= (1 if self.workers else 2):
                self.watched = stalls.forks
                stalls.watch()
            if self.count > 1:
                self.follow = functions.enter(_STEP, self.step_name, -1, index, self.generation)
            if probe.active:
                probe.begin(probe.STEP)


def _open(iterator, loader):
    """Makes the state of an iterator that is about to be built. None if it has one already (a base class's __init__)
    or is built inside the __init__ of another iterator."""
    if local.building is not None or hasattr(iterator, "_penstock"):
        return None
    here = process()
    if not here.has_role:
        here.has_role = True
        role(wire.CONSUMER, -1)
    probe.enter()
    slow_samples.share()
    if getattr(loader, "timeout", 0):
        probe.veto(probe.TIMEOUT)
    state = iterator._penstock = Consumer(loader.num_workers)
    event(wire.EPOCH_START, -1, state.generation, state.workers)
    return state


def _describe(iterator, loader, state):
    if state.workers and not hasattr(iterator, "_rcvd_idx"):  # an unknown kind of iterator
        del iterator._penstock
    state.in_order = getattr(iterator, "_in_order", True)
    state.fixed = torch_options.fixed_batch(loader)
    state.number = torch_options.record(loader, iterator, state.generation)
    if not state.workers:
        state.progress.described = state.number


def _make_init(original):
    def __init__(self, loader, *args, **kwargs):
        try:
            state = _open(self, loader)
        except Exception:
            state = None
        if state is None:
            return original(self, loader, *args, **kwargs)
        before = local.progress
        local.building = state.generation
        local.progress = state.progress
        token = begin(_STARTUP, intern(type(self).__name__), -1, -1, state.generation)
        try:
            original(self, loader, *args, **kwargs)
        finally:
            end(token)
            local.building = None
            local.progress = before
        state.built = True
        try:
            _describe(self, loader, state)
        except Exception:
            pass

    return __init__


def _make_reset(original):
    def _reset(self, loader, first_iter=False, *args, **kwargs):
        state = self.__dict__.get("_penstock")
        if state is None:
            return original(self, loader, first_iter, *args, **kwargs)
        if first_iter:
            try:
                attach(self, state)
            except Exception:
                pass
            return original(self, loader, first_iter, *args, **kwargs)
        state.finish()
        state.generation = next_generation()
        state.acks = state.workers
        state.restart()
        event(wire.EPOCH_START, -1, state.generation, state.workers)
        token = begin(_STARTUP, state.reset_name, -1, -1, state.generation)
        try:
            return original(self, loader, first_iter, *args, **kwargs)
        finally:
            end(token)
            torch_options.record(loader, self, state.generation)

    return _reset


def _make_next(original):
    def __next__(self):
        try:
            state = self._penstock
        except AttributeError:
            return original(self)
        if not state.built:
            return original(self)
        if state.follow is not None:
            functions.leave(state.follow)
            state.follow = None
        if state.left_at:
            emit(_STEP, state.step_name, state.left_at, state.batch, state.generation, 0)
            state.left_at = 0
            if probe.active:
                probe.settle(probe.STEP)
        fixed = state.fixed
        if fixed is not None and fixed.ready:
            return _next_fixed(self, state, fixed)
        workers = state.workers
        if workers:
            expected = self._rcvd_idx
            try:
                event(wire.QUEUE_DEPTH, expected, state.generation, self._data_queue.qsize())
            except Exception:
                pass
        else:
            expected = state.progress.batch = state.count
        generation = state.generation
        event(wire.NEXT_ENTERED, expected, generation, 0)
        start = now()
        token = begin(_WAIT, state.wait_name, -1, expected, generation)
        try:
            data = original(self)
        except StopIteration:
            cancel(token)
            emit(_WAIT, state.end_name, start, -1, generation, 0)
            state.run_out()
            raise
        except BaseException:
            end(token)
            raise
        if workers:
            index = self._rcvd_idx - 1 if state.in_order else state.got
        else:
            index = expected
        if index == expected:
            end(token)
        else:  # a worker has ended, or the loader does not keep the order
            cancel(token)
            emit(_WAIT, state.wait_name, start, index, generation, 0)
        if fixed is not None:
            fixed.keep(data)
        state.deliver(index)
        if state.count & state.count - 1 == 0:  # seldom: batches 1, 2, 4, 8 and so on
            torch_options.describe_batch(state.number, data, getattr(self, "_auto_collation", True))
        return data

    return __next__


def _next_fixed(iterator, state, fixed):
    """next() after the first batch: returns that batch again, as often as the epoch has batches."""
    index = state.count
    event(wire.NEXT_ENTERED, index, state.generation, 0)
    token = begin(_WAIT, state.wait_name, -1, index, state.generation)
    if fixed.limit is not None and index >= fixed.limit:
        cancel(token)
        state.run_out()
        if state.workers and not iterator._persistent_workers:
            iterator._shutdown_workers()
        raise StopIteration
    data = fixed.again()
    end(token)
    state.deliver(index)
    return data


def _make_get_data(original):
    def _get_data(self):
        message = original(self)
        try:
            self._penstock.got = message[0]
        except Exception:
            pass
        return message

    return _get_data


def _make_pin(original):
    name = intern("pin_memory")

    def pin_memory(data, *args, **kwargs):
        if local.pinning:  # pin_memory() calls itself for each element
            return original(data, *args, **kwargs)
        local.pinning = True
        if probe.active:
            probe.begin(probe.HANDING)
        token = begin(_PIN, name)
        try:
            pinned = original(data, *args, **kwargs)
        finally:
            end(token, 0)
            local.pinning = False
        if probe.active:
            probe.settle(probe.HANDING)
        return pinned

    return pin_memory


def _make_pin_loop(original):
    """For `replace`: the loop of the pin-memory thread. The thread's context is set to the batch whose data it pins."""

    def pin_memory_loop(in_queue, *args, **kwargs):
        return original(PinQueue(in_queue), *args, **kwargs)

    return pin_memory_loop


def _make_single_next(original):
    """For `replace`: without workers, the batch is pinned after the fetch; the pinning is recorded for the same
    batch."""

    def _next_data(self):
        state = self.__dict__.get("_penstock")
        if state is None:
            return original(self)
        context(-1, state.count, state.generation)
        before = local.progress
        local.progress = state.progress
        try:
            return original(self)
        finally:
            local.progress = before

    return _next_data


def patch(dataloader):
    """`dataloader`: the module torch.utils.data.dataloader, imported."""
    torch_fetch.patch(dataloader)
    torch_worker.patch(dataloader)
    torch_options.patch(dataloader)
    pins = dataloader._utils.pin_memory
    replace(pins, "pin_memory", _make_pin)
    replace(pins, "_pin_memory_loop", _make_pin_loop)
    replace(dataloader._BaseDataLoaderIter, "__next__", _make_next)
    for way in ("SingleProcess", "MultiProcessing", "Threading"):
        kind = getattr(dataloader, "_%sDataLoaderIter" % way, None)
        if kind is not None:
            replace(kind, "__init__", _make_init)
    parallel = getattr(dataloader, "_ParallelDataLoaderIter", None)
    parallel = parallel or dataloader._MultiProcessingDataLoaderIter
    _patch_iterators(dataloader._SingleProcessDataLoaderIter, parallel)


def _patch_iterators(single, parallel):
    replace(single, "_next_data", _make_single_next)
    replace(parallel, "_reset", _make_reset)
    replace(parallel, "_get_data", _make_get_data)


def patch_stateful(module):
    """`module`: torchdata.stateful_dataloader.stateful_dataloader, whose iterators are copies of torch's."""
    single, parallel = module._StatefulSingleProcessDataLoaderIter, module._StatefulMultiProcessingDataLoaderIter
    for kind in (single, parallel):
        replace(kind, "__init__", _make_init)
    _patch_iterators(single, parallel)
