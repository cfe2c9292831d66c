# SPDX-License-Identifier: Apache-2.0
"""Programs that cannot load the agent start without an error message. Such programs use another C library, have 32 bits
or are static. Traced shells, scripts, Python and programs that changed their environment start them."""
import os
import platform
import shutil
import subprocess
import sys
import unittest

import runs
from runs import run, victim

# A 32-bit loader that prints LD_PRELOAD if it is not empty. A real one would print an error for a library of 64 bits.
LOADER = r"""
static long Call(long n, long a, const void* b, long c) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(n), "b"(a), "c"(b), "d"(c) : "memory");
  return result;
}
__attribute__((used)) void Main(char** p) {
  for (p += 1; *p; ++p) {}
  for (++p; *p; ++p) {
    const char* name = "LD_PRELOAD=";
    int i = 0, n = 0;
    while (name[i] && (*p)[i] == name[i]) ++i;
    while ((*p)[n]) ++n;
    if (!name[i] && n > i) Call(4, 2, *p, n), Call(4, 2, "\n", 1);
  }
  Call(1, 7, 0, 0);
}
__asm__(".globl _start\n_start: movl %esp, %eax\n pushl %eax\n call Main\n");
"""


def traced_shell(script):
    """Returns the command for a shell that runs `script`. Under the agent, the shell is traced too."""
    return ["/bin/sh", "-c", script]


class Exec(runs.Alone):
    def compile(self, *arguments):
        done = subprocess.run(["cc", *arguments], cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False)  # fmt: skip
        if done.returncode != 0:
            self.skipTest("no compiler for 32 bits: %s" % done.stderr.strip()[-100:])

    def of_32_bits(self):
        if platform.machine() != "x86_64":
            self.skipTest("not an x86-64 machine")
        with open(os.path.join(self.folder, "loader.c"), "w", encoding="ascii") as file:
            file.write(LOADER)
        loader = os.path.join(self.folder, "loader32")
        program = os.path.join(self.folder, "program32")
        plain = ["-m32", "-O1", "-nostdlib", "-ffreestanding", "-fno-stack-protector", "loader.c"]
        self.compile(*plain, "-fno-pic", "-no-pie", "-static", "-o", loader)
        self.compile(*plain, "-fpie", "-pie", "-Wl,--dynamic-linker=" + loader, "-o", program)
        if run([program], runs.environment())[0] != 7:
            self.skipTest("this kernel runs no programs of 32 bits")
        return program

    def test_32_bits(self):
        program = self.of_32_bits()
        script = os.path.join(self.folder, "script")
        with open(script, "w", encoding="ascii") as file:
            file.write("#! %s with an argument\n" % program)
        os.chmod(script, 0o755)
        again = os.path.join(self.folder, "again")
        with open(again, "w", encoding="ascii") as file:
            file.write("#!%s\n" % script)
        os.chmod(again, 0o755)
        for name in (program, script, again):
            with self.subTest(name):
                # With PENSTOCK_OFF the agent leaves LD_PRELOAD as it is, and this loader would print it. So most of
                # these checks leave out the run with PENSTOCK_OFF.
                self.assertSame(traced_shell(name + "; echo $?"), off=False)
                self.assertSame(victim("places", "exec", self.data, name), status=7, off=False)
                self.assertSame(victim("places", "environ-other", self.data, name), status=7)
                code = "import subprocess, sys\nsys.exit(subprocess.call([%r]))" % name
                self.assertSame([sys.executable, "-c", code], status=7, off=False)

    def test_musl(self):
        program = os.path.join(runs.VICTIMS, "alone_musl")
        if not os.access(program, os.X_OK):
            self.skipTest("musl-gcc is not installed")
        self.assertSame([program, self.data])
        self.assertSame(traced_shell("%s %s; echo $?" % (program, self.data)))
        self.assertSame(victim("places", "exec", self.data, program, self.data))
        # The musl program starts a glibc program, and then another musl program.
        self.assertSame([program, self.data, *victim("read", self.data)])
        self.assertSame([program, self.data, program, self.data])

    def test_libc_starts_programs_by_itself(self):
        programs = [name for name in (os.path.join(runs.VICTIMS, "alone_musl"),) if os.access(name, os.X_OK)]
        for name in ["/bin/true", *programs]:
            line = "%s %s" % (name, self.data)
            code = "import os, sys\nprint(os.system(%r), os.popen(%r).read())" % (line, line)
            with self.subTest(name):
                self.assertSame([sys.executable, "-c", code])

    def test_what_is_not_there(self):
        for name in ("/nowhere", "/etc/passwd", self.folder):
            with self.subTest(name):
                self.assertSame(victim("places", "exec", self.data, name), status=9)


class Environments(runs.Alone):
    def test_a_long_preload_reaches_the_program_whole(self):
        # This LD_PRELOAD is longer than the agent's buffer for it, so the agent does not add itself.
        code = """import os, subprocess, sys
long = ":".join(["libm.so.6"] * 1000)
done = subprocess.run(["/usr/bin/env"], env={"LD_PRELOAD": long}, stdout=subprocess.PIPE, check=True, text=True)
print("LD_PRELOAD=" + long in done.stdout.splitlines())
"""
        self.assertIn(b"True", self.assertSame([sys.executable, "-c", code])[1])

    def test_a_program_that_is_found_by_path_is_traced(self):
        child = os.path.join(self.folder, "child")
        with open(child, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\necho "preload $LD_PRELOAD"\n')
        os.chmod(child, 0o755)
        other = os.path.join(self.folder, "other")
        os.makedirs(os.path.join(other, "child"))  # the search must skip this folder and find the program
        for path in (self.folder, "/nowhere:" + self.folder, ":/usr/bin", "/usr/bin:", "", other + ":" + self.folder):
            code = """import os
os.environ["PATH"] = %r
os.waitpid(os.posix_spawnp("child", ["child"], {}), 0)
""" % path  # fmt: skip
            with self.subTest(path):
                status, out, err = run([sys.executable, "-c", code], self.traced(), self.folder)
                self.assertEqual((status, out.decode(), err), (0, "preload %s\n" % runs.AGENT, b""))

    def test_only_a_value_that_switches_the_agent_off_keeps_it_away(self):
        shell = ["/bin/sh", "-c", 'echo "preload $LD_PRELOAD"']
        for off, preload in (("1", ""), ("yes", ""), ("0", runs.AGENT), ("", runs.AGENT)):
            code = "import os\nos.execve(%r, %r, {'PENSTOCK_OFF': %r})" % (shell[0], shell, off)
            with self.subTest(off):
                status, out, err = run([sys.executable, "-c", code], self.traced(), self.folder)
                self.assertEqual((status, out.decode(), err), (0, "preload %s\n" % preload, b""))


class StaticPrograms(runs.Alone):
    def test_a_static_program(self):
        ldconfig = shutil.which("ldconfig", path="/sbin:/usr/sbin") or self.skipTest("no ldconfig")
        self.assertSame(traced_shell("%s -V > /dev/null; echo $?" % ldconfig))


if __name__ == "__main__":
    if not runs.AGENT:
        sys.exit("PENSTOCK_AGENT_LIB is not set: run this through ctest")
    unittest.main(verbosity=2)
