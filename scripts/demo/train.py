#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""An ordinary PyTorch training loop over a folder of JPEG classes.

It does not use Penstock. It is deterministic: the same arguments give the same losses to the last
bit, so runs with and without the agent can be compared. Its last line is

  throughput: 123.4 samples/s

for the time from the first next() to the end of the last step. This includes the start of the workers.
"""

import argparse
import functools
import pathlib
import random
import sys
import time

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, RandomSampler, get_worker_info
from torchvision import transforms

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def read_pil(path):
    from PIL import Image

    with Image.open(path) as image:
        return image.convert("RGB")


def read_cv2(path):
    import cv2

    image = cv2.imread(path)
    if image is None:
        raise OSError(f"{path}: not an image")
    return torch.from_numpy(cv2.cvtColor(image, cv2.COLOR_BGR2RGB)).permute(2, 0, 1)


def read_torchvision(path):
    from torchvision.io import ImageReadMode, read_image

    return read_image(path, ImageReadMode.RGB)


READERS = {"pil": read_pil, "cv2": read_cv2, "torchvision": read_torchvision}


def make_transform(decoder, size):
    steps = [transforms.RandomResizedCrop(size), transforms.RandomHorizontalFlip()]
    to_float = transforms.ToTensor() if decoder == "pil" else transforms.ConvertImageDtype(torch.float32)
    return transforms.Compose(steps + [to_float, transforms.Normalize(MEAN, DEVIATION)])


class ImageFolder(Dataset):
    """root/CLASS/*.jpg, classes in alphabetical order."""

    def __init__(self, root, decoder, size):
        classes = sorted(path.name for path in pathlib.Path(root).iterdir() if path.is_dir())
        self.samples = [(str(path), label) for label, name in enumerate(classes)
                        for path in sorted((pathlib.Path(root) / name).glob("*.jpg"))]
        self.classes = len(classes)
        self.read = READERS[decoder]
        self.transform = make_transform(decoder, size)

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        path, label = self.samples[index]
        return self.transform(self.read(path)), label


class ImageStream(IterableDataset):
    """The same images as a stream. Each of n workers takes every n-th image of a shuffled list."""

    def __init__(self, folder, count, seed):
        self.folder, self.count, self.seed, self.classes = folder, count, seed, folder.classes

    def __iter__(self):
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        order = list(range(len(self.folder)))
        random.Random(self.seed).shuffle(order)
        for position in range(first, self.count, step):
            yield self.folder[order[position % len(order)]]


def make_model(name, classes):
    if name == "tiny":  # so cheap that only the data holds the run back
        return nn.Sequential(nn.AvgPool2d(16), nn.Conv2d(3, 8, 3), nn.ReLU(),
                             nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, classes))
    return nn.Sequential(nn.Conv2d(3, 16, 5, stride=4), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2),
                         nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(1024, classes))


def one_thread(cv2_used, _worker_id):
    """Switches off OpenCV's own threads. Runs in each worker, as PyTorch's documentation advises."""
    if cv2_used:
        import cv2

        cv2.setNumThreads(0)


def make_loader(options):
    folder = ImageFolder(options.data, options.decoder, options.size)
    if not folder.samples:
        sys.exit(f"train: {options.data}: no CLASS/*.jpg in it")
    count = options.batches * options.batch
    generator = torch.Generator().manual_seed(options.seed)
    if options.dataset == "iterable":
        dataset, sampler = ImageStream(folder, count, options.seed), None
    else:
        # The sampler yields exactly the wanted number of samples, in several passes over the folder. So workers
        # load no batch that the training loop does not use.
        dataset, sampler = folder, RandomSampler(folder, num_samples=count, generator=generator)
    extra = {}
    if options.workers > 0:
        extra = {"prefetch_factor": options.prefetch, "persistent_workers": options.persistent,
                 "multiprocessing_context": options.start_method}
    return DataLoader(dataset, options.batch, sampler=sampler, num_workers=options.workers,
                      pin_memory=options.pin, generator=generator,
                      worker_init_fn=functools.partial(one_thread, options.decoder == "cv2"),
                      **extra), folder.classes


def train(options):
    random.seed(options.seed)
    numpy.random.seed(options.seed)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    if options.decoder == "cv2":
        one_thread(True, None)
    device = torch.device(options.device)
    loader, classes = make_loader(options)
    model = make_model(options.model, classes).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    criterion = nn.CrossEntropyLoss()

    samples, first_batch, started = 0, None, time.perf_counter()
    for epoch in range(options.epochs):
        for number, (images, labels) in enumerate(loader, 1):
            if first_batch is None:
                first_batch = time.perf_counter() - started
            images, labels = images.to(device, non_blocking=True), labels.to(device, non_blocking=True)
            loss = criterion(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if options.step_ms:  # stands for work of a device, which does not use the CPU
                time.sleep(options.step_ms / 1000)
            samples += len(labels)
            if number % options.log_every == 0 or number == options.batches:
                print(f"epoch {epoch} batch {number} loss {loss.item()!r}", flush=True)
    elapsed = time.perf_counter() - started
    print(f"first batch: {first_batch:.3f} s")
    print(f"throughput: {samples / elapsed:.1f} samples/s")


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--data", required=True, help="folder with one folder of *.jpg per class")
    add("--workers", type=int, default=2)
    add("--batch", type=int, default=32)
    add("--batches", type=int, default=50, help="batches in an epoch")
    add("--epochs", type=int, default=1)
    add("--decoder", choices=READERS, default="pil")
    add("--dataset", choices=("map", "iterable"), default="map")
    add("--start-method", choices=("fork", "spawn", "forkserver"), default="fork")
    add("--persistent", action="store_true")
    add("--pin", action="store_true")
    add("--prefetch", type=int, default=2)
    add("--size", type=int, default=224, help="side of the crop")
    add("--model", choices=("tiny", "small"), default="tiny")
    add("--step-ms", type=float, default=0.0, help="sleep this long in every step")
    add("--device", default="cpu")
    add("--seed", type=int, default=0)
    add("--log-every", type=int, default=10)
    options = parser.parse_args(arguments)
    for name in ("batch", "batches", "epochs", "prefetch", "size", "log_every"):
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be at least 1")
    if not pathlib.Path(options.data).is_dir():
        parser.error(f"--data {options.data}: no such folder; scripts/demo/make_images.py makes one")
    return options


if __name__ == "__main__":
    train(parse(sys.argv[1:]))
