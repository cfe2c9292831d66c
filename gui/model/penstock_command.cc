// SPDX-License-Identifier: Apache-2.0
#include "gui/model/penstock_command.h"

#include <fmt/core.h>

#include "analyzer/model/host.h"
#include "analyzer/words/needs.h"

namespace penstock::gui {

std::string PenstockCommand(const traces::Trace& trace, std::string_view verb) {
  return PenstockCommand(&trace, verb);
}

std::string PenstockCommand(const traces::Trace* trace, std::string_view verb) {
  const std::string command =
      trace == nullptr ? std::string() : analyzer::TextFact(trace->facts(), "command");
  return fmt::format("penstock {} -- {}", verb, command.empty() ? "python train.py" : command);
}

NextCommand CommandToPredict(const analyzer::Report& report, const traces::Trace& trace) {
  namespace words = analyzer::words;
  const bool own = !report.diagnosis.run.imported;
  const std::string record = PenstockCommand(trace, "record");
  if (report.stages.empty()) return {Text::kSeeWhatIsSeen, PenstockCommand(trace, "doctor")};
  const analyzer::Statement& missing = report.diagnosis.needs;
  if (missing.Is(words::kNeedsLoader) || missing.Is(words::kNeedsWorkers)) {
    return {own ? Text::kLoadThroughLoader : Text::kRecordLoader, record};
  }
  if (missing.Is(words::kNeedsSight)) {
    return own ? NextCommand{Text::kSeeWhatIsSeen, PenstockCommand(trace, "doctor")}
               : NextCommand{Text::kRecordMaking, record};
  }
  if (missing.Is(words::kNeedsOneLoader) || missing.Is(words::kNeedsStep) ||
      missing.Is(words::kNeedsExplained)) {
    return {Text::kMeasureSettings, PenstockCommand(trace, "sweep --workers 0,2,4")};
  }
  return {};
}

Text HowBesidePlan(const analyzer::Report& report, Text how) {
  const bool said = report.plan.missing.Is(analyzer::words::kNeedsWorkers);
  return said && how == Text::kLoadThroughLoader ? Text::kRecordAgain : how;
}

NextCommand CommandToFollow(const analyzer::Report& report, const traces::Trace& trace) {
  const NextCommand next = CommandToPredict(report, trace);
  if (next.how == Text::kLoadThroughLoader) return next;
  return {Text::kNoCallsPythonHow, PenstockCommand(trace, "doctor")};
}

}  // namespace penstock::gui
