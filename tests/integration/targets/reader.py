# SPDX-License-Identifier: Apache-2.0
"""Reads every file of a folder in several rounds. Before the last round it does to the files, or to their copies, what
--trouble says.

Prints a digest of the bytes of each round, and on standard error the folders from which they were read.
"""
import argparse
import glob
import hashlib
import os
import shutil
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--pause", type=float, default=0.7, help="seconds between rounds")
parser.add_argument("--trouble", default="", help="vanish, garble, change, replace, append, write or duplicate")
arguments = parser.parse_args()
stage = os.environ.get("PENSTOCK_STAGE", "")


def make_trouble():
    first = sorted(glob.glob(arguments.data + "/*"))[0]
    if arguments.trouble == "vanish" and stage:
        shutil.rmtree(stage)
    elif arguments.trouble == "garble" and stage:
        for copy in glob.glob(stage + "/*"):
            os.chmod(copy, 0o600)
            with open(copy, "r+b") as file:
                file.truncate(10)
    elif arguments.trouble == "change":  # in place: inode, size and modification time stay the same
        before = os.stat(first)
        with open(first, "r+b") as file:
            file.write(b"changed")
        os.utime(first, ns=(before.st_atime_ns, before.st_mtime_ns))
    elif arguments.trouble == "replace":
        with open(first + ".new", "wb") as file:
            file.write(b"replaced" * 100)
        os.rename(first + ".new", first)
    elif arguments.trouble == "append":
        with open(first, "ab") as file:
            file.write(b"appended")
    elif arguments.trouble == "write":  # through a descriptor for reading and writing
        with open(first, "r+b") as file:
            old = file.read(4)
            file.seek(0)
            file.write(old[::-1])


for number in range(arguments.rounds):
    digest, places = hashlib.sha256(), set()
    for path in sorted(glob.glob(arguments.data + "/*")):
        with open(path, "rb") as file:
            places.add(os.path.dirname(os.readlink("/proc/self/fd/%d" % file.fileno())))
            if arguments.trouble == "duplicate":  # as numpy.fromfile() does
                with os.fdopen(os.dup(file.fileno()), "rb") as other:
                    digest.update(other.read())
            else:
                digest.update(file.read())
    print("round", number, digest.hexdigest())
    print("round", number, "from", " ".join(sorted(places)), file=sys.stderr)
    time.sleep(arguments.pause)
    if number == arguments.rounds - 2:
        make_trouble()
