// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/functions.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <system_error>
#include <utility>
#include <variant>

#include "analyzer/model/host.h"
#include "analyzer/report/flame.h"
#include "analyzer/report/source_lines.h"
#include "analyzer/report/stage_wholes.h"
#include "analyzer/words/format.h"

namespace penstock::gui {
namespace {

constexpr std::size_t kMostSourceLines = 400;
constexpr std::size_t kMostFunctions = 60;
// The lines of so many functions are followed (_HOT in agent/python/penstock_hooks/functions.py).
constexpr std::size_t kLinedFunctions = 3;
constexpr double kLongEnough = 30;  // seconds of a run after which some unit is followed, as a rule

// The line with spaces instead of tabs, and without characters that a font cannot show.
std::string CodeText(std::string_view line) {
  constexpr std::size_t kTab = 4;
  constexpr std::size_t kWidest = 300;
  std::string text;
  for (const char c : line) {
    if (c == '\r') continue;
    if (c == '\t') {
      text.append(kTab - text.size() % kTab, ' ');
    } else {
      text += c;
    }
  }
  return analyzer::PlainText(text, kWidest);
}

// Spaces before the text of a line; nullopt: the line is blank.
std::optional<std::size_t> IndentOf(std::string_view text) {
  const std::size_t indent = text.find_first_not_of(' ');
  if (indent == std::string_view::npos) return std::nullopt;
  return indent;
}

bool BeginsWith(std::string_view text, std::size_t at, std::string_view word) {
  return text.substr(at, word.size()) == word;
}

// Finds where a function ends: at the first line after its head ("def") that is not indented
// deeper. A lambda or a comprehension has no head; it ends after its first line.
class FunctionEnd {
 public:
  // Whether the function ends before `text`.
  [[nodiscard]] bool Passed(std::string_view text) {
    const auto indent = IndentOf(text);
    if (!indent) return false;
    if (!first_) first_ = indent;
    const bool deeper = *indent > *first_;
    if (head_) {
      // A comment may have any indentation.
      return !deeper && text[*indent] != ')' && text[*indent] != '#';
    }
    head_ = BeginsWith(text, *indent, "def ") || BeginsWith(text, *indent, "async def ");
    const bool decorates = text[*indent] == '@' || text[*indent] == ')' || deeper;
    if (head_ || decorates) return false;
    return std::exchange(begun_, true);
  }

