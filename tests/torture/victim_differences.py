# SPDX-License-Identifier: Apache-2.0
"""Says where the runs of a program alone and traced differ.

The output, the files, the ends of all processes and the results of each thread's calls must be the
same. For each process and file, the bytes in the trace and those counted as lost must add up to the
bytes that the program's calls returned. The program notes these in shared memory.
"""
import os
import re
import zlib

from victim_runs import FILES, PATIENCE, UNTRACED

WRONG = 97  # status with which the machine ends if it cannot run the program's text
AGAIN = 12  # a visible difference counts only if this many more runs alone are all equal
MODES = ("bare", "record", "stage", "override")
MIXED = ("record", "stage", "record", "override")  # in the mode "mixed", each program has one of these
# Actions that the agent does not follow (tests/RELIABILITY.md, "Programs made at random"), and the kinds of
# differences in bytes that result. The program's visible results must still be the same.
UNCOUNTED = (
    (r"seccomp|strict|noclock|drop|mlockall|rlimit (?:AS|DATA|FSIZE|MEMLOCK|NOFILE)", ("missing", "missing-dropped")),
    (r"jump", ("missing", "missing-dropped", "unsound", "nameless")),
    (r"rawopen|rawclose|rawdup2|closerange", ("missing", "missing-dropped", "invented", "unsound", "nameless")),
)  # fmt: skip


class Difference:
    """`kind` is a short word for this kind of difference; `text` has the numbers."""

    def __init__(self, mode, kind, text):
        self.mode, self.kind, self.text = mode, kind, text

    def __str__(self):
        return "%s: %s: %s" % (self.mode, self.kind, self.text)


def leaves_children_to_the_kernel(program):
    """Returns whether the program ignores SIGCHLD. The kernel then reaps children that end before their parent, and
    children that end later become orphans. So the orphans depend on timing."""
    return any(line.lstrip("~") == "ignore CHLD" for lines in program.blocks.values() for line in lines)


def visible(mode, alone, traced, program):
    """Returns the differences in what can be seen without the trace: output, files, exit statuses, results of calls."""
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
        found.append(Difference(mode, "results", "%d threads differ (%d threads, alone %d)" % (
            count, len(traced.lanes), len(alone.lanes))))  # fmt: skip
    return found


def cell_of(folder, path, kind):
    for part, first in (("set", 0), ("links", 0), ("out", FILES)):
        prefix = os.path.join(folder, part) + "/"
        if path.startswith(prefix):
            return int(path[len(prefix) :].split(".")[0]) + first + (2 * FILES if kind == "mapped" else 0)
    return None


class Bytes:
    """Sums of bytes over runs: noted by the program, in the trace, counted as lost, and unexplained."""

    def __init__(self):
        self.noted = self.spans = self.lost = self.unexplained = 0


def accounted(place, mode, traced, sums):
    """Compares the trace with the program's notes. Returns a list of Differences."""
    found = []
    sure, most, names = {}, {}, set()
    first = traced.rows[0][0] if traced.rows else 0
    for pid, unseen, cells in traced.rows:
        for cell, (noted, late, pending, perhaps) in cells.items():
            key = (pid, cell)
            # Under the recorder, reads of other processes after the command's end need not be in the trace.
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
            found.append(Difference(mode, "invented", "%s: spans %d, read at most %d bytes" % (named(key, first), have, high)))
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
                found.append(Difference(mode, kind, "%s: spans %d, read at least %d bytes (%d records dropped)" % (
                    named(key, first), have, low, dropped)))  # fmt: skip
    return found


def named(key, first):
    pid, cell = key
    kind = ("set", "out", "mapped set", "mapped out")[cell // FILES]
    return "%s process, %s/%02d" % ("the first" if pid == first else "another", kind, cell % FILES)


def not_counted(program):
    """Returns the kinds of differences in bytes that UNCOUNTED lists for the actions of this program."""
    words = "\n".join(line.lstrip("~") for lines in program.blocks.values() for line in lines)
    return {kind for pattern, kinds in UNCOUNTED if re.search(r"^(?:%s)\b" % pattern, words, re.M) for kind in kinds}


def left_behind(place, mode):
    names = os.listdir(place.shm)
    for name in names:
        os.unlink(os.path.join(place.shm, name))
    found = [Difference(mode, "left", "in shared memory: %d files" % len(names))] if names else []
    copies = os.path.join(place.traces, "copies")
    if mode == "stage" and os.listdir(copies):
        found.append(Difference(mode, "left", "copies of the set: %s" % os.listdir(copies)))
    return found


class Verdict:
    """The verdict on a program. `word` is "same" or "different". If the generator made a bad program, it is "stuck",
    "wrong" or "unsteady"."""

    def __init__(self, word, differences=(), sums=None):
        self.word, self.differences, self.sums = word, list(differences), sums or Bytes()

    def leave_out(self, kinds):
        self.differences = [one for one in self.differences if one.kind not in kinds]
        if self.word == "different" and not self.differences:
            self.word = "same"


def examine(place, program, modes=MODES, options=(), again=AGAIN, every_byte=False):
    """Runs the program alone and in each mode, and returns the Verdict. A visible difference counts only if `again`
    more runs alone are all equal.

    `every_byte`: also counts the differences in bytes that UNCOUNTED lists.
    """
    known = set() if every_byte else not_counted(program)
    alone = place.run(program, "alone")
    if alone.stuck:
        return Verdict("stuck")
    if WRONG << 8 in (alone.status, *alone.orphans):
        return Verdict("wrong", [Difference("alone", "wrong", repr(alone.stderr[-100:]))])
    sums, found = Bytes(), []
    for mode in modes:
        if mode == "mixed":
            mode = MIXED[zlib.crc32(program.text().encode()) // 4 % len(MIXED)]
        if mode == "bare" and program.flavour in ("musl", "asan"):
            continue  # with the agent, asan prints an error, and musl is not recorded
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
