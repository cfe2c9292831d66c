// SPDX-License-Identifier: Apache-2.0
#include "traces/translate.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "traces/trace_builder.h"

namespace penstock::traces {
namespace {

TEST(CopyTraceTest, NumbersAreThoseOfTheTraceThatIsWritten) {
  TraceData data;
  data.facts = {{"command", "train"}};
  ProcessInfo process;
  process.pid = 7;
  data.processes.push_back(process);
  ThreadInfo thread;
  thread.tid = 8;
  data.threads.push_back(thread);
  Span span;
  span.start = TimeNs{1'000};
  span.duration = TimeNs{500};
  span.stage = StageId::kDecode;
  span.name = data.Intern("jpeg");
  span.object = data.Intern("/data/a.jpg");
  data.spans = {{span}};
  Event event;
  event.at = TimeNs{1'100};
  data.events.push_back(event);
  CounterSample sample;
  sample.at = TimeNs{1'200};
  sample.name = data.Intern("rss_bytes");
  sample.value = 42;
  data.counters.push_back(sample);
  data.losses.dropped_events = 3;
  data.realtime_offset = TimeNs{5};
  const auto from = MakeTrace(std::move(data));

  TraceBuilder out;  // has a process, a thread and a text already
  process.pid = 1;
  thread.tid = 2;
  thread.process = out.AddProcess(process);
  static_cast<void>(out.AddThread(thread));
  static_cast<void>(out.Intern("other"));
  CopyTrace(*from, out);
  const auto copy = out.Build();

  EXPECT_EQ(copy->facts().at("command"), "train");
  ASSERT_EQ(copy->processes().size(), 2u);
  EXPECT_EQ(copy->processes()[1].pid, 7u);
  ASSERT_EQ(copy->threads().size(), 2u);
  EXPECT_EQ(copy->threads()[1].tid, 8u);
  EXPECT_EQ(copy->threads()[1].process, ProcessId{1});
  EXPECT_TRUE(copy->Spans(ThreadId{0}).empty());
  const std::vector<Span> spans = copy->Spans(ThreadId{1});
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(copy->String(spans[0].name), "jpeg");
  EXPECT_EQ(copy->String(spans[0].object), "/data/a.jpg");
  ASSERT_EQ(copy->events().size(), 1u);
  EXPECT_EQ(copy->events()[0].thread, ThreadId{1});
  ASSERT_EQ(copy->counters().size(), 1u);
  EXPECT_EQ(copy->counters()[0].process, ProcessId{1});
  EXPECT_EQ(copy->String(copy->counters()[0].name), "rss_bytes");
  EXPECT_EQ(copy->losses().dropped_events, 3u);
  EXPECT_EQ(copy->realtime_offset(), TimeNs{5});
}

}  // namespace
}  // namespace penstock::traces
