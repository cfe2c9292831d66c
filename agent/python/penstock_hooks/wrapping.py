# SPDX-License-Identifier: Apache-2.0
"""Replacing functions of other libraries, and the small tools that all patches share."""
import functools
import gc
import sys
import types

from penstock_hooks import digests, wire
from penstock_hooks.bridge import begin, end, intern
from penstock_hooks.forwarding import like

_MARK = "__penstock__"


def is_ours(function):
    return getattr(function, _MARK, False) is True


class _Builtin:
    """Replaces a builtin function of a module. If a class of the program has a Python function as an attribute, the
    function becomes a method. A builtin does not become a method, and an object of this class does not either."""

    def __reduce__(self):
        return self.__qualname__  # makes pickle store the name, as for a builtin

    def __repr__(self):
        return repr(self.__wrapped__)


def _as_builtin(wrapper):
    setattr(wrapper, _MARK, True)  # for transforms.adopt(), which looks at the class
    return type("builtin_function_or_method", (_Builtin,), {"__call__": staticmethod(wrapper)})()


def replace(owner, name, make):
    """Sets owner.name = make(original), once. Keeps name, doc and signature of the original.

    If `owner` is a class, it must have or inherit the attribute; a staticmethod stays a staticmethod. If `owner` is a
    type written in C, only methods of its own are replaced, in the type's dictionary.
    """
    original = getattr(owner, name, None)
    if original is None or is_ours(original):
        return
    wrapper = make(original)
    if isinstance(original, types.BuiltinFunctionType) and not isinstance(owner, type):
        wrapper = _as_builtin(wrapper)
    functools.update_wrapper(wrapper, original)
    setattr(wrapper, _MARK, True)
    if isinstance(owner, type) and isinstance(owner.__dict__.get(name), staticmethod):
        wrapper = staticmethod(wrapper)
    try:
        setattr(owner, name, wrapper)
    except TypeError:
        _put_into_closed_type(owner, name, original, wrapper)


def _put_into_closed_type(kind, name, original, wrapper):
    """Replaces a method in the type's dictionary, where the interpreter looks it up. Tells the
    interpreter that the type has changed, so that it forgets the cached method. Operators cannot be replaced in this
    way, since the interpreter does not look them up there."""
    attributes = next((known for known in gc.get_referents(kind.__dict__) if type(known) is dict), None)
    if attributes is None or attributes.get(name) is not original or name[:2] == "__":
        return
    import ctypes

    attributes[name] = wrapper
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


class TypeNames(dict):
    """A dict: names[kind] is the id of the name of the class `kind`, interned on first use."""

    def __missing__(self, cls):
        value = self[cls] = intern(cls.__name__)
        return value


_SPAN = """
_token = _begin(_stage, _name)
try:
    return CALL
finally:
    _end(_token)
"""
_SIZED_SPAN = """
_token = _begin(_stage, _name)
_count = 0
try:
    _result = CALL
    if _token:
        _count = _size(_result)
    return _result
finally:
    _end(_token, _count)
"""
_NOTED_SPAN = """
_token = _begin(_stage, _name)
_trail = _enter(None) if _chosen else None
_count = 0
try:
    _result = CALL
    if _token and _size is not None:
        _count = _size(_result)
    if _trail is not None:
        _leave(_trail, _name, _result)
    return _result
finally:
    _end(_token, _count)
"""


def harmless(size):
    """Wraps the argument `size` of spanned(), so that it returns 0 bytes instead of raising."""

    @functools.wraps(size)
    def measured(result):
        try:
            return size(result)
        except Exception:
            return 0

    return measured


def spanned(stage, label, size=None):
    """For `replace`: puts a span of `stage` around a plain function. `size(result)` gives its bytes."""

    def make(original):
        if stage == wire.AUGMENT:
            return like(original, _NOTED_SPAN, _stage=stage, _name=intern(label), _size=size)
        if size is None:
            return like(original, _SPAN, _stage=stage, _name=intern(label))
        return like(original, _SIZED_SPAN, _stage=stage, _name=intern(label), _size=size)

    return make


def stepped(stage, label, size):
    """For `replace`: puts a span around each step of the generator that a function returns.

    `size(item)` gives the bytes of a step's item.
    """

    def make(original):
        name = intern(label)

        def steps(inner):
            try:
                while True:
                    token = begin(stage, name)
                    count = 0
                    try:
                        item = next(inner)
                        if token:
                            count = size(item)
                    except StopIteration:
                        return
                    finally:
                        end(token, count)
                    yield item
                    del item  # so that the item is not kept alive while the next one is made
            finally:
                inner.close()

        def generating(*args, **kwargs):
            inner = original(*args, **kwargs)
            return steps(inner) if hasattr(inner, "close") else inner

        return generating

    return make


def array_bytes(result):
    """Bytes of a numpy array; 0 for anything else."""
    try:
        return int(result.nbytes)
    except Exception:
        return 0


def payload_bytes(data, budget=16):
    """Bytes of the tensors and arrays in a batch. Looks at no more than about `budget` objects, so the result is too
    small for a batch with more objects. The program's own __getattr__, __torch_function__ and dict.values() are not
    called."""
    try:
        return _walk(data, [budget])
    except Exception:
        return 0


def _walk(data, budget):
    budget[0] -= 1
    if budget[0] < 0:
        return 0
    kind = type(data)
    if kind is list or kind is tuple:
        total = 0
        for item in data:
            total += _walk(item, budget)
            if budget[0] <= 0:
                break
        return total
    if kind is int or kind is float or kind is str or kind is bytes or data is None:
        return len(data) if kind is bytes else 0
    if issubclass(kind, dict):
        return _walk(list(dict.values(data)), budget)
    if issubclass(kind, tuple):
        return _walk(tuple.__getitem__(data, slice(None)), budget)
    torch = sys.modules.get("torch")
    if issubclass(kind, getattr(torch, "Tensor", ())):
        return _tensor_bytes(data, kind, torch)
    size = _attribute(data, kind, "element_size")
    if size is not None:
        return data.numel() * size()
    size = _attribute(data, kind, "nbytes")
    return size if type(size) is int else 0


def _attribute(data, kind, name):
    """The attribute's value. None if there is no such attribute, or if a __getattr__ of the program might have to
    compute it."""
    if hasattr(kind, "__getattr__") and not hasattr(kind, name):
        return None
    return getattr(data, name, None)


def _tensor_bytes(tensor, kind, torch):
    if kind.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:  # the program's code might compute its size
        return 0
    with unseen(torch):
        return torch.Tensor.numel(tensor) * torch.Tensor.element_size(tensor)


def unseen(torch):
    """A context that hides calls from torch-function modes and from subclasses of Tensor. Raises if a mode is active
    and this PyTorch cannot hide calls from it."""
    core = torch._C
    if not hasattr(core, "DisableTorchFunctionSubclass") and core._len_torch_function_stack():
        raise RuntimeError("before PyTorch 2.0 a mode sees every call")
    return core.DisableTorchFunction()
