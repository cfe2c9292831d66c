// SPDX-License-Identifier: Apache-2.0
#include "gui/model/files/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <utility>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/words/format.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;
using analyzer::LoaderConfig;
using analyzer::PercentText;
using traces::StageId;

struct StageWord {
  std::string_view name;
  Text title;
  bool cpu;
  StageId stage;
};
constexpr std::array kStageWords = {
    StageWord{"read", Text::kRead, false, StageId::kRead},
    StageWord{"decode", Text::kDecode, false, StageId::kDecode},
    StageWord{"decode CPU", Text::kDecode, true, StageId::kDecode},
    StageWord{"augment", Text::kAugment, false, StageId::kAugment},
    StageWord{"augment CPU", Text::kAugment, true, StageId::kAugment},
    StageWord{"tokenize", Text::kTokenize, false, StageId::kTokenize},
    StageWord{"tokenize CPU", Text::kTokenize, true, StageId::kTokenize},
    StageWord{"collate", Text::kCollate, false, StageId::kCollate},
    StageWord{"put", Text::kPut, false, StageId::kPut},
    StageWord{"get", Text::kGet, false, StageId::kGet},
    StageWord{"pin", Text::kPinning, false, StageId::kPin},
    StageWord{"h2d", Text::kCopyToGpu, false, StageId::kH2d},
    StageWord{"wait", Text::kWait, false, StageId::kWait},
    StageWord{"step", Text::kStep, false, StageId::kStep},
};

const StageWord* WordOf(std::string_view name) {
  const auto* found = std::find_if(kStageWords.begin(), kStageWords.end(),
                                   [&](const StageWord& word) { return word.name == name; });
  return found == kStageWords.end() ? nullptr : found;
}

// The change of a ratio in whole percent: 31 for 1.31 and for 0.69.
std::string Points(double ratio) {
  return fmt::format("{:.0f}", std::abs(100 * (ratio - 1)));
}

std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(std::move(word));
  return words;
}

// Removes the folders that both paths begin with: "…/imagenet".
void ShortenPaths(std::string& before, std::string& after) {
  const auto differ = std::mismatch(before.begin(), before.end(), after.begin(), after.end()).first;
  const std::size_t common = static_cast<std::size_t>(differ - before.begin());
  const std::size_t slash = before.substr(0, common).rfind('/');
  if (slash == std::string::npos || slash == 0) return;
  before = "…" + before.substr(slash);
  after = "…" + after.substr(slash);
}

// Two command lines without the words that they share at the beginning and at the end. The option
// before the first difference stays: "... --workers 2 ...".
std::pair<std::string, std::string> WhereTheyDiffer(const std::string& before,
                                                    const std::string& after) {
  if (before.empty() || after.empty() || before == after) return {before, after};
  std::vector<std::string> x = Words(before);
  std::vector<std::string> y = Words(after);
  const std::size_t least = std::min(x.size(), y.size());
  std::size_t head = 0;
  while (head < least && x[head] == y[head]) ++head;
  std::size_t tail = 0;
  while (tail < least - head && x[x.size() - 1 - tail] == y[y.size() - 1 - tail]) ++tail;
  if (head < least - tail) ShortenPaths(x[head], y[head]);
  if (head > 0) --head;
  const auto part = [&](const std::vector<std::string>& words) {
    std::string text = head > 0 ? "…" : "";
    for (std::size_t i = head; i + tail < words.size(); ++i) {
      text += (text.empty() ? "" : " ") + words[i];
    }
    return text + (tail > 0 ? " …" : "");
  };
  return {part(x), part(y)};
}

std::vector<analyzer::Finding> OnlyIn(const std::vector<analyzer::Finding>& these,
                                      const std::vector<analyzer::Finding>& others) {
  std::vector<analyzer::Finding> only;
  for (const analyzer::Finding& finding : these) {
    if (std::none_of(others.begin(), others.end(),
                     [&](const auto& other) { return other.id == finding.id; })) {
      only.push_back(finding);
    }
  }
  return only;
}

// The stage that is named as the cause of a changed throughput. If the throughput rose, it is the
// stage whose time fell most, else the stage whose time rose most, among changes beyond noise.
// nullptr: there is none. CPU time and the wait are reported elsewhere.
const analyzer::Change* Cause(const analyzer::Comparison& comparison) {
  const bool faster = comparison.throughput.ratio.estimate > 1;
  const analyzer::Change* cause = nullptr;
  for (const analyzer::Change& change : comparison.stages) {
    const StageWord* word = WordOf(change.name);
    if (!change.significant || word == nullptr || word->cpu || word->stage == StageId::kWait) {
      continue;
    }
    if ((change.after < change.before) != faster) continue;
    const auto size = [](const analyzer::Change& one) { return std::abs(one.after - one.before); };
    if (cause == nullptr || size(change) > size(*cause)) cause = &change;
  }
  return cause;
}

