# SPDX-License-Identifier: Apache-2.0
"""Data for run.py: which programs are tried, with which packages, and what their recordings must
contain.

A row of the table in README.md is made of the cases that name it. The row's note gives the reason for
a "no" or "part" in a few words.
"""

import dataclasses

YES = dict.fromkeys(("loop", "batches", "samples", "read", "decode", "augment"), "yes")
# A verdict names a part of the data path, says that none stands out, or says why it cannot tell (on a busy
# machine).
NAMED = r"holds the run back|Nothing stands out|The simulation does not match this run"


@dataclasses.dataclass(frozen=True)
class Case:
    """One program under one Python."""

    name: str
    row: str
    file: str = "torch_programs.py"
    program: str = ""
    python: str = "wheels"  # wheels | frameworks | streaming | ffcv | tensorflow | debian
    packages: tuple = ()
    cells: dict = dataclasses.field(default_factory=lambda: YES)
    decoder: str = "PIL.load"
    transform: str = "RandomResizedCrop"
    verdict: str = NAMED
    sized: bool = True  # the report must know the size of a batch
    ahead: int = 0  # samples that may be loaded but never delivered to the training loop


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    note: str = ""


def _case(name, row, packages, **other):
    cells = {**YES, **other.pop("cells", {})}
    other.setdefault("program", name)
    return Case(name=name, row=row, packages=tuple(packages.split()), cells=cells, **other)


TORCH = "torch torchvision"
UNMADE = r"not seen how most batches were made"
UNSEEN = r"out of sight|takes most of the data threads' time"
NO_LOADER = r"no loader was seen"
ALONE = r"the loop makes its data itself"

ROWS = (
    Row("PyTorch `DataLoader`, Debian's"),
    Row("PyTorch `DataLoader`", "workers: none, fork, spawn; between these two releases, only 2.6 and 2.8 are tried"),
    Row("PyTorch `DataLoader(in_order=False)`"),
    Row("PyTorch `DataLoader`, threads as workers", "neither release has them"),
    Row("torchdata `StatefulDataLoader`"),
    Row("torchdata `nodes`, in one thread"),
    Row("torchdata `nodes`, threads or processes", "the nodes do not say which samples a batch is made of"),
    Row("Hugging Face accelerate", "it asks for each batch one step early; a step counts for the batch that it uses"),
    Row("Lightning"),
    Row("Hugging Face datasets", "a batch of rows is one call, so one `sample`; rows are read from a mapped file"),
    Row("Hugging Face datasets, streaming"),
    Row("webdataset"),
    Row("timm's loader", "with its prefetcher and without"),
    Row("Ultralytics' loader", "it never ends, so its workers load ahead for the next epoch; without mosaics, which reuse pictures"),
    Row("MosaicML streaming"),
    Row("litData"),
    Row("Grain", "`DataLoader` with and without worker processes, and a data set; a worker does not say which batch it makes"),
    Row("Ray Data", "the workers, which raylet starts, are recorded too; they do not know a row's batch"),
    Row("h5py", "`decode` is a selection of a dataset: chunks, filters, conversion"),
    Row("lmdb", "`read` is the copy of a value; cursors that are iterated over are not seen"),
    Row("imageio"),
    Row("a loop without a loader", "the threads' activity shows who waits for whom; here the loop makes its own data"),
    Row("scikit-image"),
    Row("SPDL"),
    Row("NVIDIA DALI, on the CPU", "NVTX ranges give decodes and operators; `augment` is one operator on one batch"),
    Row("TensorFlow `tf.data`", "loops in Python; the one inside `model.fit` is compiled, and not seen"),
    Row("TensorFlow `tf.data` with `py_function`"),
    Row("C++ with OpenCV", "`penstock/traces/markers.h` tells the rest: samples, batches, the loop"),
    Row("FFCV", "its file is mapped, so only reads of its index are seen; its build needs a compiler and the headers of "
                "OpenCV and libturbojpeg"),
)

_DEBIAN_TORCH = {"python": "debian", "packages": "torch torchvision", "row": "PyTorch `DataLoader`, Debian's"}
_ARRAYS = {"file": "array_programs.py"}
_NO_AUGMENT = {"augment": "-"}
_FRAMEWORKS = {"file": "framework_programs.py", "python": "frameworks"}

