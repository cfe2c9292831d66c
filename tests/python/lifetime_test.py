#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""penstock.Loader and the life of a process: threads, descriptors, memory, fork, signals, exit."""
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import BUILD, ROOT, WithSet, bare, delivered, descriptors, make_set, python, resident, threads  # noqa: E402

from penstock._loader_library import WAITING  # noqa: E402
from penstock.loader import Loader, LoaderError  # noqa: E402

OPTIONS = {"ops": "random_resized_crop=16,flip", "output": "u8", "batch": 4, "workers": 2}


class Case(WithSet):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        Loader(cls.set, **OPTIONS).close()  # imports NumPy or PyTorch, which may start threads that stay

    def loader(self, **options):
        made = Loader(self.set, **{**OPTIONS, **options})
        self.addCleanup(made.close)
        return made


class Leaks(Case):
    def test_abandoned_iterators_leave_no_thread_and_no_descriptor(self):
        loader = self.loader()
        for _ in loader:
            break
        gc.collect()
        before = threads(), descriptors()
        for i in range(300):
            for _ in loader:
                if i % 3 != 0:
                    break
        iterator = iter(loader)
        next(iterator)
        del iterator
        gc.collect()
        self.assertEqual(before, (threads(), descriptors()))

    def test_abandoned_loaders_leave_no_thread_and_no_descriptor(self):
        before = threads(), descriptors()
        for i in range(100):
            loader = Loader(self.set, **OPTIONS)
            iterator = iter(loader)
            if i % 2:
                next(iterator)
            del iterator, loader
        gc.collect()
        self.assertEqual(before, (threads(), descriptors()))

    def test_memory_is_flat_over_many_epochs(self):
        loader = self.loader(batch=2, workers=1)

        def epochs(count):
            for _ in range(count):
                for _ in loader:
                    pass
            gc.collect()
            return resident()

        before = epochs(30)
        after = epochs(400)
        self.assertLess(after - before, 2 << 20)

    def test_memory_of_kept_batches_comes_back(self):
        loader = self.loader(ops="resize=256x256", batch=8)

        def keep():
            kept = [images for images, _ in loader]
            self.assertEqual(3, len(kept))
            return kept

        del keep()[:]
        gc.collect()
        before = resident()
        for _ in range(50):
            keep()
        gc.collect()
        # malloc may keep the memory of the last batches; all of them took 236 MB
        self.assertLess(resident() - before, 16 << 20)

    def test_a_loader_in_a_cycle_is_collected(self):
        before = threads()

        class Holder:
            pass

        holder = Holder()
        holder.self, holder.loader = holder, Loader(self.set, **OPTIONS)
        holder.iterator = iter(holder.loader)
        next(holder.iterator)
        self.assertNotEqual(before, threads())
        del holder
        gc.collect()
        self.assertEqual(before, threads())


class Others(Case):
    def test_other_threads_run_while_one_waits(self):
        make_set(self.folder / "slow", files=400)
        counted = [0]
        done = threading.Event()

        def count():
            while not done.is_set():
                counted[0] += 1
                time.sleep(0.001)

        other = threading.Thread(target=count)
        with Loader(self.folder / "slow", ops="resize=600x600", output="f32", batch=50, workers=1, prefetch=1) as loader:
            other.start()
            begin = time.monotonic()
            next(iter(loader))
            waited = time.monotonic() - begin
            done.set()
        other.join()
        self.assertGreater(waited, 0.02)
        # The thread makes a thousand turns a second; on a busy machine at least a hundred.
        self.assertGreater(counted[0], waited * 100)

    def test_a_loader_may_be_closed_while_another_thread_waits(self):
        loader = self.loader(ops="resize=2000x2000", batch=20, workers=1, prefetch=1)
        said = []

        def wait():
            try:
                for _ in range(100):
                    for _ in loader:
                        pass
            except LoaderError as error:
                said.append(str(error))

        waiting = threading.Thread(target=wait)
        waiting.start()
        time.sleep(0.3)
        loader.close()
        waiting.join(20)
        self.assertFalse(waiting.is_alive())
        self.assertRegex(said[0], "closed")

    def test_a_forked_child_gets_an_error_and_the_parent_goes_on(self):
        script = """
import os, sys
from penstock.loader import Loader, LoaderError
loader = Loader(sys.argv[1], ops="random_resized_crop=16", output="u8", batch=4, workers=2)
iterator = iter(loader)
images, labels = next(iterator)
child = os.fork()
if child == 0:
    said = []
    for use in (lambda: next(iterator), lambda: iter(loader), lambda: loader.errors):
        try:
            use()
        except LoaderError as error:
            said.append("belongs to process" in str(error))
    loader.close()
    del images, labels, iterator, loader
    os._exit(0 if said == [True, True, True] else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if hasattr(os, "waitstatus_to_exitcode") else "?")
print(1 + len(list(iterator)))
"""
        done = python(script, self.set)
        self.assertEqual(("0\n6\n", ""), (done.stdout, done.stderr))

    def test_a_forked_child_ends_with_the_exit_functions_of_python(self):
        script = """
import os, sys
from penstock.loader import Loader
loader = Loader(sys.argv[1], ops="random_resized_crop=16", output="u8", batch=4, workers=2)
iterator = iter(loader)
kept = next(iterator)
if os.fork() == 0:
    sys.exit(0)
print(os.wait()[1])
"""
        done = python(script, self.set, timeout=60)
        self.assertEqual(("0\n", "", 0), (done.stdout, done.stderr, done.returncode))