// Whether a stage takes longer without more computing: it waited for cores, because of other
// programs or of more workers than cores.
bool WasKeptWaiting(const analyzer::Comparison& comparison, const analyzer::Change& stage) {
  if (stage.after <= stage.before) return false;
  const std::string cpu = stage.name + " CPU";
  return std::any_of(
      comparison.stages.begin(), comparison.stages.end(), [&](const analyzer::Change& change) {
        return change.name == cpu && change.before > 0 && change.after <= 1.02 * change.before;
      });
}

std::string Why(const CompareAnswer& answer, const std::vector<SettingChange>& settings,
                Language language) {
  const analyzer::Comparison& comparison = answer.comparison;
  std::string why;
  const auto clause = [&](const std::string& text) {
    if (!why.empty()) why += TextOf(Text::kClauseComma, language);
    why += text;
  };
  if (comparison.of_two_datasets()) clause(Render(TwoDataSets(comparison), language));
  if (const analyzer::Change* cause = Cause(comparison)) {
    const Text what = WasKeptWaiting(comparison, *cause) ? Text::kStageWaited
                      : cause->after < cause->before     ? Text::kStageFell
                                                         : Text::kStageRose;
    clause(Filled(what, language, StageTitle(cause->name, language), DurationText(cause->before),
                  DurationText(cause->after)));
  }
  if (comparison.wait.significant) {
    clause(
        Filled(comparison.wait.after < comparison.wait.before ? Text::kWaitFell : Text::kWaitRose,
               language, PercentText(comparison.wait.before), PercentText(comparison.wait.after)));
  }
  // A setting is named only if both values are known: an unknown value may equal the other value.
  const std::string_view unknown = TextOf(Text::kUnknownValue, language);
  const auto known = [&](const SettingChange& setting) {
    return setting.before != unknown && setting.after != unknown;
  };
  int named = 0;
  for (const SettingChange& setting : settings) {
    if (setting.name.empty() || !known(setting) || named == 2) continue;
    clause(Filled(Text::kInsteadOf, language, setting.name, setting.after, setting.before));
    ++named;
  }
  if (named > 0) return why;
  // Then only the command can tell what was changed.
  for (const SettingChange& setting : settings) {
    if (setting.label != Text::kSettingCommand || !setting.name.empty() || !known(setting))
      continue;
    constexpr std::size_t kMost = 60;
    const std::string before = analyzer::PlainText(setting.before, kMost);
    const std::string after = analyzer::PlainText(setting.after, kMost);
    if (before == after) continue;  // they differ only behind the part that is shown
    clause(Filled(Text::kInsteadOf, language, TextOf(setting.label, language), after, before));
  }
  return why;
}

}  // namespace

std::string StageTitle(const std::string& name, Language language) {
  const StageWord* word = WordOf(name);
  if (word == nullptr) return name;
  std::string title(TextOf(word->title, language));
  if (word->cpu) title += language == Language::kChinese ? "（CPU）" : ", CPU";
  return title;
}

StageId StageOfChange(std::string_view name) {
  const StageWord* word = WordOf(name);
  return word == nullptr ? StageId::kNone : word->stage;
}

std::string RatioText(double ratio) {
  if (ratio >= 2) return fmt::format("{:.1f}x", ratio);
  return fmt::format("{:+.0f} %", 100 * (ratio - 1));
}

std::string SideText(const analyzer::SideFacts& side, Language language) {
  const std::string workers = side.config.workers_known
                                  ? std::to_string(side.config.num_workers)
                                  : std::string(TextOf(Text::kUnknownValue, language));
  std::string text = fmt::format("{} {}", TextOf(Text::kAxisWorkers, language), workers);
  const auto add = [&](const std::string& part) {
    text += TextOf(Text::kListComma, language);
    text += part;
  };
  if (side.config.num_workers > 0) {
    add(fmt::format("{} {}", TextOf(Text::kAxisPrefetch, language), side.config.prefetch_factor));
  }
  if (side.config.batch_size > 0) {
    add(fmt::format("{} {}", TextOf(Text::kAxisBatch, language), side.config.batch_size));
  }
  if (side.config.pins) add(std::string(TextOf(Text::kAxisPin, language)));
  add(Filled(Text::kSteadyBatches, language, side.batches));
  return text;
}

