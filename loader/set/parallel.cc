// SPDX-License-Identifier: Apache-2.0
#include "loader/set/parallel.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace penstock::loader {
namespace {

// Turns an exception of the C++ library, such as a lack of memory, into an error. An exception that
// left a thread of ours would end the program. One that left the caller's thread would leave the
// other threads waiting forever for the piece.
template <class Work>
auto WithoutExceptions(Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& trouble) {
    return Fail(ErrorKind::kEnvironment, trouble.what());
  }
}

// A ring of pieces that have been made and not been taken.
class Ring {
 public:
  Ring(std::uint64_t count, std::size_t slots, const std::stop_token& stop,
       const std::function<Result<void>(std::uint64_t, Piece)>& take)
      : count_(count), slots_(slots), stop_(stop), take_(take) {}

  void Work(OrderedWorker& worker) {
    while (const std::optional<std::uint64_t> index = Claim()) {
      Result<Piece> made = WithoutExceptions([&] { return worker.Make(*index); });
      Deliver(*index, std::move(made));
    }
  }

  // Ends the work early. Pieces that are being made are not taken.
  void End(Error error) {
    const std::lock_guard lock(mutex_);
    if (!ended_ && head_ < count_) outcome_ = tl::unexpected<Error>(std::move(error));
    ended_ = true;
    free_.notify_all();
  }

  Result<void> Outcome() { return std::move(outcome_); }

 private:
  // Claims the next index as soon as there is a slot for it. nullopt if no more work is to be done.
  std::optional<std::uint64_t> Claim() {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [&] { return ended_ || next_ < head_ + slots_.size() || next_ >= count_; });
    if (ended_ || next_ >= count_ || stop_.stop_requested()) return std::nullopt;
    return next_++;
  }

  void Deliver(std::uint64_t index, Result<Piece> made) {
    const std::lock_guard lock(mutex_);
    slots_[index % slots_.size()] = std::move(made);
    while (!ended_ && slots_[head_ % slots_.size()]) {
      std::optional<Result<Piece>>& slot = slots_[head_ % slots_.size()];
      outcome_ = *slot ? WithoutExceptions([&] { return take_(head_, std::move(**slot)); })
                       : tl::unexpected<Error>(slot->error());
      slot.reset();
      ++head_;
      ended_ = !outcome_ || stop_.stop_requested();
    }
    free_.notify_all();
  }

  const std::uint64_t count_;
  std::mutex mutex_;
  std::condition_variable free_;
  std::uint64_t next_ = 0;  // to be claimed
  std::uint64_t head_ = 0;  // to be taken
  std::vector<std::optional<Result<Piece>>> slots_;
  const std::stop_token& stop_;
  const std::function<Result<void>(std::uint64_t, Piece)>& take_;
  bool ended_ = false;
  Result<void> outcome_;
};

}  // namespace

void ParallelFor(std::uint64_t count, unsigned workers, const std::stop_token& stop,
                 const std::function<void(std::uint64_t)>& piece) {
  std::atomic<std::uint64_t> next{0};
  const auto work = [&] {
    while (!stop.stop_requested()) {
      // Relaxed, since numbers need only differ. The join publishes the results of the pieces.
      const std::uint64_t index = next.fetch_add(1, std::memory_order_relaxed);
      if (index >= count) return;
      piece(index);
    }
  };
  std::vector<std::jthread> threads;
  try {
    for (unsigned i = 1; i < workers && i < count; ++i) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads can be started. Those that run do all the pieces.
  }
  work();
}

Result<void> RunOrdered(std::uint64_t count,
                        const std::vector<std::unique_ptr<OrderedWorker>>& workers,
                        const std::stop_token& stop,
                        const std::function<Result<void>(std::uint64_t, Piece)>& take) {
  Ring ring(count, 4 * workers.size(), stop, take);
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t i = 1; i < workers.size(); ++i) {
        threads.emplace_back([&ring, &worker = *workers[i]] { ring.Work(worker); });
      }
    } catch (const std::exception& trouble) {  // of the C++ library: threads
      // Without this the threads that have started would do all the work before they are joined.
      ring.End({ErrorKind::kEnvironment,
                fmt::format("cannot start thread {} of {}: {}", threads.size() + 2, workers.size(),
                            trouble.what())});
    }
    ring.Work(*workers.front());
  }
  return ring.Outcome();
}

}  // namespace penstock::loader
