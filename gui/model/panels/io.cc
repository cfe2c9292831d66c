// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/io.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "analyzer/predict/suggest.h"

namespace penstock::gui {
namespace {

using traces::Counted;
using traces::StageId;

constexpr std::size_t kIoBins = 240;
// The curve of bins of three or four reads would show waves that are not in the run. Of this many
// reads, one more or less changes a bin by 6 %.
constexpr std::size_t kReadsPerBin = 16;
constexpr std::size_t kFewestBins = 24;

// The seconds that at least one interval covers.
double United(std::vector<std::pair<std::int64_t, std::int64_t>>& stretches) {
  std::sort(stretches.begin(), stretches.end());
  std::int64_t sum = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (const auto& [from, to] : stretches) {
    if (to <= end) continue;
    sum += to - std::max(from, end);
    end = to;
  }
  return static_cast<double>(sum) * 1e-9;
}

// The edges in a decade. Source: ISO 3, the series R10 of preferred numbers, with 3.15 as 3.2.
constexpr std::array<double, SizeBins::kPerDecade> kEdges = {1,   1.25, 1.6, 2,   2.5,
                                                             3.2, 4,    5,   6.3, 8};
constexpr std::size_t kDecades = 20;  // enough for 64 bits

double EdgeAt(std::size_t place) {
  double decade = 1;
  for (std::size_t i = 0; i < place / kEdges.size(); ++i) decade *= 10;
  return decade * kEdges[place % kEdges.size()];
}

std::size_t SizeBin(std::uint64_t bytes) {
  std::size_t first = 0;  // place in its decade
  double decade = 1;
  for (std::uint64_t rest = bytes; rest >= 10; rest /= 10) {
    first += kEdges.size();
    decade *= 10;
  }
  std::size_t edge = 0;
  while (edge + 1 < kEdges.size() && decade * kEdges[edge + 1] <= static_cast<double>(bytes)) {
    ++edge;
  }
  return first + edge;
}

// What a worker reads of files before the first sample of its counter `disk_read_bytes`.
struct EarlyReads {
  const analyzer::CounterSeries* counter = nullptr;
  double first = 0;  // seconds; when the first of these reads begins
  double bytes = 0;  // of these reads
};

// The counters of what processes read from storage, by process.
std::map<std::uint32_t, EarlyReads> DiskCounters(const Analysis& analysis) {
  std::map<std::uint32_t, EarlyReads> counters;
  for (const analyzer::CounterSeries& counter : analysis.report.diagnosis.run.counters) {
    if (counter.name != "disk_read_bytes" || counter.at.empty()) continue;
    counters[counter.process.value].counter = &counter;
  }
  return counters;
}

// Collects reads one by one.
class Collector {
 public:
  Collector(const traces::Trace& trace, const Analysis& analysis, IoModel& io)
      : trace_(trace), io_(io), disk_(DiskCounters(analysis)), first_(trace) {}

  void Add(ThreadId thread, const Counted& counted) {
    const traces::Span& span = *counted.span;
    const std::uint64_t bytes = span.bytes.value;
    const double wall = static_cast<double>(counted.wall) * 1e-9;
    ++io_.reads;
    io_.bytes += bytes;
    io_.wall += wall;
    if ((span.flags & wire::kFlagMapped) != 0) io_.mapped += bytes;
    if ((span.flags & wire::kFlagNetwork) != 0) io_.network += bytes;
    const std::int64_t start = span.start.value - trace_.begin().value;
    // If a file is read in pieces, its span is longer than its calls together. The bytes are
    // counted as if the calls followed each other from the begin of the span.
    const std::int64_t end = start + std::max<std::int64_t>(counted.wall, 0);
    stretches_.emplace_back(start, end);
    io_.seen.Spread(static_cast<double>(start) * 1e-9, static_cast<double>(end) * 1e-9,
                    static_cast<double>(bytes));
    const std::size_t bin = SizeBin(bytes);
    reads_[bin] += 1;
    bytes_[bin] += bytes;
    const std::uint32_t process = trace_.threads()[thread.value].process.value;
    if (readers_.empty() || *readers_.rbegin() != process) readers_.insert(process);
    if ((span.flags & wire::kFlagNetwork) == 0) {
      AddEarly(process, static_cast<double>(start) * 1e-9, static_cast<double>(bytes));
    }
    AddToFile(thread, counted);
  }

