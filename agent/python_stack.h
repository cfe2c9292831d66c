// SPDX-License-Identifier: Apache-2.0
//
// Reads the Python stack of another thread, with the GIL held and only through public functions of
// the interpreter. This runs no code of the program.
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

// Finds the interpreter's functions that the functions below need. False if one is missing.
bool LoadStackApi();
// Returns the calling thread, which holds the GIL.
PyThread ThisPyThread();
// Takes the GIL and reads the thread's innermost frames to `to`, kMostFrames at most, without those
// of our hooks. Returns the number of frames; 0 if the thread has ended, or if `stays(argument)` is
// false before or after reading. To be called on a thread of ours that the interpreter does not
// know.
uint32_t ReadStack(const PyThread& thread, bool (*stays)(const void*), const void* argument,
                   StackFrame* to);

// Make and join a thread of the C library. False if it could not be made.
bool CreateThread(unsigned long* thread, void* (*main)(void*));
void JoinThread(unsigned long thread);

}  // namespace penstock::agent
