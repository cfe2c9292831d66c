# SPDX-License-Identifier: Apache-2.0
"""Runs a victim without the agent, with the agent alone, and under the collector, and checks the results.

The program must end and print as it would without the agent. The trace must be undamaged or say what it lacks.
Each finished read must be in the trace or counted as lost. No process or temporary file may be left behind.
tests/RELIABILITY.md shows the figures of the runs: processes, spans, memory of the collector, size of the
trace, time.
"""
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

import support

VICTIMS = os.environ.get("PENSTOCK_TORTURE", "")
MARK = "PENSTOCK_TORTURE_RUN"
PATIENCE = 20  # seconds for processes to be gone, even on a loaded machine


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def victim(*arguments, name="torture_victim"):
    return [os.path.join(VICTIMS, name), *map(str, arguments)]


def can_mount():
    """Returns why file systems cannot be mounted here, or "" if they can."""
    if not shutil.which("unshare"):
        return "there is no unshare"
    done = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)  # fmt: skip
    return "" if done.returncode == 0 else "mounting is not permitted"


def marked(mark):
    """Returns the ids of living processes whose environment has `mark`."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%s/environ" % name, "rb") as file:
                if name.isdigit() and ("%s=%s" % (MARK, mark)).encode() in file.read():
                    with open("/proc/%s/stat" % name, encoding="utf-8") as stat:
                        if stat.read().rsplit(")", 1)[1].split()[0] not in "ZX":
                            found.append(int(name))
        except (OSError, IndexError):
            pass
    return found


class Watcher(threading.Thread):
    """Watches the collector's memory and the size of the files while a run goes on."""

    def __init__(self, mark, files):
        super().__init__(daemon=True)
        self.mark, self.files = mark, files
        self.over = threading.Event()
        self.collector = None
        self.memory = []  # (seconds, bytes)
        self.largest_file = 0

    def find(self):
        for pid in marked(self.mark):
            try:
                with open("/proc/%d/comm" % pid, encoding="utf-8") as file:
                    ours = file.read().startswith("penstock-record")
                if ours and os.getsid(pid) == pid and os.getppid() != pid:
                    with open("/proc/%d/stat" % pid, encoding="utf-8") as stat:
                        parent = int(stat.read().rsplit(")", 1)[1].split()[1])
                    with open("/proc/%d/comm" % parent, encoding="utf-8") as file:
                        if file.read().startswith("penstock-record"):
                            return pid
            except (OSError, IndexError):
                pass
        return None

    def run(self):
        begin = time.monotonic()
        while not self.over.wait(0.05):
            if self.collector is None:
                self.collector = self.find()
            if self.collector is not None:
                try:
                    with open("/proc/%d/status" % self.collector, encoding="utf-8") as file:
                        for line in file:
                            if line.startswith("RssAnon:"):
                                now = time.monotonic() - begin
                                self.memory.append((now, int(line.split()[1]) * 1024))
                except OSError:
                    pass
            for path in self.files:
                try:
                    self.largest_file = max(self.largest_file, os.stat(path).st_size)
                except OSError:
                    pass

    def peak(self):
        return max((size for _, size in self.memory), default=0)


