# SPDX-License-Identifier: Apache-2.0
"""Programs that call one library of media, arrays or text CALLS times: media_programs.py NAME WORK.

The last line of a program is JSON: {"spans": {STAGE: {NAME: COUNT}}, "used": frames whose pixels it
took, "decoded": frames that the library handed out}. media_codecs.py compares the recording with this line.
Each library is imported only by its program.
"""

import io
import json
import pathlib
import sys

import numpy

CALLS = 40
WIDTH, HEIGHT = 96, 64
FRAMES, KEY_EVERY = 48, 12
TEXT = "A penstock is the pipe that feeds a turbine. " * 4
WORK = pathlib.Path(".")


def pixels(width=WIDTH, height=HEIGHT):
    return numpy.random.default_rng(1).integers(0, 256, (height, width, 3), dtype=numpy.uint8)


def jpeg():
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels()).save(file, "JPEG")
    return file.getvalue()


def jpeg_file():
    path = WORK / "picture.jpg"
    path.write_bytes(jpeg())
    return str(path)


def clip():
    """Makes a video file of FRAMES frames in MPEG-4. Every KEY_EVERY-th frame is a key frame."""
    import av

    path = WORK / "clip.mp4"
    if path.exists():
        return str(path)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=24, options={"g": str(KEY_EVERY), "bf": "0"})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for index in range(FRAMES):
            picture = numpy.full((HEIGHT, WIDTH, 3), 3 * index, numpy.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    return str(path)


def times(call, count=CALLS):
    for _ in range(count):
        call()


def decodes(name, count=CALLS, **more):
    return {"spans": {"decode": {name: count}}, **more}


def simplejpeg():
    import simplejpeg

    data = jpeg()
    times(lambda: simplejpeg.decode_jpeg(data))
    return decodes("simplejpeg.decode_jpeg")


def pyturbojpeg():
    import turbojpeg

    data, decoder = jpeg(), turbojpeg.TurboJPEG()
    times(lambda: decoder.decode(data))
    return decodes("turbojpeg.decode")


def pyvips():
    import pyvips

    path = jpeg_file()
    times(lambda: pyvips.Image.thumbnail(path, 32).numpy())
    return decodes("pyvips.numpy")


def imagecodecs():
    import imagecodecs

    data = jpeg()
    png = imagecodecs.png_encode(pixels())
    times(lambda: imagecodecs.jpeg_decode(data))
    times(lambda: imagecodecs.png_decode(png))
    return {"spans": {"decode": {"imagecodecs.jpeg8_decode": CALLS, "imagecodecs.png_decode": CALLS}}}


def kornia_rs():
    from kornia_rs import io as kornia_io

    path = jpeg_file()
    times(lambda: kornia_io.read_image_jpeg(path, "rgb"))
    return decodes("kornia_rs.read_image_jpeg")


def nvimgcodec():
    from nvidia import nvimgcodec

    data = jpeg()
    decoder = nvimgcodec.Decoder(device_id=nvimgcodec.NVIMGCODEC_DEVICE_CPU_ONLY,
                                 backends=[nvimgcodec.Backend(nvimgcodec.CPU_ONLY)])
    path = jpeg_file()
    times(lambda: decoder.decode(data))
    times(lambda: decoder.decode([data, data]))
    times(lambda: decoder.read(path))
    return {"spans": {"decode": {"nvimgcodec.decode": 2 * CALLS, "nvimgcodec.read": CALLS}}}


def pillow_simd():
    from PIL import Image

    path = jpeg_file()

    def shrunk():
        with Image.open(path) as image:
            image.resize((32, 32))

    times(shrunk)
    return {"spans": {"decode": {"PIL.load": CALLS}, "augment": {"PIL.resize": CALLS}}}


def sound_file():
    import soundfile

    path = WORK / "sound.flac"
    if not path.exists():
        samples = numpy.sin(numpy.arange(16000) / 20).astype(numpy.float32)
        soundfile.write(str(path), samples, 16000)
    return str(path)


def soundfile():
    import soundfile

    path = sound_file()
    times(lambda: soundfile.read(path))
    return decodes("soundfile.read")


def librosa():
    import librosa

    path = sound_file()
    times(lambda: librosa.load(path, sr=8000))
    return {"spans": {"decode": {"soundfile.read": CALLS}, "augment": {"librosa.resample": CALLS}}}


def torchaudio():
    import torchaudio

    path = sound_file()
    times(lambda: torchaudio.load(path))
    return decodes("torchaudio.load")


def pyav():
    """Takes frames from the middle: seeks back to the key frame, then decodes up to the wanted frame."""
    import av

    handed = 0
    with av.open(clip()) as container:
        stream = container.streams.video[0]
        stream.thread_type = "NONE"
        step = int(1 / (stream.average_rate * stream.time_base))
        for call in range(CALLS):
            wanted = (call * 7 + 5) % FRAMES * step
            container.seek(wanted, stream=stream)
            for frame in container.decode(stream):
                handed += 1
                if frame.pts >= wanted:
                    frame.to_ndarray(format="rgb24")
                    break
    return {"spans": {"decode": {"av.to_ndarray": CALLS, "ffmpeg seek": CALLS}}, "used": CALLS, "decoded": handed}


def decord():
    import decord

    reader = decord.VideoReader(clip(), num_threads=1)
    for call in range(CALLS):
        reader.get_batch([call, (call + 3) % FRAMES]).asnumpy()
    return decodes("decord.get_batch", used=2 * CALLS, decoded=0)


def torchcodec():
    from torchcodec.decoders import VideoDecoder

    reader = VideoDecoder(clip())
    for call in range(CALLS):
        reader.get_frames_at([call, (call + 3) % FRAMES])
    return decodes("torchcodec.get_frames_at", used=2 * CALLS, decoded=0)


def opencv():
    import cv2

    capture = cv2.VideoCapture(clip())
    for call in range(CALLS):
        if not (capture.grab() and capture.grab() and capture.retrieve()[0] and capture.read()[0]):
            sys.exit("opencv: no frame")
        capture.set(cv2.CAP_PROP_POS_FRAMES, call)
    names = ("retrieve", "read", "set")
    spans = {"cv2.VideoCapture." + name: CALLS for name in names}
    spans["cv2.VideoCapture.grab"] = 2 * CALLS
    return {"spans": {"decode": spans}, "used": 2 * CALLS, "decoded": 3 * CALLS}


def imageio_ffmpeg():
    import imageio_ffmpeg

    frames = imageio_ffmpeg.read_frames(clip())
    next(frames)  # ffmpeg's description of the video
    count = sum(1 for _ in frames)
    # A span is recorded for each next() of the generator: for the description, each frame, and the end.
    return decodes("imageio_ffmpeg.read_frames", count + 2, used=count, decoded=count)


def nibabel():
    import nibabel

    path = str(WORK / "volume.nii.gz")
    nibabel.save(nibabel.Nifti1Image(numpy.zeros((16, 16, 16), numpy.int16), numpy.eye(4)), path)
    times(lambda: nibabel.load(path).get_fdata())
    return decodes("nibabel.array")


def pydicom():
    import pydicom
    from pydicom.dataset import Dataset, FileMetaDataset
    from pydicom.uid import RLELossless, SecondaryCaptureImageStorage

    meta = FileMetaDataset()
    meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    meta.MediaStorageSOPClassUID = SecondaryCaptureImageStorage
    meta.MediaStorageSOPInstanceUID = "1.2.3"
    made = Dataset()
    made.file_meta = meta
    made.SOPClassUID, made.SOPInstanceUID = SecondaryCaptureImageStorage, "1.2.3"
    made.Rows, made.Columns, made.SamplesPerPixel = HEIGHT, WIDTH, 1
    made.BitsAllocated, made.BitsStored, made.HighBit, made.PixelRepresentation = 8, 8, 7, 0
    made.PhotometricInterpretation = "MONOCHROME2"
    made.PixelData = pixels()[..., 0].tobytes()
    made.compress(RLELossless)
    path = WORK / "picture.dcm"
    made.save_as(path, enforce_file_format=True)
    times(lambda: pydicom.dcmread(path).pixel_array)
    return decodes("pydicom.convert_pixel_data")


def zarr():
    import zarr

    stored = zarr.open(str(WORK / "array.zarr"), mode="w", shape=(CALLS, 64), chunks=(1, 64), dtype="f4")
    stored[:] = 1
    array = zarr.open(str(WORK / "array.zarr"), mode="r")
    for call in range(CALLS):
        array[call]
    return decodes("zarr.getitem")


def numcodecs():
    import numcodecs

    codec = numcodecs.Blosc()
    data = codec.encode(pixels())
    times(lambda: codec.decode(data))
    return decodes("numcodecs.Blosc.decode")


def blosc():
    import blosc

    data = blosc.compress(pixels().tobytes())
    times(lambda: blosc.decompress(data))
    return decodes("blosc.decompress")


def parquet():
    import pyarrow
    import pyarrow.parquet

    path = str(WORK / "rows.parquet")
    table = pyarrow.table({"x": numpy.arange(CALLS * 8)})
    pyarrow.parquet.write_table(table, path, row_group_size=8)
    file = pyarrow.parquet.ParquetFile(path)
    for group in range(CALLS):
        file.read_row_group(group)
    return decodes("parquet.read_row_group")


def safetensors():
    import safetensors
    import safetensors.numpy

    path = str(WORK / "tensors.safetensors")
    safetensors.numpy.save_file({"x": numpy.zeros(1000, numpy.float32)}, path)
    with safetensors.safe_open(path, framework="np") as file:
        times(lambda: file.get_tensor("x"))
    return {"spans": {"read": {"safetensors.get_tensor": CALLS}}}


def tokens(name, count=CALLS, **more):
    return {"spans": {"tokenize": {name: count, **more}}}


def word_tokenizer():
    import tokenizers
    from tokenizers import models, pre_tokenizers, trainers

    tokenizer = tokenizers.Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator([TEXT], trainers.BpeTrainer(vocab_size=200, special_tokens=["[UNK]"]))
    return tokenizer


def tokenizers():
    tokenizer = word_tokenizer()
    times(lambda: tokenizer.encode(TEXT))
    times(lambda: tokenizer.encode_batch([TEXT, TEXT]))
    return tokens("tokenizers.encode", **{"tokenizers.encode_batch": CALLS})


def transformers():
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(tokenizer_object=word_tokenizer())
    times(lambda: tokenizer([TEXT, TEXT]))
    return tokens("transformers.call")


def sentencepiece():
    import sentencepiece

    made = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter([TEXT] * 10), model_writer=made, vocab_size=30,
                                             hard_vocab_limit=False, minloglevel=2)
    processor = sentencepiece.SentencePieceProcessor(model_proto=made.getvalue())
    times(lambda: processor.encode(TEXT))
    return tokens("sentencepiece.encode")


def tiktoken():
    import tiktoken

    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding("bytes", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={})
    times(lambda: encoding.encode(TEXT))
    times(lambda: encoding.encode_ordinary(TEXT))
    times(lambda: encoding.encode_batch([TEXT] * 8))
    return tokens("tiktoken.encode", **{"tiktoken.encode_ordinary": CALLS, "tiktoken.encode_batch": CALLS})


PROGRAMS = {program.__name__: program for program in (
    simplejpeg, pyturbojpeg, pyvips, imagecodecs, kornia_rs, nvimgcodec, pillow_simd, soundfile, librosa, torchaudio, pyav, decord, torchcodec,
    opencv, imageio_ffmpeg, nibabel, pydicom, zarr, numcodecs, blosc, parquet, safetensors, tokenizers, transformers,
    sentencepiece, tiktoken)}

if __name__ == "__main__":
    WORK = pathlib.Path(sys.argv[2])
    WORK.mkdir(parents=True, exist_ok=True)
    print(json.dumps(PROGRAMS[sys.argv[1]]()), flush=True)
