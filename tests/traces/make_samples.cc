// SPDX-License-Identifier: Apache-2.0
//
// Writes the sample files of the current format versions. Run it once for each version. The files
// stay in traces/samples, so that every later reader is tested with them.
#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/traces/support.h"
#include "traces/export.h"

int main(int argc, char** argv) {
  using namespace penstock::traces;
  if (argc != 3) {
    std::fprintf(stderr, "usage: make_samples FOLDER PREFIX\n");
    return 2;
  }
  const std::filesystem::path base = std::filesystem::path(argv[1]) / argv[2];
  const auto with = [&base](const char* ending) {
    std::filesystem::path path = base;
    path += ending;
    return path;
  };
  RecordingWriter recording = penstock::traces::testing::SmallRecording(
      {.clock = penstock::wire::kClockTsc, .ticks_per_second = 2'000'000'000, .chunks = 2});
  penstock::traces::testing::WriteFile(with(".recording"), recording.memory());
  if (!PackTrace(with(".recording"), with(".penstock"))) {
    return 1;
  }
  const auto trace = OpenTrace(with(".penstock"));
  std::string text;
  if (!trace || !ExportJsonLines(**trace, [&text](std::string_view part) {
        text += part;
        return true;
      })) {
    return 1;
  }
  penstock::traces::testing::WriteFile(with(".jsonl"),
                                       std::as_bytes(std::span(text.data(), text.size())));
  return 0;
}
