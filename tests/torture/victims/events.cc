// SPDX-License-Identifier: Apache-2.0
//
// Makes events as a loader with four threads does, but many times as fast: in minutes as many
// events as a training run makes in hours.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "tests/torture/victims/victim.h"
#include "traces/markers.h"

namespace torture {
namespace {

constexpr int kThreads = 4;
constexpr std::uint32_t kBatch = 32;
constexpr int kSpansOfASample = 4;

std::uint64_t Batch(std::uint32_t batch, const std::vector<std::string>& paths) {
  std::uint64_t spans = 0;
  for (std::uint32_t i = 0; i < kBatch; ++i) {
    const std::int64_t sample = std::int64_t{batch} * kBatch + i;
    penstock_place(sample, batch, batch / 1000);
    const PenstockToken whole = penstock_begin(PENSTOCK_SAMPLE, "sample");
    penstock_end_file(penstock_begin(PENSTOCK_READ, "file"), 110'000,
                      paths[static_cast<std::size_t>(sample) % paths.size()].c_str());
    penstock_end(penstock_begin(PENSTOCK_READ, "index"), 64);
    penstock_end(penstock_begin(PENSTOCK_READ, "label"), 8);
    penstock_end(whole, 0);
    spans += kSpansOfASample;
  }
  return spans;
}

}  // namespace

int Events(double seconds, std::uint64_t per_second) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::vector<std::string> paths;
  for (int i = 0; i < 20'000; ++i) {
    paths.push_back("/data/train/class" + std::to_string(i % 100) + "/" + std::to_string(i) +
                    ".jpg");
  }
  std::atomic<std::uint64_t> spans = 0;
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::uint64_t own = 0;
      for (std::uint32_t batch = t;; batch += kThreads) {
        const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
        if (elapsed >= seconds) break;
        if (static_cast<double>(own) > elapsed * static_cast<double>(per_second) / kThreads) {
          Sleep(1000);
          continue;
        }
        own += Batch(batch, paths);
      }
      spans += own;
    });
  }
  for (std::thread& thread : threads) thread.join();
  Reads().Add(spans);
  std::printf("done\n");
  return 0;
}

}  // namespace torture
