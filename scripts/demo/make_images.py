#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes photo-like JPEG sets, one folder per class, for demos, tests and benchmarks.

JPEG size and decode time depend on the content of a picture, so benchmarks with flat noise or flat
colour say nothing about photographs. Like photographs, these pictures have shapes that occlude one
another and whose sizes follow a power law (the "dead leaves" model), textures with a 1/f spectrum,
gradients of light, blur outside the plane of focus, and sensor noise. Sets:

  imagenet  long side 500, quality 96, 4:4:4: about 105 KB each
  fullhd    1920x1080, quality 92, 4:2:0

The same seed gives the same pixels for any number of processes. Needs numpy and Pillow.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import sys
import time

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # before numpy reads them
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
from PIL import Image, ImageDraw, ImageFilter  # noqa: E402

CLASSES = 10
SCENES = 24  # painted once for each set; every image combines windows of two scenes
LEAVES = 900

# name: (image sizes with their odds, JPEG options, default count)
SETS = {
    "imagenet": (
        [((500, 375), 0.55), ((375, 500), 0.2), ((500, 333), 0.25)],
        {"quality": 96, "subsampling": 0},
        1200,
    ),
    "fullhd": ([((1920, 1080), 1.0)], {"quality": 92, "subsampling": 2}, 120),
}


def one_over_f(rng, height, width, exponent):
    """Returns a Gaussian random field of mean 0 and standard deviation 1. Its amplitude spectrum is 1/f^exponent."""
    fy = np.fft.fftfreq(height)[:, None]
    fx = np.fft.rfftfreq(width)[None, :]
    frequency = np.hypot(fy, fx)
    frequency[0, 0] = 1.0
    spectrum = np.fft.rfft2(rng.standard_normal((height, width)))
    spectrum *= frequency**-exponent
    spectrum[0, 0] = 0
    field = np.fft.irfft2(spectrum, s=(height, width)).astype(np.float32)
    return field / field.std()


def palette(rng):
    """Returns muted colours around two hues. Photographs of one place under one light have such colours."""
    hues = [rng.normal(0.08, 0.05), rng.choice([0.3, 0.58, 0.02]) + rng.normal(0, 0.05)]
    colours = []
    for _ in range(14):
        hue = rng.choice(hues) + rng.normal(0, 0.02)
        saturation, value = rng.beta(2, 6), 0.12 + 0.7 * rng.beta(2, 2)
        angle = 2 * np.pi * (hue - np.array([0, 1 / 3, 2 / 3]))
        colours.append(255 * np.clip(value * (1 + 0.9 * saturation * np.cos(angle)), 0, 1))
    return np.array(colours)


def paint_scene(task):
    """Returns (sharp, blurred) scenes and a mask of the near parts; uint8, uint8, float32 in 0..1."""
    seed, index, height, width = task
    rng = np.random.default_rng([seed, 1, index])
    colours = palette(rng)
    canvas = Image.new("RGB", (width, height), tuple(int(c) for c in colours[0]))
    relief = Image.new("L", (width, height), 128)  # strength of the texture of each shape
    draw, draw_relief = ImageDraw.Draw(canvas), ImageDraw.Draw(relief)
    for _ in range(LEAVES):
        # Radii follow a power law of exponent 3, cut off at both ends. This law is scale-invariant, and so
        # are the sizes of things in photographs.
        radius = min(0.5, 0.010 / np.sqrt(1 - rng.random())) * height
        x, y = rng.uniform(-0.1, 1.1) * width, rng.uniform(-0.1, 1.1) * height
        corners = rng.integers(5, 48)
        angle = np.sort(rng.uniform(0, 2 * np.pi, corners))
        reach = radius * (1 + 0.25 * np.sin(angle * rng.integers(1, 5) + rng.uniform(0, 6)))
        stretch = rng.uniform(0.5, 1.6)
        shape = list(zip(x + stretch * reach * np.cos(angle), y + reach * np.sin(angle)))
        colour = np.clip(colours[rng.integers(len(colours))] + rng.normal(0, 9, 3), 0, 255)
        draw.polygon(shape, fill=tuple(int(c) for c in colour))
        draw_relief.polygon(shape, fill=int(np.clip(rng.gamma(1.6, 60), 0, 255)))
    canvas = canvas.filter(ImageFilter.GaussianBlur(0.8))  # a lens makes no hard edges
    pixels = np.asarray(canvas, np.float32)
    depth = np.asarray(relief.filter(ImageFilter.GaussianBlur(1.0)), np.float32) / 128
    texture = one_over_f(rng, height, width, 1.05)[:, :, None]
    tint = np.stack([one_over_f(rng, height, width, 1.5) for _ in range(2)], axis=2)
    # Light and shade vary slowly and fall off towards one side.
    shade = 1 + 0.16 * one_over_f(rng, height, width, 2.0)
    shade *= np.linspace(rng.uniform(0.7, 1.25), rng.uniform(0.7, 1.25), height)[:, None]
    pixels *= np.clip(shade, 0.3, 1.6).astype(np.float32)[:, :, None]
    pixels += 9 * depth[:, :, None] * texture
    pixels[:, :, 0::2] += 4 * tint
    sharp = np.clip(pixels, 0, 255).astype(np.uint8)
    blurred = np.asarray(Image.fromarray(sharp).filter(ImageFilter.GaussianBlur(height / 140)))
    near = one_over_f(rng, height, width, 2.6)
    mask = 1 / (1 + np.exp(-(near - rng.uniform(-1.2, 0.2)) * 20))
    return sharp, blurred, mask.astype(np.float32)


