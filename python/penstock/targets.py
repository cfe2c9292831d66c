# SPDX-License-Identifier: Apache-2.0
"""Masks and boxes that share the crop, the resize and the flips of their pictures: penstock.Loader(targets=...).

    from penstock import targets

    def masks(samples):
        return targets.crop_masks(samples, [read(path) for path in samples.paths], fill=255)

    for images, masks in penstock.Loader("images/", ops="random_resized_crop=512,flip,normalize", targets=masks):
        ...

Needs NumPy. Sizes, places and boxes are pixels of the picture; (0, 0) is the upper left corner of the first pixel.
"""
from typing import Any, Callable, List, NamedTuple, Sequence, Tuple, Union

__all__ = ["Boxes", "Samples", "crop_boxes", "crop_masks"]

_COLUMNS = 12  # of PenstockGeometry, loader/capi/penstock_loader.h


def require_numpy() -> Any:
    try:
        import numpy
    except ImportError:
        raise ValueError("targets= needs NumPy: pip install numpy") from None
    return numpy


class Samples:
    """The samples of a batch, and the way from each picture to its output. First the rectangle `crop` of the picture
    was resized to `scaled`. Then a window of the output's `size` was kept of the result. Then the window was flipped.
    With padding, crop and window may reach beyond the pixels that they are taken from. There are zeros outside.

    NumPy arrays, which stay valid:
    ids:     [n] int64, indices in the source, from 0. A replaced sample has the id of the sample in its place.
    labels:  [n] int64, -1 if a sample has none.
    picture: [n][2] int32, height and width, after the EXIF orientation if the loader applies it.
    crop:    [n][4] int32, top, left, height and width in the picture.
    scaled:  [n][2] int32, height and width; those of the crop if nothing was resized.
    window:  [n][2] int32, top and left in the resized crop.
    flip:    [n][2] int32, 1 if top and bottom were swapped; 1 if left and right were swapped.
    size:    (height, width) of the output.
    """

    def __init__(self, ids: Any, labels: Any, geometry: Any, size: Tuple[int, int], names: Callable[[Any], List[str]]):
        self.ids = ids
        self.labels = labels
        self.size = size
        self._geometry = geometry
        self._names = names
        self.picture = geometry[:, 0:2]
        self.crop = geometry[:, 2:6]
        self.scaled = geometry[:, 6:8]
        self.window = geometry[:, 8:10]
        self.flip = geometry[:, 10:12]

    @classmethod
    def of_batch(cls, block: Any, samples: int, facts: Any, names: Callable[[Any], List[str]]) -> "Samples":
        """The samples of a batch of the library. `names` gives the paths of ids."""
        np = require_numpy()

        def column(dtype, offset, count):
            return np.frombuffer(block, dtype, count, offset).copy()

        geometry = column(np.int32, facts.geometry_offset, samples * _COLUMNS).reshape(samples, _COLUMNS)
        ids, labels = column(np.int64, facts.ids_offset, samples), column(np.int64, facts.labels_offset, samples)
        return cls(ids, labels, geometry, (facts.height, facts.width), names)

    @property
    def paths(self) -> List[str]:
        """The file of each sample. For a sample in a tar it is "TAR:MEMBER", in a packed file the member."""
        return self._names(self.ids.tolist())

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, which: Union[int, slice]) -> "Samples":
        """The samples of a slice, or sample i alone."""
        if not isinstance(which, slice):
            which = slice(which, which + 1 or None)
        return Samples(self.ids[which], self.labels[which], self._geometry[which], self.size, self._names)

    def __repr__(self) -> str:
        return "<penstock.targets.Samples: %d of %d x %d>" % (len(self), *self.size)


class Boxes(NamedTuple):
    """The boxes of one sample that can be seen. boxes: [k][4] float32, left, top, right and bottom in pixels of the
    output; kept: [k] int64, their indices among the boxes that were given; visible: [k] float32, the share of each
    box's area that can be seen, above 0 and at most 1."""

    boxes: Any
    kept: Any
    visible: Any


