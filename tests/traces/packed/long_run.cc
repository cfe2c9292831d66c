// SPDX-License-Identifier: Apache-2.0
//
// Simulates a day in minutes: threads write the spans of a loader's workers into a ring, which is
// drained and packed as by the collector. Prints the bytes per span on disk, the memory of the
// collector's part and its growth, and checks every name. benchmarks/README.md has the figures; a
// small run is a test.
//
//   traces_long_run --spans 1000000000 --files 14000000 --hours 24 -o /big/disk/day.penstock
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "traces/pack.h"
#include "traces/recording/recording.h"
#include "traces/recording/recording_writer.h"
#include "traces/trace.h"
#include "traces/wire.h"

namespace penstock::traces {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kStart = 1'000 * kSecond;
constexpr std::uint32_t kSpansPerImage = 7;

struct Options {
  std::uint64_t spans = 6'000'000;
  std::uint64_t files = 100'000;
  std::uint32_t threads = 144;
  std::uint32_t processes = 16;
  double hours = 1;
  std::uint64_t restart_s = 0;  // all processes are replaced after this time; 0: never
  std::string output = "long.penstock";
  double most_bytes = 0;  // limit per span. In all three limits 0 means: not checked
  double most_mb = 0;
  double most_growth_mb = 0;
};

std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// Image number `at` of an epoch. Each epoch is another permutation of the files: a Feistel network,
// applied again until the result is below `files`.
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

std::string PathOf(std::uint64_t index) {
  const std::uint64_t folder = 1'440'764 + index % 1000 * 1013;
  return fmt::format("/data/imagenet/train/n{:08}/n{:08}_{}.JPEG", folder, folder, index);
}

// Lognormal times from a table, because a billion logarithms would take too long.
class Times {
 public:
  Times() {
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      const double u = (static_cast<double>(i) + 0.5) / static_cast<double>(factors_.size());
      // Box-Muller. The second number is made from the first, which is random enough here.
      const double v = static_cast<double>(Mix(i) >> 11) * 0x1p-53;
      factors_[i] = std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
    }
    for (double& factor : factors_) factor = std::exp(0.4 * factor);
  }
  std::uint64_t Next(double median_ns) {
    state_ = Mix(state_ + 0x9e3779b97f4a7c15u);
    const double noise = 1 + static_cast<double>(state_ >> 40) * 0x1p-26;  // so no two are alike
    return static_cast<std::uint64_t>(median_ns * factors_[state_ & 4095] * noise);
  }

 private:
  std::array<double, 4096> factors_{};
  std::uint64_t state_ = 1;
};

// Remembers which texts a process has written, as agent/core/text.cc does.
class Told {
 public:
  bool Tell(std::uint64_t id) {
    std::uint64_t* line = ids_.data() + (id * 0x9e3779b97f4a7c15u >> 50) * kWays;
    if (std::find(line, line + kWays, id) != line + kWays) return false;
    std::copy_backward(line, line + kWays - 1, line + kWays);
    line[0] = id;
    return true;
  }

 private:
  static constexpr std::uint64_t kWays = 8;
  std::vector<std::uint64_t> ids_ = std::vector<std::uint64_t>(kWays << 14);
};

std::uint64_t AnonymousKb() {
  std::ifstream status("/proc/self/status");
  std::string key;
  std::uint64_t value = 0;
  while (status >> key) {
    if (key == "RssAnon:" && status >> value) break;
  }
  return value;
}

// Threads that do nothing but read, decode and augment one image after the other.
class Program {
 public:
  Program(const Options& options, RecordingWriter& ring) : options_(options), ring_(ring) {
    for (std::uint32_t p = 0; p < options.processes; ++p) told_.emplace_back();
    now_.resize(options.threads, kStart);
    Restart();
  }

