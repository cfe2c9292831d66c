# SPDX-License-Identifier: Apache-2.0
"""A test case that makes a set of pictures once, and loaders of it that are closed after each test."""
from support import OPS, WithSet, delivered  # puts the package on the path

from penstock.loader import Loader


class Case(WithSet):
    def loader(self, source=None, **options):
        options.setdefault("ops", OPS)
        options.setdefault("output", "f32")
        options.setdefault("batch", 4)
        options.setdefault("workers", 2)
        made = Loader(self.set if source is None else source, **options)
        self.addCleanup(made.close)
        return made

    def pictures(self, **options):
        with self.loader(**options) as loader:
            return delivered(loader)
