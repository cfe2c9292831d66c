// SPDX-License-Identifier: Apache-2.0
//
// failpoints: runs a command and makes one of its system calls fail, or kills a process at this
// call.
//
//   failpoints --list FILE -- CMD         writes a line for each system call of CMD and of the
//                                         processes that it starts: the point, and how it may fail
//   failpoints --at POINT --do FAILURE -- CMD
//   failpoints --writes FOLDER FILE -- CMD   logs the operations on files below FOLDER (writes.h)
//
// A point is WHOSE:LANE:CALL:N: the N-th CALL by the code WHOSE ("agent" or a program's name) in
// the task LANE. A point has the same name whatever other tasks do, since N counts only calls of
// its own task. One line of JSON about the run goes to the file of --result. The status is 0 if the
// command has ended, with whatever status, and 9 if it hung.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/torture/failpoints/calls.h"
#include "tests/torture/failpoints/tracer.h"

namespace failpoints {
namespace {

std::FILE* Open(const char* path) {
  std::FILE* file = std::fopen(path, "we");
  if (file == nullptr) {
    std::perror(path);
    std::exit(kUsage);
  }
  return file;
}

int Main(int count, char** values) {
  Arguments arguments;
  int i = 1;
  for (; i + 1 < count && std::strcmp(values[i], "--") != 0; i += 2) {
    const std::string name = values[i];
    const char* value = values[i + 1];
    if (name == "--list") {
      arguments.list = Open(value);
    } else if (name == "--result") {
      arguments.result = Open(value);
    } else if (name == "--at") {
      arguments.point = value;
    } else if (name == "--do") {
      arguments.failure = ParseFailure(value);
    } else if (name == "--limit") {
      arguments.limit_s = static_cast<unsigned>(std::atoi(value));
    } else if (name == "--writes" && i + 2 < count) {
      arguments.folder = value;
      arguments.writes = values[i + 2];
      ++i;
    } else {
      break;
    }
  }
  const bool wants = !arguments.point.empty();
  if (i + 1 >= count || std::strcmp(values[i], "--") != 0 ||
      wants != (arguments.failure.kind != Kind::kNone)) {
    std::fprintf(stderr,
                 "failpoints [--list FILE] [--at POINT --do FAILURE] [--writes FOLDER FILE] "
                 "[--result FILE] [--limit SECONDS] -- CMD...\n");
    return kUsage;
  }
  arguments.command = values + i + 1;
  const int status = Tracer(arguments).Run();
  if (arguments.list != nullptr) std::fclose(arguments.list);
  if (arguments.result != nullptr) std::fclose(arguments.result);
  return status;
}

}  // namespace
}  // namespace failpoints

int main(int argc, char** argv) {
  return failpoints::Main(argc, argv);
}
