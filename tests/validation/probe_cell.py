# SPDX-License-Identifier: Apache-2.0
"""A training loop over pictures that does each part of its work a number of times; probes.py sets these numbers.

    probe_cell.py '{"folder": "/data/pictures", "workers": 1, "decode": 2}'    one run; prints the rate in samples/s

Halving a number is an edit that halves the cost of this part alone. `penstock record --probe` measures the gain of such
a halved part without an edit, so the two can be compared.
"""
import io
import json
import os
import sys
import time

import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, default_collate
from torchvision import transforms

DEFAULTS = {"workers": 1, "batch": 8, "seconds": 6.0, "read": 2, "decode": 2, "augment": 2, "collate": 2, "step": 2,
            "width": 8, "count": 1_000_000}  # fmt: skip


class Pictures(Dataset):
    def __init__(self, knobs):
        self.knobs = knobs
        self.paths = sorted(os.path.join(knobs["folder"], name) for name in os.listdir(knobs["folder"]))
        self.transform = transforms.Compose([
            transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
            transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])  # fmt: skip

    def __len__(self):
        return self.knobs["count"]

    def __getitem__(self, index):
        path = self.paths[index % len(self.paths)]
        for _ in range(self.knobs["read"]):
            with open(path, "rb") as file:
                data = file.read()
        for _ in range(self.knobs["decode"]):
            with Image.open(io.BytesIO(data)) as image:
                picture = image.convert("RGB")
        for _ in range(self.knobs["augment"]):
            sample = self.transform(picture)
        return sample, index % 10


class Collate:
    def __init__(self, times):
        self.times = times

    def __call__(self, samples):
        for _ in range(self.times):
            batch = default_collate(samples)
        return batch


def main():
    knobs = {**DEFAULTS, **json.loads(sys.argv[1])}
    torch.set_num_threads(1)
    torch.manual_seed(3)
    wide = knobs["width"]
    model = torch.nn.Sequential(torch.nn.Conv2d(3, wide, 5, 4), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1),
                                torch.nn.Flatten(), torch.nn.Linear(wide, 10))  # fmt: skip
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    loader = DataLoader(Pictures(knobs), knobs["batch"], num_workers=knobs["workers"],
                        collate_fn=Collate(knobs["collate"]))  # fmt: skip
    warm = 4 + 3 * knobs["workers"]
    first = 0.0
    for number, (pictures, labels) in enumerate(loader, 1):
        for _ in range(knobs["step"]):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(pictures), labels).backward()
            optimizer.step()
        now = time.monotonic()
        if number == warm:
            first = now
        if number > warm and now - first > knobs["seconds"]:
            break
    print((number - warm) * knobs["batch"] / (now - first))


if __name__ == "__main__":
    main()
