// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "traces/base/program.h"
#include "traces/base/say.h"
#include "traces/pack.h"

int main(int argc, char** argv) {
  penstock::SayWhenMemoryEnds("penstock-pack");
  CLI::App app("Packs a recording, or packs a packed trace once more.", "penstock-pack");
  std::string from;
  std::string to;
  app.add_option("FROM", from, "a recording or a packed trace, also one left by a crash")
      ->required();
  app.add_option("-o,--output", to, "the packed trace to write")->required();
  int status = 0;
  if (!penstock::traces::ParseCommandLine(app, argc, argv, &status)) {
    return status;
  }
  const penstock::Result<void> packed = penstock::traces::PackTrace(from, to);
  return packed ? 0 : penstock::traces::Complain(app, packed.error());
}
