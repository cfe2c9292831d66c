# SPDX-License-Identifier: Apache-2.0
"""Digests of some samples. From them the analyzer sees whether epochs repeat each other.

Some indices of the dataset are chosen, the same in every epoch and process. For each of their samples, a digest of the
finished sample is recorded, and a digest of the result of each outermost transform. No data is kept, and no code of the
program is called. A digest covers only builtin types, tensors in host memory, arrays and decoded pictures; of a large
one it covers some thousand places. A sample that holds anything else has no digest.
"""
import ctypes
import os
import sys
from _thread import get_ident
from time import thread_time_ns
from zlib import crc32

from penstock_hooks import wire
from penstock_hooks.bridge import event
from penstock_hooks.forwarding import shared

_ELEMENTS = 1024  # of an array or tensor
_SIDE = 32  # of a picture: 32 x 32 pixels
_NODES = 512  # containers and values of a sample
_DEPTH = 6
_ENTRIES = 32  # transforms of a sample

_FULL = 3 << 32  # see pick()
_ALWAYS = 16  # smaller indices are chosen as long as there is time
_ALLOWANCE = 16000000  # ns of CPU time that a process may spend in any case
_SHARE = 2000  # in addition, 1/_SHARE of the time that fetching takes
_TRANSPARENT = frozenset(("Compose", "Sequential"))  # their parts are looked at instead


class _Budget:
    """Limits the CPU time for digests to some 16 ms and a two-thousandth of the time that fetching takes."""

    __slots__ = ("pid", "full", "limit", "spent", "fetched")

    def __init__(self):
        self.pid = os.getpid()
        self.full = self.limit = _FULL
        self.spent = self.fetched = 0

    def begin(self, generation):
        """To be called when an epoch begins. Later epochs choose fewer samples, for two reasons: the first epochs tell
        most, and each epoch may have new workers, which do not know how much time earlier workers spent."""
        self.full = _FULL >> (0 if generation < 16 else 2 if generation < 64 else 4)
        self.settle()

    def fetch(self, ns):
        """Counts the time of a fetch."""
        self.fetched += ns
        if self.limit < self.full:
            self.settle()

    def settle(self):
        """Chooses fewer indices if too much time was spent: a subset of the indices that were chosen before."""
        allowed = _ALLOWANCE + self.fetched // _SHARE
        if self.spent > allowed:  # the fourth power: samples that cost ten times as much end at 1.6 times the share
            self.limit = int(self.full * (allowed / self.spent) ** 4)
        else:
            self.limit = self.full


_budget = _Budget()


def budget():
    global _budget
    if _budget.pid != os.getpid():
        _budget = _Budget()
    return _budget


class _Trail:
    """Digests of what the transforms return for the chosen sample that a thread is making."""

    __slots__ = ("entries", "inside")

    def __init__(self):
        self.entries = []
        self.inside = False


chosen = {}  # thread -> its trail; empty except while a chosen sample is made


def pick(index):
    """Whether the sample of this index is looked at.

    The number of samples is not known, since the dataset's __len__ may open files. The first 16 indices are chosen; a
    later index is chosen with probability 3 / (index + 1). So 18 of 32 are chosen, 29 of a thousand, 50 of a million.
    """
    mixed = (index * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF) >> 32
    return mixed * (3 if index < _ALWAYS else index + 1) < _budget.limit


def start():
    """Begins a trail on this thread; returns what finish() needs."""
    budget()
    thread = get_ident()
    before = chosen.get(thread)
    chosen[thread] = trail = _Trail()
    return thread, trail, before


def stop(state):
    """Ends the trail, also of a sample that failed."""
    thread, _, before = state
    if before is None:
        chosen.pop(thread, None)
    else:  # the dataset iterates over another loader
        chosen[thread] = before


def finish(state, index, generation, sample):
    """Records the digests of a sample that is finished."""
    try:
        began = thread_time_ns()
        key = index & 0x7FFFFFFF
        for name, value in state[1].entries:
            _tell(key, generation, name, value)
        _tell(key, generation, 0, digest(sample))
        here = budget()
        here.spent += thread_time_ns() - began
        here.settle()
    except Exception:  # without digests nothing is suggested; the program goes on
        pass


