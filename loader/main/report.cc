// SPDX-License-Identifier: Apache-2.0
#include "loader/main/report.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "loader/main/device_report.h"
#include "loader/main/json_object.h"

namespace penstock::loader {
namespace {

constexpr std::array<Stage, kStages> kAllStages = {Stage::kRead, Stage::kDecode, Stage::kAugment};

std::string_view StageName(Stage stage) {
  return stage == Stage::kRead ? "read" : stage == Stage::kDecode ? "decode" : "augment";
}

// How a stage ran: "real", "off", or "synthetic" if a cost was spent instead.
std::string_view StageMode(const StageOptions& stage) {
  return stage.on ? "real" : stage.cost.none() ? "off" : "synthetic";
}

std::string Length(TimeNs time) {
  const double seconds = Seconds(time);
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.1f} us", seconds * 1e6);
}

void AppendQuantiles(std::string& out, const Histogram& lengths) {
  Object(out)
      .Number("p50_s", Seconds(lengths.Quantile(0.5)))
      .Number("p99_s", Seconds(lengths.Quantile(0.99)))
      .Count("count", lengths.count());
}

void AppendLoader(std::string& out, const LoadArguments& arguments, const RunResult& result) {
  const PipelineOptions& options = arguments.pipeline;
  Object(out)
      .Text("kind", "penstock")
      .Count("num_workers", result.threads)
      .Count("prefetch_factor", options.prefetch)
      .Count("batch_size", options.batch)
      .Count("read_ahead", options.read_ahead)
      .Text("io", IoMethodName(options.reader.method))
      .Text("ops", arguments.ops)
      .Count("seed", options.seed)
      .Count("rank", options.rank)
      .Count("world", options.world);
}

void AppendStages(std::string& out, const LoadArguments& arguments, const RunResult& result) {
  AppendList(out, kAllStages, [&](Stage stage) {
    const StageStats& stats = result.stats.stage(stage);
    Object(out)
        .Text("name", StageName(stage))
        .Text("mode", StageMode(arguments.pipeline.stage(stage)))
        .Text("on", PlaceOf(arguments, stage))
        .Number("wall_s", Seconds(stats.wall))
        .Number("cpu_s", Seconds(stats.cpu))
        .Count("count", stats.count)
        .Count("bytes", stats.bytes)
        .Number("p50_s", Seconds(stats.lengths.Quantile(0.5)))
        .Number("p99_s", Seconds(stats.lengths.Quantile(0.99)));
  });
}

void AppendThreads(std::string& out, const RunResult& result) {
  AppendList(out, result.stats.threads, [&](const ThreadStats& thread) {
    Object object(out);
    object.Text("name", thread.name)
        .Number("occupancy", thread.occupancy())
        .Number("busy_s", Seconds(thread.life - thread.idle))
        .Number("idle_s", Seconds(thread.idle))
        .Number("cpu_s", Seconds(thread.cpu))
        .Count("samples", thread.samples);
    for (const Stage stage : kAllStages) {
      const StageStats& stats = thread.stages[static_cast<std::size_t>(stage)];
      const std::string name(StageName(stage));
      object.Number(name + "_wall_s", Seconds(stats.wall))
          .Number(name + "_cpu_s", Seconds(stats.cpu));
    }
  });
}

void AppendErrors(std::string& out, const RunResult& result) {
  AppendList(out, result.stats.first_errors, [&](const SampleError& error) {
    Object(out)
        .Count("epoch", error.at.epoch)
        .Count("position", error.at.position)
        .Count("sample", error.sample)
        .Text("message", error.message);
  });
}

double FileBytes(const RunResult& result) {
  const StageStats& read = result.stats.stage(Stage::kRead);
  return Ratio(static_cast<double>(read.bytes), static_cast<double>(read.count));
}

double Megapixels(const RunResult& result) {
  const StageStats& decode = result.stats.stage(Stage::kDecode);
  return Ratio(static_cast<double>(result.stats.pixels) * 1e-6, static_cast<double>(decode.count));
}

}  // namespace

