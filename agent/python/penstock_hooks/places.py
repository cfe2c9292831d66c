# SPDX-License-Identifier: Apache-2.0
"""Finds where in the program something was made: file:line of the calls that are not in libraries."""
import os
import sys

_STANDARD = os.path.dirname(os.path.realpath(os.__file__)) + os.sep
_OURS = os.path.dirname(os.path.realpath(__file__)) + os.sep
_DEPTH = 8
_INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)


def _is_library(file):
    """Whether `file` belongs to Python, to us or to an installed package. Also true for a name that is no file, such as
    <frozen importlib._bootstrap>."""
    if file.startswith("<") or any(part in file for part in _INSTALLED):
        return True
    file = os.path.realpath(file)
    return file.startswith((_STANDARD, _OURS))


def _inits_of(made):
    """The ids of the code objects of every __init__ of the class of `made` and its bases, also of those inside
    decorators."""
    # `self` in frame.f_locals would say which object a frame makes. But up to Python 3.12 asking for f_locals writes
    # the frame's variables into the dictionary that locals() has given to the program.
    found = set()
    for kind in type(made).__mro__:
        function = kind.__dict__.get("__init__")
        for _ in range(_DEPTH):
            code = getattr(function, "__code__", None)
            if code is not None:
                found.add(id(code))
            function = getattr(function, "__wrapped__", None)
    return found


def callers(made=None):
    """file:line of the calls outside libraries and outside the __init__ of `made`, innermost first, at most _DEPTH.
    Files have the names that Python has for them (co_filename)."""
    frame, found, inits = sys._getframe(1), [], _inits_of(made)
    while frame is not None and len(found) < _DEPTH:
        code = frame.f_code
        if id(code) in inits:  # it may be the program's; the call that makes the object is outside of it
            inits.remove(id(code))  # it runs once for an object: another frame of it makes another object
        elif not _is_library(code.co_filename):
            found.append("%s:%d" % (code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return tuple(found)
