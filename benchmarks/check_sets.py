#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares sets of penstock-load make-set with real photographs that are cut and encoded alike.

Two figures tell how much work a decoder has: bits per pixel, and the pixels a second that
libjpeg-turbo decodes (whole image, accurate DCT, fancy upsampling, RGB; CPU time of one thread).
Both must be within --tolerance of the figures for cuts of the photographs at the same quality and
subsampling. Cuts are made in three shapes at three places of each photograph:

  imagenet  brought to a long side of 500, never enlarged
  coco      brought to a long side of 640, never enlarged
  fullhd    1920x1080 laid out with cuts of 320x270 at the photographs' own resolution: enlarging
            small photographs would make them smoother than any camera does

Each photograph has the same weight, whatever its size. Needs Pillow and libturbojpeg (Debian:
python3-pil, libturbojpeg0). Exit status: 0 within the tolerance, 1 beyond it, 2 usage, 3
environment, 4 input.

  benchmarks/check_sets.py --photos FOLDER --program build/release/bin/penstock-load
  benchmarks/check_sets.py --photos FOLDER SET...
"""

import argparse
import ctypes
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

try:
    from PIL import Image, JpegImagePlugin
except ImportError:
    sys.exit("check_sets: Pillow is missing: apt-get install python3-pil")

KINDS = {"imagenet": 500, "coco": 640, "fullhd": None}  # long side
COUNTS = {"imagenet": 60, "coco": 60, "fullhd": 8}
SHAPES = (4 / 3, 3 / 4, 3 / 2)
PLACES = (0.0, 0.5, 1.0)
TILE = (320, 270)


class Decoder:
    """Times TurboJPEG's decoding of whole images. Calls go through ctypes, which costs microseconds."""

    def __init__(self):
        library = ctypes.CDLL("libturbojpeg.so.0")
        library.tjInitDecompress.restype = ctypes.c_void_p
        library.tjDecompress2.argtypes = [
            ctypes.c_void_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_void_p, *[ctypes.c_int] * 5]
        self.library, self.handle, self.room = library, library.tjInitDecompress(), b""

    def seconds(self, picture):
        data, width, height = picture
        if len(self.room) < 3 * width * height:
            self.room = ctypes.create_string_buffer(3 * width * height)
        started = time.thread_time()
        status = self.library.tjDecompress2(self.handle, data, len(data), self.room, width, 0, height, 0, 0)
        elapsed = time.thread_time() - started
        if status != 0:
            raise ValueError("a picture does not decode")
        return elapsed


def encode(image, quality, subsampling):
    out = io.BytesIO()
    image.save(out, "JPEG", quality=quality, subsampling=subsampling)
    return (out.getvalue(), *image.size)


def windows(photo):
    """The largest window of each shape, at each place."""
    for shape in SHAPES:
        width = min(photo.width, photo.height * shape)
        height = width / shape
        for place in PLACES:
            x, y = (photo.width - width) * place, (photo.height - height) * place
            yield photo.crop((round(x), round(y), round(x + width), round(y + height)))


def cuts(photos, kind):
    """Yields the reference pictures, not yet encoded."""
    long_side = KINDS[kind]
    if long_side is None:
        rng, turn = random.Random(0), 0
        for _ in range(6):
            canvas = Image.new("RGB", (1920, 1080))
            for y in range(0, canvas.height, TILE[1]):
                for x in range(0, canvas.width, TILE[0]):
                    photo = photos[turn % len(photos)]
                    turn += 1
                    left = rng.randrange(photo.width - TILE[0] + 1)
                    top = rng.randrange(photo.height - TILE[1] + 1)
                    canvas.paste(photo.crop((left, top, left + TILE[0], top + TILE[1])), (x, y))
            yield canvas
        return
    for photo in photos:
        for window in windows(photo):
            scale = long_side / max(window.size)
            if scale < 1:
                size = [max(1, round(side * scale)) for side in window.size]
                window = window.resize(size, Image.LANCZOS)
            yield window


def read_set(folder):
    """Returns (manifest, pictures, subsampling of each: 0 4:4:4, 1 4:2:2, 2 4:2:0)."""
    manifest = json.loads((folder / "set.json").read_text())
    if manifest.get("set") not in KINDS:
        raise ValueError(f"{folder}/set.json: no kind of set that is known")
    pictures, subsamplings = [], []
    for path in sorted(folder.glob("**/*.jpg")):
        data = path.read_bytes()
        with Image.open(io.BytesIO(data)) as image:
            subsamplings.append(JpegImagePlugin.get_sampling(image))
            pictures.append((data, *image.size))
    if not pictures:
        raise ValueError(f"{folder}: no picture; --format folder is needed here")
    return manifest, pictures, subsamplings


