# SPDX-License-Identifier: Apache-2.0
"""Which folder may include which other: the layers of the tree, and the rule that enforces them."""
import re

from cxx_text import HEADERS, without_comments

FOLDERS = ("traces", "agent", "cuda", "loader", "analyzer", "gui", "benchmarks", "tests")

# For each folder of the analyzer: the other folders of the analyzer that it may include, besides traces/.
ANALYZER_ROOMS = {
    "words": (),
    "stats": (),
    "model": ("stats",),
    "ranks": ("model", "stats"),
    "simulate": ("model",),
    "measure": ("simulate", "model", "stats"),
    "memory": ("model", "stats"),
    "predict": ("words", "simulate", "memory", "model", "stats"),
    "diagnosis": ("words", "predict", "measure", "memory", "simulate", "ranks", "model", "stats"),
    "whatif": ("words", "diagnosis", "predict", "simulate", "model", "stats"),
    "advice": ("words", "diagnosis", "predict", "memory", "model", "stats"),
    "plan": ("words", "advice", "diagnosis", "predict", "simulate", "model", "stats"),
    "report": ("words", "advice", "plan", "whatif", "diagnosis", "ranks", "model", "stats"),
    "doctor": ("words", "report",),
    "share": ("words", "report"),
    "tune": ("words", "report", "advice", "plan", "diagnosis", "predict", "stats"),
    "main": ("words", "doctor", "report", "share", "tune", "plan", "advice", "whatif", "diagnosis", "ranks"),
}

# The parts of traces/ that other folders may include: its interface, but neither recordings nor packed traces.
TRACES = ("traces/", "traces/base/")

# For each folder of the loader: the folders of the loader that it may include, and the layers below that it may
# include.
LOADER_ROOMS = {
    "random": ((), ()),
    "source": ((), TRACES),
    "io": (("source",), TRACES),
    "decode": ((), TRACES),
    "augment": (("decode", "random"), TRACES),
    "device": (("augment", "decode"), ("cuda/", *TRACES)),
    "trace": ((), TRACES),
    "set": (("augment", "decode", "io", "random", "source"), TRACES),
    "pipeline": (("augment", "decode", "device", "io", "random", "source", "trace"),
                 ("cuda/", *TRACES)),
    "capi": (("augment", "io", "pipeline", "source", "trace"), TRACES),
    "main": (("augment", "device", "io", "pipeline", "set", "source", "trace"),
             ("cuda/", *TRACES)),
}

# The headers of traces/ that traces/packed/ and traces/recording/ may include.
EVENTS = ("traces/base/", *(f"traces/{name}.h" for name in (
    "call_rows", "clock", "density", "event", "order", "output_place", "pack", "preview", "trace", "wire", "wire_records")))

# The headers that the agent shares with the readers of its bytes.
WIRE = tuple(f"traces/{name}.h" for name in ("wire", "wire_records", "native_bridge", "hide_secrets", "library_paths"))

# RECORD: what penstock-record may include from other folders. RECORD_TOP: what its subfolders may include from its top
# folder.
RECORD = (*TRACES, "traces/recording/", "agent/core/rank_env.h", "agent/core/segment.h", "agent/core/staging.h")
RECORD_TOP = ("agent/record/detach.h", "agent/record/options.h", "agent/record/overrides.h")

# The folders of the dashboard. Folders of the model may include some other folders of the model and the model's top
# folder, without a cycle. Folders of the views may include the parts that all views share.
MODEL_ROOMS = {
    "words": (),
    "timeline": ("gui/model/words/", "gui/model/counters.h", "gui/model/lines.h"),
    "panels": ("gui/model/", "gui/model/words/", "gui/model/timeline/"),
    "files": ("gui/model/", "gui/model/words/", "gui/model/timeline/", "gui/model/panels/"),
}
MODEL = ("gui/model/", *(f"gui/model/{room}/" for room in MODEL_ROOMS))
VIEW_PARTS = tuple(
    f"gui/views/{name}.h" for name in ("panel_parts", "panel_states", "state_text", "thumbnails", "workspace")
)
VIEW_ROOMS = {
    "dialogs": (),
    "files": VIEW_PARTS,
    "panels": VIEW_PARTS,
    "timeline": (*VIEW_PARTS, "gui/views/panels/overview_parts.h"),
}
VIEWS = ("gui/views/", *(f"gui/views/{room}/" for room in VIEW_ROOMS))

