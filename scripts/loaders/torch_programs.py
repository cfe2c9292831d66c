# SPDX-License-Identifier: Apache-2.0
"""Programs that load through torch.utils.data or a wrapper of it: see common.py."""

import functools
import io
import sys
import tarfile

import torch
from common import BATCH, SAMPLES, first_length, label_of, main, open_picture
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info
from torchvision import transforms


def make_transform():
    return transforms.Compose([transforms.RandomResizedCrop(64), transforms.ToTensor()])


class Pictures(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.transform = make_transform()

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.transform(open_picture(self.paths[index])), label_of(self.paths[index])


class Stream(IterableDataset):
    def __init__(self, paths):
        self.paths = paths
        self.transform = make_transform()

    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        for path in self.paths[first::step]:
            yield self.transform(open_picture(path)), label_of(path)


def dataloader(task, **arguments):
    arguments.setdefault("num_workers", 2)
    task.loop(DataLoader(Pictures(task.paths), batch_size=BATCH, **arguments), first_length)


def iterable(task):
    task.loop(DataLoader(Stream(task.paths), batch_size=BATCH, num_workers=2), first_length)


def stateful(task, **arguments):
    """Takes all batches from one loader. Its state_dict() must then return a state."""
    from torchdata.stateful_dataloader import StatefulDataLoader

    first = StatefulDataLoader(Pictures(task.paths), batch_size=BATCH, **arguments)
    task.loop(first, first_length)
    if first.state_dict() is None:
        sys.exit("loaders: no state")


def stateful_iterable(task):
    """Loads the first half of a stream, which saves its own state. A second loader continues from this state."""
    from torchdata.stateful_dataloader import StatefulDataLoader

    class Resumable(Stream):
        def __init__(self, paths):
            super().__init__(paths)
            self.at = 0

        def __iter__(self):
            return self

        def __next__(self):
            if self.at == len(self.paths):
                raise StopIteration
            self.at += 1
            path = self.paths[self.at - 1]
            return self.transform(open_picture(path)), label_of(path)

        def state_dict(self):
            return {"at": self.at}

        def load_state_dict(self, state):
            self.at = state["at"]

    loader = StatefulDataLoader(Resumable(task.paths), batch_size=BATCH, num_workers=0)
    half = SAMPLES // BATCH // 2
    for count, batch in enumerate(loader, 1):
        task.step(len(batch[0]))
        if count == half:
            break
    again = StatefulDataLoader(Resumable(task.paths), batch_size=BATCH, num_workers=0)
    again.load_state_dict(loader.state_dict())
    task.loop(again, first_length)


def accelerate(task):
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    loader = accelerator.prepare(DataLoader(Pictures(task.paths), batch_size=BATCH, num_workers=2))
    task.loop(loader, first_length)


def lightning(task, dataset=Pictures):
    try:
        import lightning.pytorch as pl
    except ImportError:
        import pytorch_lightning as pl

    class Model(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 10)

        def training_step(self, batch, index):
            task.step(len(batch[0]))
            return torch.nn.functional.cross_entropy(self.layer(batch[0].mean((2, 3))), batch[1])

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.01)

    trainer = pl.Trainer(max_epochs=1, accelerator="cpu", devices=1, logger=False, default_root_dir=str(task.work),
                         enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Model(), DataLoader(dataset(task.paths), batch_size=BATCH, num_workers=2))


def make_shards(task):
    task.work.mkdir(parents=True, exist_ok=True)
    for shard in range(4):
        with tarfile.open(task.work / f"shard-{shard:06d}.tar", "w") as tar:
            for path in task.paths[shard::4]:
                stem = path.rpartition("/")[2][:-4]
                with open(path, "rb") as file:
                    data = file.read()
                for name, content in ((stem + ".jpg", data), (stem + ".cls", str(label_of(path)).encode())):
                    entry = tarfile.TarInfo(name)
                    entry.size = len(content)
                    tar.addfile(entry, io.BytesIO(content))


def webdataset(task, batched=False):
    import webdataset as wds

    data = wds.WebDataset(str(task.work / "shard-{000000..000003}.tar"), shardshuffle=False)
    data = data.decode("pil").to_tuple("jpg", "cls").map_tuple(make_transform(), None)
    if batched:
        task.loop(DataLoader(data.batched(BATCH), batch_size=None, num_workers=2), first_length)
    else:
        task.loop(DataLoader(data, batch_size=BATCH, num_workers=2), first_length)


def make_arrow(task):
    import datasets

    embedded = {"image": [{"bytes": open(path, "rb").read(), "path": None} for path in task.paths],
                "label": [label_of(path) for path in task.paths]}
    features = datasets.Features({"image": datasets.Image(), "label": datasets.Value("int64")})
    kept = datasets.Dataset.from_dict(embedded, features=features)
    kept.save_to_disk(str(task.work / "arrow"))
    kept.to_parquet(str(task.work / "rows.parquet"))


def _transformed(batch):
    transform = make_transform()
    return {"image": [transform(image.convert("RGB")) for image in batch["image"]], "label": batch["label"]}


def hf_datasets(task):
    import datasets

    data = datasets.load_from_disk(str(task.work / "arrow")).with_transform(_transformed)
    task.loop(DataLoader(data, batch_size=BATCH, num_workers=2), lambda batch: len(batch["label"]))


def hf_streaming(task):
    import datasets

    data = datasets.load_dataset("parquet", data_files=str(task.work / "rows.parquet"), split="train", streaming=True)
    transform = make_transform()
    data = data.map(lambda row: {"image": transform(row["image"].convert("RGB")), "label": row["label"]})
    task.loop(DataLoader(data.with_format("torch"), batch_size=BATCH, num_workers=0), lambda batch: len(batch["label"]))


PROGRAMS = {
    "torch-inline": functools.partial(dataloader, num_workers=0),
    "torch-fork": dataloader,
    "torch-spawn": functools.partial(dataloader, multiprocessing_context="spawn"),
    "torch-iterable": iterable,
    "torch-unordered": functools.partial(dataloader, in_order=False),
    "torchdata-stateful": functools.partial(stateful, num_workers=2),
    "torchdata-stateful-inline": functools.partial(stateful, num_workers=0),
    "torchdata-stateful-stream": stateful_iterable,
    "accelerate": accelerate,
    "lightning": lightning,
    "lightning-stream": functools.partial(lightning, dataset=Stream),
    "webdataset": webdataset,
    "webdataset-batched": functools.partial(webdataset, batched=True),
    "datasets": hf_datasets,
    "datasets-streaming": hf_streaming,
}
PREPARATIONS = {
    "webdataset": make_shards,
    "webdataset-batched": make_shards,
    "datasets": make_arrow,
    "datasets-streaming": make_arrow,
}

if __name__ == "__main__":
    main(PROGRAMS, PREPARATIONS)
