#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Whole-image decoding by libjpeg-turbo's own benchmark, tjbench, one process per core.

Files are decoded from memory, one after the other. The rate follows from the time to decode each
file of the set once. Needs tjbench (Debian: libjpeg-turbo-progs).
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common  # noqa: E402


def seconds_of(program, path, budget):
    """Seconds to decode `path` once. A third of the budget is for warming up."""
    done = subprocess.run([program, path, "-nowrite", "-rgb", "-warmup", f"{budget / 3:.3f}",
                           "-benchtime", f"{budget * 2 / 3:.3f}"],
                          check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    rates = re.findall(r"Frame rate:\s+([0-9.]+)\s+fps", done.stdout)
    if not rates:
        raise ValueError(f"{path}: tjbench prints no frame rate")
    return 1 / float(rates[-1])


def main():
    options = common.parse(__doc__.splitlines()[0], lambda parser: parser.add_argument(
        "--files", type=int, default=24, help="evenly spread over the set (default 24)"))
    program = shutil.which("tjbench")
    if program is None:
        print("tjbench is missing: apt-get install libjpeg-turbo-progs", file=sys.stderr)
        return 3
    paths = common.files(options.data)
    chosen = paths[::max(1, len(paths) // options.files)][:options.files]
    workers = max(1, min(options.workers, len(chosen)))
    budget = max(0.03, options.seconds * workers / len(chosen))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        seconds = list(pool.map(lambda path: seconds_of(program, path, budget), chosen))
    print(f"throughput: {workers * len(seconds) / sum(seconds):.2f} samples/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
