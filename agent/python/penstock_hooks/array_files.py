# SPDX-License-Identifier: Apache-2.0
"""Arrays in files of their own formats: HDF5 (h5py) and LMDB.

h5py: a selection of a dataset is `decode` (chunks, filters, conversion); the reads below it are seen
by the agent itself. LMDB's file is mapped, so that its values are `read` by copying them, which only
Python's side sees. Its types are written in C and closed: their methods are exchanged in the
dictionary of the type, where the interpreter looks them up.
"""
import gc

from penstock_hooks import wire
from penstock_hooks.bridge import begin, end, intern
from penstock_hooks.wrapping import array_bytes, is_ours, replace, spanned


def _value_bytes(result):
    """Of a value, a (key, value) pair, or a list of such pairs."""
    try:
        if type(result) is list:
            return sum(len(value) for _, value in result)
        return len(result[1]) if type(result) is tuple else len(result)
    except Exception:
        return 0


def _reader(original, label):
    name = intern(label)

    def read(*args, **kwargs):
        token = begin(wire.READ, name)
        count = 0
        try:
            result = original(*args, **kwargs)
            if token:
                count = _value_bytes(result)
            return result
        finally:
            end(token, count)

    read.__name__, read.__doc__ = original.__name__, original.__doc__
    read.__penstock__ = True
    return read


def _exchange(kind, names):
    """Puts our readers in place of methods of `kind`; a type that is open is changed as usual."""
    attributes = next((known for known in gc.get_referents(kind.__dict__) if type(known) is dict), None)
    for name in names:
        original = kind.__dict__.get(name)
        if original is None or is_ours(original) or not callable(original):
            continue
        reader = _reader(original, "lmdb.%s.%s" % (kind.__name__, name))
        try:
            setattr(kind, name, reader)
        except TypeError:
            if attributes is None or attributes.get(name) is not original:
                return
            attributes[name] = reader
    _forget_lookups(kind)


def _forget_lookups(kind):
    """The interpreter keeps what it found in a type until it is told that the type has changed."""
    import ctypes

    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def _patch_lmdb(module):
    _exchange(module.Transaction, ("get",))
    _exchange(module.Cursor, ("get", "getmulti", "item", "value"))


def patch(module):
    """h5py._hl.dataset, or lmdb."""
    if module.__name__ == "lmdb":
        _patch_lmdb(module)
        return
    replace(module.Dataset, "__getitem__", spanned(wire.DECODE, "h5py.Dataset", array_bytes))
    replace(module.Dataset, "read_direct", spanned(wire.DECODE, "h5py.read_direct"))
