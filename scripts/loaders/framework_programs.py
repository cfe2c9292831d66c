# SPDX-License-Identifier: Apache-2.0
"""Programs whose loader is that of a training framework or of a library for streams: see common.py.

Each library is imported only by its programs, since no environment has all of them.
"""

import functools
import io
import os
import pathlib

import numpy
from common import BATCH, SAMPLES, SIZE, first_length, label_of, main, open_picture, pixels_of


def link_classes(task):
    """Makes a folder for each class, with links to its pictures."""
    for path in task.paths:
        folder = task.work / "classes" / f"class{label_of(path)}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / pathlib.Path(path).name).symlink_to(path)


def timm(task, prefetcher=False):
    import torch
    from timm.data import ImageDataset, create_loader

    loader = create_loader(ImageDataset(str(task.work / "classes")), input_size=(3, SIZE, SIZE), batch_size=BATCH,
                           is_training=True, num_workers=2, use_prefetcher=prefetcher, device=torch.device("cpu"),
                           persistent_workers=False)
    task.loop(loader, first_length)


def link_detection(task):
    """Makes YOLO's folders: pictures, and a label file with one box for each. Constructing the dataset here writes
    its cache of labels, so the recorded program finds it."""
    for name in ("images", "labels"):
        (task.work / name).mkdir(parents=True, exist_ok=True)
    for path in task.paths:
        name = pathlib.Path(path)
        (task.work / "images" / name.name).symlink_to(path)
        (task.work / "labels" / (name.stem + ".txt")).write_text(f"{label_of(path)} 0.5 0.5 0.5 0.5\n", encoding="ascii")
    yolo_dataset(task)


def yolo_dataset(task):
    """A dataset for object detection. It makes no mosaics, since these reuse pictures without reading them again."""
    from ultralytics.cfg import get_cfg
    from ultralytics.data import YOLODataset

    options = get_cfg(overrides={"imgsz": SIZE, "mosaic": 0.0, "mixup": 0.0, "copy_paste": 0.0, "task": "detect"})
    names = {label: str(label) for label in range(10)}
    return YOLODataset(img_path=str(task.work / "images"), data={"names": names, "nc": len(names), "channels": 3},
                       task="detect", imgsz=SIZE, augment=True, hyp=options, batch_size=BATCH)


def ultralytics(task):
    """Runs one epoch. This loader never ends: at the end of an epoch its workers load samples of the next one."""
    from ultralytics.data import build_dataloader

    loader = build_dataloader(yolo_dataset(task), BATCH, 2, shuffle=True)
    task.loop(loader, lambda batch: len(batch["img"]))


def torch_transform():
    from torchvision import transforms

    return transforms.Compose([transforms.RandomResizedCrop(SIZE), transforms.ToTensor()])


def opened(data):
    from PIL import Image

    return Image.open(io.BytesIO(data)).convert("RGB")


def make_mds(task):
    from streaming import MDSWriter

    with MDSWriter(out=str(task.work), columns={"image": "bytes", "label": "int"}, size_limit=1 << 20) as out:
        for path in task.paths:
            out.write({"image": pathlib.Path(path).read_bytes(), "label": label_of(path)})


def mosaicml(task, workers=2):
    from streaming import StreamingDataLoader, StreamingDataset
    from streaming.base.util import clean_stale_shared_memory

    class Pictures(StreamingDataset):
        def __init__(self, **arguments):
            super().__init__(**arguments)
            self.transform = torch_transform()

        def __getitem__(self, at):
            row = super().__getitem__(at)
            return self.transform(opened(row["image"])), row["label"]

    clean_stale_shared_memory()
    data = Pictures(local=str(task.work), shuffle=True, batch_size=BATCH)
    task.loop(StreamingDataLoader(data, batch_size=BATCH, num_workers=workers), first_length)


def lit_row(path):
    return {"image": pathlib.Path(path).read_bytes(), "label": label_of(path)}


def make_chunks(task):
    from litdata import optimize

    optimize(fn=lit_row, inputs=task.paths, output_dir=str(task.work / "chunks"), chunk_bytes="1MB", num_workers=1)


