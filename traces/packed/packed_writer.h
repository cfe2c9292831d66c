// SPDX-License-Identifier: Apache-2.0
//
// The implementation of CreatePacked(): one buffer per thread, tables with every flush. Owns its
// file; not thread-safe. packer.cc writes, packed_window.cc drops old data of a flight recorder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/file.h"
#include "traces/pack.h"
#include "traces/packed/block_codec.h"
#include "traces/packed/section_file.h"
#include "traces/packed/span_tail.h"
#include "traces/packed/string_table.h"

namespace penstock::traces::packed {

class PackedWriter final : public Packer {
 public:
  PackedWriter(OutputFile file, const PackOptions& options);

  StringId Intern(std::string_view text) override;
  StringId AddString(std::string_view text) override;
  void SetString(StringId id, std::string_view text) override;
  ThreadId AddThread(const ThreadInfo& thread) override;
  ProcessId AddProcess(const ProcessInfo& process) override;
  void UpdateProcess(ProcessId id, const ProcessInfo& process) override;
  void UpdateThread(ThreadId id, const ThreadInfo& thread) override;
  void EndThread(ThreadId id) override;
  void EndProcess(ProcessId id) override;
  void SetFact(std::string_view key, std::string_view value) override;
  void AddSpan(ThreadId thread, const Span& span) override;
  void AddEvent(const Event& event) override;
  void AddCounter(const CounterSample& sample) override;
  void AddUnit(const UnitRow& unit) override;
  void AddCall(const CallRow& call) override;
  void SetLosses(const Losses& losses) override;
  void SetRealtimeOffset(TimeNs offset) override;
  Result<void> Flush(const BeforeMark& before_mark) override;
  Result<void> Finish() override;
  void Discard() override;
  [[nodiscard]] bool WaitsForRoom() const override { return file_.WaitsForRoom(); }
  [[nodiscard]] std::filesystem::path final_path() const override {
    return file_.file().final_path();
  }
  [[nodiscard]] std::string note() const override { return file_.file().note(); }
  [[nodiscard]] std::uint64_t bytes_written() const override { return file_.file().size(); }

 private:
  static constexpr std::uint32_t kNoNumber = ~0u;
  // Longer texts are cut: readers refuse a section of more than kMaxSectionBytes.
  static constexpr std::size_t kLongestText = std::size_t{1} << 20;
  static constexpr TimeNs kNever{std::numeric_limits<std::int64_t>::max()};
  static constexpr TimeNs kAlways{std::numeric_limits<std::int64_t>::min()};

  struct Thread {
    ThreadInfo info;
    std::vector<Span> spans;
    std::uint64_t written = 0;         // number of spans in blocks
    std::size_t in_tail = 0;           // number of spans at the front of `spans` that the tail has
    std::uint32_t stages = 0;          // bits of the stages that occur
    std::uint32_t number = kNoNumber;  // its number in the file
    bool dirty = false;                // `info` has changed since it was written
    bool ended = false;
    bool free = false;        // the entry may be used for another thread
    bool unfinished = false;  // some of `spans` are unfinished
  };
  struct Process {
    ProcessInfo info;
    std::uint32_t number = kNoNumber;
    bool dirty = false;
    bool ended = false;
    bool free = false;
  };
  // The window of time that a flight recorder keeps, see PackOptions::keep.
  struct Window {
    TimeNs from;           // spans and events that end before this are old
    TimeNs counters_from;  // counters before this are old, unless they are in the spans' window
    TimeNs until;          // end of the spans' window
  };

  void WriteAll();
  void FreeEnded();
  void WriteBlocks();
  void WriteBlocksOrTail();
  void WriteMark();
  void KeepName();
  void Write(const SectionMeta& meta, const ByteWriter& payload, bool unfinished = false);
  std::uint32_t Number(Thread& thread);
  std::uint32_t Number(Process& process);
  void TakeString(std::uint32_t id, std::string_view text);
  void WriteStrings();
  void WriteFacts();
  template <class List, class Emit>
  void WriteDirty(SectionKind kind, List& list, Emit emit);
  void WriteRows();
  template <class Row, class Encode>
  void WriteFollowed(SectionKind kind, std::vector<Row>& rows, Encode encode);
  void WriteTables();
  void WriteBlock(std::uint32_t thread);
  // Sorts and writes the spans. `number`: that of their thread in the file.
  void WriteSpans(std::vector<Span>& spans, std::uint32_t number, bool unfinished);
  void WritePreviews();

  [[nodiscard]] Window LastPart() const;
  [[nodiscard]] static bool IsOld(const WrittenSection& written, const Window& window);
  void DropOldSometimes();
  void DropOld(bool exactly);
  void CopyTables(const MappedFile& from, const std::vector<WrittenSection>& sections);
  void CopyRows(const MappedFile& from, const std::vector<WrittenSection>& sections,
                std::span<const std::uint32_t> old_threads,
                std::span<const std::uint32_t> old_processes);
  void CopyFollowed(const MappedFile& from, const std::vector<WrittenSection>& sections,
                    std::span<const std::uint32_t> old_threads);
  void CopySection(const MappedFile& from, const WrittenSection& written);
  void CopyNewSpans(const MappedFile& from, const WrittenSection& written, const Window& window);

  SectionFile file_;
  SpanTail tail_;
  const TimeNs keep_;  // 0: everything
  SectionDecoder decoder_;
  BlockEncoder blocks_;
  ByteWriter scratch_;

  IdCache ids_{std::size_t{1} << 20};  // ids of texts; at most 13 MB
  StringRuns strings_;
  std::uint32_t next_string_ = 0;
  std::vector<Thread> threads_;
  std::vector<Process> processes_;
  std::vector<std::uint32_t> free_threads_;
  std::vector<std::uint32_t> free_processes_;
  std::uint32_t ended_ = 0;  // ended threads and processes that are not free yet
  std::vector<std::uint32_t>
      stages_of_;  // by number in the file: stages of threads that are free by now
  std::vector<std::uint32_t> thread_of_;   // by number in the file: index into threads_
  std::vector<std::uint32_t> process_of_;  // the same for processes
  std::size_t buffered_ = 0;
  std::uint64_t span_count_ = 0;
  std::uint64_t blocks_written_ = 0;
  std::uint64_t marks_ = 0;
  bool tail_is_needed_ = false;  // it holds spans that are in no block
  TimeNs begin_ = kNever;
  TimeNs end_ = kAlways;
  TimeNs last_counter_ = kAlways;
  std::uint64_t next_drop_ = 0;  // size of the file from which old data is dropped
  ByteWriter facts_;
  std::uint32_t fact_count_ = 0;
  std::vector<Event> events_;
  std::vector<CounterSample> counters_;
  std::vector<UnitRow> units_;
  std::vector<CallRow> calls_;
  Losses losses_;
  TimeNs realtime_offset_;
  bool summary_dirty_ = true;
};

}  // namespace penstock::traces::packed
