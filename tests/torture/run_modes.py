# SPDX-License-Identifier: Apache-2.0
"""The modes in which failpoints.py runs a program and makes a system call fail, and the checks after such a run.

In every mode the run must end. If there was a finished trace of the same name, it must be unchanged, or the
complete new trace must be in its place. No incomplete file may have the final name. Nothing may be left in
shared memory or beside the trace.

bare    The program runs under the agent alone. It must end and print as it does without the agent. The trace
        must have every read that was finished, or say that it lost some.
record  The program runs under penstock record, whose calls fail as well. penstock recover must finish a trace
        that was not finished. If there is no trace, a line must say so.
recover All processes of a recording were killed, and penstock recover runs. It must say what failed. If it
        runs a second time, it must recover everything.
"""
import glob
import os
import re
import shutil

import support
from runs import TORTURE, Place, digest, nameless, recover, remove, segments, validate, whole

READS = 7  # files that the victim reads to their end


class Mode:
    """A way to run the victim, and the checks after a failure."""

    name = ""
    reads = READS  # reads in the trace of a run in which nothing fails
    strict = True  # a trace with the final name must be whole

    def __init__(self, workplace):
        self.workplace = workplace

    def is_ours(self, point):
        return point.split(":")[0] == "agent"

    def command(self, place):
        return self.workplace.command

    def extra(self, place):
        return {}

    def prepare(self, place, taken):
        if taken:
            shutil.copyfile(self.workplace.old, place.trace)

    def list_points(self, variant):
        place = Place(self.workplace)
        try:
            self.prepare(place, variant)
            path = os.path.join(place.folder, "list")
            ended = self.workplace.run(place, ["--list", path], self.command(place), self.extra(place))
            case = Nothing(variant)
            self.check(case, ended)
            assert not case.problems, (case.problems, ended.stderr)
            with open(path, encoding="utf-8") as file:
                return file.read().splitlines()
        finally:
            place.close()

    def inject(self, case):
        place = Place(self.workplace)
        try:
            self.prepare(place, case.variant)
            options = ["--at", case.point, "--do", case.failure]
            ended = self.workplace.run(place, options, self.command(place), self.extra(place))
            if ended.result["reached"]:
                if ended.result["hung"]:
                    case.problems.append("hung")
                self.check(case, ended)
            return ended.result
        finally:
            place.close()

    def check(self, case, ended):
        raise NotImplementedError

    def check_program(self, case, ended):
        alone = self.workplace.alone
        if (ended.stdout, ended.status) != (alone.stdout, alone.status):
            case.problems.append("the program: status %s, printed %r, said %r" % (
                ended.status, ended.stdout[-80:], ended.stderr[-200:]))  # fmt: skip

    def check_old(self, case, ended):
        """Returns whether the file with the trace's name is still the old trace. If it is gone, adds a problem."""
        path = ended.place.trace
        if not case.variant:
            return False
        if not os.path.exists(path):
            case.problems.append("the earlier trace is gone")
            return False
        return digest(path) == self.workplace.old_digest

    def made(self, case, ended):
        """Returns the paths of the traces, without the earlier one if it is unchanged."""
        old = self.check_old(case, ended)
        return [path for path in sorted(glob.glob(ended.place.out + "/*.penstock"))
                if not (old and path == ended.place.trace)]  # fmt: skip

    def check_trace(self, case, path, all_reads):
        summary = validate(path)
        name = os.path.basename(path)
        if summary is None:
            case.problems.append("%s: validate refuses it" % name)
        elif not whole(summary):
            case.problems.append("%s: is damaged: %s %s" % (name, summary["problems"], summary["losses"]))
        elif all_reads and summary["spans"] < self.reads:
            losses = summary["losses"]
            if losses["dropped_events"] + losses["lost_threads"] == 0:
                case.notes.append("%s %s: reads are missing and not counted" % (self.name, case.failure))
        return summary


class Nothing:
    """A case in which nothing fails."""

    def __init__(self, variant):
        self.problems, self.notes, self.variant, self.failure, self.point = [], [], variant, "", ""


