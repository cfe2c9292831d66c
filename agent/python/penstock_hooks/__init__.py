# SPDX-License-Identifier: Apache-2.0
"""Penstock's hooks for Python libraries. `install()` is the only entry.

Nothing is patched before the program imports a watched module. Then our modules that WATCHED lists for it are imported,
and the `patch(module)` of each is called. If the program reloads the module, `patch` is called again. """
import sys

# module of the program -> our modules that patch it
WATCHED = {
    "torch": ("facts", "tensor"),
    "torch.distributed.distributed_c10d": ("torch_ranks",),
    "torch.utils.data.dataloader": ("torch_loader",),
    "torchvision": ("facts",),
    "torchvision.transforms.transforms": ("transforms",),
    "torchvision.transforms.autoaugment": ("transforms",),
    "torchvision.transforms.v2._transform": ("transforms",),
    "torchvision.transforms.v2._container": ("transforms",),
    "torchvision.io.image": ("transforms",),
    "timm": ("facts",),
    "timm.data.loader": ("look_ahead",),
    "ultralytics": ("facts",),
    "ultralytics.data.augment": ("transforms",),
    "streaming": ("facts",),
    "litdata": ("facts",),
    "grain": ("facts",),
    "grain._src.python.data_loader": ("grain_hooks",),
    "grain._src.python.dataset.dataset": ("grain_hooks",),
    "grain._src.python.dataset.transformations.source": ("grain_hooks",),
    "grain._src.python.dataset.transformations.map": ("grain_hooks",),
    "grain._src.python.dataset.transformations.batch": ("grain_hooks",),
    "grain._src.python.dataset.transformations.prefetch": ("grain_hooks",),
    "grain._src.python.dataset.transformations.process_prefetch": ("grain_hooks",),
    "ray": ("facts",),
    "ray.data.iterator": ("ray_hooks",),
    "ray.data._internal.execution.operators.map_transformer": ("ray_hooks",),
    "ffcv": ("facts",),
    "ffcv.loader.epoch_iterator": ("native_pipelines",),
    "albumentations": ("facts",),
    "albumentations.core.transforms_interface": ("transforms",),
    "albumentations.core.composition": ("transforms",),
    "PIL": ("facts",),
    "PIL.Image": ("pil",),
    "PIL.ImageFile": ("pil",),
    "PIL.WebPImagePlugin": ("pil",),
    "PIL.AvifImagePlugin": ("pil",),
    "cv2": ("facts", "cv2_hooks", "videos"),
    "numpy": ("facts", "numpy_hooks"),
    "torchdata": ("facts",),
    "torchdata.stateful_dataloader.worker": ("torchdata_stateful",),
    "torchdata.stateful_dataloader.stateful_dataloader": ("torchdata_stateful",),
    "torchdata.nodes.loader": ("torchdata_nodes",),
    "torchdata.nodes.map": ("torchdata_nodes",),
    "torchdata.nodes._apply_udf": ("torchdata_nodes",),
    "accelerate": ("facts",),
    "accelerate.data_loader": ("look_ahead",),
    "pytorch_lightning": ("facts",),
    "pytorch_lightning.loops.fetchers": ("look_ahead",),
    "lightning": ("facts",),
    "lightning.pytorch.loops.fetchers": ("look_ahead",),
    "fastai": ("facts",),
    "fastai.data.load": ("fastai_hooks",),
    "fastcore.transform": ("batch_transforms",),
    "fasttransform.transform": ("batch_transforms",),
    "kornia": ("facts",),
    "kornia.augmentation.base": ("batch_transforms",),
    "webdataset": ("facts",),
    "webdataset.filters": ("webdataset_hooks",),
    "datasets": ("facts",),
    "datasets.features.image": ("datasets_hooks",),
    "datasets.features.audio": ("datasets_hooks",),
    "datasets.features.video": ("datasets_hooks",),
    "datasets.features.pdf": ("datasets_hooks",),
    "datasets.features.nifti": ("datasets_hooks",),
    "datasets.formatting.formatting": ("datasets_hooks",),
    "h5py": ("facts",),
    "h5py._hl.dataset": ("array_files",),
    "h5py._debian_h5py_serial._hl.dataset": ("array_files",),
    "h5py._debian_h5py_mpi._hl.dataset": ("array_files",),
    "lmdb": ("facts", "array_files"),
    "imageio": ("facts", "pictures"),
    "imageio.v2": ("pictures",),
    "imageio.v3": ("pictures",),
    "imageio.core.functions": ("pictures",),
    "skimage": ("facts",),
    "skimage.io._io": ("pictures",),
    "skimage.transform._warps": ("pictures",),
    "skimage.color.colorconv": ("pictures",),
    "skimage.filters._gaussian": ("pictures",),
    "skimage.filters._median": ("pictures",),
    "skimage.exposure.exposure": ("pictures",),
    "skimage.exposure._adapthist": ("pictures",),
    "skimage.exposure.histogram_matching": ("pictures",),
    "skimage.restoration._denoise": ("pictures",),
    "skimage.util.noise": ("pictures",),
    "skimage.util.dtype": ("pictures",),
    "scipy.ndimage._interpolation": ("pictures",),
    "scipy.ndimage._filters": ("pictures",),
    "tensorflow": ("facts",),
    "tensorflow.python.data.ops.iterator_ops": ("native_pipelines",),
    "nvidia.dali": ("facts",),
    "nvidia.dali.pipeline": ("native_pipelines",),
    "nvidia.dali.plugin.pytorch": ("native_pipelines",),
    "spdl.pipeline._pipeline": ("native_pipelines",),
    "spdl.pipeline._common._convert": ("native_pipelines",),
    "http.client": ("http_hooks",),
    "urllib3.connection": ("http_hooks",),
    "aiohttp.connector": ("http_hooks",),
    "aiohttp.client_reqrep": ("http_hooks",),
    "simplejpeg": ("facts",),
    "simplejpeg._jpeg": ("decoders",),
    "turbojpeg": ("facts", "decoders"),
    "pyvips": ("facts",),
    "pyvips.vimage": ("decoders",),
    "imagecodecs": ("facts",),
    "kornia_rs": ("facts",),
    "kornia_rs.kornia_rs": ("decoders",),
    "nvidia.nvimgcodec": ("facts",),
    "nvidia.nvimgcodec.nvimgcodec_impl": ("decoders",),
    "soundfile": ("facts", "decoders"),
    "torchaudio": ("facts", "decoders"),
    "librosa": ("facts",),
    "librosa.core.audio": ("decoders",),
    "av": ("facts",),
    "av.video.frame": ("videos",),
    "av.audio.frame": ("videos",),
    "decord": ("facts",),
    "decord.video_reader": ("videos",),
    "torchcodec": ("facts",),
    "torchcodec.decoders._video_decoder": ("videos",),
    "torchcodec.decoders._audio_decoder": ("videos",),
    "torchcodec.decoders._wav_decoder": ("videos",),
    "torchcodec.decoders._image_decoders": ("decoders",),
    "imageio_ffmpeg": ("facts",),
    "imageio_ffmpeg._io": ("videos",),
    "nibabel": ("facts",),
    "nibabel.arrayproxy": ("decoders",),
    "pydicom": ("facts",),
    "pydicom.dataset": ("decoders",),
    "pydicom.pixels.utils": ("decoders",),
    "pydicom.pixels.decoders.base": ("decoders",),
    "zarr": ("facts",),
    "zarr.core": ("decoders",),
    "zarr.core.array": ("decoders",),
    "numcodecs": ("facts",),
    "blosc": ("facts",),
    "blosc.toplevel": ("decoders",),
    "pyarrow": ("facts",),
    "pyarrow.parquet.core": ("decoders",),
    "safetensors._safetensors_rust": ("decoders",),
    "safetensors": ("facts",),
    "tokenizers": ("facts",),
    "tokenizers.tokenizers": ("text_tokens",),
    "transformers": ("facts",),
    "transformers.tokenization_utils_base": ("text_tokens",),
    "sentencepiece": ("facts", "text_tokens"),
    "tiktoken": ("facts",),
    "tiktoken.core": ("text_tokens",),
}
for _codec in "jpeg8 mozjpeg jpeg2k jpegls jpegxl jpegxr png apng spng webp avif heif tiff gif bmp qoi".split():
    WATCHED["imagecodecs._" + _codec] = ("decoders",)
