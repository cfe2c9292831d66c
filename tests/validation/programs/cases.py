# SPDX-License-Identifier: Apache-2.0
"""Data for run.py: the public programs that are recorded, and the changes that show what limits each program."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Case:
    """One program. `workers`: the number of workers in the recorded run; `counts`: the numbers of workers that are
    predicted and measured; `free`: the factors that are made to cost nothing, one at a time. `plain`: the loop does
    only the step, so that without the step only the loader's time is left. A framework's loop also has callbacks."""

    name: str
    title: str
    file: str
    packages: tuple
    workers: int
    counts: tuple = (0, 1, 2, 3)
    free: tuple = ("decode", "augment", "step")
    plain: bool = False
    python: str = "torch"  # the environment, a key of PACKAGES


def _case(name, title, file, packages, workers, **more):
    return Case(name, title, file + ".py", tuple(packages.split()), workers, **more)


CASES = (
    _case("timm", "timm: its loader, RandAugment, resnet10t", "frameworks", "torch timm", 2, plain=True),
    _case("torchvision", "torchvision's references: v2 transforms, validation of batch 1", "frameworks",
          "torch torchvision", 1, plain=True),
    _case("transformers", "Transformers' Trainer, a vision transformer", "frameworks", "transformers accelerate", 1),
    _case("tokens", "Transformers' Trainer, texts that are tokenised on the way", "frameworks",
          "transformers accelerate tokenizers", 0, counts=(0, 1, 2), free=("step",)),
    _case("lightning", "Lightning with validation", "frameworks", "lightning", 2),
    _case("fastai", "fastai: data block, batches augmented by the loop", "frameworks", "fastai", 1),
    _case("ultralytics", "Ultralytics, classification", "frameworks", "ultralytics", 0, counts=(0, 1, 2)),
    _case("compile", "a plain loop with torch.compile", "frameworks", "torch torchvision", 1, plain=True),
    _case("webdataset", "webdataset, batched by the pipeline", "streams", "webdataset", 1, plain=True),
    _case("mosaicml", "MosaicML streaming", "streams", "mosaicml-streaming", 1, python="streaming", plain=True),
    _case("hf-streaming", "Hugging Face datasets, streaming over Parquet", "streams", "datasets", 1, plain=True),
    _case("albumentations", "OpenCV and albumentations, segmentation", "libraries",
          "albumentations opencv-python-headless", 2, plain=True),
    _case("kornia", "Kornia in the training loop", "libraries", "kornia", 1, plain=True),
    _case("monai", "MONAI, volumes", "libraries", "monai", 1, plain=True),
    _case("pyav", "clips by PyAV", "libraries", "av", 2, plain=True),
    _case("grain", "Grain", "pipelines", "grain", 1),
    _case("tensorflow", "TensorFlow's tf.data", "pipelines", "tensorflow-cpu", 1, python="tensorflow"),
)  # fmt: skip

PACKAGES = {
    "torch": "torch torchvision numpy pillow timm transformers accelerate tokenizers lightning fastai ultralytics "
             "webdataset datasets albumentations opencv-python-headless kornia monai av grain",
    "streaming": "mosaicml-streaming",  # needs older versions of some packages; the others are as in "torch"
    "tensorflow": "tensorflow-cpu pillow",
}  # fmt: skip
