// SPDX-License-Identifier: Apache-2.0
#include "agent/python_stack.h"

#include <pthread.h>
#include <string.h>

#include "agent/python_api.h"
#include "agent/system/memory_limits.h"

namespace penstock::agent {
namespace {

// Functions of the interpreter and of the C library. Python has its functions from 3.9 on. The two
// for garbage collection exist only from 3.10 on, and are nullptr before.
struct StackApi {
  int (*ensure)();
  void (*release_gil)(int);
  int (*initialized)();
  void* (*this_thread)();
  uint64_t (*thread_id)(void*);
  void* (*interpreter)();
  void* (*first_thread)(void*);
  void* (*next_thread)(void*);
  Object* (*thread_frame)(void*);
  Object* (*frame_back)(Object*);
  Object* (*frame_code)(Object*);
  int (*frame_line)(Object*);
  Object* (*attribute)(Object*, const char*);
  int (*disable_collection)();
  int (*enable_collection)();
  int (*attributes)(pthread_attr_t*);
  int (*set_stack)(pthread_attr_t*, size_t);
  int (*create)(unsigned long*, const pthread_attr_t*, void* (*)(void*), void*);
  int (*join)(unsigned long, void**);
};
StackApi g_api;

// Returns the string id of an attribute; 0 if there is none. Sets `is_hook` if the attribute's text
// is the path of a file of our hooks.
uint64_t InternOf(Object* code, const char* attribute, bool* is_hook) {
  Object* value = g_api.attribute(code, attribute);
  uint64_t id = 0;
  Count size = 0;
  const char* text = value != nullptr ? g_python.as_text(value, &size) : nullptr;
  if (text != nullptr && size > 0 && size < 4096) {
    *is_hook = *is_hook || strstr(text, "/penstock_hooks/") != nullptr;
    id = Intern(text, static_cast<size_t>(size));
  } else {
    g_python.clear_error();
  }
  if (value != nullptr) {
    g_python.release(value);
  }
  return id;
}

// Reads a frame into `to`. False if it is a frame of our hooks; the caller then reads the next
// frame into the same place.
bool ReadFrame(Object* frame, StackFrame* to) {
  Object* code = g_api.frame_code(frame);
  bool is_hook = false;
  to->file = InternOf(code, "co_filename", &is_hook);
  uint64_t name = InternOf(code, "co_qualname", &is_hook);  // Python 3.11 and later
  if (name == 0) {
    name = InternOf(code, "co_name", &is_hook);
  }
  to->name = static_cast<uint32_t>(name);
  to->line = static_cast<uint32_t>(g_api.frame_line(frame));
  Object* first = g_api.attribute(code, "co_firstlineno");
  to->first_line = first != nullptr ? static_cast<uint32_t>(NumberOf(first)) : 0;
  if (first != nullptr) {
    g_python.release(first);
  }
  g_python.release(code);
  return !is_hook;
}

// Whether the interpreter still has the thread.
bool IsAlive(const PyThread& thread) {
  for (void* t = g_api.first_thread(g_api.interpreter()); t != nullptr; t = g_api.next_thread(t)) {
    if (t == thread.state) {
      return g_api.thread_id(t) == thread.id;
    }
  }
  return false;
}

}  // namespace

bool LoadStackApi() {
  static bool loaded = false;
  static bool complete = false;
  if (!loaded) {
    loaded = true;
    StackApi& api = g_api;
    Load(&api.disable_collection, "PyGC_Disable");
    Load(&api.enable_collection, "PyGC_Enable");
    complete =
        Load(&api.ensure, "PyGILState_Ensure") && Load(&api.release_gil, "PyGILState_Release") &&
        Load(&api.initialized, "Py_IsInitialized") && Load(&api.this_thread, "PyThreadState_Get") &&
        Load(&api.thread_id, "PyThreadState_GetID") &&
        Load(&api.interpreter, "PyInterpreterState_Get") &&
        Load(&api.first_thread, "PyInterpreterState_ThreadHead") &&
        Load(&api.next_thread, "PyThreadState_Next") &&
        Load(&api.thread_frame, "PyThreadState_GetFrame") &&
        Load(&api.frame_back, "PyFrame_GetBack") && Load(&api.frame_code, "PyFrame_GetCode") &&
        Load(&api.frame_line, "PyFrame_GetLineNumber") &&
        Load(&api.attribute, "PyObject_GetAttrString") &&
        Load(&api.attributes, "pthread_attr_init") &&
        Load(&api.set_stack, "pthread_attr_setstacksize") && Load(&api.create, "pthread_create") &&
        Load(&api.join, "pthread_join");
  }
  return complete;
}

PyThread ThisPyThread() {
  void* state = g_api.this_thread();
  return {state, g_api.thread_id(state)};
}

// Making frame objects must not collect garbage on this thread, since finalizers of the program
// would run on it.
uint32_t ReadStack(const PyThread& thread, bool (*stays)(const void*), const void* argument,
                   StackFrame* to) {
  // The interpreter allocates a state for this thread. If there were no memory for that state, the
  // interpreter would end the program.
  if (g_api.initialized() == 0 || !RoomFor(size_t{1} << 20, Memory::kPrivate)) {
    return 0;
  }
  uint32_t frames = 0;
  const int gil = g_api.ensure();
  const bool collects = g_api.disable_collection != nullptr && g_api.disable_collection() != 0;
  if (stays(argument) && IsAlive(thread)) {
    Object* frame = g_api.thread_frame(thread.state);
    while (frame != nullptr) {
      frames += ReadFrame(frame, &to[frames]) ? 1U : 0U;
      Object* back = frames < kMostFrames ? g_api.frame_back(frame) : nullptr;
      g_python.release(frame);
      frame = back;
    }
    frames = stays(argument) ? frames : 0;
  }
  if (collects) {
    g_api.enable_collection();
  }
  g_api.release_gil(gil);
  return frames;
}

bool CreateThread(unsigned long* thread, void* (*main)(void*)) {
  constexpr size_t kStack = size_t{1} << 19;
  // The most that the C library maps for the thread: its stack, and the arena of its first
  // allocation.
  constexpr size_t kMapped = kStack + (size_t{128} << 20);
  pthread_attr_t attributes;
  return RoomFor(kMapped, Memory::kPrivate) && g_api.attributes(&attributes) == 0 &&
         g_api.set_stack(&attributes, kStack) == 0 &&
         g_api.create(thread, &attributes, main, nullptr) == 0;
}

void JoinThread(unsigned long thread) {
  g_api.join(thread, nullptr);
}

}  // namespace penstock::agent
