# SPDX-License-Identifier: Apache-2.0
"""What the rules know of C++ text: which files hold it, its comments, lines and calls."""
import re

SOURCES, HEADERS = (".cc", ".c", ".cu", ".py", ".sh"), (".h", ".cuh")


def without_comments(text):
    """C++ text with comments and the contents of strings blanked; lines stay where they are."""
    def blank(match):
        kept = match.group(0)
        return kept if kept[0] in "\"'" else re.sub(r"[^\n]", " ", kept)
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def end_of_call(text, begin):
    """The place at which the parenthesis at text[begin] closes; the end of the text if it stays open."""
    depth = 0
    for found in re.finditer(r'"(?:\\.|[^"\\\n])*"|[()]', text[begin:]):
        depth += {"(": 1, ")": -1}.get(found.group(0), 0)
        if depth == 0:
            return begin + found.end()
    return len(text)
