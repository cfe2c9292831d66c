#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks whether a wheel can run on the systems that its name promises. Reads from its programs and libraries
which machine, shared libraries and versions of glibc they need.

    scripts/wheel/check.py WHEEL --glibc 2.28 [--machine aarch64]

Does not run the programs, so the wheel may be for another machine. Prints a line for each program, and the errors.
Exit status: 0 no error, 1 errors. Needs readelf (binutils).
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import zipfile

LIMIT = 15_000_000  # size of the wheel in bytes
AGENT_GLIBC = (2, 17)
# readelf's name of the machine, and the dynamic loader of its C library.
MACHINES = {"x86_64": ("Advanced Micro Devices X86-64", "ld-linux-x86-64.so.2"),
            "aarch64": ("AArch64", "ld-linux-aarch64.so.1")}  # fmt: skip
AGENT_LIBRARIES = {"libc.so.6", "libdl.so.2"}
C_LIBRARY = AGENT_LIBRARIES | {"libm.so.6", "libpthread.so.0", "librt.so.1", "libresolv.so.2", "libutil.so.1"}
PARTS = ("penstock/bin/penstock", "penstock/bin/penstock-record", "penstock/bin/penstock-recover",
         "penstock/bin/penstock-export", "penstock/bin/penstock-import", "penstock/bin/penstock-validate",
         "penstock/bin/penstock-pack", "penstock/bin/penstock-load", "penstock/bin/penstock-sweep",
         "penstock/bin/penstock-gui", "penstock/lib/penstock/libpenstock_agent.so", ".data/scripts/penstock",
         "penstock/lib/penstock/penstock_python/sitecustomize.py", ".data/data/share/man/man1/penstock.1",
         ".data/data/share/man/man1/penstock-gui.1", ".data/data/share/man/man1/penstock-report.1",
         "penstock/__init__.py", "penstock/__main__.py", "penstock/loader.py", "penstock/trace.py",
         "penstock/__init__.pyi", "penstock/py.typed", "penstock/lib/penstock/libpenstock_loader.so",
         "penstock/lib/penstock/libpenstock_trace.so")  # fmt: skip


def asked_of_the_system(path):
    """Returns what a program needs: machine, libraries, newest version of glibc, versions of libstdc++ and libgcc."""
    text = subprocess.run(["readelf", "-W", "-h", "-d", "-V", path], check=True, capture_output=True, text=True).stdout
    libraries = set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))
    foreign = set(re.findall(r"\b((?:GLIBCXX|CXXABI|GCC)_[0-9.]+)", text))
    versions = [tuple(map(int, version.split("."))) for version in re.findall(r"\bGLIBC_([0-9.]+)", text)]
    return re.search(r"Machine: *(.*)", text).group(1), libraries, max(versions, default=(0,)), foreign


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel")
    parser.add_argument("--glibc", default="2.28", help="the oldest C library it is to run with")
    parser.add_argument("--machine", default=os.uname().machine, choices=sorted(MACHINES), help="the machine it is for")
    want = parser.parse_args()
    machine, loader = MACHINES[want.machine]
    oldest = tuple(map(int, want.glibc.split(".")))
    wrong = []
    if not want.wheel.endswith("_%s.whl" % want.machine):
        wrong.append("its name does not end in %s" % want.machine)
    size = os.path.getsize(want.wheel)
    if size > LIMIT:
        wrong.append("%.1f MB are more than %.0f" % (size / 1e6, LIMIT / 1e6))
    with zipfile.ZipFile(want.wheel) as archive, tempfile.TemporaryDirectory() as folder:
        names = archive.namelist()
        wrong += ["has no %s" % part for part in PARTS if not any(name.endswith(part) for name in names)]
        for name in names:
            if archive.open(name).read(4) != b"\x7fELF":
                continue
            path = archive.extract(name, folder)
            runs_on, libraries, newest, foreign = asked_of_the_system(path)
            agent = name.endswith("libpenstock_agent.so")
            allowed, limit = (AGENT_LIBRARIES, AGENT_GLIBC) if agent else (C_LIBRARY, oldest)
            print("%8d  glibc %-5s %s" % (os.path.getsize(path), ".".join(map(str, newest)), name))
            wrong += ["%s needs %s" % (name, library) for library in sorted(libraries - allowed - {loader})]
            if runs_on != machine:
                wrong.append("%s is for %s" % (name, runs_on))
            wrong += ["%s needs %s" % (name, version) for version in sorted(foreign)]
            if newest > limit:
                wrong.append("%s needs glibc %s" % (name, ".".join(map(str, newest))))
    for text in wrong:
        print("%s: %s" % (os.path.basename(want.wheel), text), file=sys.stderr)
    print("%s: %.1f MB, %s" % (os.path.basename(want.wheel), size / 1e6, "%d faults" % len(wrong) if wrong else "no faults"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