def slope(points):
    """Returns the growth per second by least squares over the second half of `points`, or 0 if there are too few."""
    points = points[len(points) // 2 :]
    if len(points) < 10:
        return 0.0
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread > 0 else 0.0


def summary(path):
    """Returns the report of penstock-validate on a trace."""
    done = support.run([support.program("penstock-validate"), "--json", path], timeout=300)
    if done.status != 0:
        raise Failure("validate: %s" % done.stderr.strip()[-200:])
    return json.loads(done.stdout)


def fact(path, key):
    """Returns the value of a fact of the run, or None if the trace does not have it."""
    with tempfile.TemporaryFile("w+") as file:
        subprocess.run([support.program("penstock-export"), path, "--to", "jsonl"], stdout=file,
                       timeout=300, check=True)
        file.seek(0)
        for line in file:
            record = json.loads(line)
            if record["type"] == "fact" and record["key"] == key:
                return record["value"]
    return None


class Figures:
    """The figures of one run under the agent."""

    def __init__(self):
        self.mode = ""
        self.expected = 0  # reads that the victim finished
        self.spans = self.lost = self.processes = self.threads = 0
        self.file_bytes = self.memory = 0
        self.alone = self.traced = 0.0
        self.notes = []


class Run:
    """One execution of a scenario: its folder, its set of files, and the variable that marks its processes."""

    def __init__(self, quick, seed=1):
        self.quick = quick
        self.seed = seed
        self.folder = tempfile.mkdtemp(prefix="penstock-torture-")
        self.shm = tempfile.mkdtemp(prefix="torture-", dir="/dev/shm")
        self.set = os.path.join(self.folder, "set")
        os.mkdir(self.set)
        for number in range(64):
            with open(os.path.join(self.set, "%02d.bin" % number), "wb") as file:
                file.write(bytes([number]) * (100 + 37 * number))
        self.mark = os.path.basename(self.folder)
        self.shm_before = set(os.listdir("/dev/shm"))
        self.figures = []

    def close(self):
        for pid in marked(self.mark):
            os.kill(pid, 9)
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.shm, ignore_errors=True)

    def scaled(self, quick, full):
        return quick if self.quick else full

    def environment(self, extra=None):
        return support.environment({
            MARK: self.mark, "TORTURE_SET": self.set, "PENSTOCK_DATA": self.set,
            "PENSTOCK_SHM": self.shm, "TORTURE_COUNT": os.path.join(self.folder, "count"),
            **(extra or {})})  # fmt: skip

    def start(self, command, extra=None):
        """Resets the victim's count of reads and runs the command to its end."""
        try:
            os.unlink(os.path.join(self.folder, "count"))
        except FileNotFoundError:
            pass
        try:
            return support.run(command, self.environment(extra), timeout=300, cwd=self.folder)
        except AssertionError as error:
            raise Failure(str(error)[:300]) from error

    def counted(self):
        try:
            with open(os.path.join(self.folder, "count"), encoding="utf-8") as file:
                return sum(int(line) for line in file)
        except FileNotFoundError:
            return 0

    def same(self, alone, traced, mode):
        if (traced.status, traced.stdout) != (alone.status, alone.stdout):
            raise Failure("%s: status %d and %r, without the agent %d and %r; %s" % (
                mode, traced.status, traced.stdout[-200:], alone.status, alone.stdout[-200:],
                traced.stderr[-300:]))  # fmt: skip

    def check(self, command, modes=("bare", "record"), extra=None, options=(), more=0, lossless=True,
              surround=list, alone=None, preload="", in_file=True, found_at=None):
        """Runs `command` alone and in each mode, and checks the results. Returns the figures of the runs. `more`: how
        many spans there may be in addition to the counted reads, since victims may be killed between a read and its
        count. `lossless`: nothing may be dropped. `surround`: a function that puts a command into another one, for
        example to run it in a namespace. `in_file`: there must be a trace with reads in it. `found_at`: where
        `surround` puts the trace."""
        alone = alone or self.start(surround(command), {"LD_PRELOAD": preload} if preload else extra)
        made = []
        for mode in modes:
            output = os.path.join(self.folder, "%s%d.penstock" % (mode, len(self.figures)))
            watcher = Watcher(self.mark, [output + ".part", output])
            watcher.start()
            if mode == "bare":
                preloads = ":".join(filter(None, [preload, support.AGENT]))
                line = ["env", "LD_PRELOAD=" + preloads, "PENSTOCK_OUT=" + output, *command]
                traced = self.start(surround(line), extra)
            else:
                line = support.record(output, command, *options)
                traced = self.start(surround(line), {**(extra or {}), **(
                    {"LD_PRELOAD": preload} if preload else {})})  # fmt: skip
            self.gone(found_at or (output if in_file and mode == "record" else None))
            watcher.over.set()
            watcher.join()
            self.same(alone, traced, mode)
            figures = Figures()
            figures.mode, figures.alone, figures.traced = mode, alone.seconds, traced.seconds
            figures.memory = watcher.peak()
            figures.watcher = watcher
            figures.expected = self.counted()
            figures.output = found_at or output
            if in_file:
                self.read_trace(figures, more, lossless)
            self.figures.append(figures)
            made.append(figures)
        return made

    def read_trace(self, figures, more, lossless):
        report = summary(figures.output)
        losses = report["losses"]
        figures.file_bytes = max(report["file_bytes"], figures.watcher.largest_file)
        figures.processes, figures.threads = report["processes"], report["threads"]
        figures.spans = report["spans"] - report["unfinished"]
        figures.lost = losses["dropped_events"]
        figures.unfinished = report["unfinished"]
        if losses["damaged_records"] or losses["damaged_chunks"] or report["problems"]:
            raise Failure("%s: damaged: %s" % (figures.mode, report))
        if figures.spans + figures.lost < figures.expected:
            raise Failure("%s: %d reads were finished, %d are in the trace, %d counted as lost" % (
                figures.mode, figures.expected, figures.spans, figures.lost))
        if figures.spans > figures.expected + more:
            raise Failure("%s: %d reads were finished, but %d are in the trace" % (
                figures.mode, figures.expected, figures.spans))
        if lossless and figures.lost > 0:
            raise Failure("%s: %d lost" % (figures.mode, figures.lost))

    def gone(self, output=None):
        """Checks that nothing is left: no process, no ring, no temporary file. If `output` is given, it must exist."""
        deadline = time.monotonic() + PATIENCE
        while marked(self.mark):
            if time.monotonic() > deadline:
                raise Failure("processes are left: %s" % [
                    open("/proc/%d/cmdline" % pid, encoding="utf-8").read() for pid in marked(self.mark)])
            time.sleep(0.05)
        rings = os.listdir(self.shm) + [
            name for name in set(os.listdir("/dev/shm")) - self.shm_before if name.startswith("penstock-%d-%d" % (
                os.getuid(), os.getpid()))]
        if rings:
            raise Failure("left in shared memory: %s" % rings)
        left = [name for name in os.listdir(self.folder)
                if name.endswith((".part", ".new", ".tmp", ".ring", ".saved"))]
        if left:
            raise Failure("half-written files are left: %s" % left)
        if output is not None and not os.path.exists(output):
            raise Failure("there is no trace")
