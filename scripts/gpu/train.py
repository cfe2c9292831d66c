#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A small training run on a GPU, for scripts/gpu_check.sh. Needs only PyTorch and Pillow.

Prints one JSON object: the samples per second, measured from batch --warmup on. With --profile it also
holds the share of the measured time in which at least one kernel ran, according to torch.profiler.
"""

import argparse
import json
import pathlib
import time

import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, folder, size, length):
        self.files = sorted(pathlib.Path(folder).rglob("*.jpg"))
        self.size = size
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        with Image.open(self.files[index % len(self.files)]) as image:
            picture = image.convert("RGB").resize((self.size, self.size))
        pixels = torch.frombuffer(bytearray(picture.tobytes()), dtype=torch.uint8)
        return pixels.view(self.size, self.size, 3).permute(2, 0, 1).float() / 255, index % 10


class Cached(Dataset):
    """Gives the same picture from memory each time. Loading costs nothing, so the device is the limit."""

    def __init__(self, size, length):
        self.picture = torch.rand(3, size, size)
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return self.picture, index % 10


def network(width, depth):
    layers = [nn.Conv2d(3, width, 7, stride=2, padding=3), nn.ReLU()]
    for _ in range(depth):
        layers += [nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10))


def busy_share(profiler, seconds):
    """The union of the kernels' intervals, divided by the measured time."""
    kernels = []
    for event in profiler.events():
        for kernel in getattr(event, "kernels", []) or []:
            interval = getattr(kernel, "interval", None)
            if interval is not None:
                kernels.append((interval.start, interval.end))
    if not kernels:  # newer versions list device events separately
        kernels = [(e.time_range.start, e.time_range.end) for e in profiler.events()
                   if str(e.device_type).endswith("CUDA") and not e.name.startswith(("Mem", "Optimizer"))]
    busy, end = 0.0, 0.0
    for start, stop in sorted(kernels):
        busy += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return busy * 1e-6 / seconds


def train(args):
    device = torch.device("cuda")
    length = args.batch * args.batches
    data = Cached(args.size, length) if args.cached else Pictures(args.data, args.size, length)
    loader = DataLoader(data, batch_size=args.batch, num_workers=args.workers, pin_memory=args.pin)
    model = network(args.width, args.depth).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_of = nn.CrossEntropyLoss()
    profiler = None
    started, samples = None, 0
    for number, (pictures, labels) in enumerate(loader):
        if number == args.warmup:
            torch.cuda.synchronize()
            if args.profile:
                profiler = torch.profiler.profile(
                    activities=[torch.profiler.ProfilerActivity.CPU,
                                torch.profiler.ProfilerActivity.CUDA])
                profiler.__enter__()
            started = time.monotonic()
        begun = time.monotonic()
        pictures = pictures.to(device, non_blocking=args.pin)
        labels = labels.to(device, non_blocking=args.pin)
        optimizer.zero_grad(set_to_none=True)
        loss_of(model(pictures), labels).backward()
        optimizer.step()
        if args.half_busy:
            torch.cuda.synchronize()
            time.sleep(time.monotonic() - begun)
        samples += len(labels) if started is not None else 0
    torch.cuda.synchronize()
    seconds = time.monotonic() - started
    result = {"samples_per_s": samples / seconds, "seconds": seconds, "gpu": torch.cuda.get_device_name(),
              "torch": torch.__version__}
    if profiler is not None:
        profiler.__exit__(None, None, None)
        result["kernel_busy"] = busy_share(profiler, seconds)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder of JPEGs")
    parser.add_argument("--cached", action="store_true", help="no files: loading costs nothing")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--pin", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--half-busy", action="store_true",
                        help="after each step, rest for as long as it took")
    args = parser.parse_args()
    if args.batches <= args.warmup:
        parser.error("--batches must be more than --warmup")
    print(json.dumps(train(args)), flush=True)


if __name__ == "__main__":
    main()
