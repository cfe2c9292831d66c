// SPDX-License-Identifier: Apache-2.0
#include "gui/model/cards.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/phrases.h"
#include "analyzer/words/needs.h"
#include "gui/model/forecast.h"
#include "gui/model/panels/ranks.h"
#include "gui/model/panels/workers.h"

namespace penstock::gui {
namespace {

using analyzer::Diagnosis;
using analyzer::LoaderDiagnosis;
using analyzer::ShortNumber;

constexpr const char* kNoFigure = "–";

Text WordOfBound(InputBound bound) {
  switch (bound) {
    case InputBound::kHighly:
      return Text::kHighlyBound;
    case InputBound::kModerately:
      return Text::kModeratelyBound;
    case InputBound::kNot:
      return Text::kNotBound;
    case InputBound::kUnknown:
      break;
  }
  return Text::kTooFewBatches;
}

// Two parts of a line; either may be "".
std::string Beside(const std::string& first, const std::string& second) {
  return first + (first.empty() || second.empty() ? "" : "  ·  ") + second;
}

class CardMaker {
 public:
  CardMaker(const analyzer::Report& report, Language language)
      : report_(report),
        diagnosis_(report.diagnosis),
        language_(language),
        unit_(Render(analyzer::RateUnit(report.diagnosis), language)),
        shown_(ShownRank(report)) {}

  std::vector<Card> WithoutLoader() const {
    Card rate{Say(Text::kThroughput), kNoFigure, "", Say(Text::kNeedsBatchesOrImages),
              Tone::kUnknown};
    if (diagnosis_.samples_rate > 0) {
      rate = {Say(Text::kThroughput), ShortNumber(diagnosis_.samples_rate), unit_, ""};
    }
    return {rate, {Say(Text::kLoader), kNoFigure, "", Say(Text::kNeedsDataLoader), Tone::kUnknown}};
  }

  std::vector<Card> WithLoader() const {
    std::vector<Card> cards = {Wait(), Rate(), Free(), Workers()};
    if (auto device = Device()) cards.push_back(std::move(*device));
    cards.push_back(Loader());
    return cards;
  }

 private:
  std::string Say(Text text) const { return std::string(TextOf(text, language_)); }
  template <class... Values>
  std::string Fill(Text text, const Values&... values) const {
    return Filled(text, language_, values...);
  }
  const LoaderDiagnosis& loader() const { return *diagnosis_.loader; }
  const analyzer::LoaderConfig& config() const { return diagnosis_.run.loader().config; }

  Card Wait() const {
    if (!analyzer::WaitKnown(diagnosis_)) {
      return {Say(Text::kWaitsForData), kNoFigure, "", Say(Text::kTooFewBatches), Tone::kUnknown};
    }
    const InputBound bound = Judge(report_);
    const double wait = diagnosis_.wait_fraction;
    return {Say(Text::kWaitsForData),
            analyzer::PercentText(wait),
            Say(BaseOfWait()),
            Beside(Beside(OfRank(), Say(WordOfBound(bound))), PartOfRun()),
            ToneOf(bound),
            wait};
  }

  // The base of the share of waiting. The loops over other loaders do not count.
  Text BaseOfWait() const {
    if (!diagnosis_.whole_run) return Text::kOfLoopTime;
    const bool in_turn = diagnosis_.run.loader().use == analyzer::LoopUse::kInTurn;
    return in_turn ? Text::kOfLoopOverLoader : Text::kOfWholeLoop;
  }

  Card Rate() const {
    const analyzer::SteadyState& steady = loader().steady;
    if (diagnosis_.base_rate() <= 0) {
      return {Say(Text::kThroughput), kNoFigure, "", Say(Text::kTooFewBatches), Tone::kUnknown};
    }
    const bool whole = diagnosis_.whole_run && steady.steady;
    std::string line =
        whole ? Fill(Text::kWholeRunSteady, ShortNumber(diagnosis_.samples_rate))
        : steady.steady
            ? IntervalText(steady.rate, language_)
            : Fill(Text::kOfFewBatches,
                   diagnosis_.whole_run ? diagnosis_.run.loader().batches.size() : steady.batches);
    if (!diagnosis_.whole_run && diagnosis_.whole_rate > 0 && !shown_) {
      const bool probed = !diagnosis_.run.loader().probes.empty();
      line = Beside(line, Fill(probed ? Text::kWholeRunProbed : Text::kWholeRun,
                               ShortNumber(diagnosis_.whole_rate)));
    }
    if (shown_) line = Beside(line, RankWords());
    const std::string unit = Render(analyzer::SteadyUnit(diagnosis_, loader()), language_);
    return {Say(Text::kThroughput), ShortNumber(diagnosis_.base_rate()), unit, line};
  }

  // Which part of the run the share of waiting is of; "" where its unit says so. The stage table is
  // of the whole run.
  std::string PartOfRun() const {
    if (diagnosis_.whole_run) return "";
    return Say(loader().steady.lasts() ? Text::kInSteadyPart : Text::kAfterFilling);
  }

