// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "analyzer/main/commands.h"

namespace penstock::analyzer {

bool WantsColour() {
  const char* none = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if (none != nullptr && *none != '\0') return false;
  if (term != nullptr && std::string_view(term) == "dumb") return false;
  return isatty(STDOUT_FILENO) == 1;
}

int Print(const std::string& text) {
  // `penstock report | head` is no failure. A command that replaces this process by another program
  // (RunExternal()) does so before it prints, so that program does not inherit the ignored SIGPIPE.
  std::signal(SIGPIPE, SIG_IGN);
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (whole && std::fflush(stdout) == 0) return 0;
  if (errno == EPIPE) return 0;
  std::fprintf(stderr, "penstock: standard output: %s\n", std::strerror(errno));
  return 3;
}

}  // namespace penstock::analyzer
