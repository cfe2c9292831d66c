# SPDX-License-Identifier: Apache-2.0
"""Tests the hooks on decoders of pictures, sound and arrays with fake packages that have the names of the real ones."""
import unittest

import harness
from fake_packages import PIXELS, Checked, counted, run


class DecoderTest(Checked):
    def test_a_function_is_told_whatever_package_hands_it_on(self):
        result = run(
            {
                "simplejpeg/__init__.py": "from simplejpeg._jpeg import decode_jpeg, is_jpeg\n",
                "simplejpeg/_jpeg.py": PIXELS
                + "def decode_jpeg(data, colorspace='RGB'):\n    return Pixels(4, 5, len(colorspace))\n"
                + "def is_jpeg(data):\n    return True\n",
            },
            "import simplejpeg\nprint(simplejpeg.decode_jpeg(b'', colorspace='L').shape, simplejpeg.is_jpeg(b''))\n",
        )
        self.assertEqual(self.check(result), {("decode", "simplejpeg.decode_jpeg"): 1})
        self.assertEqual(result.out, "(4, 5, 1) True\n")
        self.assertEqual(result.of("span")[0]["bytes"], 20)

    def test_nvimgcodecs_pictures_say_their_bytes_and_a_batch_is_one_call(self):
        result = run(
            {
                "nvidia/nvimgcodec/nvimgcodec_impl.py": """
class Image:
    def __init__(self, size):
        self.size = size
    def to_dlpack(self):
        raise RuntimeError
class Decoder:
    def decode(self, data, params=None):
        return [Image(len(one)) for one in data] if isinstance(data, list) else Image(len(data))
    def read(self, path):
        return None
""",
            },
            """
            from nvidia.nvimgcodec.nvimgcodec_impl import Decoder
            decoder = Decoder()
            print(decoder.decode(b"123").size, len(decoder.decode([b"12", b"3456"], params=None)), decoder.read("no"))
            """,
        )
        self.assertEqual(self.check(result), {("decode", "nvimgcodec.decode"): 2, ("decode", "nvimgcodec.read"): 1})
        self.assertEqual(result.out, "3 2 None\n")
        self.assertEqual([span["bytes"] for span in result.of("span")], [3, 6, 0])

    def test_a_result_that_cannot_be_measured_is_handed_on(self):
        result = run(
            {
                "torchcodec/decoders/_wav_decoder.py": """
class WavDecoder:
    def get_all_samples(self):
        return ()
""",
                "turbojpeg.py": """
class Hostile:
    def __getattribute__(self, name):
        raise RuntimeError(name)
class TurboJPEG:
    def decode(self, data):
        return Hostile() if data else ()
""",
            },
            """
            from turbojpeg import TurboJPEG
            from torchcodec.decoders._wav_decoder import WavDecoder
            print(type(TurboJPEG().decode("x")).__name__, TurboJPEG().decode(""), WavDecoder().get_all_samples())
            """,
        )
        self.assertEqual(
            self.check(result), {("decode", "turbojpeg.decode"): 2, ("decode", "torchcodec.get_all_samples"): 1}
        )
        self.assertEqual(result.out, "Hostile () ()\n")

    def test_a_decoder_that_fails_raises_as_before(self):
        result = run(
            {"turbojpeg.py": "class TurboJPEG:\n    def decode(self, data):\n        raise OSError(data)\n"},
            "import turbojpeg\ntry:\n    turbojpeg.TurboJPEG().decode('no')\nexcept OSError as e:\n    print(e)\n",
        )
        self.assertEqual(self.check(result), {("decode", "turbojpeg.decode"): 1})
        self.assertEqual(result.out, "no\n")

    def test_what_computes_when_asked_for_pixels_decodes_then(self):
        result = run(
            {
                "pyvips/vimage.py": """
class Meta(type):
    def __getattr__(cls, name):  # operations that a class finds when they are asked for
        return lambda *args: cls(name)
class Image(metaclass=Meta):
    def __init__(self, made="file"):
        self.made = made
    @staticmethod
    def new_from_file(path):
        return Image()
    def numpy(self):
        return self.write_to_memory()
    def write_to_memory(self):
        return bytearray(12)
"""
            },
            "from pyvips.vimage import Image\n"
            "print(Image.thumbnail('x', 3).made, Image.new_from_file('x').made, len(Image().numpy()))\n",
        )
        self.assertEqual(
            self.check(result),
            {("decode", "pyvips.new_from_file"): 1, ("decode", "pyvips.numpy"): 1,
             ("decode", "pyvips.write_to_memory"): 1},
        )  # fmt: skip
        self.assertEqual(result.out, "thumbnail file 12\n")
        self.assertEqual({s["bytes"] for s in result.of("span")}, {0, 12})

    def test_chunks_are_told_by_zarr_or_by_their_codec_not_by_both(self):
        files = {
            "numcodecs/blosc.py": "class Blosc:\n    def decode(self, data):\n        return data * 2\n",
            "zarr/core/array.py": "from numcodecs.blosc import Blosc\n"
            "class Array:\n    def __getitem__(self, key):\n        return Blosc().decode(b'ab')\n",
        }
        alone = run(files, "from numcodecs.blosc import Blosc\nprint(Blosc().decode(b'ab'))\n")
        self.assertEqual(self.check(alone), {("decode", "numcodecs.Blosc.decode"): 1})
        under = run(files, "from zarr.core.array import Array\nprint(Array()[0])\n")
        self.assertEqual(self.check(under), {("decode", "zarr.getitem"): 1})
        self.assertEqual(alone.out, under.out)

    def test_batches_of_rows_are_told_one_by_one_and_closed(self):
        result = run(
            {
                "pyarrow/parquet/core.py": PIXELS
                + """
class ParquetFile:
    def iter_batches(self, count):
        if count < 0:
            raise ValueError(count)
        return self._batches(count)
    def _batches(self, count):
        try:
            for index in range(count):
                yield Pixels(index + 1)
        finally:
            print("closed")
def read_table(path):
    return Pixels(7)
"""
            },
            """
            from pyarrow.parquet.core import ParquetFile, read_table
            file = ParquetFile()
            try:
                file.iter_batches(-1)
            except ValueError:
                print("at once")
            print([each.nbytes for each in file.iter_batches(3)])
            for each in file.iter_batches(3):
                break
            del each
            print(read_table("x").nbytes)
            """,
        )
        # Each next() is a span. The first iterator gives three batches and its end, the second one batch.
        self.assertEqual(
            self.check(result), {("decode", "parquet.iter_batches"): 5, ("decode", "parquet.read_table"): 1}
        )
        self.assertEqual(result.out.split("\n")[:3], ["at once", "closed", "[1, 2, 3]"])
        self.assertEqual(result.out.count("closed"), 2)

    def test_tensors_of_a_mapped_file_are_read(self):
        result = run(
            {
                "safetensors/_safetensors_rust.py": "class safe_open:\n"
                "    def get_tensor(self, name):\n        return bytearray(9)\n"
            },
            "from safetensors._safetensors_rust import safe_open\nprint(len(safe_open().get_tensor('x')))\n",
        )
        self.assertEqual(self.check(result), {("read", "safetensors.get_tensor"): 1})
        self.assertEqual(result.of("span")[0]["bytes"], 9)

    def test_each_feature_of_datasets_decodes(self):
        names = ("Image", "Audio", "Video", "Pdf", "Nifti")
        text = "class %s:\n    def decode_example(self, value, token_per_repo_id=None):\n        return value\n"
        code = "from datasets.features.%s import %s\nprint(%s().decode_example(1))\n"
        result = run(
            {"datasets/features/%s.py" % name.lower(): text % name for name in names},
            "".join(code % (name.lower(), name, name) for name in names),
        )
        self.assertEqual(self.check(result), {("decode", "datasets." + name): 1 for name in names})
        self.assertEqual(result.out, "1\n" * len(names))

    def test_reading_sound_is_decoding_and_another_rate_is_not(self):
        result = run(
            {
                "soundfile.py": PIXELS
                + "class SoundFile:\n    def read(self, frames=-1):\n        return Pixels(100)\n"
                + "def read(path):\n    return SoundFile().read(), 16000\n",
                "librosa/core/audio.py": "import soundfile\n"
                "def resample(y, *, orig_sr, target_sr):\n    return y\n"
                "def load(path):\n    y, sr = soundfile.read(path)\n"
                "    return resample(y, orig_sr=sr, target_sr=8000), 8000\n",
            },
            "from librosa.core.audio import load\nprint(load('x')[1])\n",
        )
        self.assertEqual(self.check(result), {("decode", "soundfile.read"): 1, ("augment", "librosa.resample"): 1})


