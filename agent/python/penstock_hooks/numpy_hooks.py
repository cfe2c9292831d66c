# SPDX-License-Identifier: Apache-2.0
"""Loading a NumPy file is `decode`. It is not `read`, since the agent's hooks on read() record the
reads inside it."""
import sys

from penstock_hooks import wire
from penstock_hooks.wrapping import array_bytes, replace, spanned


def _loaded_bytes(result):
    """Bytes of what numpy.load returned. A mapped file (mmap_mode) is not read yet: 0."""
    return 0 if type(result).__name__ == "memmap" else array_bytes(result)


def patch(module):
    replace(module, "load", spanned(wire.DECODE, "numpy.load", _loaded_bytes))
    replace(module, "fromfile", spanned(wire.DECODE, "numpy.fromfile", array_bytes))
    for name in ("numpy.lib._npyio_impl", "numpy.lib.npyio"):  # an .npz is read when it is indexed
        archive = getattr(sys.modules.get(name), "NpzFile", None)
        if archive is not None:
            replace(archive, "__getitem__", spanned(wire.DECODE, "numpy.npz", array_bytes))
            break
