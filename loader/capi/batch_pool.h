// SPDX-License-Identifier: Apache-2.0
//
// The memory of batches: while the ring fills them, and after they have left it. A caller may keep
// a batch without a time limit. A block is one batch: pixels, labels, ids, geometry. A limited
// number of blocks that come back is kept for later batches; the others are unmapped. With a
// HostPinner blocks are page-locked while they are mapped, as far as the system allows it. A pool
// lives as long as somebody holds a block of it. Threads: any. In a forked child Release() does
// nothing, since a thread of the parent may have held the lock at the fork.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "loader/capi/host_pinner.h"
#include "loader/pipeline/ring.h"

namespace penstock::loader {

class BatchPool final : public BatchMemory, public std::enable_shared_from_this<BatchPool> {
 public:
  // `extra`: bytes after the pixels of each batch. `kept`: how many blocks are kept at most.
  // `pinner`: page-locks the blocks; nullptr: they stay pageable.
  [[nodiscard]] static std::shared_ptr<BatchPool> Make(
      std::size_t extra, std::size_t kept, std::unique_ptr<HostPinner> pinner = nullptr);
  ~BatchPool() override;

  std::byte* Get(std::size_t bytes) override;
  void Put(std::byte* memory) override;

  // From now on `memory`, which Get() returned, belongs to a caller, who calls Release() at the
  // end.
  void HandOut(std::byte* memory);
  // Gives the memory back. From any thread, also after the pool's owner is gone.
  static void Release(void* memory);

  [[nodiscard]] bool pins() const { return pinner_ != nullptr; }
  // Number of mapped blocks, in use or kept.
  [[nodiscard]] std::size_t blocks() const;

 private:
  struct Block;

  BatchPool(std::size_t extra, std::size_t kept, std::unique_ptr<HostPinner> pinner);
  static Block* Of(void* memory);
  void Unmap(Block* block);

  const pid_t process_;
  const std::size_t extra_;
  const std::size_t kept_;
  const std::unique_ptr<HostPinner> pinner_;
  mutable std::mutex mutex_;
  std::vector<Block*> spare_;
  std::size_t blocks_ = 0;
};

}  // namespace penstock::loader