class PictureTest(Checked):
    def test_functions_of_scikit_image_are_told_from_the_modules_that_define_them(self):
        names = {
            "exposure/_adapthist": ("equalize_adapthist",),
            "exposure/histogram_matching": ("match_histograms",),
            "restoration/_denoise": ("denoise_bilateral", "denoise_tv_chambolle"),
            "transform/_warps": ("resize", "rotate"),
        }
        files, code = {}, "from skimage.util.dtype import img_as_float\n"
        files["skimage/util/dtype.py"] = "def img_as_float(image):\n    return image\n"
        for path, functions in names.items():
            files["skimage/%s.py" % path] = "from skimage.util.dtype import img_as_float\n" + "".join(
                "def %s(image):\n    return image\n" % function for function in functions
            )
            code += "from skimage.%s import %s\n" % (path.replace("/", "."), ", ".join(functions))
            code += "".join("%s(1)\n" % function for function in functions)
        found = self.check(run(files, code))
        wanted = [function for functions in names.values() for function in functions]
        self.assertEqual(found, {("augment", "skimage." + function): 1 for function in wanted})


class TableTest(unittest.TestCase):
    def test_the_modules_of_a_table_are_those_that_are_watched_for_it(self):
        result = harness.run(
            """
            from penstock_hooks import WATCHED, decoders, text_tokens
            def compare(patch, modules):
                watched = {module for module, patches in WATCHED.items() if patch in patches}
                print(sorted(set(modules) - watched), sorted(watched - set(modules)))
            codecs = ["numcodecs." + name.lower() for name in decoders._NUMCODECS]
            compare("decoders", [*decoders._DECODERS, *codecs, "safetensors._safetensors_rust"]
                    + [module for module in WATCHED if module.startswith("imagecodecs._")])
            compare("text_tokens", [*text_tokens._NAMES, "tiktoken.core"])
            """
        )
        self.assertEqual((result.status, result.err), (0, ""))
        self.assertEqual(result.out, "[] []\n[] []\n")


class ClosedTypeTest(unittest.TestCase):
    def test_a_method_of_a_type_written_in_c_is_replaced(self):
        result = harness.run(
            """
            import datetime
            from penstock_hooks import wire
            from penstock_hooks.wrapping import is_ours, replace, spanned
            kind = datetime.timedelta
            one = kind(seconds=3)
            replace(kind, "total_seconds", spanned(wire.DECODE, "closed"))
            replace(kind, "total_seconds", spanned(wire.DECODE, "twice"))
            replace(kind, "__add__", spanned(wire.DECODE, "operator"))
            print(one.total_seconds(), kind.total_seconds(one), one + one, isinstance(one, kind))
            print(is_ours(kind.total_seconds), is_ours(kind.__add__))
            """
        )
        self.assertEqual((result.status, result.err), (0, ""))
        self.assertEqual(result.out, "3.0 3.0 0:00:06 True\nTrue False\n")
        self.assertEqual(counted(result), {("decode", "closed"): 2})


if __name__ == "__main__":
    unittest.main()
