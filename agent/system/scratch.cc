// SPDX-License-Identifier: Apache-2.0

#include "agent/system/scratch.h"

namespace penstock::agent {
namespace {

// The address of this variable identifies the thread.
__thread char t_self = 0;

const volatile uint64_t g_no_token = 0;
const volatile uint64_t* g_token = &g_no_token;  // atomic

constexpr uint32_t kBuffers = 16;
struct Buffer {
  const void* owner;  // atomic
  uint64_t token;     // atomic: *g_token when the buffer was taken; 0 while it is free
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

void Free(Buffer* buffer) {
  __atomic_store_n(&buffer->token, uint64_t{0}, __ATOMIC_RELAXED);
  __atomic_store_n(&buffer->owner, nullptr, __ATOMIC_RELEASE);
}

}  // namespace

Scratch::Scratch() : index_(kBuffers), data_(nullptr) {
  for (uint32_t i = 0; i < kBuffers && data_ == nullptr; ++i) {
    if (Take(&g_buffers[i].owner)) {
      const uint64_t token = *__atomic_load_n(&g_token, __ATOMIC_RELAXED);
      __atomic_store_n(&g_buffers[i].token, token, __ATOMIC_RELAXED);
      index_ = i;
      data_ = g_buffers[i].data;
    }
  }
}

Scratch::~Scratch() {
  if (data_ != nullptr) {
    Free(&g_buffers[index_]);
  }
}

void SetScratchGuard(const volatile uint64_t* token) {
  __atomic_store_n(&g_token, token, __ATOMIC_RELAXED);
}

// Other threads of the child may hold buffers too, and wait for this thread to attach the process.
// Their buffers have no token, since the child had none when they were taken. So only buffers with
// a token are freed.
void FreeScratchOfOthers() {
  for (Buffer& buffer : g_buffers) {
    if (__atomic_load_n(&buffer.owner, __ATOMIC_ACQUIRE) != &t_self &&
        __atomic_load_n(&buffer.token, __ATOMIC_RELAXED) != 0) {
      Free(&buffer);
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
