# SPDX-License-Identifier: Apache-2.0
"""Two users on one host: the second user must not be able to read, change or stop a recording of the first.

two_users.py [record | alone]...: under penstock record, or under the agent alone. The second user is nobody. The
first user is root, since only root can start processes as nobody. The folder of the trace is the worst possible:
every user may write to it, and rename and remove its files.
"""
import os
import shutil
import stat
import subprocess
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "integration")]
import forge  # noqa: E402
import harness  # noqa: E402
import support  # noqa: E402
from harness import Failure, victim  # noqa: E402

NOBODY = 65534
READS = 400


def as_nobody(action):
    """Runs action() in a child as the user nobody. Returns its result as text."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            os.write(writer, str(action()).encode())
        except BaseException:  # the parent reports it
            os.write(writer, traceback.format_exc()[-2000:].encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        text = file.read().decode()
    os.waitpid(child, 0)
    return text


def attack_as_nobody(action):
    """Runs action(), an attack, as the user nobody. Fails if it raises an exception or returns something."""
    said = as_nobody(action)
    if said != "None":
        raise Failure("the attack did not come about: %s" % said)


def files_of_root(*folders):
    found = []
    for folder in folders:
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            try:
                info = os.lstat(path)
            except FileNotFoundError:
                continue
            if stat.S_ISREG(info.st_mode) and info.st_uid == 0:
                found.append(path)
    return found


def pry(paths):
    """Tries to open and to truncate files. Returns a text that names what succeeded, or "" if nothing did. The caller
    runs it as the user nobody."""
    got = []
    for path in paths:
        for what, flags in (("read", os.O_RDONLY), ("wrote", os.O_WRONLY), ("mapped", os.O_RDWR)):
            try:
                os.close(os.open(path, flags | os.O_NONBLOCK))
                got.append("%s %s" % (what, path))
            except OSError:
                pass
        try:
            os.truncate(path, 0)
            got.append("truncated " + path)
        except OSError:
            pass
    return "; ".join(got)


def open_segments():
    """Returns root's System V segments that other users may use."""
    try:
        with open("/proc/sysvipc/shm", encoding="utf-8") as file:
            rows = [line.split() for line in file][1:]
    except FileNotFoundError:
        return []
    return [row[1] for row in rows if row[7] == "0" and int(row[2], 8) & 0o077]


