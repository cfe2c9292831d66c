# SPDX-License-Identifier: Apache-2.0
"""A training loop whose batches come from another library than torch.utils.data.

The hooks see when the loop asked for a batch, how long it waited, and how long its steps took. They do not see which
thread made a batch, or which samples are in it, so spans of reading and decoding on the library's threads have no
batch. If the iterator turns out to be only a wrapper around torch's DataLoader, the DataLoader's hooks record the loop,
and these hooks record nothing.
"""
from penstock_hooks import stalls, wire
from penstock_hooks.bridge import (
    begin, cancel, context, delivered, emit, end, event, fact, intern, now, role,
)  # fmt: skip
from penstock_hooks.facts import write_affinity
from penstock_hooks.places import callers
from penstock_hooks.torch_state import NEW, local, loader_index, next_generation, process

_MOST_LOADERS = 64
_MOST_EPOCHS = 4096


class Loop:
    """One pass over the batches of one loader."""

    __slots__ = ("_package", "_generation", "_count", "_left_at", "_ended", "_shell", "_number", "_names",
                 "_sized", "_watched")  # fmt: skip

    def __init__(self, package, loader, facts=None, anew=False):
        """`facts(loader)` yields (key, value) for each known property of the loader: num_workers, batch_size, ...
        `anew`: the library makes another loader for each epoch. Loaders that one line of the program made then count as
        one."""
        self._package = package
        self._generation = next_generation()
        self._count = self._left_at = 0
        self._watched = -1  # stalls.forks when the loop was watched last
        self._ended = False
        self._shell = False  # a DataLoader gives the batches, and its hooks record the loop
        self._sized = False  # a fact gives the size of batches
        self._names = tuple(intern(package + what) for what in (".next", ".end", ".step"))
        made_at = next(iter(callers()), None)
        self._number, known = loader_index(loader, (package, made_at) if anew else None)
        here = process()
        if not here.has_role:
            here.has_role = True
            role(wire.CONSUMER, -1)
        if self._generation <= _MOST_EPOCHS:
            fact("epoch.%d" % self._generation, str(self._number))
        if known == NEW and self._number < _MOST_LOADERS:
            write_affinity()
            self._tell("kind", "other")
            self._tell("package", package)
            self._tell("made_at", made_at)
            try:
                for key, value in facts(loader) if facts else ():
                    self._tell(key, value)
            except Exception:
                pass
        event(wire.EPOCH_START, -1, self._generation, 0)

    @property
    def ended(self):
        return self._ended

    @property
    def batch(self):
        """(index, generation) of the batch that the program waits for."""
        return self._count, self._generation

    def _tell(self, key, value):
        if value is not None:
            self._sized = self._sized or key == "batch_size"
            text = ("true" if value else "false") if isinstance(value, bool) else str(value)
            fact("loader.%d.%s" % (self._number, key), text)

    def take(self, call, *args, **kwargs):
        """Makes the call, which returns the next batch or raises StopIteration."""
        if self._shell or local.waiting is not None:
            return call(*args, **kwargs)
        index, generation = self._count, self._generation
        self._end_step()
        event(wire.NEXT_ENTERED, index, generation, 0)
        before = local.delivered
        local.waiting = self
        start = now()
        token = begin(wire.WAIT, self._names[0], -1, index, generation)
        try:
            data = call(*args, **kwargs)
        except StopIteration:
            cancel(token)
            if local.delivered == before:
                emit(wire.WAIT, self._names[1], start, -1, generation, 0)
            self.finish()
            raise
        except BaseException:
            end(token)
            raise
        finally:
            local.waiting = None
        if local.delivered != before:
            cancel(token)
            self._shell = True
        else:
            end(token)
            self._deliver(index)
            if index == 0:
                self._describe(data)
        return data

    def _end_step(self):
        if self._left_at:
            emit(wire.STEP, self._names[2], self._left_at, self._count - 1, self._generation, 0)
            self._left_at = 0

    def _deliver(self, index):
        self._count += 1
        delivered(index, self._generation)
        context(-1, index, self._generation)
        # By the second batch the program has made its threads, and calls that need a single thread are over.
        if index >= 1 and self._watched != stalls.forks:
            self._watched = stalls.forks
            stalls.watch()
        self._left_at = now()

    def _describe(self, data):
        try:
            length = batch_length(data)
            if length and not self._sized and self._number < _MOST_LOADERS:
                self._tell("batch_size", length)
        except Exception:
            pass

    def finish(self):
        """To be called when the loop has had all batches, or has begun another pass."""
        if not self._ended:
            self._ended = True
            if not self._shell:
                self._end_step()
                event(wire.EPOCH_END, -1, self._generation, self._count)
                context(-1, -1, 0)


def batch_length(data, depth=3):
    """Number of samples in a batch: the first dimension, if all of its arrays and lists share it, else 0."""
    shape = getattr(data, "shape", None)
    if shape is not None:
        try:
            return int(shape[0]) if len(shape) else 0
        except (TypeError, ValueError):
            return 0
    if depth and isinstance(data, dict):
        return _shared([batch_length(value, depth - 1) for value in data.values()])
    if depth and isinstance(data, (list, tuple)):
        inside = [batch_length(value, depth - 1) for value in data[:64]]
        if not any(inside) or (isinstance(data, list) and _alike(data)):
            return len(data)  # samples, not the parts of a batch; a tuple such as (input, target) has parts
        return _shared(inside)
    return 0


def _alike(data):
    """Whether `data` is several arrays of one shape, such as pictures."""
    shapes = {tuple(getattr(value, "shape", ())) for value in data[:64]}
    return len(data) > 1 and len(shapes) == 1 and len(shapes.pop()) > 1


def _shared(sizes):
    known = {size for size in sizes if size}
    return known.pop() if len(known) == 1 else 0


def next_hook(package, owner=None, facts=None, applies=None):
    """For `replace`: hooks `__next__` of an iterator. `owner(iterator)` is the loader that it
    belongs to. If `applies()` is false, the call is left alone."""

    def make(original):
        def __next__(self):
            loop = getattr(self, "_penstock", None)
            if applies is not None and not applies():
                return original(self)
            if loop is None or loop.ended:
                loop = open_loop(self, package, owner, facts)
                if loop is None:
                    return original(self)
            return loop.take(original, self)

        return __next__

    return make


def open_loop(iterator, package, owner, facts):
    """The loop over a new iterator; None inside next() of another iterator, or in a DataLoader's worker."""
    try:
        if not is_program():
            return None
        loop = iterator._penstock = Loop(package, owner(iterator) if owner else iterator, facts)
    except Exception:
        return None
    return loop


def is_program():
    """Whether the program's own code makes this call, and not a dataset or another iterator."""
    return not process().is_worker and local.waiting is None and local.progress is None
