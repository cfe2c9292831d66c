// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/reads.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

constexpr std::size_t kFewestReads = 64;

// How many reads run at each moment.
class Concurrency {
 public:
  explicit Concurrency(const std::vector<ReadSpan>& reads) {
    std::vector<std::pair<std::int64_t, int>> changes;
    for (const ReadSpan& read : reads) {
      changes.emplace_back(read.start, 1);
      changes.emplace_back(read.end, -1);
    }
    std::sort(changes.begin(), changes.end());
    double sum = 0;
    int now = 0;
    for (const auto& [at, change] : changes) {
      if (!at_.empty()) {
        const double length = static_cast<double>(at - at_.back());
        sum += now * length;
        if (now > 0) busy_ += length;
      }
      now += change;
      at_.push_back(at);
      running_.push_back(now);
      sum_.push_back(sum);
    }
  }

  // Mean over [from, to). Requires: from < to, both within the reads.
  [[nodiscard]] double Mean(std::int64_t from, std::int64_t to) const {
    return (SumAt(to) - SumAt(from)) / static_cast<double>(to - from);
  }
  [[nodiscard]] double busy() const { return busy_; }  // ns with at least one
  [[nodiscard]] double mean() const { return busy_ > 0 ? sum_.back() / busy_ : 1; }

 private:
  [[nodiscard]] double SumAt(std::int64_t at) const {
    const auto next = std::upper_bound(at_.begin(), at_.end(), at);
    if (next == at_.begin()) return 0;
    const auto i = static_cast<std::size_t>(next - at_.begin()) - 1;
    return sum_[i] + running_[i] * static_cast<double>(at - at_[i]);
  }

  std::vector<std::int64_t> at_;
  std::vector<int> running_;  // from that moment on
  std::vector<double> sum_;   // integral of running_ up to that moment
  double busy_ = 0;
};

using Row = std::array<double, 3>;

struct Fit {
  Row value{};
  Row error{};  // standard errors
};

// Solves the normal equations over the first `terms` columns; nullopt where they are singular.
std::optional<Fit> LeastSquares(const std::vector<Row>& rows, const std::vector<double>& y,
                                std::size_t terms) {
  std::array<std::array<double, 6>, 3> m{};  // [A | identity]
  Row right{};
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < terms; ++i) {
      for (std::size_t j = 0; j < terms; ++j) m[i][j] += rows[r][i] * rows[r][j];
      right[i] += rows[r][i] * y[r];
    }
  }
  for (std::size_t i = 0; i < terms; ++i) m[i][3 + i] = 1;
  for (std::size_t i = 0; i < terms; ++i) {
    std::size_t pivot = i;
    for (std::size_t k = i + 1; k < terms; ++k) {
      if (std::abs(m[k][i]) > std::abs(m[pivot][i])) pivot = k;
    }
    std::swap(m[i], m[pivot]);
    if (!(std::abs(m[i][i]) > 1e-9 * static_cast<double>(rows.size()))) return std::nullopt;
    const double by = m[i][i];
    for (double& value : m[i]) value /= by;
    for (std::size_t k = 0; k < terms; ++k) {
      if (k == i) continue;
      const double times = m[k][i];
      for (std::size_t c = 0; c < 6; ++c) m[k][c] -= times * m[i][c];
    }
  }
  Fit fit;
  for (std::size_t i = 0; i < terms; ++i) {
    for (std::size_t j = 0; j < terms; ++j) fit.value[i] += m[i][3 + j] * right[j];
  }
  double variance = 0;  // of the residuals
  for (std::size_t r = 0; r < rows.size(); ++r) {
    double residual = y[r];
    for (std::size_t i = 0; i < terms; ++i) residual -= fit.value[i] * rows[r][i];
    variance += residual * residual;
  }
  variance /= static_cast<double>(rows.size() - terms);
  for (std::size_t i = 0; i < terms; ++i) fit.error[i] = std::sqrt(variance * m[i][3 + i]);
  return fit;
}

