# SPDX-License-Identifier: Apache-2.0
"""A network that learns masks: segment_penstock.py DATA [EPOCHS]. DATA/images/a.jpg has the mask DATA/masks/a.png."""
import os
import sys

import numpy
import penstock
import torch
from penstock import targets
from PIL import Image

DATA, EPOCHS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2
OUTSIDE = 255  # the mask's value in the padding; the loss ignores it


def masks(samples):
    names = [os.path.splitext(os.path.basename(path))[0] for path in samples.paths]
    found = [numpy.asarray(Image.open(os.path.join(DATA, "masks", name + ".png"))) for name in names]
    return torch.from_numpy(targets.crop_masks(samples, found, fill=OUTSIDE)).long()


torch.manual_seed(0)
loader = penstock.Loader(os.path.join(DATA, "images"), batch=8, workers=2, output="f32", targets=masks,
                         ops="random_resized_crop=64:scale=0.3-1,flip,normalize")
network = torch.nn.Sequential(
    torch.nn.Conv2d(3, 16, 5, padding=2), torch.nn.ReLU(), torch.nn.Conv2d(16, 16, 5, padding=2), torch.nn.ReLU(),
    torch.nn.Conv2d(16, 2, 1))
optimizer = torch.optim.Adam(network.parameters(), 1e-2)
for epoch in range(EPOCHS):
    loader.set_epoch(epoch)
    right = pixels = 0
    for images, wanted in loader:
        scores = network(images)
        loss = torch.nn.functional.cross_entropy(scores, wanted, ignore_index=OUTSIDE)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += int((scores.argmax(1) == wanted).sum())
        pixels += int((wanted != OUTSIDE).sum())
    print("epoch %d: %.0f %% of the pixels right, %.1f s for masks" % (
        epoch, 100 * right / pixels, loader.targets_seconds))
