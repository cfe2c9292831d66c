# SPDX-License-Identifier: Apache-2.0
"""Arrays in HDF5 files (h5py), and values in LMDB.

h5py: taking a selection out of a dataset is `decode` (chunks, filters, conversion). The agent's hooks on read() see the
reads that it makes. LMDB's file is mapped, so the agent sees no read of it. Copying a value out of it is recorded as
`read`.
"""
from penstock_hooks import wire
from penstock_hooks.wrapping import array_bytes, replace, spanned


def _value_bytes(result):
    """Bytes of a value, a (key, value) pair, or a list of such pairs."""
    try:
        if type(result) is list:
            return sum(len(value) for _, value in result)
        return len(result[1]) if type(result) is tuple else len(result)
    except Exception:
        return 0


def _patch_lmdb(module):
    for kind, names in ((module.Transaction, ("get",)), (module.Cursor, ("get", "getmulti", "item", "value"))):
        for name in names:
            if name in kind.__dict__:
                replace(kind, name, spanned(wire.READ, "lmdb.%s.%s" % (kind.__name__, name), _value_bytes))


def patch(module):
    """`module`: h5py._hl.dataset, or lmdb."""
    if module.__name__ == "lmdb":
        _patch_lmdb(module)
        return
    replace(module.Dataset, "__getitem__", spanned(wire.DECODE, "h5py.Dataset", array_bytes))
    replace(module.Dataset, "read_direct", spanned(wire.DECODE, "h5py.read_direct"))
