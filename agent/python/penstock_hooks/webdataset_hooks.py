# SPDX-License-Identifier: Apache-2.0
"""webdataset: records the samples of a pipeline that makes its own batches, the pipeline's Decoder, and the functions
that it maps.

A stage of a pipeline is a generator function. It is curried when the pipeline is built, and pickled by name. So it is
replaced both under its name and inside the object that curries it.
"""
import sys

from penstock_hooks import wire
from penstock_hooks.bridge import end, intern
from penstock_hooks.pil import pixel_bytes
from penstock_hooks.tasks import named
from penstock_hooks.torch_fetch import next_sample
from penstock_hooks.torch_state import local
from penstock_hooks.wrapping import payload_bytes, replace


class _Samples:
    """The iterator from which a batching stage takes its samples, inside a fetch of torch's DataLoader. `samples` is
    iterated over only after the stage has asked for an iterator, for its first batch."""

    __slots__ = ("_samples", "_name", "_sequence")

    def __init__(self, samples):
        self._samples = samples
        self._name = intern("webdataset")
        self._sequence = 0

    def __iter__(self):
        self._samples = iter(self._samples)
        return self

    def __next__(self):
        progress = local.progress
        if progress is None:
            return next(self._samples)
        token, sample = next_sample(self._samples, self._name, progress, self._sequence)
        end(token, 0, 1)
        self._sequence += 1
        progress.inner += 1
        return sample


def _stage(change):
    """For `replace`: `change` returns the samples and the other arguments with which a stage runs. If it fails, the
    stage runs with its original arguments."""

    def make(original):
        def stage(data, *args, **kwargs):
            try:
                source, positional, by_name = change(data, args, kwargs)
            except Exception:
                return original(data, *args, **kwargs)
            return original(source, *positional, **by_name)

        return stage

    return make


def _batched(data, args, kwargs):
    """`change` for batched(size, collation_fn, partial)."""
    if len(args) > 1:
        args = (args[0], named(wire.COLLATE, args[1])) + args[2:]
    else:
        collate = kwargs.get("collation_fn", sys.modules["webdataset.filters"].default_collation_fn)
        kwargs = dict(kwargs, collation_fn=named(wire.COLLATE, collate))
    return _Samples(data), args, kwargs


def _decoded_bytes(sample):
    """Bytes of the pictures, tensors and arrays in a sample. Fields that are still bytes are left out: they were not
    decoded."""
    total = 0
    for field in sample.values():
        if hasattr(field, "getbands"):
            total += pixel_bytes(field)
        elif type(field) is not bytes:
            total += payload_bytes(field)
    return total


def _map(data, args, kwargs):
    function = args[0]
    if type(function).__name__ == "Decoder":
        function = named(wire.DECODE, function, _decoded_bytes)
    else:
        function = named(wire.AUGMENT, function)
    return data, (function,) + args[1:], kwargs


def _map_tuple(data, args, kwargs):
    return data, tuple([named(wire.AUGMENT, each) for each in args]), kwargs


def _map_dict(data, args, kwargs):
    changed = {key: each if key == "handler" else named(wire.AUGMENT, each) for key, each in kwargs.items()}
    return data, args, changed


_CHANGES = {"_batched": _batched, "_map": _map, "_map_tuple": _map_tuple, "_map_dict": _map_dict}


def patch(module):
    """`module`: webdataset.filters."""
    for name, change in _CHANGES.items():
        original = getattr(module, name, None)
        if original is None:
            continue
        replace(module, name, _stage(change))
        for curried in list(vars(module).values()):
            if type(curried).__name__ == "RestCurried" and getattr(curried, "f", None) is original:
                curried.f = getattr(module, name)
