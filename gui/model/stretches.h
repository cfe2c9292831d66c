// SPDX-License-Identifier: Apache-2.0
//
// Sets of times as sorted stretches that do not touch: what is in both, what is left. Values; pure.
#pragma once

#include <cstdint>
#include <vector>

namespace penstock::gui {

struct Stretch {
  std::int64_t from = 0;
  std::int64_t to = 0;  // > from
  bool operator==(const Stretch&) const = default;
};

class Stretches {
 public:
  Stretches() = default;
  // Any order, overlapping, empty ones too. Cost: O(n log n).
  explicit Stretches(std::vector<Stretch> any);

  [[nodiscard]] const std::vector<Stretch>& parts() const { return parts_; }
  [[nodiscard]] std::int64_t length() const;
  // Cost of each: O(both).
  [[nodiscard]] Stretches Both(const Stretches& other) const;
  [[nodiscard]] Stretches Without(const Stretches& other) const;

 private:
  std::vector<Stretch> parts_;
};

}  // namespace penstock::gui
