// SPDX-License-Identifier: Apache-2.0
//
// Distinguishes a signal that was sent to the recorder alone from one that was sent to its process
// group, and so has reached the command already. A child in the group blocks all signals, so a
// signal to the group stays pending in that child. Owns that child. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace penstock::record {

class GroupWatch {
 public:
  GroupWatch() = default;
  ~GroupWatch() { Stop(); }
  GroupWatch(const GroupWatch&) = delete;
  GroupWatch& operator=(const GroupWatch&) = delete;

  // Starts the child. Requires: the calling process belongs to the group.
  void Start();
  // Whether the child works. If it could not be made, or /proc does not show its signals, Got()
  // always returns false.
  [[nodiscard]] bool IsOn() const { return child_ > 0; }
  // Whether `signal`, which has just come to us, was sent to the whole group. Waits for some
  // milliseconds before it returns false: a sender that signals one process after the other may not
  // have reached the child yet. A sender may signal us first and then the group, as timeout(1)
  // does, so that we get the signal twice. So before Got() returns true, it removes a second
  // `signal` that is pending for us.
  // Requires: `signal` is blocked.
  [[nodiscard]] bool Got(int signal);

 private:
  void Stop();
  pid_t child_ = -1;
  std::uint64_t came_ = 0;  // signals that earlier children got and that Got() was not asked about
};

}  // namespace penstock::record