 private:
  std::optional<std::size_t> first_;
  bool head_ = false;
  bool begun_ = false;  // the first line of a function without a head has passed
};

// Whether `text`, the last line, is blank or a comment that does not belong to the function.
// `first`: the function's first line.
bool IsTrailer(std::string_view first, std::string_view text) {
  const auto indent = IndentOf(text);
  return !indent || (text[*indent] == '#' && *indent <= IndentOf(first).value_or(0));
}

// The text of a function. It reaches at least to `last`, the last line that took time.
std::vector<SourceLine> SourceOf(const FunctionId& id, std::uint32_t last,
                                 const analyzer::LineReader& read) {
  std::vector<SourceLine> lines;
  FunctionEnd end;
  for (std::uint32_t number = id.line; lines.size() < kMostSourceLines; ++number) {
    const auto raw = read(id.file, number);
    if (!raw) break;
    SourceLine line{number, CodeText(*raw), 0, 0};
    if (end.Passed(line.text) && number > last) break;
    lines.push_back(std::move(line));
  }
  while (!lines.empty() && IsTrailer(lines.front().text, lines.back().text)) lines.pop_back();
  std::optional<std::size_t> common;
  for (const SourceLine& line : lines) {
    const auto indent = IndentOf(line.text);
    if (indent) common = std::min(common.value_or(*indent), *indent);
  }
  for (SourceLine& line : lines) line.text.erase(0, std::min(common.value_or(0), line.text.size()));
  return lines;
}

// Readers of the lines of sources.
struct Sources {
  analyzer::LineReader as_run;  // of files that have not changed since the run began
  analyzer::LineReader now;     // of all files
  bool dated = false;           // it is known when the run began
};

// Reads the source of a function into `line`.
void ReadSource(const Sources& sources, std::uint32_t last, FunctionLine& line) {
  if (line.id.file.empty() || line.id.line == 0) return;
  line.source = SourceOf(line.id, last, sources.as_run);
  line.state = SourceState::kAsRun;
  if (!line.source.empty()) return;
  line.source = SourceOf(line.id, last, sources.now);
  line.state = sources.dated ? SourceState::kChanged : SourceState::kUndated;
  if (!line.source.empty()) return;
  std::error_code error;
  line.state = std::filesystem::exists(line.id.file, error) ? SourceState::kUnreadable
                                                            : SourceState::kMissing;
}

FunctionLine FunctionLineOf(const analyzer::FunctionTime& time, const Sources& sources) {
  FunctionLine line;
  line.id = {time.file, time.line, time.name};
  line.share = time.share;
  line.total = time.total;
  line.count = time.count;
  line.lined = !time.lines.empty();
  line.of_cut = time.of_cut;
  std::map<std::uint32_t, const analyzer::LineTime*> timed;
  for (const analyzer::LineTime& one : time.lines) timed[one.line] = &one;
  const std::uint32_t last = timed.empty() ? time.line : timed.rbegin()->first;
  ReadSource(sources, last, line);
  if (!line.readable()) {
    for (const auto& [number, one] : timed) line.source.push_back({number, "", 0, 0});
  }
  for (SourceLine& source : line.source) {
    const auto found = timed.find(source.number);
    if (found == timed.end()) continue;
    source.share = found->second->share;
    source.count = found->second->count;
  }
  return line;
}

std::vector<FlameFrame> FramesOf(const std::vector<analyzer::CallPath>& paths) {
  const std::vector<analyzer::FlameBox> boxes = analyzer::FlameBoxes(paths);
  std::vector<FlameFrame> frames;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const analyzer::CallPath& path = paths[i];
    frames.push_back({.id = {path.file, path.line, path.name},
                      .parent = path.parent,
                      .depth = boxes[i].depth,
                      .left = boxes[i].left,
                      .width = path.total,
                      .own = boxes[i].own,
                      .count = path.count});
  }
  return frames;
}

UnitProfile UnitProfileOf(const analyzer::FunctionProfile& from, const Sources& sources) {
  UnitProfile profile;
  profile.stage = from.stage;
  profile.units = from.units;
  profile.lined = from.lined;
  profile.all = from.all;
  profile.unit_time = from.unit_time;
  profile.mean_time = from.mean_time;
  profile.unusual = from.IsUnusual();
  profile.spread = from.spread;
  profile.of_stage = from.of_stage;
  profile.slow = from.slow;
  profile.frames = FramesOf(from.paths);
  if (!from.slow.paths.empty()) {
    UnitProfile& slow = profile.slow_profile.emplace_back();
    slow.stage = from.stage;
    slow.units = from.slow.units;
    slow.unit_time = from.slow.slow_time;
    slow.spread = from.spread;
    slow.frames = FramesOf(from.slow.paths);
  }
  const std::size_t shown = std::min(kMostFunctions, from.functions.size());
  for (std::size_t i = 0; i < shown; ++i) {
    profile.lines.push_back(FunctionLineOf(from.functions[i], sources));
    profile.lines.back().takes_most = i < kLinedFunctions;
  }
  return profile;
}

std::vector<StageShare> StagesOfAll(const analyzer::RunModel& run) {
  using traces::StageId;
  constexpr std::array kStages = {
      std::pair(StageId::kRead, Text::kRead), std::pair(StageId::kDecode, Text::kDecode),
      std::pair(StageId::kAugment, Text::kAugment), std::pair(StageId::kTokenize, Text::kTokenize)};
  constexpr double kLeast = 0.05;
  const double making = analyzer::WholesOf(run, run.stages).making;
  std::vector<StageShare> shares;
  for (const auto& [stage, name] : kStages) {
    const double share = making > 0 ? Seconds(run.stages[stage].wall) / making : 0;
    if (share >= kLeast) shares.push_back({name, share});
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const StageShare& a, const StageShare& b) { return a.share > b.share; });
  return shares;
}

// Adds what the whole run says about the workers in which the units were followed.
void AddOfWorkers(const analyzer::Diagnosis& diagnosis, UnitProfile& profile) {
  constexpr double kMuch = 0.2;
  if (profile.stage == traces::StageId::kStep) return;
  const double core_wait = diagnosis.loader ? diagnosis.loader->cpu.core_wait : 0;
  if (core_wait >= kMuch) profile.core_wait = core_wait;
  if (profile.stage != traces::StageId::kSample) return;
  profile.of_all = StagesOfAll(diagnosis.run);
  // Beside shares of the followed samples alone stand shares of all samples alone.
  const double samples = profile.unusual && profile.of_stage > 0 ? profile.of_stage : 1;
  for (StageShare& one : profile.of_all) one.share = std::min(1.0, one.share / samples);
}

// Whether calls are followed in the process: torch_loader.py and torch_fetch.py follow PyTorch's
// loaders alone.
bool FollowsLoader(const traces::ProcessInfo& process) {
  if (process.facts.count("version.python") == 0) return false;
  return std::any_of(process.facts.begin(), process.facts.end(), [](const auto& fact) {
    return fact.first.starts_with("loader.") && fact.first.ends_with(".kind") &&
           fact.second == "pytorch";
  });
}

