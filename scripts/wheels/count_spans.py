#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Counts spans of a trace exported as JSON lines and compares the counts with what must be there.

  count_spans.py TRACE.jsonl TITLE STAGE[:NAME]=COUNT|STAGE[:NAME]>=COUNT...

Without a name, spans inside another span of the same stage and thread are not counted, such as a libjpeg call
inside Pillow's load or a transform inside Compose. With a name, all spans of the stage whose names end in NAME
are counted. Prints one line of a table. Exit status 1 if a count is wrong.
"""

import collections
import json
import re
import sys


def outermost(spans):
    """Returns the names of the spans that lie in no other span. spans: (start, end, name) of one thread."""
    names, reach = [], float("-inf")
    for start, end, name in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= reach:
            names.append(name)
            reach = end
    return names


def read_spans(lines):
    """Returns two mappings from stage to names: of the outermost spans, and of all spans."""
    by_thread = collections.defaultdict(list)
    for line in lines:
        record = json.loads(line)
        if record.get("type") != "span":
            continue
        start = record["start_ns"]
        by_thread[record["stage"], record["pid"], record["tid"]].append(
            (start, start + record["duration_ns"], record.get("name", "")))
    outer, everything = collections.defaultdict(list), collections.defaultdict(list)
    for (stage, _, _), spans in by_thread.items():
        outer[stage] += outermost(spans)
        everything[stage] += [name for _, _, name in spans]
    return outer, everything


def main(arguments):
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    path, title, *wanted = arguments
    with open(path, encoding="utf-8") as file:
        outer, everything = read_spans(file)
    cells, wrong = [], []
    for want in wanted:
        stage, suffix, comparison, count = re.fullmatch(r"(\w+)(?::(\w+))?(>?=)(\d+)", want).groups()
        names = outer.get(stage, [])
        if suffix:
            names = [name for name in everything.get(stage, []) if name.endswith(suffix)]
        good = len(names) >= int(count) if comparison == ">=" else len(names) == int(count)
        common = ", ".join(f"{name or '-'} {n}" for name, n in collections.Counter(names).most_common(3))
        cells.append(f"{stage} {len(names)} ({common})")
        if not good:
            wrong.append(f"{stage}: {len(names)}, want {comparison} {count}")
    print(f"{title:<28} {'; '.join(cells)}" + (f"   WRONG: {', '.join(wrong)}" if wrong else ""))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
