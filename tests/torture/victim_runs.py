# SPDX-License-Identifier: Apache-2.0
"""Runs a program of the machine alone and traced, and says where the two runs differ.

The output, the files, the ends of all processes and the results of each thread's calls must be the
same. For each process and file, the bytes in the trace and those counted as lost must add up to the
bytes that the program's calls returned. The program notes these in shared memory.
"""
import ctypes
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import zlib

CELLS, FILES = 64, 16
ROWS_AT, MAX_ROWS, ROW_BYTES = 16, 1024, 8 + CELLS * 32
LANES_AT, MAX_LANES, LANE_BYTES = ROWS_AT + MAX_ROWS * ROW_BYTES, 4096, 32
LOG_BYTES = LANES_AT + MAX_LANES * LANE_BYTES
PATIENCE = 20  # seconds; a multiple of the time that the run takes alone is added
WRONG = 97  # status with which the machine ends if it cannot run the program's text
AGAIN = 12  # a difference counts if so many more runs alone are equal
MODES = ("bare", "record")
# Actions that the agent does not follow (tests/RELIABILITY.md, "Programs made at random"), and the kinds of
# differences in bytes that result. The program's visible results must still be the same.
UNCOUNTED = (
    (r"seccomp|strict|noclock|drop|mlockall|rlimit (?:AS|DATA|FSIZE|MEMLOCK|NOFILE)", ("missing", "missing-dropped")),
    (r"jump", ("missing", "missing-dropped", "unsound", "nameless")),
    (r"rawopen|rawclose|rawdup2|closerange", ("missing", "missing-dropped", "invented", "unsound", "nameless")),
)  # fmt: skip
UNTRACED = ("musl", "asan", "static")  # builds that may run without the agent when they are the first program


class Places:
    """Where the programs are."""

    def __init__(self, binaries, agent, victims):
        self.binaries, self.agent, self.victims = binaries, agent, victims

    def flavours(self):
        found = [kind for kind in ("glibc", "static", "musl", "asan")
                 if os.access(os.path.join(self.victims, "machine_" + kind), os.X_OK)]  # fmt: skip
        return tuple(found + ["python"])


