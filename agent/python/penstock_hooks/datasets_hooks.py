# SPDX-License-Identifier: Apache-2.0
"""Hugging Face datasets: taking rows out of a mapped Arrow table is `read`, decoding its features
is `decode`.

A mapped file is read by touching its memory, so hooks on read() do not see it. A `read` span has the bytes of its rows.
A `decode` span has the bytes of its picture's pixels.
"""
from penstock_hooks import wire
from penstock_hooks.pil import pixel_bytes
from penstock_hooks.wrapping import array_bytes, replace, spanned

_FEATURES = ("Image", "Audio", "Video", "Pdf", "Nifti")


def _feature_bytes(result):
    return pixel_bytes(result) if hasattr(result, "getbands") else 0


def patch(module):
    """`module`: datasets.formatting.formatting, or a module of datasets.features."""
    if module.__name__ == "datasets.formatting.formatting":
        replace(module, "query_table", spanned(wire.READ, "datasets.query_table", array_bytes))
        return
    for name in _FEATURES:
        kind = getattr(module, name, None)
        if kind is not None and kind.__module__ == module.__name__:
            replace(kind, "decode_example", spanned(wire.DECODE, "datasets." + name, _feature_bytes))