class Place:
    """The folders of a case: one for the trace and one for rings. Attacks try to change `target`, a file of root."""

    def __init__(self, run, mode, name):
        self.run, self.mode = run, mode
        self.folder = os.path.join(run.folder, name)
        self.private = os.path.join(self.folder, "private")
        self.open = os.path.join(self.folder, "open")
        self.shm = os.path.join(run.shm, name)
        for path, rights in ((self.folder, 0o755), (self.private, 0o755), (self.open, 0o777), (self.shm, 0o777)):
            os.mkdir(path)
            os.chmod(path, rights)
        self.output = os.path.join(self.open, "t.penstock")
        self.target = os.path.join(self.private, "target")
        with open(self.target, "w", encoding="utf-8") as file:
            file.write("root's own")
        self.segments = set(open_segments())

    def line(self, command):
        if self.mode == "record":
            return support.record(self.output, command)
        return ["env", "LD_PRELOAD=" + support.AGENT, "PENSTOCK_OUT=" + self.output, *command]

    def environment(self):
        return self.run.environment({"PENSTOCK_SHM": self.shm})

    def start(self, command):
        return subprocess.Popen(self.line(command), env=self.environment(), cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end(self, process, expected, status=0):
        try:
            out, err = process.communicate(timeout=120)
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise Failure("the program does not end") from error
        if (process.returncode, out) != (status, expected):
            raise Failure("status %d and %r instead of %d and %r; %s" % (
                process.returncode, out[-200:], status, expected[-200:], err[-300:]))
        with open(self.target, encoding="utf-8", errors="replace") as file:
            if file.read() != "root's own":
                raise Failure("a file of root was overwritten")
        return err

    def traces(self):
        """Returns the paths of root's finished traces in the folder that every user may write to."""
        return [path for path in files_of_root(self.open) if path.endswith(".penstock")]

    def sound(self, least):
        """Checks that root's traces together have `least` spans or more."""
        spans = 0
        for path in self.traces():
            spans += harness.summary(path)["spans"]
        if spans < least:
            raise Failure("%d spans in %s, of %d" % (spans, sorted(os.listdir(self.open)), least))


def await_files(place, seconds=20):
    deadline = time.monotonic() + seconds
    while not files_of_root(place.open):
        if time.monotonic() > deadline:
            raise Failure("nothing is recorded")
        time.sleep(0.01)
    time.sleep(0.2)


def read_and_written(run, mode, alone):
    """the user nobody tries to open the files of a recording, during the run and after it"""
    place = Place(run, mode, "read")
    previous = os.umask(0)
    process = place.start(victim("paced", READS, 2000))
    os.umask(previous)
    await_files(place)
    tried = 0
    while process.poll() is None:
        paths = files_of_root(place.open, place.shm)
        tried += len(paths)
        got = as_nobody(lambda seen=tuple(paths): pry(seen))
        opened = set(open_segments()) - place.segments
        if got or opened:
            process.kill()
            raise Failure(got or "segments %s" % opened)
        time.sleep(0.05)
    place.end(process, alone)
    got = as_nobody(lambda: pry(files_of_root(place.open, place.shm)))
    if got or tried == 0:
        raise Failure(got or "nothing was tried")
    place.sound(READS)


def planted_links(run, mode, alone):
    """links to a file of root, to nothing and to a device, under every name that can be guessed"""
    for number, name in enumerate(("t.penstock", "t.penstock.part", "t.penstock.ring", "t.penstock.part.new")):
        for kind in ("file", "nothing", "device"):
            place = Place(run, mode, "links%d%s" % (number, kind))
            to = {"file": place.target, "nothing": os.path.join(place.private, "new"), "device": "/dev/null"}[kind]
            link = os.path.join(place.open, name)
            attack_as_nobody(lambda: os.symlink(to, link))
            place.end(place.start(victim("paced", 20, 0)), alone)
            if os.path.exists(os.path.join(place.private, "new")):
                raise Failure("wrote through a link at %s" % name)
            if not stat.S_ISCHR(os.stat("/dev/null").st_mode):
                raise Failure("/dev/null is gone")


def sample(run):
    """Returns the bytes of a recording by the agent alone."""
    path = os.path.join(run.folder, "sample.penstock")
    subprocess.run(["env", "LD_PRELOAD=" + support.AGENT, "PENSTOCK_OUT=" + path, *victim("paced", 5, 0)],
                   env=run.environment(), stdout=subprocess.DEVNULL, check=True)
    with open(path, "rb") as file:
        return file.read()


def planted_files(run, mode, alone):
    """a FIFO, and a recording of the user nobody, under the names that root's files would have"""
    contents = sample(run)
    for number, name in enumerate(("t.penstock", "t.penstock.part")):
        path = lambda place: os.path.join(place.open, name)  # noqa: E731, B023
        place = Place(run, mode, "fifo%d" % number)
        attack_as_nobody(lambda: os.mkfifo(path(place), 0o666))
        place.end(place.start(victim("paced", 20, 0)), alone)
        place = Place(run, mode, "recording%d" % number)

        def plant():
            with open(path(place), "wb") as file:
                file.write(contents)
            os.chmod(path(place), 0o666)
        attack_as_nobody(plant)
        process = place.start(victim("paced", 20, 0))
        place.end(process, alone)
        with open(path(place), "rb") as file:
            if file.read() != contents:
                raise Failure("wrote into a file of nobody at %s" % name)


def taken_away(run, mode, alone):
    """the files of a recording removed, renamed and replaced while it is made"""
    for how in ("remove", "rename", "replace", "link"):
        place = Place(run, mode, "taken-" + how)
        process = place.start(victim("paced", READS, 2000))
        await_files(place)

        def attack():
            for path in files_of_root(place.open):
                if how == "rename":
                    os.rename(path, path + ".moved")
                    continue
                os.unlink(path)
                if how == "replace":
                    with open(path, "wb") as file:
                        file.write(b"planted")
                if how == "link":
                    os.symlink(place.target, path)
        attack_as_nobody(attack)
        place.end(process, alone)


def cut_short(run, mode, alone):
    """a recording of the user nobody where root's is to be written, cut to zero length again and again"""
    place = Place(run, mode, "cut")
    contents = sample(run)

    def attack():
        for name in ("t.penstock", "t.penstock.part"):
            with open(os.path.join(place.open, name), "wb") as file:
                file.write(contents)
            os.chmod(os.path.join(place.open, name), 0o666)
    attack_as_nobody(attack)

    def cut():
        for size in (0, 1 << 22):
            for name in ("t.penstock", "t.penstock.part"):
                os.truncate(os.path.join(place.open, name), size)
    process = place.start(victim("paced", READS, 1000))
    while process.poll() is None:
        attack_as_nobody(cut)
        time.sleep(0.02)
    place.end(process, alone)


def outlived(run, mode, alone):
    """a program that outlives its recording; the user nobody makes a ring of the same name again"""
    place = Place(run, mode, "outlived")
    go, done = os.path.join(place.folder, "go"), os.path.join(place.folder, "done")
    late = " ".join(victim("paced", READS, 1000))
    command = ["sh", "-c", "touch ready; sleep 0.5; (while [ ! -e %s ]; do sleep 0.05; done; %s >late 2>&1; echo $? >%s) "
               ">/dev/null 2>&1 &" % (go, late, done)]  # fmt: skip
    process = subprocess.Popen(["setsid", *place.line([*command])], env=place.environment(), cwd=place.folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not os.listdir(place.shm) and process.poll() is None:
        time.sleep(0.01)
    copies = {}
    for path in files_of_root(place.shm):
        with open(path, "rb") as file:
            copies[path] = file.read()
    place.end(process, "")
    run_again = [path for path in copies if not os.path.exists(path)]

    def attack():
        for path in run_again:
            with open(path, "wb") as file:
                file.write(copies[path])
            os.chmod(path, 0o666)
    attack_as_nobody(attack)
    with open(go, "w", encoding="utf-8"):
        pass
    deadline = time.monotonic() + 60
    while not os.path.exists(done):
        as_nobody(lambda: [os.truncate(path, size) for size in (4096, len(copies[path])) for path in run_again])
        if time.monotonic() > deadline:
            raise Failure("the late program does not end")
        time.sleep(0.02)
    time.sleep(0.1)
    with open(done, encoding="utf-8") as file, open(os.path.join(place.folder, "late"), encoding="utf-8") as late_file:
        status, out = file.read().strip(), late_file.read()
    if (status, out) != ("0", alone):
        raise Failure("the late program: status %s and %r" % (status, out[-200:]))


def recovery(run, mode, alone):
    """a part of a trace, or a ring with the name of a lost one, that the user nobody made for root to recover"""
    del alone
    place = Place(run, mode, "recovery")
    ring = os.path.join(place.shm, "penstock-0-1-0123456789abcdef")

    def part():
        return forge.header() + b"".join(forge.table()) + forge.section(
            forge.FACTS, forge.text("record.ring") + forge.text(ring), 1)

    def plant(path, contents):
        with open(path, "wb") as file:
            file.write(contents)
        os.chmod(path, 0o666)
    attack_as_nobody(lambda: plant(place.output + ".part", part()))
    done = support.run([support.program("penstock-recover"), place.output], place.environment())
    if done.status != 4 or "another user" not in done.stderr:
        raise Failure("a part of nobody's: %r" % done)
    os.unlink(place.output + ".part")
    with open(place.output + ".part", "wb") as file:
        file.write(part())
    attack_as_nobody(lambda: plant(ring, bytes(1 << 20)))
    done = support.run([support.program("penstock-recover"), place.output], place.environment())
    if done.status != 4 or "not a file of this user" not in done.stderr:
        raise Failure("a ring of nobody's: %r" % done)


CASES = (read_and_written, planted_links, planted_files, taken_away, cut_short, outlived, recovery)
NEED_A_COLLECTOR = (outlived, recovery)


def main():
    if os.geteuid() != 0:
        print("skipped: only root can become another user")
        sys.exit(77)
    failed = 0
    for mode in sys.argv[1:] or ("record", "alone"):
        for case in CASES:
            if mode == "alone" and case in NEED_A_COLLECTOR:
                continue
            run = harness.Run(quick=True)
            os.chmod(run.folder, 0o755)
            os.chmod(run.shm, 0o755)
            try:
                counts = {}
                for reads in (20, READS):
                    counts[reads] = run.start(victim("paced", reads, 0)).stdout
                many = case in (read_and_written, taken_away, cut_short, outlived)
                case(run, mode, counts[READS if many else 20])
                print("%-7s %-17s passed: %s" % (mode, case.__name__, case.__doc__))
            except Failure as error:
                failed += 1
                print("%-7s %-17s FAILED: %s\n        %s" % (mode, case.__name__, case.__doc__, error))
            finally:
                run.close()
                shutil.rmtree(run.folder, ignore_errors=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