  // A decode counts for a file that was read before.
  void AddDecode(StringId file, ThreadId thread, const Counted& counted) {
    const auto found = places_.find(file.value);
    if (found == places_.end()) return;
    FileRow& row = io_.files[found->second];
    const std::int64_t start = counted.span->start.value - trace_.begin().value;
    const bool first = first_.Hold(thread, start);
    (first ? row.first_decode : row.decode) += static_cast<double>(counted.wall) * 1e-9;
    io_.decoded = io_.decoded || !first;
  }

  void Finish() {
    io_.active = United(stretches_);
    io_.seen.Join(JoinedBins());
    io_.seen.Divide(std::max(io_.seen.width, 1e-12));
    io_.file_count = io_.files.size();
    if (io_.files.size() > IoModel::kMostFiles) {
      const auto middle = io_.files.begin() + static_cast<std::ptrdiff_t>(IoModel::kMostFiles);
      std::nth_element(io_.files.begin(), middle, io_.files.end(), Longer);
      io_.files.erase(middle, io_.files.end());
    }
    std::stable_sort(io_.files.begin(), io_.files.end(), Longer);
    FindFolder();
    FillSizes();
  }

  // Fills the curve of what the readers got from storage.
  void AddDisk() {
    Series disk(io_.seen.from, io_.seen.to(), io_.seen.value.size());
    bool known = false;
    for (const auto& [process, early] : disk_) {
      if (readers_.count(process) == 0) continue;
      const analyzer::CounterSeries& counter = *early.counter;
      known = known || counter.at.size() >= 2;
      // What was read before the first sample is mostly not data, but libraries that the process
      // loads when it starts. Of a worker, at most as much counts as it read of files until then.
      if (trace_.processes()[process].role == wire::kRoleWorker && early.bytes > 0) {
        disk.Spread(early.first, counter.at.front(), std::min(counter.value.front(), early.bytes));
      }
      SpreadGrowth(counter, disk);
    }
    if (!known) return;
    io_.disk_bytes = static_cast<std::uint64_t>(disk.sum());
    disk.Divide(std::max(disk.width, 1e-12));
    io_.disk = std::move(disk);
  }

 private:
  static bool Longer(const FileRow& a, const FileRow& b) { return a.total() > b.total(); }

  // How many bins are to be joined so that each holds many reads.
  [[nodiscard]] std::size_t JoinedBins() const {
    std::size_t joined = 1;
    for (std::size_t next = 2; next <= kIoBins / kFewestBins; ++next) {
      if (kIoBins % next != 0) continue;
      if (joined * io_.reads >= kReadsPerBin * kIoBins) break;
      joined = next;
    }
    return joined;
  }

  void AddEarly(std::uint32_t process, double at, double bytes) {
    const auto disk = disk_.find(process);
    if (disk == disk_.end() || at >= disk->second.counter->at.front()) return;
    EarlyReads& early = disk->second;
    early.first = early.bytes > 0 ? std::min(early.first, at) : at;
    early.bytes += bytes;
  }

