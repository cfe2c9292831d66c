// SPDX-License-Identifier: Apache-2.0
#include "tests/traces/support.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace penstock::traces::testing {

TempFolder::TempFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "penstock-XXXXXX").string();
  path_ = ::mkdtemp(pattern.data());
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::byte> ReadFile(const std::filesystem::path& path) {
  std::error_code missing;
  const std::uintmax_t size = std::filesystem::file_size(path, missing);
  if (missing) return {};
  std::vector<std::byte> bytes(size);
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

void WriteFile(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

std::vector<std::byte> Bytes(RecordingWriter& recording) {
  const std::span<std::byte> memory = recording.memory();
  return {memory.begin(), memory.end()};
}

std::uint32_t NameHash(std::string_view name) {
  return static_cast<std::uint32_t>(wire::HashOf(name.data(), name.size()));
}

namespace {

void WriteSample(RecordingWriter& recording, RecordingWriter::Thread& worker, std::uint32_t i) {
  const std::uint64_t start = recording.options().start_ns + 1'000'000 + i * 7'000'003ull;
  const std::string path = fmt::format("/data/train/class{:03}/image_{:05}.jpg", i % 3, i * 37);
  const std::uint64_t object = worker.Text(wire::kTextString, path);
  wire::Record read = SpanRecord(recording, wire::kRead, NameHash("posix"), start + 1'000, 90'001);
  read.object = object;
  read.bytes = 100'000 + i;
  read.sample = 1000 + i;
  read.batch = i / 4;
  read.generation = 1;
  read.depth = 2;
  read.flags = wire::kFlagBusy;
  read.work = recording.Ticks(recording.options().start_ns + 50'000) -
              recording.Ticks(recording.options().start_ns);
  worker.Write(read);
  wire::Record sample =
      SpanRecord(recording, wire::kSample, NameHash("ImageFolder"), start, 6'000'000 + i);
  sample.sample = 1000 + i;
  sample.batch = i / 4;
  sample.generation = 1;
  sample.depth = 1;
  sample.flags = wire::kFlagCpu | wire::kFlagPython;
  sample.work = 5'900'000;
  worker.Write(sample);
  if (i % 4 == 3) {
    wire::Record put{};
    put.kind = wire::kKindEvent;
    put.stage = wire::kBatchPut;
    put.start = recording.Ticks(start + 6'500'000);
    put.work = i;
    put.sample = wire::kNoSample;
    put.batch = i / 4;
    put.generation = 1;
    worker.Write(put);
  }
}

}  // namespace

RecordingWriter SmallRecording(const RecordingOptions& options) {
  RecordingWriter recording(options);
  const std::uint32_t main = recording.AddProcess(100, 5000, wire::kRoleConsumer, -1);
  const std::uint32_t child = recording.AddProcess(101, 5010, wire::kRoleWorker, 0);
  RecordingWriter::Thread consumer(recording, main, 100, "python");
  RecordingWriter::Thread worker(recording, child, 101, "pt_data_worker");
  consumer.Text(wire::kTextCommand,
                "python\x1ftrain.py\x1f--epochs\x1f"
                "1");
  consumer.Text(wire::kTextFact, "loader.0.num_workers=1");
  consumer.Text(wire::kTextLibrary, "/usr/lib/libjpeg.so.62");
  worker.Text(wire::kTextString, "posix");
  worker.Text(wire::kTextString, "ImageFolder");
  for (std::uint32_t i = 0; i < 8; ++i) {
    WriteSample(recording, worker, i);
  }
  const std::uint64_t start = options.start_ns;
  consumer.Text(wire::kTextString, "next");
  for (std::uint32_t i = 0; i < 2; ++i) {
    wire::Record wait =
        SpanRecord(recording, wire::kWait, NameHash("next"), start + i * 40'000'000, 30'000'000);
    wait.batch = i;
    wait.generation = 1;
    consumer.Write(wait);
  }
  wire::Record counter{};
  counter.kind = wire::kKindCounter;
  counter.name = NameHash("rss_bytes");
  counter.start = recording.Ticks(start + 1'000'000);
  counter.work = 123'456'789;
  counter.object = 101;
  consumer.Text(wire::kTextString, "rss_bytes");
  consumer.Write(counter);
  wire::Inflight open{};
  open.stage = wire::kRead;
  open.name = NameHash("posix");
  open.start = recording.Ticks(start + 40'000'000);
  open.sample = 1010;
  open.batch = 2;
  worker.Open(open);
  recording.AddAnchor(start + 100'000'000);
  return recording;
}

RecordingWriter FollowedRecording(const RecordingOptions& options) {
  RecordingWriter recording(options);
  const std::uint32_t slot = recording.AddProcess(101, 5010, wire::kRoleWorker, 0);
  RecordingWriter::Thread worker(recording, slot, 101, "pt_data_worker");
  const std::uint64_t file = worker.Text(wire::kTextString, "/home/a/data.py");
  for (const char* name : {"Pictures", "__getitem__", "numpy.random.choice"}) {
    worker.Text(wire::kTextString, name);
  }
  const std::uint64_t zero = recording.Ticks(options.start_ns);
  const auto ticks = [&](std::uint64_t length) {
    return recording.Ticks(options.start_ns + length) - zero;
  };
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::uint64_t start = recording.Ticks(options.start_ns + 1'000'000 + i * 50'000'000ull);
    wire::Record unit{};
    unit.kind = wire::kKindUnit;
    unit.stage = wire::kSample;
    unit.name = NameHash("Pictures");
    unit.start = start;
    unit.duration = ticks(12'000'000);
    unit.work = ticks(2'000'000);
    unit.bytes = ticks(9'000'000);
    unit.object = wire::UnitCounts(5000, i == 0 ? 3 : 1, 16);
    unit.sample = 40 + i;
    unit.batch = 7;
    unit.generation = 1;
    unit.flags = wire::kUnitLines | wire::kUnitSlowed;
    unit.depth = 25;
    worker.Write(unit);
    wire::Record call{};
    call.kind = wire::kKindCall;
    call.stage = wire::kCallFunction;
    call.name = NameHash("__getitem__");
    call.start = start;
    call.object = file;
    call.duration = ticks(9'000'000);
    call.work = ticks(1'000'000);
    call.bytes = 1;
    call.sample = wire::CallPlace(40, static_cast<std::uint32_t>(ticks(1'000'000)));
    call.batch = wire::CallNumbers(0, wire::kNoNode);
    worker.Write(call);
    if (i == 1) continue;
    call.stage = wire::kCallLine;
    call.duration = ticks(8'000'000);
    call.work = ticks(6'000'000);
    call.bytes = 4096;
    call.sample = wire::CallPlace(47, 0);
    call.batch = wire::CallNumbers(1, 0);
    worker.Write(call);
    call.stage = wire::kCallBuiltin;
    call.name = NameHash("numpy.random.choice");
    call.object = 0;
    call.duration = call.work = ticks(2'000'000);
    call.bytes = 64;
    call.sample = wire::CallPlace(0, 0);
    call.batch = wire::CallNumbers(2, 1);
    worker.Write(call);
  }
  recording.AddAnchor(options.start_ns + 200'000'000);
  return recording;
}

namespace {

SpanNumbers NumbersOf(const Span& s) {
  return {s.start.value,
          s.duration.value,
          s.cpu.value,
          s.busy.value,
          static_cast<std::int64_t>(s.bytes.value),
          s.sample,
          s.batch.index,
          s.batch.generation,
          static_cast<std::int64_t>(s.stage),
          s.flags,
          s.depth};
}

template <typename Visit>
void ForEachFinished(const Trace& trace, const Visit& visit) {
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    trace.ForEachBlock(ThreadId{i}, [&visit](std::span<const Span> spans) {
      for (const Span& span : spans) {
        if ((span.flags & wire::kFlagUnfinished) == 0) visit(span);
      }
    });
  }
}

}  // namespace

std::vector<SpanNumbers> AllNumbers(const Trace& trace) {
  std::vector<SpanNumbers> all;
  ForEachFinished(trace, [&all](const Span& span) { all.push_back(NumbersOf(span)); });
  std::sort(all.begin(), all.end());
  return all;
}

Strings AllStrings(const Trace& trace) {
  Strings all;
  ForEachFinished(trace, [&](const Span& span) {
    all.emplace(trace.String(span.name));
    all.emplace(trace.String(span.object));
  });
  return all;
}

std::vector<std::string> Known::Invented(const Trace& damaged) const {
  const std::vector<SpanNumbers> seen = AllNumbers(damaged);
  std::vector<SpanNumbers> more;
  std::set_difference(seen.begin(), seen.end(), numbers_.begin(), numbers_.end(),
                      std::back_inserter(more));
  std::vector<std::string> invented;
  for (const SpanNumbers& numbers : more) {
    invented.push_back(::testing::PrintToString(numbers));
  }
  ForEachFinished(damaged, [&](const Span& span) {
    for (const std::string_view text : {damaged.String(span.name), damaged.String(span.object)}) {
      if (!text.empty() && text.front() != '#' && !strings_.contains(text)) {
        invented.emplace_back(text);
      }
    }
  });
  return invented;
}

}  // namespace penstock::traces::testing