std::vector<SettingChange> SettingsThatDiffer(const Document& a, const Document& b,
                                              const CompareAnswer& answer, Language language) {
  const LoaderConfig& x = answer.comparison.before.config;
  const LoaderConfig& y = answer.comparison.after.config;
  std::vector<SettingChange> changes;
  const auto text = [&](std::string name, Text label, const std::string& before,
                        const std::string& after) {
    if (before == after) return;
    const std::string unknown(TextOf(Text::kUnknownValue, language));
    const auto shown = [&](const std::string& value) {
      return value.empty() ? unknown : analyzer::PlainText(value, 160);
    };
    changes.push_back({std::move(name), label, shown(before), shown(after)});
  };
  const auto number = [&](const char* name, Text label, double before, double after, double none) {
    // Four figures are enough for a quota of cores; a count is exact.
    const auto shown = [&](double value) {
      if (value == none) return std::string();
      return value == std::floor(value) ? fmt::format("{:.0f}", value)
                                        : fmt::format("{:.4g}", value);
    };
    text(name, label, shown(before), shown(after));
  };
  const auto flag = [&](const char* name, Text label, bool before, bool after) {
    const auto shown = [&](bool value) {
      return std::string(TextOf(value ? Text::kYes : Text::kNo, language));
    };
    text(name, label, shown(before), shown(after));
  };
  text("", Text::kSettingKind, x.kind, y.kind);
  const auto workers = [](const LoaderConfig& config) {
    return config.workers_known ? config.num_workers : -1;
  };
  number("num_workers", {}, workers(x), workers(y), -1);
  // Without workers no batch is fetched ahead.
  if (x.num_workers > 0 && y.num_workers > 0) {
    number("prefetch_factor", {}, x.prefetch_factor, y.prefetch_factor, -1);
    flag("persistent_workers", {}, x.persistent_workers, y.persistent_workers);
    text("", Text::kSettingStart, x.start_method, y.start_method);
  }
  number("batch_size", {}, x.batch_size, y.batch_size, 0);
  flag("pin_memory", {}, x.pin_memory, y.pin_memory);
  flag("", Text::kSettingOrder, x.in_order, y.in_order);
  const auto count = [](std::int64_t value) { return value < 0 ? "" : fmt::format("{}", value); };
  text("", Text::kSettingDataset, count(x.dataset_length), count(y.dataset_length));
  const analyzer::Report& left = a.analysis->report;
  const analyzer::Report& right = b.analysis->report;
  if (left.diagnosis.run.host.known && right.diagnosis.run.host.known) {
    number("", Text::kSettingCores, left.diagnosis.run.host.usable_cores(),
           right.diagnosis.run.host.usable_cores(), 0);
  }
  const auto [before, after] = WhereTheyDiffer(left.command, right.command);
  text("", Text::kSettingCommand, before, after);
  return changes;
}

analyzer::Predicted<CompareAnswer> CompareDocuments(const Document& a, const Document& b) {
  auto comparison = analyzer::Compare(
      analyzer::Baseline{a.analysis->report.diagnosis, a.path.filename().string(),
                         a.analysis->report.command},
      analyzer::Candidate{b.analysis->report.diagnosis, b.path.filename().string(),
                          b.analysis->report.command});
  PENSTOCK_TRY(comparison);
  CompareAnswer answer;
  answer.comparison = std::move(*comparison);
  const auto& before = a.analysis->report.findings;
  const auto& after = b.analysis->report.findings;
  answer.gone = OnlyIn(before, after);
  answer.fresh = OnlyIn(after, before);
  answer.in_both = OnlyIn(after, answer.fresh);
  return answer;
}

CompareSentence SentenceOf(const CompareAnswer& answer, const std::vector<SettingChange>& settings,
                           Language language) {
  const analyzer::Comparison& comparison = answer.comparison;
  const analyzer::Interval& ratio = comparison.throughput.ratio;
  if (!comparison.enough) return {std::string(TextOf(Text::kTooFewToTell, language)), {}};
  if (comparison.of_two_programs()) {
    // A ratio between two different programs says nothing about a change.
    return {
        Filled(Text::kDifferentPrograms, language,
               analyzer::PlainText(comparison.before.program, 40),
               analyzer::PlainText(comparison.after.program, 40)),
        Filled(Text::kRatesOfBoth, language, analyzer::ShortNumber(comparison.throughput.before),
               analyzer::ShortNumber(comparison.throughput.after),
               Render(comparison.unit, language))};
  }
  const auto times = [](double value) { return fmt::format("{:.2f}", value); };
  if (!comparison.throughput.significant) {
    return {Filled(Text::kNoDifference, language, times(ratio.estimate) + "x", times(ratio.low),
                   times(ratio.high)),
            Why(answer, settings, language)};
  }
  CompareSentence sentence;
  if (ratio.estimate >= 2) {
    sentence.text = Filled(Text::kTimesAsFast, language, fmt::format("{:.1f}", ratio.estimate),
                           fmt::format("{:.1f}", ratio.low), fmt::format("{:.1f}", ratio.high));
  } else if (ratio.estimate > 1) {
    sentence.text = Filled(Text::kFaster, language, Points(ratio.estimate), Points(ratio.low),
                           Points(ratio.high));
  } else {
    // The end of the interval that is nearer to 1 comes first: "24 % slower (20 to 28 %)".
    sentence.text = Filled(Text::kSlower, language, Points(ratio.estimate), Points(ratio.high),
                           Points(ratio.low));
  }
  sentence.why = Why(answer, settings, language);
  return sentence;
}

CompareJob::CompareJob(Document a, Document b, std::function<void()> wake)
    : thread_([this, a = std::move(a), b = std::move(b), wake = std::move(wake)] {
        answer_.emplace(CompareDocuments(a, b));
        done_.store(true, std::memory_order_release);
        wake();
      }) {}

}  // namespace penstock::gui
