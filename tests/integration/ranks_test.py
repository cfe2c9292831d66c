# SPDX-License-Identifier: Apache-2.0
"""Runs of several ranks in real gloo process groups: the report must name the slow rank, on one host and on two hosts
whose clocks differ."""
import contextlib
import glob
import json
import os
import random
import shutil
import socket
import subprocess

import support
from support import PYTHON, environment, program, run, target
from tracefile import Trace

SIZES = ((200, 160), (160, 200))
LIMIT = 120
# Starts torch.distributed.run, also with a PyTorch that was built without libuv.
TORCHRUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/readme/torchrun.py")


def free_port():
    """A free port that the kernel gives to no connection of another program: it lies below their range."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as listener, contextlib.suppress(OSError):
            listener.bind(("", port))
            return port


def torchrun(ranks, logs, command):
    """The command line of torch.distributed.run for `ranks` processes on this host.

    PyTorch 1.13's launcher needs -r and -t under Python 3.11: it iterates over these flags, which
    Python 3.11 refuses for the value 0. --monitor_interval makes the launcher look more often than every five seconds
    whether its ranks have ended.
    """
    return [PYTHON, TORCHRUN, "--monitor_interval", "0.1", "--nproc_per_node", str(ranks), "--master_addr", "127.0.0.1",
            "--master_port", str(free_port()), "-r", "1", "-t", "1", "--log_dir", logs, *command]  # fmt: skip


class Ranks(support.Case):
    pictures = (8, SIZES)

    @classmethod
    def setUpClass(cls):
        support.require("penstock", "penstock-record", "penstock-export")
        super().setUpClass()

    def script(self, *options):
        return [target("ranks.py"), "--data", self.data, *map(str, options)]

    def torchrun(self, ranks, *options):
        return torchrun(ranks, os.path.join(self.base, "logs"), self.script(*options))

    def report(self, *traces):
        done = run([program("penstock"), "report", "--json", *traces])
        self.assertEnded(done)
        return json.loads(done.stdout)

    def finding(self, report, name):
        return next((one for one in report["findings"] if one["id"] == name), None)

    def started(self, commands):
        """Starts all of [(command, environment)] at once and waits for them."""
        processes = [subprocess.Popen(command, env=env, cwd=self.work, stdin=subprocess.DEVNULL, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
                     for command, env in commands]  # fmt: skip
        try:
            outputs = [process.communicate(timeout=LIMIT)[0] for process in processes]
        finally:
            for process in processes:
                if process.poll() is None:
                    os.killpg(process.pid, 9)
                    process.wait()
        self.assertEqual([process.returncode for process in processes], [0] * len(processes), outputs)
        return outputs

    def assertSlow(self, report, rank, ranks):
        """Checks that the report has all ranks, that it says they wait for `rank`, and that its verdict is about that
        rank's loader."""
        self.assertEqual([row["rank"] for row in report["ranks"]["table"]], list(range(ranks)))
        self.assertEqual(report["ranks"]["world_size"], ranks)
        imbalance = report["ranks"]["imbalance"]
        # With more ranks than cores, a step's end depends on when the kernel lets a rank run.
        if ranks <= len(os.sched_getaffinity(0)):
            self.assertTrue(imbalance["steps_end_together"], report["ranks"])
        self.assertEqual((imbalance["slowest_rank"], imbalance["fixed"]), (rank, True), report["ranks"])
        self.assertEqual(report["ranks"]["verdict_of_rank"], rank)
        found = self.finding(report, "rank-imbalance")
        self.assertIsNotNone(found, report["findings"])
        self.assertEqual(found["evidence"]["rank"], rank)
        self.assertGreater(found["evidence"]["cost_share"], 0.1)


