# SPDX-License-Identifier: Apache-2.0
"""Every Python of this machine prints and does the same alone and under the agent.

Debian's Python must be there. Others are found where pyenv, uv and administrators put them, and in
PENSTOCK_PYTHONS (paths with ':' between them). The agent has hooks for Python 3.7 and later; older Pythons must run
as if there were no agent.
"""
import glob
import os
import subprocess
import sys
import unittest

import runs

DEBIAN = "/usr/bin/python3"


def pythons():
    """Returns {real path: version} of every Python found."""
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    places = [
        DEBIAN, "/usr/bin/python2", "/usr/bin/python3.[0-9]*", "/usr/local/bin/python[23]*", "/opt/python/*/bin/python",
        os.path.join(pyenv, "versions/*/bin/python"), os.path.expanduser("~/.local/share/uv/python/*/bin/python"),
        *os.environ.get("PENSTOCK_PYTHONS", "").split(":"),
    ]  # fmt: skip
    found = {}
    for place in places:
        for path in sorted(glob.glob(place)):
            if os.path.realpath(path) in found or path.endswith("-config"):
                continue
            said = subprocess.run([path, "-c", "import sys; print(sys.version.split()[0])"], check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=runs.environment())  # fmt: skip
            if said.returncode == 0:
                found[os.path.realpath(path)] = said.stdout.decode().strip()
    return found


FOUND = pythons()
NAMES = "import json\n_s = 1\n_p = 2\nimport csv\nprint(_s, _p, sorted(globals()))"
SEES = ("import sys\nprint([p for p in sys.path], 'sitecustomize' in sys.modules, __name__)\n"
        "print([name for name in list(globals()) if not name.startswith('__')])")
FAILS = "import csv\nraise ValueError('at line two')"


class Pythons(runs.Alone):
    def setUp(self):
        super().setUp()
        self.user = os.path.join(self.folder, "user")
        os.mkdir(self.user)
        with open(os.path.join(self.user, "sitecustomize.py"), "w", encoding="ascii") as file:
            file.write("import sys\nprint(__name__, __file__ in sys.path, len(sys.path))\nsys.path.append('/added')\n")
        with open(os.path.join(self.user, "module.py"), "w", encoding="ascii") as file:
            file.write("print('imported')\n")

    def check_everywhere(self, *arguments, extra=None, status=0, only=lambda version: True):
        for path, version in FOUND.items():
            if only(version):
                with self.subTest(version, python=path, arguments=arguments):
                    self.assertSame([path, *arguments], extra, status=status)

    def test_debians_is_there(self):
        self.assertIn(os.path.realpath(DEBIAN), FOUND)

    def test_prints(self):
        self.check_everywhere("-c", "print(1)")

    def test_finds_its_own_names_and_paths(self):
        self.check_everywhere("-c", SEES)

    def test_reads_a_file(self):
        self.check_everywhere("-c", "print(len(open(%r, 'rb').read()))" % self.data)

    def test_isolated(self):
        three = {"only": lambda version: version[0] == "3"}
        self.check_everywhere("-I", "-S", "-c", NAMES, **three)
        self.check_everywhere("-I", "-c", SEES, **three)
        self.check_everywhere("-I", "-c", FAILS, status=1, **three)

    def test_without_the_environment(self):
        self.check_everywhere("-E", "-c", NAMES)
        self.check_everywhere("-E", "-s", "-c", SEES)

    def test_a_traceback_is_the_same(self):
        self.check_everywhere("-c", FAILS, status=1)

    def test_the_users_sitecustomize_and_path(self):
        path = {"PYTHONPATH": self.user}
        self.check_everywhere("-c", "import module\n" + SEES, extra=path)
        # With -S, site.py does not run. Then the agent's folder stays on sys.path until the program opens a file.
        self.check_everywhere("-S", "-c", "import module\n" + NAMES, extra=path)
        self.check_everywhere("-E", "-c", SEES, extra=path)

    def test_a_sitecustomize_that_fails(self):
        for number, text in enumerate(("raise ValueError('mine')", "import no_such_module")):
            own = os.path.join(self.folder, "own%d" % number)
            os.mkdir(own)
            with open(os.path.join(own, "sitecustomize.py"), "w", encoding="ascii") as file:
                file.write(text + "\n")
            self.check_everywhere("-c", SEES, extra={"PYTHONPATH": own})

    def test_children(self):
        code = ("import subprocess, sys\n"
                "sys.stdout.write(subprocess.check_output([sys.executable, '-c', 'import sys; print(sys.path)']).decode())\n"
                "sys.exit(subprocess.call([sys.executable, '-c', 'raise SystemExit(3)'], env={}))")
        self.check_everywhere("-c", code, status=3)

    def test_spawned_workers(self):
        script = os.path.join(self.folder, "spawn.py")
        with open(script, "w", encoding="ascii") as file:
            file.write("import multiprocessing, sys\ndef work(q): q.put(list(sys.path))\nif __name__ == '__main__':\n"
                       "    m = multiprocessing.get_context('spawn')\n    q = m.Queue()\n    p = m.Process(target=work, args=(q,))\n"
                       "    p.start(); print(q.get()); p.join(); print(p.exitcode)\n")
        self.check_everywhere(script, only=lambda version: version[0] == "3")

    def test_venv(self):
        for path, version in FOUND.items():
            place = os.path.join(self.folder, "venv" + version)
            made = subprocess.run([path, "-m", "venv", "--without-pip", place], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, env=runs.environment(), check=False)  # fmt: skip
            if made.returncode != 0:  # Python 2, or Debian without python3-venv
                continue
            for arguments in (["-c", SEES], ["-I", "-c", NAMES]):
                with self.subTest(version, arguments=arguments):
                    self.assertSame([os.path.join(place, "bin", "python"), *arguments])


if __name__ == "__main__":
    if not runs.AGENT:
        sys.exit("PENSTOCK_AGENT_LIB is not set: run this through ctest")
    print("\n".join("%-8s %s" % (version, path) for path, version in FOUND.items()), flush=True)
    unittest.main(verbosity=2)
