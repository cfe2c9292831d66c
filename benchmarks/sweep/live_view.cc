// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/sweep/live_view.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "benchmarks/sweep/table.h"

namespace penstock::sweep {
namespace {

void Write(int fd, const std::string& text) {
  [[maybe_unused]] const ssize_t written = ::write(fd, text.data(), text.size());
}

// The lines, cut at the terminal's width; nothing if the terminal has too few lines. Escapes take
// no room on the screen, so only tables without escapes may be cut.
std::string Fitting(int fd, std::string text) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return {};
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  if (lines + 2 > size.ws_row) return {};
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = text.find('\n', start);
    if (end - start > size.ws_col) text.erase(start + size.ws_col, end - start - size.ws_col);
    start = text.find('\n', start) + 1;
  }
  return text;
}

}  // namespace

LiveView::LiveView(const SweepResult& result, std::size_t runs, int fd)
    : result_(result),
      fd_(fd),
      terminal_(::isatty(fd) == 1 && ::isatty(STDERR_FILENO) == 1),
      bar_(runs, "runs") {}

LiveView::~LiveView() {
  Clear();
}

void LiveView::Show(std::size_t runs_done) {
  if (terminal_) {
    const std::string table = Fitting(fd_, RenderTable(result_, {false}));
    bar_.Clear();
    if (lines_ > 0) Write(fd_, fmt::format("\033[{}A\033[J", lines_));
    Write(fd_, table);
    lines_ = static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n'));
  }
  bar_.Show(runs_done);
}

void LiveView::Clear() {
  bar_.Clear();
  if (lines_ > 0) Write(fd_, fmt::format("\033[{}A\033[J", lines_));
  lines_ = 0;
}

}  // namespace penstock::sweep
