// SPDX-License-Identifier: Apache-2.0

#include "agent/system/scratch.h"

namespace penstock::agent {
namespace {

// The address of this variable identifies the thread.
__thread char t_self = 0;

constexpr uint32_t kBuffers = 16;
struct Buffer {
  const void* owner;  // atomic
  char data[kScratch];
};
Buffer g_buffers[kBuffers];

constexpr uint32_t kExecs = 4;
ExecScratch g_execs[kExecs];

bool Take(const void** owner) {
  const void* nobody = nullptr;
  const void* self = &t_self;
  return __atomic_load_n(owner, __ATOMIC_RELAXED) == nullptr &&
         __atomic_compare_exchange_n(owner, &nobody, self, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED);
}

}  // namespace

Scratch::Scratch() : index_(kBuffers), data_(nullptr) {
  for (uint32_t i = 0; i < kBuffers && data_ == nullptr; ++i) {
    if (Take(&g_buffers[i].owner)) {
      index_ = i;
      data_ = g_buffers[i].data;
    }
  }
}

Scratch::~Scratch() {
  if (data_ != nullptr) {
    __atomic_store_n(&g_buffers[index_].owner, nullptr, __ATOMIC_RELEASE);
  }
}

void FreeScratchOfOthers() {
  for (Buffer& buffer : g_buffers) {
    if (buffer.owner != &t_self) {
      buffer.owner = nullptr;
    }
  }
}

ExecScratch* TakeExecScratch() {
  for (ExecScratch& scratch : g_execs) {
    if (__atomic_load_n(&scratch.owner, __ATOMIC_RELAXED) == &t_self || Take(&scratch.owner)) {
      return &scratch;
    }
  }
  return nullptr;
}

void ReleaseExecScratch(ExecScratch* scratch) {
  __atomic_store_n(&scratch->owner, nullptr, __ATOMIC_RELEASE);
}

}  // namespace penstock::agent
