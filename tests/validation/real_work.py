# SPDX-License-Identifier: Apache-2.0
"""Datasets that do real work on real files, for dataloader_cell.py, and the code that makes the files.

WORKS: {name: class of the dataset}. Files are read through the page cache.
"""
import json
import os
import re

import numpy
import torch
from torch.utils.data import Dataset

SIDE = 224  # pixels of a finished sample's side


class Files(Dataset):
    """`count` samples over the files of `folder` whose names end in `ending`, used in turn."""

    ending = ".jpg"

    def __init__(self, folder, count):
        names = sorted(name for name in os.listdir(folder) if name.endswith(self.ending))
        self.paths = [os.path.join(folder, names[index % len(names)]) for index in range(count)]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        torch.set_num_threads(1)
        return self.sample(self.paths[index])


class Pillow(Files):
    def sample(self, path):
        from PIL import Image

        with Image.open(path) as image:
            pixels = numpy.asarray(image.convert("RGB").resize((SIDE, SIDE), Image.BILINEAR))
        return torch.from_numpy(pixels.copy())


class PillowWebP(Pillow):
    ending = ".webp"


class PillowPng(Pillow):
    ending = ".png"


class Opencv(Files):
    def sample(self, path):
        import cv2

        cv2.setNumThreads(1)
        pixels = cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB)
        pixels = cv2.GaussianBlur(cv2.resize(pixels, (SIDE, SIDE)), (5, 5), 1.0)
        return torch.from_numpy(pixels.astype(numpy.float32) / 255.0)


class Torchvision(Files):
    """torchvision's own decoder and transforms on tensors."""

    def __init__(self, folder, count):
        super().__init__(folder, count)
        from torchvision import transforms

        self.transform = transforms.Compose([
            transforms.RandomResizedCrop(SIDE), transforms.RandomHorizontalFlip(),
            transforms.ConvertImageDtype(torch.float32),
            transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])  # fmt: skip

    def sample(self, path):
        from torchvision.io import ImageReadMode, read_image

        return self.transform(read_image(path, ImageReadMode.RGB))


class Arrays(Files):
    """Arrays of 16-bit integers in .npy files. A sample is a crop, converted to float32, normalised, its logarithm."""

    ending = ".npy"

    def sample(self, path):
        volume = numpy.load(path)
        at = numpy.random.randint(0, 32, 3)
        crop = volume[at[0]:at[0] + 64, at[1]:at[1] + 64, at[2]:at[2] + 64].astype(numpy.float32)  # fmt: skip
        crop = numpy.log1p((crop - crop.min()) / (crop.std() + 1e-6))
        return torch.from_numpy(crop)


class Tokens(Files):
    """Turns text into word numbers in Python, by a regular expression and a dictionary. Pads them to one length."""

    ending = ".txt"
    word = re.compile(r"[a-z]+|[0-9]|[^a-z0-9\s]")

    def __init__(self, folder, count):
        super().__init__(folder, count)
        with open(os.path.join(folder, "vocabulary.json"), encoding="ascii") as file:
            self.numbers = json.load(file)

    def sample(self, path):
        with open(path, encoding="ascii") as file:
            words = self.word.findall(file.read().lower())
        numbers = [self.numbers.get(word, 0) for word in words][:2048]
        return torch.tensor(numbers + [0] * (2048 - len(numbers)))


WORKS = {
    "pillow-jpeg": ("pictures", Pillow),
    "pillow-large": ("large", Pillow),
    "pillow-png": ("other", PillowPng),
    "pillow-webp": ("other", PillowWebP),
    "opencv": ("pictures", Opencv),
    "torchvision": ("pictures", Torchvision),
    "arrays": ("arrays", Arrays),
    "tokens": ("text", Tokens),
}


def dataset(work, folder, count):
    name, kind = WORKS[work]
    return kind(os.path.join(folder, name), count)


def make_files(folder, make_pictures):
    """Makes the files for all of WORKS below `folder`, with the same contents each time."""
    from PIL import Image

    make_pictures(os.path.join(folder, "pictures"), 48, ((500, 375), (375, 500), (640, 480), (500, 500)), quality=92)
    make_pictures(os.path.join(folder, "large"), 12, ((1920, 1080), (1600, 1200)), quality=92)
    os.makedirs(os.path.join(folder, "other"))
    for path in make_pictures(os.path.join(folder, "sources"), 24, ((400, 300), (320, 320)), seed=2):
        with Image.open(path) as image:
            base = os.path.join(folder, "other", os.path.basename(path)[:-4])
            image.save(base + ".png")
            image.save(base + ".webp", quality=85)
    random = numpy.random.default_rng(3)
    os.makedirs(os.path.join(folder, "arrays"))
    for index in range(16):
        volume = random.integers(0, 4096, (96, 96, 96)).astype(numpy.int16)
        numpy.save(os.path.join(folder, "arrays", "volume%02d.npy" % index), volume)
    os.makedirs(os.path.join(folder, "text"))
    words = ["".join(chr(97 + letter) for letter in random.integers(0, 26, size)) for size in random.integers(2, 10, 5000)]
    for index in range(32):
        text = " ".join(words[at] for at in random.zipf(1.3, 3000) % len(words))
        with open(os.path.join(folder, "text", "text%02d.txt" % index), "w", encoding="ascii") as file:
            file.write(text)
    with open(os.path.join(folder, "text", "vocabulary.json"), "w", encoding="ascii") as file:
        json.dump({word: number for number, word in enumerate(words, 1)}, file)