// Reads the reason that agent/python/penstock_hooks/functions.py writes as the fact
// "functions.off". A reason that is not in the table names a tool.
NoFunctions WhyNoFunctions(const traces::Trace& trace, const analyzer::RunModel& run) {
  constexpr std::array<std::pair<std::string_view, NoFunctions>, 3> kReasons = {
      {{"switched off", NoFunctions::kSwitchedOff},
       {"this Python", NoFunctions::kPython},
       {"a debug or free-threaded build", NoFunctions::kPython}}};
  std::string why = analyzer::TextFact(trace.facts(), "functions.off");
  for (const traces::ProcessInfo& process : trace.processes()) {
    if (why.empty()) why = analyzer::TextFact(process.facts, "functions.off");
  }
  for (const auto& [text, reason] : kReasons) {
    if (why == text) return reason;
  }
  if (!why.empty()) return NoFunctions::kOtherTool;
  if (run.imported) return NoFunctions::kImported;
  const bool follows =
      std::any_of(trace.processes().begin(), trace.processes().end(), FollowsLoader);
  if (!follows) {
    const bool loader = std::any_of(run.loaders.begin(), run.loaders.end(),
                                    [](const auto& one) { return one.config.kind == "pytorch"; });
    return loader ? NoFunctions::kUnfollowed : NoFunctions::kNoLoader;
  }
  return Seconds(trace.end() - trace.begin()) < kLongEnough ? NoFunctions::kShort
                                                            : NoFunctions::kTooManyCalls;
}

std::string UnusualFunctionText(const FunctionsModel& model) {
  std::set<std::string_view> unusual;
  const auto add = [&unusual](const std::string& text) {
    const auto plain = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
    if (!std::all_of(text.begin(), text.end(), plain)) unusual.insert(text);
  };
  for (const UnitProfile& profile : model.profiles) {
    const auto add_frames = [&add](const UnitProfile& of) {
      for (const FlameFrame& frame : of.frames) {
        add(frame.id.name);
        add(frame.id.file);
      }
    };
    add_frames(profile);
    for (const UnitProfile& slow : profile.slow_profile) add_frames(slow);
    for (const FunctionLine& line : profile.lines) {
      for (const SourceLine& source : line.source) add(source.text);
    }
  }
  std::string text;
  for (const std::string_view one : unusual) text += one;
  return text;
}

}  // namespace

FunctionKind KindOfFunction(const FunctionId& id) {
  if (id.file.empty()) return FunctionKind::kCompiled;
  return analyzer::IsLibrary(id.file) ? FunctionKind::kLibrary : FunctionKind::kProgram;
}

std::string ShortNameOf(const FunctionId& id) {
  constexpr std::string_view kLocals = "<locals>.";
  std::string name = analyzer::PlainText(id.name, 200);
  for (std::size_t at = name.find(kLocals); at != std::string::npos; at = name.find(kLocals)) {
    name.erase(at, kLocals.size());
  }
  return name;
}

std::string TitleOf(const FunctionId& id) {
  if (id.file.empty()) return ShortNameOf(id);
  return analyzer::PlainText(analyzer::PlaceOf(id.file, id.line), 100) + " " + ShortNameOf(id);
}

const FunctionLine* UnitProfile::Find(const FunctionId& id) const {
  const auto found = std::find_if(lines.begin(), lines.end(),
                                  [&id](const FunctionLine& line) { return line.id == id; });
  return found == lines.end() ? nullptr : &*found;
}

FunctionsModel BuildFunctions(const traces::Trace& trace, const analyzer::Report& report,
                              const analyzer::LineReader& read) {
  FunctionsModel model;
  const double any_time = std::numeric_limits<double>::infinity();
  const Sources sources{read, analyzer::SourceLines(any_time), report.started > 0};
  for (const analyzer::FunctionProfile& profile : report.diagnosis.functions) {
    if (profile.paths.empty()) continue;
    model.profiles.push_back(UnitProfileOf(profile, sources));
    AddOfWorkers(report.diagnosis, model.profiles.back());
  }
  const auto of_samples = [](const UnitProfile& one) {
    return one.stage == traces::StageId::kSample;
  };
  model.without_samples = !model.profiles.empty() &&
                          report.diagnosis.run.stages[traces::StageId::kSample].count > 0 &&
                          std::none_of(model.profiles.begin(), model.profiles.end(), of_samples);
  model.missing =
      model.profiles.empty() ? WhyNoFunctions(trace, report.diagnosis.run) : NoFunctions::kNone;
  model.unusual_text = UnusualFunctionText(model);
  return model;
}

std::optional<FunctionId> FunctionOf(const analyzer::Finding& finding) {
  FunctionId id;
  for (const auto& [key, value] : finding.evidence) {
    const auto* text = std::get_if<std::string>(&value);
    const auto* number = std::get_if<double>(&value);
    if (key == "function" && text != nullptr) id.name = *text;
    if (key == "file" && text != nullptr) id.file = *text;
    if (key == "first_line" && number != nullptr) id.line = static_cast<std::uint32_t>(*number);
  }
  return id.name.empty() ? std::nullopt : std::optional(id);
}

}  // namespace penstock::gui
