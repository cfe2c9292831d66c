# SPDX-License-Identifier: Apache-2.0
"""One run of PyTorch's DataLoader, as validate.py asks for it; prints one JSON object.

By default a sample sleeps, for a time that depends on its index alone. `--seed` shuffles the order, so
repeats run the same samples in another order. With `--jpeg FOLDER` a sample decodes and resizes a file
instead; with `--work NAME --files FOLDER` it does the work that real_work.py has under that name.
"""
import argparse
import json
import os
import time

import numpy
import torch
from torch.utils.data import DataLoader, Dataset


def services(name, count, mean):
    """Random seconds for each sample; their mean is exactly `mean`."""
    random = numpy.random.default_rng(11)
    if name == "constant":
        drawn = numpy.ones(count)
    elif name == "exponential":
        drawn = random.exponential(1.0, count)
    elif name == "lognormal":  # coefficient of variation 1
        drawn = random.lognormal(0.0, numpy.sqrt(numpy.log(2.0)), count)
    else:  # bimodal: 6 % of the samples take 40 times as long
        drawn = numpy.where(random.permutation(count) < 0.06 * count, 40.0, 1.0)
    return drawn * (mean / drawn.mean())


class Sleeping(Dataset):
    def __init__(self, name, count, mean):
        self.seconds = services(name, count, mean)

    def __len__(self):
        return len(self.seconds)

    def __getitem__(self, index):
        time.sleep(float(self.seconds[index]))
        return torch.zeros(8)


class Pictures(Dataset):
    def __init__(self, folder, count):
        names = sorted(name for name in os.listdir(folder) if name.endswith(".jpg"))
        self.paths = [os.path.join(folder, names[index % len(names)]) for index in range(count)]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        from PIL import Image

        torch.set_num_threads(1)
        with Image.open(self.paths[index]) as image:
            pixels = numpy.asarray(image.convert("RGB").resize((224, 224), Image.BILINEAR))
        return torch.from_numpy(pixels.copy())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--services", default="constant", choices=("constant", "exponential", "lognormal", "bimodal"))
    parser.add_argument("--mean-ms", type=float, default=5.0, help="of one sample's service")
    parser.add_argument("--jpeg", metavar="FOLDER")
    parser.add_argument("--work", help="a name of real_work.WORKS")
    parser.add_argument("--files", metavar="FOLDER", help="with the files of real_work.make_files()")
    for name in ("workers", "prefetch", "batch", "batches", "seed"):
        parser.add_argument("--" + name, type=int, required=True)
    parser.add_argument("--step-ms", type=float, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    count = options.batch * options.batches
    if options.jpeg:
        dataset = Pictures(options.jpeg, count)
    elif options.work:
        import real_work

        dataset = real_work.dataset(options.work, options.files, count)
    else:
        dataset = Sleeping(options.services, count, options.mean_ms * 1e-3)
    depth = {"prefetch_factor": options.prefetch} if options.workers else {}
    loader = DataLoader(dataset, options.batch, shuffle=True, num_workers=options.workers,
                        generator=torch.Generator().manual_seed(options.seed), **depth)  # fmt: skip
    waited, delivered = 0.0, []
    began = asked = time.monotonic()
    for _ in loader:
        delivered.append(time.monotonic())
        if len(delivered) > 1:
            waited += delivered[-1] - asked
        if options.step_ms:
            time.sleep(options.step_ms * 1e-3)
        asked = time.monotonic()
    # Leaves out the first batches, which come while the queues fill; the analyzer leaves them out too. Also leaves
    # out the last ones, since the queues empty: workers have begun these batches earlier and begin no others.
    queued = options.workers * options.prefetch
    first = min(max(1, queued), len(delivered) // 4)
    last = len(delivered) - 1 - min(queued, len(delivered) // 4)
    steady = (last - first) / (delivered[last] - delivered[first])
    print(json.dumps({"rate": steady * options.batch, "whole": len(delivered) * options.batch / (asked - began),
                      "wait": waited / (delivered[-1] - delivered[0]), "load": os.getloadavg()[0]}))  # fmt: skip


if __name__ == "__main__":
    main()
