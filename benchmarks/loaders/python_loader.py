#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""penstock.Loader in Python: RandomResizedCrop 224, flip, normalise, float16 CHW."""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parents[1] / "python"))
import common  # noqa: E402


def batches(loader):
    while True:
        for images, _ in loader:
            assert tuple(images.shape[1:]) == (3, 224, 224)
            yield len(images)


def main():
    options = common.parse(__doc__, lambda parser: parser.add_argument("--build", help="build folder"))
    if options.build:
        os.environ["PENSTOCK_BUILD"] = options.build
    import penstock

    loader = penstock.Loader(str(options.data), batch=options.batch, workers=options.workers, output="f16",
                             ops="random_resized_crop=224,flip,normalize")
    common.measure(batches(loader), options.seconds)


if __name__ == "__main__":
    main()