def figures(pictures, seconds):
    pixels = sum(width * height for _, width, height in pictures)
    return {"bits_per_pixel": 8 * sum(len(data) for data, _, _ in pictures) / pixels,
            "mpixels_per_s": pixels / 1e6 / sum(seconds),
            "kilobytes": sum(len(data) for data, _, _ in pictures) / 1000 / len(pictures)}


def measure(decoder, groups, rounds):
    """Least CPU time of each picture over the rounds. Pictures of all groups are decoded in random
    order, so that drifts affect both sides equally."""
    everything = [(group, i) for group, pictures in enumerate(groups) for i in range(len(pictures))]
    best = [[float("inf")] * len(pictures) for pictures in groups]
    rng = random.Random(0)
    for _ in range(rounds):
        rng.shuffle(everything)
        for group, i in everything:
            best[group][i] = min(best[group][i], decoder.seconds(groups[group][i]))
    return [figures(pictures, seconds) for pictures, seconds in zip(groups, best)]


def check(folder, photos, decoder, options):
    """Compares one set; returns the largest deviation."""
    manifest, made, subsamplings = read_set(folder)
    kind, quality = manifest["set"], manifest["quality"]
    weights = {s: subsamplings.count(s) / len(subsamplings) for s in set(subsamplings)}
    # Every cut is encoded at every subsampling and weighted by the set's shares.
    real = [(encode(image, quality, subsampling), subsampling)
            for image in cuts(photos, kind) for subsampling in sorted(weights)]
    groups = [made] + [[picture for picture, s in real if s == which] for which in sorted(weights)]
    measured = measure(decoder, groups, options.rounds)
    ours = measured[0]
    parts = dict(zip(sorted(weights), measured[1:]))
    theirs = {
        "bits_per_pixel": sum(weights[s] * parts[s]["bits_per_pixel"] for s in weights),
        "mpixels_per_s": 1 / sum(weights[s] / parts[s]["mpixels_per_s"] for s in weights),
    }
    worst = 0.0
    print(f"{kind}: {len(made)} pictures, {ours['kilobytes']:.0f} KB on average")
    for name, unit in (("bits_per_pixel", "bits/pixel"), ("mpixels_per_s", "Mpixel/s decoded")):
        deviation = ours[name] / theirs[name] - 1
        worst = max(worst, abs(deviation))
        print(f"  {unit:17} made {ours[name]:7.2f}   photographs {theirs[name]:7.2f}   {deviation:+.1%}")
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add = parser.add_argument
    add("sets", nargs="*", type=pathlib.Path, metavar="SET", help="folders of make-set")
    add("--photos", type=pathlib.Path, required=True, help="folder of real photographs, 320x270 at least")
    add("--program", help="penstock-load: makes a small set of each kind, besides those named")
    add("--tolerance", type=float, default=0.15, help="largest deviation (default 0.15)")
    add("--rounds", type=int, default=7, help="decodes of each picture, the fastest counts (default 7)")
    options = parser.parse_args()
    if not options.sets and not options.program:
        parser.error("name sets, or the program that makes them with --program")
    try:
        decoder = Decoder()
    except OSError as error:
        print(f"check_sets: {error}: apt-get install libturbojpeg0", file=sys.stderr)
        return 3
    worst = 0.0
    try:
        photos = [Image.open(path).convert("RGB") for path in sorted(options.photos.iterdir())
                  if path.suffix.lower() in (".png", ".jpg", ".jpeg")]
        if not photos or any(p.width < TILE[0] or p.height < TILE[1] for p in photos):
            raise ValueError(f"{options.photos}: photographs of {TILE[0]}x{TILE[1]} at least are needed")
        with tempfile.TemporaryDirectory() as scratch:
            sets = list(options.sets)
            for kind in KINDS if options.program else ():
                sets.append(pathlib.Path(scratch) / kind)
                subprocess.run([options.program, "make-set", sets[-1], "--kind", kind, "--count",
                                str(COUNTS[kind])], check=True, stdout=subprocess.DEVNULL)
            for folder in sets:
                worst = max(worst, check(folder, photos, decoder, options))
    except (OSError, ValueError, KeyError, subprocess.CalledProcessError) as error:
        print(f"check_sets: {error}", file=sys.stderr)
        return 4
    if worst > options.tolerance:
        print(f"check_sets: {worst:.1%} off, more than {options.tolerance:.0%}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
