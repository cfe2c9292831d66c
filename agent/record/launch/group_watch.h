// SPDX-License-Identifier: Apache-2.0
//
// Tells a signal that was sent to the recorder alone from one that was sent to its process group,
// and so has reached the command already: a child in the group blocks all signals, so that what was
// sent to the group stays pending there. Owns that child; not thread-safe.
#pragma once

#include <sys/types.h>

namespace penstock::record {

class GroupWatch {
 public:
  GroupWatch() = default;
  ~GroupWatch() { Stop(); }
  GroupWatch(const GroupWatch&) = delete;
  GroupWatch& operator=(const GroupWatch&) = delete;

  // Requires: the calling process belongs to the group that is meant.
  void Start();
  // `signal` has just come to us: did it come to the group? Forgets what came so far. Waits for
  // some milliseconds before it says no: whoever signals processes one by one may not be done.
  [[nodiscard]] bool Got(int signal);

 private:
  void Stop();
  pid_t child_ = -1;
};

}  // namespace penstock::record