// Whether typical reads are slowed down by others as the fit says, not only a few long reads. Long
// reads overlap many others only because they are long, and a few of them can mislead the fit.
bool TypicalToo(const std::vector<Row>& rows, const std::vector<double>& y, const Fit& fit) {
  std::vector<double> beside;
  for (const Row& row : rows) beside.push_back(row[2]);
  const double middle = Median(beside);
  std::array<std::vector<double>, 2> x;     // reads with few others beside them, and with many
  std::array<std::vector<double>, 2> rest;  // time beyond that of a read alone, by the fit
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::size_t half = rows[r][2] > middle ? 1 : 0;
    x[half].push_back(rows[r][2]);
    rest[half].push_back(y[r] - fit.value[0] - fit.value[1] * rows[r][1]);
  }
  const double predicted = fit.value[2] * (Median(std::move(x[1])) - Median(std::move(x[0])));
  return Median(std::move(rest[1])) - Median(std::move(rest[0])) >= 0.5 * predicted;
}

}  // namespace

ReadCosts FitReads(std::vector<ReadSpan> reads) {
  ReadCosts costs;
  reads.erase(std::remove_if(reads.begin(), reads.end(),
                             [](const ReadSpan& read) { return read.end <= read.start; }),
              reads.end());
  costs.reads = reads.size();
  if (reads.empty()) return costs;
  const Concurrency concurrency(reads);
  double bytes = 0;
  double time = 0;
  std::vector<std::int64_t> lengths;
  for (const ReadSpan& read : reads) {
    bytes += static_cast<double>(read.bytes);
    time += static_cast<double>(read.end - read.start);
    lengths.push_back(read.end - read.start);
  }
  const auto n = static_cast<double>(reads.size());
  costs.mean = time / n * 1e-9;
  costs.concurrency = std::max(1.0, concurrency.mean());
  if (concurrency.busy() > 0) costs.most_bytes_per_s = bytes / (concurrency.busy() * 1e-9);
  if (reads.size() < kFewestReads || !(bytes > 0)) return costs;

  const std::size_t last = lengths.size() - 1 - lengths.size() / 100;
  std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(last),
                   lengths.end());
  const std::int64_t longest = lengths[last];
  const double size = bytes / n;  // columns of about 1: the equations are well scaled
  std::vector<Row> rows;
  std::vector<double> seconds;
  double means[3] = {};
  for (const ReadSpan& read : reads) {
    if (read.end - read.start > longest) continue;
    const double own = static_cast<double>(read.bytes) / size;
    const double beside = std::max(0.0, concurrency.Mean(read.start, read.end) - 1);
    rows.push_back({1, own, own * beside});
    seconds.push_back(static_cast<double>(read.end - read.start) * 1e-9);
    for (std::size_t i = 0; i < 3; ++i) means[i] += rows.back()[i];
  }
  const double mean = costs.mean;
  const auto matters = [&](const Fit& fit, std::size_t i) {
    return fit.value[i] > 3 * fit.error[i] &&
           fit.value[i] * means[i] > 0.1 * mean * static_cast<double>(rows.size());
  };
  std::optional<Fit> fit = LeastSquares(rows, seconds, 3);
  // If reads are served in order, their rate takes precedence over the fit: other reads do not slow
  // a read down in proportion to its own bytes then.
  const ReadRate rate = MeasureRate(reads);
  const bool slowed = fit && matters(*fit, 2) && TypicalToo(rows, seconds, *fit);
  if (rate.limited() || slowed) {
    costs.shared = true;
    costs.in_order = rate.limited();
    costs.device_per_byte = rate.limited() ? rate.per_byte : fit->value[2] / size;
  }
  if (!slowed) fit = LeastSquares(rows, seconds, 2);
  // The constant is known if its error is small compared with the mean read, even if the constant
  // is near 0.
  if (fit && fit->error[0] < 0.1 * mean) {
    costs.split = true;
    costs.latency = std::clamp(fit->value[0], 0.0, mean);
    costs.per_byte = std::max(0.0, fit->value[1]) / size;
  }
  return costs;
}

}  // namespace penstock::analyzer
