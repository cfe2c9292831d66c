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
// PENSTOCK_OUT. If that asks for a rank and this process has none (it is a launcher), children get
// the name with rank and host still to be filled in, and no run. Requires: ReadRank().
void NameRun(const Environment& environment);

// Makes the name that a run uses in place of `out`: STEM.YYYYMMDD-HHMMSS-PID.EXT, in UTC, from
// `run`, "PID-SECONDS.NANOSECONDS@BOOT". If somebody else has named the run and `run` looks
// different, the name has its hash there. False if it does not fit.
bool NameBeside(const char* out, const char* run, char* name, size_t capacity);

}  // namespace penstock::agent
