#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pipelines of today's PyTorch packages: RandomResizedCrop 224, flip, normalise, CHW, float16 or float32.

tensors     torchvision.io decodes in the workers, torchvision.transforms.v2 works on uint8 tensors; float16
timm        timm.data.create_loader, as timm's training script calls it for ImageNet, without colour jitter; float32
webdataset  tars read one after the other, shuffled among 1,000 samples, Pillow, torchvision's transforms; float16

Needs torch, torchvision and the package named. The tars, 100 samples in each, are made from --data once.
"""

import os
import pathlib
import shutil
import sys
import tarfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common  # noqa: E402

import torch  # noqa: E402
import torchvision  # noqa: E402
from torchvision_loader import Endless, to_half  # noqa: E402

SAMPLES_OF_A_TAR = 100


def read_tensor(path):
    return torchvision.io.read_image(path, torchvision.io.ImageReadMode.RGB)


def tensors(options):
    from torchvision.transforms import v2

    steps = v2.Compose([v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip(),
                        v2.ToDtype(torch.float32, scale=True), v2.Normalize(common.MEAN, common.DEVIATION), to_half])
    dataset = torchvision.datasets.ImageFolder(str(options.data), steps, loader=read_tensor)
    return torch.utils.data.DataLoader(dataset, options.batch, num_workers=options.workers,
                                       sampler=Endless(len(dataset)))


def epochs(loader):
    while True:
        yield from loader


def of_timm(options):
    from timm.data import create_loader

    dataset = torchvision.datasets.ImageFolder(str(options.data))
    return epochs(create_loader(
        dataset, input_size=(3, 224, 224), batch_size=options.batch, is_training=True, num_workers=options.workers,
        use_prefetcher=False, hflip=0.5, color_jitter=None, interpolation="bilinear", mean=common.MEAN,
        std=common.DEVIATION, persistent_workers=options.workers > 0, device=torch.device("cpu")))


def tars(options):
    """Puts the files of --data in tars beside that folder, in a random order, as webdataset's documentation advises."""
    folder = pathlib.Path(f"{options.data}-tars")
    if not folder.is_dir():
        made = pathlib.Path(f"{folder}.{os.getpid()}.tmp")
        made.mkdir()
        paths = common.files(options.data)
        order = torch.randperm(len(paths), generator=torch.Generator().manual_seed(0)).tolist()
        for first in range(0, len(order), SAMPLES_OF_A_TAR):
            with tarfile.open(made / f"{first // SAMPLES_OF_A_TAR:05d}.tar", "w") as tar:
                for index in order[first:first + SAMPLES_OF_A_TAR]:
                    tar.add(paths[index], f"{index:06d}.jpg")
        try:
            made.rename(folder)
        except OSError:  # another process was faster
            shutil.rmtree(made)
    return sorted(str(path) for path in folder.glob("*.tar"))


def of_webdataset(options):
    import webdataset
    from torchvision import transforms

    steps = transforms.Compose([
        transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
        transforms.Normalize(common.MEAN, common.DEVIATION), to_half])
    dataset = (webdataset.WebDataset(tars(options), resampled=True, shardshuffle=False).shuffle(1000).decode("pil")
               .to_tuple("jpg", "__key__").map_tuple(steps, len).batched(options.batch))
    return webdataset.WebLoader(dataset, batch_size=None, num_workers=options.workers)


PIPELINES = {"tensors": tensors, "timm": of_timm, "webdataset": of_webdataset}


def batches(loader):
    for batch in loader:
        assert batch[0].is_floating_point() and batch[0].shape[1:] == (3, 224, 224)
        yield len(batch[0])


def main():
    options = common.parse(__doc__.splitlines()[0], lambda parser: parser.add_argument(
        "--pipeline", choices=PIPELINES, required=True))
    torch.set_num_threads(1)
    common.measure(batches(PIPELINES[options.pipeline](options)), options.seconds)


if __name__ == "__main__":
    main()
