# SPDX-License-Identifier: Apache-2.0
"""The batch that a thread works on while it loads, and numbers that are counted in each process.

Training process and worker identify a batch by (index, generation): the index that the loader gives the batch, and the
number of the iterator. The training process counts its iterators from 1. An iterator with persistent workers gets a new
number for each epoch.
"""
import itertools
import os
import threading
import weakref

# Attribute that carries the generation to a worker: on its Process object and on _ResumeIteration.
# Both are pickled with their __dict__, and so with this attribute. In a process without our hooks nobody reads it.
CARRIER = "_penstock_generation"


class Progress:
    """The batch that a worker (or the training process, if there are no workers) works on."""

    __slots__ = ("generation", "batch", "worker", "workers", "inner", "asked", "follow", "described")

    def __init__(self, generation, worker, workers):
        self.generation = generation
        self.batch = -1
        self.worker = worker
        self.workers = workers if workers > 0 else 1
        self.inner = 0  # samples counted by a dataset that makes its own batches
        self.asked = False  # the dataset asked which worker this is
        self.follow = None  # functions._Batch, while samples of a fetch are followed or timed
        self.described = None  # number of the loader whose samples the training process still has to describe


class _Local(threading.local):
    progress = None  # Progress of the loader whose batches this thread is making; else None
    building = None  # generation whose workers are being started on this thread
    pinning = False  # inside pin_memory()
    ahead = None  # look_ahead.LookAhead that is asking for a batch
    waiting = None  # foreign.Loop in whose next() this thread is
    delivered = 0  # batches that DataLoaders have handed out on this thread


local = _Local()


class _Process:
    """What is known and counted in this process. A forked child starts anew."""

    def __init__(self):
        self.pid = os.getpid()
        self.has_role = False
        self.is_worker = False
        self.loaders = 0
        self.anew = set()  # numbers of the loaders that the program made again after dropping them
        self.seen = set()  # keys that first_time() was asked about
        self.described = {}  # number of a loader -> what torch_options.describe_batch() found
        self.indices = weakref.WeakKeyDictionary()  # DataLoader -> its number
        self.alike = {}  # key of torch_options._alike() -> [_Earlier, ...]


# DataLoader -> places.callers() when it was made. Not in _Process, since a forked child may iterate
# over a loader that its parent made.
places = weakref.WeakKeyDictionary()

_current = _Process()
_generations = itertools.count()  # next() on it is atomic


def process():
    global _current
    if _current.pid != os.getpid():
        _current = _Process()
    return _current


def next_generation():
    """The next number: 1, 2, ..., 65535, then 1 again."""
    return next(_generations) % 65535 + 1


NEW, KNOWN, MADE_ANEW = range(3)


class _Earlier:
    """Weak references to a loader that was iterated over, and to its iterator."""

    __slots__ = ("loader", "number", "iterators")

    def __init__(self, loader, number):
        self.loader = weakref.ref(loader)
        self.number = number
        self.iterators = []

    def is_gone(self):
        """Whether the loader is gone, and each of its iterators is gone or at its end. A program may keep an iterator
        and drop its loader."""
        if self.loader() is not None:
            return False
        iterators = (reference() for reference in self.iterators)
        return all(one is None or getattr(one.__dict__.get("_penstock"), "ended", True) for one in iterators)


def loader_index(loader, alike=None, iterator=None):
    """(number, NEW | KNOWN | MADE_ANEW) of a loader. Loaders are numbered 0, 1, ... in the order of their first
    iteration. If an earlier loader with the same `alike` is gone, this loader takes over its number and counts as made
    anew. `iterator`: the loader's iterator, if it has one already."""
    here = process()
    number, state = here.loaders, NEW
    try:
        known = here.indices.get(loader)
        if known is not None:
            number, state = known, KNOWN
        earlier = here.alike.setdefault(alike, []) if alike is not None else []
        if state == NEW and alike is not None:
            gone = next((one for one in earlier if one.is_gone()), None)
            if gone is not None:
                number, state = gone.number, MADE_ANEW
                earlier.remove(gone)
            earlier.append(_Earlier(loader, number))
        for one in earlier:
            if iterator is not None and one.number == number:
                one.iterators = [old for old in one.iterators if old() is not None] + [weakref.ref(iterator)]
        here.indices[loader] = number
    except TypeError:  # not hashable, or without weak references
        pass
    here.loaders += state == NEW
    return number, state


def first_time(what, number):
    """True at the first call for this `what` of this loader in this process."""
    seen = process().seen
    if (what, number) in seen:
        return False
    seen.add((what, number))
    return True
