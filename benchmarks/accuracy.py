#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures whether a network learns as well from penstock.Loader as from torchvision's pipeline.

  benchmarks/accuracy.py                                  # scikit-learn's handwritten digits, as JPEGs
  benchmarks/accuracy.py --data build/bench/data --size 64 --flip

The same small network is trained with each pipeline, --seeds times. With the same seed it begins with the same weights.
Training: RandomResizedCrop (and a flip, with --flip), normalised, Adam with a one-cycle rate. After each run the
test pictures are classified, in both cases with torchvision's Resize and CenterCrop, so that only training can make
a difference. Runs come in random order.

Prints the accuracies of both, and the difference of their means with its confidence interval (95 %, by Welch's t)
and the exact permutation test over the runs: p is the share of all divisions of the runs into two groups whose means
differ at least as much. "within the spread" means that the mean of our runs is not below torchvision's worst run.

--data is a folder with a folder for each class; without it the 1,797 digits of scikit-learn (8 x 8 pixels, by 43
people) are enlarged to 64 x 64 and written to build/bench/digits. --test-share of the pictures of each class, evenly
spread, are test pictures. Needs PyTorch, torchvision and Pillow.
"""
import argparse
import itertools
import json
import math
import os
import pathlib
import random
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT / "python")]
import paired_runs  # noqa: E402

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
# Quantiles of Student's t for an interval of 95 %, by degrees of freedom from 1 on.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
           2.120, 2.110, 2.101, 2.093, 2.086)  # fmt: skip


def make_digits(folder):
    from PIL import Image
    from sklearn.datasets import load_digits

    digits = load_digits()
    for number, (image, label) in enumerate(zip(digits.images, digits.target)):
        path = folder / str(label) / ("%04d.jpg" % number)
        path.parent.mkdir(parents=True, exist_ok=True)
        picture = Image.fromarray((image * 255 / 16).astype("uint8")).resize((64, 64), Image.BICUBIC)
        picture.convert("RGB").save(path, quality=92)


def split(data, share):
    """Returns ([(path, label)] to train with, [(path, label)] to test with, names of the classes)."""
    names = sorted(one.name for one in data.iterdir() if one.is_dir())
    train, test = [], []
    for label, name in enumerate(names):
        for number, path in enumerate(sorted((data / name).iterdir())):
            kept = math.floor((number + 1) * share) > math.floor(number * share)
            (test if kept else train).append((str(path), label))
    if not train or not test:
        sys.exit("accuracy: %s: %d pictures to train with, %d to test with" % (data, len(train), len(test)))
    return train, test, names


def network(torch, classes):
    def block(inputs, outputs):
        return [torch.nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), torch.nn.BatchNorm2d(outputs),
                torch.nn.ReLU(), torch.nn.MaxPool2d(2)]  # fmt: skip

    return torch.nn.Sequential(*block(3, 16), *block(16, 32), *block(32, 64), torch.nn.AdaptiveAvgPool2d(1),
                               torch.nn.Flatten(), torch.nn.Linear(64, classes))  # fmt: skip


class Pictures:
    """A data set of torch.utils.data."""

    def __init__(self, rows, transform):
        self.rows = rows
        self.transform = transform

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        from PIL import Image

        path, label = self.rows[index]
        with Image.open(path) as picture:
            return self.transform(picture.convert("RGB")), label


def of_torchvision(options, train, seed):
    import torch
    from torchvision import transforms

    flip = [transforms.RandomHorizontalFlip()] if options.flip else []
    augment = transforms.Compose([transforms.RandomResizedCrop(options.size, scale=(options.scale, 1)), *flip,
                                  transforms.ToTensor(), transforms.Normalize(MEAN, DEVIATION)])  # fmt: skip
    generator = torch.Generator().manual_seed(seed)
    loader = torch.utils.data.DataLoader(Pictures(train, augment), options.batch, shuffle=True, drop_last=True,
                                         num_workers=options.workers, generator=generator,
                                         persistent_workers=options.workers > 0)  # fmt: skip
    return lambda epoch: loader


def of_penstock(options, train, seed):
    import penstock
    from penstock import ops

    flip = [ops.RandomHorizontalFlip()] if options.flip else []
    steps = [ops.RandomResizedCrop(options.size, scale=(options.scale, 1)), *flip, ops.Normalize(MEAN, DEVIATION)]
    loader = penstock.Loader(train, batch=options.batch, workers=options.workers, ops=steps, output="f32", seed=seed,
                             drop_last=True, rank=0, world=1, arrays="torch")  # fmt: skip

    def epoch_of(epoch):
        loader.set_epoch(epoch)
        return loader

    return epoch_of


PIPELINES = {"torchvision": of_torchvision, "penstock": of_penstock}


def accuracy(options, model, test):
    import torch
    from torchvision import transforms

    plain = transforms.Compose([transforms.Resize(options.size), transforms.CenterCrop(options.size),
                                transforms.ToTensor(), transforms.Normalize(MEAN, DEVIATION)])  # fmt: skip
    model.eval()
    right = 0
    with torch.no_grad():
        for images, labels in torch.utils.data.DataLoader(Pictures(test, plain), 256):
            right += int((model(images).argmax(1) == labels).sum())
    return right / len(test)


def train_once(options, pipeline, train, test, classes, seed):
    import torch

    torch.manual_seed(seed)
    model = network(torch, classes)
    batches = PIPELINES[pipeline](options, train, seed)
    steps = len(train) // options.batch * options.epochs
    optimizer = torch.optim.Adam(model.parameters(), options.rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, options.rate, max(steps, 1))
    begin = time.monotonic()
    for epoch in range(options.epochs):
        for images, labels in batches(epoch):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return {"pipeline": pipeline, "seed": seed, "accuracy": accuracy(options, model, test),
            "loss": float(loss.detach()), "seconds": time.monotonic() - begin}  # fmt: skip


def difference(ours, theirs):
    """Returns (difference of the means, half the width of its 95 % confidence interval), by Welch's t."""
    parts = [statistics.variance(one) / len(one) for one in (ours, theirs)]
    error = sum(parts)
    away = statistics.mean(ours) - statistics.mean(theirs)
    if error == 0:
        return away, 0.0
    freedom = error**2 / sum(part**2 / (len(one) - 1) for part, one in zip(parts, (ours, theirs)))
    quantile = STUDENT[min(max(int(freedom), 1), len(STUDENT)) - 1]
    return away, quantile * math.sqrt(error)


def permutation(ours, theirs):
    """The share of all divisions of the runs into groups of these sizes whose means are at least as far apart."""
    every = ours + theirs
    measured = abs(statistics.mean(ours) - statistics.mean(theirs)) - 1e-12
    as_far = ways = 0
    for chosen in itertools.combinations(range(len(every)), len(ours)):
        inside = set(chosen)
        one = statistics.mean(every[i] for i in chosen)
        other = statistics.mean(every[i] for i in range(len(every)) if i not in inside)
        as_far += abs(one - other) >= measured
        ways += 1
    return as_far / ways


def measure(options):
    data = options.data
    if data is None:
        data = ROOT / "build/bench/digits"
        if not data.exists():
            make_digits(data)
    train, test, names = split(data, options.test_share)
    print("accuracy: %d pictures of %d classes to train with, %d to test with; %d epochs, batch %d, %d x %d" % (
        len(train), len(names), len(test), options.epochs, options.batch, options.size, options.size),
        flush=True)  # fmt: skip
    order = [(seed, pipeline) for seed in range(options.seeds) for pipeline in PIPELINES]
    random.Random(0).shuffle(order)
    runs = []
    for seed, pipeline in order:
        runs.append(train_once(options, pipeline, train, test, len(names), seed))
        print("%-11s seed %d: accuracy %.4f, %.0f s" % (pipeline, seed, runs[-1]["accuracy"], runs[-1]["seconds"]),
              file=sys.stderr, flush=True)  # fmt: skip
    found = {name: [one["accuracy"] for one in runs if one["pipeline"] == name] for name in PIPELINES}
    for name, values in found.items():
        print("accuracy: %-11s mean %.4f, deviation %.4f, %.4f to %.4f (%d seeds)" % (
            name, statistics.mean(values), statistics.stdev(values), min(values), max(values),
            len(values)))  # fmt: skip
    ours, theirs = found["penstock"], found["torchvision"]
    away, half = difference(ours, theirs)
    share = permutation(ours, theirs)
    within = statistics.mean(ours) >= min(theirs)
    print("accuracy: penstock - torchvision: %+.4f (%+.4f to %+.4f), p %.2f; %s the spread" % (
        away, away - half, away + half, share, "within" if within else "BELOW"))  # fmt: skip
    return {"runs": runs, "difference": away, "low": away - half, "high": away + half, "p": share, "within": within}


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0], allow_abbrev=False)
    add = parser.add_argument
    add("--data", type=pathlib.Path, help="a folder with a folder for each class (default: digits)")
    add("--test-share", type=float, default=0.5, help="of the pictures of a class (default 0.5)")
    add("--seeds", type=int, default=5, help="runs of each pipeline, 2 to 10 (default 5)")
    add("--epochs", type=int, default=15, help="default 15")
    add("--batch", type=int, default=32, help="default 32")
    add("--size", type=int, default=32, help="height and width that the network gets (default 32)")
    add("--scale", type=float, default=0.5, help="least share of the area of a crop (default 0.5)")
    add("--flip", action="store_true", help="left and right are swapped at random; not for digits")
    add("--rate", type=float, default=3e-3, help="highest learning rate (default 0.003)")
    add("--workers", type=int, default=2, help="of both (default 2)")
    add("--build", type=pathlib.Path, default=ROOT / "build/release", help="default build/release")
    add("--json", type=pathlib.Path, help="write everything measured to this file")
    options = parser.parse_args(arguments)
    if not 2 <= options.seeds <= 10 or min(options.epochs, options.batch, options.size) < 1:
        parser.error("--seeds must be 2 to 10, --epochs, --batch and --size 1 or more")
    if not 0 < options.test_share < 1 or not 0 < options.scale <= 1:
        parser.error("--test-share must be between 0 and 1, --scale above 0 and at most 1")
    return options


def main(arguments):
    options = parse(arguments)
    os.environ["PENSTOCK_BUILD"] = str(options.build.resolve())
    about = paired_runs.machine()
    result = {"machine": about, **measure(options)}
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0 if result["within"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
