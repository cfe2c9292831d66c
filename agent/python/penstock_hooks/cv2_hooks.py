# SPDX-License-Identifier: Apache-2.0
"""OpenCV's image functions. The wheels of PyPI link OpenCV into the module cv2 itself, so the hooks on the shared
library (agent/hooks/hooks_opencv.cc) do not see its calls."""
from penstock_hooks import overrides, wire
from penstock_hooks.wrapping import array_bytes, replace, spanned

_DECODE = ("imread", "imdecode", "imreadmulti")
_AUGMENT = ("resize", "warpAffine", "warpPerspective", "remap", "cvtColor", "GaussianBlur", "flip",
            "copyMakeBorder", "rotate", "LUT", "blur", "medianBlur", "filter2D")  # fmt: skip


def patch(module):
    overrides.enter_cv2(module)
    for stage, names in ((wire.DECODE, _DECODE), (wire.AUGMENT, _AUGMENT)):
        for name in names:
            if callable(getattr(module, name, None)):
                replace(module, name, spanned(stage, "cv2." + name, array_bytes))
