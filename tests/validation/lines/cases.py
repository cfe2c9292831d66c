# SPDX-License-Identifier: Apache-2.0
"""The cases of programs.py, with the function and the line in which each spends its time."""
import pathlib

PROGRAM = pathlib.Path(__file__).resolve().parent / "programs.py"

# case -> (function, the comment at the end of the line in programs.py).
CASES = {
    "python_loop": ("python_loop", "the loop"),
    "comprehension": ("comprehension", "the comprehension"),
    "deepcopy": ("deepcopy", "the copy"),
    "pandas_rows": ("pandas_rows", "the rows"),
    "regular_expression": ("regular_expression", "the expression"),
    "numpy_temporary": ("numpy_temporary", "the temporary"),
    "opencv_call": ("opencv_call", "the filter"),
    "pil_round_trip": ("pil_round_trip", "the round trip"),
    "lock": ("lock", "the lock"),
    "sleep": ("sleep", "the sleep"),
    "generator": ("windows", "the generator"),
    "recursion": ("depth", "the recursion"),
    "healthy": (None, None),
}


def places():
    """Returns {case: (function, line number)}; both are None for the healthy program."""
    lines = PROGRAM.read_text(encoding="utf-8").splitlines()
    return {case: (function, words and next(at for at, line in enumerate(lines, 1) if line.endswith("# " + words)))
            for case, (function, words) in CASES.items()}  # fmt: skip
