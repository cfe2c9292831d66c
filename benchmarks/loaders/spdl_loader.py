#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Meta's SPDL: threads that decode, crop, scale and flip with FFmpeg, then normalise to float16 CHW.

FFmpeg's filter decodes whole pictures. The crop is drawn as in torchvision, clipped to the picture.
Needs FFmpeg's libraries (Debian: libavdevice59).
"""

import math
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common  # noqa: E402

import numpy as np  # noqa: E402
from spdl import io as spdl_io  # noqa: E402
from spdl.pipeline import PipelineBuilder  # noqa: E402

# 8-bit values are normalised by a table of 256 float16 values for each channel.
TABLES = [((np.arange(256) / 255 - mean) / deviation).astype(np.float16)
          for mean, deviation in zip(common.MEAN, common.DEVIATION)]


def endless(paths):
    order = list(paths)
    while True:
        random.shuffle(order)
        yield from order


def load(path):
    area, ratio = random.uniform(0.08, 1), math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
    crop = (f"crop=w='min(iw,sqrt({area}*iw*ih*{ratio}))':h='min(ih,sqrt({area}*iw*ih/{ratio}))':"
            f"x='(iw-ow)*{random.random()}':y='(ih-oh)*{random.random()}'")
    flip = ",hflip" if random.random() < 0.5 else ""
    image = spdl_io.load_image(
        path, filter_desc=f"{crop},scale=224:224:flags=bilinear{flip},format=rgb24")
    pixels = spdl_io.to_numpy(image)
    return np.stack([table[pixels[:, :, c]] for c, table in enumerate(TABLES)])


def batches(pipeline):
    with pipeline.auto_stop():
        for images in pipeline:
            assert images.dtype == np.float16 and images.shape[1:] == (3, 224, 224)
            yield len(images)


def main():
    options = common.parse(__doc__.splitlines()[0])
    pipeline = (PipelineBuilder()
                .add_source(endless(common.files(options.data)))
                .pipe(load, concurrency=options.workers)
                .aggregate(options.batch)
                .pipe(np.stack)
                .add_sink(2)
                .build(num_threads=options.workers + 1))
    common.measure(batches(pipeline), options.seconds)


if __name__ == "__main__":
    main()
