# SPDX-License-Identifier: Apache-2.0
"""Pillow: opening, decoding and converting are `decode`; geometry and filters are `augment`.

Image.open reads only the header; ImageFile.load later decodes the tiles to pixels. The hooks never cause an image to
load.
"""
from penstock_hooks import wire
from penstock_hooks.bridge import begin, end, intern
from penstock_hooks.forwarding import like
from penstock_hooks.wrapping import replace, spanned

_DECODE, _AUGMENT = wire.DECODE, wire.AUGMENT
_BYTES = {"1": 1, "L": 1, "P": 1, "LA": 2, "PA": 2, "I;16": 2, "RGB": 3, "HSV": 3, "LAB": 3, "YCbCr": 3,
          "RGBA": 4, "CMYK": 4, "I": 4, "F": 4}  # fmt: skip


def pixel_bytes(image):
    try:
        width, height = image.size
        return width * height * _BYTES.get(image.mode, 4)
    except Exception:
        return 0


# Does not use __dict__: asking an instance for it makes every later access to its attributes
# slower.
_HAS_TILES = """
try:
    _due = SELF.tile
except AttributeError:
    _due = None
"""
# WebP decodes a whole frame in its own load(). Afterwards the image has one tile of raw pixels.
_HAS_FRAME = """
_due = getattr(SELF, "_WebPImageFile__loaded", 0) != getattr(SELF, "_WebPImageFile__logical_frame", 0)
"""
_LOAD = """if not _due:
    return CALL
_token = _begin(_stage, _name)
_count = 0
try:
    _result = CALL
    if _token:
        _count = _size(SELF)
    return _result
finally:
    _end(_token, _count)
"""


def _loading(is_due):
    """For `replace`: puts a span around load() if `is_due` says that it will decode."""

    def make(original):
        return like(
            original, is_due + _LOAD, _stage=_DECODE, _name=intern("PIL.load"), _size=pixel_bytes
        )

    return make


def _make_convert(original):
    name = intern("PIL.convert")

    def convert(self, mode=None, *args, **kwargs):
        from_file = hasattr(self, "tile")
        if not from_file and (mode == self.mode or mode is None):
            if args or kwargs:
                return original(self, mode, *args, **kwargs)
            return original(self, mode)
        # For an image from a file, convert() is the last step of decoding. It copies all pixels even if the mode stays
        # the same (which takes a quarter of the time to decode a megapixel). For an image that was made from another
        # image, it is a transform.
        token = begin(_DECODE if from_file else _AUGMENT, name)
        count = 0
        try:
            result = original(self, mode, *args, **kwargs)
            if token:
                count = pixel_bytes(result)
            return result
        finally:
            end(token, count)

    return convert


def patch(module):
    name = module.__name__
    if name == "PIL.Image":
        replace(module, "open", spanned(_DECODE, "PIL.open"))
        image = module.Image
        replace(image, "convert", _make_convert)
        for method in ("resize", "crop", "transpose", "rotate", "filter", "transform"):
            replace(image, method, spanned(_AUGMENT, "PIL." + method, pixel_bytes))
        replace(image, "thumbnail", spanned(_AUGMENT, "PIL.thumbnail"))
    elif name == "PIL.ImageFile":
        replace(module.ImageFile, "load", _loading(_HAS_TILES))
    elif name == "PIL.AvifImagePlugin":
        replace(module.AvifImageFile, "load", _loading(_HAS_TILES))
    else:
        replace(module.WebPImageFile, "load", _loading(_HAS_FRAME))