class Bare(Mode):
    name = "bare"
    strict = False  # without a collector the trace grows under its final name

    def command(self, place):
        return ["env", "LD_PRELOAD=" + support.AGENT, "PENSTOCK_OUT=" + place.trace, *self.workplace.command]

    def check(self, case, ended):
        killed = ended.result["killed"] != 0
        if not killed:
            self.check_program(case, ended)
            if ended.stderr != self.workplace.alone.stderr:
                case.problems.append("stderr: %r" % ended.stderr[-200:])
        old = self.check_old(case, ended)
        if case.variant and not old:
            case.problems.append("the earlier trace was replaced")
        made = [path for path in sorted(glob.glob(ended.place.out + "/*"))
                if not (old and path == ended.place.trace)]  # fmt: skip
        for path in made:
            if not path.endswith(".penstock"):
                excused = killed or case.failure.endswith("+")  # in these cases the agent could not remove the file
                (case.notes if excused else case.problems).append("left: %s" % suffix(path))
                continue
            before = self.check_trace(case, path, not killed)
            if not before or not before["losses"]["unsealed"] and not segments(ended):
                continue
            done = recover(ended.place, path)
            if done.returncode == 0:
                after = self.check_trace(case, path, False)
                if after and (after["spans"] < before["spans"] or after["losses"]["unsealed"]):
                    case.problems.append("recover: %s" % after)
            else:
                case.notes.append("bare %s: recover: %s" % (case.failure, plain(ended.place, done.stderr)))
        if not made and not case.failure:
            case.problems.append("no trace was made")
        if not made and not killed:
            case.notes.append("bare %s: not traced" % case.failure)
        left = segments(ended)
        # A segment may stay if its process was killed before it made the file or after it finished the file. It
        # may also stay if the process had no memory or its shmctl failed. The next recording removes the segment.
        excused = killed or case.failure == "ENOMEM+" or ":shmctl:" in case.point
        if left and not excused:
            case.problems.append("%d segments of shared memory are left" % len(left))
        elif left:
            case.notes.append("bare %s: a segment is left (the next recording removes it)" % case.failure)
        remove(left)


def suffix(path):
    """Returns the name of a file beside the trace, without the parts that differ from run to run."""
    return "".join(c for c in os.path.basename(path).replace("t.penstock", "T") if not c.isdigit())


def plain(place, text):
    """Returns `text` without the parts that differ from run to run."""
    for name in (place.out + "/", place.shm + "/", TORTURE + "/"):
        text = text.replace(name, "")
    return re.sub("penstock-[0-9]+-[0-9]+-[0-9a-f]+", "RING", text).strip().replace("\n", " / ")


def shown(ended):
    return plain(ended.place, ended.stderr)


class Record(Mode):
    name = "record"

    def is_ours(self, point):
        return point.split(":")[0] in ("agent", "penstock-record")

    @staticmethod
    def refused(case, ended):
        """Returns whether the recorder did not run the command and said why in one line, such as a missing agent."""
        early = case.point.startswith("penstock-record:0:") or ":execve:" in case.point
        said = len(ended.stderr.splitlines()) == 1 or ended.result["muted"]
        if case.failure == "ENOMEM+" and ended.status == -6:  # without memory the recorder aborts
            return ended.stdout == ""
        return early and ended.stdout == "" and said and ended.status in (3, 126, 127)

    def command(self, place):
        return support.record(place.trace, self.workplace.command, "--gpu", "off", "--buffer", "2M")

    def check(self, case, ended):
        place = ended.place
        all_killed = case.failure.startswith("all")
        of_launcher = case.point.startswith("penstock-record:0:")
        of_child = case.point.startswith("penstock-record:0.1:")
        of_program = case.point.startswith("agent:") or of_child
        killed = ended.result["killed"] != 0
        if not killed or (not all_killed and not of_launcher and not of_program):
            if self.refused(case, ended):
                case.notes.append("record %s: refused: %s" % (case.failure, shown(ended)))
            else:
                self.check_program(case, ended)
        elif killed and of_launcher and not all_killed and ended.stdout not in ("", self.workplace.alone.stdout):
            case.problems.append("the launcher was killed, the program printed %r" % ended.stdout)
        for line in ended.stderr.splitlines():
            if not line.startswith(("penstock-record: ", "terminate called")):
                case.problems.append("stderr: %r" % line)
        for part in glob.glob(place.out + "/*.part"):
            done = recover(place, part)
            if done.returncode not in (0, 4) or len(done.stderr.splitlines()) != 1:
                case.problems.append("recover: %d %r" % (done.returncode, done.stderr))
            if done.returncode != 0:
                case.notes.append("record %s: recover: %s" % (case.failure, plain(place, done.stderr)))
        made = self.made(case, ended)
        for path in made:
            self.check_trace(case, path, not killed)
        said = [line for line in ended.stderr.splitlines() if "recording to" not in line]
        if not made and not killed:
            case.notes.append("record %s: not traced: %s" % (case.failure, shown(ended)))
            if not said and not ended.result["muted"]:
                case.problems.append("no trace, and nothing was said")
        excused = case.failure in ("EIO+", "ENOMEM+")  # in these cases the recorder could not remove files
        for path in sorted(glob.glob(place.out + "/*")):
            if not path.endswith(".penstock") and not excused and not (path.endswith(".part") and killed):
                case.problems.append("left: %s; said %r" % (suffix(path), shown(ended)[-160:]))
        rings = os.listdir(place.shm) + segments(ended)
        if rings and not (killed or excused or ":unlink:" in case.point or ":shmctl:" in case.point):
            case.problems.append("a ring is left")
        elif rings:
            case.notes.append("record %s: a ring is left (the next recorder removes it)" % case.failure)
        remove(segments(ended))


