// SPDX-License-Identifier: Apache-2.0
//
// A Packer that writes a recording as agents would leave it: each thread fills one chunk after the
// other, texts come before their first use, and spans come in the order of their ends. The file is
// input for measuring programs that read recordings. It is made in memory. Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "traces/pack.h"
#include "traces/recording/recording_writer.h"

namespace penstock::benchmarks {

class RecordingFile final : public traces::Packer {
 public:
  // `spans`: about how many spans will come. Spans that do not fit are dropped and counted, as by
  // an agent.
  RecordingFile(std::filesystem::path path, std::uint64_t spans);

  StringId Intern(std::string_view text) override;
  void SetString(StringId id, std::string_view text) override;
  ThreadId AddThread(const traces::ThreadInfo& thread) override;
  ProcessId AddProcess(const traces::ProcessInfo& process) override;
  void UpdateProcess(ProcessId id, const traces::ProcessInfo& process) override;
  void UpdateThread(ThreadId /*id*/, const traces::ThreadInfo& /*thread*/) override {}
  void SetFact(std::string_view /*key*/, std::string_view /*value*/) override {}
  void AddSpan(ThreadId thread, const traces::Span& span) override;
  void AddEvent(const traces::Event& event) override;
  void AddCounter(const traces::CounterSample& /*sample*/) override {}
  void SetLosses(const traces::Losses& /*losses*/) override {}
  void SetRealtimeOffset(TimeNs /*offset*/) override {}
  Result<void> Flush(const BeforeMark& /*before_mark*/) override { return {}; }
  // Errors: kOutput.
  Result<void> Finish() override;
  [[nodiscard]] std::uint64_t bytes_written() const override { return written_; }

 private:
  struct Thread {
    std::uint32_t process = 0;
    std::unique_ptr<traces::RecordingWriter::Thread> writer;
    std::vector<bool> sent;  // by string id: the thread's process has written it
  };
  std::uint64_t HashOf(StringId id, Thread& thread);
  void Write(Thread& thread, wire::Record record);

  std::filesystem::path path_;
  traces::RecordingWriter recording_;
  std::map<std::string, std::uint32_t, std::less<>> ids_;
  std::vector<std::string> strings_{""};
  std::vector<traces::ProcessInfo> processes_;
  std::vector<Thread> threads_;
  std::uint64_t used_chunks_ = 0;
  std::uint64_t written_ = 0;
};

}  // namespace penstock::benchmarks
