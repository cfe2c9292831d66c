// SPDX-License-Identifier: Apache-2.0
//
// What the I/O view shows: how fast data came, from where, in what sizes and from which files.
// Values; pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "gui/model/document.h"
#include "gui/model/panels/series.h"
#include "gui/model/timeline/calls.h"

namespace penstock::gui {

// One file and what was read of it.
struct FileRow {
  StringId object;
  std::uint64_t reads = 0;
  std::uint64_t bytes = 0;
  double wall = 0;                         // seconds inside the calls
  std::array<std::uint32_t, 3> samples{};  // the first different ones that it was read for
  std::uint32_t sample_count = 0;          // of `samples`
  bool more_samples = false;               // than these
  Call slowest;

  // Bytes a second; 0 if nothing was measured.
  [[nodiscard]] double rate() const { return wall > 0 ? static_cast<double>(bytes) / wall : 0; }
};

// Columns of the table of files.
enum class FileColumn : std::uint8_t { kPath, kReads, kBytes, kWall, kRate, kLongest };

// Read sizes, ten bins to each decade. Source of their edges: ISO 3, the series R10.
struct SizeBins {
  static constexpr std::size_t kPerDecade = 10;
  std::size_t first = 0;
  std::vector<std::uint64_t> reads;  // bins first, first + 1, ...
  std::vector<std::uint64_t> bytes;
  double median = 0;  // bytes of a read, by its bin

  [[nodiscard]] double EdgeOf(std::size_t bin) const;  // bytes, of reads[bin], its lower edge
  [[nodiscard]] bool IsRound(std::size_t bin) const;   // its edge is 1, 2 or 5 of a power of ten
};

// Where the bytes came from that the readers asked for.
enum class CacheSight : std::uint8_t {
  kKnown,      // `disk` and `cached` hold
  kNoCounter,  // the counters of the kernel were not recorded
  kNoDisk,     // nothing is behind the page cache: the data lies in memory
  kElsewhere,  // a file system whose traffic the kernel does not count to the reader
};

struct IoModel {
  std::uint64_t reads = 0;
  std::uint64_t bytes = 0;
  std::uint64_t mapped = 0;   // of the bytes: mapped instead of read
  std::uint64_t network = 0;  // from sockets
  double wall = 0;            // seconds inside the calls, all threads
  double active = 0;          // seconds with at least one read
  Series seen;                // bytes a second that programs got
  Series disk;                // bytes a second that storage gave them; empty: not recorded
  std::uint64_t disk_bytes = 0;
  double cached = 0;  // fraction of the bytes that storage did not have to give
  CacheSight sight = CacheSight::kNoCounter;
  SizeBins sizes;
  std::uint64_t file_count = 0;
  bool paths = false;          // files are known by name
  std::string folder;          // that holds them all, with its slash at the end; "" unknown
  std::vector<FileRow> files;  // at most kMostFiles, those that took longest

  static constexpr std::size_t kMostFiles = 20'000;

  // Bytes a second of one reader, and of all of them while any reads.
  [[nodiscard]] double reader_rate() const {
    return wall > 0 ? static_cast<double>(bytes) / wall : 0;
  }
  [[nodiscard]] double rate() const { return active > 0 ? static_cast<double>(bytes) / active : 0; }
};

// Cost: one pass over the spans, and O(files log files).
[[nodiscard]] IoModel BuildIo(const Extent& extent, const Analysis& analysis,
                              const std::stop_token& stop = {});

// Places in `files` by a column; ties keep their order.
[[nodiscard]] std::vector<std::uint32_t> SortFiles(const traces::Trace& trace,
                                                   std::span<const FileRow> files,
                                                   FileColumn column, bool descending);

// What the header says of where the data lies.
struct DataSet {
  std::string root;         // "" not known
  std::string file_system;  // "ext4"
  std::string device;       // "nvme", "ssd", "rotational", "memory", "network", "unknown"
  double bytes = 0;         // 0: not known
  std::int64_t samples = -1;
  double memory = 0;  // bytes of RAM that the run may use, 0: not known
};
[[nodiscard]] DataSet DataSetOf(const traces::Trace& trace, const analyzer::Report& report);

// Findings of `report` with one of these ids, in its order.
[[nodiscard]] std::vector<const analyzer::Finding*> FindingsAmong(
    const analyzer::Report& report, std::span<const std::string_view> ids);
inline constexpr std::array<std::string_view, 6> kReadFindings = {
    "slow-storage", "cold-cache",       "small-files",
    "fits-in-ram",  "serialised-reads", "too-many-descriptors"};

}  // namespace penstock::gui
