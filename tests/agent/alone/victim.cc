// SPDX-License-Identifier: Apache-2.0
//
//   alone_victim WHAT [arguments]     reads files in situations that could break an agent
#include "tests/agent/alone/victim.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace alone {

long ReadFile(const char* path) {
  const int fd = open(path, O_RDONLY);
  if (fd < 0) return -1;
  char buffer[1024];
  long total = 0;
  for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;) total += n;
  close(fd);
  return total;
}

void Say(const char* text, long number) {
  char line[128];
  std::size_t size = std::strlen(text);
  std::memcpy(line, text, size);
  line[size++] = ' ';
  char digits[24];
  int n = 0;
  const bool negative = number < 0;
  auto left = static_cast<unsigned long>(negative ? -number : number);
  do {
    digits[n++] = static_cast<char>('0' + left % 10);
    left /= 10;
  } while (left != 0);
  if (negative) line[size++] = '-';
  while (n > 0) line[size++] = digits[--n];
  line[size++] = '\n';
  if (write(1, line, size) != static_cast<ssize_t>(size)) _exit(9);
}

void Fail(const char* what) {
  std::perror(what);
  std::_Exit(8);
}

}  // namespace alone

int main(int argc, char** argv) {
  if (argc < 3) alone::Fail("usage");
  const std::string what = argv[1];
  if (what == "read") {
    alone::Say("read", alone::ReadFile(argv[2]));
    return 0;
  }
  if (what == "lock-in" && argc == 5) return alone::LockIn(argv[2], argv[3], argv[4]);
  if (what == "run-locked-in") return alone::RunLockedIn(argv + 2);
  if (what == "search-locked-in") return alone::SearchLockedIn(argv + 2);
  if (what == "say") {
    alone::Say("said", argc);
    return 0;
  }
  if (what == "clock" && argc == 4) return alone::ForbidClock(argv[2], argv[3]);
  if (what == "stack" && argc >= 4) {
    return alone::OnSmallStack(std::atol(argv[2]), argv[3], argc > 4 ? argv[4] : "");
  }
  if (what == "limits" && argc == 4) return alone::Limits(argv[2], argv[3]);
  if (what == "places" && argc >= 4) return alone::Places(argv[2], argv[3], argv + 4);
  alone::Fail("what?");
}
