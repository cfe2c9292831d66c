// SPDX-License-Identifier: Apache-2.0
//
// The descriptors that the agent holds for microseconds, and the program's closing of any: a thread
// that closes a number which is not the program's (a loop over all of them, close_range, dup2)
// while another thread of it has made the agent open that number would leave the agent writing into
// the program's next file. Such a close waits, and the agent opens nothing meanwhile. Threads: any.
#pragma once

namespace penstock::agent {

// The program has opened `fd`, as far as the hooks see; closing it needs no care.
void NoteOpened(int fd);

// It closes a whole range of them.
void NoteClosed(unsigned first, unsigned last);

// Around the real call that closes `fd`; -1: many.
class CloseScope {
 public:
  explicit CloseScope(int fd);
  ~CloseScope();
  CloseScope(const CloseScope&) = delete;
  CloseScope& operator=(const CloseScope&) = delete;

 private:
  int* closing_;  // nullptr: no care was needed
};

// In a forked child: what other threads of the parent were at does not go on here.
void ForgetDescriptorsOfOthers();

}  // namespace penstock::agent
