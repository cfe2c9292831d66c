# SPDX-License-Identifier: Apache-2.0
"""Ways to start a training run; the agent must follow each without harm."""
import collections
import os
import shlex
import sys

import support
from support import PYTHON, Case, bare, environment, record, require, run, train
from tracefile import Trace

ISOLATED = 2  # wire::kFeatureIsolated


class Wrappers(Case):
    pictures = (24, support.SMALL_SIZES)

    @classmethod
    def setUpClass(cls):
        require("penstock-export")
        super().setUpClass()

    def check(self, command, extra=None, modes=("bare",), samples=24):
        """Checks that the output is the same as without the agent and all samples are in the trace."""
        alone = run(command, environment(extra))
        self.assertEnded(alone)
        for mode in modes:
            output = self.path(mode + ".penstock")
            if mode == "bare":
                traced = run(command, bare(output, extra))
            else:
                require("penstock-record")
                traced = run(record(output, command), environment(extra))
            self.assertEndedLike(alone, traced, mode)
            self.assertEqual(traced.stderr, alone.stderr, mode)
            trace = Trace(output)
            counts = collections.Counter(span.sample for span in trace.of("sample"))
            self.assertEqual(counts, collections.Counter(range(samples)), mode)
            self.check_files(trace)
        return trace

    def check_files(self, trace):
        """Checks that the read spans hold at least 98 % of each picture's bytes."""
        read = collections.Counter()
        for span in trace.of("read"):
            if span.object.startswith(self.data + "/"):
                read[span.object] += span.bytes
        for path in self.paths:
            self.assertGreaterEqual(read[path], 0.98 * os.path.getsize(path), path)

    def script(self, text, name="wrapper.sh"):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def test_isolated_python(self):
        command = train(self.data)
        for flags in (["-I"], ["-E", "-s"], ["--check-hash-based-pycs", "default", "-I"]):
            with self.subTest(flags=flags):
                trace = self.check([PYTHON, *flags, *command[1:]])
                consumer = [process for process in trace.processes if process["role"] == "consumer"]
                self.assertEqual([process["features"] & ISOLATED for process in consumer], [ISOLATED])

    def test_isolated_python_with_workers(self):
        for start in ("fork", "spawn"):
            with self.subTest(start=start):
                command = train(self.data, "--workers", 2, "--start", start)
                trace = self.check([PYTHON, "-I", *command[1:]], modes=("bare", "record"))
                self.assertEqual(len({span.pid for span in trace.of("fetch")}), 2)

    def test_sitecustomize_of_the_user(self):
        own = self.path("own")
        os.mkdir(own)
        with open(os.path.join(own, "sitecustomize.py"), "w", encoding="utf-8") as file:
            file.write("import os, sys\nprint('mine', __name__, os.path.basename(__file__), flush=True)\n"
                       "sys.path.append('/added/by/the/user')\n")
        code = ("import sys, sitecustomize\nprint(sitecustomize.__file__, '/added/by/the/user' in sys.path)\n"
                "sys.argv = {!r}\n__file__ = sys.argv[0]\nexec(open(sys.argv[0]).read())\n")
        command = [PYTHON, "-c", code.format(train(self.data)[1:])]
        trace = self.check(command, {"PYTHONPATH": own}, modes=("bare", "record"))
        self.assertEqual(len(trace.of("sample")), 24)
        outcome = run(command, bare(self.path("o.penstock"), {"PYTHONPATH": own}))
        self.assertEqual(outcome.stdout.count("mine sitecustomize sitecustomize.py"), 1)

    def test_wrapper_script(self):
        wrapper = self.script("#!/bin/bash\nset -euo pipefail\necho \"$0 starts\" >&2\n%s\necho ended >&2\n"
                              % shlex.join(train(self.data)))
        trace = self.check([wrapper], modes=("bare", "record"))
        self.assertEqual(len({span.pid for span in trace.of("sample")}), 1)

    def test_environment_rebuilt_by_env(self):
        command = [PYTHON, "-B", *train(self.data, "--workers", 2, "--start", "fork")[1:]]
        wrapper = self.script("#!/bin/sh\nset -eu\nexec env -i PATH=/usr/bin:/bin OMP_NUM_THREADS=1 %s\n" %
                              shlex.join(command))
        trace = self.check([wrapper], modes=("bare", "record"))
        self.assertEqual(len({span.pid for span in trace.of("fetch")}), 2)

    def test_environment_rebuilt_by_python(self):
        ways = {
            "execve": "os.execve(c[0], c, e)",
            "subprocess": "sys.exit(subprocess.run(c, env=e).returncode)",
            "posix_spawn": "p = os.posix_spawn(c[0], c, e)\n"
                           "sys.exit(os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]))",
        }
        for name, way in ways.items():
            with self.subTest(way=name):
                command = [PYTHON, "-B", *train(self.data)[1:]]
                text = "import os, subprocess, sys\nc = %r\ne = {'OMP_NUM_THREADS': '1'}\n%s\n"
                wrapper = self.script(text % (command, way), "by_" + name + ".py")
                trace = self.check([PYTHON, wrapper])
                self.assertEqual(len({span.pid for span in trace.of("sample")}), 1)

    def test_reads_in_other_threads(self):
        trace = self.check(train(self.data, "--threads", "--workers", 2, "--start", "fork"))
        samples = {(span.pid, span.tid) for span in trace.of("sample")}
        reads = {(s.pid, s.tid) for s in trace.of("read") if s.object.startswith(self.data + "/")}
        self.assertTrue(reads)
        self.assertFalse(samples & reads)
        self.assertGreaterEqual(len([s for s in trace.of("decode") if s.name == "PIL.load"]), 24)

    def test_a_module_run_with_m(self):
        command = train(self.data)
        os.symlink(command[1], self.path("victim.py"))
        outcome = run([PYTHON, "-m", "victim", *command[2:]], bare(self.path("o.penstock")), cwd=self.work)
        self.assertEnded(outcome)
        self.assertEqual(len(Trace(self.path("o.penstock")).of("sample")), 24)


if __name__ == "__main__":
    sys.exit(support.main())