class Reader:
    """A running torture_read_bytes: gets the name of a trace as a line, and answers by a line."""

    def __init__(self, places):
        self.command = [os.path.join(places.victims, "torture_read_bytes")]
        self.process = None

    def read(self, path):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdin.write(path.encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            status = self.process.wait()
            self.process = None
            return {"error": "the reader ended with %d" % status}
        return json.loads(line)

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()


class Outcome:
    """The visible results of one run, and the program's own notes."""

    def __init__(self):
        self.status = None
        self.orphans = []
        self.stdout = self.stderr = b""
        self.files = {}
        self.rows = []  # (pid, unseen, {cell: (noted, late, pending, perhaps)})
        self.lanes = {}
        self.seconds = 0.0
        self.stuck = False
        self.traces = []


class Place:
    """A folder in which one program runs at a time. The process that makes it adopts orphans; it
    must have no children but the reader."""

    def __init__(self, places, number=0):
        self.places = places
        self.number = number
        base = tempfile.mkdtemp(prefix="penstock-victims-")
        os.chmod(base, 0o755)
        self.folder = base
        self.shm = tempfile.mkdtemp(prefix="victims-", dir="/dev/shm")
        os.chmod(self.shm, 0o777)
        # Traces are written in memory, since recorders wait for the disk with each. The data is on the disk.
        self.traces = tempfile.mkdtemp(prefix="victims-traces-", dir="/dev/shm")
        os.chmod(self.traces, 0o755)
        for name in ("set", "links", "bin"):
            os.mkdir(os.path.join(base, name))
        for file in range(FILES):
            path = os.path.join(base, "set", "%02d.bin" % file)
            with open(path, "wb") as data:
                data.write(contents(file))
            os.symlink(path, os.path.join(base, "links", "%02d.bin" % file))
        for kind in places.flavours():
            target = os.path.join(base, "bin", "machine_" + kind)
            if kind == "python":
                here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "victims", "machine.py")
                with open(target, "w", encoding="utf-8") as file:
                    file.write("#!/usr/bin/python3 -S\n" + open(here, encoding="utf-8").read())
                os.chmod(target, 0o755)
            else:
                os.symlink(os.path.join(places.victims, "machine_" + kind), target)
        self.program = os.path.join(base, "program.txt")
        self.log = os.path.join(base, "notes.log")
        self.reader = Reader(places)
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.chdir(base)

    def close(self):
        self.reader.close()
        os.chdir("/")
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.shm, ignore_errors=True)
        shutil.rmtree(self.traces, ignore_errors=True)

    # -- one run

    def fresh(self, name):
        path = os.path.join(self.folder, name)
        shutil.rmtree(path, ignore_errors=True)
        os.mkdir(path)
        os.chmod(path, 0o777)
        return path

    def run(self, program, mode, options=(), patience=PATIENCE):
        """`mode`: "alone", "bare" (the agent is preloaded) or "record" (under the collector)."""
        out = self.fresh("out")
        traces = self.fresh(os.path.join(self.traces, "run"))
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(program.text().replace("$uid", str(61000 + self.number)))
        with open(self.log, "wb") as file:
            file.truncate(LOG_BYTES)
        os.chmod(self.log, 0o666)
        command = [os.path.join(self.folder, "bin", "machine_" + program.flavour), self.program, self.log,
                   self.folder, "0", "1", "5" if program.flavour in UNTRACED else "4"]  # fmt: skip
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith(("PENSTOCK", "LD_", "ASAN", "PYTHON"))}  # fmt: skip
        environment.update(PENSTOCK_DATA=os.path.join(self.folder, "set"))
        if zlib.crc32(program.text().encode()) % 4 == 0:  # other programs use System V memory, the default
            environment.update(PENSTOCK_SHM=self.shm)
        output = os.path.join(traces, "T.penstock")
        if mode == "bare":
            environment.update(LD_PRELOAD=self.places.agent, PENSTOCK_OUT=output)
        elif mode == "record":
            command = [os.path.join(self.places.binaries, "penstock-record"), "--quiet", "-o", output,
                       *options, "--", *command]  # fmt: skip
        outcome = self.wait(command, environment, patience)
        self.read_notes(outcome)
        for name in sorted(os.listdir(out)):
            with open(os.path.join(out, name), "rb") as file:
                outcome.files[name] = file.read()
        outcome.traces = sorted(os.path.join(traces, name) for name in os.listdir(traces))
        return outcome

    def wait(self, command, environment, patience):
        outcome = Outcome()
        ends = [os.path.join(self.folder, name) for name in ("stdout", "stderr")]
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
        begin = time.monotonic()
        root = os.posix_spawn(command[0], command, environment, setsid=True, setsigmask=[],
                              setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
                              file_actions=[(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                                            (os.POSIX_SPAWN_OPEN, 1, ends[0], flags, 0o666),
                                            (os.POSIX_SPAWN_OPEN, 2, ends[1], flags, 0o666)])  # fmt: skip
        reader = self.reader.process.pid if self.reader.process is not None else -1
        reaped = []
        while True:
            found = waitable(reader)
            if found is None:
                break
            if found:
                pid, status = os.waitpid(found, 0)
                status &= 0xFF7F  # drops the bit for a core dump, which depends on the machine
                if pid == root:
                    outcome.status = status
                    outcome.seconds = time.monotonic() - begin
                else:
                    reaped.append((pid, status))
                continue
            if time.monotonic() - begin > patience:
                outcome.stuck = True
                for pid in children():
                    if pid != reader:
                        os.kill(pid, signal.SIGKILL)
            signal.sigtimedwait({signal.SIGCHLD}, 0.2)
        outcome.orphans = reaped
        for name, path in zip(("stdout", "stderr"), ends):
            with open(path, "rb") as file:
                setattr(outcome, name, file.read())
        return outcome

    def read_notes(self, outcome):
        with open(self.log, "rb") as file:
            rows, lanes = struct.unpack("<II", file.read(8))
            file.seek(ROWS_AT)
            for _ in range(min(rows, MAX_ROWS)):
                data = file.read(ROW_BYTES)
                pid, unseen = struct.unpack_from("<II", data)
                cells = {}
                for cell in range(CELLS):
                    values = struct.unpack_from("<4Q", data, 8 + cell * 32)
                    if any(values):
                        cells[cell] = values
                outcome.rows.append((pid, unseen, cells))
            file.seek(LANES_AT)
            for _ in range(min(lanes, MAX_LANES)):
                key, folded, count, is_volatile = struct.unpack_from("<QQII", file.read(LANE_BYTES))
                if key != 0 and not is_volatile:  # 0: killed before the lane was set up
                    outcome.lanes[key] = (folded, count)
        ours = {row[0] for row in outcome.rows}
        outcome.orphans = sorted(status for pid, status in outcome.orphans if pid in ours)


def contents(file):
    """The contents of a file of the set: 0 to some 30,000 bytes of lines. No two lines are alike."""
    lines, size = [], (0, 1, 30, 500, 1000, 4096, 4097, 8192, 9000, 12000, 15000, 16384, 20000, 25000, 28000, 30000)[file]
    while sum(map(len, lines)) < size:
        lines.append(b"line %d of file %d%s\n" % (len(lines), file, b"." * (len(lines) * 7 % 90)))
    return b"".join(lines)[:size]


def children():
    found = []
    for task in os.listdir("/proc/self/task"):
        try:
            with open("/proc/self/task/%s/children" % task, encoding="utf-8") as file:
                found += [int(pid) for pid in file.read().split()]
        except OSError:
            pass
    return found


def waitable(but):
    """A child that has ended, 0 if none has, None if there is no child besides `but`."""
    left = [pid for pid in children() if pid != but]
    if not left:
        return None
    for pid in left:
        try:
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return pid
        except ChildProcessError:
            return 0
    return 0


# -- what differs ----------------------------------------------------------------------------------


class Difference:
    """`kind` is a short word for this kind of difference; `text` has the numbers."""

    def __init__(self, mode, kind, text):
        self.mode, self.kind, self.text = mode, kind, text

    def __str__(self):
        return "%s: %s: %s" % (self.mode, self.kind, self.text)


def leaves_children_to_the_kernel(program):
    """Whether the program ignores SIGCHLD. The kernel then reaps children that end before their parent, and children
    that end later are orphans."""
    return any(line.lstrip("~") == "ignore CHLD" for lines in program.blocks.values() for line in lines)


def visible(mode, alone, traced, program):
    """Differences in the visible results, which need no look into the trace."""
    if traced.stuck:
        return [Difference(mode, "hang", "it did not end")]
    found = []
    if traced.status != alone.status:
        found.append(Difference(mode, "status", "%s, alone %s" % (traced.status, alone.status)))
    if traced.orphans != alone.orphans and not leaves_children_to_the_kernel(program):
        found.append(Difference(mode, "orphans", "%s, alone %s" % (traced.orphans, alone.orphans)))
    for name in ("stdout", "stderr"):
        a, b = getattr(alone, name), getattr(traced, name)
        if program.flavour in UNTRACED and name == "stderr":
            b = b"".join(line for line in b.splitlines(True) if not line.startswith(b"penstock-record:"))
        if sorted(a.split(b"\n")) != sorted(b.split(b"\n")):
            found.append(Difference(mode, name, "%r, alone %r" % (b[-200:], a[-200:])))
    if traced.files != alone.files:
        found.append(Difference(mode, "files", "what it wrote differs"))
    if traced.lanes != alone.lanes:
        count = sum(1 for key in {*traced.lanes, *alone.lanes} if traced.lanes.get(key) != alone.lanes.get(key))
        found.append(Difference(mode, "results", "%d threads saw another thing (%d, alone %d)" % (
            count, len(traced.lanes), len(alone.lanes))))  # fmt: skip
    return found


def cell_of(folder, path, kind):
    for part, first in (("set", 0), ("links", 0), ("out", FILES)):
        prefix = os.path.join(folder, part) + "/"
        if path.startswith(prefix):
            return int(path[len(prefix) :].split(".")[0]) + first + (2 * FILES if kind == "mapped" else 0)
    return None


class Bytes:
    """Sums over runs: bytes by the notes, in the trace, counted as lost, and unexplained."""

    def __init__(self):
        self.noted = self.spans = self.lost = self.unexplained = 0


def accounted(place, mode, traced, sums):
    """[Difference] between the trace and what the program noted."""
    found = []
    sure, most, names = {}, {}, set()
    first = traced.rows[0][0] if traced.rows else 0
    for pid, unseen, cells in traced.rows:
        for cell, (noted, late, pending, perhaps) in cells.items():
            key = (pid, cell)
            # Reads of processes that outlive the recorded command need not be in the recording.
            certain = noted + (late if mode == "bare" or pid == first else 0)
            sure[key] = sure.get(key, 0) + (0 if unseen else certain)
            most[key] = most.get(key, 0) + noted + late + perhaps + (pending if pending < 1 << 62 else 0)
    spans, lost, dropped = {}, {}, 0
    lost_in_all = 0
    for path in traced.traces:
        report = place.reader.read(path)
        if "error" in report:
            found.append(Difference(mode, "unreadable", report["error"].replace(place.traces, "")))
            continue
        if report["problems"] or report["damaged"] or report["truncated"]:
            found.append(Difference(mode, "unsound", "%s%s%s" % (
                report["problems"], ", %d damaged" % report["damaged"] if report["damaged"] else "",
                ", cut short" if report["truncated"] else "")))  # fmt: skip
        dropped += report["dropped"]
        lost_in_all += report["lost_bytes"]
        for pid, _, amount, _, _ in report["processes"]:
            lost[pid] = lost.get(pid, 0) + amount
        for pid, kind, path_read, amount, count in report["reads"]:
            cell = cell_of(place.folder, path_read, kind)
            if cell is not None:
                spans[pid, cell] = spans.get((pid, cell), 0) + amount
            elif not path_read and amount > 0:
                names.add("%d bytes (%d spans) of process %d without a name, %s" % (amount, count, pid, kind))
    for text in sorted(names):
        found.append(Difference(mode, "nameless", text))
    spare = max(0, lost_in_all - sum(lost.values()))
    for key in sorted({*sure, *spans}):
        pid, cell = key
        have, low, high = spans.get(key, 0), sure.get(key, 0), most.get(key, 0)
        sums.noted += low
        sums.spans += have
        if have > high:
            found.append(Difference(mode, "invented", "%s: %d bytes in spans, %d were read" % (named(key, first), have, high)))
            sums.unexplained += have - high
        if have < low:
            deficit = low - have
            covered = min(deficit, lost.get(pid, 0))
            lost[pid] = lost.get(pid, 0) - covered
            more = min(deficit - covered, spare)
            spare -= more
            sums.lost += covered + more
            deficit -= covered + more
            if deficit > 0:
                sums.unexplained += deficit
                kind = "missing" if dropped == 0 else "missing-dropped"
                found.append(Difference(mode, kind, "%s: %d bytes in spans, %d were read (%d records dropped)" % (
                    named(key, first), have, low, dropped)))  # fmt: skip
    return found


def named(key, first):
    pid, cell = key
    kind = ("set", "out", "mapped set", "mapped out")[cell // FILES]
    return "%s process, %s/%02d" % ("the first" if pid == first else "another", kind, cell % FILES)


def not_counted(program):
    """The kinds of differences in bytes that are known for this program."""
    words = "\n".join(line.lstrip("~") for lines in program.blocks.values() for line in lines)
    return {kind for pattern, kinds in UNCOUNTED if re.search(r"^(?:%s)\b" % pattern, words, re.M) for kind in kinds}


def left_behind(place, mode):
    names = os.listdir(place.shm)
    for name in names:
        os.unlink(os.path.join(place.shm, name))
    return [Difference(mode, "left", "in shared memory: %d files" % len(names))] if names else []


class Verdict:
    """The verdict on a program: "same" or "different"; "stuck", "wrong" or "unsteady" if the generator is at fault."""

    def __init__(self, word, differences=(), sums=None):
        self.word, self.differences, self.sums = word, list(differences), sums or Bytes()

    def leave_out(self, kinds):
        self.differences = [one for one in self.differences if one.kind not in kinds]
        if self.word == "different" and not self.differences:
            self.word = "same"


def examine(place, program, modes=MODES, options=(), again=AGAIN, every_byte=False):
    """Runs the program in each mode. A visible difference counts if `again` runs alone are all equal.

    `every_byte`: also counts the known differences of programs whose actions the agent does not follow.
    """
    known = set() if every_byte else not_counted(program)
    alone = place.run(program, "alone")
    if alone.stuck:
        return Verdict("stuck")
    if WRONG << 8 in (alone.status, *alone.orphans):
        return Verdict("wrong", [Difference("alone", "wrong", repr(alone.stderr[-100:]))])
    sums, found = Bytes(), []
    for mode in modes:
        if mode == "bare" and program.flavour in ("musl", "asan"):
            continue  # their loaders refuse a preloaded agent and say so
        traced = place.run(program, mode, options, PATIENCE + 20 * alone.seconds)
        seen = visible(mode, alone, traced, program)
        if seen and mode != "alone":
            for _ in range(again):
                other = visible("alone", alone, place.run(program, "alone"), program)
                if other:
                    return Verdict("unsteady", other)
        found += seen
        if not traced.stuck and program.flavour not in UNTRACED:
            if not seen:
                found += [one for one in accounted(place, mode, traced, sums) if one.kind not in known]
        found += left_behind(place, mode)
    return Verdict("different" if found else "same", found, sums)
