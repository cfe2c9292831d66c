# SPDX-License-Identifier: Apache-2.0
"""The scenarios. Each one is a function of a Run. If it cannot run on this machine, it raises Skip with the reason.

A recording has 512 slots for processes. Events of a process without a slot are counted, not recorded.
So scenarios with thousands of processes pass `lossless=False`: reads may then be missing in the trace if they
are counted as lost.
"""
import json
import os
import shutil
import stat

import support
from harness import VICTIMS, Failure, Skip, can_mount, fact, slope, summary, victim

AGENT = support.AGENT


# -- processes and threads ------------------------------------------------------------------------


def processes(run):
    """thousands of processes that live for a millisecond"""
    run.check(victim("processes", run.scaled(200, 3000), 8), modes=("record",), lossless=run.quick)
    # Without a collector nobody frees slots, so reads of processes beyond the first 512 count as lost.
    run.check(victim("processes", run.scaled(560, 3000), 8), modes=("bare",), lossless=False)


def threads(run):
    """thousands of threads that read one file each"""
    run.check(victim("threads", run.scaled(320, 5000), 16))


def fork_while_threads_read(run):
    """fork, again and again, while three other threads record"""
    run.check(victim("fork-while-threads-read", run.scaled(40, 1000)), lossless=run.quick)


def killed_workers(run):
    """workers that are killed (SIGKILL) at random moments and replaced"""
    kills = run.scaled(20, 600)
    # A worker may be killed between its read and its count.
    run.check(victim("killed-workers", kills), more=kills + 4, lossless=run.quick)


def ends(run):
    """processes that end by _exit, exit, quick_exit, abort, a signal, _exit of a thread, exit after the first thread"""
    run.check(victim("ends"))


def vfork_and_exec(run):
    """vfork and exec, also of a program that does not exist, posix_spawn, a cleared environment"""
    run.check(victim("vfork", run.scaled(5, 100)), lossless=run.quick)


def signals_restarted(run):
    """signals of two timers, up to 5 kHz each, and of ended children; handlers read files; with SA_RESTART"""
    signals(run, 1)


def signals_interrupting(run):
    """the same without SA_RESTART: signals interrupt reads that wait, as they do without the agent"""
    signals(run, 0)


def signals(run, restart):
    # If a handler interrupts the agent on the same thread, the handler's read counts as lost. In the short form
    # signals come only every millisecond, so that the program makes progress even on a slow machine.
    every = run.scaled(1000, 200)
    run.check(victim("signals", run.scaled(3000, 60_000), restart, every), lossless=False)
    for figures in run.figures:
        if figures.lost > figures.expected // 20 + 10:
            raise Failure("%d of %d reads lost" % (figures.lost, figures.expected))


def close_all(run):
    """a program that closes all descriptors in three ways; none of them may belong to the agent"""
    run.check(victim("close-all", run.scaled(60, 3000)))


# -- sandboxes ------------------------------------------------------------------------------------


def seccomp_refuses(run):
    """a program that installs a seccomp filter, which refuses system calls that the program does not need"""
    run.check(victim("lock-in", "refuse", 50))


def seccomp_kills(run):
    """the same, but such a system call kills the program; the filter comes by prctl, by seccomp() or as strict mode"""
    for how in run.scaled(("kill-by-syscall", "strict"), ("kill", "kill-by-syscall", "strict")):
        run.check(victim("lock-in", how, 50), modes=run.scaled(("record",), ("bare", "record")))


def seccomp_from_outside(run):
    """a command behind a seccomp filter, which refuses memfd, madvise, prctl, readlink, sockets and more"""
    command = victim("paced", 200, 0)
    run.check(victim("run-locked-in", *command), in_file=False)
    run.check(command, surround=lambda c: victim("run-locked-in", *c), modes=("record",), in_file=False)


def setuid_program(run):
    """a setuid program: the loader does not load the agent into it, and it runs as without the agent"""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise Skip("needs root and setpriv")
    home = os.path.join(run.folder, "bin")
    os.mkdir(home)
    for path in (run.folder, home, run.shm):
        os.chmod(path, 0o777)
    copy = os.path.join(home, "victim")
    shutil.copy(victim()[0], copy)
    os.chmod(copy, 0o755 | stat.S_ISUID)
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if support.run([*nobody, "test", "-r", AGENT]).status != 0:
        raise Skip("the build is not readable for other users")
    run.check([copy, "paced", "50", "0"], surround=lambda c: [*nobody, *c], in_file=False)


