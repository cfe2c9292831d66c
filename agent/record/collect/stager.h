// SPDX-License-Identifier: Apache-2.0
//
// Copies the data files that a run reads to another place (record --stage), one after the other, in
// a thread of the collector: never in the way of the run. What the agent then does with the copies
// is agent/core/staging.h. The folder and everything in it goes with this.
// Threads: Offer() from one; the rest from that one as well.
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

// Makes a folder of its own below `place`, for one run. Its name is what PENSTOCK_STAGE takes.
// Errors: kUsage: `place` is no folder that can be written to.
[[nodiscard]] Result<std::string> MakeStage(const std::string& place);
void RemoveStage(const std::string& folder);

class Stager {
 public:
  // Requires: `folder` is of MakeStage(). Threads: starts one.
  explicit Stager(std::string folder);
  // Ends the copying, not the copies.
  ~Stager();
  Stager(const Stager&) = delete;
  Stager& operator=(const Stager&) = delete;

  // A file that the run has read; each is copied once. Does not wait.
  void Offer(std::string path);
  // Ends the copying. What is offered later is not copied.
  void Stop();

  struct Outcome {
    std::uint64_t files = 0;
    Bytes bytes;
    std::string trouble;  // why not all of it; "" nothing was in the way
    bool use_known = false;
    std::uint64_t used = 0;  // copies that something has read from, where `use_known`
  };
  // Requires: Stop().
  [[nodiscard]] Outcome outcome() const;

 private:
  void Work();
  void Copy(const std::string& path);
  bool HasRoom(std::uint64_t size);
  void GiveUp(const std::string& why);

  std::string folder_;
  bool memory_ = false;  // what is copied takes memory
  Bytes room_;           // of that, in all
  dev_t device_ = 0;
  std::mutex mutex_;  // of queue_ and stop_
  std::condition_variable wake_;
  std::deque<std::string> queue_;
  bool stop_ = false;
  std::atomic<bool> gave_up_{false};  // written by the thread, read by Offer(): relaxed
  Outcome outcome_;                   // of the thread until it has ended
  std::vector<std::string> copies_;
  std::vector<char> part_;
  std::thread thread_;
};

// Offers what spans say was read, and passes everything on.
class StagingPacker final : public ForwardingPacker {
 public:
  StagingPacker(std::unique_ptr<traces::Packer> inner, Stager& stager)
      : ForwardingPacker(std::move(inner)), stager_(stager) {}

  StringId Intern(std::string_view text) override { return Named(inner().Intern(text), text); }
  StringId AddString(std::string_view text) override {
    return Named(inner().AddString(text), text);
  }
  void SetString(StringId id, std::string_view text) override {
    inner().SetString(id, text);
    Named(id, text);
  }
  void AddSpan(ThreadId thread, const traces::Span& span) override;

 private:
  StringId Named(StringId id, std::string_view text);

  Stager& stager_;
  std::unordered_map<std::uint32_t, std::string> names_;  // of what was not offered yet
  std::unordered_set<std::uint32_t> awaited_;             // read, but the name is not known yet
};

}  // namespace penstock::record