CASES = (
    *(_case("debian-" + name, program=name, **_DEBIAN_TORCH)
      for name in ("torch-inline", "torch-fork", "torch-spawn", "torch-iterable")),
    *(_case(name, "PyTorch `DataLoader`", TORCH)
      for name in ("torch-inline", "torch-fork", "torch-spawn", "torch-iterable")),
    _case("torch-unordered", "PyTorch `DataLoader(in_order=False)`", TORCH),
    *(_case(name, "torchdata `StatefulDataLoader`", TORCH + " torchdata")
      for name in ("torchdata-stateful", "torchdata-stateful-inline", "torchdata-stateful-stream")),
    _case("accelerate", "Hugging Face accelerate", TORCH + " accelerate"),
    *(_case(name, "Lightning", TORCH + " lightning") for name in ("lightning", "lightning-stream")),
    _case("webdataset", "webdataset", TORCH + " webdataset"),
    _case("webdataset-batched", "webdataset", TORCH + " webdataset", sized=False),  # DataLoader(batch_size=None)
    _case("datasets", "Hugging Face datasets", TORCH + " datasets", cells={"samples": "part"},
          decoder="datasets.Image"),
    _case("datasets-streaming", "Hugging Face datasets, streaming", TORCH + " datasets", decoder="datasets.Image"),
    _case("nodes-inline", "torchdata `nodes`, in one thread", TORCH + " torchdata", file="pipeline_programs.py",
          transform="PIL.resize"),
    *(_case(name, "torchdata `nodes`, threads or processes", TORCH + " torchdata", file="pipeline_programs.py",
            cells={"batches": "no"}, transform="PIL.resize", verdict=UNSEEN) for name in ("nodes", "nodes-process")),
    *(_case(name, "timm's loader", TORCH + " timm", transform="RandomResizedCropAndInterpolation", **_FRAMEWORKS)
      for name in ("timm", "timm-prefetcher")),
    _case("ultralytics", "Ultralytics' loader", TORCH + " ultralytics", decoder="cv2.imdecode",
          transform="RandomPerspective", ahead=4 * 2 * 4, **_FRAMEWORKS),
    *(_case(name, "MosaicML streaming", TORCH + " mosaicml-streaming", file="framework_programs.py", python="streaming")
      for name in ("mosaicml", "mosaicml-inline")),
    *(_case(name, "litData", TORCH + " litdata", **_FRAMEWORKS) for name in ("litdata", "litdata-inline")),
    *(_case(name, "Grain", "grain", cells={"batches": "no"}, transform=transform, verdict=UNSEEN, **_FRAMEWORKS)
      for name, transform in (("grain", "Resized"), ("grain-inline", "Resized"), ("grain-dataset", "resized"))),
    _case("ray", "Ray Data", "ray", cells={"batches": "no"}, transform="PIL.resize", verdict=UNMADE, **_FRAMEWORKS),
    _case("ffcv", "FFCV", "torch ffcv", file="framework_programs.py", python="ffcv", decoder="turbojpeg",
          transform="cv::resize", cells={"batches": "no", "samples": "no", "read": "part"}, verdict=UNMADE),
    *(_case(kind + name, row, packages, python=python, program=name, decoder=decoder, transform=transform,
            cells=cells, **_ARRAYS)
      for kind, python in (("", "wheels"), ("debian-", "debian"))
      for name, row, packages, decoder, transform, cells in (
          ("h5py", "h5py", "torch h5py", "h5py.Dataset", "", _NO_AUGMENT),
          ("lmdb", "lmdb", "torch lmdb", "", "", {"decode": "-", **_NO_AUGMENT}),
          ("lmdb-pictures", "lmdb", "torch lmdb", "cv2.imdecode", "cv2.resize", {}),
          ("imageio", "imageio", "torch imageio", "imageio.imread", "", _NO_AUGMENT),
          ("skimage", "scikit-image", "torch scikit-image", "skimage.io.imread", "skimage.resize", {}),
      )),
    *(_case(kind + "imageio-plain", "a loop without a loader", "imageio", python=python, program="imageio-plain",
            decoder="imageio.imread", transform="", cells={"loop": "no", "batches": "no", "samples": "no", **_NO_AUGMENT},
            verdict=ALONE, **_ARRAYS)
      for kind, python in (("", "wheels"), ("debian-", "debian"))),
    *(_case(name, "SPDL", "spdl-core", file="pipeline_programs.py", cells={"batches": "no"},
            transform="PIL.resize", verdict=UNSEEN) for name in ("spdl", "spdl-loader")),
    *(_case(name, "NVIDIA DALI, on the CPU", "nvidia-dali-cuda130", file="pipeline_programs.py",
            cells={"batches": "no", "samples": "no", "augment": "part"}, decoder="libjpeg_turbo_decoder",
            transform="[DALI][CPU op] Run Resize", ahead=12, verdict=UNSEEN) for name in ("dali", "dali-torch")),
    _case("tf-data", "TensorFlow `tf.data`", "tensorflow-cpu", python="tensorflow", file="pipeline_programs.py",
          cells={"batches": "no", "samples": "no", "augment": "no"}, decoder="tensorflow::jpeg",
          transform="resize", verdict=UNSEEN),
    _case("tf-data-python", "TensorFlow `tf.data` with `py_function`", "tensorflow-cpu", python="tensorflow",
          file="pipeline_programs.py", cells={"batches": "no", "samples": "no"}, transform="PIL.resize",
          verdict=UNSEEN),
    _case("opencv-threads", "C++ with OpenCV", "", python="native", decoder="cv::imread", transform="cv::resize",
          cells={"loop": "no", "batches": "no", "samples": "no"}, verdict=NO_LOADER),
)