# -- other libraries ------------------------------------------------------------------------------


def agent_twice(run):
    """the agent twice in LD_PRELOAD, a copy of the agent before or after it, dlopen of the agent"""
    copy = os.path.join(run.folder, "libpenstock_agent.so")
    shutil.copy(AGENT, copy)
    reads = run.scaled(200, 2000)
    command = victim("paced", reads, 0)
    alone = run.start(command)
    for preload in (AGENT, copy, "%s:%s" % (copy, AGENT)):
        run.check(command, preload=preload, alone=alone, modes=run.scaled(("record",), ("bare", "record")))
    for agent in run.scaled((copy,), (AGENT, copy)):
        run.check(victim("load-agent", agent, reads))


def jemalloc(run):
    """jemalloc preloaded before the agent"""
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"):
        library = os.path.join(folder, "libjemalloc.so.2")
        if os.path.exists(library):
            run.check(victim("threads", run.scaled(320, 3000), 16), preload=library)
            if not run.quick:
                run.check(victim("fork-while-threads-read", 300), preload=library)
            return
    raise Skip("there is no libjemalloc.so.2")


def sanitizer(run):
    """a program built with AddressSanitizer, which ends a program if another library was loaded before it"""
    command = victim("threads", run.scaled(64, 2000), 16, name="torture_victim_asan")
    if not os.access(command[0], os.X_OK):
        raise Skip("torture_victim_asan is not built")
    for _ in range(run.scaled(2, 8)):  # with wide randomization of addresses, ASan ends some runs
        plain = run.start(command)
        if plain.status != 0:
            raise Skip("the sanitizer does not run here: %s" % plain.stderr.strip()[-80:])
    # penstock-record runs this program untraced and says so. If the sanitizer's library is preloaded before the
    # agent, penstock-record traces the program.
    run.check(command, modes=("record",), in_file=False)
    # If a traced program starts the victim, the agent is not loaded into the victim.
    run.check(["sh", "-c", '"$@"; echo $?', "sh", *command], in_file=False)
    library = sanitizer_of(command[0])
    if library and not run.quick:
        run.check(command, preload=library)


def sanitizer_of(program):
    for line in support.run(["ldd", program]).stdout.splitlines():
        words = line.split()
        if len(words) > 2 and "asan" in words[0]:
            return os.path.realpath(words[2])
    return ""


# -- clocks ---------------------------------------------------------------------------------------


def clock_jumps(run):
    """a preloaded library that makes the wall clock jump by an hour, and the monotonic clock by a day"""
    shim = os.path.join(VICTIMS, "libtorture_other_clock.so")
    command = victim("paced", run.scaled(60, 1500), 10_000 if run.quick else 4000)
    monotonic = {"PENSTOCK_CLOCK": "monotonic"}
    # The library is preloaded into the recorder too. In the program it comes before the agent or after it.
    alone = run.start(command, {"LD_PRELOAD": shim})
    made = run.check(command, preload=shim, modes=("record",), extra=monotonic, alone=alone)
    made += run.check(command, preload=shim, alone=alone, modes=run.scaled(("bare",), ("bare", "record")))
    if not run.quick:
        both = ["env", "LD_PRELOAD=%s:%s" % (AGENT, shim), *command]
        made += run.check(both, modes=("record",), alone=alone)
    lasts_as_long(made)


def time_namespace(run):
    """a command, with or without its recorder, in a time namespace whose clocks are days ahead"""
    ahead = ["unshare", "--time", "--monotonic", "300000", "--boottime", "400000"]
    if not shutil.which("unshare") or support.run([*ahead, "true"]).status != 0:
        raise Skip("time namespaces are not permitted")
    command = victim("paced", run.scaled(50, 1000), 10_000 if run.quick else 4000)
    # The shell starts a process outside of the namespace and then one inside, so one recording has both.
    both = ["sh", "-c", '"$@"; unshare --time --monotonic 300000 --boottime 400000 "$@"', "sh", *command]
    monotonic = {"PENSTOCK_CLOCK": "monotonic"}
    alone = run.start(both)
    modes = run.scaled(("record",), ("bare", "record"))
    lasts_as_long(run.check(both, alone=alone, modes=modes)
                  + run.check(both, alone=alone, modes=modes, extra=monotonic))
    if run.quick:
        return
    for extra in ({}, monotonic):
        made = run.check([*ahead, *command], extra=extra)
        made += run.check(command, surround=lambda c: [*ahead, *c], extra=extra, modes=("record",))
        lasts_as_long(made)


