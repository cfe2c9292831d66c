# SPDX-License-Identifier: Apache-2.0
"""Datasets whose epochs are equal, different, or equal up to a random transform: repeats.py KIND DIRECTORY."""
import glob
import os
import random
import sys

import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, IterableDataset
from torchvision import transforms

EPOCHS = 3


class Pictures(Dataset):
    def __init__(self, directory, *chain):
        self.paths = sorted(glob.glob(os.path.join(directory, "*.jpg")))
        self.chain = transforms.Compose(chain)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.chain(Image.open(self.paths[index]).convert("RGB")), index % 10


class Flipping(Pictures):
    """Flips at random in code of its own, after transforms that are not random."""

    def __getitem__(self, index):
        image, label = super().__getitem__(index)
        return image.flip(2) if random.random() < 0.5 else image, label


class Caching(Pictures):
    """Keeps its finished samples, each cropped at random once."""

    def __init__(self, *args):
        super().__init__(*args)
        self.kept = {}

    def __getitem__(self, index):
        if index not in self.kept:
            self.kept[index] = super().__getitem__(index)
        return self.kept[index]


class Streaming(IterableDataset):
    def __init__(self, pictures):
        self.pictures = pictures

    def __iter__(self):
        for index in range(len(self.pictures)):
            yield self.pictures[index]


class Sharded(Streaming):
    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        for index in range(first, len(self.pictures), step):
            yield self.pictures[index]


def dataset(kind, directory):
    resize, crop, tensor = transforms.Resize(96), transforms.CenterCrop(96), transforms.ToTensor()
    fixed = Pictures(directory, resize, crop, tensor)
    if kind == "random_crop":
        return Pictures(directory, transforms.RandomResizedCrop(96), tensor)
    if kind == "own_flip":
        return Flipping(directory, resize, crop, tensor)
    if kind == "prefix":
        return Pictures(directory, transforms.Resize(112), transforms.RandomCrop(96), tensor)
    if kind == "cache":
        return Caching(directory, transforms.RandomResizedCrop(96), tensor)
    return {"stream": Streaming, "sharded": Sharded}.get(kind, lambda data: data)(fixed)


def main():
    torch.set_num_threads(1)
    kind, directory, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
    data = dataset(kind, directory)
    shuffle = not isinstance(data, IterableDataset)
    loader = DataLoader(data, batch_size=4, shuffle=shuffle, num_workers=workers)
    print(sum(batch.sum().item() for _ in range(EPOCHS) for batch, _ in loader))


if __name__ == "__main__":
    main()
