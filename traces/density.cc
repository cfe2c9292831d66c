// SPDX-License-Identifier: Apache-2.0
#include "traces/density.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace penstock::traces {
namespace {

using Shares = std::array<float, wire::kStageCount>;

// The three largest of `shares`, which are fractions of the cell.
DensityCell CellOf(const Shares& shares) {
  DensityCell cell;
  std::array<float, 3> best{};
  for (std::size_t s = 0; s < shares.size(); ++s) {
    for (std::size_t k = 0; k < best.size(); ++k) {
      if (shares[s] <= best[k]) continue;
      for (std::size_t m = best.size() - 1; m > k; --m) {
        best[m] = best[m - 1];
        cell.stage[m] = cell.stage[m - 1];
      }
      best[k] = shares[s];
      cell.stage[k] = static_cast<std::uint8_t>(s);
      break;
    }
  }
  for (std::size_t k = 0; k < best.size(); ++k) {
    const float share = std::min(best[k], 1.0F);
    // Even the smallest share stays visible.
    cell.share[k] = share <= 0 ? std::uint8_t{0}
                               : static_cast<std::uint8_t>(std::max(1L, std::lround(share * 255)));
  }
  return cell;
}

}  // namespace

DensityCell MergedCell(const DensityCell& a, const DensityCell& b) {
  Shares shares{};
  // Each of the two covers half of the merged cell, and its shares are in 1/255.
  for (std::size_t k = 0; k < a.stage.size(); ++k) {
    shares[a.stage[k]] += static_cast<float>(a.share[k]) / 510;
    shares[b.stage[k]] += static_cast<float>(b.share[k]) / 510;
  }
  return CellOf(shares);
}

CellWriter::CellWriter(std::size_t count, std::int64_t length)
    : cells_(count), per_cell_(static_cast<double>(length) / static_cast<double>(count)) {}

void CellWriter::Flush() {
  if (touched_) {
    cells_[current_] = CellOf(shares_);
    shares_.fill(0);
  }
  touched_ = false;
}

void CellWriter::Add(std::int64_t start, std::int64_t end, StageId stage) {
  double from = static_cast<double>(start) / per_cell_;
  const double to = static_cast<double>(end) / per_cell_;
  const auto place = [this](double at) {
    return std::min(cells_.size() - 1, static_cast<std::size_t>(std::max(0.0, at)));
  };
  const std::size_t last = place(to);
  const std::size_t first = place(from);
  for (std::size_t cell = first; cell <= last; ++cell) {
    if (from >= to && cell != first) break;  // the span ends where this cell begins
    if (cell != current_) {
      Flush();
      current_ = cell;
    }
    const double until = std::min(to, static_cast<double>(cell + 1));
    // A span without a length still leaves a mark.
    shares_[StageIndex(stage)] += static_cast<float>(std::max(until - from, 1e-6));
    touched_ = true;
    from = until;
  }
}

std::vector<DensityCell> CellWriter::Take() {
  Flush();
  return std::move(cells_);
}

std::optional<LevelPlacer::Place> LevelPlacer::Add(std::int64_t start, std::int64_t length) {
  std::size_t at = 0;
  while (at < ends_.size() && ends_[at] > start) ++at;
  const std::int64_t end = start + length;
  if (at == kMost) {
    at = kMost - 1;
    if (ends_[at] >= end) return std::nullopt;
  }
  if (at == ends_.size()) ends_.push_back(0);
  const std::int64_t begin = std::max(start, ends_[at]);
  ends_[at] = end;
  return Place{at, begin, end - begin};
}

void StepFinder::Add(std::int64_t start, std::int64_t length, StageId stage, BatchKey batch) {
  marked_ = marked_ || stage == StageId::kStep;
  if (marked_ || stage != StageId::kWait) return;
  if (wait_ && wait_->batch.generation == batch.generation && wait_->batch.valid() &&
      start > wait_->start + wait_->length) {
    const std::int64_t end = wait_->start + wait_->length;
    steps_.push_back({end, start - end, wait_->batch});
  }
  wait_ = DerivedStep{start, length, batch};
}

std::vector<DerivedStep> StepFinder::Take() {
  if (marked_) return {};
  return std::move(steps_);
}

}  // namespace penstock::traces
