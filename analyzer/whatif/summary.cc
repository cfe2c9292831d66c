// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/summary.h"

#include <cmath>

#include <fmt/core.h>

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
  if (gain < 1.095) return fmt::format("{:.2f}x", gain);
  return gain < 9.95 ? fmt::format("{:.1f}x", gain) : fmt::format("{:.0f}x", gain);
}

// How the numbers of the sentence are counted.
std::string_view Unit(const Diagnosis& diagnosis) {
  const bool samples = !diagnosis.run.has_loader() || diagnosis.run.loader().samples_known;
  return samples ? "samples/s" : "batches/s";
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
  if (loader.fetched < 0.5 && found.bottleneck != Factor::kNone) {
    return fmt::format("{} takes most of the data threads' time ({}), and {} ({} {})",
                       Subject(found.bottleneck), Percent(1 - 1 / gain), waits, ShortNumber(rate),
                       Unit(diagnosis));
  }
  switch (found.bottleneck) {
    case Factor::kNone:
      return fmt::format(
          "Nothing stands out: no single part would gain 5 % by costing nothing, "
          "and {} ({} {})",
          waits, ShortNumber(rate), Unit(diagnosis));
    case Factor::kCompute:
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

std::string Doubts(const Diagnosis& diagnosis, const LoaderDiagnosis& loader) {
  if (loader.fetched < 0.5) {
    return "; most batches were made out of sight, so the parts of the data path are not known";
  }
  if (!loader.steady.steady) {
    return fmt::format("; only {} batches were recorded, so this is a hint",
                       diagnosis.run.loader().batches.size());
  }
  const double error = loader.replay.error();
  if (std::abs(error) > 0.05) {  // diagnosis.md section 5 rule 2
    return fmt::format("; the model is off by {:+.0f} % on this run, so take the figures as rough",
                       100 * error);
  }
  return "";
}

std::string WithoutLoader(const Diagnosis& diagnosis) {
  if (diagnosis.run.threads == 0) return "The trace holds no spans: nothing was seen of the run.";
  if (diagnosis.bottleneck == Factor::kNone) {
    return "No loader and no decoding was seen: there is nothing to name.";
  }
  const double share = 1 - 1 / diagnosis.gains.front().speedup;
  return fmt::format(
      "{} takes most of the data threads' time ({}) at {} samples/s; no loader was "
      "seen, so whether it holds the program back is not known.",
      Subject(diagnosis.bottleneck), Percent(share), ShortNumber(diagnosis.samples_rate));
}

}  // namespace

std::string ShortNumber(double value) {
  const double size = std::abs(value);
  if (size >= 100) return fmt::format("{:.0f}", value);
  if (size >= 10) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

std::string Summarise(const Diagnosis& diagnosis) {
  if (!diagnosis.loader) return WithoutLoader(diagnosis);
  return Headline(diagnosis, *diagnosis.loader) + Doubts(diagnosis, *diagnosis.loader) + ".";
}

}  // namespace penstock::analyzer
