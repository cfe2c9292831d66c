// SPDX-License-Identifier: Apache-2.0
//
// Simulates a day in minutes: threads write the spans of a loader's workers into a ring. The ring
// is drained and packed as the collector does it. Prints the bytes per span on disk, the memory
// that draining and packing need, and how it grows. Checks every name. benchmarks/README.md has the
// figures; a small run is a test.
//
//   traces_long_run --spans 1000000000 --files 14000000 --hours 24 -o /big/disk/day.penstock
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/traces/packed/long_program.h"
#include "traces/pack.h"
#include "traces/recording/recording.h"
#include "traces/recording/recording_writer.h"
#include "traces/trace.h"
#include "traces/wire.h"

namespace penstock::traces::long_run {
namespace {

std::uint64_t AnonymousKb() {
  std::ifstream status("/proc/self/status");
  std::string key;
  std::uint64_t value = 0;
  while (status >> key) {
    if (key == "RssAnon:" && status >> value) break;
  }
  return value;
}

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
  // Compares the largest values of two quarters, because the memory for spans that wait for a flush
  // rises and falls.
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
}  // namespace penstock::traces::long_run

int main(int argc, char** argv) {
  penstock::traces::long_run::Options options;
  if (!penstock::traces::long_run::Parse(argc, argv, options)) {
    fmt::print(stderr, "traces_long_run: unknown option; see the head of its source\n");
    return 2;
  }
  return penstock::traces::long_run::Run(options);
}
