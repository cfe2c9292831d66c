// SPDX-License-Identifier: Apache-2.0
#include "agent/record/launch/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace penstock::record {
namespace {

std::string Scaled(double value, const char* space) {
  constexpr std::array<const char*, 5> kPrefixes = {"", "k", "M", "G", "T"};
  std::size_t step = 0;
  while (value >= 999.5 && step + 1 < kPrefixes.size()) {
    value /= 1000;
    ++step;
  }
  const int digits = step == 0 || value >= 99.5 ? 0 : 1;
  return fmt::format("{:.{}f}{}{}", value, digits, space, kPrefixes[step]);
}

std::size_t TerminalWidth() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

void Write(const std::string& text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

std::string HumanBytes(std::uint64_t bytes) {
  return Scaled(static_cast<double>(bytes), " ") + "B";
}
std::string HumanCount(double count) {
  return Scaled(count, count >= 999.5 ? " " : "");
}

std::string ProgressLine(const Message& now, const Message* last) {
  const auto value = [](const Message& m, ProgressValue v) {
    return static_cast<double>(m.values[v]);
  };
  const double elapsed = value(now, kElapsedNs) * 1e-9;
  std::string line = fmt::format("penstock {:.0f} s | {} process{}", elapsed,
                                 now.values[kProcesses], now.values[kProcesses] == 1 ? "" : "es");
  const double seconds = elapsed - (last != nullptr ? value(*last, kElapsedNs) * 1e-9 : 0);
  if (seconds > 0) {
    const auto rate = [&](ProgressValue v) {
      return std::max(0.0, value(now, v) - (last != nullptr ? value(*last, v) : 0)) / seconds;
    };
    line += fmt::format(" | {} spans/s", HumanCount(rate(kSpans)));
    if (now.values[kBatches] != 0) line += fmt::format(" | {:.1f} batches/s", rate(kBatches));
  }
  line += fmt::format(" | {}", HumanBytes(now.values[kBytesWritten]));
  if (now.values[kLost] != 0) line += fmt::format(" | {} lost", HumanCount(value(now, kLost)));
  return line;
}

void Progress::Show(const Message& message) {
  if (!enabled_) return;
  std::string line = ProgressLine(message, last_ ? &*last_ : nullptr);
  last_ = message;
  line.resize(std::min(line.size(), TerminalWidth() - 1));
  // The cursor goes back to the left, so that the command's next output overwrites the line.
  Write("\r\033[K" + line + "\r");
  shown_ = true;
}

void Progress::Say(const std::string& text) {
  if (!enabled_) return;
  Write("\r\033[K" + text + "\r");
  shown_ = true;
}

void Progress::Clear() {
  if (shown_) Write("\r\033[K");
  shown_ = false;
}

}  // namespace penstock::record
