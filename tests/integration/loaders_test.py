# SPDX-License-Identifier: Apache-2.0
"""Libraries that datasets of a DataLoader read with, and a loader in C++: runs those programs of scripts/loaders that
work with Debian's packages. scripts/test_loaders.sh runs all programs of that folder, with current wheels.
"""
import os
import sys

import support
from support import PYTHON, Case, program, require

sys.path.insert(0, os.path.join(support.HERE, "..", "..", "scripts", "loaders"))
import cases
import run as loaders

OPENCV_THREADS = os.path.join(os.environ.get("PENSTOCK_TARGETS", ""), "opencv_threads")


class Loaders(Case):
    pictures = (160, support.SMALL_SIZES)

    @classmethod
    def setUpClass(cls):
        require("penstock", "penstock-record", "penstock-export")
        super().setUpClass()
        cls.runner = loaders.Runner(program("penstock"), cls.base, cls.data,
                                    {"debian": PYTHON, "native": OPENCV_THREADS})

    def check(self, name):
        case = next(case for case in cases.CASES if case.name == name)
        result = self.runner.run(case)
        self.assertNotIn("missing", result)
        self.assertEqual(result["wrong"], [])

    def test_h5py(self):
        self.check("debian-h5py")

    def test_lmdb(self):
        self.check("debian-lmdb-pictures")

    def test_imageio_without_a_loader(self):
        self.check("debian-imageio-plain")

    def test_scikit_image(self):
        self.check("debian-skimage")

    def test_threads_with_opencv(self):
        self.check("opencv-threads")


if __name__ == "__main__":
    sys.exit(support.main())