  // The rank that waits, where most others wait less.
  std::string OfRank() const {
    return shown_ && shown_->waits_most ? Fill(Text::kRankN, shown_->rank) : "";
  }

  // Which rank the cards show, and the rate of all ranks.
  std::string RankWords() const {
    std::string words = Fill(shown_->waits_most ? Text::kRankWaitsMost : Text::kRankIsOne,
                             shown_->rank, shown_->of - 1);
    // The rates of ranks are steady ones, and do not compare with a rate of the whole run.
    if (shown_->all_rate > 0 && !diagnosis_.whole_run) {
      words = Beside(words, Fill(Text::kRanksTogether, ShortNumber(shown_->all_rate), unit_));
    }
    return words;
  }

  Card Free() const {
    if (!analyzer::Predicts(diagnosis_)) {
      if (const auto most = MostWithoutWaits()) {
        const double rate = *most * diagnosis_.base_rate();
        return {Say(Text::kFreeData), MostGainText(*most), "",
                Fill(Text::kAtMostTheStep, ShortNumber(rate), unit_)};
      }
      return {Say(Text::kFreeData), kNoFigure, "", Say(WhyNotPredicted()), Tone::kUnknown};
    }
    const double headroom = diagnosis_.headroom();
    const double base = diagnosis_.base_rate();
    std::string line;
    const bool told = headroom <= analyzer::kMostTimes || !loader().attribution.all_data();
    if (told && base > 0) {
      line = fmt::format("{} → {} {}", ShortNumber(base), ShortNumber(diagnosis_.ceiling), unit_);
    }
    const bool least = diagnosis_.ceiling_is_least();
    return {Say(Text::kFreeData), least ? LeastGainText(headroom) : GainText(headroom), "", line};
  }

  // How many times as fast the run would be at most if its loop never waited for data. Known if the
  // rate and the waits are, even where it was not recorded how batches are made. The step bounds
  // nothing if a part of it waits for the data of other ranks, or if it is not the training step.
  std::optional<double> MostWithoutWaits() const {
    namespace words = analyzer::words;
    const analyzer::Statement& needs = diagnosis_.needs;
    const double wait = diagnosis_.wait_fraction;
    const bool unseen = needs.Is(words::kNeedsSight) || needs.Is(words::kNeedsMaking);
    if (!unseen || !analyzer::WaitKnown(diagnosis_) || diagnosis_.whole_run) return std::nullopt;
    if (diagnosis_.ceiling_is_least() || diagnosis_.run.loader().handed_on) return std::nullopt;
    if (diagnosis_.base_rate() <= 0 || wait >= 1) return std::nullopt;
    return 1 / (1 - wait);
  }

  Text WhyNotPredicted() const {
    namespace words = analyzer::words;
    const analyzer::Statement& needs = diagnosis_.needs;
    if (needs.Is(words::kNeedsExplained)) return Text::kSimulationUnlike;
    const bool unseen = needs.Is(words::kNeedsSight) || needs.Is(words::kNeedsMaking);
    if (unseen) return Text::kHowMadeUnknown;
    const bool enough = needs.Is(words::kNeedsLevel) || needs.Is(words::kNeedsOneLoader) ||
                        needs.Is(words::kNeedsOrdinaryWaits) ||
                        needs.Is(words::kNeedsRunningLoader);
    return enough ? Text::kNotPredictable : Text::kTooLittleToSay;
  }

  Card Workers() const {
    if (!config().workers_known) {
      return {Say(Text::kWorkers), kNoFigure, "", Say(WhyNoWorkers(diagnosis_.run)),
              Tone::kUnknown};
    }
    if (config().num_workers == 0) {
      return {Say(Text::kWorkers), "0", "", Say(Text::kLoaderMakesItself), Tone::kWarn};
    }
    const analyzer::CpuLoad& cpu = loader().cpu;
    const Text usage = cpu.from_counters ? Text::kCpuOfCores : Text::kCpuAtLeast;
    const std::string cores =
        cpu.known ? Fill(usage, fmt::format("{:.3g}", cpu.used), fmt::format("{:.3g}", cpu.cores))
                  : "";
    if (loader().fetched < 0.5) {
      const std::string cpu_line = cores.empty() ? "" : "  ·  " + cores;
      return {Say(Text::kWorkersBusy), kNoFigure, "", Say(Text::kHowMadeUnknown) + cpu_line,
              Tone::kUnknown};
    }
    const double busy = loader().signals.worker_busy;
    // A busy worker may wait for a core.
    const bool waits = cpu.core_wait >= analyzer::kToldCoreWait;
    return {Say(Text::kWorkersBusy),
            analyzer::PercentText(busy),
            diagnosis_.whole_run ? Say(Text::kFirstToLastBatch) : PartOfRun(),
            Beside(waits ? Fill(Text::kWaitingForCore, analyzer::PercentText(cpu.core_wait)) : "",
                   cores),
            Tone::kPlain,
            busy};
  }