def finish_all(indices, generation, samples, number_of):
    """Records the digests of samples that a dataset makes several at a time. The results of transforms are not
    noted."""
    try:
        if type(samples) is not list or type(indices) is not list or len(samples) != len(indices):
            return
        for index, sample in zip(indices, samples):
            number = number_of(index)
            if number >= 0 and pick(number):
                finish((0, _Trail(), None), number, generation, sample)
    except Exception:
        pass


def _tell(key, generation, name, value):
    """Writes one digest. `name`: of the transform; 0: the digest is that of the finished sample."""
    value = value << 32 | name
    event(wire.DIGEST, key, generation, value - (1 << 64) if value >> 63 else value)


def enter(kind):
    """Called when a transform begins in a chosen sample. Returns the trail if the transform's result is to be noted."""
    trail = chosen.get(get_ident())
    if trail is None or trail.inside or (kind is not None and kind.__name__ in _TRANSPARENT):
        return None
    trail.inside = True
    return trail


def leave(trail, name, result):
    """Notes the result of an outermost transform. After a transform that failed, no more results are noted."""
    began = thread_time_ns()
    trail.inside = False
    if len(trail.entries) < _ENTRIES:
        trail.entries.append((name, digest(result) if result is not None else 0))
    _budget.spent += thread_time_ns() - began


shared.update(_chosen=chosen, _enter=enter, _leave=leave)


def digest(value):
    """A digest of 32 bits; 0 if this value has none."""
    try:
        return _add(value, 0, [_NODES], _DEPTH) or 1
    except Exception:
        return 0


class _Unknown(Exception):
    pass


def _add(value, crc, nodes, depth):
    nodes[0] -= 1
    if nodes[0] < 0 or depth < 0:
        raise _Unknown
    kind = type(value)
    if value is None or kind is int or kind is float or kind is bool or kind is complex:
        return crc32(repr(value).encode(), crc)
    if kind is str:
        return _add_bytes(value.encode("utf-8", "surrogatepass"), crc32(b"s", crc))
    if kind is bytes or kind is bytearray:
        return _add_bytes(value, crc32(b"b", crc))
    if kind is list or kind is tuple or (issubclass(kind, tuple) and "_fields" in kind.__dict__):
        return _add_all(tuple.__getitem__ if kind is not list else list.__getitem__, value,
                        tuple.__len__(value) if kind is not list else len(value), crc, nodes, depth)  # fmt: skip
    if kind is dict or (issubclass(kind, dict) and kind.__module__ == "collections"):
        crc = crc32(b"d%d" % dict.__len__(value), crc)
        for key, item in list(dict.items(value)):
            if type(key) is not str and type(key) is not int:
                raise _Unknown
            crc = _add(item, crc32(repr(key).encode("utf-8", "surrogatepass"), crc), nodes, depth - 1)
        return crc
    return _add_array(value, kind, crc)