def make_noise(seed, height, width):
    """Returns noise as of a sensor after demosaicking: neighbouring pixels are correlated, and so are channels."""
    rng = np.random.default_rng([seed, 2])
    noise = rng.standard_normal((height + 2, width + 2, 3), dtype=np.float32)
    noise = noise[:-2, 1:-1] + noise[2:, 1:-1] + noise[1:-1, :-2] + noise[1:-1, 2:] + 2 * noise[1:-1, 1:-1]
    noise += noise.mean(axis=2, keepdims=True)
    return noise / noise.std()


_shared = {}  # inherited by fork, since scenes and noise are large


def cut(rng, scene, noise_or_mask, width, height):
    """Cuts the same random window out of `scene` and of the arrays in `noise_or_mask`, mirrored half of the time."""
    y = rng.integers(scene.shape[0] - height + 1)
    x = rng.integers(scene.shape[1] - width + 1)
    step = -1 if rng.random() < 0.5 else 1
    window = (slice(y, y + height), slice(x, x + width))
    return [a[window][:, ::step] for a in (scene, *noise_or_mask)]


def make_image(index):
    """Writes image `index`; returns its size in bytes."""
    seed, sizes, options, folder = (_shared[k] for k in ("seed", "sizes", "options", "folder"))
    rng = np.random.default_rng([seed, 3, index])
    label = index % CLASSES
    width, height = sizes[rng.choice(len(sizes), p=[odds for _, odds in sizes])][0]
    # Each class has its own scenes and tint, so that a network has something to learn.
    scenes = _shared["scenes"]
    near = scenes[(label * 7 + rng.integers(4)) % len(scenes)]
    far = scenes[rng.integers(len(scenes))]
    front, mask = cut(rng, near[0], [near[2]], width, height)
    back = cut(rng, far[1] if rng.random() < 0.6 else far[0], [], width, height)[0]
    pixels = back.astype(np.float32)
    pixels += mask[:, :, None] * (front - pixels)
    angle = 2 * np.pi * label / CLASSES + np.array([0, 2.1, 4.2], np.float32)
    exposure = rng.uniform(0.85, 1.15)
    pixels *= (exposure * (1 + 0.08 * np.cos(angle))).astype(np.float32)
    # Standard deviation of the noise, in levels of 0 to 255: mostly small as in good light, sometimes large
    # as in a dark room.
    strength = min(7.0, 0.8 + rng.gamma(1.6, 0.9))
    pixels += np.float32(strength) * cut(rng, _shared["noise"], [], width, height)[0]
    image = Image.fromarray(np.clip(pixels, 0, 255, out=pixels).astype(np.uint8))
    path = folder / f"class{label:02d}" / f"{index:05d}.jpg"
    image.save(path, "JPEG", **options)
    return path.stat().st_size


def make_set(name, folder, count, seed, processes):
    """Makes one set in `folder`. The manifest is written last: if it is there, the set is complete."""
    sizes, options, _ = SETS[name]
    manifest = {"set": name, "count": count, "seed": seed, "version": 1}
    manifest_path = folder / "set.json"
    try:
        known = json.loads(manifest_path.read_text())
        if all(known.get(key) == value for key, value in manifest.items()):
            return known, 0.0
    except (OSError, ValueError, AttributeError):
        pass
    started = time.monotonic()
    for label in range(CLASSES):
        (folder / f"class{label:02d}").mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("class*/*.jpg"):
        stale.unlink()
    # A scene is a quarter larger than the largest image, so that windows differ.
    longest = max(max(size) for size, _ in sizes)
    square = any(size[0] < size[1] for size, _ in sizes)
    tallest = longest if square else max(size[1] for size, _ in sizes)
    scene_size = (tallest * 5 // 4, longest * 5 // 4)
    scenes = SCENES if longest < 1000 else SCENES // 4
    context = multiprocessing.get_context("fork")
    with context.Pool(processes) as pool:
        painted = pool.map(paint_scene, [(seed, i, *scene_size) for i in range(scenes)], 1)
    _shared.update(seed=seed, sizes=sizes, options=options, folder=folder, scenes=painted,
                   noise=make_noise(seed, *scene_size))
    with context.Pool(processes) as pool:
        bytes_each = pool.map(make_image, range(count), 8)
    manifest.update(mean_bytes=round(sum(bytes_each) / count), least_bytes=min(bytes_each),
                    most_bytes=max(bytes_each), deviation_bytes=round(float(np.std(bytes_each))))
    manifest_path.write_text(json.dumps(manifest, indent=1) + "\n")
    return manifest, time.monotonic() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="where the set goes")
    parser.add_argument("--set", choices=SETS, default="imagenet")
    parser.add_argument("--count", type=int, help="images (default: that of the set)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    count = options.count or SETS[options.set][2]
    if count < 1 or options.processes < 1:
        parser.error("--count and --processes must be at least 1")
    try:
        made, seconds = make_set(options.set, options.folder, count, options.seed, options.processes)
    except OSError as error:
        print(f"make_images: {error}", file=sys.stderr)
        return 3
    print(f"{options.folder}: {made['count']} images, mean {made['mean_bytes'] / 1000:.1f} KB "
          f"({made['least_bytes'] / 1000:.0f} to {made['most_bytes'] / 1000:.0f}), "
          + (f"made in {seconds:.1f} s" if seconds else "already there"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