def lasts_as_long(made):
    """Checks that traces last about as long as their runs, whatever the clocks said."""
    for figures in made:
        seconds = summary(figures.output)["duration_s"]
        if seconds > figures.traced + 2 or seconds < 0.3:
            raise Failure("%s: a trace of %.1f s of a run of %.1f s" % (
                figures.mode, seconds, figures.traced))


# -- disks ----------------------------------------------------------------------------------------

# A shell script that runs a command in a mount namespace. It repeatedly fills and empties a small file system
# there, which the trace is written to. At the end it copies the trace to another folder.
COMES_AND_GOES = """set -e
mount -t tmpfs -o size=$3 tmpfs "$1"; where=$1; out=$2; shift 3
fill() {
  while :; do
    sleep 0.4
    cat /dev/zero > "$where/ballast" 2>/dev/null || :
    sleep 1.1; rm -f "$where/ballast"
  done
}
fill & filler=$!
status=0; "$@" || status=$?
kill $filler; wait $filler 2>/dev/null || :; rm -f "$where/ballast"
for try in 1 2 3 4 5 6 7 8 9 10; do # what fills it up may take a moment to end
  for file in "$where"/*.part; do [ ! -f "$file" ] || "$PENSTOCK_RECOVER" "${file%.part}" || sleep 0.3; done
done
for file in "$where"/*; do [ ! -f "$file" ] || cp "$file" "$out"; done
exit $status"""


def disk_comes_and_goes(run):
    """a disk that is full for a second again and again, while the collector writes its trace to it"""
    if can_mount():
        raise Skip(can_mount())
    where = os.path.join(run.folder, "disk")
    os.mkdir(where)
    command = victim("events", run.scaled(3, 30), 50_000)
    inner = os.path.join(where, "t.penstock")
    out = os.path.join(run.folder, "out")
    os.mkdir(out)

    def surround(line):
        return ["unshare", "-m", "sh", "-c", COMES_AND_GOES, "sh", where, out, "24m",
                *[inner if word.endswith("record0.penstock") else word for word in line]]

    # If the disk is also full when the run ends, recover completes the trace from the ring.
    shown = run.check(command, modes=("record",), surround=surround,
                      extra={"PENSTOCK_RECOVER": support.program("penstock-recover")},
                      alone=support.Outcome(0, "done\n", "", 0.0),
                      found_at=os.path.join(out, "t.penstock"))[0]
    full = fact(shown.output, "record.disk_full_ns")
    recovered = fact(shown.output, "record.stopped") is not None
    if full is None and not recovered:
        raise Failure("the disk was never full")
    shown.notes.append("disk full for %.1f s%s" % (
        int(full or 0) * 1e-9, " and at the end" if recovered else ""))


def disk_full_without_collector(run):
    """the same disk under the agent alone, which writes 64 kB for each thread; reads without room count as lost"""
    if can_mount():
        raise Skip(can_mount())
    where = os.path.join(run.folder, "disk")
    out = os.path.join(run.folder, "out")
    os.mkdir(where)
    os.mkdir(out)
    command = victim("threads", run.scaled(1600, 12_000), 16)
    inner = os.path.join(where, "t.penstock")

    def surround(line):
        return ["unshare", "-m", "sh", "-c", COMES_AND_GOES, "sh", where, out, "24m",
                *[word.replace(os.path.join(run.folder, "bare0.penstock"), inner) for word in line]]

    alone = run.start(command)
    shown = run.check(command, modes=("bare",), surround=surround, alone=alone, in_file=False,
                      extra={"PENSTOCK_RECOVER": "false"})
    shown[0].output = os.path.join(out, "t.penstock")
    run.read_trace(shown[0], 0, False)
    if shown[0].spans == 0 or shown[0].lost == 0:
        raise Failure("the disk was never full, or always")


# -- long runs ------------------------------------------------------------------------------------


def soak(run):
    """in a minute as many events as hours of training make: the collector's memory and its growth"""
    if run.quick:
        raise Skip("only in the full form; soak-keep is much the same")
    seconds, rate = 60, 500_000
    made = run.check(victim("events", seconds, rate), modes=("record",), lossless=False,
                     alone=support.Outcome(0, "done\n", "", 0.0))[0]
    growth(made, seconds)
    per_span = made.file_bytes / max(1, made.spans)
    made.notes.append("%.1f bytes a span" % per_span)
    if made.lost > made.expected // 100:
        raise Failure("%d of %d lost" % (made.lost, made.expected))


