# SPDX-License-Identifier: Apache-2.0
"""Measures the CPU time of the agent's digests of samples, as a share of the time of fetching, for
some datasets.

Run it under the agent:

    PENSTOCK_OUT=digests.penstock LD_PRELOAD=$PWD/build/release/lib/libpenstock_agent.so \
        /usr/bin/python3 -B benchmarks/digest_cost.py

The hooks count both times themselves (penstock_hooks.digests.budget()). There are no workers, so one
process knows both times. Pictures are JPEG files of noise and smooth shapes, 500x375; the other datasets need
no files.
"""
import argparse
import os
import sys
import tempfile

import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms


class Pictures(Dataset):
    """16 files, used again and again, with ImageNet's usual transforms."""

    def __init__(self, directory, count):
        self.paths, self.count = [], count
        numbers = numpy.random.default_rng(1)
        for index in range(16):
            coarse = Image.fromarray(numbers.integers(0, 256, (16, 21, 3), dtype=numpy.uint8))
            pixels = numpy.asarray(coarse.resize((500, 375)), dtype=numpy.int16)
            pixels = numpy.clip(pixels + numbers.integers(-6, 7, pixels.shape), 0, 255).astype(numpy.uint8)
            self.paths.append(os.path.join(directory, "%d.jpg" % index))
            Image.fromarray(pixels).save(self.paths[-1], quality=90)
        mean = (0.5, 0.5, 0.5)
        self.chain = transforms.Compose(
            [transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
             transforms.Normalize(mean, mean)])  # fmt: skip

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.chain(Image.open(self.paths[index % 16]).convert("RGB")), index % 10


class Small(Dataset):
    """CIFAR in memory: 32x32, one transform."""

    def __init__(self, count):
        self.data = numpy.random.default_rng(1).integers(0, 256, (count, 32, 32, 3), dtype=numpy.uint8)
        self.chain = transforms.ToTensor()

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return self.chain(Image.fromarray(self.data[index])), index % 10


class Tokens(Dataset):
    """Rows of 512 tokens."""

    def __init__(self, count):
        self.rows = torch.randint(0, 50000, (count, 512))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return {"input_ids": self.rows[index], "labels": index % 2}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=3)
    epochs = parser.parse_args().epochs
    digests = sys.modules.get("penstock_hooks.digests")
    if digests is None:
        sys.exit("not under the agent")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as directory:
        for name, data in (("pictures", Pictures(directory, 100)), ("pictures", Pictures(directory, 1000)),
                           ("32x32", Small(50000)), ("tokens", Tokens(100000))):  # fmt: skip
            budget = digests._budget = digests._Budget()
            for _ in range(epochs):
                for _ in DataLoader(data, batch_size=32, shuffle=True):
                    pass
            samples = len(data) * epochs
            print("%-9s %6d samples, %d epochs: %.1f us a sample, digests %.2f ms of %.0f ms: %.4f %%" % (
                name, len(data), epochs, budget.fetched / samples / 1e3, budget.spent / 1e6, budget.fetched / 1e6,
                100 * budget.spent / budget.fetched))  # fmt: skip


if __name__ == "__main__":
    main()
