// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "traces/base/program.h"
#include "traces/base/say.h"
#include "traces/pack.h"

int main(int argc, char** argv) {
  penstock::SayWhenMemoryEnds("penstock-pack");
  penstock::traces::CommandLine line("Packs a recording, or packs a packed trace once more.",
                                     "penstock-pack");
  std::string from;
  std::string to;
  line.Add("FROM", from, "a recording or a packed trace, also one left by a crash").Required();
  line.Add("-o,--output", to, "the packed trace to write").Required();
  int status = 0;
  if (!penstock::traces::ParseCommandLine(line, argc, argv, &status)) {
    return status;
  }
  const penstock::Result<void> packed = penstock::traces::PackTrace(from, to);
  return packed ? 0 : penstock::traces::Complain(line, packed.error());
}