  void AddToFile(ThreadId thread, const Counted& counted) {
    const traces::Span& span = *counted.span;
    if (span.object.value == 0) return;
    io_.paths = true;
    const auto [place, fresh] =
        places_.try_emplace(span.object.value, static_cast<std::uint32_t>(io_.files.size()));
    if (fresh) io_.files.emplace_back().object = span.object;
    FileRow& file = io_.files[place->second];
    ++file.reads;
    file.bytes += span.bytes.value;
    file.wall += static_cast<double>(counted.wall) * 1e-9;
    if (fresh || counted.wall > file.slowest.wall) {
      file.slowest = CallOf(trace_, thread, counted);
    }
    const std::uint32_t sample = DetailOf(span).sample;
    if (sample == SpanDetail::kNoSample) return;
    const auto end = file.samples.begin() + static_cast<std::ptrdiff_t>(file.sample_count);
    if (std::find(file.samples.begin(), end, sample) != end) return;
    if (file.sample_count < file.samples.size()) {
      file.samples[file.sample_count++] = sample;
    } else {
      file.more_samples = true;
    }
  }

  // Finds the folder that contains all files.
  void FindFolder() {
    std::string_view common;
    for (const FileRow& file : io_.files) {
      const std::string_view path = trace_.String(file.object);
      if (&file == io_.files.data()) common = path;
      const auto [end, other] =
          std::mismatch(common.begin(), common.end(), path.begin(), path.end());
      common = common.substr(0, static_cast<std::size_t>(end - common.begin()));
    }
    io_.folder = std::string(common.substr(0, common.rfind('/') + 1));
  }

  void FillSizes() {
    std::size_t low = reads_.size();
    std::size_t high = 0;
    for (std::size_t i = 0; i < reads_.size(); ++i) {
      if (reads_[i] == 0) continue;
      low = std::min(low, i);
      high = i;
    }
    if (low > high) return;
    // Adds empty bins on both sides, because only round edges get a label. Among the edges of nine
    // bins at least two are round, so that even a single bar can be read.
    constexpr std::size_t kRoom = 4;
    low -= std::min(low, kRoom);
    high = std::min(high + kRoom, reads_.size() - 1);
    io_.sizes.first = low;
    std::uint64_t below = 0;
    for (std::size_t i = low; i <= high; ++i) {
      io_.sizes.reads.push_back(reads_[i]);
      io_.sizes.bytes.push_back(bytes_[i]);
      const bool middle = below * 2 < io_.reads && (below + reads_[i]) * 2 >= io_.reads;
      if (middle && reads_[i] > 0) {
        io_.sizes.median = static_cast<double>(bytes_[i]) / static_cast<double>(reads_[i]);
      }
      below += reads_[i];
    }
  }

