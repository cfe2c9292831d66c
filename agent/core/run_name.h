// SPDX-License-Identifier: Apache-2.0
//
// What the run is called and where a recording without a collector goes. Used by the constructor
// only, before there is a second thread.
#pragma once

namespace penstock::agent {

struct Environment {
  const char* (*get)(const char* name);              // nullptr: not set
  void (*set)(const char* name, const char* value);  // for the children
};

// Reads rank and size of the run into g_config.
void ReadRank(const Environment& environment);

// Sets g_config.out, an absolute path, "" if there can be none, and g_config.run; and both for the
// children. The first process of a run expands what PENSTOCK_OUT says of rank and host and removes
// what an earlier run left there. A launcher that has no rank itself leaves a name that asks for
// one to its children. Requires: ReadRank().
void NameRun(const Environment& environment);

}  // namespace penstock::agent
