# SPDX-License-Identifier: Apache-2.0
"""Programs that train image classifiers with the frameworks' own code, and one that trains on text. See common.py."""
import os
import random

import torch
from common import BATCH, CLASSES, Constant, Over, main, noise, train
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    """A dataset of (transformed picture, class). Uses decoded pictures if decoding is free."""

    def __init__(self, task, transform, part=slice(None)):
        self.task, self.transform = task, transform
        self.paths = task.paths()[part]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        path, label = self.paths[index]
        return self.transform(self.task.open_rgb(path)), label


def folder(task, transform):
    """torchvision's ImageFolder over the pictures of the task."""
    from torchvision.datasets import ImageFolder

    return ImageFolder(task.pictures, transform, loader=task.open_rgb)


def random_crops(task, size):
    from torchvision import transforms

    made = transforms.Compose([transforms.RandomResizedCrop(size), transforms.RandomHorizontalFlip(),
                               transforms.ToTensor(),
                               transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])  # fmt: skip
    return task.transform(made, noise(3, size, size))


def resnet():
    from torchvision.models import resnet18

    return resnet18(num_classes=CLASSES)


def small():
    """A network whose step is so short that the data path matters."""
    return torch.nn.Sequential(torch.nn.Conv2d(3, 16, 5, stride=4), torch.nn.ReLU(), torch.nn.Conv2d(16, 32, 3, stride=2),
                               torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
                               torch.nn.Linear(32, CLASSES))  # fmt: skip


def timm(task):
    """timm's own dataset, loader, augmentation and model."""
    import timm
    from timm.data import ImageDataset, create_loader

    size = 96
    data = ImageDataset(task.pictures) if "decode" not in task.free else Samples(task, None)
    loader = create_loader(data, input_size=(3, size, size), batch_size=BATCH, is_training=True, use_prefetcher=False,
                           auto_augment="rand-m7-inc1", re_prob=0.25, num_workers=task.workers,
                           device=torch.device("cpu"), persistent_workers=task.workers > 0)  # fmt: skip
    if "augment" in task.free:
        data.transform = Constant(noise(3, size, size))
    train(task, loader, task.model(lambda: timm.create_model("resnet10t", num_classes=CLASSES)))


def torchvision(task):
    """As torchvision's references/classification: transforms v2, and a second loader for validation."""
    from torchvision.transforms import v2

    size = 64
    made = v2.Compose([v2.RandomResizedCrop(size, antialias=True), v2.RandomHorizontalFlip(), v2.TrivialAugmentWide(),
                       v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True),
                       v2.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)), v2.RandomErasing(0.1)])  # fmt: skip
    plain = v2.Compose([v2.Resize(size), v2.CenterCrop(size), v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True)])
    loader = DataLoader(folder(task, task.transform(made, noise(3, size, size))), batch_size=BATCH, shuffle=True,
                        num_workers=task.workers)  # fmt: skip
    held_out = DataLoader(Samples(task, plain, slice(None, None, 5)), batch_size=1, num_workers=task.workers)

    def validate(model):
        model.eval()
        with torch.inference_mode():
            for inputs, _ in held_out:
                model(inputs)

    train(task, loader, task.model(resnet), validate=validate)


def trainer(task, model, data, collate=None):
    """Transformers' Trainer, stopped when the time is over."""
    from transformers import Trainer, TrainerCallback, TrainingArguments

    class Told(TrainerCallback):
        def on_epoch_begin(self, _args, _state, _control, **_):
            task.clock.epoch()

        def on_step_end(self, _args, _state, control, **_):
            control.should_training_stop = task.clock.step(BATCH)

    arguments = TrainingArguments(output_dir=task.work, per_device_train_batch_size=BATCH, num_train_epochs=1000,
                                  dataloader_num_workers=task.workers, dataloader_drop_last=True, use_cpu=True,
                                  report_to=[], save_strategy="no", logging_strategy="no", disable_tqdm=True,
                                  remove_unused_columns=False)  # fmt: skip
    Trainer(model=model, args=arguments, train_dataset=data, data_collator=collate, callbacks=[Told()]).train()


