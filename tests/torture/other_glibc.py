#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the agent under the C library and the Python of other systems.

    other_glibc.py ROOT...

ROOT is the root folder of a system, such as `debootstrap --variant=minbase
--include=python3-minimal bullseye ROOT` makes. Needs root (chroot). In each ROOT, programs must end and
print the same alone and under the agent. Their recordings must be undamaged and hold the reads.
PENSTOCK_AGENT_LIB names the agent, and PENSTOCK_BIN the folder of programs (default: those of build/release).
"""
import glob
import json
import os
import shutil
import subprocess
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
AGENT = os.environ.get("PENSTOCK_AGENT_LIB") or os.path.join(TREE, "build/release/lib/libpenstock_agent.so")
BIN = os.environ.get("PENSTOCK_BIN") or os.path.join(TREE, "build/release/bin")
PROGRAM = """import os, sys, threading
names = sorted(os.path.join('data', name) for name in os.listdir('data'))
def read(step):
    for name in names[step::2]:
        with open(name, 'rb') as file: file.read()
threads = [threading.Thread(target=read, args=(i,)) for i in range(2)]
[thread.start() for thread in threads]; [thread.join() for thread in threads]
child = os.fork()
if child == 0:
    read(0)
    os._exit(3)
print(os.waitpid(child, 0)[1] >> 8, sys.path, sys.version_info[:2], sorted(globals()))
"""
CHROOT = shutil.which("chroot", path="/usr/sbin:/sbin:/usr/bin:/bin") or "chroot"
FILES = 20


class Failure(Exception):
    pass


def run(root, command, extra=()):
    """Runs `command` in `root`. `extra` has variables that the program gets and chroot does not."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/", "LANG": "C", "PYTHONDONTWRITEBYTECODE": "1"}
    inside = ["/bin/sh", "-c", "cd /penstock-test && exec /usr/bin/env \"$@\"", "sh", *extra, *command]
    done = subprocess.run([CHROOT, root, *inside], env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)  # fmt: skip
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def summary(trace):
    done = subprocess.run([os.path.join(BIN, "penstock-validate"), "--json", trace], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)  # fmt: skip
    if done.returncode != 0:
        raise Failure("validate: %s" % done.stderr.strip())
    return json.loads(done.stdout)


def check(root, place):
    """Runs and checks the programs in `root`. Yields (what was run, number of spans) for each."""
    os.mkdir(os.path.join(place, "data"))
    for number in range(FILES):
        with open(os.path.join(place, "data", "%02d.bin" % number), "wb") as file:
            file.write(bytes([number]) * 5000)
    with open(os.path.join(place, "program.py"), "w", encoding="ascii") as file:
        file.write(PROGRAM)
    os.mkdir(os.path.join(place, "lib"))
    shutil.copy(AGENT, os.path.join(place, "lib"))
    shutil.copytree(os.path.join(os.path.dirname(AGENT), "penstock_python"), os.path.join(place, "lib/penstock_python"))
    pythons = sorted(path[len(root):] for path in glob.glob(root + "/usr/bin/python[23]")
                     + glob.glob(root + "/usr/bin/python3.[0-9]*") if not path.endswith("config"))  # fmt: skip
    commands = [("sh and cat", ["/bin/sh", "-c", "cat data/*.bin | wc -c; echo $?; ls data | wc -l"], FILES)]
    for python in pythons:
        reads = FILES + FILES // 2 if "python3" in python else 0
        commands.append((python, [python, "program.py"], reads))
        commands.append((python + " -E", [python, "-E", "-c", PROGRAM], 0))
    for number, (name, command, reads) in enumerate(commands):
        if number and not run(root, [command[0], "-c", ""])[0] == 0:
            continue
        alone = run(root, command)
        trace = "trace%d.penstock" % number
        traced = run(root, command, ("LD_PRELOAD=/penstock-test/lib/libpenstock_agent.so",
                                     "PENSTOCK_OUT=/penstock-test/" + trace))  # fmt: skip
        if traced != alone:
            raise Failure("%s: %r, alone %r" % (name, traced, alone))
        report = summary(os.path.join(place, trace))
        lost = report["losses"]["dropped_events"]
        if not report["sound"] or report["spans"] + lost < reads or lost:
            raise Failure("%s: %s" % (name, report))
        yield name, report["spans"]


def main(roots):
    if not roots:
        sys.exit(__doc__)
    failed = 0
    for root in roots:
        root = os.path.abspath(root)
        place = os.path.join(root, "penstock-test")
        libc = libc_of(root)
        shutil.rmtree(place, ignore_errors=True)
        os.mkdir(place)
        try:
            for name, spans in check(root, place):
                print("%s: %s: the same, %d spans" % (libc, name, spans))
        except Failure as failure:
            failed += 1
            print("%s: FAILED: %.600s" % (libc, failure))
        finally:
            shutil.rmtree(place, ignore_errors=True)
    return 1 if failed else 0


def libc_of(root):
    done = subprocess.run([CHROOT, root, "/usr/bin/ldd", "--version"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)  # fmt: skip
    return (done.stdout.splitlines() or [root])[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
