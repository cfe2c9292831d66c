// SPDX-License-Identifier: Apache-2.0
#include "gui/model/penstock_command.h"

#include <fmt/core.h>

#include "analyzer/model/host.h"

namespace penstock::gui {

std::string PenstockCommand(const traces::Trace& trace, std::string_view verb) {
  const std::string command = analyzer::TextFact(trace.facts(), "command");
  return fmt::format("penstock {} -- {}", verb, command.empty() ? "python train.py" : command);
}

}  // namespace penstock::gui