def soak_keep(run):
    """the same with --keep: memory and file hold only the last seconds"""
    seconds, rate, keep = run.scaled((3, 200_000, 1), (60, 400_000, 5))
    run.check(victim("events", seconds, rate), modes=("record",), in_file=False,
              options=("--keep", "%ds" % keep), alone=support.Outcome(0, "done\n", "", 0.0))
    made = run.figures[0]
    watcher = made.watcher
    shown = summary(made.output)
    made.processes, made.threads = shown["processes"], shown["threads"]
    made.spans = shown["spans"]
    made.file_bytes = watcher.largest_file
    if not shown["sound"] and not shown["losses"]["dropped_events"]:
        raise Failure("not sound: %s" % shown)
    if not 0 < shown["duration_s"] <= keep + 1:
        raise Failure("--keep %ds, and a trace of %.2f s" % (keep, shown["duration_s"]))
    final = os.path.getsize(made.output)
    made.notes.append("kept %.1f of %d s: %.1f MB" % (shown["duration_s"], seconds, final / 1e6))
    if watcher.largest_file > 4 * final + (8 << 20):
        raise Failure("%d bytes on disk for a trace of %d" % (watcher.largest_file, final))
    growth(made, seconds)


def keep_training(run):
    """PyTorch's loader with two workers under --keep 2s: the report is about the last two seconds"""
    if run.quick:
        raise Skip("only in the full form")
    data = os.path.join(run.folder, "pictures")
    try:
        support.make_pictures(data, 48, support.SMALL_SIZES)
    except ImportError as error:
        raise Skip("no pictures: %s" % error) from error
    command = support.train(data, "--workers", 2, "--start", "fork", "--epochs", 60)
    if run.start(support.train(data, "--epochs", 1)).status != 0:
        raise Skip("there is no PyTorch for %s" % support.PYTHON)
    made = run.check(command, modes=("record",), in_file=False, options=("--keep", "2s"))[0]
    shown = summary(made.output)
    made.processes, made.threads, made.spans = shown["processes"], shown["threads"], shown["spans"]
    made.file_bytes = made.watcher.largest_file
    if not shown["sound"]:
        raise Failure("not sound: %s" % shown)
    done = support.run([support.program("penstock"), "report", made.output, "--json"])
    if done.status != 0:
        raise Failure("report: %s" % done.stderr[-200:])
    report = json.loads(done.stdout)
    rate = report["throughput"]["samples_per_s"]
    whole = 60 * 48 / made.traced
    made.notes.append("%.0f samples/s in the last 2 s, %.0f over all" % (rate, whole))
    if not whole / 5 < rate < whole * 20 or report["duration_s"] > 4:
        raise Failure("a rate of %.1f/s, where the run had %.1f/s" % (rate, whole))


def growth(made, seconds):
    """Notes the peak of the collector's memory and how fast it grows in the second half."""
    made.growth = slope(made.watcher.memory)
    made.notes.append("memory grows by %.0f KB a minute" % (made.growth * 60 / 1024))
    if made.memory > 400 << 20:
        raise Failure("the collector took %d MB" % (made.memory >> 20))
    if seconds >= 30 and made.growth * seconds > 64 << 20:
        raise Failure("the collector grows by %.1f MB a second" % (made.growth / 1e6))


def many_generations(run):
    """as many processes as the new workers of a run of hours: what one process costs the collector"""
    if run.quick:
        raise Skip("only in the full form")
    made = run.check(victim("processes", 10_000, 4), modes=("record",), lossless=False)[0]
    per_process = made.memory / max(1, made.processes)
    made.notes.append("%.1f KB for each process" % (per_process / 1024))
    if per_process > 16 << 10:
        raise Failure("%d bytes of memory for each process" % per_process)


SCENARIOS = (
    processes, threads, fork_while_threads_read, killed_workers, ends, vfork_and_exec, signals_restarted,
    signals_interrupting, close_all, seccomp_refuses, seccomp_kills, seccomp_from_outside,
    setuid_program, agent_twice, jemalloc, sanitizer, clock_jumps, time_namespace,
    disk_comes_and_goes, disk_full_without_collector, soak, soak_keep, keep_training, many_generations,
)  # fmt: skip
