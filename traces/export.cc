// SPDX-License-Identifier: Apache-2.0
#include "traces/export.h"

#include <array>

namespace penstock::traces {
namespace {

constexpr std::array<ExportFormat, 2> kFormats = {{
    {"jsonl", "one JSON object per line: everything in the trace", &ExportJsonLines},
    {"csv", "a table of the spans", &ExportCsv},
}};

}  // namespace

std::span<const ExportFormat> ExportFormats() {
  return kFormats;
}

const ExportFormat* FindExportFormat(std::string_view name) {
  for (const ExportFormat& format : kFormats) {
    if (format.name == name) {
      return &format;
    }
  }
  return nullptr;
}

}  // namespace penstock::traces