for _codec in "blosc zstd lz4 zlib gzip bz2 lzma".split():
    WATCHED["numcodecs." + _codec] = ("decoders",)

# Programs that have nothing to do with training, by file name or by the first component of the `-m`
# name.
_TOOLS = frozenset(
    "pip pip3 pipx conda mamba micromamba ninja easy_install setup.py build virtualenv venv ensurepip "
    "compileall py_compile poetry pdm uv hatch twine pyproject_hooks _in_process.py _in_process "
    "cmake meson cython black ruff mypy pylint flake8 pre-commit".split()
)

_installed = False


def install():
    """Installs the import hook, once in a process, and patches modules that are imported already."""
    global _installed
    if _installed:
        return
    _installed = True
    if is_tool(command_line()):
        return
    from penstock_hooks import imports

    imports.watch(WATCHED)


def command_line():
    """The interpreter's own arguments; sys.argv does not show `-m NAME` this early."""
    words = getattr(sys, "orig_argv", None)
    if words is None:
        try:
            with open("/proc/self/cmdline", "rb") as file:
                words = file.read().decode("utf-8", "surrogateescape").split("\0")[:-1]
        except OSError:
            words = []
    return words


def is_tool(words):
    """True if `words` (a Python command line) runs a packaging or build tool."""
    program, module = _program(words)
    name = program.rpartition("/")[2]
    if module:
        return name.partition(".")[0] in _TOOLS or "_inductor.compile_worker" in program
    if any(part in program for part in ("_inductor/compile_worker", "/site-packages/pip/", "/dist-packages/pip/")):
        return True
    stem, dot, rest = name.partition(".")
    return name in _TOOLS or (stem in _TOOLS and rest in ("", "py", "exe")) or (
        stem[:3] == "pip" and stem[3:].isdigit()
    )


def _program(words):
    """(script or module, is a module) of a Python command line; ("", False) for -c and none."""
    index = 1
    while index < len(words):
        word = words[index]
        index += 1
        if word == "--check-hash-based-pycs":
            index += 1
        elif word[:2] == "--":
            continue
        elif word[:1] != "-" or word == "-":
            return word, False
        else:
            for place, letter in enumerate(word[1:], 2):
                if letter == "c":
                    return "", False
                if letter == "m":
                    name = word[place:] or (words[index] if index < len(words) else "")
                    return name, True
                if letter in "WX":
                    if place == len(word):
                        index += 1
                    break
    return "", False
