# SPDX-License-Identifier: Apache-2.0
"""Spans around functions of the program that a library calls: functions that are mapped, submitted to a pool or used as
steps of a pipeline."""
import functools
import numbers
import os

from penstock_hooks import wire
from penstock_hooks.bridge import begin, end, intern
from penstock_hooks.torch_fetch import sample_id
from penstock_hooks.torch_state import local
from penstock_hooks.wrapping import is_ours

_NO_BATCH = (-1, 0)
_BEGINS = (numbers.Integral, str, bytes, os.PathLike)


def _label(function):
    while isinstance(function, functools.partial):
        function = function.func
    return intern(getattr(function, "__name__", None) or type(function).__name__)


def named(stage, function, size=None):
    """Wraps `function` in a span of `stage` under its own name. `size(result)` gives its bytes.

    If `function` cannot be called, or its calls are recorded already, it is returned unchanged.
    """
    if not callable(function) or is_ours(function) or is_ours(getattr(type(function), "__call__", None)):
        return function
    name = _label(function)

    def spanned(*args, **kwargs):
        token = begin(stage, name)
        count = 0
        try:
            result = function(*args, **kwargs)
            if token and size is not None:
                count = _bytes(size, result)
            return result
        finally:
            end(token, count)

    return spanned


def _bytes(size, result):
    try:
        return int(size(result))
    except Exception:
        return 0


def stage_of(item):
    """The stage of a pipeline step that is given `item`.

    An index, a name or raw bytes begin a sample. A list is a batch to be collated. Any other item is a sample that an
    earlier step has begun, so the step is `augment`.
    """
    first = item[0] if type(item) is tuple and item else item
    try:
        if isinstance(first, _BEGINS):
            return wire.SAMPLE
    except Exception:  # the item may be a proxy that raises
        pass
    return wire.COLLATE if type(item) is list else wire.AUGMENT


def on_item(function):
    """Wraps a function of one item in a span of the stage that fits the item."""
    if not callable(function) or is_ours(function):
        return function
    name = _label(function)

    def step(item):
        stage = stage_of(item)
        number = sample_id(item) if stage == wire.SAMPLE else -1
        if number >= 0:  # if this thread waits for a batch, the sample belongs to that batch
            batch, generation = getattr(local.waiting, "batch", _NO_BATCH)
            token = begin(stage, name, number, batch, generation)
        else:
            token = begin(stage, name)
        try:
            return function(item)
        finally:
            end(token)

    return step
