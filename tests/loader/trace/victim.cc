// SPDX-License-Identifier: Apache-2.0
//
// A native program that records its own work, like the loader: victim WAY DATA [TRACE]. With the
// ways agent, file and both it records the work below through that tracer. bridge: it records
// through the agent's table alone, inside and outside of its own spans. nvtx: it makes NVTX ranges
// only. none: nobody listens.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "loader/trace/file_tracer.h"
#include "loader/trace/tracer.h"
#include "tests/loader/trace/victim_decode.h"
#include "traces/native_bridge.h"

namespace penstock::loader {
namespace {

using traces::EventType;
using traces::StageId;

constexpr int kWorkers = 2;
constexpr int kBatches = 3;
constexpr int kSamplesPerBatch = 4;

std::uint64_t ReadFile(const std::string& path) {
  std::vector<char> buffer(4096);
  std::uint64_t total = 0;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  for (ssize_t got;
       (got = pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(total))) > 0;) {
    total += static_cast<std::uint64_t>(got);
  }
  close(fd);
  return total;
}

struct Names {
  explicit Names(Tracer& tracer)
      : read(tracer.Name("read")),
        jpeg(tracer.Name("jpeg")),
        ops(tracer.Name("ops")),
        flip(tracer.Name("flip")),
        sample(tracer.Name("sample")),
        wait(tracer.Name("")),
        depth(tracer.Name("ready")) {}
  NameId read, jpeg, ops, flip, sample, wait, depth;
};

// Makes one batch after the other. A worker makes the batches worker, worker + kWorkers and so on.
void Work(Tracer& tracer, const Names& names, const std::string& data, int worker) {
  ThreadTracer& thread =
      tracer.Thread("worker " + std::to_string(worker), ThreadRole::kWorker, worker);
  for (int batch = worker; batch < kBatches; batch += kWorkers) {
    for (int i = 0; i < kSamplesPerBatch; ++i) {
      const Place place{batch * kSamplesPerBatch + i, static_cast<std::uint32_t>(batch), 1};
      const Place next{place.sample + 1, place.batch, 1};
      thread.SetContext(place);
      const SpanScope sample(thread, StageId::kSample, names.sample);
      const Tick asked = thread.Now();  // the read is in flight during the sample before
      {
        SpanScope read(thread, StageId::kRead, names.read);
        read.SetBytes(Bytes{ReadFile(data)});
        read.SetObject(data);
      }
      ReadFile(data);  // belongs to the span that is emitted below
      {
        SpanScope decode(thread, StageId::kDecode, names.jpeg);
        decode.SetBytes(Bytes{static_cast<std::uint64_t>(decode_an_image())});
      }
      thread.Emit(StageId::kRead, names.read, next, asked, thread.Now(), Bytes{77}, data);
      const SpanScope ops(thread, StageId::kAugment, names.ops);
      const SpanScope flip(thread, StageId::kAugment, names.flip);
      SpanScope given_up(thread, StageId::kMark, names.flip);
      given_up.Cancel();
    }
    thread.Event(EventType::kBatchPut, {-1, static_cast<std::uint32_t>(batch), 1});
  }
  thread.SetContext({});
  tracer.Leave(thread);
}

int Pipeline(std::unique_ptr<Tracer> tracer, const std::string& data) {
  const Names names(*tracer);
  ThreadTracer& thread = tracer->Thread("consumer", ThreadRole::kConsumer);
  tracer->Fact("loader.0.kind", "penstock");
  tracer->Fact("loader.0.num_workers", std::to_string(kWorkers));
  tracer->Fact("epoch.1", "0");
  thread.Event(EventType::kEpochStart, {-1, wire::kNoBatch, 1}, kWorkers);
  std::vector<std::thread> workers;
  decode_an_image();
  for (int i = 0; i < kWorkers; ++i) {
    workers.emplace_back(Work, std::ref(*tracer), std::cref(names), std::cref(data), i);
  }
  for (std::thread& worker : workers) worker.join();
  for (int batch = 0; batch < kBatches; ++batch) {
    const Place place{-1, static_cast<std::uint32_t>(batch), 1};
    thread.SetContext(place);
    thread.Event(EventType::kNextEntered, place);
    thread.Begin(StageId::kWait, names.wait);
    thread.End();
    thread.Delivered(place);
    thread.Counter(names.depth, kBatches - batch);
  }
  thread.Event(EventType::kEpochEnd, {-1, wire::kNoBatch, 1}, kBatches);
  const Result<void> finished = tracer->Finish();
  if (!finished) std::fprintf(stderr, "%s\n", finished.error().message.c_str());
  return finished ? 0 : 1;
}

int Bridge(const std::string& data) {
  auto* const get =
      reinterpret_cast<PenstockNativeBridgeFunction*>(dlsym(RTLD_DEFAULT, PENSTOCK_NATIVE_BRIDGE));
  if (get == nullptr || get()->size != sizeof(PenstockNativeBridge)) return 3;
  const PenstockNativeBridge& bridge = *get();
  const auto name = static_cast<std::uint32_t>(bridge.intern("own", 3));
  const PenstockPlace place{5, 2, 1};

  PenstockToken token = bridge.begin(wire::kRead, name, &place, 0);
  const std::uint64_t bytes = ReadFile(data);
  bridge.end(token, bytes, bridge.intern(data.data(), data.size()), 0);
  token = bridge.begin(wire::kDecode, name, &place, 1);
  decode_an_image();
  bridge.end(token, 0, 0, 0);

  // A decode inside a span of a read is recorded by the hook.
  token = bridge.begin(wire::kRead, name, &place, 0);
  decode_an_image();
  bridge.cancel(token);
  ReadFile(data);

  bridge.claim(1u << wire::kRead);
  ReadFile(data);
  decode_an_image();
  return 0;
}

int Main(const std::string& way, const std::string& data, const std::string& trace) {
  if (way == "bridge") return Bridge(data);
  if (way == "none") {
    return AgentTracer() == nullptr ? Pipeline(NoTracer(), data) : 3;
  }
  if (way == "nvtx") return Pipeline(WithNvtx(NoTracer()), data);
  std::unique_ptr<Tracer> file;
  if (way != "agent") {
    auto made = FileTracer({.path = trace, .command = {"victim", way}, .version = "1"});
    if (!made) return 4;
    file = std::move(*made);
  }
  std::unique_ptr<Tracer> agent = way == "file" ? nullptr : AgentTracer();
  if (way != "file" && agent == nullptr) return 5;
  return Pipeline(BothTracers(std::move(agent), std::move(file)), data);
}

}  // namespace
}  // namespace penstock::loader

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  return penstock::loader::Main(argv[1], argv[2], argc > 3 ? argv[3] : "");
}