# Which path may include which others: the longest matching prefix on the left counts. A name that ends in "/" is a
# folder, without those of its subfolders that are on the left too. Every folder may include itself; "*" is everything
# except benchmarks and tests.
LAYERS = {
    "traces/base/": (),
    "traces/packed/": EVENTS,
    "traces/recording/": (*EVENTS, "traces/packed/string_table.h"),
    "traces/": ("traces/base/", "traces/packed/", "traces/recording/"),
    "traces/capi/": TRACES,
    "traces/exchange/": TRACES,
    "traces/main/": (*TRACES, "traces/exchange/"),
    # libpenstock_agent.so shares bytes with the readers, but no code except one pure function.
    "agent/": (*WIRE, "agent/core/", "agent/gpu/", "agent/hooks/", "agent/system/"),
    "agent/core/": (*WIRE, "agent/system/", "agent/gpu/deliveries.h"),
    "agent/gpu/": (*WIRE, "agent/core/", "agent/hooks/hook.h", "agent/system/"),
    "agent/hooks/": (*WIRE, "agent/boot.h", "agent/core/", "agent/gpu/level.h", "agent/system/"),
    "agent/system/": ("traces/wire.h", "agent/core/process.h"),
    # penstock-record, beside the library.
    "agent/record/": (*RECORD, "agent/record/collect/", "agent/record/launch/", "agent/record/sample/"),
    "agent/record/collect/": (*RECORD, "agent/record/options.h", "agent/record/sample/"),
    "agent/record/launch/": (*RECORD, *RECORD_TOP, "agent/record/collect/", "agent/record/sample/"),
    "agent/record/sample/": (*RECORD, "agent/record/detach.h"),
    "cuda/": ("traces/base/",),
    **{f"loader/{room}/": (*(f"loader/{other}/" for other in others), *beneath)
       for room, (others, beneath) in LOADER_ROOMS.items()},
    **{f"analyzer/{room}/": (*(f"analyzer/{other}/" for other in others), *TRACES)
       for room, others in ANALYZER_ROOMS.items()},
    "gui/main/": (*MODEL, *VIEWS, "gui/widgets/", "analyzer/", *TRACES),
    "gui/views/": (*MODEL, *VIEWS, "gui/widgets/", "analyzer/", *TRACES),
    **{f"gui/views/{room}/": (*MODEL, *shared, "gui/widgets/", "analyzer/", *TRACES)
       for room, shared in VIEW_ROOMS.items()},
    "gui/widgets/": ("gui/model/palette.h", "gui/model/timeline/ticks.h", "gui/model/words/texts.h", "traces/base/"),
    # The data that the dashboard shows, without any code that draws.
    "gui/model/": (*MODEL, "analyzer/", *TRACES),
    **{f"gui/model/{room}/": (*others, "analyzer/", *TRACES) for room, others in MODEL_ROOMS.items()},
    # This folder opens files of other tools as traces.
    "gui/model/files/": (*MODEL_ROOMS["files"], "analyzer/", *TRACES, "traces/exchange/import.h",
                         "traces/exchange/sql_query.h"),
    "benchmarks/": ("*", "tests/"),
    "tests/": ("*", "benchmarks/"),
}

# The agent is loaded into programs without libstdc++. These parts of the C++ library are headers only;
# all other parts may need the shared library.
AGENT_CXX_HEADERS = {
    "array", "atomic", "bit", "cerrno", "climits", "concepts", "cstdarg", "cstddef", "cstdint",
    "cstring", "ctime", "initializer_list", "limits", "new", "type_traits", "utility",
}

# Headers that gui/model/ must not include.
WINDOW_HEADERS = ("imgui", "backends/imgui", "GLFW/", "GL/", "EGL/")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layer_of(path):
    """The longest prefix in LAYERS that holds `path`, or None."""
    return max((p for p in LAYERS if path.startswith(p)), key=len, default=None)


def may_include(path, target):
    layer = layer_of(path)
    if layer is None:
        return False
    for allowed in (layer, *LAYERS[layer]):
        if allowed == "*" and not target.startswith(("benchmarks/", "tests/")):
            return True
        # A folder stands for its own files, not for a nested layer: agent/ does not stand for agent/record/.
        if target == allowed or (allowed.endswith("/") and target.startswith(allowed)
                                 and (allowed not in LAYERS or layer_of(target) == allowed)):
            return True
    return False


def rule_layers(path, text, exists):
    if not path.endswith((".cc", ".c", ".cu", *HEADERS)):
        return
    agent_library = path.startswith("agent/") and not path.startswith("agent/record/")
    # Only comments are replaced by blanks: the path of an include is needed, and it looks like a string.
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        quote, target = found.groups()
        if quote == "<":
            if agent_library and not target.endswith(".h") and target not in AGENT_CXX_HEADERS:
                yield number, f"the agent needs libc only: <{target}> is not for it"
            if path.startswith("gui/model/") and target.startswith(WINDOW_HEADERS):
                yield number, f"gui/model/ draws nothing: <{target}> is not for it"
            if target.startswith(tuple(f"{folder}/" for folder in FOLDERS)) and exists(target):
                yield number, f"our own header between <>: \"{target}\""
        elif target.split("/")[0] not in FOLDERS or "/" not in target:
            yield number, f"\"{target}\" is not a path from the repository's root"
        elif not exists(target):
            yield number, f"\"{target}\" does not exist"
        elif not may_include(path, target):
            yield number, f"{layer_of(path) or path} must not include {target}"
        elif path.startswith("loader/") and target.endswith(".cuh"):
            yield number, "the loader may include only the *.h files of cuda/"