class Torchrun(Ranks):
    def test_two_ranks_in_one_trace(self):
        trace = self.path("t.penstock")
        done = run(support.record(trace, self.torchrun(2, "--slow", 1, "--delay", 0.03)), timeout=LIMIT)
        self.assertEnded(done)
        report = self.report(trace)
        self.assertSlow(report, 1, 2)
        self.assertEqual(report["ranks"]["launcher"], "torch")
        self.assertEqual([host["ranks"] for host in report["ranks"]["hosts"]], [2])
        workers = [p for p in Trace(trace).processes if p["role"] == "worker"]
        self.assertEqual(sorted(p["rank"] for p in workers), [0, 1])

    def test_four_ranks_without_a_collector(self):
        trace = self.path("t.penstock")
        command = self.torchrun(4, "--slow", 2, "--delay", 0.04, "--batches", 20)
        self.assertEnded(run(command, support.bare(trace), timeout=LIMIT))
        self.assertEqual(sorted(os.listdir(self.work)), ["t.penstock"])
        self.assertSlow(self.report(trace), 2, 4)

    def test_equal_ranks_lose_little(self):
        trace = self.path("t.penstock")
        command = self.torchrun(2, "--step", 0.05)
        self.assertEnded(run(support.record(trace, command), timeout=LIMIT))
        report = self.report(trace)
        self.assertEqual(len(report["ranks"]["table"]), 2)
        self.assertLess(report["ranks"]["imbalance"]["cost_fraction"], 0.5, report["ranks"])

    def test_ranks_that_no_variable_tells_are_those_of_the_process_group(self):
        trace = self.path("t.penstock")
        command = [PYTHON, *self.script("--spawn", 2, "--slow", 1, "--delay", 0.03, "--batches", 16)]
        group = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        self.assertEnded(run(support.record(trace, command), environment(group), timeout=LIMIT))
        self.assertSlow(self.report(trace), 1, 2)
        workers = [p for p in Trace(trace).processes if p["role"] == "worker"]
        self.assertEqual(sorted(p["rank"] for p in workers), [0, 1])

    def test_a_trace_of_each_rank_where_the_name_asks_for_it(self):
        extra = {"LD_PRELOAD": support.AGENT, "PENSTOCK_OUT": self.path("r%r.penstock")}
        command = self.torchrun(2, "--slow", 0, "--delay", 0.03)
        self.assertEnded(run(command, environment(extra), timeout=LIMIT))
        traces = sorted(glob.glob(self.path("r[0-9].penstock")))
        self.assertEqual([os.path.basename(one) for one in traces], ["r0.penstock", "r1.penstock"])
        report = self.report(*traces)
        self.assertSlow(report, 0, 2)
        self.assertEqual([clock["aligned_by"] for clock in report["ranks"]["clocks"]], ["reference", "same clock"])


