// SPDX-License-Identifier: Apache-2.0
//
// A thread pool for the CPU's part of decoding. Each thread has two slots: it reads the codes of
// one picture while the GPU works on the other. The calling thread is part of the pool.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cuda/jpeg_backends.h"
#include "cuda/jpeg_slot.h"

namespace penstock::cuda {
namespace {

class JpegPhases final : public JpegBatches {
 public:
  JpegPhases(const nvjpeg::Library& library, const JpegOptions& options, Device& device)
      : library_(library), options_(options), device_(device) {}
  ~JpegPhases() override;
  Result<void> Begin();

  JpegBackend backend() const override { return options_.backend; }
  unsigned engines() const override { return 0; }
  // Uses a slot of the calling thread, since no thread decodes at that time.
  bool Takes(const JpegPicture& picture) override { return crew_.front().slots[0].Takes(picture); }
  Result<void> Decode(std::span<const JpegPicture> pictures, Stream& stream,
                      std::vector<std::size_t>& refused) override;
  std::vector<std::pair<TimeNs, TimeNs>> Stretches() override;

 private:
  struct Member {
    std::vector<JpegSlot> slots;
    std::size_t turn = 0;
    std::size_t used = 0;  // slots used in the current batch
    std::thread thread;    // none for the first member, the calling thread
  };
  void Run(Member& member);
  // Decodes pictures of the batch until none is left.
  void Work(Member& member);
  [[nodiscard]] Result<void> DecodeBy(Member& member, const JpegPicture& picture);

  const nvjpeg::Library library_;
  const JpegOptions options_;
  Device& device_;
  nvjpeg::Owned<nvjpeg::HandleTag> handle_{nullptr, nullptr};
  std::vector<Member> crew_;

  // The current batch. The mutex guards the members after it. During a batch the members before the
  // mutex are only read, except next_ and results_.
  std::span<const JpegPicture> pictures_;
  Stream* stream_ = nullptr;
  std::vector<Result<void>> results_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::condition_variable begun_;
  std::condition_variable ended_;
  std::uint64_t batch_ = 0;
  std::size_t working_ = 0;  // threads that have not finished the batch
  bool stopping_ = false;
  Result<void> trouble_;  // of a thread, not of a picture
};

JpegPhases::~JpegPhases() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  begun_.notify_all();
  for (Member& member : crew_) {
    if (member.thread.joinable()) member.thread.join();
  }
}

Result<void> JpegPhases::Begin() {
  auto handle = library_.MakeHandle(nvjpeg::kDefault, options_.interpolate_chroma);
  if (!handle) {
    return Fail(ErrorKind::kEnvironment, "nvJPEG cannot begin: " + handle.error().message);
  }
  handle_ = std::move(*handle);
  crew_.resize(static_cast<std::size_t>(options_.cpu_threads > 1 ? options_.cpu_threads : 1));
  for (Member& member : crew_) {
    for (int i = 0; i < 2; ++i) {
      auto slot = JpegSlot::Make(library_, handle_.get(), options_.backend, device_);
      PENSTOCK_TRY(slot);
      member.slots.push_back(std::move(*slot));
    }
  }
  try {
    for (std::size_t i = 1; i < crew_.size(); ++i) {
      crew_[i].thread = std::thread([this, i] { Run(crew_[i]); });
    }
  } catch (const std::exception& trouble) {
    return Fail(ErrorKind::kEnvironment,
                fmt::format("cannot start a thread for nvJPEG: {}", trouble.what()));
  }
  return {};
}

void JpegPhases::Run(Member& member) {
  Result<void> current = device_.MakeCurrent();
  std::uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      begun_.wait(lock, [&] { return stopping_ || batch_ != seen; });
      if (stopping_) return;
      seen = batch_;
      if (!current) trouble_ = current;
    }
    if (current) Work(member);
    const std::lock_guard lock(mutex_);
    if (--working_ == 0) ended_.notify_one();
  }
}

void JpegPhases::Work(Member& member) {
  for (;;) {
    const std::size_t i = next_.fetch_add(1, std::memory_order_relaxed);
    if (i >= pictures_.size()) return;
    try {
      results_[i] = DecodeBy(member, pictures_[i]);
    } catch (const std::exception&) {  // the message below is short, so it needs no memory
      results_[i] = tl::unexpected<Error>(Error{ErrorKind::kEnvironment, "no memory"});
    }
  }
}

Result<void> JpegPhases::DecodeBy(Member& member, const JpegPicture& picture) {
  JpegSlot& slot = member.slots[member.turn];
  member.turn = (member.turn + 1) % member.slots.size();
  if (member.used < member.slots.size()) {
    ++member.used;
    Result<void> followed = slot.stream().Follow(*stream_, Stream::kJpegMark);
    if (!followed) return followed;
  }
  return slot.Decode(picture);
}

std::vector<std::pair<TimeNs, TimeNs>> JpegPhases::Stretches() {
  std::vector<std::pair<TimeNs, TimeNs>> all;
  for (Member& member : crew_) {
    for (JpegSlot& slot : member.slots) {
      for (const auto& stretch : slot.TakeStretches()) all.push_back(stretch);
    }
  }
  std::sort(all.begin(), all.end());
  std::vector<std::pair<TimeNs, TimeNs>> merged;
  for (const auto& stretch : all) {
    if (!merged.empty() && stretch.first <= merged.back().second) {
      merged.back().second = std::max(merged.back().second, stretch.second);
    } else {
      merged.push_back(stretch);
    }
  }
  return merged;
}

Result<void> JpegPhases::Decode(std::span<const JpegPicture> pictures, Stream& stream,
                                std::vector<std::size_t>& refused) {
  refused.clear();
  if (pictures.empty()) return {};
  if (Result<void> marked = stream.Mark(Stream::kJpegMark); !marked) return marked;
  pictures_ = pictures;
  stream_ = &stream;
  results_.assign(pictures.size(), {});
  next_.store(0, std::memory_order_relaxed);
  for (Member& member : crew_) member.used = 0;
  {
    const std::lock_guard lock(mutex_);
    trouble_ = {};
    working_ = crew_.size() - 1;
    ++batch_;
  }
  begun_.notify_all();
  Work(crew_.front());
  Result<void> trouble;
  {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return working_ == 0; });
    trouble = trouble_;
  }
  // This also runs after a failure, because a wait for `stream` must cover all work that uses the
  // batch's memory.
  for (Member& member : crew_) {
    for (std::size_t i = 0; i < member.used; ++i) {
      const std::size_t back = member.turn + member.slots.size() - 1 - i;
      JpegSlot& slot = member.slots[back % member.slots.size()];
      Result<void> followed = stream.Follow(slot.stream(), JpegSlot::kDecoded);
      if (!followed && trouble) trouble = std::move(followed);
    }
  }
  if (!trouble) return trouble;
  Result<void> first;
  for (std::size_t i = 0; i < results_.size(); ++i) {
    if (results_[i]) continue;
    if (results_[i].error().kind != ErrorKind::kInput) return results_[i];
    refused.push_back(i);
    if (first) first = results_[i];
  }
  return first;
}

}  // namespace

Result<std::unique_ptr<JpegBatches>> MakeJpegPhases(const nvjpeg::Library& library,
                                                    const JpegOptions& options, Device& device) {
  auto phases = std::make_unique<JpegPhases>(library, options, device);
  PENSTOCK_TRY(phases->Begin());
  return std::unique_ptr<JpegBatches>(std::move(phases));
}

}  // namespace penstock::cuda
