// SPDX-License-Identifier: Apache-2.0
//
// Protects the descriptors that the agent holds for microseconds. A program may close numbers that
// it has not opened (a loop over all numbers, close_range, dup2). If the program closed a
// descriptor of the agent in this way, its next file could get that number, and the agent would
// write into the program's file. So a close of an unknown number waits while the agent holds a
// descriptor, and the agent opens nothing during such a close. Both wait for some milliseconds at
// most.
// Threads: any.
#pragma once

namespace penstock::agent {

// To be called when the program has opened `fd`: closing it later needs no care.
void NoteOpened(int fd);

// To be called when the program closes a range of numbers.
void NoteClosed(unsigned first, unsigned last);

// To be held around the real call that closes `fd`; -1 stands for many descriptors.
class CloseScope {
 public:
  explicit CloseScope(int fd);
  ~CloseScope();
  CloseScope(const CloseScope&) = delete;
  CloseScope& operator=(const CloseScope&) = delete;

 private:
  int* closing_;  // nullptr: no care was needed
};

// To be called in a forked child, where the other threads of the parent do not exist.
void ForgetDescriptorsOfOthers();

}  // namespace penstock::agent
