// SPDX-License-Identifier: Apache-2.0
//
// Hooks the functions of codec.c, and finds the real ones with agent/system/resolve.cc. A hook adds
// 10000 to the answer. So an answer says which copy of the codec gave it, and whether a hook was
// called.
#include <errno.h>

#include "agent/system/resolve.h"

using namespace penstock::agent;

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {
Symbol answer = {"codec_answer", nullptr};
Symbol use = {"codec_use", nullptr};
Symbol libc_getppid = {"getppid", nullptr};
}  // namespace

struct Object {
  void* alloc;
};

EXPORT int codec_answer(void) {
  errno = 77;
  void* const real = RealForCaller(&answer, __builtin_return_address(0));
  if (errno != 77) return -2;
  if (real == nullptr) return -1;
  return reinterpret_cast<int (*)()>(real)() + 10000;
}

EXPORT int codec_use(Object* object) {
  void* real = RealInObjectOf(&use, object->alloc);
  if (real == nullptr) real = RealForCaller(&use, __builtin_return_address(0));
  if (real == nullptr) return -1;
  return reinterpret_cast<int (*)(Object*)>(real)(object) + 10000;
}

EXPORT int getppid(void) {
  void* const real = RealLibc(&libc_getppid);
  return InsideAgent(real) || real == nullptr ? -1 : reinterpret_cast<int (*)()>(real)();
}