std::string JsonReport(const LoadArguments& arguments, const RunResult& result) {
  const PipelineStats& stats = result.stats;
  std::string out;
  {
    Object report(out);
    report.Text("schema", "penstock.load/1")
        .Text("source", arguments.source)
        .Text("source_kind", result.source_kind)
        .Count("dataset_len", result.dataset)
        .Count("classes", result.classes)
        .Number("samples_per_s", result.samples_per_s())
        .Number("steady_samples_per_s", result.steady_samples_per_s)
        .Number("samples_per_core_s", result.samples_per_core())
        .Count("samples", stats.samples)
        .Count("batches", stats.batches)
        .Count("errors", stats.errors)
        .Count("warnings", stats.warnings)
        .Number("first_batch_s", result.first_batch_s)
        .Number("duration_s", result.seconds)
        .Number("open_s", result.open_s)
        .Number("step_s", result.step_s)
        .Number("cpu_s", Seconds(stats.worker_cpu))
        .Number("bytes_per_s", Ratio(static_cast<double>(stats.io_bytes), result.seconds))
        .Number("mean_file_bytes", FileBytes(result))
        .Number("mean_megapixels", Megapixels(result))
        .Count("ring_bytes", stats.ring_bytes)
        .Count("peak_rss_bytes", result.peak_rss)
        .Count("ram_cache_hits", stats.io_cache_hits)
        .Count("direct_refused", stats.io_direct_refused)
        .Flag("interrupted", result.interrupted)
        .Text("resume_at", fmt::format("{}:{}", result.next.epoch, result.next.position));
    if (result.cached) {
      report.Number("page_cache_share", *result.cached);
    } else {
      report.Key("page_cache_share") += "null";
    }
    AppendLoader(report.Key("loader"), arguments, result);
    AppendStages(report.Key("stages"), arguments, result);
    AppendPlacement(report.Key("placement"), arguments, stats.device);
    if (stats.device.batches != 0) AppendDevice(report.Key("device"), stats.device);
    AppendQuantiles(report.Key("batch_latency"), stats.batch_latency);
    {
      Object wait(report.Key("wait"));
      wait.Number("total_s", Seconds(stats.wait))
          .Number("fraction", Ratio(Seconds(stats.wait), result.seconds))
          .Number("p50_s", Seconds(stats.waits.Quantile(0.5)))
          .Number("p99_s", Seconds(stats.waits.Quantile(0.99)))
          .Number("ready_share", stats.ready_share)
          .Number("mean_ready_batches", stats.mean_ready);
    }
    AppendThreads(report.Key("threads"), result);
    AppendErrors(report.Key("first_errors"), result);
    if (arguments.digest) {
      AppendList(report.Key("digest"), result.digests, [&](const EpochDigest& digest) {
        Object(out)
            .Count("epoch", digest.epoch)
            .Count("samples", digest.samples)
            .Text("ordered", fmt::format("{:016x}", digest.ordered))
            .Text("unordered", fmt::format("{:016x}", digest.unordered));
      });
    }
  }
  out += '\n';
  return out;
}

std::string TextReport(const LoadArguments& arguments, const RunResult& result) {
  const PipelineStats& stats = result.stats;
  std::string out = fmt::format(
      "{} images in {:.2f} s{}: {:.0f} images/s, {:.0f} per core ({:.2f} core-seconds busy), "
      "{:.1f} MB/s\n",
      stats.samples, result.seconds, result.interrupted ? ", interrupted" : "",
      result.samples_per_s(), result.samples_per_core(), Seconds(stats.worker_cpu),
      Ratio(static_cast<double>(stats.io_bytes) * 1e-6, result.seconds));
  out += fmt::format("first batch after {:.1f} ms; files {:.1f} KB, {:.2f} megapixels on average",
                     result.first_batch_s * 1e3, FileBytes(result) * 1e-3, Megapixels(result));
  if (result.cached) out += fmt::format("; page cache held {:.0f} % before", *result.cached * 100);
  out += fmt::format(
      "\nbatch: made in {} (p50), {} (p99); waited for {} (p50), {} (p99), {:.0f} % of the run\n",
      Length(stats.batch_latency.Quantile(0.5)), Length(stats.batch_latency.Quantile(0.99)),
      Length(stats.waits.Quantile(0.5)), Length(stats.waits.Quantile(0.99)),
      100 * Ratio(Seconds(stats.wait), result.seconds));
  out += fmt::format("{:<10}{:>10}{:>10}{:>12}{:>12}\n", "stage", "wall", "cpu", "p50", "p99");
  for (const Stage stage : kAllStages) {
    const StageStats& of = stats.stage(stage);
    const std::string_view mode = StageMode(arguments.pipeline.stage(stage));
    out += fmt::format("{:<10}{:>8.2f} s{:>8.2f} s{:>12}{:>12}{}\n", StageName(stage),
                       Seconds(of.wall), Seconds(of.cpu), Length(of.lengths.Quantile(0.5)),
                       Length(of.lengths.Quantile(0.99)),
                       mode != "real"                          ? fmt::format("  ({})", mode)
                       : PlaceOf(arguments, stage) == "device" ? "  (on the device; here: handover)"
                                                               : "");
  }
  out += DeviceText(stats.device);
  out += "threads:";
  for (const ThreadStats& thread : stats.threads) {
    out += fmt::format(" {} {:.0f} %", thread.name, thread.occupancy() * 100);
  }
  out += " busy\n";
  if (stats.io_direct_refused != 0) {
    out += fmt::format("{} reads went through the page cache: the file system refuses O_DIRECT\n",
                       stats.io_direct_refused);
  }
  if (stats.errors != 0) {
    out +=
        fmt::format("{} damaged sample{} replaced:\n", stats.errors, stats.errors == 1 ? "" : "s");
    for (const SampleError& error : stats.first_errors) out += fmt::format("  {}\n", error.message);
    if (stats.errors > stats.first_errors.size()) {
      out += fmt::format("  and {} more\n", stats.errors - stats.first_errors.size());
    }
  }
  for (const EpochDigest& digest : result.digests) {
    out += fmt::format("digest of epoch {}: {:016x} in order, {:016x} in any, {} samples\n",
                       digest.epoch, digest.ordered, digest.unordered, digest.samples);
  }
  if (result.interrupted) {
    out +=
        fmt::format("continue with --resume-at {}:{}\n", result.next.epoch, result.next.position);
  }
  return out;
}

}  // namespace penstock::loader
