// SPDX-License-Identifier: Apache-2.0
//
// Copies the data files that a run reads to another place (record --stage). A thread of the
// collector makes one copy after the other, so the run never waits for it. agent/core/staging.h
// says how the agent uses the copies.
// Threads: all calls come from one thread.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "agent/record/sample/forwarding_packer.h"
#include "traces/base/result.h"
#include "traces/base/units.h"

namespace penstock::record {

// Makes a folder for one run in `place`, and returns its name for PENSTOCK_STAGE.
// Errors: kUsage if `place` is no folder that can be written to, or its name is too long.
[[nodiscard]] Result<std::string> MakeStage(const std::string& place);
// Removes a folder that MakeStage() has made, with all that is in it. Does nothing to others.
void RemoveStage(const std::string& folder);

class Stager {
 public:
  // Starts the thread. Requires: `folder` comes from MakeStage().
  explicit Stager(std::string folder);
  // Ends the copying. The copies stay.
  ~Stager();
  Stager(const Stager&) = delete;
  Stager& operator=(const Stager&) = delete;

  // Offers a file that the run has read. Does not wait. The stager does not copy a file that has a
  // copy, a database, a file that was just written, or a file on the file system of the copies.
  // Returns false if too many files wait to be copied; the caller then offers it again when it is
  // read again.
  bool Offer(const std::string& path);
  // The file that a copy was made of; "" if `path` is no copy.
  [[nodiscard]] std::string OriginalOf(std::string_view path);
  // Ends the copying, even in the middle of a file; that file then has no copy. Files that are
  // offered later are not copied.
  void Stop();

  struct Outcome {
    std::uint64_t files = 0;
    Bytes bytes;
    std::string trouble;  // why copying ended before the run did; "": it did not
    bool use_known = false;
    std::uint64_t used = 0;  // copies that were read, if `use_known`
  };
  // Requires: Stop().
  [[nodiscard]] Outcome outcome() const;

 private:
  void Work();
  [[nodiscard]] bool Stopped();
  void Copy(const std::string& path);
  bool HasRoom(std::uint64_t size);
  void GiveUp(const std::string& why);

  std::string folder_;
  bool memory_ = false;  // the copies lie in memory (tmpfs)
  Bytes room_;           // memory that the copies may take
  dev_t device_ = 0;
  std::mutex mutex_;  // guards queue_, originals_ and stop_
  std::condition_variable wake_;
  std::deque<std::string> queue_;
  std::unordered_map<std::string, std::string> originals_;  // by the name of the copy
  bool stop_ = false;
  std::atomic<bool> gave_up_{false};  // written by the thread, read by Offer(): relaxed
  Outcome outcome_;                   // written by the thread until it has ended
  std::vector<std::string> copies_;
  std::vector<char> part_;
  std::thread thread_;
};

// Passes all records on, and offers each file that a span says was read. Replaces the name of a
// copy by that of its original: a process that gets a descriptor from another one knows only the
// copy's name.
class StagingPacker final : public ForwardingPacker {
 public:
  StagingPacker(std::unique_ptr<traces::Packer> inner, Stager& stager)
      : ForwardingPacker(std::move(inner)), stager_(stager) {}

  StringId Intern(std::string_view text) override {
    return WithName(text, [&](std::string_view name) { return inner().Intern(name); });
  }
  StringId AddString(std::string_view text) override {
    return WithName(text, [&](std::string_view name) { return inner().AddString(name); });
  }
  void SetString(StringId id, std::string_view text) override {
    WithName(text, [&](std::string_view name) {
      inner().SetString(id, name);
      return id;
    });
  }
  void AddSpan(ThreadId thread, const traces::Span& span) override;

 private:
  // Calls `keep` with `text` or, if `text` names a copy, with the name of its original. `keep`
  // returns the id of the name.
  template <typename Keep>
  StringId WithName(std::string_view text, const Keep& keep) {
    const std::string original = stager_.OriginalOf(text);
    const std::string_view name = original.empty() ? text : original;
    return Named(keep(name), name);
  }
  StringId Named(StringId id, std::string_view text);

  Stager& stager_;
  std::unordered_map<std::uint32_t, std::string> names_;  // "" once the file was offered
  std::unordered_set<std::uint32_t> awaited_;             // files that were read before their name
                                                          // came
};

}  // namespace penstock::record
