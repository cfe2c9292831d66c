# SPDX-License-Identifier: Apache-2.0
"""A DataLoader over JPEG files with Pillow, as short as it gets: train.py FOLDER [WORKERS]."""
import os
import sys
import time

import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, folder):
        self.paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        picture = Image.open(self.paths[index]).convert("RGB").resize((64, 64))
        return torch.from_numpy(numpy.array(picture))


def main():
    folder, workers = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    if not os.path.isdir(folder):
        os.makedirs(folder)
        for number in range(240):
            noise = numpy.random.RandomState(number).randint(0, 255, (240, 320, 3), dtype=numpy.uint8)
            Image.fromarray(noise).save(os.path.join(folder, "%03d.jpg" % number))
    for _ in DataLoader(Pictures(folder), batch_size=8, num_workers=workers):
        time.sleep(0.001)


if __name__ == "__main__":
    main()
