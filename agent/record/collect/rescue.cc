// SPDX-License-Identifier: Apache-2.0
#include "agent/record/collect/rescue.h"

#include <unistd.h>

#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "agent/record/sample/forwarding_packer.h"
#include "agent/record/sample/liveness.h"
#include "traces/base/file.h"
#include "traces/base/small_file.h"
#include "traces/output_place.h"
#include "traces/recording/recording.h"
#include "traces/translate.h"

namespace penstock::record {
namespace {

// Adds the records of the ring to the saved part. Draining the ring announces processes and threads
// again that the saved part has already; this class recognises them and adds them only once.
class Joiner final : public ForwardingPacker {
 public:
  using ForwardingPacker::ForwardingPacker;

  // For a text that was drained before, the drain gives only "#hash". The saved part has that text.
  void Remember(std::string_view text) {
    const std::uint64_t hash = wire::HashOf(text.data(), text.size());
    texts_[fmt::format("#{:016x}", hash)] = text;
    texts_[fmt::format("#{:08x}", hash & 0xffffffffu)] = text;
  }

  StringId Intern(std::string_view text) override {
    const auto known = texts_.find(text);
    return inner().Intern(known != texts_.end() ? std::string_view(known->second) : text);
  }
  // The drain calls this for names and paths whose text it does not have.
  StringId AddString(std::string_view text) override {
    const auto known = texts_.find(text);
    return known != texts_.end() ? inner().Intern(known->second) : inner().AddString(text);
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

Result<std::filesystem::path> Rescue(const std::filesystem::path& output, const Arena& arena,
                                     bool force) {
  const std::filesystem::path part = output.string() + ".part";
  // Takes the lock of the part, so that nobody writes it while we read. The part may not exist.
  const bool has_part = LookAtName(part).exists;
  std::optional<FileLock> lock;
  std::unique_ptr<traces::Trace> trace;  // nullptr: the part holds nothing usable
  std::uint64_t mark = 0;                // the ring says that it was saved up to here
  if (has_part) {
    auto taken = FileLock::Take(part);
    PENSTOCK_TRY(taken);
    lock.emplace(std::move(*taken));
    traces::OpenControl control;
    control.last_mark = &mark;
    auto opened = traces::OpenTrace(part, control);
    if (!opened) opened = traces::OpenTrace(part, control);  // a failure may be temporary
    // A file that cannot be opened now may still hold records.
    const bool readable = opened || (opened.error().kind != ErrorKind::kEnvironment &&
                                     MappedFile::Open(part).has_value());
    if (!readable) return tl::unexpected(opened.error());
    if (opened) trace = std::move(*opened);
  }
  traces::PackOptions options;
  options.suffix = fmt::format(".{}.tmp", getpid());
  options.may_replace = [force](const auto& path) { return traces::MayBeReplaced(path, force); };
  if (trace != nullptr) options.keep = KeepOf(*trace);
  auto packed = traces::CreatePacked(output, options);
  PENSTOCK_TRY(packed);
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
  drain.ContinueFrom(mark);
  Result<void> done = drain.CheckHeader();
  if (done) {
    drain.Finish(joined);
    joined.SetFact("record.stopped", "the collector was killed");
    done = joined.Finish();
  }
  if (!done) {  // a full disk: nothing has changed, and another try may find room
    joined.Discard();
    return tl::unexpected(done.error());
  }
  std::error_code error;
  if (has_part && !std::filesystem::remove(part, error)) std::filesystem::remove(part, error);
  const std::filesystem::path tail = part.string() + ".tail";
  if (LookAtName(tail).IsOursAlone()) std::filesystem::remove(tail, error);
  const std::filesystem::path between = part.string() + ".new";  // left if replacing was
                                                                 // interrupted
  if (LookAtName(between).IsOursAlone()) std::filesystem::remove(between, error);
  return joined.final_path();
}

}  // namespace penstock::record
