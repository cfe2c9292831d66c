// SPDX-License-Identifier: Apache-2.0
#include "loader/capi/batch_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <utility>

namespace penstock::loader {

// Lies in front of the pixels. Its size aligns them to a cache line.
struct alignas(64) BatchPool::Block {
  std::size_t mapped = 0;  // bytes, this header included
  bool pinned = false;
  std::shared_ptr<BatchPool> pool;  // while a caller holds the block
};

std::shared_ptr<BatchPool> BatchPool::Make(std::size_t extra, std::size_t kept,
                                           std::unique_ptr<HostPinner> pinner) {
  return std::shared_ptr<BatchPool>(new BatchPool(extra, kept, std::move(pinner)));
}

BatchPool::BatchPool(std::size_t extra, std::size_t kept, std::unique_ptr<HostPinner> pinner)
    : process_(getpid()), extra_(extra), kept_(kept), pinner_(std::move(pinner)) {
  spare_.reserve(kept);
}

BatchPool::~BatchPool() {
  for (Block* block : spare_) Unmap(block);
}

BatchPool::Block* BatchPool::Of(void* memory) {
  return static_cast<Block*>(memory) - 1;
}

void BatchPool::Unmap(Block* block) {
  const std::size_t mapped = block->mapped;
  if (block->pinned) pinner_->Unpin(block);
  block->~Block();
  munmap(block, mapped);
}

std::byte* BatchPool::Get(std::size_t bytes) {
  const std::size_t size = sizeof(Block) + bytes + extra_;
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      Block* const block = spare_.back();  // its pages are most likely still in the caches
      spare_.pop_back();
      if (block->mapped >= size) {
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): memory behind the header
        return reinterpret_cast<std::byte*>(block + 1);
      }
      --blocks_;
      Unmap(block);
    }
  }
  void* const mapped =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  madvise(mapped, size, MADV_HUGEPAGE);
  auto* const block = new (mapped) Block;
  block->mapped = size;
  block->pinned = pinner_ != nullptr && pinner_->Pin(mapped, size);
  const std::lock_guard lock(mutex_);
  ++blocks_;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): memory behind the header
  return reinterpret_cast<std::byte*>(block + 1);
}

void BatchPool::Put(std::byte* memory) {
  Block* const block = Of(memory);
  {
    const std::lock_guard lock(mutex_);
    if (spare_.size() < kept_) {
      spare_.push_back(block);
      return;
    }
    --blocks_;
  }
  Unmap(block);
}

void BatchPool::HandOut(std::byte* memory) {
  Of(memory)->pool = shared_from_this();
}

void BatchPool::Release(void* memory) {
  if (memory == nullptr) return;
  Block* const block = Of(memory);
  if (block->pool == nullptr || block->pool->process_ != getpid()) return;
  const std::shared_ptr<BatchPool> pool = std::move(block->pool);
  pool->Put(static_cast<std::byte*>(memory));
}

std::size_t BatchPool::blocks() const {
  const std::lock_guard lock(mutex_);
  return blocks_;
}

}  // namespace penstock::loader
