# SPDX-License-Identifier: Apache-2.0
"""The train.py of README.md's commands and of scripts/test_wheel.sh: a DataLoader over JPEG files with Pillow and a
small network on the CPU. Makes its pictures at its first run. Under torchrun, mpirun or srun each process trains a
network of its own."""
import argparse
import os
import tempfile

import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

COUNT = 256


def make_pictures(folder):
    """Makes the folder with all pictures in one step, since several processes may try to make it at once."""
    if os.path.isdir(folder):
        return
    with tempfile.TemporaryDirectory(dir=os.path.dirname(folder)) as made:
        random = numpy.random.RandomState(1)
        for number in range(COUNT):
            small = Image.fromarray(random.randint(0, 255, (12, 16, 3), dtype=numpy.uint8))
            small.resize((400, 300), Image.BILINEAR).save(os.path.join(made, "%03d.jpg" % number))
        full = os.path.join(made, "all")
        os.mkdir(full)
        for name in os.listdir(made):
            if name != "all":
                os.rename(os.path.join(made, name), os.path.join(full, name))
        try:
            os.rename(full, folder)
        except OSError:
            pass  # another process was first


class Pictures(Dataset):
    def __init__(self, folder):
        self.paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        picture = Image.open(self.paths[index]).convert("RGB").resize((64, 64))
        return torch.from_numpy(numpy.array(picture)).permute(2, 0, 1).float() / 255, index % 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--forward", action="store_true",
                        help="trains nothing: after a backward pass, PyTorch 1.7 of Debian 11 aborts when it ends")
    wanted = parser.parse_args()
    folder = os.path.abspath("pictures")
    make_pictures(folder)
    torch.set_num_threads(1)
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 5, 4), torch.nn.ReLU(), torch.nn.Flatten(),
                                  torch.nn.Linear(8 * 15 * 15, 10))  # fmt: skip
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    for _ in range(wanted.epochs):
        for pictures, labels in DataLoader(Pictures(folder), batch_size=8, num_workers=wanted.workers):
            loss = torch.nn.functional.cross_entropy(network(pictures), labels)
            if not wanted.forward:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


if __name__ == "__main__":
    main()
