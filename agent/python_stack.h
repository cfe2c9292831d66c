// SPDX-License-Identifier: Apache-2.0
//
// Reads the Python stack of another thread. No code of the program runs for that, and no memory of
// the interpreter is read but through its public functions, while the GIL is held.
#pragma once

#include <stdint.h>

namespace penstock::agent {

struct StackFrame {
  uint64_t file;
  uint32_t name;
  uint32_t first_line;
  uint32_t line;
};
inline constexpr uint32_t kMostFrames = 24;

struct PyThread {
  void* state;  // PyThreadState
  uint64_t id;  // its unique number
};

// Finds the functions that the others need. False if the interpreter lacks one.
bool LoadStackApi();
// The calling thread. Holds the GIL.
PyThread ThisPyThread();
// Takes the GIL and reads the innermost frames, but those of our hooks. Returns their number; 0 if
// the thread has ended, or `stays(argument)` is false before or after. To be called on a thread of
// ours that the interpreter does not know.
uint32_t ReadStack(const PyThread& thread, bool (*stays)(const void*), const void* argument,
                   StackFrame* to);

// Threads of the C library. False if it could not be made.
bool CreateThread(unsigned long* thread, void* (*main)(void*));
void JoinThread(unsigned long thread);

}  // namespace penstock::agent
