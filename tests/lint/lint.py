#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks of the tree that a compiler does not make.

They are: layers, sizes, licences, forbidden words, tests without an assertion, names that Python code uses but
does not define, and citations and links whose target does not exist.

Each rule is a generator that reads one file and yields (line, message). lint_test.py has, for each rule, files that the
rule must refuse. check_numbers() compares a file with the documents that it cites.
Run: lint.py [--root DIR] [--clang-format PROGRAM].
"""

import argparse
import ast
import builtins
import os
import pathlib
import re
import subprocess
import symtable
import sys

from cxx_text import HEADERS, SOURCES, line_of, without_comments
from layers import rule_layers
from sentences import rule_rendered, rule_sentences

SOURCE_LINES, HEADER_LINES = 800, 250
LICENSED = (*SOURCES, *HEADERS, ".cmake", "CMakeLists.txt")

# Hosts that text of ours may name. Any other text that looks like a host is refused, since it could be a package
# registry, a mirror or a private machine.
HOSTS = ("apache.org", "spdx.org", "github.com", "pytorch.org", "nvidia.com", "kernel.org",
         "man7.org", "perfetto.dev", "json-schema.org", "example.com", "example.org", "ieee.org",
         "acm.org", "arxiv.org", "doi.org", "libjpeg-turbo.org", "wikipedia.org",
         "freedesktop.org", "w3.org", "speedscope.app")  # the last three: names of formats
URL_HOST = re.compile(r"\b[a-z][a-z0-9+.-]*://(?:[^/@\s\"'<>]*@)?\[?([A-Za-z0-9.-]+)", re.I)
BARE_HOST = re.compile(r"(?<![\w.@/-])((?:[a-z0-9-]+\.)+(?:org|com|io))(?![\w(]|\.\w)")
MODULES = {"torchvision.io", "skimage.io", "scipy.io", "stat.io"}  # names of Python, not hosts

# Spelt in parts, since this file is checked too.
MACHINE_PATH = re.compile(r"(?<![\w.$}/-])/(?:" + "|".join(("wo" + "rk", "ro" + "ot")) + r")(?:/|\b)")
UNFINISHED = re.compile(r"\b(?:" + "|".join(("TO" + "DO", "FIX" + "ME", "X" * 3)) + r")\b")

FORMATTED_AT_ONCE = 100  # files
TEST_START = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.M)
CLAIM = re.compile(r"\b(?:EXPECT|ASSERT|ADD_FAILURE|FAIL|GTEST_SKIP)\w*\s*\(|"
                   r"\b(?:Expect|Check|Assert|Verify)\w*\s*\(")
PY_CLAIM = re.compile(r"_?(?:assert|check|expect|verify|fail|raises)", re.I)

# A Markdown file that text names. A name in quotes (a string in code) or at the end of a longer path does not count.
DOCUMENT = re.compile(r"(?<![\w./\-\"'$}*>])((?:[\w.-]+/)*[\w-][\w.-]*\.md)\b(?![\w/\"'])")
LINK = re.compile(r"\]\(([^)\s#]*)(?:#[^)]*)?\)")

# The documents whose numbered rules (R7), faults (F19) and sections (4) are cited, as in "docs/diagnosis.md R7".
NUMBERED = ("docs/diagnosis.md", "docs/design.md")
CITED = re.compile(r"(%s)(?:,? (\d+(?:\.\d+)?)\b)?((?:,? (?:and )?(?:[RF]\d+|\d+\.\d+)\b)*)" % "|".join(map(re.escape, NUMBERED)))
NUMBER = re.compile(r"\b[RF]\d{1,2}(?!\d)")
DEFINED = re.compile(r"^(?:\| ([RF]\d+) \||#+ (\d+(?:\.\d+)?)\.? )", re.M)

# Names that Python code can use without binding them.
GIVEN_NAMES = {*dir(builtins), "__file__", "__path__", "__module__", "__qualname__"}


def rule_size(path, text, _exists):
    limit = HEADER_LINES if path.endswith(HEADERS) else SOURCE_LINES if path.endswith(SOURCES) else None
    count = text.count("\n")
    if limit and count > limit:
        yield limit, f"{count} lines, the limit is {limit}: split it"


def rule_pragma_once(path, text, _exists):
    if path.endswith(HEADERS) and not re.search(r"^#pragma once$", text, re.M):
        yield 1, "no #pragma once"


def rule_licence(path, text, _exists):
    name = path.rsplit("/", 1)[-1]
    scripted = text.startswith("#!")
    if name.endswith(LICENSED) or scripted:
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in text.splitlines()[:5]):
            yield 1, "no SPDX-License-Identifier: Apache-2.0 in the first five lines"


def rule_hosts(path, text, _exists):
    def known(host):
        host = host.lower().rstrip(".")
        return (any(host == h or host.endswith("." + h) for h in HOSTS) or host in MODULES
                or host in ("localhost", "127.0.0.1", "schemas"))
    if path == "LICENSE":
        return
    for number, line in enumerate(text.splitlines(), 1):
        for host in URL_HOST.findall(line):
            if "." in host and not known(host):
                yield number, f"names the host {host}"
        for host in BARE_HOST.findall(URL_HOST.sub(" ", line)):
            if not known(host):
                yield number, f"names the host {host}"


def rule_machine_paths(path, text, _exists):
    for number, line in enumerate(text.splitlines(), 1):
        found = MACHINE_PATH.search(line)
        if found:
            yield number, f"names a path of one machine: {found.group(0)}"


def rule_unfinished(path, text, _exists):
    for number, line in enumerate(text.splitlines(), 1):
        found = UNFINISHED.search(line)
        if found:
            yield number, f"{found.group(0)}: finish it or open an issue"


def python_claim(node):
    """Whether a node is an assert statement, or a call of a function whose name matches PY_CLAIM."""
    if isinstance(node, ast.Call):
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        return bool(PY_CLAIM.match(name))
    return isinstance(node, ast.Assert)


def rule_tests_assert(path, text, _exists):
    name = path.rsplit("/", 1)[-1]
    if not path.startswith("tests/"):
        return
    if name.endswith("_test.cc"):
        code = without_comments(text)
        starts = list(TEST_START.finditer(code))
        if not starts:
            yield 1, "a test file without a test"
        for here, following in zip(starts, [*starts[1:], None]):
            body = code[here.end():following.start() if following else len(code)]
            if not CLAIM.search(body):
                yield line_of(code, here.start()), f"{here.group(1)}.{here.group(2)} asserts nothing"
    elif name.endswith("_test.py") or (name.startswith("test_") and name.endswith(".py")):
        try:
            tests = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)
                     and node.name.startswith("test")]
        except SyntaxError as error:
            yield error.lineno or 1, "not Python"
            return
        if not tests:
            yield 1, "a test file without a test"
        for test in tests:
            if not any(python_claim(node) for node in ast.walk(test)):
                yield test.lineno, f"{test.name} asserts nothing"


def scopes(table):
    yield table
    for inner in table.get_children():
        yield from scopes(inner)


def undefined_names(text):
    """Global names that a Python module uses but neither binds nor imports, except GIVEN_NAMES."""
    bound, used = set(), set()
    module = symtable.symtable(text, "module", "exec")
    for scope in scopes(module):
        for symbol in scope.get_symbols():
            if scope is module or symbol.is_global():
                if symbol.is_assigned() or symbol.is_imported():
                    bound.add(symbol.get_name())
                if symbol.is_referenced():
                    used.add(symbol.get_name())
    return used - bound - GIVEN_NAMES


def rule_python_names(path, text, _exists):
    if not path.endswith(".py") and not re.match(r"#![^\n]*python", text):
        return
    try:
        missing = undefined_names(text)
    except SyntaxError as error:
        yield error.lineno or 1, "not Python"
        return
    names = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)] if missing else []
    for name in sorted(missing):
        yield min((node.lineno for node in names if node.id == name), default=1), f"{name} is defined nowhere"


def rule_whitespace(path, text, _exists):
    if path == "LICENSE" or path.startswith("tests/fuzz/corpus/"):  # inputs, byte by byte
        return
    if text and not text.endswith("\n"):
        yield text.count("\n") + 1, "no newline at the end of the file"
    for number, line in enumerate(text.split("\n"), 1):
        if line.endswith("\r"):
            yield number, "carriage return"
        elif line != line.rstrip():
            yield number, "white space at the end of the line"
        if "\t" in line and path.endswith((*SOURCES, *HEADERS)):
            yield number, "tab"


def rule_citations(path, text, exists):
    """Text names a Markdown file by its path from the root, or from a folder above the naming file. Links are relative
    to the file's own folder."""
    folder = os.path.dirname(path)
    if path.endswith(".md"):
        for found in LINK.finditer(text):
            target = found.group(1)
            if target and ":" not in target and not exists(os.path.normpath(os.path.join(folder, target))):
                yield line_of(text, found.start()), f"a link to {target}, which does not exist"
        text = re.sub(r"\[[^\]]*\]\([^)\s]*\)", lambda found: re.sub(r"[^\n]", " ", found.group(0)), text)
    folders = [folder]
    while folders[-1]:
        folders.append(os.path.dirname(folders[-1]))
    for number, line in enumerate(text.splitlines(), 1):
        for name in DOCUMENT.findall(URL_HOST.sub(" /", line)):
            if not any(exists(os.path.join(parent, name)) for parent in folders):
                yield number, f"cites {name}, which does not exist"


