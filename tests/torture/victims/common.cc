// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "tests/torture/victims/victim.h"

namespace torture {

void Fail(const char* what) {
  std::fprintf(stderr, "torture_victim: %s\n", what);
  _exit(99);
}

Count::Count()
    : shared_(static_cast<std::uint64_t*>(
          mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
  if (shared_ == MAP_FAILED) Fail("no shared memory");
}

void Count::Tell() const {
  const char* path = std::getenv("TORTURE_COUNT");
  std::FILE* file = path != nullptr ? std::fopen(path, "a") : nullptr;
  if (file == nullptr) return;
  std::fprintf(file, "%llu\n", static_cast<unsigned long long>(Get()));
  std::fclose(file);
}

Count& Reads() {
  static Count count;
  return count;
}

const std::vector<std::string>& Files() {
  static const std::vector<std::string> files = [] {
    std::vector<std::string> found;
    const char* folder = std::getenv("TORTURE_SET");
    DIR* dir = folder != nullptr ? opendir(folder) : nullptr;
    if (dir == nullptr) Fail("TORTURE_SET names no folder");
    while (const dirent* entry = readdir(dir)) {
      if (entry->d_name[0] != '.') found.push_back(std::string(folder) + "/" + entry->d_name);
    }
    closedir(dir);
    if (found.empty()) Fail("TORTURE_SET is empty");
    std::sort(found.begin(), found.end());
    return found;
  }();
  return files;
}

long ReadFile(std::size_t n) {
  const std::string& path = Files()[n % Files().size()];
  int fd = -1;
  do {
    fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return -1;
  char buffer[512];
  long total = 0;
  for (;;) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    total += got;
  }
  close(fd);
  Reads().Add(1);
  return total;
}

int ReapAny(pid_t* child) {
  int status = 0;
  pid_t pid = -1;
  do {
    pid = waitpid(*child, &status, 0);
  } while (pid < 0 && errno == EINTR);
  *child = pid;
  return pid < 0 ? -1 : WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

int Reap(pid_t child) {
  return ReapAny(&child);
}

void Sleep(long microseconds) {
  timespec left{microseconds / 1'000'000, microseconds % 1'000'000 * 1000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

int Paced(int reads, long microseconds) {
  long total = 0;
  for (int i = 0; i < reads; ++i) {
    total += ReadFile(static_cast<std::size_t>(i));
    Sleep(microseconds);
  }
  std::printf("%d reads, %ld bytes\n", reads, total);
  return 0;
}

}  // namespace torture
