// SPDX-License-Identifier: Apache-2.0
//
// What the I/O view shows: how fast data was read, from where, in which sizes and from which files.
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
#include "gui/model/words/texts.h"

namespace penstock::gui {

// The reads of one file.
struct FileRow {
  StringId object;
  std::uint64_t reads = 0;
  std::uint64_t bytes = 0;
  double wall = 0;                         // seconds inside the calls
  double decode = 0;                       // seconds of decoding it, as far as FileAtHand knows
  double first_decode = 0;                 // the same in the first samples of processes, which load
                                           // their decoder then; not part of `decode`
  std::array<std::uint32_t, 3> samples{};  // the first samples that it was read for
  std::uint32_t sample_count = 0;          // used entries of `samples`
  bool more_samples = false;               // it was read for more than these
  Call slowest;

  // Whether total() has a decode, if any is known of the file.
  [[nodiscard]] bool total_known() const { return decode > 0 || first_decode <= 0; }
  // Seconds of reading and decoding it.
  [[nodiscard]] double total() const { return wall + decode; }
  // Bytes per second; 0 if nothing was measured.
  [[nodiscard]] double rate() const { return wall > 0 ? static_cast<double>(bytes) / wall : 0; }
};

// The first `most` samples of a file: "7, 12", "7, …" if there are more; "…" for none of them.
[[nodiscard]] std::string SamplesText(const FileRow& file, std::size_t most);

// The columns of the table of files.
enum class FileColumn : std::uint8_t { kPath, kReads, kBytes, kWall, kTotal, kRate, kLongest };

// Read sizes in ten bins per decade. A read of no bytes counts in bin 0, which begins at one byte.
// Source of the edges: ISO 3, the series R10.
struct SizeBins {
  static constexpr std::size_t kPerDecade = 10;
  std::size_t first = 0;
  std::vector<std::uint64_t> reads;  // bins first, first + 1, ...
  std::vector<std::uint64_t> bytes;
  double median = 0;  // mean bytes of the reads in the bin that holds the median

  [[nodiscard]] double EdgeOf(std::size_t bin) const;  // lower edge of reads[bin], bytes
  [[nodiscard]] bool IsRound(std::size_t bin) const;  // that edge is 1, 2 or 5 times a power of ten
};

// Whether it is known how many bytes came from storage, and why not.
enum class CacheSight : std::uint8_t {
  kKnown,      // `disk` and `cached` hold
  kNoCounter,  // the counters of the kernel were not recorded
  kNoDisk,     // there is no storage: the data lies in memory
  kElsewhere,  // the kernel does not count this file system's traffic to the reader
  kNetwork,    // most of the bytes came from sockets, which have no page cache
};

struct IoModel {
  std::uint64_t reads = 0;
  std::uint64_t bytes = 0;
  std::uint64_t mapped = 0;   // part of `bytes`: mapped instead of read
  std::uint64_t network = 0;  // part of `bytes`: from sockets
  double wall = 0;            // seconds inside the calls, all threads
  double waits = 0;           // seconds waited before reads, which the stage read contains
  double active = 0;          // seconds with at least one read
  Series seen;                // bytes per second that programs received
  Series disk;                // bytes per second from storage, for the processes that read; empty:
                              // not recorded. CounterKind::kDisk has all processes, unaveraged
  std::uint64_t disk_bytes = 0;
  double cached = 0;  // fraction of the bytes of files that came from the page cache
  CacheSight sight = CacheSight::kNoCounter;
  SizeBins sizes;
  std::uint64_t file_count = 0;
  bool paths = false;          // the names of files are known
  bool decoded = false;        // a decode of any file is known, so that totals tell something
  std::string folder;          // the folder that holds all files, ending in a slash; "": unknown
  std::vector<FileRow> files;  // at most kMostFiles, those with most time

  static constexpr std::size_t kMostFiles = 20'000;

  // Bytes per second of one reader while it reads.
  [[nodiscard]] double reader_rate() const {
    return wall > 0 ? static_cast<double>(bytes) / wall : 0;
  }
  // The text with reader_rate(). It says that waits are left out if they are a notable part.
  [[nodiscard]] Text reader_text() const {
    return waits > 0.05 * wall ? Text::kIoOneReaderWaits : Text::kIoOneReader;
  }
  // Bytes per second of all readers while any of them reads.
  [[nodiscard]] double rate() const { return active > 0 ? static_cast<double>(bytes) / active : 0; }
};

// The heading of the two curves: "Bytes per second, means over 25 ms".
[[nodiscard]] std::string RatesTitle(const IoModel& io, Language language);

// Cost: one pass over the spans, and O(reads log reads) with 16 bytes of memory for each read.
[[nodiscard]] IoModel BuildIo(const Extent& extent, const Analysis& analysis,
                              const std::stop_token& stop = {});

// The order of `files` by a column; equal ones keep their order.
[[nodiscard]] std::vector<std::uint32_t> SortFiles(const traces::Trace& trace,
                                                   std::span<const FileRow> files,
                                                   FileColumn column, bool descending);

// Where the data of the run lies, as the header shows it.
struct DataSet {
  std::string root;         // "" not known
  std::string file_system;  // "ext4"
  std::string device;       // "nvme", "ssd", "rotational", "memory", "network", "unknown"
  double bytes = 0;         // 0: not known
  bool estimated = false;   // `bytes` comes from the samples that were read
  std::int64_t samples = -1;
  double memory = 0;  // bytes of RAM of the host, or of its control group; 0: not known
};
[[nodiscard]] DataSet DataSetOf(const traces::Trace& trace, const analyzer::Report& report);
// How to learn on which disk the data lies. Names the folder of the files if it is known.
[[nodiscard]] std::string HowToKnowStorage(const IoModel& io, Language language);

// The findings of `report` that have one of these ids, in the report's order.
[[nodiscard]] std::vector<const analyzer::Finding*> FindingsAmong(
    const analyzer::Report& report, std::span<const std::string_view> ids);
// What the recording lacks for rules with one of these ids. An entry without ids is about all
// rules.
[[nodiscard]] std::vector<analyzer::NotChecked> UncheckedAmong(
    const analyzer::Report& report, std::span<const std::string_view> ids);
inline constexpr std::array<std::string_view, 7> kReadFindings = {
    "slow-storage",     "cold-cache",           "small-files",          "fits-in-ram",
    "serialised-reads", "too-many-descriptors", "connection-not-reused"};

}  // namespace penstock::gui
