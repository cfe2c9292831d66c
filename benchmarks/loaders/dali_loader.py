#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA DALI's CPU pipeline: fused random-crop decode, resize 224, flip, normalise, float16 CHW."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common  # noqa: E402

import numpy as np  # noqa: E402
from nvidia.dali import fn, pipeline_def, types  # noqa: E402


@pipeline_def
def loading(folder):
    files, _ = fn.readers.file(file_root=folder, random_shuffle=True, name="reader")
    images = fn.decoders.image_random_crop(files, device="cpu", output_type=types.RGB)
    images = fn.resize(images, resize_x=224, resize_y=224)  # antialiased, linear
    return fn.crop_mirror_normalize(
        images, mirror=fn.random.coin_flip(), dtype=types.FLOAT16, output_layout="CHW",
        mean=[255 * value for value in common.MEAN], std=[255 * value for value in common.DEVIATION])


def batches(pipeline):
    while True:
        (images,) = pipeline.run()
        array = images.as_array()
        assert array.dtype == np.float16 and array.shape[1:] == (3, 224, 224)
        yield len(array)


def main():
    options = common.parse(__doc__)
    pipeline = loading(str(options.data), batch_size=options.batch, num_threads=options.workers,
                       device_id=None, prefetch_queue_depth=2)
    pipeline.build()
    common.measure(batches(pipeline), options.seconds)


if __name__ == "__main__":
    main()
