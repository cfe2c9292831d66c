// SPDX-License-Identifier: Apache-2.0
#include "loader/random/philox.h"

#include <cmath>
#include <numbers>

namespace penstock::loader {
namespace {

constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

constexpr std::uint32_t Low(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
constexpr std::uint32_t High(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

}  // namespace

std::array<std::uint32_t, 4> Philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {High(product1) ^ counter[1] ^ key[0], Low(product1),
               High(product0) ^ counter[3] ^ key[1], Low(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

std::array<std::uint32_t, 2> EpochKey(std::uint64_t seed, std::uint64_t epoch) {
  // The last word differs from the last word of all other counters with the seed as key.
  const auto block = Philox4x32({Low(epoch), High(epoch), 0, 0x65706F63}, {Low(seed), High(seed)});
  return {block[0], block[1]};
}

Random::Random(const SampleKey& key, std::uint32_t operation)
    : key_(EpochKey(key.seed, key.epoch)),
      counter_{0, operation, Low(key.sample), High(key.sample)} {}

std::uint32_t Random::Next() {
  if (used_ == block_.size()) {
    block_ = Philox4x32(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return block_[used_++];
}

double Random::Uniform() {
  const std::uint64_t high = Next();
  const std::uint64_t low = Next();
  return static_cast<double>((high << 32 | low) >> 11) * 0x1p-53;
}

double Random::Uniform(double low, double high) {
  return low + (high - low) * Uniform();
}

std::uint32_t Random::Below(std::uint32_t bound) {
  std::uint64_t product = std::uint64_t{Next()} * bound;
  if (Low(product) < bound) {
    const std::uint32_t threshold = (0U - bound) % bound;
    while (Low(product) < threshold) {
      product = std::uint64_t{Next()} * bound;
    }
  }
  return High(product);
}

double Random::Normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));  // the argument is in (0, 1]
  return radius * std::cos(2.0 * std::numbers::pi * Uniform());
}

double Random::LogNormal(double mu, double sigma) {
  return std::exp(mu + sigma * Normal());
}

}  // namespace penstock::loader
