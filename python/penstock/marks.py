# SPDX-License-Identifier: Apache-2.0
"""Marks of a program in its own recording. traces/markers.h is the same for C and C++.

    with penstock.mark("tokenise"):       # a span of that name
        ...

    @penstock.mark("collate")             # one for each call
    def collate(samples): ...

    for i, batch in enumerate(my_own_loader):
        penstock.batch(i)                 # the program has got batch i
        with penstock.step():             # what it does with it
            ...

Under `penstock record` they go to the agent in the process. Elsewhere they do nothing, in under 100 ns.
"""
import ctypes
import functools
import itertools
import os
import sys
import time
from threading import get_ident

__all__ = ["batch", "mark", "recording", "step"]

clock = time.perf_counter

_DEFERS = 0x20 | 0x80 | 0x100 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ITERABLE_COROUTINE, CO_ASYNC_GENERATOR

_STEP, _MARK = 14, 16  # stages of traces/wire_records.h
# First number for epochs of batch(), and how many there are. The Python hooks count theirs from 1, and the loader's
# begin at 0x4000.
_FIRST_EPOCH, _EPOCHS = 0x2000, 0x2000


def _agent():
    """The functions of the preloaded agent; None if there is none."""
    try:
        function = ctypes.PyDLL(None).penstock_python_bridge
    except (AttributeError, OSError):
        return None
    function.restype, function.argtypes = ctypes.py_object, ()
    try:
        return function()
    except Exception:  # it is not ready for this interpreter
        return None


_bridge = _agent()
_numbers = itertools.count()


class _Nothing:
    """A mark when nothing is recorded. __enter__ and __exit__ are builtins that ignore their arguments, since a Python
    function takes twice the time. __exit__ returns an empty dict, which is false, so exceptions pass."""

    __slots__ = ()
    __enter__ = object.__init_subclass__
    __exit__ = type.__prepare__

    def __call__(self, function):
        return function


_NOTHING = _Nothing()


class _Mark:
    """A span for the time of a `with` block, or of a call of the decorated function. `with` blocks of one mark may
    nest, and several threads may use it."""

    __slots__ = ("_name", "_stage", "_open")

    def __init__(self, stage, name):
        self._stage = stage
        self._name = _bridge["intern"](name)
        self._open = {}  # thread: the tokens of its open blocks

    def __enter__(self):  # returns nothing, as without an agent
        token = _bridge["begin"](self._stage, self._name)
        self._open.setdefault(get_ident(), []).append(token)

    def __exit__(self, *_):
        tokens = self._open.get(get_ident())
        if tokens:
            _bridge["end"](tokens.pop())
        return False

    def __call__(self, function):
        # The call of such a function only makes an object; the work follows later. So the function is returned
        # unchanged, and frameworks still see its kind.
        if getattr(getattr(function, "__code__", None), "co_flags", 0) & _DEFERS:
            return function
        begin, end, stage, name = _bridge["begin"], _bridge["end"], self._stage, self._name

        @functools.wraps(function)
        def marked(*args, **kwargs):
            token = begin(stage, name)
            try:
                return function(*args, **kwargs)
            finally:
                end(token)

        return marked


if _bridge is None:

    def mark(name):
        """A span called `name`: a context manager, and a decorator of functions."""
        return _NOTHING

    def step():
        """The program's step on the batch that it has got: a context manager, and a decorator of functions."""
        return _NOTHING

    def batch(index, epoch=0):
        """The program has got batch `index` of `epoch`, both from 0: for loops whose loader Penstock does not know."""

    def recording():
        """Whether a recording of this process is on."""
        return False

    def loader_number(loader):
        return 0

    def tell_loader(number):
        pass

else:

    def mark(name):
        """A span called `name`: a context manager, and a decorator of functions."""
        return _Mark(_MARK, name)

    def step():
        """The program's step on the batch that it has got: a context manager, and a decorator of functions."""
        return _Mark(_STEP, "step")

    def batch(index, epoch=0):
        """The program has got batch `index` of `epoch`, both from 0: for loops whose loader Penstock does not know."""
        try:
            generation = _FIRST_EPOCH + int(epoch) % _EPOCHS
        except Exception:  # `epoch` is no number, which raises nothing without an agent either
            generation = _FIRST_EPOCH
        _bridge["delivered"](index, generation)
        _bridge["context"](-1, index, generation)

    def recording():
        """Whether a recording of this process is on."""
        return bool(_bridge["recording"]())

    def loader_number(loader):
        """The number of a penstock.Loader in the recording. It is counted together with PyTorch's loaders if the
        agent's hooks are in this process."""
        try:
            from penstock_hooks.torch_state import loader_index
        except ImportError:
            return next(_numbers)
        return loader_index(loader)[0]

    def tell_loader(number):
        """Writes which line of the program made the loader."""
        here = os.path.dirname(os.path.abspath(__file__))
        frame = sys._getframe(1)
        while frame is not None and os.path.dirname(_file(frame)) == here:
            frame = frame.f_back
        if frame is not None:
            _bridge["fact"]("loader.%d.made_at" % number, "%s:%d" % (_file(frame), frame.f_lineno))

    def _file(frame):
        name = frame.f_code.co_filename
        return name if name.startswith("<") else os.path.abspath(name)  # <string> is no file: it has no folder
