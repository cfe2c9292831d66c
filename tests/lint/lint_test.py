#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Gives every lint rule files that it must refuse and files that it must accept.

A check that cannot fail is a defect, so test_every_rule_has_a_case fails if a rule has no case here.
"""

import os
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import layers  # noqa: E402
import lint  # noqa: E402
from small_tree import SPDX, SmallTree  # noqa: E402

PY_SPDX = "# SPDX-License-Identifier: Apache-2.0\n"
EXISTING = {"traces/wire.h", "traces/trace.h", "traces/base/units.h", "traces/recording/recording.h",
            "traces/packed/section.h", "agent/core/segment.h", "agent/hooks/hook.h", "agent/system/sys.h",
            "agent/record/drain.h", "cuda/decode.h", "cuda/kernels.cuh", "loader/pipeline/ring.h",
            "analyzer/stats/quantile.h", "gui/model/view.h", "gui/widgets/ui.h", "tests/helper.h", "benchmarks/data.h",
            "README.md", "traces/FORMAT.md", "docs/diagnosis.md", "docs"}


def include(path):
    return f'{SPDX}#include "{path}"\n'


def lines(count):
    return SPDX + "int x;\n" * (count - 1)


# Words that must not occur in the tree, so they are put together from parts here.
REGISTRY = "packages.some-registry" + ".org"
MACHINE = "/" + "work" + "/main"
HOME = "/" + "root" + "/.cache"
LATER = "TO" + "DO"
ABSENT = "docs/missing" + ".md"

# {rule: files (path, text) that the rule refuses}
BAD = {
    lint.rule_layers: [
        ("traces/reader.cc", include("analyzer/stats/quantile.h")),
        ("traces/reader.cc", include("agent/system/sys.h")),
        ("traces/base/a.cc", include("traces/trace.h")),
        ("traces/packed/a.cc", include("traces/recording/recording.h")),
        ("analyzer/model/a.cc", include("traces/packed/section.h")),
        ("agent/record/a.cc", include("traces/packed/section.h")),
        ("agent/hooks/hooks_posix.cc", include("traces/trace.h")),
        ("agent/hooks/hooks_posix.cc", include("traces/base/units.h")),
        ("agent/hooks/hooks_posix.cc", include("agent/record/drain.h")),
        ("agent/hooks/hooks_posix.cc", SPDX + "#include <string>\n"),
        ("agent/core/a.cc", include("agent/hooks/hook.h")),
        ("agent/system/sys.h", SPDX + "#pragma once\n#include <vector>\n"),
        ("analyzer/model/a.cc", include("agent/system/sys.h")),
        ("analyzer/model/a.cc", include("loader/pipeline/ring.h")),
        ("analyzer/model/a.cc", include("gui/model/view.h")),
        ("analyzer/model/a.cc", include("tests/helper.h")),
        ("cuda/decode.cu", include("traces/trace.h")),
        ("loader/pipeline/ring.cc", include("analyzer/stats/quantile.h")),
        ("loader/pipeline/ring.cc", include("cuda/kernels.cuh")),
        ("analyzer/model/a.cc", include("analyzer/predict/a.h")),
        ("analyzer/advice/a.cc", include("analyzer/main/a.h")),
        ("loader/decode/a.cc", include("loader/random/philox.h")),
        ("gui/views/a.cc", include("benchmarks/data.h")),
        ("gui/views/a.cc", include("agent/system/sys.h")),
        ("gui/views/a.cc", include("loader/pipeline/ring.h")),
        ("gui/model/a.cc", include("gui/widgets/ui.h")),
        ("gui/model/timeline/a.cc", include("gui/model/view.h")),
        ("gui/model/words/a.cc", SPDX + "#include <imgui.h>\n"),
        ("gui/widgets/a.cc", include("gui/model/view.h")),
        ("gui/model/a.cc", SPDX + "#include <imgui.h>\n"),
        ("traces/reader.cc", include("wire.h")),
        ("traces/reader.cc", include("../traces/wire.h")),
        ("traces/reader.cc", include("traces/missing.h")),
        ("traces/reader.cc", SPDX + "#include <traces/wire.h>\n"),
        ("traces/reader.cc", SPDX + "#  include \"analyzer/stats/quantile.h\"  // indented\n"),
        ("elsewhere/reader.cc", include("traces/wire.h")),
    ],
    lint.rule_size: [
        ("traces/a.cc", lines(801)), ("traces/a.h", lines(251)), ("scripts/a.py", lines(801)),
        ("cuda/a.cuh", lines(251)), ("scripts/a.sh", lines(801)),
    ],
    lint.rule_pragma_once: [
        ("traces/a.h", SPDX + "int x;\n"), ("traces/a.h", SPDX + "// #pragma once\n"),
    ],
    lint.rule_licence: [
        ("traces/a.cc", "int x;\n"), ("scripts/a.py", "x = 1\n"), ("cmake/a.cmake", "set(x)\n"),
        ("traces/CMakeLists.txt", "\n" * 9 + PY_SPDX), (".ci/run", "#!/usr/bin/env bash\ntrue\n"),
        ("traces/a.h", "// SPDX-License-Identifier: MIT\n#pragma once\n"),
    ],
    lint.rule_hosts: [
        ("README.md", f"See https://{REGISTRY}/simple for more.\n"),
        ("README.md", f"pip install --index-url http://user:word@{REGISTRY}/x\n"),
        ("scripts/a.sh", f"ping {REGISTRY}\n"),
        ("README.md", "From image://some-registry" + ".dev/x\n"),
        ("README.md", "http:/" + "/10.1.2.3:8080/x\n"),
    ],
    lint.rule_machine_paths: [
        ("README.md", f"It is in {MACHINE}.\n"), ("scripts/a.sh", f'cd "{MACHINE}"\n'),
        ("scripts/a.py", f"x = '{HOME}'\n"),
    ],
    lint.rule_unfinished: [
        ("traces/a.cc", f"// {LATER}: later\n"), ("scripts/a.py", f"# {LATER}(me) later\n"),
    ],
    lint.rule_tests_assert: [
        ("tests/traces/a_test.cc", "TEST(A, DoesNothing) {\n  Run();\n}\n"),
        ("tests/traces/a_test.cc", "TEST(A, Yes) { EXPECT_TRUE(x); }\nTEST_F(A, No) { Run(); }\n"),
        ("tests/traces/a_test.cc", "TEST(A, Commented) {\n  // EXPECT_EQ(1, 1);\n}\n"),
        ("tests/traces/a_test.cc", "int main() {}\n"),
        ("tests/integration/a_test.py", "def test_nothing():\n    run()\n"),
        ("tests/integration/test_a.py", "class A:\n    def test_a(self):\n        run()\n\n"
                                        "    def test_b(self):\n        self.assertTrue(x)\n"),
        ("tests/integration/a_test.py", "x = 1\n"),
        ("tests/integration/a_test.py", "def test_a():\n    run(\"\"\"\nassert x\n\"\"\")  # assert\n"),
        ("tests/integration/a_test.py", "def test_a(:\n"),
    ],
    lint.rule_python_names: [
        ("agent/python/a.py", "def f():\n    return missing\n"),
        ("scripts/a.py", "x = missing\n"),
        ("scripts/a.py", "class A:\n    def f(self):\n        return [missing(y) for y in self]\n"),
        ("scripts/a.py", "def f():\n    import json\n    return json\n\n\nprint(json)\n"),
        ("scripts/a.py", "import os.path as files\nprint(files, os)\n"),
        ("scripts/a", "#!/usr/bin/env python3\nmissing()\n"),
        ("scripts/a.py", "def f(:\n"),
    ],
    lint.rule_whitespace: [
        ("README.md", "a \n"), ("README.md", "a"), ("README.md", "a\r\n"),
        ("traces/a.cc", "\tint x;\n"),
    ],
    lint.rule_shell: [
        ("scripts/a.sh", "#!/usr/bin/env bash\n" + PY_SPDX + "true\n"),
        (".ci/run", "#!/usr/bin/env bash\n# set -euo pipefail\n"),
    ],
    lint.rule_citations: [
        ("traces/a.cc", f"{SPDX}// See {ABSENT}.\n"),
        ("traces/a.cc", f"{SPDX}// Source: {ABSENT} R7.\n"),
        ("analyzer/a.cc", SPDX + "// The example of FORMAT" + ".md.\n"),  # it is in another folder
        ("scripts/a.py", f'{PY_SPDX}"""As {ABSENT} says."""\n'),
        ("README.md", f"See `{ABSENT}`.\n"),
        ("README.md", f"See [that]({ABSENT}).\n"), ("README.md", "See [that](docs/missing.png).\n"),
        ("docs/a.md", "See [that](docs/diagnosis.md).\n"),  # relative to the root, not to docs/
        ("docs/a.md", "![Picture](pictures/a.png)\n"),
        ("docs/a.md", "See [it](missing" + ".md#part).\n"),
    ],
    lint.rule_sentences: [
        ("analyzer/advice/a.cc", SPDX + 'finding.seen = "the loop waits for data";\n'),
        ("analyzer/report/html_a.cc", SPDX + 'text += "<p>the loop waits for data</p>";\n'),
        ("analyzer/predict/a.h", SPDX + 'note = fmt::format("{:.1f} MB a minute are lost", x);\n'),
        ("analyzer/report/coverage.cc", SPDX + 'Entry{1, "video decoding is "\n         "not seen"},\n'),
        ("analyzer/diagnosis/a.cc", SPDX + 'if (!ok) return Fail(kInput, x); return "this is a sentence";\n'),
    ],
    lint.rule_rendered: [
        ("gui/model/a.cc", SPDX + 'bool b = Render(one, language).find("x") != 0;\n'),
        ("gui/views/a.cc", SPDX + "if (a == English(one)) return;\n"),
        ("analyzer/advice/a.cc", SPDX + "if (analyzer::English(one.seen) == other) return;\n"),
        ("analyzer/report/a.cc", SPDX + "void F() {\n  const std::string why = English(one.why);\n"
                                 "  if (why.starts_with(x)) return;\n}\n"),
        ("gui/model/a.cc", SPDX + "void F() {\n  const std::string why(Render(one, language));\n"
                           "  if (x != why) return;\n}\n"),
        ("gui/model/a.cc", SPDX + 'if (text == "the loop waits") return;\n'),
        ("gui/model/a.cc", SPDX + 'if (text.ends_with(": not seen")) return;\n'),
        ("gui/model/a.cc", SPDX + "for (const analyzer::Message& name : kNames) return name.chinese;\n"),
    ],
}

# Files that every rule accepts.
GOOD = [
    ("traces/reader.cc", include("traces/wire.h") + "#include <string>\n"),
    ("agent/hooks/hooks_posix.cc", include("traces/wire.h") + '#include "agent/system/sys.h"\n#include <errno.h>\n'
                             "#include <cstdint>\n"),
    ("agent/record/main.cc", include("traces/trace.h") + '#include "traces/recording/recording.h"\n'
                             '#include "agent/core/segment.h"\n#include <string>\n'),
    ("analyzer/model/a.cc", include("traces/trace.h") + '// #include "agent/system/sys.h"\n'
                            '/*\n#include "gui/model/view.h"\n*/\n#include "analyzer/stats/quantile.h"\n'),
    ("cuda/decode.cu", include("traces/base/units.h") + '#include "cuda/kernels.cuh"\n'),
    ("loader/pipeline/ring.cc", include("cuda/decode.h") + '#include "traces/trace.h"\n'),
    ("gui/views/a.cc", include("analyzer/stats/quantile.h")),
    ("gui/views/a.cc", include("gui/model/view.h")),
    ("gui/views/a.cc", include("gui/widgets/ui.h")),
    ("gui/widgets/a.cc", SPDX + "#include <imgui.h>\n"),
    ("benchmarks/a_bench.cc", include("loader/pipeline/ring.h")),
    ("tests/gui/a_test.cc", include("gui/model/view.h") + "TEST(A, Holds) {\n  EXPECT_TRUE(true);\n}\n"),
    ("tests/a_test.cc", SPDX + "TEST(A, Holds) {\n  ExpectSame(a, b);\n}\n"),
    ("tests/integration/a_test.py", PY_SPDX + "def test_a():\n    assert helper()\n\n\ndef helper():\n    pass\n"),
    ("tests/integration/b_test.py", PY_SPDX + "def test_a(self):\n    x = self.run(\"\"\"\nif y:\n\"\"\")\n"
                                    "    self.check_clean(x)\n"),
    ("agent/python/a.py", PY_SPDX + "import os.path\n\n\ndef f(x):\n    global y\n    y = [z for z in x if len(z)]\n\n\n"
                          "class A(dict):\n    first = second = 1\n    third = second\n\n\n"
                          "try:\n    print(os, y, A, f, __file__)\nexcept OSError as error:\n    print(error)\n"),
    ("traces/a.cc", lines(800)),
    ("traces/a.h", SPDX + "#pragma once\n" + "int x;\n" * 248),
    ("README.md", "`torchvision.io` reads; see https://github.com/x/y. `data.common`, build/work/x.\n"),
    ("README.md", "docs at https://docs.nvidia.com/cuda/ and www.apache.org\n"),
    ("scripts/a.sh", "#!/usr/bin/env bash\n" + PY_SPDX + "set -euo pipefail\n"),
    ("traces/a.cc", SPDX + "// docs/diagnosis.md R7, and FORMAT" + ".md beside this file; README.md at the root.\n"),
    ("scripts/a.py", PY_SPDX + f'import os\n\nPATH = os.path.join("x", "{ABSENT}")\n'),  # code, no citation
    ("scripts/a.sh", "#!/usr/bin/env bash\n" + PY_SPDX + f'set -euo pipefail\ncat "$1/{ABSENT}" *.md\n'),
    ("traces/a.cc", SPDX + f"// Source: https://github.com/x/y/{ABSENT}\n"),
    ("analyzer/words/a.h", SPDX + '#pragma once\nMessage a{"a", "the loop waits for data", "等待"};\n'),
    ("analyzer/main/a.cc", SPDX + 'Print("the trace was written to a file\\n");\n'),
    ("analyzer/ranks/a.cc", SPDX + '// "the loop waits for data"\n'
                            'return Fail(ErrorKind::kUsage,\n            fmt::format("{}: (as) given twice by you", x));\n'),
    ("analyzer/advice/a.cc", SPDX + 'finding.id = "too-few-workers";\nx = Give<"num_workers">(2);\n'),
    ("gui/model/a.cc", SPDX + "void F() {\n  const std::string why = Render(one, language);\n  if (!why.empty()) "
                       'Show(why);\n}\nvoid G() {\n  if (why == x || one.Is(words::kOne) || y == "cpu ") return;\n  draw(entry.chinese);\n}\n'),
    ("docs/a.md", "[a](diagnosis" + ".md#two), [b](../README" + ".md), [c](#part), [d](https://github.com/x), [e](../docs/)\n"),
]


class RulesTest(unittest.TestCase):
    def test_each_rule_refuses_its_bad_files(self):
        for rule, files in BAD.items():
            for path, text in files:
                with self.subTest(rule=rule.__name__, path=path, text=text[:100]):
                    self.assertTrue(list(rule(path, text, EXISTING.__contains__)))

    def test_every_rule_lets_good_files_pass(self):
        for path, text in GOOD:
            for rule in lint.RULES:
                with self.subTest(rule=rule.__name__, path=path, text=text[:100]):
                    self.assertEqual([], list(rule(path, text, EXISTING.__contains__)))

    def test_every_rule_has_a_case(self):
        self.assertEqual(set(lint.RULES), set(BAD))

    def test_layers_cover_every_folder(self):
        self.assertEqual(set(layers.FOLDERS), {layer.split("/")[0] for layer in layers.LAYERS})

    def test_the_line_is_named(self):
        text = SPDX + "\n" + f"// {LATER}\n"
        self.assertEqual([3], [line for line, _ in lint.rule_unfinished("traces/a.cc", text, None)])
        text = SPDX + "TEST(A, Yes) { EXPECT_TRUE(x); }\nTEST(A, No) {}\n"
        found = list(lint.rule_tests_assert("tests/a_test.cc", text, None))
        self.assertEqual([(3, "A.No asserts nothing")], found)
        text = PY_SPDX + "x = 1\n\n\ndef f():\n    return x, missing\n"
        found = list(lint.rule_python_names("scripts/a.py", text, None))
        self.assertEqual([(6, "missing is defined nowhere")], found)


class TreeTest(SmallTree):
    def run_lint(self, *arguments):
        return subprocess.run([sys.executable, lint.__file__, "--root", str(self.root), *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def test_the_program_fails_on_a_bad_tree_and_names_file_and_line(self):
        self.write("traces/a.h", SPDX + "int x;\n")
        done = self.run_lint()
        self.assertEqual(1, done.returncode)
        self.assertIn("traces/a.h:1: no #pragma once", done.stdout)

    def test_the_program_passes_on_a_good_tree(self):
        self.write("traces/a.h", SPDX + "#pragma once\n")
        self.write("build/release/x.h", "generated\n")
        done = self.run_lint()
        self.assertEqual((0, "lint: 1 files, 0 complaints\n"), (done.returncode, done.stdout))

    def test_an_empty_tree_is_an_error(self):
        self.assertEqual(4, self.run_lint().returncode)

    def test_a_number_that_the_document_does_not_define_is_refused(self):
        self.write("docs/diagnosis.md", "# Rules\n\n## 3. Model\n\n### 3.9 Names\n\n| R7 | threads |\n| F19 | slow |\n")
        self.write("docs/design.md", "# Design\n\n## 4. Words\n")
        where = "// docs/diagnosis.md"
        self.write("traces/good.cc", f"{SPDX}{where} R7, and 3.9; 40 % of it.\n{where} F19.\n// Source: docs/design.md 4.\n"
                                     f"int R8;\n\n\n// As {where[3:]}\n// R7 has it.\n")
        done = self.run_lint()
        self.assertEqual((0, "lint: 3 files, 0 complaints\n"), (done.returncode, done.stdout))
        for cited in ("R8", "R7, R8", "F20", "3.8", "5", "R7 and 3.8", "R7; x (R39)", "\n// R8", "R7,\n// see R9"):
            self.write("traces/bad.cc", f"{SPDX}{where} {cited}.\n")
            with self.subTest(cited=cited):
                done = self.run_lint()
                self.assertEqual(1, done.returncode, done.stdout)
                self.assertIn("traces/bad.cc:2: docs/diagnosis.md does not define", done.stdout)
        self.write("traces/bad.cc", SPDX + "int x;  // docs/design.md 6\n")
        self.assertIn("traces/bad.cc:2: docs/design.md does not define 6", self.run_lint().stdout)
        self.write("traces/bad.cc", SPDX)
        self.write("docs/diagnosis.md", "| R7 | as R8 |\n")
        self.assertIn("docs/diagnosis.md:1: docs/diagnosis.md does not define R8", self.run_lint().stdout)

    def test_ignored_files_are_not_checked(self):
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.write(".gitignore", "out/\n")
        self.write("out/a.h", "int x;\n")
        self.write("traces/b.h", SPDX + "#pragma once\n")
        self.assertEqual([".gitignore", "traces/b.h"], lint.list_files(self.root))

    @unittest.skipUnless(os.environ.get("PENSTOCK_CLANG_FORMAT"), "no clang-format")
    def test_unformatted_code_is_refused(self):
        program = os.environ["PENSTOCK_CLANG_FORMAT"]
        self.write(".clang-format", "BasedOnStyle: Google\n")
        self.write("traces/a.cc", "int f() { return 1; }\n")
        self.assertEqual(0, self.run_lint("--clang-format", program).returncode)
        self.write("traces/a.cc", "int  f( ) {return 1;}\n")
        done = self.run_lint("--clang-format", program)
        self.assertEqual(1, done.returncode)
        self.assertIn("traces/a.cc:1: not formatted", done.stdout)


if __name__ == "__main__":
    unittest.main()
