# SPDX-License-Identifier: Apache-2.0
"""python_loader.py SET: checks that penstock.Loader delivers the same bytes with device="cuda" as with device="cpu",
and that its batches for the GPU are in page-locked memory."""
import sys

import penstock
import torch

OPTIONS = {"ops": "random_resized_crop=224,flip,normalize", "batch": 64, "workers": 4}
here, there = penstock.Loader(sys.argv[1], **OPTIONS), penstock.Loader(sys.argv[1], device="cuda", **OPTIONS)
if not there.pinned:
    sys.exit("batches are not in page-locked memory")
for epoch in range(3):
    for loader in (here, there):
        loader.set_epoch(epoch)
    # The comparison comes after the epoch, so that the loader reuses its memory while copies to the GPU still run.
    copies = list(there)
    for number, (expected, got) in enumerate(zip(here, copies)):
        for name, one, other in zip(("images", "labels"), expected, got):
            if not other.is_cuda or not torch.equal(one, other.cpu()):
                sys.exit("epoch %d, batch %d: %s differ" % (epoch, number, name))
    if len(copies) != len(here):
        sys.exit("epoch %d has %d batches instead of %d" % (epoch, len(copies), len(here)))
print("%d batches an epoch, the same bytes" % len(here))