class Ends(Case):
    def test_the_interpreter_ends_in_the_middle_of_everything(self):
        for tail in ("", "del loader", "del iterator", "raise SystemExit(0)", "import gc; gc.disable()"):
            script = """
import sys
from penstock.loader import Loader
loader = Loader(sys.argv[1], ops="random_resized_crop=16", output="u8", batch=4, workers=2)
iterator = iter(loader)
images, labels = next(iterator)
""" + tail
            done = python(script, self.set, timeout=60)
            self.assertEqual((0, "", ""), (done.returncode, done.stdout, done.stderr), tail)

    def test_the_interpreter_ends_while_a_daemon_thread_waits(self):
        script = """
import sys, threading, time
from penstock.loader import Loader
loader = Loader(sys.argv[1], ops="resize=2000x2000", output="u8", batch=20, workers=1, prefetch=1)
def run():
    while True:
        for batch in loader:
            pass
threading.Thread(target=run, daemon=True).start()
time.sleep(0.4)
"""
        done = python(script, self.set, timeout=60)
        self.assertEqual(0, done.returncode, done.stderr)

    def test_ctrl_c_ends_a_wait_soon_and_the_loader_stays_usable(self):
        script = """
import glob, sys
from penstock.loader import Loader
files = [(path, 0) for path in glob.glob(sys.argv[1] + "/**/*.jpg", recursive=True)]
loader = Loader(files * 40, ops="resize=300x300", output="u8", batch=20 * len(files), workers=1, prefetch=1)
iterator = iter(loader)
try:
    print("waiting", flush=True)
    next(iterator)
    print("got it")
except KeyboardInterrupt:
    print("interrupted", flush=True)
images, labels = next(iterator)
print(len(labels) // len(files))
"""
        env = dict(os.environ, PYTHONPATH=str(ROOT / "python"), PENSTOCK_BUILD=BUILD)
        child = subprocess.Popen([sys.executable, *bare(), "-B", "-c", script, str(self.set)], env=env,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)  # fmt: skip
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stderr.close)
        self.assertEqual("waiting\n", child.stdout.readline())
        time.sleep(0.02)  # a batch takes several times as long
        begin = time.monotonic()
        child.send_signal(signal.SIGINT)
        said = child.stdout.readline()
        took = time.monotonic() - begin
        out, error = child.stdout.read(), child.stderr.read()  # communicate() would lose what is read already
        child.wait(timeout=60)
        self.assertEqual(("interrupted\n", "20\n", ""), (said, out, error))
        self.assertLess(took, 2)

    def test_ctrl_c_right_behind_a_batch_loses_nothing(self):
        loader = self.loader()
        expected = delivered(loader)
        native, lib = loader._native, loader._native.lib

        class Interrupted:
            def __getattr__(self, name):
                return getattr(lib, name)

            def penstock_loader_next(self, *arguments):
                status = WAITING
                while status == WAITING:
                    status = lib.penstock_loader_next(*arguments)
                native.lib = lib
                raise KeyboardInterrupt

        loader.set_epoch(0)
        iterator = iter(loader)
        got = [next(iterator)]
        native.lib = Interrupted()
        with self.assertRaises(KeyboardInterrupt):
            next(iterator)
        self.assertEqual(4, loader.state_dict()["position"])
        got += iterator
        self.assertEqual(expected, delivered(got))
        loader.set_epoch(0)
        iterator = iter(loader)
        native.lib = Interrupted()
        with self.assertRaises(KeyboardInterrupt):
            next(iterator)
        loader.set_epoch(0)
        self.assertEqual(expected, delivered(loader))

    def test_an_error_of_the_loop_ends_the_threads(self):
        before = threads()
        loader = self.loader()
        with self.assertRaises(ZeroDivisionError):
            for images, _ in loader:
                1 / 0
        del images
        gc.collect()
        self.assertEqual(before, threads())
        self.assertEqual(23, len(delivered(loader)))


if __name__ == "__main__":
    unittest.main()
