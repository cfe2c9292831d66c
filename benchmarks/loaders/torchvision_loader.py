#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""torchvision's ImageFolder with a DataLoader: RandomResizedCrop 224, flip, normalise, float16 CHW."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common  # noqa: E402

import torch  # noqa: E402
import torchvision  # noqa: E402
from torchvision import transforms  # noqa: E402


class Endless(torch.utils.data.Sampler):
    """Random orders without an end, so that no epoch ends while the clock runs."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        while True:
            yield from torch.randperm(self.count).tolist()


def to_half(tensor):
    return tensor.half()


def batches(loader):
    for images, _ in loader:
        assert images.dtype == torch.float16 and images.shape[1:] == (3, 224, 224)
        yield len(images)


def main():
    options = common.parse(__doc__)
    torch.set_num_threads(1)
    steps = transforms.Compose([
        transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
        transforms.Normalize(common.MEAN, common.DEVIATION), to_half])
    dataset = torchvision.datasets.ImageFolder(str(options.data), steps)
    loader = torch.utils.data.DataLoader(
        dataset, batch_size=options.batch, num_workers=options.workers, sampler=Endless(len(dataset)))
    common.measure(batches(loader), options.seconds)


if __name__ == "__main__":
    main()