class Recover(Mode):
    name = "recover"
    reads = READS + 3  # some of them are on the disk, the others in the ring

    def is_ours(self, point):
        return point.split(":")[0] == "penstock-recover"

    def command(self, place):
        return [support.program("penstock-recover"), place.trace]

    def prepare(self, place, taken):
        """Records a program and kills all processes after it has read its files. If `taken`, then puts an old trace at
        the trace's path."""
        told = os.path.join(place.folder, "told")
        point = "torture_failpoints_victim:0.1:pause:1"
        command = support.record(place.trace, [*self.workplace.victim, "--wait", told, place.trace + ".part",
                                               *self.workplace.files], "--gpu", "off", "--buffer", "1M")  # fmt: skip
        place.recorded = self.workplace.run(place, ["--at", point, "--do", "all"], command, {})
        assert os.path.exists(told) and os.path.exists(place.trace + ".part"), os.listdir(place.out)
        super().prepare(place, taken)

    def check(self, case, ended):
        place = ended.place
        killed = ended.result["killed"] != 0
        made = self.made(case, ended)
        if not killed and (ended.status == 0) != bool(made):
            case.problems.append("status %d, but the trace %s there" % (ended.status, "is" if made else "is not"))
        if not killed and len(ended.stderr.splitlines()) != 1 and not ended.result["muted"]:
            case.problems.append("said %r" % ended.stderr)
        if not killed and ended.status not in (0, 3, 4):
            case.problems.append("status %d, said %r" % (ended.status, ended.stderr))
        if not made or os.path.exists(place.trace + ".part"):
            again = recover(place)
            if again.returncode != 0:
                case.problems.append("a second try: %d %r" % (again.returncode, again.stderr))
            made = self.made(case, ended)
        if not made:
            case.problems.append("there is no trace")
        for path in made:
            summary = self.check_trace(case, path, True)
            if summary and summary["spans"] != self.reads:
                case.problems.append("%d spans of %d" % (summary["spans"], self.reads))
            if nameless(path):
                case.problems.append("%d objects have no name" % nameless(path))
        for path in sorted(glob.glob(place.out + "/*")):
            if not path.endswith(".penstock"):
                case.problems.append("left: %s" % suffix(path))
        rings = os.listdir(place.shm) + segments(place.recorded)
        excused = killed or case.failure in ("EIO+", "ENOMEM+") or ":unlink:" in case.point or ":shmctl:" in case.point
        if rings:
            (case.notes if excused else case.problems).append("recover %s: a ring is left" % case.failure)
        remove(segments(place.recorded))


def modes(workplace):
    return [Bare(workplace), Record(workplace), Recover(workplace)]
