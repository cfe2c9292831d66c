// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diagnosis/summary.h"

#include <cmath>

#include <fmt/core.h>

#include "analyzer/words/format.h"

namespace penstock::analyzer {
namespace {

std::string Percent(double fraction) {
  return fmt::format("{:.0f} %", 100 * fraction);
}

std::string_view Subject(Factor factor) {
  switch (factor) {
    case Factor::kRead:
      return "Reading";
    case Factor::kDecode:
      return "Decode";
    case Factor::kAugment:
      return "Augmentation";
    case Factor::kCollate:
      return "Collating batches";
    case Factor::kTransfer:
      return "Handing batches from workers to the program";
    case Factor::kH2d:
      return "The host-to-device copy";
    default:
      return "The run";
  }
}

std::string Times(double gain) {
  return fmt::format("{:.2f}x", gain);
}

// How the numbers of the sentence are counted.
std::string_view Unit(const Diagnosis& diagnosis) {
  if (!diagnosis.run.has_loader()) return diagnosis.samples_known ? "samples/s" : "images/s";
  return diagnosis.run.loader().samples_known ? "samples/s" : "batches/s";
}

std::string Headline(const Diagnosis& diagnosis, const LoaderDiagnosis& loader) {
  const Attribution& found = loader.attribution;
  const double gain = found.SpeedupOf(found.bottleneck);
  const double rate = diagnosis.samples_rate;
  const std::string waits =
      fmt::format("the loop waits for data {} of the time", Percent(diagnosis.wait_fraction));
  const std::string faster = fmt::format("{} faster ({} -> {} {})", Times(gain), ShortNumber(rate),
                                         ShortNumber(rate * gain), Unit(diagnosis));
  if (loader.fetched < 0.5 && found.bottleneck == Factor::kNone &&
      diagnosis.wait_fraction >= 0.05) {
    return fmt::format("What holds the run back was not seen: {} ({} {})", waits, ShortNumber(rate),
                       Unit(diagnosis));
  }
  // Shares of the threads' time name a stage; what it would gain to be without it they do not tell.
  if (loader.fetched < 0.5 && found.bottleneck != Factor::kNone &&
      found.bottleneck != Factor::kCompute) {
    return fmt::format("{} takes most of the data threads' time, and {} ({} {})",
                       Subject(found.bottleneck), waits, ShortNumber(rate), Unit(diagnosis));
  }
  switch (found.bottleneck) {
    case Factor::kNone:
      return fmt::format(
          "Nothing stands out: no single part would gain 5 % by costing nothing, "
          "and {} ({} {})",
          waits, ShortNumber(rate), Unit(diagnosis));
    case Factor::kCompute:
      if (found.headroom >= gain) {  // the data path as a whole gains more
        return fmt::format(
            "The training step holds the run back more than any one part of the data path: without "
            "the step it would run {}, with data that costs nothing {} as fast; {}",
            faster, Times(found.headroom), waits);
      }
      return fmt::format(
          "The training step holds the run back, not the data: {}, and with data "
          "that costs nothing it would run only {:.2f}x as fast ({} {})",
          waits, found.headroom, ShortNumber(rate), Unit(diagnosis));
    case Factor::kStartup:
      return fmt::format(
          "Starting up holds the run back: {} of the run passes before the first "
          "batches of its epochs; without that it would run {} faster "
          "({} -> {} {})",
          Percent(loader.signals.startup), Times(gain), ShortNumber(diagnosis.whole_rate),
          ShortNumber(diagnosis.whole_rate * gain), Unit(diagnosis));
    case Factor::kPrefetch:
      return fmt::format(
          "Jitter holds the run back: the workers are fast enough on average, but "
          "batches come unevenly and the queue is too shallow to hide it; with even "
          "batches it would run {}; {}",
          faster, waits);
    default:
      return fmt::format("{} holds the run back: if it cost nothing, the run would be {}; {}",
                         Subject(found.bottleneck), faster, waits);
  }
}

std::string Doubts(const LoaderDiagnosis& loader) {
  if (loader.fetched < 0.5) {
    return "; most batches were made out of sight, so the parts of the data path are not known";
  }
  const double error = loader.replay.error();
  if (std::abs(error) > 0.05) {  // docs/diagnosis.md 5.2
    return fmt::format(
        "; the simulation is off by {:+.0f} % on this run, so take the figures as rough",
        100 * error);
  }
  return "";
}

// Without a figure: what a recording that does not suffice still hints at.
std::string Hint(const Diagnosis& diagnosis) {
  const std::string_view name = FactorName(diagnosis.bottleneck);
  const std::string waits =
      fmt::format("the loop waited {} of the time", Percent(diagnosis.wait_fraction));
  const std::string why = "N" + diagnosis.needs.substr(1);  // "Not enough: needs ..."
  if (diagnosis.loader->steady.batches == 0) return why + ".";
  return diagnosis.bottleneck == Factor::kNone
             ? fmt::format("{}; {}.", why, waits)
             : fmt::format("{}. As a hint: {} seems to hold the run back, and {}.", why, name,
                           waits);
}

std::string WithoutLoader(const Diagnosis& diagnosis) {
  if (diagnosis.run.threads == 0) {
    return "Not enough: the trace holds no spans, so nothing was seen of the run; penstock doctor "
           "tells what can be seen of a program.";
  }
  if (diagnosis.gains.empty()) {
    return "Not enough: no loader and no decoding was seen, so there is nothing to name.";
  }
  if (diagnosis.bottleneck == Factor::kNone) {
    return "Reading, decoding and augmenting take under 5 % of the time of their threads; no "
           "loader was seen, so whether they hold the program back is not known.";
  }
  const double share = 1 - 1 / diagnosis.gains.front().speedup;
  const std::string rate =
      diagnosis.samples_rate > 0
          ? fmt::format(", at {} {}", ShortNumber(diagnosis.samples_rate), Unit(diagnosis))
          : "";
  return fmt::format(
      "{} takes most of what the data threads do, {} of their time{}; no loader was seen, so "
      "whether it holds the program back is not known.",
      Subject(diagnosis.bottleneck), Percent(share), rate);
}

}  // namespace

std::string Summarise(const Diagnosis& diagnosis) {
  if (!diagnosis.loader) return WithoutLoader(diagnosis);
  const bool figures = diagnosis.loader->fetched < 0.5 && diagnosis.loader->steady.batches > 0;
  if (!diagnosis.needs.empty() && !figures) return Hint(diagnosis);
  return Headline(diagnosis, *diagnosis.loader) + Doubts(*diagnosis.loader) + ".";
}

}  // namespace penstock::analyzer
