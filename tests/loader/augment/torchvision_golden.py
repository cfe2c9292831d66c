# SPDX-License-Identifier: Apache-2.0
"""Compares pixels of the loader's augmentation with those of torchvision and Pillow.

Tolerances are for values from 0 to 255 unless said otherwise. Pillow rounds to 8 bits between its two
passes, so a resize may differ by 1. torchvision uses the same formulas in float32 for its tensors, so
colours differ only where a value is almost whole (by 1, in at most 1 element of 1,000).
Run by ctest with PENSTOCK_AUGMENT_CLI; exits with 77 if torchvision is missing.
"""

import os
import subprocess
import sys
import unittest
import warnings

try:
    import numpy as np
    import torch
    import torchvision.transforms.functional as F
    from PIL import Image
    from torchvision.transforms import InterpolationMode
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

warnings.simplefilter("ignore")
torch.set_num_threads(1)
CLI = os.environ["PENSTOCK_AUGMENT_CLI"]
TYPES = {"u8": np.uint8, "f16": np.float16, "f32": np.float32}


def photo(width, height):
    """Waves, edges and noise, as a numpy array [height][width][3]."""
    y, x = np.mgrid[0:height, 0:width]
    noise = np.random.default_rng(7).uniform(-25, 25, (height, width, 3))
    planes = [110 + 70 * np.sin(0.09 * x * (c + 1)) * np.cos(0.05 * y + c)
              + 45 * ((x // 13 + y // 11 + c) % 2) for c in range(3)]
    return np.clip(np.stack(planes, -1) + noise, 0, 255).astype(np.uint8)


PHOTO = photo(193, 141)
TENSOR = torch.from_numpy(PHOTO).permute(2, 0, 1)
WHOLE = "crop=141x193"


def ours(ops, shape, kind="u8", layout="hwc", picture=PHOTO):
    command = [CLI, str(picture.shape[1]), str(picture.shape[0]), ops, kind, layout]
    out = subprocess.run(command, input=picture.tobytes(), stdout=subprocess.PIPE, check=True).stdout
    shape = (*shape, 3) if layout == "hwc" else (3, *shape)
    return np.frombuffer(out, TYPES[kind]).reshape(shape)


def hwc(tensor):
    return tensor.permute(1, 2, 0).numpy()


def fixed(op, value):
    return f"{WHOLE},{op}={value}-{value}"


def hue(tensor, factor):
    """Works as transforms.v2: converts to float, and back by convert_image_dtype(), which is trunc(255.999 v).
    The older transforms truncate 255 v, so that even a shift of 0 darkens a quarter of all values."""
    shifted = F.adjust_hue(F.convert_image_dtype(tensor, torch.float32), factor)
    return F.convert_image_dtype(shifted, torch.uint8)


class Golden(unittest.TestCase):
    def expect(self, actual, expected, most=0.0, share=1.0):
        """Checks that no element differs by more than `most`, and that at most `share` of all elements differ."""
        difference = np.abs(actual.astype(np.float64) - np.asarray(expected).astype(np.float64))
        self.assertEqual(actual.shape, np.asarray(expected).shape)
        self.assertLessEqual(difference.max(), most)
        self.assertLessEqual((difference > 0).mean(), share)

    def test_resize_is_pillows(self):
        for height, width in ((64, 96), (224, 224), (141, 50), (17, 193), (9, 7), (300, 301)):
            with self.subTest(height=height, width=width):
                pillow = Image.fromarray(PHOTO).resize((width, height), Image.BILINEAR)
                self.expect(ours(f"resize={height}x{width}", (height, width)), pillow, most=1)

    def test_resize_in_float_is_torchs(self):
        for antialias, name in ((True, "bilinear"), (False, "bilinear_noaa")):
            for size in ((64, 96), (224, 224), (9, 7)):
                with self.subTest(size=size, filter=name):
                    torchs = torch.nn.functional.interpolate(
                        TENSOR[None].float() / 255, size=size, mode="bilinear", align_corners=False,
                        antialias=antialias)[0]
                    actual = ours(f"resize={size[0]}x{size[1]}:{name}", size, "f32", "chw")
                    self.expect(actual, torchs, most=1e-5)  # values from 0 to 1; torch's scale is a float32

    def test_nearest_is_pillows(self):
        for height, width in ((64, 96), (224, 224), (9, 7)):
            pillow = Image.fromarray(PHOTO).resize((width, height), Image.NEAREST)
            self.expect(ours(f"resize={height}x{width}:nearest", (height, width)), pillow)

    def test_short_side_and_centre_crop_are_torchvisions(self):
        picture = Image.fromarray(PHOTO)
        expected = F.center_crop(F.resize(picture, 96), 80)
        self.expect(ours("resize=96,center_crop=80", (80, 80)), expected, most=1)
        for size in ((80, 80), (81, 94), (160, 100), (200, 230)):
            expected = F.center_crop(picture, size)
            self.expect(ours(f"center_crop={size[0]}x{size[1]}", size), expected)

    def test_resized_crop_and_flip_are_torchvisions(self):
        for top, left, height, width in ((3, 8, 120, 100), (0, 0, 33, 47), (50, 60, 91, 133)):
            expected = F.hflip(F.resized_crop(Image.fromarray(PHOTO), top, left, height, width, [64, 64]))
            ops = f"crop={height}x{width}:top={top}:left={left},resize=64x64,flip:1"
            self.expect(ours(ops, (64, 64)), expected, most=1)

    def test_flips_are_torchvisions(self):
        self.expect(ours(f"{WHOLE},flip:1", (141, 193)), hwc(F.hflip(TENSOR)))
        self.expect(ours(f"{WHOLE},vflip:1", (141, 193)), hwc(F.vflip(TENSOR)))

    def test_colours_are_torchvisions(self):
        cases = {"brightness": (F.adjust_brightness, (0.3, 0.91, 1.7)),
                 "contrast": (F.adjust_contrast, (0.2, 0.77, 1.9)),
                 "saturation": (F.adjust_saturation, (0.0, 0.5, 1.6)),
                 "hue": (hue, (-0.5, -0.13, 0.05, 0.31))}
        for name, (adjust, factors) in cases.items():
            for factor in factors:
                with self.subTest(op=name, factor=factor):
                    expected = hwc(adjust(TENSOR, factor))
                    self.expect(ours(fixed(name, factor), (141, 193)), expected, most=1, share=1e-3)

    def test_colours_one_after_the_other_are_torchvisions(self):
        expected = F.adjust_contrast(F.adjust_saturation(F.adjust_brightness(TENSOR, 1.2), 0.6), 1.3)
        ops = f"{WHOLE},brightness=1.2-1.2,saturation=0.6-0.6,contrast=1.3-1.3"
        self.expect(ours(ops, (141, 193)), hwc(expected), most=2, share=1e-3)

    def test_hue_is_within_a_count_of_the_older_transforms(self):
        self.expect(ours(fixed("hue", 0.2), (141, 193)), hwc(F.adjust_hue(TENSOR, 0.2)), most=1)

    def test_brightness_is_pillows(self):
        expected = F.adjust_brightness(Image.fromarray(PHOTO), 1.35)
        self.expect(ours(fixed("brightness", 1.35), (141, 193)), expected, most=1, share=1e-3)

    def test_rotation_is_torchvisions(self):
        for angle in (-75.0, -12.3, 8.0, 33.3, 118.0):
            with self.subTest(angle=angle):
                # Where float32 cannot tell which pixel is nearest, torchvision may take another one.
                expected = hwc(F.rotate(TENSOR, angle))
                actual = ours(fixed("rotate", angle), (141, 193))
                self.assertLessEqual((actual != expected).any(-1).mean(), 1e-3)
                pillow = np.asarray(F.rotate(Image.fromarray(PHOTO), angle))
                # Pillow's coordinates have 16 bits of fraction.
                self.assertLessEqual((actual != pillow).any(-1).mean(), 3e-3)
                expected = hwc(F.rotate(TENSOR, angle, InterpolationMode.BILINEAR))
                actual = ours(fixed("rotate", angle) + ":bilinear", (141, 193))
                self.expect(actual, expected, most=1, share=2e-3)

    def test_blur_is_torchvisions(self):
        for kernel, sigma in ((3, 0.5), (5, 1.1), (23, 2.0)):
            with self.subTest(kernel=kernel, sigma=sigma):
                expected = hwc(F.gaussian_blur(TENSOR, [kernel, kernel], [sigma, sigma]))
                ops = f"{WHOLE},gaussian_blur={kernel}:sigma={sigma}"
                self.expect(ours(ops, (141, 193)), expected, most=1, share=1e-3)

    def test_normalize_is_torchvisions(self):
        mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
        expected = F.normalize(F.to_tensor(Image.fromarray(PHOTO)), mean, std)
        actual = ours(f"{WHOLE},normalize", (141, 193), "f32", "chw")
        self.expect(actual, expected, most=1e-6)
        half = ours(f"{WHOLE},normalize", (141, 193), "f16", "chw")
        self.assertTrue((half == actual.astype(np.float16)).all())
        self.expect(ours(f"{WHOLE}", (141, 193), "f32", "hwc"), PHOTO.astype(np.float32) / 255, most=1e-7)


if __name__ == "__main__":
    unittest.main()