def litdata(task, workers=2):
    from litdata import StreamingDataLoader, StreamingDataset

    class Pictures(StreamingDataset):
        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named)
            self.augment = torch_transform()

        def __getitem__(self, index):
            row = super().__getitem__(index)
            return self.augment(opened(row["image"])), row["label"]

    data = Pictures(str(task.work / "chunks"), shuffle=True)
    task.loop(StreamingDataLoader(data, batch_size=BATCH, num_workers=workers), first_length)


class Files:
    """A data source for Grain. Its records are the bytes of a picture and its label."""

    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return pathlib.Path(self.paths[index]).read_bytes(), label_of(self.paths[index])


def grain(task, workers=2):
    import grain.python as pygrain

    class Decoded(pygrain.MapTransform):
        def map(self, element):
            return opened(element[0]), element[1]

    class Resized(pygrain.MapTransform):
        def map(self, element):
            return pixels_of(element[0]), element[1]

    files = Files(task.paths)
    sampler = pygrain.IndexSampler(len(files), shard_options=pygrain.NoSharding(), shuffle=True, num_epochs=1, seed=1)
    loader = pygrain.DataLoader(data_source=files, sampler=sampler, worker_count=workers,
                                operations=[Decoded(), Resized(), pygrain.Batch(BATCH, drop_remainder=True)])
    task.loop(loader, first_length)


def grain_dataset(task):
    """Uses Grain's other interface, MapDataset, whose threads read ahead."""
    import grain.python as pygrain

    def decoded(element):
        return opened(element[0]), element[1]

    def resized(element):
        return pixels_of(element[0]), element[1]

    data = pygrain.MapDataset.source(Files(task.paths)).shuffle(seed=1).map(decoded).map(resized).batch(BATCH)
    task.loop(data.to_iter_dataset(), first_length)


def ray(task):
    import ray

    def load(row):
        return {"image": pixels_of(open_picture(row["item"])), "label": label_of(row["item"])}

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100 << 20,
             _temp_dir=os.environ.get("PENSTOCK_RAY_DIR"))
    data = ray.data.from_items(task.paths, override_num_blocks=8).map(load)
    task.loop(data.iter_batches(batch_size=BATCH), lambda batch: len(batch["label"]))
    ray.shutdown()


def make_beton(task):
    from ffcv.fields import IntField, RGBImageField
    from ffcv.writer import DatasetWriter

    class Opened:
        def __len__(self):
            return SAMPLES

        def __getitem__(self, index):
            return open_picture(task.paths[index]), label_of(task.paths[index])

    task.work.mkdir(parents=True, exist_ok=True)
    fields = {"image": RGBImageField(write_mode="jpg"), "label": IntField()}
    DatasetWriter(str(task.work / "pictures.beton"), fields, num_workers=1).from_indexed_dataset(Opened())


def ffcv(task):
    from ffcv.fields.decoders import IntDecoder, RandomResizedCropRGBImageDecoder
    from ffcv.loader import Loader, OrderOption
    from ffcv.transforms import ToTensor

    pipelines = {"image": [RandomResizedCropRGBImageDecoder((SIZE, SIZE)), ToTensor()], "label": [IntDecoder(), ToTensor()]}
    loader = Loader(str(task.work / "pictures.beton"), batch_size=BATCH, num_workers=2, order=OrderOption.RANDOM,
                    pipelines=pipelines)
    task.loop(loader, first_length)


PROGRAMS = {
    "timm": timm,
    "timm-prefetcher": functools.partial(timm, prefetcher=True),
    "ultralytics": ultralytics,
    "mosaicml": mosaicml,
    "mosaicml-inline": functools.partial(mosaicml, workers=0),
    "litdata": litdata,
    "litdata-inline": functools.partial(litdata, workers=0),
    "grain": grain,
    "grain-inline": functools.partial(grain, workers=0),
    "grain-dataset": grain_dataset,
    "ray": ray,
    "ffcv": ffcv,
}
PREPARATIONS = {
    "timm": link_classes,
    "timm-prefetcher": link_classes,
    "ultralytics": link_detection,
    "mosaicml": make_mds,
    "mosaicml-inline": make_mds,
    "litdata": make_chunks,
    "litdata-inline": make_chunks,
    "ffcv": make_beton,
}

if __name__ == "__main__":
    main(PROGRAMS, PREPARATIONS)