  const traces::Trace& trace_;
  IoModel& io_;
  std::array<std::uint64_t, kDecades * SizeBins::kPerDecade> reads_{};
  std::array<std::uint64_t, kDecades * SizeBins::kPerDecade> bytes_{};
  std::unordered_map<std::uint32_t, std::uint32_t> places_;  // index into io_.files, by object
  std::set<std::uint32_t> readers_;                          // processes
  std::map<std::uint32_t, EarlyReads> disk_;                 // by process
  FirstSamples first_;
  std::vector<std::pair<std::int64_t, std::int64_t>> stretches_;
};

void JudgeCache(const DataSet& set, IoModel& io) {
  const bool remote = set.device == "network" || set.file_system.starts_with("fuse") ||
                      set.file_system == "9p" || set.file_system == "virtiofs";
  if (set.device == "memory") {
    io.sight = CacheSight::kNoDisk;
  } else if (remote) {
    io.sight = CacheSight::kElsewhere;
  } else if (io.network > io.bytes - std::min(io.network, io.bytes)) {
    io.sight = CacheSight::kNetwork;
  } else if (!io.disk.empty() && io.bytes > 0) {
    io.sight = CacheSight::kKnown;
    const double share =
        static_cast<double>(io.disk_bytes) / static_cast<double>(io.bytes - io.network);
    io.cached = std::clamp(1 - share, 0.0, 1.0);
  }
}

}  // namespace

double SizeBins::EdgeOf(std::size_t bin) const {
  return EdgeAt(first + bin);
}

bool SizeBins::IsRound(std::size_t bin) const {
  const std::size_t place = (first + bin) % kPerDecade;
  return place == 0 || place == 3 || place == 7;
}

IoModel BuildIo(const Extent& extent, const Analysis& analysis, const std::stop_token& stop) {
  IoModel io;
  io.seen = Series(extent.from(), std::max(extent.to(), extent.from() + 1e-9), kIoBins);
  Collector collector(*extent.trace, analysis, io);
  FileAtHand at_hand;
  ForEachCall(extent, stop, [&](ThreadId thread, const Counted& counted) {
    at_hand.Add(thread, counted);
    if (counted.stage == StageId::kDecode && counted.outermost) {
      collector.AddDecode(at_hand.Of(counted), thread, counted);
    }
    // A synthetic read is the wait before a read. It is time of the stage, but not a read.
    if (counted.stage != StageId::kRead) return;
    if (counted.synthetic) io.waits += static_cast<double>(counted.wall) * 1e-9;
    if (!counted.synthetic && counted.outermost) collector.Add(thread, counted);
  });
  collector.Finish();
  collector.AddDisk();
  JudgeCache(DataSetOf(*extent.trace, analysis.report), io);
  return io;
}

std::vector<std::uint32_t> SortFiles(const traces::Trace& trace, std::span<const FileRow> files,
                                     FileColumn column, bool descending) {
  std::vector<std::uint32_t> order(files.size());
  std::iota(order.begin(), order.end(), 0U);
  if (column == FileColumn::kPath) {
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const int order_of = trace.String(files[a].object).compare(trace.String(files[b].object));
      return descending ? order_of > 0 : order_of < 0;
    });
    return order;
  }
  const auto key = [&](std::uint32_t i) {
    const FileRow& file = files[i];
    switch (column) {
      case FileColumn::kReads:
        return static_cast<double>(file.reads);
      case FileColumn::kBytes:
        return static_cast<double>(file.bytes);
      case FileColumn::kTotal:
        return file.total_known() ? file.total() : -1.0;
      case FileColumn::kRate:
        return file.rate();
      case FileColumn::kLongest:
        return static_cast<double>(file.slowest.wall);
      default:
        return file.wall;
    }
  };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return descending ? key(a) > key(b) : key(a) < key(b);
  });
  return order;
}

DataSet DataSetOf(const traces::Trace& trace, const analyzer::Report& report) {
  DataSet set;
  set.root = analyzer::TextFact(trace.facts(), "dataset.root");
  const std::string storage = analyzer::TextFact(trace.facts(), "dataset.storage");
  const std::size_t space = storage.find(' ');
  set.file_system = storage.substr(0, space);
  if (space != std::string::npos) set.device = storage.substr(storage.find_last_of(' ') + 1);
  if (report.diagnosis.loader) {
    set.bytes = report.diagnosis.loader->material.dataset_bytes;
    set.estimated = analyzer::NumberFact(trace.facts(), "dataset.bytes").value_or(0) <= 0;
    set.samples = report.diagnosis.run.loader().config.dataset_length;
  }
  set.memory = static_cast<double>(report.diagnosis.run.machine().memory().value);
  return set;
}

std::vector<const analyzer::Finding*> FindingsAmong(const analyzer::Report& report,
                                                    std::span<const std::string_view> ids) {
  std::vector<const analyzer::Finding*> found;
  for (const analyzer::Finding& finding : report.findings) {
    if (std::find(ids.begin(), ids.end(), finding.id) != ids.end()) found.push_back(&finding);
  }
  return found;
}

std::vector<analyzer::NotChecked> UncheckedAmong(const analyzer::Report& report,
                                                 std::span<const std::string_view> ids) {
  std::vector<analyzer::NotChecked> unchecked;
  for (const analyzer::NotChecked& missing : report.not_checked) {
    analyzer::NotChecked here{{}, missing.needs};
    for (const std::string_view id : missing.ids) {
      if (std::find(ids.begin(), ids.end(), id) != ids.end()) here.ids.push_back(id);
    }
    if (missing.ids.empty() || !here.ids.empty()) unchecked.push_back(std::move(here));
  }
  return unchecked;
}

}  // namespace penstock::gui
