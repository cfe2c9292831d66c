// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <perfetto.pb.h>  // generated

#include <map>
#include <string>
#include <vector>

#include "tests/traces/call_tree_maker.h"
#include "traces/exchange/formats.h"
#include "traces/trace_builder.h"

namespace penstock::traces {
namespace {

using ::testing::ElementsAre;

// A worker thread with a batch, a read that outlives its sample, and a counter.
std::unique_ptr<Trace> Example() {
  TraceBuilder builder;
  ProcessInfo process;
  process.pid = 10;
  process.role = wire::kRoleWorker;
  process.worker_id = 2;
  process.command = {"python", "train.py"};
  const ProcessId worker = builder.AddProcess(process);
  const ThreadId thread = builder.AddThread({.process = worker, .tid = 11, .name = "loader"});
  const auto add = [&](StageId stage, std::string_view name, std::int64_t start, std::int64_t end) {
    Span span;
    span.stage = stage;
    span.name = builder.Intern(name);
    span.start.value = start;
    span.duration.value = end - start;
    span.batch = {3, 1};
    span.sample = stage == StageId::kSample ? 7 : wire::kNoSample;
    span.cpu.value = stage == StageId::kSample ? 5 : -1;
    if (stage == StageId::kRead) {
      span.object = builder.Intern("/data/a\xff.jpg");
      span.bytes.value = 100;
    }
    builder.AddSpan(thread, span);
  };
  add(StageId::kFetch, "", 1000, 1100);
  add(StageId::kSample, "Pictures", 1010, 1050);
  add(StageId::kRead, "file", 1020, 1080);
  builder.AddEvent({.at = TimeNs{1100},
                    .thread = thread,
                    .batch = {3, 1},
                    .value = 9,
                    .type = EventType::kBatchPut});
  builder.AddCounter(
      {.at = TimeNs{1050}, .name = builder.Intern("rss_bytes"), .process = worker, .value = 4096});
  return builder.Build();
}

struct Slice {
  std::string track, name;
  std::uint64_t start = 0, end = 0;
  std::map<std::string, std::string> notes;
  std::size_t flows = 0;
};

struct Read {
  std::vector<Slice> slices;
  std::map<std::uint64_t, perfetto::TrackDescriptor> tracks;
  std::vector<std::pair<std::string, std::int64_t>> counters;
  std::vector<std::string> instants;
  std::uint32_t primary_clock = 0;
};

// Reads the export as Perfetto's trace processor does: a number stands for a text in an earlier
// packet.
Read ReadBack(const Trace& trace) {
  std::string bytes;
  EXPECT_TRUE(ExportPerfetto(trace, [&](std::string_view part) {
    bytes += part;
    return true;
  }));
  perfetto::Trace parsed;
  EXPECT_TRUE(parsed.ParseFromString(bytes));
  Read read;
  std::map<std::uint64_t, std::string> names, notes;
  std::map<std::uint64_t, std::vector<std::size_t>> open;
  for (const perfetto::TracePacket& packet : parsed.packet()) {
    for (const auto& text : packet.interned_data().event_names()) names[text.iid()] = text.name();
    for (const auto& text : packet.interned_data().debug_annotation_names()) {
      notes[text.iid()] = text.name();
    }
    if (packet.has_clock_snapshot()) {
      read.primary_clock = packet.clock_snapshot().primary_trace_clock();
    }
    if (packet.has_track_descriptor()) {
      read.tracks[packet.track_descriptor().uuid()] = packet.track_descriptor();
    }
    if (!packet.has_track_event()) continue;
    const perfetto::TrackEvent& event = packet.track_event();
    const auto track = read.tracks.find(event.track_uuid());
    if (track == read.tracks.end()) {
      ADD_FAILURE() << "an event on a track that was not described";
      continue;
    }
    if (event.type() == 1) {
      Slice slice;
      slice.track =
          track->second.has_thread() ? track->second.thread().thread_name() : track->second.name();
      slice.name = event.has_name() ? event.name() : names.at(event.name_iid());
      slice.start = packet.timestamp();
      slice.flows = static_cast<std::size_t>(event.flow_ids_size());
      for (const auto& note : event.debug_annotations()) {
        slice.notes[notes.at(note.name_iid())] = note.has_string_value() ? note.string_value()
                                                 : note.has_int_value()
                                                     ? std::to_string(note.int_value())
                                                     : std::to_string(note.uint_value());
      }
      open[event.track_uuid()].push_back(read.slices.size());
      read.slices.push_back(std::move(slice));
    } else if (event.type() == 2) {
      auto& stack = open[event.track_uuid()];
      if (stack.empty()) {
        ADD_FAILURE() << "an end without a begin";
        continue;
      }
      read.slices[stack.back()].end = packet.timestamp();
      stack.pop_back();
    } else if (event.type() == 3) {
      read.instants.push_back(names.at(event.name_iid()));
    } else {
      read.counters.emplace_back(track->second.name(), event.counter_value());
    }
  }
  for (const auto& [track, stack] : open) EXPECT_TRUE(stack.empty()) << track;
  return read;
}

TEST(PerfettoTest, SpansNestOnTheirTracks) {
  const Read read = ReadBack(*Example());
  ASSERT_EQ(read.slices.size(), 3u);
  EXPECT_EQ(read.slices[0].name, "fetch");
  EXPECT_EQ(read.slices[0].end, 1100u);
  EXPECT_EQ(read.slices[0].flows, 1u);
  EXPECT_EQ(read.slices[1].name, "Pictures");
  EXPECT_EQ(read.slices[1].end, 1050u);
  EXPECT_EQ(read.slices[2].name, "file");
  EXPECT_EQ(read.slices[2].end, 1080u);  // after the end of its sample
  EXPECT_EQ(read.slices[2].track, "loader (overlapping)");
  EXPECT_EQ(read.slices[1].track, "loader");
}

TEST(PerfettoTest, SpansKeepWhatIsKnownOfThem) {
  const Read read = ReadBack(*Example());
  const auto& sample = read.slices.at(1).notes;
  EXPECT_EQ(sample.at("sample"), "7");
  EXPECT_EQ(sample.at("batch"), "3");
  EXPECT_EQ(sample.at("epoch"), "1");
  EXPECT_EQ(sample.at("cpu_ns"), "5");
  EXPECT_EQ(read.slices.at(2).notes.at("bytes"), "100");
  EXPECT_EQ(read.slices.at(2).notes.at("file"), "/data/a\xef\xbf\xbd.jpg");
}

TEST(PerfettoTest, ProcessesThreadsAndCountersHaveNames) {
  const Read read = ReadBack(*Example());
  std::vector<std::string> processes;
  for (const auto& [uuid, track] : read.tracks) {
    if (track.has_process()) processes.push_back(track.process().process_name());
    if (track.has_thread()) {
      EXPECT_TRUE(read.tracks.at(track.parent_uuid()).has_process());
    }
  }
  EXPECT_THAT(processes, ElementsAre("worker 2"));
  EXPECT_THAT(read.counters, ElementsAre(std::pair<std::string, std::int64_t>("rss_bytes", 4096)));
  EXPECT_THAT(read.instants, ElementsAre("batch_put"));
  EXPECT_EQ(read.primary_clock, 3u);
}

TEST(PerfettoTest, NamesOfThreadsAndWordsOfCommandsAreUtf8) {
  TraceBuilder builder;
  ProcessInfo process;
  process.comm = "\xe6\x95";  // cut inside a character
  process.command = {"/data/a\xff"};
  const ProcessId id = builder.AddProcess(process);
  const ThreadId thread = builder.AddThread({.process = id, .tid = 11, .name = "l\xe6"});
  Span span;
  span.stage = StageId::kSample;
  builder.AddSpan(thread, span);
  const Read read = ReadBack(*builder.Build());
  const std::string other = "\xef\xbf\xbd";  // U+FFFD
  for (const auto& [uuid, track] : read.tracks) {
    if (track.has_thread()) {
      EXPECT_EQ(track.thread().thread_name(), "l" + other);
    } else {
      EXPECT_EQ(track.process().process_name(), other + other);
      EXPECT_EQ(track.process().cmdline(0), "/data/a" + other);
    }
  }
}

// A followed sample of 100 us: __getitem__ takes 20 us itself, and load() 60 us, of which 50 us are
// in line 52.
std::unique_ptr<Trace> Followed() {
  TraceBuilder builder;
  ProcessInfo process;
  process.pid = 10;
  const ProcessId worker = builder.AddProcess(process);
  UnitRow unit;
  unit.at = TimeNs{1'000'000};
  unit.duration = TimeNs{100'000};
  unit.cost = TimeNs{20'000};
  unit.sample = 7;
  unit.stage = StageId::kSample;
  unit.flags = wire::kUnitChosen;
  unit.thread = builder.AddThread({.process = worker, .tid = 11, .name = "loader"});
  testing::FollowedUnit followed(unit);
  const auto us = [](std::int64_t time) { return TimeNs{time * 1000}; };
  const auto item = followed.Function("__getitem__", "/a/data.py", 20, {us(80), us(20)});
  const auto load = followed.Function("load", "/a/data.py", 50, {us(60), us(10), 3}, item);
  followed.Line(load, 52, {us(50), us(50), 3});
  followed.AddTo(builder);
  return builder.Build();
}

TEST(PerfettoTest, FollowedCallsNestOnATrackOfTheirOwn) {
  const Read read = ReadBack(*Followed());
  ASSERT_EQ(read.slices.size(), 4u);
  for (const Slice& slice : read.slices) EXPECT_EQ(slice.track, "loader (followed calls)");
  EXPECT_EQ(read.slices[0].name, "sample");
  EXPECT_EQ(read.slices[0].end, 1'100'000u);
  EXPECT_EQ(read.slices[0].notes.at("sample"), "7");
  EXPECT_EQ(read.slices[0].notes.at("chosen"), "1");
  EXPECT_EQ(read.slices[0].notes.at("cost_ns"), "20000");
  EXPECT_EQ(read.slices[1].name, "__getitem__ (data.py:20)");
  EXPECT_EQ(read.slices[1].end, 1'080'000u);
  EXPECT_EQ(read.slices[2].name, "load (data.py:50)");
  EXPECT_EQ(read.slices[2].notes.at("calls"), "3");
  EXPECT_EQ(read.slices[3].name, "line 52");
  EXPECT_EQ(read.slices[3].end, 1'050'000u);
}

}  // namespace
}  // namespace penstock::traces
