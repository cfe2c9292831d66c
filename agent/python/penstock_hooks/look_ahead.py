# SPDX-License-Identifier: Apache-2.0
"""Loaders that ask the DataLoader for batch n + 1 before they give batch n to the training loop.

accelerate's DataLoaderShard does this to know which batch is the last. Lightning does it for a loader that has no
length. timm's PrefetchLoader copies batch n + 1 to the device before it gives batch n to the loop. The DataLoader's
hooks record when it is asked, and for which batch. The hooks here record each step with the batch that the loop works
on. They also record the last step, which begins after the DataLoader has ended. A step ends when the loop asks again.
Lightning's loop knows that there is no further batch and does not ask, so its last step is not recorded.
"""
import inspect

from penstock_hooks import wire
from penstock_hooks.bridge import context, emit, intern, now
from penstock_hooks.torch_state import local
from penstock_hooks.wrapping import replace

_NOWHERE = (-1, 0)


class LookAhead:
    """One pass over a loader that asks ahead. Meanwhile the DataLoader's hooks call `got` and set `ended`."""

    __slots__ = ("ended", "_last", "_before", "_in_hand", "_left_at", "_outer", "_step")

    def __init__(self):
        self.ended = False  # the DataLoader has no more batches
        self._last = self._before = self._in_hand = _NOWHERE
        self._left_at = 0
        self._outer = None
        self._step = intern("step")

    def got(self, index, generation):
        self._before = self._last
        self._last = (index, generation)
        context(-1, index, generation)  # for the copy of this batch to the device

    def enter(self):
        """To be called when the loop asks for its next batch."""
        if self._left_at:
            emit(wire.STEP, self._step, self._left_at, *self._in_hand, 0)
            self._left_at = 0
        context(-1, *self._last)
        self._outer = local.ahead
        local.ahead = self

    def leave(self, has_batch):
        """To be called when the loop has got its next batch, or there was none."""
        local.ahead = self._outer
        self._outer = None
        if not has_batch:
            context(-1, *_NOWHERE)
            return
        self._in_hand = self._last if self.ended else self._before
        if self._in_hand is not _NOWHERE:
            context(-1, *self._in_hand)
            self._left_at = now()


def _make_iter(original):
    """For `replace`: a generator around the original one."""

    def __iter__(self):
        ahead = LookAhead()
        batches = original(self)
        try:
            while True:
                has_batch = False
                ahead.enter()
                try:
                    batch = next(batches)
                    has_batch = True
                except StopIteration:
                    return
                finally:
                    ahead.leave(has_batch)
                yield batch
                del batch
        finally:
            batches.close()

    return __iter__


def _make_fetcher_iter(original):
    """For `replace`: Lightning's fetcher takes its first batch in __iter__."""

    def __iter__(self):
        self._penstock = None
        ahead = LookAhead()
        ahead.enter()
        try:
            result = original(self)
        finally:
            ahead.leave(False)
        if self.batches:
            self._penstock = ahead
        return result

    return __iter__


def _make_fetcher_next(original):
    def __next__(self):
        ahead = self.__dict__.get("_penstock")
        if ahead is None:
            return original(self)
        has_batch = False
        ahead.enter()
        try:
            result = original(self)
            has_batch = True
            return result
        finally:
            ahead.leave(has_batch)

    return __next__


def patch(module):
    """`module`: accelerate.data_loader, timm.data.loader, or Lightning's loops.fetchers."""
    for name in ("DataLoaderShard", "DataLoaderDispatcher", "PrefetchLoader"):
        kind = getattr(module, name, None)
        if kind is not None and inspect.isgeneratorfunction(kind.__dict__.get("__iter__")):
            replace(kind, "__iter__", _make_iter)
    fetcher = getattr(module, "_PrefetchDataFetcher", None)
    if fetcher is not None:
        replace(fetcher, "__iter__", _make_fetcher_iter)
        replace(fetcher, "__next__", _make_fetcher_next)
