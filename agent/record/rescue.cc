// SPDX-License-Identifier: Apache-2.0
#include "agent/record/rescue.h"

#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "agent/record/forwarding_packer.h"
#include "agent/record/liveness.h"
#include "traces/base/file.h"
#include "traces/base/small_file.h"
#include "traces/recording.h"
#include "traces/translate.h"

namespace penstock::record {
namespace {

// The drain of the ring announces processes and threads that the saved part has already: they are
// the same.
class Joiner final : public ForwardingPacker {
 public:
  using ForwardingPacker::ForwardingPacker;

  // The drain stands in "#hash" for a text that was sent before: the saved part knows it.
  void Remember(std::string_view text) {
    const std::uint64_t hash = wire::HashOf(text.data(), text.size());
    texts_[fmt::format("#{:016x}", hash)] = text;
    texts_[fmt::format("#{:08x}", hash & 0xffffffffu)] = text;
  }

  StringId Intern(std::string_view text) override {
    const auto known = texts_.find(text);
    return inner().Intern(known != texts_.end() ? std::string_view(known->second) : text);
  }
  ProcessId AddProcess(const traces::ProcessInfo& process) override {
    const ProcessKey key{process.pid, process.process_start};
    const auto known = processes_.find(key);
    if (known == processes_.end()) return processes_[key] = inner().AddProcess(process);
    inner().UpdateProcess(known->second, process);
    return known->second;
  }
  ThreadId AddThread(const traces::ThreadInfo& thread) override {
    const std::pair key{thread.process.value, thread.tid};
    const auto known = threads_.find(key);
    if (known == threads_.end()) return threads_[key] = inner().AddThread(thread);
    return known->second;
  }

 private:
  std::map<std::string, std::string, std::less<>> texts_;
  std::map<ProcessKey, ProcessId> processes_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, ThreadId> threads_;
};

TimeNs KeepOf(const traces::Trace& trace) {
  const auto fact = trace.facts().find("record.keep_ns");
  const auto keep = fact != trace.facts().end() ? ParseNumber(fact->second) : std::nullopt;
  return TimeNs{static_cast<std::int64_t>(keep.value_or(0))};
}

}  // namespace

Result<void> Rescue(const std::filesystem::path& output, const Arena& arena) {
  const std::filesystem::path saved = output.string() + ".saved";
  std::error_code error;
  // Nobody may be writing it, nor begin to while we read. It may also not be there at all.
  const auto lock = FileLock::Take(output.string() + ".part");
  if (!lock && lock.error().kind == ErrorKind::kEnvironment) return tl::unexpected(lock.error());
  std::filesystem::rename(output.string() + ".part", saved, error);
  const bool has_saved = !error;
  const auto move_tail = [&output, &saved](bool back) {
    const std::filesystem::path there = saved.string() + ".tail";
    const std::filesystem::path here = output.string() + ".part.tail";
    std::error_code ignored;
    std::filesystem::rename(back ? there : here, back ? here : there, ignored);
  };
  move_tail(false);
  std::filesystem::remove(output.string() + ".part.new", error);  // it died between two files
  std::unique_ptr<traces::Trace> trace;  // nullptr: nothing in it is usable, the ring is all
  if (has_saved) {
    if (auto opened = traces::OpenTrace(saved)) trace = std::move(*opened);
  }
  traces::PackOptions options;
  if (trace != nullptr) options.keep = KeepOf(*trace);
  auto packed = traces::CreatePacked(output, options);
  if (!packed) {
    if (has_saved) std::filesystem::rename(saved, output.string() + ".part", error);
    move_tail(true);
    return tl::unexpected(packed.error());
  }
  Joiner joined(std::move(*packed));
  if (trace != nullptr) {
    traces::CopyTrace(*trace, joined);
    for (std::uint32_t i = 1;; ++i) {
      const std::string_view text = trace->String(StringId{i});
      if (text.empty()) break;
      joined.Remember(text);
    }
  }
  traces::RecordingDrain drain(arena.memory(), true);
  Result<void> done = drain.CheckHeader();
  if (done) {
    drain.Finish(joined);
    joined.SetFact("record.stopped", "the collector was killed");
    done = joined.Finish();
  }
  if (done) {
    std::filesystem::remove(saved, error);
    std::filesystem::remove(saved.string() + ".tail", error);
  } else {  // a full disk: what there was is not lost, another try may find room
    joined.Discard();
    if (has_saved) std::filesystem::rename(saved, output.string() + ".part", error);
    move_tail(true);
  }
  return done;
}

}  // namespace penstock::record
