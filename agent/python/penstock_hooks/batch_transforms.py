# SPDX-License-Identifier: Apache-2.0
"""Transforms that a training loop applies to whole batches: Kornia's modules, fastai's pipelines of transforms."""
from penstock_hooks import transforms, wire
from penstock_hooks.wrapping import replace, spanned


def patch(module):
    """`module`: kornia.augmentation.base, or fasttransform.transform (before fastai 2.8 it is in fastcore). Inside a
    sample these transforms are recorded like any others."""
    if module.__name__ == "kornia.augmentation.base":
        transforms.adopt(module._BasicAugmentationBase)
    else:
        replace(module.Pipeline, "__call__", spanned(wire.AUGMENT, "fastai.Pipeline"))