class Answers(torch.nn.Module):
    """A trivial model with the interface of Transformers' models."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, CLASSES)

    def forward(self, labels=None, **inputs):
        first = next(iter(inputs.values()))
        logits = self.layer(first.reshape(len(first), -1)[:, :1].float())
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


class Named(Samples):
    def __getitem__(self, index):
        pixels, label = super().__getitem__(index)
        return {"pixel_values": pixels, "labels": label}


def transformers(task):
    """The Trainer on a small vision transformer."""
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(image_size=96, patch_size=16, hidden_size=96, num_hidden_layers=3, num_attention_heads=3,
                       intermediate_size=192, num_labels=CLASSES)  # fmt: skip
    model = Answers() if "step" in task.free else ViTForImageClassification(config)
    trainer(task, model, Named(task, random_crops(task, 96)))


def words_of(task):
    path = os.path.join(task.work, "texts.txt")
    with open(path, encoding="ascii") as file:
        return file.read().split("\n")


def make_texts(task):
    chance = random.Random(3)
    words = ["".join(chance.choice("etaoinshrdlu") for _ in range(chance.randint(2, 9))) for _ in range(4000)]
    os.makedirs(task.work, exist_ok=True)
    with open(os.path.join(task.work, "texts.txt"), "w", encoding="ascii") as file:
        file.write("\n".join(" ".join(chance.choices(words, k=400)) for _ in range(120 * BATCH)))


class Texts(Dataset):
    """Texts that are tokenised when they are asked for."""

    def __init__(self, task, length):
        from tokenizers import Tokenizer, models, pre_tokenizers, trainers

        self.texts, self.length = words_of(task), length
        self.tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
        self.tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        self.tokenizer.train_from_iterator(self.texts[:200], trainers.BpeTrainer(
            vocab_size=2000, special_tokens=["[UNK]", "[PAD]"], show_progress=False))  # fmt: skip
        self.tokenizer.enable_truncation(length)
        self.tokenizer.enable_padding(length=length)

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        found = self.tokenizer.encode(self.texts[index])
        return {"input_ids": torch.tensor(found.ids), "labels": index % CLASSES}


def tokens(task):
    """The Trainer on a small BERT and texts that are tokenised as they are asked for."""
    from transformers import BertConfig, BertForSequenceClassification

    config = BertConfig(vocab_size=2000, hidden_size=128, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=256, num_labels=CLASSES)  # fmt: skip
    model = Answers() if "step" in task.free else BertForSequenceClassification(config)
    trainer(task, model, Texts(task, 128))


def lightning(task):
    """Lightning's Trainer with a validation loader."""
    import lightning.pytorch as pl

    class Model(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.layers = task.model(small)

        def on_train_epoch_start(self):
            task.clock.epoch()

        def training_step(self, batch, _index):
            return torch.nn.functional.cross_entropy(self.layers(batch[0]), batch[1])

        def on_train_batch_end(self, _outputs, batch, _index):
            if task.clock.step(len(batch[1])):
                raise Over

        def validation_step(self, batch, _index):
            return torch.nn.functional.cross_entropy(self.layers(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.01)

    class Data(pl.LightningDataModule):
        def train_dataloader(self):
            return DataLoader(folder(task, random_crops(task, 96)), batch_size=BATCH, shuffle=True, **task.persistent())

        def val_dataloader(self):
            held_out = Samples(task, random_crops(task, 96), slice(None, None, 5))
            return DataLoader(held_out, batch_size=BATCH, **task.persistent())

    trained = pl.Trainer(max_epochs=1000, accelerator="cpu", devices=1, logger=False, default_root_dir=task.work,
                         enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
                         num_sanity_val_steps=0)  # fmt: skip
    trained.fit(Model(), datamodule=Data())


def fastai(task):
    """fastai's data block and Learner: pictures larger than needed, augmented in whole batches."""
    from fastai.vision.all import (
        Callback, CancelFitException, CategoryBlock, DataBlock, ImageBlock, Learner, PILImage, RandomSplitter, Resize, Transform,
        aug_transforms, get_image_files, parent_label,
    )  # fmt: skip
    from torchvision.models import resnet18

    class Opened(PILImage):
        @classmethod
        def create(cls, path, **_):
            return PILImage.create(task.held.array(str(path)))

    class Told(Callback):
        def before_train(self):
            task.clock.epoch()

        def after_batch(self):
            if self.training and task.clock.step(len(self.yb[0])):
                raise CancelFitException

    finished = PILImage.create(task.held.array(task.paths()[0][0])[:64, :64])

    class Finished(Transform):
        def encodes(self, _image: PILImage):
            return finished

    done = "augment" in task.free
    block = DataBlock((ImageBlock(Opened if "decode" in task.free else PILImage), CategoryBlock),
                      get_items=get_image_files, splitter=RandomSplitter(0.2, seed=1), get_y=parent_label,
                      item_tfms=Finished() if done else Resize(128),
                      batch_tfms=None if done else aug_transforms(size=64))  # fmt: skip
    loaders = block.dataloaders(task.pictures, bs=BATCH, num_workers=task.workers, device=torch.device("cpu"))
    learner = Learner(loaders, task.model(lambda: resnet18(num_classes=CLASSES)), path=task.work,
                      loss_func=torch.nn.CrossEntropyLoss(), cbs=[Told()])  # fmt: skip
    with learner.no_bar(), learner.no_logging():
        learner.fit(1000)


def make_ultralytics(task):
    """Makes the folders that Ultralytics wants: train and val, each with a folder for each class."""
    os.makedirs(os.path.join(task.work, "set"), exist_ok=True)
    for part in ("train", "val"):
        link = os.path.join(task.work, "set", part)
        if not os.path.islink(link):
            os.symlink(os.path.abspath(task.pictures), link)


def ultralytics(task):
    """Ultralytics' classifier, by its own train()."""
    os.environ.update(YOLO_CONFIG_DIR=task.work, YOLO_OFFLINE="true", YOLO_AUTOINSTALL="false", YOLO_VERBOSE="false")
    import ultralytics.data.dataset as datasets
    from ultralytics import YOLO

    if "decode" in task.free:
        datasets.ClassificationDataset.imread = staticmethod(task.held.array)
    if "augment" in task.free:
        datasets.classify_augmentations = lambda size, **_: Constant(noise(3, size, size))

    def stepped(trainer):
        if task.clock.step(trainer.batch_size):
            raise Over

    def with_workers(trainer):
        trainer.args.workers = task.workers  # Ultralytics uses no workers without a GPU

    def light(trainer):
        if "step" in task.free:
            weight = next(trainer.model.parameters())
            trainer.model.predict = lambda images, *_, **__: weight.mean() + torch.zeros(len(images), CLASSES)

    model = YOLO("yolov8n-cls.yaml")
    model.add_callback("on_pretrain_routine_start", with_workers)
    model.add_callback("on_train_start", light)
    model.add_callback("on_train_epoch_start", lambda _trainer: task.clock.epoch())
    model.add_callback("on_train_batch_end", stepped)
    model.train(data=os.path.join(task.work, "set"), epochs=1000, imgsz=64, batch=BATCH, workers=task.workers,
                device="cpu", project=task.work, exist_ok=True, plots=False, save=False, val=False, verbose=False)  # fmt: skip


def compiled(task):
    """A plain loop with torch.compile: the first step compiles."""
    loader = DataLoader(folder(task, random_crops(task, 64)), batch_size=BATCH, shuffle=True, drop_last=True,
                        **task.persistent())  # fmt: skip
    train(task, loader, torch.compile(task.model(resnet)))


PROGRAMS = {
    "timm": timm,
    "torchvision": torchvision,
    "transformers": transformers,
    "tokens": tokens,
    "lightning": lightning,
    "fastai": fastai,
    "ultralytics": ultralytics,
    "compile": compiled,
}
PREPARATIONS = {"tokens": make_texts, "ultralytics": make_ultralytics}

if __name__ == "__main__":
    main(PROGRAMS, PREPARATIONS)
