// SPDX-License-Identifier: Apache-2.0
#include "loader/main/run.h"

#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "loader/io/cache_state.h"
#include "loader/main/progress.h"
#include "loader/pipeline/pipeline.h"
#include "loader/pipeline/synthetic_source.h"

namespace penstock::loader {
namespace {

constexpr std::uint32_t kStepOperation = 0xC0570004;
constexpr std::uint64_t kCacheProbes = 128;  // about 10 us each

// Looks at samples spread over the source and returns which share of their pages is in the page
// cache.
std::optional<double> CachedShare(const Source& source) {
  SampleScratch scratch;
  std::uint64_t pages = 0;
  std::uint64_t cached = 0;
  const std::uint64_t probes = std::min(source.size(), kCacheProbes);
  for (std::uint64_t i = 0; i < probes; ++i) {
    const auto ref = source.At(source.size() * i / probes, scratch);
    if (!ref) continue;
    const CacheState state = PageCacheState(*ref);
    if (!state.known) continue;
    pages += state.pages;
    cached += state.cached;
  }
  if (pages == 0) return std::nullopt;
  return static_cast<double>(cached) / static_cast<double>(pages);
}

// What is done with each batch: counting, hashing, a step.
class Consumer {
 public:
  Consumer(const LoadArguments& arguments, const StopFlag& stop, TimeNs start, Progress& progress)
      : arguments_(arguments), stop_(stop), start_(start), progress_(progress) {}

  Result<void> Consume(Pipeline& pipeline);
  void Fill(RunResult* result, TimeNs end) const;

 private:
  void Step(const Batch& batch);

  const LoadArguments& arguments_;
  const StopFlag& stop_;
  TimeNs start_;
  Progress& progress_;
  Digest digest_;
  StreamPosition next_;
  TimeNs first_{};
  TimeNs last_{};
  TimeNs step_{};
  std::uint64_t first_samples_ = 0;
  std::uint64_t samples_ = 0;
};

void Consumer::Step(const Batch& batch) {
  const Cost& step = arguments_.step;
  if (step.none()) return;
  const TimeNs from = SteadyNow();
  const SampleKey key = arguments_.pipeline.CostKey(batch.epoch(), batch.index());
  Spend(step, step.Draw(key, kStepOperation), stop_);
  step_ += SteadyNow() - from;
}

Result<void> Consumer::Consume(Pipeline& pipeline) {
  const bool limited = arguments_.longest.value > 0;
  for (;;) {
    Result<Batch> batch = pipeline.Next();
    PENSTOCK_TRY(batch);
    if (!*batch) return {};
    last_ = SteadyNow();
    if (samples_ == 0) {
      first_ = last_;
      first_samples_ = batch->size();
    }
    samples_ += batch->size();
    next_ = batch->next();
    if (arguments_.digest) digest_.Add(*batch);
    Step(*batch);
    progress_.Show(samples_);
    if (limited && SteadyNow() - start_ >= arguments_.longest) pipeline.RequestStop();
  }
}

void Consumer::Fill(RunResult* result, TimeNs end) const {
  result->seconds = Seconds(end - start_);
  result->first_batch_s = samples_ == 0 ? 0 : Seconds(first_ - start_);
  result->step_s = Seconds(step_);
  result->next = samples_ == 0 ? arguments_.pipeline.resume : next_;
  if (last_ > first_) {
    result->steady_samples_per_s =
        static_cast<double>(samples_ - first_samples_) / Seconds(last_ - first_);
  }
  result->digests.assign(digest_.epochs().begin(), digest_.epochs().end());
}

}  // namespace

Result<std::unique_ptr<Source>> OpenNamedSource(LoadArguments& arguments) {
  constexpr std::string_view kPrefix = "synthetic:";
  const std::string_view name = arguments.source;
  if (name.substr(0, kPrefix.size()) != kPrefix) {
    SourceOptions options;
    options.index_folder = arguments.index_folder;
    return OpenSource(arguments.source, options);
  }
  const std::string_view digits = name.substr(kPrefix.size());
  std::uint64_t samples = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), samples);
  constexpr std::uint64_t kMost = 1'000'000'000'000'000;  // sums of positions stay far below 2^64
  if (error != std::errc{} || end != digits.data() + digits.size() || samples == 0 ||
      samples > kMost) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{}: write synthetic:COUNT, with 1 to {} samples", name, kMost));
  }
  arguments.pipeline.read.on = false;  // there are no files
  arguments.pipeline.decode.on = false;
  constexpr std::uint64_t kClasses = 1000;
  return std::make_unique<SyntheticSource>(samples, kClasses);
}

Result<RunResult> RunPipeline(const LoadArguments& arguments, const Source& source,
                              const AugmentProgram& program, Tracer& tracer, StopSignals& signals) {
  RunResult result;
  result.source_kind = source.kind();
  result.dataset = source.size();
  result.classes = source.classes();
  if (arguments.pipeline.read.on) result.cached = CachedShare(source);

  const TimeNs start = SteadyNow();
  auto pipeline = Pipeline::Start(source, program, arguments.pipeline, tracer);
  PENSTOCK_TRY(pipeline);
  signals.Attach(pipeline->get());
  Progress progress((*pipeline)->order(), arguments.longest);
  Consumer consumer(arguments, signals.flag(), start, progress);
  Result<void> consumed = consumer.Consume(**pipeline);
  consumer.Fill(&result, SteadyNow());
  progress.Clear();
  (*pipeline)->Stop();
  signals.Attach(nullptr);
  PENSTOCK_TRY(consumed);
  result.stats = (*pipeline)->stats();
  result.threads = static_cast<unsigned>(result.stats.threads.size());
  if (arguments.pipeline.workers == 0 && !result.stats.threads.empty() &&
      result.stats.threads.back().name == "consumer") {
    --result.threads;
  }
  result.interrupted = signals.happened();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  result.peak_rss = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  return result;
}

}  // namespace penstock::loader
