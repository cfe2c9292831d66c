# SPDX-License-Identifier: Apache-2.0
"""Operations of the loader as objects, under torchvision's names: penstock.Loader(ops=[...]).

    ops=[RandomResizedCrop(224), RandomHorizontalFlip(), Normalize()]

means ops="random_resized_crop=224:...,flip:p=0.5,normalize:...". str() of an operation is its text. Each operation does
the same as torchvision's for tensors, unless its docstring says otherwise. Sizes are pixels: an int (a square) or
(height, width). `interpolation`: "nearest", "bilinear" or "bilinear_noaa" (without antialiasing).
"""

from typing import Iterable, Optional, Sequence, Tuple, Union

__all__ = [
    "CenterCrop",
    "ColorJitter",
    "Cutout",
    "Flip",
    "GaussianBlur",
    "GridMask",
    "Hsv",
    "Normalize",
    "Operation",
    "RandomCrop",
    "RandomErasing",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomVerticalFlip",
    "Resize",
    "render",
]

Size = Union[int, Sequence[int]]
Pair = Tuple[float, float]


def _number(value: float) -> str:
    if float(value).is_integer():
        return "%d" % value
    text = repr(float(value))
    return text if "e" not in text else ("%.20f" % value).rstrip("0")  # an exponent's sign looks like a range


def _size(size: Size) -> str:
    if isinstance(size, int):
        return str(size)
    height, width = size
    return "%dx%d" % (height, width)


def _range(pair: Union[float, Pair]) -> str:
    return "-".join(map(_number, pair)) if isinstance(pair, (tuple, list)) else _number(pair)


def _list(values: Iterable[float]) -> str:
    return ",".join(map(_number, values))


class Operation:
    """One operation; str() gives its text in `--ops`."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "%s<%s>" % (type(self).__name__, self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Operation) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


class Resize(Operation):
    """Resizes the short side to `size` and the other in proportion, or both if `size` is (height, width)."""

    def __init__(self, size: Size, interpolation: str = "bilinear") -> None:
        super().__init__("resize=%s:%s" % (_size(size), interpolation))


class RandomResizedCrop(Operation):
    """Takes a random part with `scale` of the area and a `ratio` of width to height, and resizes it to `size`."""

    def __init__(
        self, size: Size, scale: Pair = (0.08, 1.0), ratio: Pair = (0.75, 4 / 3), interpolation: str = "bilinear"
    ) -> None:
        super().__init__(
            "random_resized_crop=%s:scale=%s:ratio=%s:%s" % (_size(size), _range(scale), _range(ratio), interpolation)
        )


class CenterCrop(Operation):
    """Takes the middle, with zeros where the picture is smaller."""

    def __init__(self, size: Size) -> None:
        super().__init__("center_crop=%s" % _size(size))


class RandomCrop(Operation):
    """Takes a part at a random place, after adding `padding` zeros on each side. Smaller pictures are padded."""

    def __init__(self, size: Size, padding: int = 0) -> None:
        super().__init__("random_crop=%s:padding=%d" % (_size(size), padding))


class RandomHorizontalFlip(Operation):
    """Swaps left and right with probability `p`."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__("flip:p=%s" % _number(p))


Flip = RandomHorizontalFlip


class RandomVerticalFlip(Operation):
    """Swaps top and bottom with probability `p`."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__("vflip:p=%s" % _number(p))


class RandomRotation(Operation):
    """Rotates about the centre by an angle from (-degrees, degrees), in degrees. The picture keeps its size."""

    def __init__(self, degrees: float, interpolation: str = "nearest", p: float = 1.0) -> None:
        super().__init__("rotate:degrees=%s:%s:p=%s" % (_range(degrees), interpolation, _number(p)))


class ColorJitter(Operation):
    """Changes brightness, contrast, saturation (by factors from 1 - x to 1 + x) and hue (by -x to x, at most 0.5),
    in an order drawn for each sample. A value of 0 leaves that change out."""

    def __init__(
        self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0, p: float = 1.0
    ) -> None:
        super().__init__("color_jitter=%s:p=%s" % (_list((brightness, contrast, saturation, hue)), _number(p)))


class Hsv(Operation):
    """Changes hue, saturation and value together. Not in torchvision."""

    def __init__(self, h: float = 0.015, s: float = 0.7, v: float = 0.4, p: float = 1.0) -> None:
        super().__init__("hsv=%s:p=%s" % (_list((h, s, v)), _number(p)))


class GaussianBlur(Operation):
    """Blurs with a kernel of `kernel_size` (odd) pixels and a sigma drawn from a range."""

    def __init__(self, kernel_size: int, sigma: Pair = (0.1, 2.0), p: float = 1.0) -> None:
        super().__init__("gaussian_blur:kernel=%d:sigma=%s:p=%s" % (kernel_size, _range(sigma), _number(p)))


class RandomErasing(Operation):
    """Sets a rectangle with `scale` of the area to `value`, in units of the output if it comes after Normalize, else
    of 0 to 255."""

    def __init__(
        self, p: float = 0.5, scale: Pair = (0.02, 0.33), ratio: Pair = (0.3, 3.3), value: float = 0.0
    ) -> None:
        super().__init__(
            "cutout:p=%s:scale=%s:ratio=%s:value=%s" % (_number(p), _range(scale), _range(ratio), _number(value))
        )


Cutout = RandomErasing


class GridMask(Operation):
    """Sets a grid of squares to zero. Not in torchvision."""

    def __init__(self, tile: float = 100, ratio: float = 0.5, angle: float = 0, p: float = 1.0) -> None:
        super().__init__(
            "grid_mask:tile=%s:ratio=%s:angle=%s:p=%s" % tuple(map(_number, (tile, ratio, angle, p)))
        )


class Normalize(Operation):
    """(v / 255 - mean) / std for each channel, R G B; the defaults are ImageNet's."""

    def __init__(
        self, mean: Sequence[float] = (0.485, 0.456, 0.406), std: Sequence[float] = (0.229, 0.224, 0.225)
    ) -> None:
        super().__init__("normalize:mean=%s:std=%s" % (_list(mean), _list(std)))


def render(ops: Union[None, str, Operation, Iterable[Operation]]) -> Optional[str]:
    """The text of operations. None (the loader's default) and texts are returned as they are."""
    if ops is None or isinstance(ops, str):
        return ops
    if isinstance(ops, Operation):
        return str(ops)
    return ",".join(map(str, ops))
