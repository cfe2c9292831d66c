# SPDX-License-Identifier: Apache-2.0
"""pictures.py DIR: makes the small photo-like JPEG files that the programs load. Needs numpy and Pillow."""

import pathlib
import sys

import numpy
from common import SAMPLES
from PIL import Image

SIZES = ((300, 200), (200, 300), (320, 240), (256, 256), (333, 187))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    random = numpy.random.default_rng(1)
    for index in range(SAMPLES):
        width, height = SIZES[index % len(SIZES)]
        coarse = random.integers(0, 256, (height // 24, width // 24, 3), dtype=numpy.uint8)
        smooth = Image.fromarray(coarse).resize((width, height), Image.BICUBIC)
        pixels = numpy.asarray(smooth, dtype=numpy.int16) + random.integers(-6, 7, (height, width, 3))
        path = folder / f"picture{index:03d}.jpg"
        Image.fromarray(numpy.clip(pixels, 0, 255).astype(numpy.uint8)).save(path, quality=90)


if __name__ == "__main__":
    main()
