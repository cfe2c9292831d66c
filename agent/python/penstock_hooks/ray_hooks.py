# SPDX-License-Identifier: Apache-2.0
"""Ray Data: records the training loop over batches, and the program's functions that Ray's worker processes apply to
rows.

Ray pickles the program's functions by value, so they stay as they are. A worker gives each function its rows, or
batches of rows, through a generator of ours: the time from a row to the function's answer is a span. The span of the
first function of a row is `sample`; the spans of later functions are `augment`. No worker knows which batch of the loop
a row will be in, so the spans have no batch.
"""
import threading

from penstock_hooks import wire
from penstock_hooks.bridge import begin, end, intern
from penstock_hooks.foreign import Loop, is_program
from penstock_hooks.wrapping import replace


class _Here(threading.local):
    calls = 0  # of the program's functions on this thread


_here = _Here()


def _inside(function, name):
    """The value of a variable that a nested function uses; None if it uses no variable of that name."""
    code = getattr(function, "__code__", None)
    if code is None or name not in code.co_freevars:
        return None
    return function.__closure__[code.co_freevars.index(name)].cell_contents


def _label(transform):
    """The name of the program's function, which Ray wraps in two functions of its own."""
    function = getattr(transform, "_fn", None)
    function = _inside(_inside(function, "fn"), "udf") or function
    return getattr(function, "__name__", None) or type(function).__name__


class _Calls:
    """The calls of one function in one task of Ray: a span from each item that it takes to its next result."""

    __slots__ = ("_name", "_stage", "_token", "_thread")

    def __init__(self, name):
        self._name, self._stage, self._token = name, wire.SAMPLE, 0
        self._thread = threading.get_ident()

    def _end(self):
        token, self._token = self._token, 0
        if token:
            end(token)

    def fed(self, items):
        """Hands on the items that the function takes. Spans that begin while an item is asked for belong to earlier
        functions."""
        items = iter(items)
        while True:
            self._end()
            before = _here.calls
            try:
                item = next(items)
            except StopIteration:
                return
            if threading.get_ident() == self._thread:  # functions of asyncio are called on a thread of their own
                if _here.calls != before:
                    self._stage = wire.AUGMENT
                _here.calls += 1
                self._token = begin(self._stage, self._name)
            yield item
            del item

    def over(self, results):
        """Hands on the results of the function."""
        try:
            results = iter(results)
            while True:
                try:
                    result = next(results)
                except StopIteration:
                    return
                self._end()
                yield result
                del result
        finally:
            self._end()


def _make_apply(original):
    def _apply_transform(self, ctx, inputs, *args, **kwargs):
        try:
            calls = _Calls(intern(_label(self))) if self._input_type.name != "Block" else None
        except Exception:
            calls = None
        if calls is None:
            return original(self, ctx, inputs, *args, **kwargs)
        return calls.over(original(self, ctx, calls.fed(inputs), *args, **kwargs))

    return _apply_transform


def _facts(iterable):
    make = iterable.iterator_gen
    yield "batch_size", _inside(make, "batch_size")
    yield "drop_last", _inside(make, "drop_last")
    yield "prefetch_factor", _inside(make, "prefetch_batches")


def _batches(inner, loop):
    try:
        while True:
            try:
                batch = loop.take(next, inner)
            except StopIteration:
                return
            yield batch
            del batch
    finally:
        loop.finish()
        inner.close()


def _make_iter(original):
    def __iter__(self):
        inner = original(self)
        try:
            if not hasattr(inner, "close") or not is_program():
                return inner
            loop = Loop("ray.data", self, _facts, anew=True)
        except Exception:
            return inner
        return _batches(inner, loop)

    return __iter__


def patch(module):
    """`module`: ray.data.iterator, or Ray Data's map_transformer, which its workers import."""
    if module.__name__ == "ray.data.iterator":
        if hasattr(module, "_IterableFromIterator"):
            replace(module._IterableFromIterator, "__iter__", _make_iter)
    elif hasattr(module.MapTransformFn, "_apply_transform"):
        replace(module.MapTransformFn, "_apply_transform", _make_apply)
