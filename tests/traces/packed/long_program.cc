// SPDX-License-Identifier: Apache-2.0
#include "tests/traces/packed/long_program.h"

#include <fmt/format.h>

#include <cmath>

namespace penstock::traces::long_run {

std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

namespace {

// The file that an epoch reads as number `at`. Each epoch has its own permutation of the files: a
// Feistel network, which is applied again until the result is below `files`.
std::uint64_t Shuffled(std::uint64_t at, std::uint64_t files, std::uint64_t epoch) {
  unsigned half = 1;
  while (std::uint64_t{1} << 2 * half < files) ++half;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  do {
    std::uint64_t left = at >> half;
    std::uint64_t right = at & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      left ^= Mix(right + (round << 40) + (epoch << 44)) & mask;
      std::swap(left, right);
    }
    at = left << half | right;
  } while (at >= files);
  return at;
}

}  // namespace

std::string PathOf(std::uint64_t index) {
  const std::uint64_t folder = 1'440'764 + index % 1000 * 1013;
  return fmt::format("/data/imagenet/train/n{:08}/n{:08}_{}.JPEG", folder, folder, index);
}

Times::Times() {
  for (std::size_t i = 0; i < factors_.size(); ++i) {
    const double u = (static_cast<double>(i) + 0.5) / static_cast<double>(factors_.size());
    // Box-Muller method. v is computed from i as u is, which is random enough here.
    const double v = static_cast<double>(Mix(i) >> 11) * 0x1p-53;
    factors_[i] = std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
  }
  for (double& factor : factors_) factor = std::exp(0.4 * factor);
}

std::uint64_t Times::Next(double median_ns) {
  state_ = Mix(state_ + 0x9e3779b97f4a7c15u);
  const double noise = 1 + static_cast<double>(state_ >> 40) * 0x1p-26;  // so no two are alike
  return static_cast<std::uint64_t>(median_ns * factors_[state_ & 4095] * noise);
}

Program::Program(const Options& options, RecordingWriter& ring) : options_(options), ring_(ring) {
  for (std::uint32_t p = 0; p < options.processes; ++p) told_.emplace_back();
  now_.resize(options.threads, kStart);
  Restart();
}

void Program::Restart() {
  for (RecordingWriter::Thread& thread : threads_) thread.Exit();
  for (const wire::ProcessSlot& slot : ring_.header().processes) {
    if (slot.state == wire::kProcessLive) ended_.emplace_back(slot.pid, slot.process_start);
  }
  threads_.clear();
  for (wire::ProcessSlot& slot : ring_.header().processes) slot.state = wire::kProcessFree;
  names_.clear();
  std::vector<std::uint32_t> slots;
  for (std::uint32_t p = 0; p < options_.processes; ++p) {
    told_[p] = Told();
    ++last_pid_;
    slots.push_back(
        ring_.AddProcess(last_pid_, last_pid_, wire::kRoleWorker, static_cast<std::int32_t>(p)));
  }
  for (std::uint32_t t = 0; t < options_.threads; ++t) {
    const std::uint32_t slot = slots[t % slots.size()];
    threads_.emplace_back(ring_, slot, 1'000'000 + ++last_tid_, "worker");
  }
  for (const std::string_view name : kNames) {
    names_.push_back(static_cast<std::uint32_t>(threads_[0].Text(wire::kTextString, name)));
  }
}

void Program::Image(std::uint32_t t, std::uint64_t from) {
  const std::uint64_t index =
      Shuffled(images_ % options_.files, options_.files, images_ / options_.files);
  ++images_;
  RecordingWriter::Thread& thread = threads_[t];
  const std::string path = PathOf(index);
  const std::uint64_t object = wire::HashOf(path.data(), path.size());
  if (told_[t % told_.size()].Tell(object)) thread.Text(wire::kTextString, path);
  const std::uint64_t start = std::max(now_[t], from);
  std::uint64_t at = start + times_.Next(8e3);
  at = Span(t, wire::kRead, 0, at, times_.Next(6e4), 2, index, times_.Next(110e3), object);
  at += times_.Next(9e3);
  at = Span(t, wire::kDecode, 1, at, times_.Next(5e6), 2, index, 0, object);
  const std::uint64_t augment = at + times_.Next(5e3);
  at = augment + times_.Next(2e3);
  for (std::uint32_t name = 2; name < 5; ++name) {
    at = Span(t, wire::kAugment, name, at, times_.Next(9e5), 3, index, 0, 0) + times_.Next(2e3);
  }
  Span(t, wire::kAugment, 5, augment, at - augment, 2, index, 0, 0);
  at += times_.Next(4e3);
  Span(t, wire::kSample, 6, start, at - start, 1, index, 0, 0);
  now_[t] = at + times_.Next(3e3);
}

std::uint64_t Program::Span(std::uint32_t t, wire::Stage stage, std::uint32_t name,
                            std::uint64_t start, std::uint64_t length, std::uint8_t depth,
                            std::uint64_t sample, std::uint64_t bytes, std::uint64_t object) {
  wire::Record record = SpanRecord(ring_, stage, names_[name], start, length);
  record.sample = static_cast<std::int64_t>(sample);
  record.bytes = bytes;
  record.object = object;
  record.batch = static_cast<std::uint32_t>(images_ / 64);
  record.generation = static_cast<std::uint16_t>(images_ / options_.files + 1);
  record.depth = depth;
  if (stage != wire::kRead) {
    record.flags = wire::kFlagCpu;
    record.work = length - std::min(length, times_.Next(2e4));
  }
  static_cast<void>(threads_[t].Write(record));
  return start + length;
}

}  // namespace penstock::traces::long_run
