# SPDX-License-Identifier: Apache-2.0
"""Tests how the hooks start in a Python program: sitecustomize.py, bridge.py and the import hook."""
import os
import subprocess
import sys
import tempfile
import unittest

import harness

sys.path.insert(0, harness.AGENT)
import penstock_hooks  # noqa: E402


class Directory:
    """A temporary directory with files."""

    def __init__(self, **files):
        self._directory = tempfile.TemporaryDirectory(prefix="penstock-")
        self.path = self._directory.name
        for name, text in files.items():
            path = os.path.join(self.path, name.replace("__", "/") + ".py")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)

    def __enter__(self):
        return self.path

    def __exit__(self, *error):
        self._directory.cleanup()


class ChainTest(unittest.TestCase):
    def test_the_users_sitecustomize_runs_and_keeps_its_name(self):
        text = (
            "import sys\nVALUE = 41\nsys.path.append('/added')\n"
            "print('user', __name__, [p for p in sys.path if 'hooks' in p])\n"
        )
        with Directory(sitecustomize=text) as user:
            result = harness.run(
                "import sitecustomize, sys, os\n"
                "print(sitecustomize.VALUE, '/added' in sys.path, sitecustomize.__file__)\n"
                "print('penstock_hooks' in sys.modules, 'hooks' in os.environ['PYTHONPATH'])\n",
                path=[user],
            )
        self.assertEqual(result.err, "")
        self.assertEqual(
            result.out,
            "user sitecustomize []\n41 True %s/sitecustomize.py\nTrue True\n" % user,
        )

    def test_an_error_in_it_is_reported_as_without_us_and_hooks_are_there(self):
        with Directory(sitecustomize="raise ValueError('mine')\n") as user:
            code = "import sys\nprint('sitecustomize' in sys.modules, sys.meta_path[0].__class__.__module__)\n"
            ours, plain = harness.run(code, path=[user]), harness.run(code, path=[user], hooks=False)
        self.assertIn("mine", plain.err)
        self.assertEqual(ours.err, plain.err)
        self.assertEqual(ours.out, "False penstock_hooks.imports\n")
        self.assertEqual(ours.status, 0)

    def test_a_system_exit_in_it_ends_python(self):
        with Directory(sitecustomize="raise SystemExit(7)\n") as user:
            self.assertEqual(
                harness.run("", path=[user]).status, harness.run("", path=[user], hooks=False).status
            )

    def test_another_tools_chain_goes_on(self):
        other = (
            "import os, sys\nours = os.path.dirname(__file__)\nsys.path.remove(ours)\n"
            "del sys.modules['sitecustomize']\nimport sitecustomize\nsys.path.insert(0, ours)\nprint('tool')\n"
        )
        with Directory(sitecustomize=other) as tool, Directory(sitecustomize="print('user')\n") as user:
            result = harness.run("print('program')", path=[tool, user])
        self.assertEqual(result.out, "user\ntool\nprogram\n", result.err)

    def run_with_and_without_us(self, tool, code):
        """Runs a program with a tool whose folder comes before ours on PYTHONPATH, and with the tool alone. Returns
        what the program prints each time."""
        with tempfile.TemporaryDirectory(prefix="penstock-") as directory, Directory(sitecustomize=tool) as place:
            hooks = harness.install(directory)
            ours = harness.run(code, env={"PYTHONPATH": os.pathsep.join((place, hooks))})
            alone = harness.run(code, path=[place], hooks=False)
        return (ours.status, ours.out, ours.err), (alone.status, alone.out, alone.err)

    def test_another_tool_sees_the_error_of_a_module_that_is_not_there(self):
        tool = (
            "import os, sys\nhere = os.path.dirname(__file__)\nsys.path.remove(here)\n"
            "own = sys.modules.pop('sitecustomize')\n"
            "try:\n    import sitecustomize\nexcept ModuleNotFoundError as error:\n    print(error.name, error)\n"
            "sys.modules['sitecustomize'] = own\nsys.path.insert(0, here)\nprint('tool')\n"
        )
        ours, alone = self.run_with_and_without_us(tool, "import sitecustomize\nprint(sitecustomize.__file__)\n")
        self.assertEqual(ours, alone)
        self.assertIn("tool\n", ours[1])

    def test_another_tool_that_executes_the_next_one_itself_runs_once_and_to_its_end(self):
        tool = (
            "import os, sys\nfrom importlib.machinery import PathFinder\nfrom importlib.util import module_from_spec\n"
            "here = os.path.dirname(os.path.abspath(__file__))\n"
            "others = [entry for entry in sys.path if os.path.abspath(entry) != here]\n"
            "spec = PathFinder.find_spec('sitecustomize', others)\n"
            "if spec is not None:\n    spec.loader.exec_module(module_from_spec(spec))\n"
            "print('tool')\n"
        )
        ours, alone = self.run_with_and_without_us(tool, "import sitecustomize\nprint(sitecustomize.__file__)\n")
        self.assertEqual(ours, alone)
        self.assertEqual(ours[1].count("tool\n"), 1)

    def test_off_means_off(self):
        code = "import sys\nprint('penstock_hooks' in sys.modules)\n"
        self.assertEqual(harness.run(code, env={"PENSTOCK_OFF": "1"}).out, "False\n")
        self.assertEqual(harness.run(code).out, "True\n")

    def test_without_an_agent_nothing_is_patched(self):
        with tempfile.TemporaryDirectory(prefix="penstock-") as directory:
            environment = dict(os.environ, PYTHONPATH=harness.AGENT, PENSTOCK_AGENT=directory + "/none.so")
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
            code = (
                "import penstock_hooks, sys, types\nnumpy = types.ModuleType('numpy')\nnumpy.load = len\n"
                "penstock_hooks.imports.fire(('facts', 'numpy_hooks'), numpy)\nprint(numpy.load is len)\n"
            )
            result = subprocess.run(
                [harness.PYTHON, "-c", code], env=environment, capture_output=True, text=True
            )
        self.assertEqual((result.stdout, result.stderr), ("True\n", ""))

    def test_byte_code_is_kept_for_our_files_alone(self):
        # Python without byte code is usual in containers. Each process would compile the hooks anew.
        with tempfile.TemporaryDirectory(prefix="penstock-") as directory:
            hooks = harness.install(directory)
            program = os.path.join(directory, "program")
            os.mkdir(program)
            for name, text in {"numpy": "load = len\n", "mine": "import numpy, sys\nprint(sys.dont_write_bytecode)\n"}.items():
                with open(os.path.join(program, name + ".py"), "w") as file:
                    file.write(text)

            def cached(**variables):
                environment = {k: v for k, v in os.environ.items() if not k.startswith(("PENSTOCK", "PYTHON"))}
                environment.update(variables, PENSTOCK_AGENT="/none", PYTHONPATH=hooks, PYTHONDONTWRITEBYTECODE="1")
                result = subprocess.run(
                    [harness.PYTHON, "-c", "import sys\nsys.path.insert(0, %r)\nimport mine\n" % program],
                    env=environment, capture_output=True, text=True,
                )  # fmt: skip
                self.assertEqual((result.stdout, result.stderr), ("True\n", ""))
                return {
                    os.path.relpath(os.path.join(folder, name), directory).replace("__pycache__/", "").partition(".")[0]
                    for folder, _, names in os.walk(directory) for name in names if name.endswith(".pyc")
                }  # fmt: skip

            if sys.version_info >= (3, 8):
                self.assertEqual(cached(PYTHONPYCACHEPREFIX=os.path.join(directory, "chosen")), set())
            found = cached()
            for name in ("sitecustomize", "penstock_hooks/__init__", "penstock_hooks/imports", "penstock_hooks/numpy_hooks"):
                self.assertIn("hooks/" + name, found)
            self.assertEqual([name for name in found if not name.startswith("hooks/")], [])

    def test_starting_costs_less_than_half_an_import_of_argparse(self):
        code = "import sys\nprint('ctypes' in sys.modules, 'functools' in sys.modules)\n"
        self.assertEqual(harness.run(code).out.split()[0], "False")
        with tempfile.TemporaryDirectory(prefix="penstock-") as directory:
            program = (
                "import time, sys\nsys.path.insert(0, %r)\nstart = time.perf_counter()\n"
                "import penstock_hooks\npenstock_hooks.install()\ntook = time.perf_counter() - start\n"
                "start = time.perf_counter()\nimport argparse\n"
                "print(took / (time.perf_counter() - start))\n" % harness.install(directory)
            )
            environment = dict(os.environ, PENSTOCK_AGENT="/none", PYTHONPATH="")
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            ratios = []
            for _ in range(6):  # the first run also writes the byte code
                result = subprocess.run(
                    [harness.PYTHON, "-c", program], env=environment, capture_output=True, text=True
                )
                ratios.append(float(result.stdout))
        self.assertLess(min(ratios), 0.5)