  // Ends all threads and processes in good order, and starts others in their place.
  void Restart() {
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

  // Thread `t` makes one image. It begins at `from` or later.
  void Image(std::uint32_t t, std::uint64_t from) {
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
  // The processes that have ended and were not retired yet.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint64_t>>& ended() { return ended_; }
  [[nodiscard]] std::uint64_t images() const { return images_; }
  [[nodiscard]] std::uint64_t dropped() const {
    std::uint64_t sum = 0;
    for (const RecordingWriter::Thread& thread : threads_) sum += thread.dropped();
    return sum;
  }

 private:
  static constexpr std::array<std::string_view, kSpansPerImage> kNames = {
      "posix",    "PIL",     "RandomResizedCrop", "RandomHorizontalFlip",
      "ToTensor", "Compose", "ImageFolder"};

  std::uint64_t Span(std::uint32_t t, wire::Stage stage, std::uint32_t name, std::uint64_t start,
                     std::uint64_t length, std::uint8_t depth, std::uint64_t sample,
                     std::uint64_t bytes, std::uint64_t object) {
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

  const Options& options_;
  RecordingWriter& ring_;
  Times times_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> ended_;
  std::vector<Told> told_;
  std::vector<RecordingWriter::Thread> threads_;
  std::vector<std::uint32_t> names_;
  std::vector<std::uint64_t> now_;
  std::uint64_t images_ = 0;
  std::uint32_t last_pid_ = 100;
  std::uint32_t last_tid_ = 0;
};

struct Memory {
  std::uint64_t own_kb = 0;  // memory of the ring and of the program; it is subtracted
  std::vector<std::uint64_t> kb;

  void Sample() { kb.push_back(AnonymousKb() - std::min(own_kb, AnonymousKb())); }
  [[nodiscard]] double MostMb(std::size_t from, std::size_t to) const {
    const auto first = kb.begin() + static_cast<std::ptrdiff_t>(from);
    const auto last = kb.begin() + static_cast<std::ptrdiff_t>(to);
    return first == last ? 0 : static_cast<double>(*std::max_element(first, last)) / 1024;
  }
};

bool NobodyDies(std::uint32_t, std::uint64_t, std::uint32_t) {
  return false;
}

// Records the run and returns the number of spans. Flushes every 5 s, as the collector does in a
// long run.
Result<std::uint64_t> Record(const Options& options, Memory& memory) {
  RecordingWriter ring({.mode = wire::kRing, .chunks = 1024, .start_ns = kStart});
  Program program(options, ring);
  memory.own_kb = AnonymousKb();
  auto packer = CreatePacked(options.output);
  PENSTOCK_TRY(packer);
  RecordingDrain drain(ring.memory(), true);
  const StringId counter = (*packer)->Intern("rss_bytes");
  const std::uint64_t images = options.spans / kSpansPerImage;
  const auto seconds = static_cast<std::uint64_t>(options.hours * 3600);
  std::uint64_t restart = options.restart_s;
  for (std::uint64_t s = 5; s <= seconds; s += 5) {
    const std::uint64_t until = images * s / seconds;
    std::uint64_t flushed = program.images();
    while (program.images() < until) {
      program.Image(static_cast<std::uint32_t>(program.images() % options.threads),
                    kStart + (s - 5) * kSecond);
      // Drains long before the ring is full, as the collector does.
      if (program.images() - flushed > 30'000) {
        flushed = program.images();
        drain.Drain(**packer, NobodyDies);
        PENSTOCK_TRY((*packer)->Flush());
        drain.Release();
      }
    }
    ring.AddAnchor(kStart + s * kSecond);
    drain.Drain(**packer, NobodyDies);
    for (std::uint32_t p = 0; p < 9 * options.processes; ++p) {
      (*packer)->AddCounter({.at = TimeNs{static_cast<std::int64_t>(kStart + s * kSecond)},
                             .name = counter,
                             .process = ProcessId{},
                             .value = static_cast<std::int64_t>(Mix(s + p) >> 40)});
    }
    PENSTOCK_TRY((*packer)->Flush());
    drain.Release();
    drain.Retire(program.ended(), **packer);
    memory.Sample();
    if (restart != 0 && s >= restart) {
      restart += options.restart_s;
      program.Restart();
    }
    if (s % 3600 < 5) {
      fmt::print("{:6.2f} h  {:12} spans  {:7.1f} MB of memory  {:6.2f} bytes a span\n",
                 static_cast<double>(s) / 3600, program.images() * kSpansPerImage,
                 static_cast<double>(memory.kb.back()) / 1024,
                 static_cast<double>((*packer)->bytes_written()) /
                     static_cast<double>(program.images() * kSpansPerImage));
      std::fflush(stdout);
    }
  }
  drain.Finish(**packer);
  PENSTOCK_TRY((*packer)->Finish());
  memory.Sample();
  if (program.dropped() != 0) fmt::print("dropped: {}\n", program.dropped());
  return program.images() * kSpansPerImage;
}

struct Check {
  std::uint64_t spans = 0;
  std::uint64_t named = 0;
  std::uint64_t wrong = 0;
  bool sound = false;
};

// Checks that every read and every decode has the path of its sample.
Result<Check> CheckNames(const Options& options) {
  auto trace = OpenTrace(options.output);
  PENSTOCK_TRY(trace);
  Check check;
  check.sound = !(*trace)->losses().any();
  for (std::uint32_t t = 0; t < (*trace)->threads().size(); ++t) {
    (*trace)->ForEachBlock(ThreadId{t}, [&](std::span<const Span> block) {
      for (const Span& span : block) {
        ++check.spans;
        if (span.stage != StageId::kRead && span.stage != StageId::kDecode) continue;
        ++check.named;
        const auto index = static_cast<std::uint64_t>(span.sample);
        check.wrong += (*trace)->String(span.object) == PathOf(index) ? 0u : 1u;
      }
    });
  }
  return check;
}

int Run(const Options& options) {
  Memory memory;
  const Result<std::uint64_t> spans = Record(options, memory);
  if (!spans) {
    fmt::print(stderr, "traces_long_run: {}\n", spans.error().message);
    return 3;
  }
  std::ifstream file(options.output, std::ios::ate | std::ios::binary);
  const auto size = static_cast<double>(static_cast<std::streamoff>(file.tellg()));
  const double bytes = size / static_cast<double>(*spans);
  const std::size_t n = memory.kb.size();
  const double most = memory.MostMb(0, n);
  // Compares the largest values of two quarters, because spans that wait for a flush come and go.
  const double growth = memory.MostMb(n * 3 / 4, n - 1) - memory.MostMb(n / 4, n / 2);
  fmt::print(
      "{} spans, {:.0f} bytes: {:.2f} bytes a span; memory at most {:.1f} MB, {:.2f} MB more "
      "in the last quarter than in the second ({:.2f} MB an hour)\n",
      *spans, size, bytes, most, growth, growth / (options.hours / 2));
  const Result<Check> check = CheckNames(options);
  if (!check) {
    fmt::print(stderr, "traces_long_run: {}\n", check.error().message);
    return 4;
  }
  fmt::print("read back: {} spans, {} with a name, {} of them wrong or missing, {}\n", check->spans,
             check->named, check->wrong, check->sound ? "sound" : "NOT SOUND");
  bool good = check->sound && check->spans == *spans && check->wrong == 0;
  good = good && (options.most_bytes == 0 || bytes <= options.most_bytes);
  good = good && (options.most_mb == 0 || most <= options.most_mb);
  good = good && (options.most_growth_mb == 0 || growth <= options.most_growth_mb);
  fmt::print("{}\n", good ? "good" : "FAILED");
  return good ? 0 : 1;
}

bool Parse(int argc, char** argv, Options& options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view key = argv[i];
    const double value = std::atof(argv[i + 1]);
    if (key == "-o")
      options.output = argv[i + 1];
    else if (key == "--spans")
      options.spans = static_cast<std::uint64_t>(value);
    else if (key == "--files")
      options.files = static_cast<std::uint64_t>(value);
    else if (key == "--threads")
      options.threads = static_cast<std::uint32_t>(value);
    else if (key == "--processes")
      options.processes = static_cast<std::uint32_t>(value);
    else if (key == "--hours")
      options.hours = value;
    else if (key == "--restart-s")
      options.restart_s = static_cast<std::uint64_t>(value);
    else if (key == "--most-bytes")
      options.most_bytes = value;
    else if (key == "--most-mb")
      options.most_mb = value;
    else if (key == "--most-growth-mb")
      options.most_growth_mb = value;
    else
      return false;
  }
  return argc % 2 == 1;
}

}  // namespace
}  // namespace penstock::traces

int main(int argc, char** argv) {
  penstock::traces::Options options;
  if (!penstock::traces::Parse(argc, argv, options)) {
    fmt::print(stderr, "traces_long_run: unknown option; see the head of its source\n");
    return 2;
  }
  return penstock::traces::Run(options);
}
