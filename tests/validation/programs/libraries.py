# SPDX-License-Identifier: Apache-2.0
"""Plain PyTorch loops over data that other libraries decode and augment: masks, volumes, clips. See common.py."""
import os
import random

import numpy
import torch
from common import BATCH, CLASSES, Constant, first_name, main, noise, train
from frameworks import folder
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Upright(nn.Module):
    """A small network that gives a class for each pixel or voxel."""

    def __init__(self, inputs, classes, width=16, volume=False):
        super().__init__()
        convolution = nn.Conv3d if volume else nn.Conv2d
        self.layers = nn.Sequential(convolution(inputs, width, 3, padding=1), nn.ReLU(),
                                    convolution(width, width, 3, padding=1), nn.ReLU(),
                                    convolution(width, classes, 1))  # fmt: skip

    def forward(self, batch):
        return self.layers(batch)


class Pointwise(nn.Module):
    """A trivial network that gives a class for each pixel or voxel."""

    def __init__(self, classes):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(classes))

    def forward(self, batch):
        shape = (1, -1) + (1,) * (batch.dim() - 2)
        return self.bias.reshape(shape).expand(len(batch), len(self.bias), *batch.shape[2:])


class Segmented(Dataset):
    """Pictures and masks by OpenCV, transformed together."""

    def __init__(self, task, transform):
        self.task, self.transform = task, transform
        self.paths = [path for path, _ in task.paths()]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        import cv2

        path = self.paths[index]
        mask = cv2.imread(os.path.join(self.task.data, "masks", first_name(path)[:-4] + ".png"), cv2.IMREAD_GRAYSCALE)
        if "decode" in self.task.free:
            image = self.task.held.array(path)
        else:
            image = cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB)
        made = self.transform(image=image, mask=mask)
        return made["image"], made["mask"].long()


def albumentations(task):
    """Segmentation of pictures from OpenCV, augmented by albumentations."""
    import albumentations as A
    import cv2
    from albumentations.pytorch import ToTensorV2

    cv2.setNumThreads(0)
    made = A.Compose([A.RandomResizedCrop(size=(128, 128)), A.HorizontalFlip(), A.Affine(rotate=(-20, 20)),
                      A.ColorJitter(), A.GaussianBlur(), A.Normalize(), ToTensorV2()])  # fmt: skip
    finished = {"image": noise(3, 128, 128), "mask": torch.zeros(128, 128, dtype=torch.uint8)}
    data = Segmented(task, task.transform(made, finished))
    model = Pointwise(2) if "step" in task.free else Upright(3, 2, 4)
    train(task, DataLoader(data, batch_size=8, shuffle=True, **task.persistent()), model)


def kornia(task):
    """Kornia augments whole batches inside the training loop."""
    from kornia import augmentation as K
    from torchvision import transforms

    size = 96
    made = transforms.Compose([transforms.Resize((size, size)), transforms.ToTensor()])
    data = folder(task, task.transform(made, noise(3, size, size)))
    augment = K.AugmentationSequential(K.RandomAffine(20.0, (0.1, 0.1)), K.ColorJitter(0.2, 0.2, 0.2, 0.1),
                                       K.RandomGaussianBlur((5, 5), (0.5, 1.5)), K.RandomHorizontalFlip())  # fmt: skip
    model = task.model(lambda: nn.Sequential(nn.Conv2d(3, 16, 3, stride=4), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
                                             nn.Linear(256, CLASSES)))  # fmt: skip

    def prepared(batch):
        with torch.no_grad():
            return batch if "augment" in task.free else augment(batch)

    loader = DataLoader(data, batch_size=BATCH, shuffle=True, **task.persistent())
    train(task, loader, model, prepared)


COPIES = 10  # times that an epoch uses each of 24 volumes: 120 batches of two


def make_volumes(task):
    chance = numpy.random.default_rng(3)
    os.makedirs(task.work, exist_ok=True)
    for number in range(24):
        volume = chance.integers(0, 2000, (48, 48, 48)).astype(numpy.int16)
        numpy.save(os.path.join(task.work, "volume%02d.npy" % number), volume)