class ToolTest(unittest.TestCase):
    def test_stands_down_in_packaging_and_build_tools(self):
        for line in (
            "python -m pip install x", "python3.11 -I -m pip", "python -Im ensurepip", "python -mvenv d",
            "/v/bin/python /v/bin/pip3 install", "python /v/bin/pip3.11 list", "python /opt/bin/conda run x",
            "python -W ignore /usr/bin/ninja", "python setup.py build", "python -X dev -m compileall .",
            "python /usr/lib/python3/site-packages/torch/_inductor/compile_worker/__main__.py",
            "python /site-packages/pip/_vendor/pyproject_hooks/_in_process/_in_process.py",
            "python /usr/lib/python3/dist-packages/pip/__pip-runner__.py install x",
        ):  # fmt: skip
            self.assertTrue(penstock_hooks.is_tool(line.split()), line)

    def test_runs_in_programs(self):
        for line in (
            "python", "python train.py pip", "python -m torch.distributed.run pip.py", "python -c pip",
            "python -u -W ignore train.py", "python /v/bin/torchrun train.py", "python -", "python -m train",
            "python -B -c from_multiprocessing", "python pipeline.py",
        ):  # fmt: skip
            self.assertFalse(penstock_hooks.is_tool(line.split()), line)


class FactsTest(unittest.TestCase):
    def test_versions_are_told_once_whatever_the_options_of_the_program(self):
        code = """
import multiprocessing, tiktoken
if __name__ == "__main__":
    for method in ("spawn", "forkserver", "fork"):
        process = multiprocessing.get_context(method).Process(target=print, args=(method,))
        process.start()
        process.join()
"""
        with Directory(tiktoken="__version__ = '1.2'\n") as user:
            result = harness.run(code, path=[user], args=["--multiprocessing-distributed"])
        self.assertEqual((result.out, result.err), ("spawn\nforkserver\nfork\n", ""))
        self.assertEqual([fact["value"] for fact in result.of("fact", key="version.tiktoken")], ["1.2"])


