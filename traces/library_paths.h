// SPDX-License-Identifier: Apache-2.0
//
// The paths of Python files that belong to the interpreter or to an installed package contain one
// of these parts. The agent, the analyzer and the anonymous copies of traces share this list, so
// all of them tell the program's own functions from those of libraries in the same way.
#pragma once

namespace penstock::traces {

inline constexpr const char* kLibraryPaths[] = {
    "/site-packages/",     "/dist-packages/", "/lib/python3.", "/lib64/python3.", "<frozen ",
    "<__array_function__",  // NumPy's dispatch before 1.25
};

}  // namespace penstock::traces
