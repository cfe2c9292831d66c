// SPDX-License-Identifier: Apache-2.0
//
// Quantities as types, so that a time cannot be passed as a size. Values, no ownership,
// thread-safe.
#pragma once

#include <compare>
#include <cstdint>

namespace penstock {

template <class Tag, class Rep>
struct Quantity {
  Rep value{};

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) {
    value += other.value;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value -= other.value;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity{a.value + b.value};
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity{a.value - b.value};
  }
};

using TimeNs =
    Quantity<struct TimeTag, std::int64_t>;  // a time in CLOCK_MONOTONIC nanoseconds, or a duration
using Bytes = Quantity<struct BytesTag, std::uint64_t>;
using StringId =
    Quantity<struct StringTag, std::uint32_t>;  // index into Trace::strings(), 0 = none
using ThreadId = Quantity<struct ThreadTag, std::uint32_t>;    // index into Trace::threads()
using ProcessId = Quantity<struct ProcessTag, std::uint32_t>;  // index into Trace::processes()

[[nodiscard]] constexpr double Seconds(TimeNs t) {
  return static_cast<double>(t.value) * 1e-9;
}

}  // namespace penstock
