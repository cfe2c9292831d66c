# SPDX-License-Identifier: Apache-2.0
"""Training from shards: webdataset, MosaicML's streaming, Parquet by Hugging Face datasets. See common.py."""
import io
import os
import shutil
import tarfile

import torch
from common import BATCH, main, train
from frameworks import random_crops, small
from torch.utils.data import DataLoader

SHARDS, SIZE = 8, 128


def shard_of(task, number):
    return task.paths()[number::SHARDS]


def make_tars(task):
    os.makedirs(task.work, exist_ok=True)
    for number in range(SHARDS):
        with tarfile.open(os.path.join(task.work, "shard-%06d.tar" % number), "w") as tar:
            for path, label in shard_of(task, number):
                with open(path, "rb") as file:
                    data = file.read()
                stem = os.path.basename(path)[:-4]
                for name, content in ((stem + ".jpg", data), (stem + ".cls", str(label).encode())):
                    entry = tarfile.TarInfo(name)
                    entry.size = len(content)
                    tar.addfile(entry, io.BytesIO(content))


def webdataset(task):
    """webdataset over tar shards; its pipeline makes the batches."""
    import webdataset as wds

    data = wds.WebDataset(os.path.join(task.work, "shard-{000000..%06d}.tar" % (SHARDS - 1)), shardshuffle=False,
                          empty_check=False).shuffle(64)  # fmt: skip
    if "decode" in task.free:
        data = data.map(lambda sample: {"jpg": task.held.image(sample["__key__"] + ".jpg"), "cls": int(sample["cls"])})
    else:
        data = data.decode("pil")
    data = data.to_tuple("jpg", "cls").map_tuple(random_crops(task, SIZE), lambda label: label).batched(BATCH)
    loader = wds.WebLoader(data, batch_size=None, **task.persistent())
    train(task, loader, task.model(small))


def make_mds(task):
    from streaming import MDSWriter

    shutil.rmtree(task.work, ignore_errors=True)
    with MDSWriter(out=task.work, columns={"name": "str", "image": "bytes", "label": "int"}, size_limit=4 << 20) as out:
        for path, label in task.paths():
            with open(path, "rb") as file:
                out.write({"name": os.path.basename(path), "image": file.read(), "label": label})


def mosaicml(task):
    """MosaicML's StreamingDataset over local shards."""
    from PIL import Image
    from streaming import StreamingDataLoader, StreamingDataset
    from streaming.base.util import clean_stale_shared_memory

    class Streamed(StreamingDataset):
        def __init__(self, **arguments):
            super().__init__(**arguments)
            self.transform = random_crops(task, SIZE)

        def __getitem__(self, at):
            row = super().__getitem__(at)
            if "decode" in task.free:
                image = task.held.image(row["name"])
            else:
                image = Image.open(io.BytesIO(row["image"])).convert("RGB")
            return self.transform(image), row["label"]

    clean_stale_shared_memory()
    data = Streamed(local=task.work, shuffle=True, batch_size=BATCH)
    train(task, StreamingDataLoader(data, batch_size=BATCH, **task.persistent()), task.model(small))


def make_parquet(task):
    import datasets

    features = datasets.Features({"image": datasets.Image(), "name": datasets.Value("string"),
                                  "label": datasets.Value("int64")})  # fmt: skip
    os.makedirs(task.work, exist_ok=True)
    for number in range(SHARDS):
        rows = {"image": [], "name": [], "label": []}
        # 80 samples in each shard make epochs of some four seconds. At the end of each epoch the library sleeps for
        # five seconds before it gives the last batch.
        for path, label in shard_of(task, number)[:80]:
            with open(path, "rb") as file:
                rows["image"].append({"bytes": file.read(), "path": None})
            rows["name"].append(os.path.basename(path))
            rows["label"].append(label)
        datasets.Dataset.from_dict(rows, features=features).to_parquet(os.path.join(task.work, "part%d.parquet" % number))


def hf_streaming(task):
    """datasets.load_dataset(streaming=True) over Parquet, shuffled and mapped."""
    import datasets

    files = [os.path.join(task.work, "part%d.parquet" % number) for number in range(SHARDS)]
    data = datasets.load_dataset("parquet", data_files=files, split="train", streaming=True)
    transform = random_crops(task, SIZE)
    held = "decode" in task.free
    if held:
        data = data.cast_column("image", datasets.Image(decode=False))

    def prepared(row):
        image = task.held.image(row["name"]) if held else row["image"].convert("RGB")
        return {"image": transform(image), "label": row["label"]}

    data = data.shuffle(seed=1, buffer_size=64).map(prepared, remove_columns=["name"])

    def pairs(rows):
        return torch.stack([row["image"] for row in rows]), torch.tensor([row["label"] for row in rows])

    loader = DataLoader(data, batch_size=BATCH, num_workers=task.workers, collate_fn=pairs)
    train(task, loader, task.model(small))


PROGRAMS = {"webdataset": webdataset, "mosaicml": mosaicml, "hf-streaming": hf_streaming}
PREPARATIONS = {"webdataset": make_tars, "mosaicml": make_mds, "hf-streaming": make_parquet}

if __name__ == "__main__":
    main(PROGRAMS, PREPARATIONS)
