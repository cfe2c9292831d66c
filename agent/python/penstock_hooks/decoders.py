# SPDX-License-Identifier: Apache-2.0
"""Libraries that turn encoded bytes into pixels, samples of sound or arrays: their calls are `decode`.

_DECODERS lists the functions by the module that defines them. Each entry has the class or submodule that holds them
("": the module itself), the label that is put before their names in spans, and their names. The functions are replaced
in that module, before the packages above it import them by name. WATCHED in __init__.py names the same modules. pyvips
computes a thumbnail or a crop only when its pixels are needed, so both count as decoding. Some libraries (zarr 3,
Parquet) read in threads of their own. The reads are recorded in those threads, and the call that waits for them is
recorded too.
"""
import sys

from penstock_hooks import wire
from penstock_hooks.wrapping import array_bytes, harmless, payload_bytes, replace, spanned, stepped

_KORNIA = ("read_image", "read_image_any", "read_image_jpeg", "read_image_jpegturbo", "read_image_png_u8",
           "read_image_png_u16", "read_image_tiff_u8", "read_image_tiff_u16", "read_image_tiff_f32",
           "decode_image_jpeg", "decode_image_jpegturbo", "decode_image_png_u8",
           "decode_image_png_u16")  # fmt: skip
_TORCHCODEC = ("decode_image", "decode_jpeg", "decode_png", "decode_webp", "decode_gif", "decode_avif",
               "decode_heic")  # fmt: skip
_ZARR = ("__getitem__", "get_basic_selection", "get_orthogonal_selection", "get_coordinate_selection",
         "get_mask_selection", "get_block_selection")  # fmt: skip
_DECODERS = {
    "simplejpeg._jpeg": (("", "simplejpeg.", ("decode_jpeg",)),),
    "turbojpeg": (("TurboJPEG", "turbojpeg.", ("decode", "decode_to_yuv", "decode_to_yuv_planes")),),
    "pyvips.vimage": (
        ("Image", "pyvips.", ("new_from_file", "new_from_buffer", "numpy", "__array__", "write_to_memory")),
    ),
    "kornia_rs.kornia_rs": (
        ("", "kornia_rs.", _KORNIA),
        ("io", "kornia_rs.", _KORNIA),
        ("io.ImageDecoder", "kornia_rs.ImageDecoder.", ("decode",)),
    ),
    "nvidia.nvimgcodec.nvimgcodec_impl": (("Decoder", "nvimgcodec.", ("decode", "read")),),
    "soundfile": (("SoundFile", "soundfile.", ("read", "buffer_read", "buffer_read_into")),),
    "torchaudio": (("", "torchaudio.", ("load",)),),
    "torchcodec.decoders._image_decoders": (("", "torchcodec.", _TORCHCODEC),),
    "librosa.core.audio": (("", "librosa.", ("__audioread_load",)),),
    "nibabel.arrayproxy": (("ArrayProxy", "nibabel.", ("__array__", "__getitem__", "get_unscaled")),),
    "pydicom.dataset": (("Dataset", "pydicom.", ("convert_pixel_data",)),),
    "pydicom.pixels.decoders.base": (("Decoder", "pydicom.", ("as_array", "as_buffer")),),
    "pydicom.pixels.utils": (("", "pydicom.", ("pixel_array",)),),
    "zarr.core": (("Array", "zarr.", _ZARR),),
    "zarr.core.array": (("Array", "zarr.", _ZARR),),
    "blosc.toplevel": (("", "blosc.", ("decompress", "decompress_ptr", "unpack_array", "unpack_tensor")),),
    "pyarrow.parquet.core": (
        ("ParquetFile", "parquet.", ("read", "read_row_group", "read_row_groups")),
        ("", "parquet.", ("read_table",)),
    ),
}
_NUMCODECS = ("Blosc", "Zstd", "LZ4", "Zlib", "GZip", "BZ2", "LZMA")


@harmless
def _bytes_of(result):
    if type(result).__module__ == "pyvips.vimage":  # its images claim to have every attribute
        return 0
    if type(result).__module__ == "nvidia.nvimgcodec.nvimgcodec_impl":
        return int(result.size)
    if type(result) is list and result and hasattr(result[0], "to_dlpack"):
        return sum(map(_bytes_of, result))
    if type(result) is bytes or type(result) is bytearray:
        return len(result)
    if type(result) is tuple:  # (samples, their rate)
        return payload_bytes(result[0])
    return array_bytes(result) or payload_bytes(result)


def _owner(module, path):
    for name in path.split(".") if path else ():
        module = getattr(module, name, None)
    return module


def _unless_zarr(original):
    """A span around numcodecs' decode(), as long as zarr is not imported. Zarr decodes chunks in threads of its own, so
    with zarr the selection of an array is recorded instead."""
    traced = spanned(wire.DECODE, "numcodecs." + original.__qualname__, _bytes_of)(original)

    def decode(*args, **kwargs):
        return (original if "zarr" in sys.modules else traced)(*args, **kwargs)

    return decode


def patch(module):
    name = module.__name__
    package = name.partition(".")[0]
    if package == "imagecodecs":
        function = name.rpartition("._")[2] + "_decode"
        replace(module, function, spanned(wire.DECODE, "imagecodecs." + function, _bytes_of))
    elif package == "numcodecs":
        for codec in _NUMCODECS:
            kind = getattr(module, codec, None)
            if kind is not None and kind.__module__ == name:
                replace(kind, "decode", _unless_zarr)
    elif package == "safetensors":  # not encoded: values are copied from a mapped file
        replace(module.safe_open, "get_tensor", spanned(wire.READ, "safetensors.get_tensor", _bytes_of))
    for path, label, functions in _DECODERS.get(name, ()):
        owner = _owner(module, path)
        for function in functions:
            if owner is not None and function in vars(owner):
                replace(owner, function, spanned(wire.DECODE, label + function.strip("_"), _bytes_of))
    if name == "pyarrow.parquet.core":
        replace(module.ParquetFile, "iter_batches", stepped(wire.DECODE, "parquet.iter_batches", _bytes_of))
    elif name == "librosa.core.audio":
        replace(module, "resample", spanned(wire.AUGMENT, "librosa.resample", _bytes_of))