def monai(task):
    """MONAI's dictionary transforms over volumes, and its loader."""
    from monai import data, transforms

    names = sorted(name for name in os.listdir(task.work) if name.endswith(".npy"))
    rows = [{"image": os.path.join(task.work, name), "label": os.path.join(task.work, name)} for name in names * COPIES]
    loads = transforms.LoadImaged(["image", "label"], reader="NumpyReader", ensure_channel_first=True)
    if "decode" in task.free:
        rows = [loads(row) for row in rows[:len(names)]] * COPIES
    keys = ["image", "label"]
    changes = [transforms.ScaleIntensityd("image"), transforms.AsDiscreted("label", threshold=1000),
               transforms.RandSpatialCropd(keys, (32, 32, 32), random_size=False), transforms.RandFlipd(keys, 0.5, 0),
               transforms.RandRotated(keys, range_x=0.3, prob=1.0, mode=("bilinear", "nearest")),
               transforms.RandGaussianNoised("image", 0.5)]  # fmt: skip
    if "augment" in task.free:
        changes = [Constant({"image": noise(1, 32, 32, 32), "label": torch.zeros(1, 32, 32, 32)})]
    loader = data.DataLoader(data.Dataset(rows, transforms.Compose(([] if "decode" in task.free else [loads]) + changes)),
                             batch_size=2, shuffle=True, **task.persistent())  # fmt: skip
    model = Pointwise(2) if "step" in task.free else Upright(1, 2, 4, volume=True)
    train(task, Pairs(loader), model)


class Pairs:
    """Turns MONAI's batches into (images, classes of their voxels)."""

    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        for batch in self.loader:
            yield batch["image"], batch["label"][:, 0].long()


CLIPS, FRAMES, TAKEN = 20, 60, 8


def make_clips(task):
    import av

    os.makedirs(task.work, exist_ok=True)
    pictures = [task.held.array(path) for path, _ in task.paths() if "~" not in path][:CLIPS]
    for number, pixels in enumerate(pictures):
        with av.open(os.path.join(task.work, "clip%02d.mp4" % number), "w") as out:
            stream = out.add_stream("mpeg4", rate=25)
            stream.width, stream.height, stream.pix_fmt = 320, 240, "yuv420p"
            stream.codec_context.gop_size = 12
            for shift in range(FRAMES):
                shown = numpy.roll(pixels, shift, 1)[:240, :320]
                shown = numpy.pad(shown, ((0, 240 - shown.shape[0]), (0, 320 - shown.shape[1]), (0, 0)))
                out.mux(stream.encode(av.VideoFrame.from_ndarray(numpy.ascontiguousarray(shown), "rgb24")))
            out.mux(stream.encode(None))


class Clips(Dataset):
    """TAKEN frames from a random place of a clip, by PyAV."""

    def __init__(self, task):
        self.paths = [os.path.join(task.work, name) for name in sorted(os.listdir(task.work)) if name.endswith(".mp4")]
        self.held = {path: self.frames(path, 0) for path in self.paths} if "decode" in task.free else None
        self.finished = noise(3, TAKEN, 112, 112) if "augment" in task.free else None

    def __len__(self):
        return 24 * len(self.paths)  # 120 batches of four

    @staticmethod
    def frames(path, first):
        import av

        found = []
        with av.open(path) as container:
            stream = container.streams.video[0]
            stream.thread_type = "AUTO"
            container.seek(int(first / 25 / stream.time_base), stream=stream)
            for frame in container.decode(stream):
                found.append(frame.to_ndarray(format="rgb24"))
                if len(found) == TAKEN:
                    break
        return numpy.stack(found)

    def __getitem__(self, index):
        path = self.paths[index % len(self.paths)]
        frames = self.held[path] if self.held else self.frames(path, random.randrange(FRAMES - TAKEN - 12))
        if self.finished is not None:
            return self.finished, index % CLASSES
        clip = torch.from_numpy(frames).permute(0, 3, 1, 2).float() / 255
        top, left = random.randrange(240 - 200), random.randrange(320 - 200)
        clip = nn.functional.interpolate(clip[:, :, top:top + 200, left:left + 200], (112, 112), mode="bilinear")
        return clip.permute(1, 0, 2, 3), index % CLASSES


def pyav(task):
    """Clips by PyAV for a small network with 3-D convolutions."""
    model = task.model(lambda: nn.Sequential(nn.Conv3d(3, 8, 3, stride=(1, 4, 4)), nn.ReLU(), nn.AdaptiveAvgPool3d(4),
                                             nn.Flatten(), nn.Linear(512, CLASSES)))  # fmt: skip
    train(task, DataLoader(Clips(task), batch_size=4, shuffle=True, **task.persistent()), model)


PROGRAMS = {"albumentations": albumentations, "kornia": kornia, "monai": monai, "pyav": pyav}
PREPARATIONS = {"monai": make_volumes, "pyav": make_clips}

if __name__ == "__main__":
    main(PROGRAMS, PREPARATIONS)