def rule_shell(path, text, _exists):
    if text.startswith(("#!/usr/bin/env bash", "#!/bin/bash", "#!/bin/sh")) or path.endswith(".sh"):
        if not re.search(r"^set -euo pipefail$", text, re.M):
            yield 1, "no 'set -euo pipefail'"


RULES = (rule_layers, rule_size, rule_pragma_once, rule_licence, rule_hosts, rule_machine_paths,
         rule_unfinished, rule_tests_assert, rule_python_names, rule_whitespace, rule_shell,
         rule_citations, rule_sentences, rule_rendered)


def list_files(root):
    """Relative paths of the tree's files: files that git tracks or would add; without git, all files."""
    try:
        # safe.directory: in a container, git often runs as another user than the one who owns the clone.
        out = subprocess.run(["git", "-c", f"safe.directory={root}", "ls-files", "-z", "--cached",
                              "--others", "--exclude-standard"], cwd=root, check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        names = sorted(set(out.decode().split("\0")) - {""})
        names = [name for name in names if (root / name).is_file()]
        if names:
            return names
    except (OSError, subprocess.CalledProcessError):
        pass
    names = []
    for folder, inner, files in os.walk(root):
        inner[:] = [d for d in inner if d not in ("build", "__pycache__", ".git")]
        names += [(pathlib.Path(folder) / name).relative_to(root).as_posix() for name in files]
    return sorted(names)


def read_text(path):
    """The text of a file; None if it is binary."""
    data = path.read_bytes()
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def folders_of(names):
    return {parent.as_posix() for name in names for parent in pathlib.PurePosixPath(name).parents}


def check(root, rules=RULES):
    """Yields (path, line, message) for all files under `root`."""
    names = list_files(root)
    known = {*names, *folders_of(names)}
    for name in names:
        text = read_text(root / name)
        if text is None:
            continue
        for rule in rules:
            for line, message in rule(name, text, known.__contains__):
                yield name, line, message


def undefined_numbers(path, text, defined):
    """Yields (line, message) for each number that `text` cites and `defined` ({document: numbers}) lacks."""
    lines = [re.sub(r"^\s*(?://|#|/?\*)?\s*", "", line) for line in text.splitlines()]
    if path == NUMBERED[0]:
        for number, line in enumerate(lines, 1):
            for one in NUMBER.findall(line):
                if one not in defined[path]:
                    yield number, f"{path} does not define {one}"
    for number, line in enumerate(lines, 1):
        joined = " ".join([line, *lines[number:number + 1]])  # a line may end between name and number
        for found in CITED.finditer(joined):
            if found.start() > len(line) or found.group(1) not in defined:
                continue
            cited = [found.group(2)] if found.group(2) else []
            cited += re.findall(r"[RF]\d+|\d+\.\d+", found.group(3))
            if found.group(1) == NUMBERED[0]:
                cited += NUMBER.findall(" ".join(lines[max(0, number - 2):number + 1]))
            for one in sorted(set(cited) - defined[found.group(1)]):
                yield number, f"{found.group(1)} does not define {one}"


def check_numbers(root):
    """Yields (path, line, message) for cited rules, faults and sections that no document defines."""
    defined = {name: {first or second for first, second in DEFINED.findall(read_text(root / name) or "")}
               for name in NUMBERED if (root / name).is_file()}
    for name in list_files(root) if defined else ():
        for line, message in undefined_numbers(name, read_text(root / name) or "", defined):
            yield name, line, message


def check_format(root, program):
    """Yields each file that clang-format would change."""
    names = [name for name in list_files(root) if name.endswith((".cc", ".c", ".cu", *HEADERS))]
    for at in range(0, len(names), FORMATTED_AT_ONCE):
        some = names[at:at + FORMATTED_AT_ONCE]
        # Starting the program takes longer than reading a file.
        done = subprocess.run([program, "--style=file", "--dry-run", "--Werror", *some], cwd=root,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            yield from check_format_of_each(root, program, some)


def check_format_of_each(root, program, names):
    for name in names:
        text = (root / name).read_bytes()
        done = subprocess.run([program, "--style=file", f"--assume-filename={root / name}"],
                              input=text, stdout=subprocess.PIPE, check=True)
        if done.stdout != text:
            pairs = zip(text.split(b"\n"), done.stdout.split(b"\n"))
            first = next((i for i, (a, b) in enumerate(pairs, 1) if a != b), 1)
            yield name, first, f"not formatted: {os.path.basename(program)} -i {name}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--root", type=pathlib.Path, default=here)
    parser.add_argument("--clang-format", metavar="PROGRAM", help="check only the formatting, with this")
    options = parser.parse_args()
    root = options.root.resolve()
    if options.clang_format:
        found = list(check_format(root, options.clang_format))
    else:
        found = [*check(root), *check_numbers(root)]
    for name, line, message in found:
        print(f"{name}:{line}: {message}")
    files = len(list_files(root))
    if files == 0:
        print(f"lint: no files in {root}", file=sys.stderr)
        return 4
    print(f"lint: {files} files, {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
