// SPDX-License-Identifier: Apache-2.0
//
// Decides the id of the run and where a recording without a collector goes. ReadRank() and
// NameRun() are for the constructor, before there is a second thread; NameBeside() is pure.
#pragma once

#include <stddef.h>

namespace penstock::agent {

struct Environment {
  const char* (*get)(const char* name);              // nullptr: not set
  void (*set)(const char* name, const char* value);  // for the children
};

// Reads the rank of this process and the number of ranks into g_config.
void ReadRank(const Environment& environment);

// Sets g_config.run and g_config.out (an absolute path, "" if there can be none or there is a
// collector), and passes both on to children. The first process of a run fills rank and host into
// PENSTOCK_OUT. If PENSTOCK_OUT contains a rank and this process has none (it is a launcher),
// children get PENSTOCK_OUT with rank and host still to be filled in, and no PENSTOCK_RUN.
// Requires: ReadRank().
void NameRun(const Environment& environment);

// Makes the name that a run uses in place of `out`: STEM.YYYYMMDD-HHMMSS-PID.EXT. Time (UTC) and
// pid come from `run`, which is "PID-SECONDS.NANOSECONDS@BOOT". If somebody else has named the run
// and `run` has another form, the hash of `run` replaces time and pid. False if the name does not
// fit.
bool NameBeside(const char* out, const char* run, char* name, size_t capacity);

}  // namespace penstock::agent