  // The share of the steady window in which a device of the shown rank computes, and what keeps it
  // from computing; nullopt if no kernels were recorded.
  std::optional<Card> Device() const {
    const analyzer::DeviceActivity& device = loader().device;
    if (!device.kernels || device.window <= 0) return std::nullopt;
    const double share = device.Share(device.computing);
    return Card{Say(Text::kGpuBusy),
                analyzer::PercentText(share),
                "",
                Beside(shown_ ? Fill(Text::kRankN, shown_->rank) : "", IdleText(device, language_)),
                Tone::kPlain,
                share};
  }

  Card Loader() const {
    std::string settings;
    const auto add = [&](const std::string& words) {
      if (!settings.empty()) settings += Say(Text::kComma);
      settings += words;
    };
    if (config().batch_size > 0) {
      add(Fill(Text::kBatchOf, config().batch_size));
    } else if (diagnosis_.run.loader().samples_known) {
      add(Fill(Text::kBatchOf, diagnosis_.run.loader().samples_per_batch));
    }
    if (config().pins) add(Say(Text::kPinned));
    if (config().persistent_workers) add(Say(Text::kKept));
    const std::string title = Say(Text::kLoader) + Say(Text::kColon) + config().kind;
    if (!config().workers_known) {
      add(Say(diagnosis_.run.collected ? Text::kSettingsUnreported : Text::kSettingsUnknown));
      return {title, kNoFigure, "", settings, Tone::kUnknown};
    }
    if (config().num_workers == 0) return {title, "0", Say(Text::kWorkersUnit), settings};
    return {title, fmt::format("{} × {}", config().num_workers, config().prefetch_factor),
            Say(Text::kWorkersTimesPrefetch), settings};
  }

  const analyzer::Report& report_;
  const Diagnosis& diagnosis_;
  Language language_;
  std::string unit_;
  std::optional<RankShown> shown_;  // nullopt: a single rank
};

}  // namespace

Tone ToneOf(InputBound bound) {
  switch (bound) {
    case InputBound::kHighly:
      return Tone::kBad;
    case InputBound::kModerately:
      return Tone::kWarn;
    case InputBound::kNot:
      return Tone::kGood;
    case InputBound::kUnknown:
      break;
  }
  return Tone::kUnknown;
}

Tone ToneOfVerdict(const analyzer::Report& report) {
  const Tone tone = ToneOf(Judge(report));
  const bool unsure = report.diagnosis.confidence < analyzer::kLittleConfidence;
  return unsure && tone == Tone::kBad ? Tone::kWarn : tone;
}

std::string IdleText(const analyzer::DeviceActivity& device, Language language) {
  constexpr double kShown = 0.005;  // a smaller share would be shown as 0 %
  const analyzer::IdleCauses& idle = device.idle;
  const std::array<std::pair<double, Text>, 4> causes = {
      std::pair{idle.copy, Text::kGpuCauseCopy}, std::pair{idle.loader, Text::kGpuCauseLoader},
      std::pair{idle.sync, Text::kGpuCauseSync}, std::pair{idle.launch, Text::kGpuCauseLaunch}};
  const auto [time, cause] = *std::max_element(causes.begin(), causes.end());
  const double share = device.Share(time);
  const double unknown = device.Share(idle.unknown);
  if (std::max(share, unknown) <= 0) return "";
  const std::string known = analyzer::PercentText(share);
  if (share >= unknown) {
    return Filled(Text::kGpuOfTheTime, language, known, TextOf(cause, language));
  }
  const std::string_view open = TextOf(Text::kGpuCauseUnknown, language);
  const std::string rest = analyzer::PercentText(unknown);
  if (share < kShown) return Filled(Text::kGpuOfTheTime, language, rest, open);
  return Filled(Text::kGpuMostlyUnknown, language, rest, open, known, TextOf(cause, language));
}

std::string LineOf(const Card& card, bool unit_below) {
  return unit_below ? Beside(card.unit, card.line) : card.line;
}

std::vector<Card> CardsOf(const analyzer::Report& report, Language language) {
  const CardMaker maker(report, language);
  return report.diagnosis.loader ? maker.WithLoader() : maker.WithoutLoader();
}

std::string SureText(const analyzer::Report& report, Language language) {
  const Diagnosis& diagnosis = report.diagnosis;
  if (!diagnosis.loader) return "";
  std::string sure = Filled(Text::kConfidence, language, std::lround(100 * diagnosis.confidence));
  if (!analyzer::IsReplayed(diagnosis)) return sure;
  // No replay repeats a run exactly, so 0.0 is not shown.
  const double error = std::max(0.1, 100 * std::abs(diagnosis.loader->replay.error()));
  return sure + "  ·  " + Filled(Text::kReplayError, language, fmt::format("{:.1f}", error));
}

}  // namespace penstock::gui
