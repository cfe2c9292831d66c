// SPDX-License-Identifier: Apache-2.0
#include "tests/traces/support.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>

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

namespace {

std::uint32_t NameHash(std::string_view name) {
  return static_cast<std::uint32_t>(wire::HashOf(name.data(), name.size()));
}

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

namespace {

class Stream {
 public:
  Stream(const StreamOptions& options, Packer& out)
      : options_(options), out_(out), random_(options.seed) {}

  std::uint64_t Run() {
    ProcessInfo main;
    main.pid = 100;
    main.role = wire::kRoleConsumer;
    const ProcessId consumer = out_.AddProcess(main);
    consumer_ = out_.AddThread({.process = consumer, .tid = 100, .name = "python"});
    consumer_now_ = kStart;
    for (std::uint32_t w = 0; w < options_.workers; ++w) {
      ProcessInfo info;
      info.pid = 101 + w;
      info.parent = 100;
      info.role = wire::kRoleWorker;
      info.worker_id = static_cast<std::int32_t>(w);
      const ProcessId process = out_.AddProcess(info);
      threads_.push_back(out_.AddThread({.process = process, .tid = info.pid, .name = "worker"}));
      now_.push_back(kStart);
    }
    std::vector<std::uint32_t> order(options_.images);
    std::iota(order.begin(), order.end(), 0u);
    for (std::uint32_t epoch = 0; epoch < options_.epochs; ++epoch) {
      std::shuffle(order.begin(), order.end(), random_);
      std::uint32_t batch = 0;
      for (std::uint32_t at = 0; at < order.size(); at += options_.batch, ++batch) {
        const std::size_t size = std::min<std::size_t>(options_.batch, order.size() - at);
        key_ = {batch, static_cast<std::uint16_t>(epoch + 1)};
        Fetch(batch % options_.workers, {order.data() + at, size});
        Consume();
      }
    }
    return spans_;
  }

 private:
  static constexpr std::int64_t kStart = 1'000'000'000'000;

  std::int64_t Lognormal(double median_ns, double sigma) {
    std::normal_distribution<double> normal(std::log(median_ns), sigma);
    return static_cast<std::int64_t>(std::exp(normal(random_)));
  }

  void Emit(ThreadId thread, StageId stage, std::string_view name, std::int64_t start,
            std::int64_t end, std::uint8_t depth, bool cpu, std::int64_t sample = wire::kNoSample,
            std::uint64_t bytes = 0, StringId object = {}) {
    Span span;
    span.start.value = start;
    span.duration.value = end - start;
    span.stage = stage;
    span.name = out_.Intern(name);
    span.depth = depth;
    span.sample = sample;
    span.batch = key_;
    span.bytes.value = bytes;
    span.object = object;
    if (cpu) {
      span.cpu.value = span.duration.value - Lognormal(2e4, 0.8) % (span.duration.value + 1);
      span.flags = wire::kFlagCpu;
    }
    out_.AddSpan(thread, span);
    ++spans_;
  }

  void Image(ThreadId thread, std::int64_t& now, std::uint32_t index) {
    const std::int64_t start = now;
    const StringId path = out_.Intern(
        fmt::format("/data/imagenet/train/n{:08}/n{:08}_{}.JPEG", 1'440'764 + (index % 1000) * 1013,
                    1'440'764 + (index % 1000) * 1013, 1000 + index * 2'654'435'761u % 99'991));
    const auto bytes = static_cast<std::uint64_t>(Lognormal(110e3, 0.5));
    std::int64_t at = start + Lognormal(8e3, 0.3);
    std::int64_t end = at + Lognormal(60e3, 0.6);
    Emit(thread, StageId::kRead, "posix", at, end, 2, false, index, bytes, path);
    at = end + Lognormal(9e3, 0.3);
    end = at + Lognormal(5e6, 0.4);
    Emit(thread, StageId::kDecode, "PIL", at, end, 2, true, index, bytes, path);
    const std::int64_t augment = end + Lognormal(5e3, 0.3);
    at = augment + Lognormal(2e3, 0.3);
    for (const char* name : {"RandomResizedCrop", "RandomHorizontalFlip", "ToTensor"}) {
      end = at + Lognormal(9e5, 0.5);
      Emit(thread, StageId::kAugment, name, at, end, 3, true, index);
      at = end + Lognormal(2e3, 0.3);
    }
    Emit(thread, StageId::kAugment, "Compose", augment, at, 2, true, index);
    end = at + Lognormal(4e3, 0.3);
    Emit(thread, StageId::kSample, "ImageFolder", start, end, 1, true, index);
    now = end + Lognormal(3e3, 0.3);
  }

  void Fetch(std::uint32_t worker, std::span<const std::uint32_t> indices) {
    const ThreadId thread = threads_[worker];
    std::int64_t& now = now_[worker];
    const std::int64_t idle = now;
    now += Lognormal(3e5, 1.0);
    Emit(thread, StageId::kIdle, "index_queue", idle, now, 0, false);
    const std::int64_t start = now;
    now += 5'000;
    for (const std::uint32_t index : indices) {
      Image(thread, now, index);
    }
    const std::int64_t collate = now;
    now += Lognormal(4e6, 0.3);
    Emit(thread, StageId::kCollate, "default_collate", collate, now, 1, true);
    Emit(thread, StageId::kFetch, "fetch", start, now, 0, true);
    out_.AddEvent({.at = TimeNs{now},
                   .thread = thread,
                   .batch = key_,
                   .value = 0,
                   .type = EventType::kBatchPut});
    const std::int64_t put = now;
    now += Lognormal(2e5, 0.5);
    Emit(thread, StageId::kPut, "put", put, now, 0, false, wire::kNoSample, 38'535'168);
  }

  void Consume() {
    const std::int64_t wait = consumer_now_;
    const std::int64_t got = wait + Lognormal(3e7, 0.6);
    Emit(consumer_, StageId::kGet, "get", got, got + Lognormal(3e5, 0.4), 1, false);
    std::int64_t at = got + Lognormal(2e6, 0.3);
    Emit(consumer_, StageId::kWait, "next", wait, at, 0, false);
    const std::int64_t end = at + Lognormal(8e7, 0.1);
    Emit(consumer_, StageId::kStep, "step", at, end, 0, false);
    consumer_now_ = end + 1'000;
  }

  const StreamOptions& options_;
  Packer& out_;
  std::mt19937_64 random_;
  ThreadId consumer_;
  std::int64_t consumer_now_ = 0;
  std::vector<ThreadId> threads_;
  std::vector<std::int64_t> now_;
  BatchKey key_;
  std::uint64_t spans_ = 0;
};

}  // namespace

std::uint64_t WritePytorchLike(const StreamOptions& options, Packer& out) {
  return Stream(options, out).Run();
}

}  // namespace penstock::traces::testing