class ImportHookTest(unittest.TestCase):
    """Tests the import hook with modules of our own. Their patch module prints the names in the patched module."""

    PROLOGUE = """
import sys, types
from penstock_hooks import imports
class Patch(types.ModuleType):
    def patch(self, module):
        print("patch", module.__name__, sorted(name for name in vars(module) if name[0] != "_"))
        if hasattr(module, "fail"):
            raise RuntimeError("in our hook")
for finder in list(sys.meta_path):
    if type(finder).__module__ == "penstock_hooks.imports":
        sys.meta_path.remove(finder)
sys.modules["penstock_hooks.probe"] = Patch("penstock_hooks.probe")
"""

    def run_program(self, code, **files):
        with Directory(**files) as user:
            result = harness.run(self.PROLOGUE + code, path=[user])
        self.assertEqual((result.status, result.err), (0, ""))
        return result.out.splitlines()

    def test_fires_after_execution_and_leaves_the_loader(self):
        out = self.run_program(
            """
import importlib.machinery
imports.watch({"watched": ("probe",), "pack.inner": ("probe",)})
import watched, pack.inner
print(type(watched.__loader__) is importlib.machinery.SourceFileLoader, watched.__spec__.loader is watched.__loader__)
print(vars(watched.__loader__).keys() & {"exec_module"})
import importlib
importlib.reload(watched)
""",
            watched="value = 1\nprint('inside', __spec__.loader is __loader__)\n",
            pack____init__="",
            pack__inner="deep = 2\n",
        )
        self.assertEqual(
            out,
            ["inside True", "patch watched ['value']", "patch pack.inner ['deep']", "True True", "set()",
             "inside True", "patch watched ['value']"],
        )  # fmt: skip

    def test_our_failure_does_not_break_the_import_and_theirs_stays(self):
        out = self.run_program(
            """
imports.watch({"watched": ("probe", "missing"), "broken": ("probe",), "absent": ("probe",)})
import watched
print(watched.fail)
for name in ("broken", "absent"):
    try:
        __import__(name)
    except Exception as error:
        print(type(error).__name__, error)
print("broken" in sys.modules)
""",
            watched="fail = 1\n",
            broken="1 / 0\n",
        )
        self.assertEqual(
            out,
            ["patch watched ['fail']", "1", "ZeroDivisionError division by zero",
             "ModuleNotFoundError No module named 'absent'", "False"],
        )  # fmt: skip

    def test_patches_what_is_imported_already_and_only_once(self):
        out = self.run_program(
            """
import watched
imports.watch({"watched": ("probe",)})
imports.watch({"watched": ("probe",)})
import watched
""",
            watched="value = 1\n",
        )
        self.assertEqual(out, ["patch watched ['value']"])

    def test_finding_without_importing_and_zip_files(self):
        out = self.run_program(
            """
import importlib.util, zipfile, os
with zipfile.ZipFile("pack.zip", "w") as file:
    file.writestr("zipped.py", "value = 3")
sys.path.append(os.path.abspath("pack.zip"))
imports.watch({"watched": ("probe",), "zipped": ("probe",)})
print(importlib.util.find_spec("watched").origin.endswith("watched.py"))
import zipped
print(type(zipped.__loader__).__name__, type(zipped.__spec__.loader).__name__)
""",
            watched="value = 1\n",
        )
        if sys.version_info < (3, 10):  # there load_module() imports from zip files, which is not watched
            out.insert(1, "patch zipped ['value']")
        self.assertEqual(out, ["True", "patch zipped ['value']", "zipimporter zipimporter"])

    @unittest.skipUnless(sys.version_info < (3, 12), "later Pythons do not ask such finders")
    def test_a_finder_with_find_module_alone_keeps_its_turn(self):
        out = self.run_program(
            """
from importlib.machinery import SourceFileLoader
with open("other.py", "w") as file:
    file.write("value = 2")
class Old:
    def find_module(self, name, path=None):
        if name == "watched":
            print("asked")
            return SourceFileLoader(name, "other.py")
sys.meta_path.insert(0, Old())
imports.watch({"watched": ("probe",), "second": ("probe",)})
import watched, second
print(watched.value)
""",
            watched="value = 1\n",
            second="",
        )
        self.assertEqual(out, ["asked", "patch watched ['value']", "patch second []", "2"])

    def test_two_threads_import_at_once(self):
        out = self.run_program(
            """
import threading
imports.watch({"watched": ("probe",), "second": ("probe",)})
threads = [threading.Thread(target=__import__, args=(name,)) for name in ("watched", "second", "watched")]
[thread.start() for thread in threads]
[thread.join(20) for thread in threads]
print(any(thread.is_alive() for thread in threads))
""",
            watched="import time; time.sleep(0.1); import second\n",
            second="import time; time.sleep(0.1)\nimport watched\n",
        )
        self.assertEqual(out[-1], "False")
        self.assertEqual(len(out), 3)


if __name__ == "__main__":
    unittest.main()
