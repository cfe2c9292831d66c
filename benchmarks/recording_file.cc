// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/recording_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "traces/base/file.h"

namespace penstock::benchmarks {
namespace {

constexpr std::uint64_t kStart = 1'000'000'000;  // time of the first clock anchor, ns

traces::RecordingOptions OptionsFor(std::uint64_t spans) {
  traces::RecordingOptions options;
  options.start_ns = kStart;
  // Room for spans, a path for about each twelfth of them, events, and a partly filled chunk for
  // each thread.
  options.chunks = static_cast<std::uint32_t>(spans / wire::kRecordsPerChunk * 5 / 4 + 4096);
  return options;
}

}  // namespace

RecordingFile::RecordingFile(std::filesystem::path path, std::uint64_t spans)
    : path_(std::move(path)), recording_(OptionsFor(spans)) {}

StringId RecordingFile::Intern(std::string_view text) {
  if (text.empty()) return {};
  const auto known = ids_.find(text);
  if (known != ids_.end()) return StringId{known->second};
  const auto id = static_cast<std::uint32_t>(strings_.size());
  strings_.emplace_back(text);
  ids_.emplace(text, id);
  return StringId{id};
}

void RecordingFile::SetString(StringId id, std::string_view text) {
  if (id.value < strings_.size()) strings_[id.value] = text;
}

ProcessId RecordingFile::AddProcess(const traces::ProcessInfo& process) {
  processes_.push_back(process);
  recording_.AddProcess(process.pid, 7, process.role, process.worker_id);
  return ProcessId{static_cast<std::uint32_t>(processes_.size() - 1)};
}

void RecordingFile::UpdateProcess(ProcessId id, const traces::ProcessInfo& process) {
  processes_[id.value] = process;
}

ThreadId RecordingFile::AddThread(const traces::ThreadInfo& info) {
  Thread thread;
  thread.process = info.process.value;
  thread.writer = std::make_unique<traces::RecordingWriter::Thread>(recording_, info.process.value,
                                                                    info.tid, info.name);
  const auto& facts = processes_[info.process.value].facts;
  if (processes_[info.process.value].pid == info.tid) {
    for (const auto& [key, value] : facts) thread.writer->Text(wire::kTextFact, key + "=" + value);
  }
  threads_.push_back(std::move(thread));
  return ThreadId{static_cast<std::uint32_t>(threads_.size() - 1)};
}

std::uint64_t RecordingFile::HashOf(StringId id, Thread& thread) {
  if (id.value == 0) return 0;
  const std::string& text = strings_[id.value];
  if (thread.sent.size() <= id.value) thread.sent.resize(strings_.size());
  if (!thread.sent[id.value]) {
    thread.sent[id.value] = true;
    thread.writer->Text(wire::kTextString, text);
  }
  return wire::HashOf(text.data(), text.size());
}

void RecordingFile::Write(Thread& thread, wire::Record record) {
  if (thread.writer->Write(record)) written_ += wire::kRecordSize;
}

void RecordingFile::AddSpan(ThreadId id, const traces::Span& span) {
  Thread& thread = threads_[id.value];
  wire::Record record = traces::SpanRecord(recording_, static_cast<wire::Stage>(span.stage),
                                           static_cast<std::uint32_t>(HashOf(span.name, thread)),
                                           static_cast<std::uint64_t>(span.start.value),
                                           static_cast<std::uint64_t>(span.duration.value));
  record.object = HashOf(span.object, thread);
  record.bytes = span.bytes.value;
  record.sample = span.sample;
  record.batch = span.batch.index;
  record.generation = span.batch.generation;
  record.depth = span.depth;
  if (span.cpu.value >= 0) {
    record.flags = wire::kFlagCpu;
    record.work = static_cast<std::uint64_t>(span.cpu.value);
  } else if (span.busy.value >= 0) {
    record.flags = wire::kFlagBusy;
    record.work = static_cast<std::uint64_t>(span.busy.value);
  }
  Write(thread, record);
}

void RecordingFile::AddEvent(const traces::Event& event) {
  wire::Record record{};
  record.kind = wire::kKindEvent;
  record.stage = static_cast<std::uint8_t>(event.type);
  record.start = recording_.Ticks(static_cast<std::uint64_t>(event.at.value));
  record.work = static_cast<std::uint64_t>(event.value);
  record.sample = wire::kNoSample;
  record.batch = event.batch.index;
  record.generation = event.batch.generation;
  Write(threads_[event.thread.value], record);
}

Result<void> RecordingFile::Finish() {
  std::uint64_t dropped = 0;
  for (Thread& thread : threads_) {
    dropped += thread.writer->dropped();
    thread.writer->Exit();
  }
  if (dropped > 0) {
    return Fail(ErrorKind::kOutput,
                fmt::format("{}: {} records found no chunk", path_.string(), dropped));
  }
  wire::FileHeader& header = recording_.header();
  const std::uint32_t used = header.next_chunk;
  header.allocated_chunks = used;
  Result<OutputFile> file = OutputFile::Create(path_, ".part");
  PENSTOCK_TRY(file);
  const std::size_t size = wire::kHeaderSize + std::size_t{used} * wire::kChunkSize;
  written_ = size;
  if (auto appended = file->Append(recording_.memory().first(size)); !appended) return appended;
  return file->Commit();
}

}  // namespace penstock::benchmarks
