// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that are a pure function of seed, epoch, sample and operation. No state is shared,
// so the pixels of a sample do not depend on threads, batches, ranks or resuming. Keys are values;
// a Random belongs to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock::loader {

// The sample for which random numbers are drawn. `sample` is the index in the data set, not the
// position in the epoch.
struct SampleKey {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t sample = 0;
};

// One block of Philox4x32 with ten rounds.
//
// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011; checked with the
//         known answers of Random123.
[[nodiscard]] std::array<std::uint32_t, 4> Philox4x32(std::array<std::uint32_t, 4> counter,
                                                      std::array<std::uint32_t, 2> key);

// The Philox key of one epoch: a block of a generator whose key is the seed.
[[nodiscard]] std::array<std::uint32_t, 2> EpochKey(std::uint64_t seed, std::uint64_t epoch);

// The random numbers for one operation on one sample. After 2^34 numbers they repeat.
class Random {
 public:
  Random(const SampleKey& key, std::uint32_t operation);

  // 32 uniform bits.
  [[nodiscard]] std::uint32_t Next();

  // Uniform in [0, 1), a multiple of 2^-53.
  [[nodiscard]] double Uniform();

  // Uniform in [low, high]; `low` if both are equal.
  [[nodiscard]] double Uniform(double low, double high);

  // Uniform in 0 ... bound - 1 without bias (Lemire 2019).
  //
  // Requires: bound > 0.
  [[nodiscard]] std::uint32_t Below(std::uint32_t bound);

  // Standard normal (Box and Muller). Each call uses two uniform numbers and keeps none for later.
  [[nodiscard]] double Normal();

  // exp(mu + sigma * Normal()): median exp(mu), mean exp(mu + sigma^2 / 2).
  [[nodiscard]] double LogNormal(double mu, double sigma);

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  std::size_t used_ = 4;
};

}  // namespace penstock::loader
