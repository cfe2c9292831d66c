// SPDX-License-Identifier: Apache-2.0
#include "traces/merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "traces/trace_builder.h"

namespace penstock::traces {
namespace {

// The trace of a host with `gpus` GPUs and one process of pid 7. A span from 1 s to 2 s reads
// /data/NAME.
std::unique_ptr<Trace> Host(const std::string& name, int gpus, const std::string& status = "0") {
  TraceData data;
  data.facts = {
      {"boot_id", name}, {"host", name}, {"command", "train " + name}, {"exit.status", status}};
  ProcessInfo process;
  process.pid = 7;
  data.processes.push_back(process);
  ThreadInfo thread;
  thread.tid = 7;
  data.threads.push_back(thread);
  Span span;
  span.start = TimeNs{1'000'000'000};
  span.duration = TimeNs{1'000'000'000};
  span.stage = StageId::kRead;
  span.object = data.Intern("/data/" + name);
  data.spans = {{span}};
  Event event;
  event.at = TimeNs{1'500'000'000};
  data.events.push_back(event);
  for (int gpu = 0; gpu < gpus; ++gpu) {
    const std::string prefix = "gpu." + std::to_string(gpu);
    data.facts[prefix + ".model"] = "GPU of " + name;
    CounterSample sample;
    sample.at = TimeNs{1'200'000'000};
    sample.name = data.Intern(prefix + ".power_milliwatts");
    sample.value = 100 + gpu;
    data.counters.push_back(sample);
  }
  for (const char* counter : {"shm_used_bytes", "memory_available_bytes", "cgroup_memory_bytes"}) {
    CounterSample sample;
    sample.at = TimeNs{1'100'000'000};
    sample.name = data.Intern(counter);
    data.counters.push_back(sample);
  }
  data.losses.dropped_events = 3;
  return MakeTrace(std::move(data));
}

std::unique_ptr<Trace> Merge(const std::vector<MergePart>& parts) {
  TraceBuilder builder;
  const Result<void> merged = MergeTraces(parts, builder);
  EXPECT_TRUE(merged) << (merged ? "" : merged.error().message);
  return builder.Build();
}

std::size_t Counters(const Trace& trace, std::string_view name) {
  return static_cast<std::size_t>(
      std::count_if(trace.counters().begin(), trace.counters().end(),
                    [&](const CounterSample& one) { return trace.String(one.name) == name; }));
}

TEST(MergeTest, EveryPartIsThereOnOneClock) {
  const auto first = Host("a", 0);
  const auto second = Host("b", 0);
  const auto merged = Merge({{first.get(), "a.penstock", {}, {}},
                             {second.get(), "b.penstock", {TimeNs{5'000'000'000}, 0, {}}, {}}});
  ASSERT_EQ(merged->processes().size(), 2u);
  EXPECT_EQ(merged->processes()[0].pid, 7u);
  EXPECT_EQ(merged->processes()[1].pid, 10'000'007u);  // not 7 again, but ends with it
  EXPECT_EQ(merged->processes()[1].facts.at("pid"), "7");
  EXPECT_EQ(merged->processes()[1].facts.at("part"), "1");
  EXPECT_EQ(merged->threads()[1].process, ProcessId{1});
  EXPECT_EQ(merged->threads()[1].tid, 10'000'007u);  // tid == pid: the main thread
  EXPECT_EQ(merged->threads()[1].first, TimeNs{6'000'000'000});
  EXPECT_EQ(merged->threads()[1].last, TimeNs{7'000'000'000});
  ASSERT_EQ(merged->events().size(), 2u);
  EXPECT_EQ(merged->events()[1].at, TimeNs{6'500'000'000});
  EXPECT_EQ(merged->events()[1].thread, ThreadId{1});
  std::string object;
  merged->ForEachBlock(
      ThreadId{1}, [&](std::span<const Span> spans) { object = merged->String(spans[0].object); });
  EXPECT_EQ(object, "/data/b");
  EXPECT_EQ(merged->losses().dropped_events, 6u);
}

TEST(MergeTest, StreamsOfDevicesKeepTheirNumbers) {
  TraceData data;
  ProcessInfo process;
  process.pid = 7;
  data.processes.push_back(process);
  ThreadInfo stream;
  stream.tid = wire::LaneOf(1, 7);
  data.threads.push_back(stream);
  data.spans.resize(1);
  const auto part = MakeTrace(std::move(data));
  const auto merged =
      Merge({{part.get(), "a.penstock", {}, {}}, {part.get(), "b.penstock", {}, {}}});
  EXPECT_EQ(merged->processes()[1].pid, 10'000'007u);
  EXPECT_EQ(merged->threads()[1].tid, wire::LaneOf(1, 7));
}

TEST(MergeTest, NoPidIsMovedToWhereDevicesAre) {
  const auto part = Host("a", 0);
  const std::vector<MergePart> parts(216, {part.get(), "a.penstock", {}, {}});
  const auto merged = Merge(parts);
  ASSERT_EQ(merged->processes().size(), parts.size());
  EXPECT_EQ(merged->processes()[200].pid, 2'000'000'007u);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_FALSE(wire::IsDeviceLane(merged->processes()[i].pid)) << i;
    EXPECT_EQ(merged->threads()[i].tid, merged->processes()[i].pid) << i;
  }
}

TEST(MergeTest, FactsOfEveryPartStay) {
  const auto first = Host("a", 0);
  const auto second = Host("b", 0, "3");
  const auto merged = Merge({{first.get(), "a.penstock", {}, {}},
                             {second.get(), "b.penstock", {}, {{"align.by", "wall clock"}}}});
  const auto& facts = merged->facts();
  EXPECT_EQ(facts.at("command"), "train a");
  EXPECT_EQ(facts.at("part.1.command"), "train b");
  EXPECT_EQ(facts.at("part.1.file"), "b.penstock");
  EXPECT_EQ(facts.at("part.1.align.by"), "wall clock");
  EXPECT_EQ(facts.at("merged.parts"), "2");
  EXPECT_EQ(facts.at("exit.status"), "3");
  EXPECT_TRUE(IsMerged(*merged));
  EXPECT_FALSE(IsMerged(*first));
}

TEST(MergeTest, GpusOfAnotherHostHaveNumbersOfTheirOwn) {
  const auto first = Host("a", 2);
  const auto second = Host("b", 1);
  const auto merged =
      Merge({{first.get(), "a.penstock", {}, {}}, {second.get(), "b.penstock", {}, {}}});
  EXPECT_EQ(merged->facts().at("gpu.2.model"), "GPU of b");
  EXPECT_EQ(merged->facts().at("gpu.0.model"), "GPU of a");
  EXPECT_EQ(Counters(*merged, "gpu.2.power_milliwatts"), 1u);
  EXPECT_EQ(Counters(*merged, "gpu.0.power_milliwatts"), 1u);
  EXPECT_EQ(Counters(*merged, "shm_used_bytes"), 2u);
  EXPECT_EQ(Counters(*merged, "memory_available_bytes"), 2u);
}

TEST(MergeTest, CountersOfAHostAreTakenOnce) {
  const auto first = Host("a", 2);
  const auto second = Host("a", 2);
  const auto merged =
      Merge({{first.get(), "a.penstock", {}, {}}, {second.get(), "b.penstock", {}, {}}});
  EXPECT_EQ(Counters(*merged, "gpu.1.power_milliwatts"), 1u);
  EXPECT_EQ(Counters(*merged, "shm_used_bytes"), 1u);
  EXPECT_EQ(Counters(*merged, "memory_available_bytes"), 1u);
  EXPECT_EQ(Counters(*merged, "cgroup_memory_bytes"), 2u);  // each rank may have its own group
  EXPECT_EQ(merged->facts().count("gpu.2.model"), 0u);
}

TEST(MergeTest, AMergeIsNotMergedAgain) {
  const auto first = Host("a", 0);
  const auto merged =
      Merge({{first.get(), "a.penstock", {}, {}}, {first.get(), "b.penstock", {}, {}}});
  TraceBuilder builder;
  const std::vector<MergePart> again = {{merged.get(), "m.penstock", {}, {}}};
  const Result<void> refused = MergeTraces(again, builder);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kInput);
}

TEST(ClockShiftTest, FollowsADrift) {
  const ClockShift shift{TimeNs{1000}, -1e-6, TimeNs{5'000'000'000}};
  EXPECT_EQ(shift.At(TimeNs{5'000'000'000}), TimeNs{5'000'001'000});
  EXPECT_EQ(shift.At(TimeNs{6'000'000'000}), TimeNs{6'000'000'000});
}

}  // namespace
}  // namespace penstock::traces
