// SPDX-License-Identifier: Apache-2.0
//
// What a number on a command line may be, for CLI11's check(). Their descriptions stand in --help.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

namespace penstock::traces {

// A whole number, low to high. CLI11 alone takes -1 for 2^64 - 1, 010 for 8, and what is too large
// for the largest number.
inline CLI::Validator WholeNumber(std::uint64_t low = 0,
                                  std::uint64_t high = std::numeric_limits<std::uint64_t>::max()) {
  const bool endless = high == std::numeric_limits<std::uint64_t>::max();
  const std::string range =
      endless ? fmt::format("{} or more", low) : fmt::format("{} to {}", low, high);
  return {[=](std::string& text) -> std::string {
            std::uint64_t value = 0;
            const auto [end, error] =
                std::from_chars(text.data(), text.data() + text.size(), value);
            if (error != std::errc{} || end != text.data() + text.size() || value < low ||
                value > high) {
              return fmt::format("{} is no whole number from {}", text, range);
            }
            text = std::to_string(value);
            return {};
          },
          range};
}

// A number, low to high; no NaN, which a comparison with either end would let through.
inline CLI::Validator NumberBetween(double low, double high) {
  const std::string range = fmt::format("{} to {}", low, high);
  return {[=](std::string& text) -> std::string {
            double value = 0;
            const bool good =
                CLI::detail::lexical_cast(text, value) && value >= low && value <= high;
            return good ? std::string{} : fmt::format("{} is no number from {}", text, range);
          },
          range};
}

}  // namespace penstock::traces