def _places(np, picture, begin, crop, scaled, first, size, flip):
    """For each of `size` pixels of the output along an axis: the place of the pixel of the picture into which its
    centre falls, or -1 if that is outside. Computed as in Pillow and "nearest-exact": floor((at + 1/2) crop / scaled)."""
    at = np.arange(first, first + size, dtype=np.int64)
    if flip:
        at = at[::-1]
    place = begin + (2 * at + 1) * crop // (2 * scaled)
    return np.where((at >= 0) & (at < scaled) & (place >= 0) & (place < picture), place, -1)


def crop_masks(samples: Samples, masks: Sequence[Any], fill: float = 0) -> Any:
    """Crops, resizes and flips masks as their pictures, by the nearest pixel. `fill` stands where there is no picture.

    Shapes: masks: for each sample an array [...][height][width], with the height and width of its picture. All have
    one dtype and the same dimensions in front. Returns [n][...][height][width]. If each sample has its own number of
    instances, take them one by one: crop_masks(samples[i], [mask])[0].
    """
    np = require_numpy()
    masks = [np.asarray(mask) for mask in masks]
    _same_number(samples, masks, "masks")
    front = masks[0].shape[:-2] if masks else ()
    made = np.empty((len(masks), *front, *samples.size), masks[0].dtype if masks else np.uint8)
    for i, mask in enumerate(masks):
        if mask.shape[-2:] != tuple(samples.picture[i]):
            raise ValueError(
                "the mask of %s has the shape %s, its picture %d x %d pixels"
                % (samples[i].paths[0], list(mask.shape), *samples.picture[i])
            )
        if mask.shape[:-2] != front or mask.dtype != made.dtype:
            raise ValueError(
                "masks of %s %s and %s %s cannot be one array: crop_masks(samples[i], [mask]) for each"
                % (made.dtype, list(masks[0].shape), mask.dtype, list(mask.shape))
            )
        rows, columns = (
            _places(np, samples.picture[i, a], samples.crop[i, a], samples.crop[i, 2 + a], samples.scaled[i, a],
                    samples.window[i, a], samples.size[a], samples.flip[i, a])
            for a in (0, 1))  # fmt: skip
        # Rows first, since whole rows are copied fast.
        np.take(np.take(mask, rows, axis=-2), columns, axis=-1, out=made[i], mode="wrap")
        made[i][..., rows < 0, :] = fill
        made[i][..., :, columns < 0] = fill
    return made


def crop_boxes(samples: Samples, boxes: Sequence[Any], least: float = 0.0) -> List[Boxes]:
    """Clips, scales and flips boxes as their pictures. Leaves out boxes that cannot be seen, and boxes that can
    be seen to less than the share `least` of their area.

    Shapes: boxes: for each sample [k][4]: left, top, right and bottom in pixels of its picture, k from 0 on.
    """
    np = require_numpy()
    boxes = [np.asarray(one, np.float64).reshape(-1, 4) for one in boxes]
    _same_number(samples, boxes, "boxes")
    made = []
    for i, of_sample in enumerate(boxes):
        # By axis, x before y: a box is [[left, right], [top, bottom]].
        sides = of_sample.reshape(-1, 2, 2).transpose(0, 2, 1)
        order = [1, 0]
        begin, crop = samples.crop[i, order].astype(np.float64), samples.crop[i, [3, 2]]
        scaled, window, flip = samples.scaled[i, order], samples.window[i, order], samples.flip[i, order]
        size = np.array(samples.size)[order]
        sides = (sides - begin[:, None]) * (scaled / crop)[:, None] - window[:, None]
        whole = np.prod(sides[:, :, 1] - sides[:, :, 0], axis=1)
        low, high = np.maximum(0, -window), np.minimum(size, scaled - window)
        sides = np.clip(sides, low[:, None], np.maximum(low, high)[:, None])
        seen = np.prod(sides[:, :, 1] - sides[:, :, 0], axis=1)
        visible = np.divide(seen, whole, out=np.zeros_like(whole), where=whole > 0)
        sides = np.where(flip[:, None] == 1, size[:, None] - sides[:, :, ::-1], sides)
        kept = np.flatnonzero((visible > 0) & (visible >= least))
        cropped = sides.transpose(0, 2, 1).reshape(-1, 4)
        made.append(Boxes(cropped[kept].astype(np.float32), kept, visible[kept].astype(np.float32)))
    return made


def _same_number(samples, given, what):
    if len(given) != len(samples):
        raise ValueError("%d %s for %d samples: one for each" % (len(given), what, len(samples)))