class Launchers(Ranks):
    """Open MPI and Slurm, imitated by the variables that they set: each of their processes runs a recorder."""

    def launch(self, variables, *options):
        port = str(free_port())
        command = [program("penstock-record"), "--quiet", "-o", "run.penstock", "--", PYTHON, *self.script(*options)]
        return self.started([
            (command, environment({"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, **variables(rank)}))
            for rank in range(2)])  # fmt: skip

    def check(self, launcher):
        traces = sorted(glob.glob(self.path("run.rank*.penstock")))
        self.assertEqual([os.path.basename(one) for one in traces], ["run.rank0.penstock", "run.rank1.penstock"])
        merged = self.path("merged.penstock")
        done = run([program("penstock"), "merge", *reversed(traces), "-o", merged])
        self.assertEnded(done)
        self.assertIn("same clock", done.stdout)
        for report in (self.report(merged), self.report(*traces)):
            self.assertSlow(report, 1, 2)
            self.assertEqual(report["ranks"]["launcher"], launcher)
            self.assertEqual([host["ranks"] for host in report["ranks"]["hosts"]], [2])

    def test_open_mpi(self):
        self.launch(lambda rank: {
            "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "2",
            "OMPI_COMM_WORLD_LOCAL_RANK": str(rank), "OMPI_COMM_WORLD_LOCAL_SIZE": "2"},
            "--slow", 1, "--delay", 0.03)  # fmt: skip
        self.check("openmpi")

    def test_mpirun_itself(self):
        if shutil.which("mpirun") is None:
            self.skipTest("mpirun is missing: install openmpi-bin")
        command = ["mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader",
                   program("penstock-record"), "-o", "run.penstock", "--", PYTHON,
                   *self.script("--slow", 1, "--delay", 0.03)]  # fmt: skip
        group = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()),
                 "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # fmt: skip
        output, = self.started([(command, environment(group))])
        self.assertEqual(output.count("penstock-record: wrote "), 1, output)  # only the first rank prints this line
        self.assertIn("penstock report run.rank*.penstock", output)
        self.check("openmpi")

    def test_folders_that_the_name_asks_for_are_made(self):
        variables = {"RANK": "3", "WORLD_SIZE": "4"}
        command = [program("penstock-record"), "--quiet", "-o", self.path("%h/%r/t.penstock"), "--", PYTHON, "-c",
                   "import PIL.Image; PIL.Image.open(%r).load()" % self.paths[0]]  # fmt: skip
        self.assertEnded(run(command, environment(variables)))
        self.assertTrue(os.path.exists(self.path("%s/3/t.penstock" % os.uname().nodename)), os.listdir(self.work))

    def test_slurm(self):
        self.launch(lambda rank: {
            "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_PROCID": str(rank), "SLURM_NTASKS": "2",
            "SLURM_LOCALID": str(rank), "SLURM_NODEID": "0", "SLURM_TASKS_PER_NODE": "2"},
            "--slow", 1, "--delay", 0.03)  # fmt: skip
        self.check("slurm")


class TwoHosts(Ranks):
    """Imitates two hosts on this machine. Each has a network namespace, linked with the other's, and a time
    namespace, so that their CLOCK_MONOTONIC are 1,000 s apart. Both have the same boot id, which would tell the merge
    the difference; so the merge is told to use the steps alone. Its result is compared with the true difference."""

    SECONDS = 1000
    MOST = 0.02  # largest error of the aligned clocks, in s; less than a step takes

    def setUp(self):
        super().setUp()
        self.names = ["pk%d%s" % (os.getpid(), end) for end in "ab"]
        self.addCleanup(self.remove)
        commands = [["ip", "netns", "add", name] for name in self.names]
        commands.append(["ip", "link", "add", "pk0", "netns", self.names[0], "type", "veth",
                         "peer", "name", "pk1", "netns", self.names[1]])  # fmt: skip
        for index, name in enumerate(self.names):
            inside = ["ip", "-n", name]
            commands.append([*inside, "addr", "add", "10.231.7.%d/24" % (index + 1), "dev", "pk%d" % index])
            commands.append([*inside, "link", "set", "pk%d" % index, "up"])
            commands.append([*inside, "link", "set", "lo", "up"])
        commands.append(["unshare", "--time", "--monotonic", "1", "--fork", "true"])
        for command in commands:
            if shutil.which(command[0]) is None:
                self.skipTest("no two hosts: %s is missing" % command[0])
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                self.skipTest("no two hosts: %s: %s" % (" ".join(command), done.stdout.strip()))

    def remove(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def test_clocks_a_thousand_seconds_apart_are_aligned_by_the_steps(self):
        commands = []
        for rank, name in enumerate(self.names):
            extra = {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1",
                     "GROUP_RANK": str(rank), "MASTER_ADDR": "10.231.7.1", "MASTER_PORT": "29512",
                     "GLOO_SOCKET_IFNAME": "pk%d" % rank}  # fmt: skip
            commands.append((
                ["ip", "netns", "exec", name, "unshare", "--time", "--monotonic", str(self.SECONDS * rank), "--fork",
                 program("penstock-record"), "--quiet", "-o", "run.penstock", "--",
                 PYTHON, *self.script("--slow", 1, "--delay", 0.03, "--batches", 40)],
                environment(extra)))  # fmt: skip
        self.started(commands)
        traces = sorted(glob.glob(self.path("run.rank*.penstock")))
        facts = [Trace(one).facts for one in traces]
        truth = (int(facts[0]["clock.offset_ns"]) - int(facts[1]["clock.offset_ns"])) / 1e9
        self.assertAlmostEqual(truth, -self.SECONDS)
        merged = self.path("merged.penstock")
        done = run([program("penstock"), "merge", *traces, "--align", "steps", "-o", merged])
        self.assertEnded(done)
        report = self.report(merged)
        self.assertSlow(report, 1, 2)
        clock = report["ranks"]["clocks"][1]
        self.assertEqual(clock["aligned_by"], "collective")
        miss = abs(clock["offset_s"] - truth)
        print("    clocks 1000 s apart: missed by %.3f ms, said +-%.3f ms, surely within %.3f ms" % (
            1e3 * miss, 1e3 * clock["uncertainty_s"], 1e3 * clock["bound_s"]))  # fmt: skip
        self.assertLess(miss, self.MOST)
        if clock["bound_s"] > 0:
            self.assertLessEqual(miss, clock["bound_s"] + 1e-6)
        # Without the option, the recorded clocks of the two namespaces give the exact difference.
        by_boot = self.report(*traces)["ranks"]["clocks"][1]
        self.assertEqual((by_boot["aligned_by"], by_boot["offset_s"]), ("same clock", truth))


if __name__ == "__main__":
    support.main()
