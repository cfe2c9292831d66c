// SPDX-License-Identifier: Apache-2.0
//
// The verdict in Chinese: the same branches, figures and units as analyzer/diagnosis/summary.cc has
// in English. tests/gui/verdict_test.cc holds the two side by side.
#include <cmath>
#include <cstdlib>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/phrases.h"
#include "analyzer/words/format.h"
#include "gui/model/overview.h"

namespace penstock::gui {
namespace {

using analyzer::Diagnosis;
using analyzer::Factor;
using analyzer::LoaderDiagnosis;
using analyzer::ShortNumber;

std::string Percent(double fraction) {
  return fmt::format("{:.0f} %", 100 * fraction);
}

std::string_view NameIn(Factor factor) {
  return TextOf(NameOf(factor), Language::kChinese);
}

std::string_view UnitOf(const Diagnosis& diagnosis) {
  return UnitText(analyzer::RateUnit(diagnosis), Language::kChinese);
}

std::string Headline(const Diagnosis& diagnosis, const LoaderDiagnosis& loader) {
  const std::string_view unit = UnitOf(diagnosis);
  const double rate = diagnosis.samples_rate;
  const Factor bottleneck = loader.attribution.bottleneck;
  const double gain = loader.attribution.SpeedupOf(bottleneck);
  const std::string waits =
      fmt::format("训练循环有 {} 的时间在等待数据", Percent(diagnosis.wait_fraction));
  const std::string faster = fmt::format("速度可达 {:.2f} 倍（{} → {} {}）", gain,
                                         ShortNumber(rate), ShortNumber(rate * gain), unit);
  const bool unseen = loader.fetched < 0.5;
  if (unseen && bottleneck == Factor::kNone && diagnosis.wait_fraction >= 0.05) {
    return fmt::format("未能看到限制因素：{}（{} {}）", waits, ShortNumber(rate), unit);
  }
  // Shares of the threads' time name a stage; what it would gain to be without it they do not tell.
  if (unseen && bottleneck != Factor::kNone && bottleneck != Factor::kCompute) {
    return fmt::format("{}占用数据线程的大部分时间，{}（{} {}）", NameIn(bottleneck), waits,
                       ShortNumber(rate), unit);
  }
  switch (bottleneck) {
    case Factor::kNone:
      return fmt::format("没有突出的瓶颈：任一环节零成本的收益都不足 5 %，{}（{} {}）", waits,
                         ShortNumber(rate), unit);
    case Factor::kCompute:
      if (loader.attribution.headroom >= gain) {
        return fmt::format(
            "训练步的限制大于数据通路中任一环节：若无训练步，{}；若数据零成本，可达 {:.2f} 倍；{}",
            faster, loader.attribution.headroom, waits);
      }
      return fmt::format(
          "限制在于训练步而非数据：{}，即使数据零成本，速度也只有 {:.2f} 倍（{} {}）", waits,
          loader.attribution.headroom, ShortNumber(rate), unit);
    case Factor::kStartup:
      return fmt::format(
          "限制在于启动：各 epoch 首批到来之前占全程的 {}；若无启动开销，速度可达 {:.2f} 倍"
          "（{} → {} {}）",
          Percent(loader.signals.startup), gain, ShortNumber(diagnosis.whole_rate),
          ShortNumber(diagnosis.whole_rate * gain), unit);
    case Factor::kPrefetch:
      return fmt::format(
          "限制在于抖动：工作进程平均够快，但批次到来不均匀，队列太浅；若均匀到来，{}；{}", faster,
          waits);
    default:
      return fmt::format("限制在于{}：若其零成本，{}；{}", NameIn(bottleneck), faster, waits);
  }
}

std::string Doubts(const LoaderDiagnosis& loader) {
  if (loader.fetched < 0.5) return "；多数批次的制作过程不可见，因此各环节未知";
  const double error = loader.replay.error();
  if (std::abs(error) > 0.05) {
    return fmt::format("；模拟与此次运行相差 {:+.0f} %，数值仅供粗略参考", 100 * error);
  }
  return "";
}

// What diagnosis.needs says, by the conditions of analyzer::Missing().
std::string Needs(const Diagnosis& diagnosis, const LoaderDiagnosis& loader) {
  if (diagnosis.run.loader().config.fixed_batch) {
    return "需要加载器正常工作的录制，而此次录制使用了 --fixed-batch，始终重复同一批次";
  }
  if (diagnosis.run.loader().use == analyzer::LoopUse::kInterleaved) {
    return "需要依次使用的加载器，而此循环轮流从多个加载器取批次，模拟不支持；请用 penstock sweep "
           "测量其他设置";
  }
  if (!loader.steady.steady) {
    return fmt::format("队列填满后需要 16 个批次，现有 {} 个，请再多录制 {} 个",
                       loader.steady.batches, 16 - loader.steady.batches);
  }
  return fmt::format(
      "需要模拟能够解释的运行，而此次相差 {:+.0f} %：有记录缺失，或循环中有模拟未考虑的行为",
      100 * loader.replay.error());
}

// Without a figure: what a recording that does not suffice still hints at.
std::string Hint(const Diagnosis& diagnosis, const LoaderDiagnosis& loader) {
  const std::string waits =
      fmt::format("训练循环有 {} 的时间在等待", Percent(diagnosis.wait_fraction));
  const std::string why = "数据不足：" + Needs(diagnosis, loader);
  if (diagnosis.bottleneck == Factor::kNone) return fmt::format("{}；{}。", why, waits);
  return fmt::format("{}。线索：限制似乎在于{}，{}。", why, NameIn(diagnosis.bottleneck), waits);
}

std::string WithoutLoader(const Diagnosis& diagnosis) {
  if (diagnosis.run.threads == 0) {
    return "数据不足：此跟踪中没有记录，没有看到任何运行内容；penstock doctor 可说明能看到什么。";
  }
  if (diagnosis.gains.empty()) return "数据不足：没有看到加载器和解码，无法指出瓶颈。";
  if (diagnosis.bottleneck == Factor::kNone) {
    return "读取、解码和增强占各自线程不到 5 % "
           "的时间；没有看到加载器，无法判断它们是否限制了程序。";
  }
  const double share = 1 - 1 / diagnosis.gains.front().speedup;
  return fmt::format(
      "{}占用数据线程的大部分时间：{}，速率 {} {}；没有看到加载器，无法判断它是否限制了程序。",
      NameIn(diagnosis.bottleneck), Percent(share), ShortNumber(diagnosis.samples_rate),
      UnitOf(diagnosis));
}

std::string Chinese(const Diagnosis& diagnosis) {
  if (!diagnosis.loader) return WithoutLoader(diagnosis);
  const LoaderDiagnosis& loader = *diagnosis.loader;
  if (!diagnosis.needs.empty() && loader.fetched >= 0.5) return Hint(diagnosis, loader);
  return Headline(diagnosis, loader) + Doubts(loader) + "。";
}

}  // namespace

std::string_view UnitText(std::string_view unit, Language language) {
  const Text text = unit == "batches/s"  ? Text::kBatchesPerSecond
                    : unit == "images/s" ? Text::kImagesPerSecond
                                         : Text::kSamplesPerSecond;
  return TextOf(text, language);
}

std::string Typeset(std::string text) {
  const std::string_view first = std::string_view(text).substr(0, text.find(' '));
  const bool name = first.find_first_of("_./=()0123456789") != std::string_view::npos;
  if (!text.empty() && !name && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  for (std::size_t at = text.find(" -> "); at != std::string::npos; at = text.find(" -> ", at)) {
    text.replace(at, 4, " → ");
  }
  return text;
}

std::string VerdictText(const analyzer::Report& report, Language language) {
  return language == Language::kChinese ? Chinese(report.diagnosis) : report.diagnosis.summary;
}

}  // namespace penstock::gui
