# SPDX-License-Identifier: Apache-2.0
"""A DataLoader's queues in the training process. Records when an index is sent, when a batch has arrived, and how long
getting it took (`get`).

`get` lasts from the first byte read until the batch is unpickled; the wait for the batch is not part of it. The hooks
set instance attributes of a multiprocessing.Queue, which are not pickled with it. Any other queue is wrapped in an
object.
"""
import weakref

from penstock_hooks import probe, torch_worker, wire
from penstock_hooks.bridge import context, emit, event, intern, now
from penstock_hooks.torch_state import CARRIER
from penstock_hooks.wrapping import payload_bytes


class _IndexSender:
    """The index queue of one worker, in the training process."""

    __slots__ = ("_queue", "_state", "_worker")

    def __init__(self, queue, state, worker):
        self._queue = queue
        self._state = state
        self._worker = worker

    def put(self, message, *args, **kwargs):
        try:
            if type(message) is tuple:
                event(wire.INDEX_SENT, message[0], self._state.generation, self._worker)
            elif message is not None:  # _ResumeIteration, a frozen dataclass
                object.__setattr__(message, CARRIER, self._state.generation)
        except Exception:
            pass
        return self._queue.put(message, *args, **kwargs)

    def __getattr__(self, name):
        return getattr(self._queue, name)


def _received(state, message, name):
    """To be called when a message has arrived. Its first byte came at state.recv_at; 0 means that the message is
    already recorded."""
    start = state.recv_at
    if not start:
        return
    state.recv_at = 0
    index = message[0]
    if type(index) is int:
        data = message[1]
        what = data[0] if type(data) is tuple and data else data  # torchdata adds a state
        if type(what).__name__ != "_IterableDatasetStopIteration":
            emit(wire.GET, name, start, index, state.receiving, payload_bytes(data) or state.recv_bytes)
            event(wire.BATCH_GOT, index, state.receiving, 0)
    elif index is not None and state.acks:  # a persistent worker confirms the new epoch
        state.acks -= 1
        if state.acks == 0:
            state.receiving = state.generation


def _splice(queue, state):
    """Times `queue.get` of a multiprocessing.Queue, which only one thread of this process reads."""
    receive = queue._recv_bytes
    get = type(queue).get
    here = weakref.ref(queue)  # no cycle: the queue closes its pipe when it is dropped
    name = intern("result_queue.get")

    def timed_receive(*args, **kwargs):
        state.recv_at = now()
        if probe.active:
            probe.begin(probe.HANDING)
        message = receive(*args, **kwargs)
        state.recv_bytes = len(message)
        return message

    def timed_get(*args, **kwargs):
        message = get(here(), *args, **kwargs)
        try:
            _received(state, message, name)
        except Exception:
            pass
        if probe.active:
            probe.settle(probe.HANDING)
        return message

    queue._recv_bytes = timed_receive
    queue.get = timed_get


class _ThreadQueue:
    """The result queue of workers that are threads. Nothing is copied, so only the moment of arrival is recorded."""

    __slots__ = ("_queue", "_state", "_name")

    def __init__(self, queue, state):
        self._queue = queue
        self._state = state
        self._name = intern("result_queue.get")

    def get(self, *args, **kwargs):
        message = self._queue.get(*args, **kwargs)
        try:
            self._state.recv_at = now()
            _received(self._state, message, self._name)
        except Exception:
            pass
        return message

    def __getattr__(self, name):
        return getattr(self._queue, name)


class PinQueue:
    """The result queue as the pin-memory thread sees it: sets the thread's batch."""

    __slots__ = ("_queue", "_name")

    def __init__(self, queue):
        self._queue = queue
        self._name = intern("result_queue.get")

    def get(self, *args, **kwargs):
        message = self._queue.get(*args, **kwargs)
        try:
            state = getattr(self._queue, "_penstock", None)
            if state is not None and type(message[0]) is int:
                _received(state, message, self._name)  # has an effect if this get() began before _splice()
                context(-1, message[0], state.receiving)
        except Exception:
            pass
        return message

    def __getattr__(self, name):
        return getattr(self._queue, name)


def attach(iterator, state):
    """To be called when the iterator's queues exist and nothing has been sent through them."""
    results = iterator._worker_result_queue
    if hasattr(results, "_recv_bytes") and hasattr(results, "_poll"):
        _splice(results, state)
        results._penstock = state
    elif iterator._data_queue is results:
        if len(torch_worker.consumers) >= 256:
            torch_worker.consumers.pop(next(iter(torch_worker.consumers)))
        torch_worker.consumers[id(results)] = state.first_generation
        iterator._data_queue = _ThreadQueue(results, state)
    queues = iterator._index_queues
    iterator._index_queues = [_IndexSender(queue, state, place) for place, queue in enumerate(queues)]
