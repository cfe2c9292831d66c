# SPDX-License-Identifier: Apache-2.0
"""For failpoints.py: runs a program with a tool that makes a system call fail. Makes the folders of runs, and finds
what a run leaves behind."""
import ctypes
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import threading

import support

TORTURE = os.environ.get("PENSTOCK_TORTURE", "")
LIMIT = 30  # seconds; a run takes 0.1


def tool(*arguments):
    return [os.path.join(TORTURE, "torture_failpoints"), *arguments]


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def validate(path):
    """Returns the report of penstock-validate on a file, or None if it refuses the file."""
    done = subprocess.run([support.program("penstock-validate"), "--json", path], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)  # fmt: skip
    return json.loads(done.stdout) if done.returncode == 0 else None


def nameless(path):
    """Returns the number of spans whose object has no name, only the hash of its name."""
    done = subprocess.run([support.program("penstock-export"), path, "--to", "jsonl"], text=True,
                          stdout=subprocess.PIPE, check=True)  # fmt: skip
    return sum('"object":"#' in line for line in done.stdout.splitlines())


def whole(summary):
    """Returns whether nothing in a trace is damaged. Records that were counted as lost may be missing."""
    losses = summary["losses"]
    return not summary["problems"] and not any(
        losses[key] for key in ("damaged_records", "damaged_bytes", "damaged_chunks", "truncated"))


def all_segments():
    """Returns {segment: process that made it} for the System V segments of this IPC namespace."""
    with open("/proc/sysvipc/shm", encoding="utf-8") as file:
        next(file)
        return {int(line.split()[1]): int(line.split()[4]) for line in file}


def segments(ended):
    """Returns the segments that the processes of a run have made. Leaves out segments that were there before the run,
    whose makers may have had the same process ids."""
    return [segment for segment, maker in all_segments().items()
            if maker in ended.result["pids"] and segment not in ended.before]  # fmt: skip


def remove(left):
    for segment in left:
        subprocess.run(["ipcrm", "-m", str(segment)], check=False)


def recover(place, trace=""):
    return subprocess.run([support.program("penstock-recover"), trace or place.trace], text=True,
                          env=support.environment({"PENSTOCK_SHM": place.shm}), check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)  # fmt: skip


class Ended:
    """A run that has ended: the tool's result, what the program printed, and its folders."""

    def __init__(self, place, done, result, before):
        self.place, self.result, self.before = place, result, before
        self.status = result["status"]
        self.stdout, self.stderr = done


class Place:
    """The folders of one run."""

    def __init__(self, workplace):
        self.folder = tempfile.mkdtemp(prefix="run-", dir=workplace.folder)
        self.out = os.path.join(self.folder, "out")
        self.shm = tempfile.mkdtemp(prefix="run-", dir=workplace.shm)
        os.mkdir(self.out)
        self.trace = os.path.join(self.out, "t.penstock")

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.shm, ignore_errors=True)


class Workplace:
    """What all runs share: the files that programs read, an old trace, and the outcome of the program without the
    agent."""

    def __enter__(self):
        # Moves to an IPC namespace of our own, if that is permitted, since a recorder looks at all segments of its
        # namespace. When the namespace ends, segments that killed processes left are removed.
        ctypes.CDLL(None).unshare(0x08000000)  # CLONE_NEWIPC
        self.folder = tempfile.mkdtemp(prefix="penstock-failpoints-")
        self.shm = tempfile.mkdtemp(prefix="failpoints-", dir="/dev/shm")
        self.files = []
        for number in range(3):
            self.files.append(os.path.join(self.folder, "%d.bin" % number))
            with open(self.files[-1], "wb") as file:
                file.write(bytes(range(40 * number, 100 + 40 * number)) * 50)
        self.victim = [os.path.join(TORTURE, "torture_failpoints_victim")]
        self.command = [*self.victim, *self.files]
        alone = support.run(self.command)
        assert alone.status == 3 and alone.stdout, alone
        self.alone = alone
        self.old = os.path.join(self.folder, "old.penstock")
        done = support.run(support.record(self.old, ["/bin/true"], "--gpu", "off"),
                           support.environment({"PENSTOCK_AGENT": support.AGENT}))  # fmt: skip
        assert done.status == 0 and os.path.exists(self.old), done
        self.old_digest = digest(self.old)
        self.lock = threading.Lock()
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.shm, ignore_errors=True)

    def run(self, place, options, command, extra):
        """Runs `command` under torture_failpoints with `options`."""
        result = os.path.join(place.folder, "result")
        before = set(all_segments())
        with open(os.path.join(place.folder, "stdout"), "w+b") as stdout, \
                open(os.path.join(place.folder, "stderr"), "w+b") as stderr:  # fmt: skip
            environment = support.environment({"PENSTOCK_SHM": place.shm, "PENSTOCK_AGENT": support.AGENT, **extra})
            done = subprocess.run(
                tool("--result", result, "--limit", str(LIMIT), *options, "--", *command), check=False,
                stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, env=environment, cwd=place.folder)  # fmt: skip
            assert done.returncode in (0, 9), done
            texts = []
            for file in (stdout, stderr):
                file.seek(0)
                texts.append(file.read().decode("utf-8", "replace"))
        with open(result, encoding="utf-8") as file:
            return Ended(place, texts, json.load(file), before)
