# SPDX-License-Identifier: Apache-2.0
"""imageio, scikit-image and scipy.ndimage: reading pictures is `decode`, changing them is `augment`.

Functions are patched in the module that defines them, before packages above it import them by name.
"""
from penstock_hooks import wire
from penstock_hooks.wrapping import array_bytes, replace, spanned

_READERS = ("imread", "mimread", "volread", "mvolread")
_SKIMAGE = ("resize", "rescale", "rotate", "warp", "swirl", "resize_local_mean", "downscale_local_mean",
            "rgb2gray", "rgb2hsv", "hsv2rgb", "rgb2lab", "lab2rgb", "gray2rgb", "rgba2rgb", "rgb2ycbcr",
            "gaussian", "median", "adjust_gamma", "adjust_log", "adjust_sigmoid", "rescale_intensity",
            "equalize_hist", "equalize_adapthist", "random_noise", "img_as_float", "img_as_float32",
            "img_as_ubyte", "denoise_bilateral", "denoise_tv_chambolle", "match_histograms")  # fmt: skip
_NDIMAGE = ("zoom", "rotate", "shift", "affine_transform", "map_coordinates", "geometric_transform",
            "gaussian_filter", "uniform_filter", "median_filter")  # fmt: skip


def patch(module):
    package, name = module.__name__.partition(".")[0], module.__name__
    if package == "imageio" or name == "skimage.io._io":
        label = "imageio." if package == "imageio" else "skimage.io."
        for reader in _READERS:
            if callable(getattr(module, reader, None)):
                replace(module, reader, spanned(wire.DECODE, label + reader, array_bytes))
        return
    label, names = ("skimage.", _SKIMAGE) if package == "skimage" else ("ndimage.", _NDIMAGE)
    for function in names:
        found = getattr(module, function, None)
        if callable(found) and getattr(found, "__module__", "") == name:
            replace(module, function, spanned(wire.AUGMENT, label + function, array_bytes))
