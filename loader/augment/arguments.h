// SPDX-License-Identifier: Apache-2.0
//
// The arguments of one operation of `--ops`, taken one after the other. An argument with a key is
// taken by this key; arguments without one are taken in their order. A call that finds a mistake
// returns the default, or some value that is allowed. Finish() returns the first mistake. The text
// must outlive this object. One thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loader/augment/op.h"

namespace penstock::loader {

class Arguments {
 public:
  // `text` is what follows the name: "=224:scale=0.08-1", or nothing.
  Arguments(std::string_view op, std::string_view text);

  // Reads N for NxN, or HxW. With short_side, N alone gives {0, N}.
  [[nodiscard]] Size TakeSize(std::string_view key, bool short_side);
  [[nodiscard]] int TakeInteger(std::string_view key, int low, int high, int otherwise);
  [[nodiscard]] double TakeNumber(std::string_view key, Range limits, double otherwise);
  // Reads LOW-HIGH, or one number for both.
  [[nodiscard]] Range TakeRange(std::string_view key, Range limits, Range otherwise);
  // Reads LOW-HIGH, or one number A for [max(limits.low, centre - A), centre + A]. Without
  // `otherwise`, the argument is required.
  [[nodiscard]] Range TakeAmount(std::string_view key, double centre, Range limits,
                                 std::optional<Range> otherwise);
  // TakeAmounts() reads a list such as "0.4,0.4,0.4,0.1", each item as TakeAmount() does. The list
  // has at most items.size() items; the result has as many as the list.
  struct ListItem {
    std::string_view name;
    double centre;
    Range limits;
  };
  [[nodiscard]] std::vector<Range> TakeAmounts(std::string_view key,
                                               std::span<const ListItem> items, bool required);
  [[nodiscard]] std::vector<double> TakeNumbers(std::string_view key, std::size_t count,
                                                Range limits, std::vector<double> otherwise);
  [[nodiscard]] Filter TakeFilter(std::string_view key, Filter otherwise, bool antialiased);

  // Returns the first mistake. If there is none, complains of an argument that no call has taken.
  // nullopt if all arguments were taken without a mistake.
  [[nodiscard]] std::optional<std::string> Finish();

 private:
  struct Argument {
    std::string_view key;  // empty: by position
    std::string_view value;
    bool taken = false;
  };

  [[nodiscard]] std::optional<std::string_view> Take(std::string_view key);
  void Complain(std::string message);
  [[nodiscard]] Range ReadAmount(std::string_view text, std::string_view what, double centre,
                                 Range limits);

  std::string_view op_;
  std::vector<Argument> arguments_;
  std::string known_;  // keys that were asked for, for the message
  std::optional<std::string> mistake_;
};

}  // namespace penstock::loader