def _add_bytes(value, crc):
    size = len(value)
    crc = crc32(b"%d" % size, crc)
    if size <= 4 * _ELEMENTS:
        return crc32(value, crc)
    return crc32(memoryview(value)[:: size // (4 * _ELEMENTS) | 1].tobytes(), crc)


def _add_all(at, value, size, crc, nodes, depth):
    """Adds the elements of a list or tuple, or every n-th of a long one."""
    crc = crc32(b"l%d" % size, crc)
    for place in range(0, size, size // 128 + 1):
        crc = _add(at(value, place), crc, nodes, depth - 1)
    return crc


def _every(shape):
    """Slices that select some thousand elements of an array."""
    steps = [1] * len(shape)
    counts = list(shape)
    total = 1
    for size in shape:
        total *= size
    while total > _ELEMENTS:
        most = counts.index(max(counts))
        steps[most] *= 2
        total = total // counts[most]
        counts[most] = -(-shape[most] // (steps[most] | 1))
        total *= counts[most]
    return tuple([slice(None, None, step | 1 if step > 1 else 1) for step in steps])


def _add_array(value, kind, crc):
    modules = sys.modules
    package = type.__getattribute__(kind, "__module__").partition(".")[0]
    if package == "torch" or package == "torchvision":
        torch = modules["torch"]
        if kind is torch.Tensor or (package == "torchvision" and issubclass(kind, torch.Tensor)):
            return _add_tensor(value, torch, crc)
    elif package == "numpy":
        numpy = modules["numpy"]
        if kind is numpy.ndarray and not value.dtype.hasobject:
            crc = crc32(repr((value.dtype.str, value.shape)).encode(), crc)
            if value.size > _ELEMENTS and value.flags.c_contiguous and not value.dtype.names:
                value = value.reshape(-1)[:: value.size // _ELEMENTS | 1]
            else:
                value = value[_every(value.shape)]
            return crc32(value.tobytes(), crc)
        if issubclass(kind, numpy.generic) and not value.dtype.hasobject:
            return crc32(value.tobytes(), crc32(value.dtype.str.encode(), crc))
    elif package == "PIL":
        image = modules["PIL.Image"]
        if issubclass(kind, image.Image):
            return _add_picture(value, image, crc)
    raise _Unknown


_UNITS = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32, 8: ctypes.c_uint64}

_arrays = {}  # (unit, size) -> type, kept since making a type takes longer than all the rest


def _array_of(unit, size):
    try:
        return _arrays[unit, size]
    except KeyError:
        if len(_arrays) > 64:
            _arrays.clear()
        kind = _arrays[unit, size] = unit * size
        return kind


def _add_tensor(tensor, torch, crc):
    """Adds a tensor by its memory, or by a copy of some elements. Tensor.numpy() is avoided, since afterwards the
    program could not resize the tensor."""
    core = torch._C
    modes = getattr(core, "_len_torch_dispatch_stack", None)
    if modes is not None and modes():
        raise _Unknown
    if not hasattr(core, "DisableTorchFunctionSubclass") and core._len_torch_function_stack():
        raise _Unknown  # torch 1.13: the program's torch-function modes would see our calls
    with core.DisableTorchFunction():
        if not tensor.is_cpu or tensor.layout is not torch.strided or tensor.is_quantized:
            raise _Unknown  # quint4x2 has two elements in a byte, which element_size() does not say
        shape = tuple(tensor.shape)
        crc = crc32(repr((str(tensor.dtype), shape)).encode(), crc)
        unit, size = _UNITS.get(tensor.element_size()), tensor.numel()
        is_lazy_copy = getattr(core, "_is_cow_tensor", None)  # asking such a tensor for its address copies it
        if size and not (is_lazy_copy and is_lazy_copy(tensor)):
            address = tensor.data_ptr()
            if not address:  # the program has freed the memory: untyped_storage().resize_(0)
                raise _Unknown
            if unit and tensor.is_contiguous():
                memory = memoryview(_array_of(unit, size).from_address(address))
                return crc32(memory[:: size // _ELEMENTS | 1].tobytes(), crc)
        part = torch.Tensor.detach(tensor)[_every(shape)].clone(memory_format=torch.contiguous_format)
        if part.dtype is torch.bfloat16:
            part = part.view(torch.int16)
        return crc32(part.numpy().tobytes(), crc)


def _add_picture(picture, image, crc):
    """Adds a picture, unless its pixels are not loaded yet."""
    try:
        if picture.tile:
            raise _Unknown
    except AttributeError:
        pass
    core, mode, (width, height) = picture.im, picture.mode, picture.size
    if core is None or width < 1 or height < 1:
        raise _Unknown
    size = min(width, _SIDE), min(height, _SIDE)
    small = core.resize(size, 0, (0, 0, width, height))
    encoder = image._getencoder(mode, "raw", (mode, 0, 1))
    encoder.setimage(small, (0, 0) + size)
    content = encoder.encode(8 * size[0] * size[1] + 64)[2]
    return crc32(content, crc32(repr((mode, width, height)).encode(), crc))
