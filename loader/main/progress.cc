// SPDX-License-Identifier: Apache-2.0
#include "loader/main/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "loader/pipeline/cost.h"

namespace penstock::loader {
namespace {

constexpr TimeNs kInterval{100'000'000};

void Write(const std::string& text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

std::size_t TerminalWidth() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

// Number of samples in the whole order; 0 if it has no end.
std::uint64_t Total(const SampleOrder& order) {
  const std::uint64_t batches = order.batches();
  // An order without end has the largest number of batches. >= finds it even if a batch has one
  // sample.
  if (batches == 0 || batches >= std::numeric_limits<std::uint64_t>::max() / order.batch_size()) {
    return 0;
  }
  // Whole epochs are counted exactly, and batches beyond them as full. After a resume the result
  // can be wrong by less than one batch.
  const std::uint64_t each = std::max<std::uint64_t>(order.epoch_batches(), 1);
  const std::uint64_t epochs = batches / each;
  return epochs * std::min(order.epoch_samples(), each * order.batch_size()) +
         (batches - epochs * each) * order.batch_size();
}

}  // namespace

std::string ProgressLine(std::uint64_t samples, std::uint64_t total, double share, double seconds) {
  constexpr std::size_t kWidth = 20;
  const double rate = seconds > 0 ? static_cast<double>(samples) / seconds : 0;
  if (share < 0) return fmt::format("{} images, {:.0f} images/s", samples, rate);
  share = std::min(share, 1.0);
  const auto full = static_cast<std::size_t>(share * kWidth);
  std::string line = fmt::format("[{}{}] {:3.0f} %", std::string(full, '#'),
                                 std::string(kWidth - full, '.'), share * 100);
  if (total != 0) line += fmt::format(" of {} images", total);
  line += fmt::format(", {:.0f} images/s", rate);
  if (share > 0) line += fmt::format(", {:.0f} s left", seconds / share - seconds);
  return line;
}

Progress::Progress(const SampleOrder& order, TimeNs longest)
    : terminal_(isatty(STDERR_FILENO) == 1),
      total_(Total(order)),
      longest_(longest),
      start_(SteadyNow()),
      next_(start_ + kInterval) {}

void Progress::Show(std::uint64_t samples) {
  if (!terminal_) return;
  const TimeNs now = SteadyNow();
  if (now < next_) return;
  next_ = now + kInterval;
  double share = total_ == 0 ? -1 : static_cast<double>(samples) / static_cast<double>(total_);
  if (longest_.value > 0) share = std::max(share, Seconds(now - start_) / Seconds(longest_));
  std::string line = ProgressLine(samples, total_, share, Seconds(now - start_));
  line.resize(std::min(line.size(), TerminalWidth() - 1));
  Write("\r\033[K" + line);
  shown_ = true;
}

void Progress::Clear() {
  if (shown_) Write("\r\033[K");
  shown_ = false;
}

}  // namespace penstock::loader
