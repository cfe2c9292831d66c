# SPDX-License-Identifier: Apache-2.0
"""sets.py DATA: makes the files that the public training programs share from the pictures in DATA/pictures.

epoch/ has each picture TIMES times, as links NAME.jpg, NAME~1.jpg ... The rate of a short epoch would be measured up to
a quarter higher than the cores allow, since queues and workers hold batches that were made ahead.

held.raw and held.json are the decoded pictures, for programs with free decoding; masks/ has a mask of classes
for each picture, for segmentation. Needs numpy and Pillow.
"""
import json
import pathlib
import sys

import numpy
from PIL import Image


def mask_of(pixels):
    """A mask with two classes by brightness. Reading it is as much work as reading any other mask."""
    grey = numpy.asarray(Image.fromarray(pixels).convert("L").resize((pixels.shape[1] // 8, pixels.shape[0] // 8)))
    small = Image.fromarray((grey > 110).astype(numpy.uint8))
    return small.resize((pixels.shape[1], pixels.shape[0]), Image.NEAREST)


TIMES = 8  # 240 pictures make 120 batches of 16


def link_epoch(data):
    for path in sorted((data / "pictures").glob("*/*.jpg")):
        folder = data / "epoch" / path.parent.name
        folder.mkdir(parents=True, exist_ok=True)
        for copy in range(TIMES):
            link = folder / (path.stem + ("~%d" % copy if copy else "") + ".jpg")
            if not link.is_symlink():
                link.symlink_to(path.resolve())


def main():
    data = pathlib.Path(sys.argv[1])
    link_epoch(data)
    done = data / "held.json"
    if done.exists():
        return
    masks = data / "masks"
    masks.mkdir(exist_ok=True)
    places, offset = {}, 0
    with open(data / "held.raw", "wb") as held:
        for path in sorted((data / "pictures").glob("*/*.jpg")):
            with Image.open(path) as image:
                pixels = numpy.asarray(image.convert("RGB"))
            if path.name in places:
                sys.exit(f"sets: two pictures have the name {path.name}")
            places[path.name] = (offset, pixels.shape[1], pixels.shape[0])
            held.write(pixels.tobytes())
            offset += pixels.nbytes
            mask_of(pixels).save(masks / (path.stem + ".png"))
    done.write_text(json.dumps(places), encoding="ascii")


if __name__ == "__main__":
    main()
