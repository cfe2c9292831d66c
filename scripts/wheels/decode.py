# SPDX-License-Identifier: Apache-2.0
"""Decodes COUNT images of the folder DATA with one library, and transforms them. Does not use PyTorch."""

import argparse
import pathlib
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", choices=("pil", "cv2", "cv2-imdecode", "albumentations"))
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("count", type=int)
    options = parser.parse_args()
    paths = sorted(options.data.glob("*/*.jpg"))[:options.count]
    if len(paths) != options.count:
        sys.exit(f"decode: only {len(paths)} files {options.data}/*/*.jpg")
    pixels = 0
    if options.library == "pil":
        from PIL import Image

        for path in paths:
            with Image.open(path) as image:
                pixels += sum(image.convert("RGB").resize((224, 224)).size)
    else:
        import cv2

        transform = None
        if options.library == "albumentations":
            import albumentations

            transform = albumentations.Compose([
                albumentations.RandomCrop(height=224, width=224),
                albumentations.HorizontalFlip(p=1.0),
                albumentations.Normalize(),
            ])
        for path in paths:
            if options.library == "cv2-imdecode":
                import numpy

                image = cv2.imdecode(numpy.frombuffer(path.read_bytes(), numpy.uint8), cv2.IMREAD_COLOR)
            else:
                image = cv2.imread(str(path))
            image = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)
            if transform:
                image = transform(image=image)["image"]
            pixels += image.shape[0] + image.shape[1]
    print(f"{options.library}: {len(paths)} images, {pixels}")


if __name__ == "__main__":
    main()
