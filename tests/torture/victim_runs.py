# SPDX-License-Identifier: Apache-2.0
"""Runs a generated program alone and traced. victim_differences.py compares the runs."""
import ctypes
import json
import os
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
PATIENCE = 20  # seconds; traced runs get a multiple of the time of the run alone in addition
SETTLED = 4  # seconds; the collector copies a file only if its st_mtime and st_ctime are older than this
OVERRIDES = "threads=1,malloc=keep,nice=1,affinity=0"
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
    """A running torture_read_bytes. It gets the name of a trace as a line, and answers with a line of JSON."""

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
    """A folder in which one program runs at a time. The process that makes a Place becomes the parent of orphans. It
    must have no children but the reader."""

    def __init__(self, places, number=0):
        self.places = places
        self.number = number
        base = tempfile.mkdtemp(prefix="penstock-victims-")
        os.chmod(base, 0o755)
        self.folder = base
        self.shm = tempfile.mkdtemp(prefix="victims-", dir="/dev/shm")
        os.chmod(self.shm, 0o777)
        # Traces go to /dev/shm, since a recorder waits until each trace is on the disk. The data is on the disk.
        self.traces = tempfile.mkdtemp(prefix="victims-traces-", dir="/dev/shm")
        os.chmod(self.traces, 0o755)
        for name in ("set", "links", "bin"):
            os.mkdir(os.path.join(base, name))
        for file in range(FILES):
            path = os.path.join(base, "set", "%02d.bin" % file)
            with open(path, "wb") as data:
                data.write(contents(file))
            os.symlink(path, os.path.join(base, "links", "%02d.bin" % file))
        self.written = time.monotonic()
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
        """Runs a program. `mode`: "alone", "bare" (the agent is preloaded), "record" (under the collector), "stage"
        (under the collector, reads go to copies of the set) or "override" (under the collector, with OVERRIDES)."""
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
        if zlib.crc32(program.text().encode()) % 4 == 0:  # the ring of other runs is in System V memory, the default
            environment.update(PENSTOCK_SHM=self.shm)
        output = os.path.join(traces, "T.penstock")
        if mode == "bare":
            environment.update(LD_PRELOAD=self.places.agent, PENSTOCK_OUT=output)
        elif mode != "alone":
            if mode == "stage":
                time.sleep(max(0, self.written + SETTLED - time.monotonic()))
                options = [*options, "--stage", self.fresh(os.path.join(self.traces, "copies"))]
            elif mode == "override":
                options = [*options, "--override", OVERRIDES]
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
                if key != 0 and not is_volatile:  # key 0: the process was killed before it set the lane up
                    outcome.lanes[key] = (folded, count)
        ours = {row[0] for row in outcome.rows}
        outcome.orphans = sorted(status for pid, status in outcome.orphans if pid in ours)


def contents(file):
    """Returns the contents of a file of the set: 0 to some 30,000 bytes of lines. No two lines are equal."""
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
    """Returns the pid of a child that has ended, 0 if none has, or None if there is no child besides `but`."""
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
