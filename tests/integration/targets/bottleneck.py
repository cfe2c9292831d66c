# SPDX-License-Identifier: Apache-2.0
"""A training loop with one known bottleneck: bottleneck.py KIND DIRECTORY [SAMPLES [PORT]].

KIND: decode, augment, collate, compute, read (pictures come from 127.0.0.1:PORT), startup, none.
Only the named stage costs much; for decode the pictures must be large. Prints the number of batches.
"""
import io
import os
import socket
import sys
import time

import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

KIND, DIRECTORY = sys.argv[1:3]
SAMPLES = int(sys.argv[3]) if len(sys.argv) > 3 else 96
PORT = int(sys.argv[4]) if len(sys.argv) > 4 else 0
BATCH = 4


def burn(seconds):
    """Computes for `seconds` of this thread's CPU time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1000))


class Pictures(Dataset):
    def __init__(self):
        names = sorted(name for name in os.listdir(DIRECTORY) if name.endswith(".jpg"))
        self.paths = [os.path.join(DIRECTORY, name) for name in names]
        steps = [transforms.Resize((32, 32), transforms.InterpolationMode.NEAREST), transforms.ToTensor()]
        if KIND == "augment":
            steps = [transforms.ToTensor(), transforms.GaussianBlur(41, 5.0), transforms.Resize((32, 32))]
        self.transform = transforms.Compose(steps)

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        torch.set_num_threads(1)
        path = self.paths[index % len(self.paths)]
        file = io.BytesIO(self.fetch(index)) if KIND == "read" else path
        with Image.open(file) as image:
            return self.transform(image.convert("RGB"))

    def fetch(self, index):
        with socket.create_connection(("127.0.0.1", PORT)) as connection:
            connection.sendall(b"%d\n" % (index % len(self.paths)))
            parts = []
            while True:
                part = connection.recv(65536)
                if not part:
                    return b"".join(parts)
                parts.append(part)


def collate(samples):
    if KIND == "collate":
        burn(0.06)
    return torch.stack(samples)


def main():
    torch.set_num_threads(1)
    restarting = KIND == "startup"
    loader = DataLoader(Pictures(), batch_size=BATCH, num_workers=2, collate_fn=collate,
                        multiprocessing_context="spawn" if restarting else "fork")  # fmt: skip
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 4))
    count = 0
    for _ in range(5 if restarting else 1):
        for batch in loader:
            with torch.no_grad():
                model(batch)
            if KIND == "compute":
                time.sleep(0.05)
            elif KIND != "none":
                time.sleep(0.001)
            count += 1
    print(count)


if __name__ == "__main__":
    main()
