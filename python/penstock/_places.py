# SPDX-License-Identifier: Apache-2.0
"""Finds the programs and libraries of this package.

There are three layouts: the wheel (beside these files), `cmake --install` (this package is
PREFIX/lib/penstock/python/penstock) and a build tree (PENSTOCK_BUILD names it; without it, build/release of the
checkout with these files).
"""
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))


def _roots():
    """(folder of programs, folder of libraries), most likely first."""
    build = os.environ.get("PENSTOCK_BUILD")
    if build:
        yield os.path.join(build, "bin"), os.path.join(build, "lib")
    yield os.path.join(HERE, "bin"), os.path.join(HERE, "lib", "penstock")
    library = os.path.dirname(os.path.dirname(HERE))
    yield os.path.join(os.path.dirname(os.path.dirname(library)), "bin"), library
    build = os.path.join(library, "build", "release")
    yield os.path.join(build, "bin"), os.path.join(build, "lib")


def program(name="penstock"):
    """Path of a program: "penstock", "penstock-record", "penstock-gui", ...

    Raises FileNotFoundError if there is none of that name.
    """
    for programs, _ in _roots():
        path = os.path.join(programs, name)
        if os.path.isfile(path):
            return path
    raise FileNotFoundError("penstock has no program %r" % name)


def library(name):
    """Path of a shared library: "libpenstock_loader.so". Raises FileNotFoundError."""
    for _, libraries in _roots():
        path = os.path.join(libraries, name)
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(
        "penstock has no %s: this build leaves it out, or PENSTOCK_BUILD does not name a build folder" % name
    )


def version():
    for name in os.listdir(HERE):
        if name.startswith("VERSION-"):
            return name[len("VERSION-") :]
    try:
        with open(os.path.join(HERE, os.pardir, os.pardir, "CMakeLists.txt"), encoding="utf-8") as file:
            found = re.search(r"project\(penstock VERSION ([0-9.]+)", file.read())
    except OSError:
        found = None
    if found is None:
        raise ImportError("the package penstock is not complete: no VERSION file in %s" % HERE)
    return found.group(1)
