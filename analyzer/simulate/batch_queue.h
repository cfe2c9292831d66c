// SPDX-License-Identifier: Apache-2.0
//
// First-in, first-out queues of batches. All queues share one array of links, so a batch is in at
// most one queue at a time. Plain data.
#pragma once

#include <cstddef>
#include <vector>

namespace penstock::analyzer {

inline constexpr std::size_t kNoBatch = static_cast<std::size_t>(-1);

struct BatchQueue {
  std::size_t head = kNoBatch;
  std::size_t tail = kNoBatch;

  [[nodiscard]] bool empty() const { return head == kNoBatch; }
};

class BatchLinks {
 public:
  explicit BatchLinks(std::size_t batches) : next_(batches, kNoBatch) {}

  // Requires: batch j is in no queue.
  void Push(BatchQueue& queue, std::size_t j) {
    next_[j] = kNoBatch;
    if (queue.head == kNoBatch) {
      queue.head = j;
    } else {
      next_[queue.tail] = j;
    }
    queue.tail = j;
  }

  // Takes the first batch; kNoBatch if the queue is empty.
  std::size_t Pop(BatchQueue& queue) {
    const std::size_t j = queue.head;
    if (j != kNoBatch) queue.head = next_[j];
    return j;
  }

 private:
  std::vector<std::size_t> next_;
};

}  // namespace penstock::analyzer
