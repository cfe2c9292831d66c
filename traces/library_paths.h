// SPDX-License-Identifier: Apache-2.0
//
// Which files of Python code belong to the interpreter or to an installed package, by parts of
// their paths. The agent and the analyzer must agree.
#pragma once

namespace penstock::traces {

inline constexpr const char* kLibraryPaths[] = {
    "/site-packages/",     "/dist-packages/", "/lib/python3.", "/lib64/python3.", "<frozen ",
    "<__array_function__",  // NumPy's dispatch before 1.25
};

}  // namespace penstock::traces
