// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "analyzer/report/report.h"
#include "analyzer/report/stage_wholes.h"
#include "analyzer/words/format.h"
#include "analyzer/words/names.h"
#include "analyzer/words/page.h"
#include "analyzer/words/report.h"

namespace penstock::analyzer {
namespace {

using traces::StageId;

// The order in which data passes through the stages. Stages that contain others (sample, fetch)
// come after these.
constexpr std::array kOrder = {
    StageId::kRead,    StageId::kDecode, StageId::kAugment, StageId::kTokenize, StageId::kSample,
    StageId::kCollate, StageId::kFetch,  StageId::kPut,     StageId::kGet,      StageId::kPin,
    StageId::kWait,    StageId::kIdle,   StageId::kH2d,     StageId::kStep,     StageId::kStartup,
    StageId::kKernel,  StageId::kSync};

StageRow RowOf(std::string name, const PartTotals& totals, double whole) {
  StageRow row;
  row.name = std::move(name);
  row.wall = Seconds(totals.wall);
  row.cpu = totals.cpu_known() ? Seconds(totals.cpu) : 0;
  row.cpu_known = totals.cpu_known();
  row.count = totals.count;
  row.p50 = totals.durations.Quantile(0.5);
  row.p99 = totals.durations.Quantile(0.99);
  row.bytes = totals.bytes.value;
  row.share = whole > 0 ? std::max(row.wall / whole, 0.0) : 0;
  return row;
}

// The number of GPUs for which `counts` is true. They are GPUs of the main loader's process or, if
// there is no loader, of all processes. GPUs of other ranks do not count, because
// StageWholes already includes the loops of all ranks.
template <class Counts>
std::size_t DevicesWith(const RunModel& run, Counts counts) {
  std::size_t devices = 0;
  const auto add = [&](const DeviceRecords& records) {
    if (!records.on_device && records.kernel_count == 0) return;
    for (const DeviceLog& log : records.devices) devices += counts(records, log) ? 1U : 0U;
  };
  add(run.device);
  for (const DeviceRecords& records : run.devices_alone) add(records);
  return devices;
}

// How many GPUs do `stage` in parallel; 1 for stages of the host.
std::size_t DevicesOf(StageId stage, const RunModel& run) {
  std::size_t devices = 1;
  if (stage == StageId::kH2d) {
    devices = DevicesWith(run, [](const DeviceRecords& records, const DeviceLog& log) {
      return records.on_device &&
             std::any_of(records.copies.begin(), records.copies.end(),
                         [&](const DeviceCopy& copy) { return copy.device == log.device; });
    });
  } else if (stage == StageId::kKernel) {
    devices = DevicesWith(run, [](const DeviceRecords& /*records*/, const DeviceLog& log) {
      return log.kernels > 0;
    });
  }
  return std::max<std::size_t>(1, devices);
}

}  // namespace

bool OfWorkers(StageId stage) {
  switch (stage) {
    case StageId::kRead:
    case StageId::kDecode:
    case StageId::kAugment:
    case StageId::kTokenize:
    case StageId::kSample:
    case StageId::kCollate:
    case StageId::kFetch:
    case StageId::kPut:
      return true;
    default:
      return false;
  }
}

std::string ShareText(double share, StageId stage, Language language) {
  constexpr double kSeveral = 1.05;
  constexpr double kLittle = 0.0005;  // would be rounded to 0.0 %
  if (share > 0 && share < kLittle) return "< 0.1 %";
  if (share < kSeveral) return PercentText(share);
  // Streams of a device are no threads.
  if (stage == StageId::kKernel || stage == StageId::kH2d || stage == StageId::kCopy) {
    return Render(Say<words::kShareOfStreams>(Give<"streams">(share)), language);
  }
  return Render(Say<words::kShareOfThreads>(Give<"threads">(share)), language);
}

std::string ShareText(const StageRow& row, Language language) {
  return ShareText(row.share / static_cast<double>(row.devices), row.stage, language);
}

std::string StageText(const StageRow& row, Language language) {
  if (row.rest) return Render(Say<words::kOtherCodeOfSamples>(), language);
  // The name of a part of a stage, such as "jpeg", comes from the trace and is not translated.
  if (row.name != traces::StageName(row.stage)) return row.name;
  if (row.devices < 2) return std::string(NameIn(row.name, language));
  return Render(Say<words::kStageOfDevices>(Give<"stage">(row.name), Give<"devices">(row.devices)),
                language);
}

std::string StageHead(const Report& report, Language language) {
  const RankSummary& ranks = report.diagnosis.ranks;
  if (!ranks.several()) return Render(Say<words::kColumnStage>(), language);
  return Render(Say<words::kColumnStageOfRanks>(Give<"ranks">(ranks.rows.size())), language);
}

std::vector<StageRow> BuildStageRows(const traces::Trace& trace, const RunModel& run) {
  constexpr std::size_t kMostChildren = 32;
  const StageWholes wholes = WholesOf(run, run.stages);
  std::vector<StageRow> rows;
  for (const StageId stage : kOrder) {
    StageTotals derived;
    const StageTotals* totals = &run.stages[stage];
    if (stage == StageId::kStep && DerivesSteps(run)) {
      for (const LoopStep& step : StepsOf(run)) {
        derived.Add(static_cast<std::int64_t>(step.seconds * 1e9), -1, 0);
      }
      totals = &derived;
    }
    if (totals->count == 0) continue;
    const double whole = wholes.Of(stage);
    StageRow row = RowOf(std::string(traces::StageName(stage)), *totals, whole);
    row.of_workers = OfWorkers(stage);
    row.stage = stage;
    row.mixed = IsMixed(*totals);
    row.devices = DevicesOf(stage, run);
    for (const auto& [name, part] : totals->children) {
      row.children.push_back(RowOf(std::string(trace.String(name)), part, whole));
      row.children.back().of_workers = row.of_workers;
      row.children.back().stage = stage;
      row.children.back().devices = row.devices;
    }
    if (const double rest = UnnamedTime(stage, *totals); rest > 0) {
      StageRow& child = row.children.emplace_back();
      child.name = English(Say<words::kOtherCodeOfSamples>());
      child.wall = rest;
      child.share = whole > 0 ? rest / whole : 0;
      child.of_workers = row.of_workers;
      child.stage = stage;
      child.rest = child.mixed = true;
    }
    std::stable_sort(row.children.begin(), row.children.end(),
                     [](const StageRow& a, const StageRow& b) { return a.wall > b.wall; });
    if (row.children.size() > kMostChildren) row.children.resize(kMostChildren);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace penstock::analyzer
