# SPDX-License-Identifier: Apache-2.0
"""A DataLoader over a dataset that makes each sample by a loop in Python: python_loop.py SAMPLES WORKERS."""
import sys
import time

import numpy
import torch
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms


def make_edges(pixels):
    height, width = pixels.shape
    edges = numpy.zeros((height, width), dtype=numpy.float32)
    for y in range(1, height):
        for x in range(1, width):
            edges[y, x] = abs(int(pixels[y, x]) - int(pixels[y, x - 1])) + abs(int(pixels[y, x]) - int(pixels[y - 1, x]))
    return edges


class Pictures(Dataset):
    def __init__(self, count):
        self.pixels = numpy.random.default_rng(1).integers(0, 255, (32, 32), dtype=numpy.uint8)
        self.count = count
        self.finish = transforms.Compose([transforms.ToTensor()])

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        pixels = numpy.roll(self.pixels, index)
        edges = make_edges(pixels)
        return self.finish(edges)[0], index % 10


def main():
    samples, workers = map(int, sys.argv[1:3])
    total = 0.0
    weight = torch.zeros(32, 32)
    for pixels, label in DataLoader(Pictures(samples), batch_size=8, num_workers=workers):
        weight += (pixels * label[:, None, None]).sum(0)
        total += float(pixels.sum())
        time.sleep(0.002)
    print("%.3f %.3f" % (total, float(weight.sum())))


main()
