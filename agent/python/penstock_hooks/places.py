# SPDX-License-Identifier: Apache-2.0
"""Finds where in the program something was made: file:line of the calls that are not in libraries."""
import os
import sys

_STANDARD = os.path.dirname(os.path.realpath(os.__file__)) + os.sep
_OURS = os.path.dirname(os.path.realpath(__file__)) + os.sep
_DEPTH = 8
_INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)


def _is_library(file):
    """Whether `file` belongs to Python, to us or to an installed package, or is no file, such as
    <frozen importlib._bootstrap>."""
    if file.startswith("<") or any(part in file for part in _INSTALLED):
        return True
    file = os.path.realpath(file)
    return file.startswith((_STANDARD, _OURS))


def _is_init_of(frame, made):
    """Whether the frame is the __init__ of `made`. The program may have derived the class from a library's; the call
    that makes the object is then outside that __init__."""
    code = frame.f_code
    return code.co_name == "__init__" and code.co_argcount and frame.f_locals.get(code.co_varnames[0]) is made


def callers(made=None):
    """file:line of the calls outside libraries and outside the __init__ of `made`, innermost first, at most _DEPTH.
    Files have the names that Python has for them (co_filename)."""
    frame, found = sys._getframe(1), []
    while frame is not None and len(found) < _DEPTH:
        if not _is_library(frame.f_code.co_filename) and not _is_init_of(frame, made):
            found.append("%s:%d" % (frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return tuple(found)
