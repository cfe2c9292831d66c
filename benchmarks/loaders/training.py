#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The demo's training with its own DataLoader or with penstock.Loader, everything else being the same.

  benchmarks/paired_runs.py --pairs 10 --a "benchmarks/loaders/training.py torchvision --data D --batches 200" \\
      --b "benchmarks/loaders/training.py penstock --data D --batches 200"

Further options are those of scripts/demo/train.py, which prints the rate. penstock.Loader gives float32 in CHW, as
torchvision's transforms do; both crop at random, flip and normalise. PENSTOCK_BUILD names the build folder.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts/demo"), str(ROOT / "python")]
import train  # noqa: E402


class Batches:
    """Yields `count` batches, as many as the demo takes from its sampler. The last pass over the data may be cut."""

    def __init__(self, loader, count):
        self.loader, self.count = loader, count

    def __iter__(self):
        left = self.count
        while left > 0:
            for batch in self.loader:
                yield batch
                left -= 1
                if left == 0:
                    break


def fast_loader(options):
    import penstock

    loader = penstock.Loader(options.data, batch=options.batch, workers=options.workers, seed=options.seed,
                             output="f32", drop_last=True, ops=f"random_resized_crop={options.size},flip,normalize")
    return Batches(loader, options.batches), len(loader.classes)


def main(arguments):
    if not arguments or arguments[0] not in ("torchvision", "penstock"):
        sys.exit(__doc__)
    if arguments[0] == "penstock":
        train.make_loader = fast_loader
    train.train(train.parse(arguments[1:]))


if __name__ == "__main__":
    main(sys.argv[1:])
