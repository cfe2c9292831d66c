// SPDX-License-Identifier: Apache-2.0
#include "loader/set/progress_bar.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace penstock::loader {
namespace {

constexpr int kBar = 24;

int TerminalWidth() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

void Write(const std::string& text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

std::string Length(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

std::string ProgressText(std::uint64_t done, std::uint64_t total, const std::string& what,
                         double elapsed_s, int width) {
  done = std::min(done, total);
  const double share = total == 0 ? 1 : static_cast<double>(done) / static_cast<double>(total);
  const auto filled = static_cast<std::size_t>(share * kBar);
  std::string text = fmt::format("[{}{}] {:.0f} % of {} {}", std::string(filled, '#'),
                                 std::string(kBar - filled, '.'), share * 100, total, what);
  if (done > 0 && done < total && elapsed_s > 1) {
    text += fmt::format(", {} left", Length(elapsed_s * (1 - share) / share));
  }
  text.resize(std::min(text.size(), static_cast<std::size_t>(std::max(width, 1))));
  return text;
}

ProgressBar::ProgressBar(std::uint64_t total, std::string what)
    : total_(total),
      what_(std::move(what)),
      terminal_(::isatty(STDERR_FILENO) == 1),
      started_(std::chrono::steady_clock::now()),
      next_(started_) {}

ProgressBar::~ProgressBar() {
  Clear();
}

void ProgressBar::Show(std::uint64_t done) {
  if (!terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  const double elapsed = std::chrono::duration<double>(now - started_).count();
  // The cursor goes back to the left, so the next output overwrites the line.
  Write("\r\033[K" + ProgressText(done, total_, what_, elapsed, TerminalWidth() - 1) + "\r");
  shown_ = true;
}

void ProgressBar::Clear() {
  if (shown_) Write("\r\033[K");
  shown_ = false;
}

}  // namespace penstock::loader
