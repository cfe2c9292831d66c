// SPDX-License-Identifier: Apache-2.0
#include "traces/anonymous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tests/traces/call_tree_maker.h"
#include "traces/call_trees.h"
#include "traces/export.h"
#include "traces/trace_builder.h"
#include "traces/translate.h"
#include "traces/wire_records.h"

namespace penstock::traces {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::uint32_t Hash(std::string_view text) {
  return static_cast<std::uint32_t>(wire::HashOf(text.data(), text.size()));
}

// A run of Ann's: each name of hers contains "ann" or "acme".
std::unique_ptr<Trace> AnnsRun() {
  TraceBuilder out;
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"host", "annbox"},
           {"boot_id", "annann"},
           {"command", "python /home/ann/train.py --data /home/ann/cats"},
           {"dataset.root", "/home/ann/cats"},
           {"record.ring", "/dev/shm/ann-ring"},
           {"import.annotation", "ann"},
           {"part.0.host", "annbox"},
           {"part.0.file", "ann0.penstock"},
           {"cpu.model", "Some CPU @ 2.00GHz"},
           {"gpu.0.uuid", "GPU-ann"},
           {"gpu.cupti", "18 /opt/ann/my acme tools/libcupti"},
           {"acme.budget", "7"},
           {"part.0.annscore", "3"},
           {"part.0.kernel", "6.1.0"},
           {"part.ann.kernel", "6.1.0"},
           {"version.acme", "1.0"},
           {"version.numpy", "2.1.0"},
           {"override.ann", "1"},
           {"override.workers", "4"},
           {"epoch.ann", "0"},
           {"gpu.reason", "CUPTI is in use by /opt/ann/tool.so"}}) {
    out.SetFact(key, value);
  }
  ProcessInfo process;
  process.pid = 7;
  process.comm = "ann-train";
  process.command = {"python", "/home/ann/train.py"};
  process.libraries = {"/home/ann/.venv/lib/python3.11/site-packages/pillow.libs/libjpeg-1.so.62"};
  process.facts = {{"loader.0.dataset_type", "AcmeCats"},
                   {"loader.0.num_workers", "2"},
                   {"loader.0.acme", "2"},
                   {"loader.ann.num_workers", "2"},
                   {"ann", "1"},
                   {"epoch.1", "0"},
                   {"epoch.1.shards", "true"},
                   {"torch.version", "2.5"},
                   {"limit.open_files", "1024"},
                   {"agent.threads", "1"},
                   {"loader.0.made_at", "/home/ann/train.py:88"},
                   {"loader.0.batch_types", "uint8:150528 int64:64"}};
  ThreadInfo thread;
  thread.process = out.AddProcess(process);
  thread.name = "acme_worker";
  const ThreadId at = out.AddThread(thread);
  Span span;
  span.start = TimeNs{1'000};
  span.duration = TimeNs{500};
  for (const auto& [stage, name, object] :
       {std::tuple{StageId::kSample, "AcmeCats", ""}, std::tuple{StageId::kAugment, "AcmeFlip", ""},
        std::tuple{StageId::kRead, "posix", "/home/ann/cats/17.jpg"}}) {
    span.stage = stage;
    span.name = out.Intern(name);
    span.object = out.Intern(object);
    out.AddSpan(at, span);
  }
  Event digest;
  digest.at = TimeNs{1'200};
  digest.thread = at;
  digest.type = EventType::kDigest;
  digest.value = wire::DigestValue(5, Hash("AcmeFlip"));
  out.AddEvent(digest);
  CounterSample sample;
  sample.at = TimeNs{1'200};
  for (const char* name :
       {"rss_bytes", "http.connect_ns@data.ann.example:8080", "acmequeue", "AcmeCats"}) {
    sample.name = out.Intern(name);
    out.AddCounter(sample);
  }
  testing::FollowedUnit unit(
      {.at = TimeNs{1'000}, .duration = TimeNs{500}, .thread = at, .stage = StageId::kSample},
      "AcmeCats");
  const auto own =
      unit.Function("AcmeCats.forward", "/home/ann/train.py", 40, {.total = TimeNs{400}});
  unit.Function("forward", "/home/ann/.venv/lib/python3.11/site-packages/torch/nn/x.py", 4,
                {.total = TimeNs{300}}, own);
  unit.Builtin("json.loads", {.total = TimeNs{100}}, own);
  unit.AddTo(out);
  return out.Build();
}

std::string Jsonl(const Trace& trace) {
  std::string text;
  EXPECT_TRUE(ExportJsonLines(trace, [&text](std::string_view part) {
    text += part;
    return true;
  }));
  return text;
}

TEST(AnonymousTest, NothingOfThePersonIsLeft) {
  const auto trace = AnnsRun();
  StandIns names;
  TraceBuilder copy;
  CopyTrace(*WithoutNames(*trace, names), copy);
  std::string text = Jsonl(*copy.Build());
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* word : {"ann", "acme", "cats", "train.py", "home"}) {
    EXPECT_THAT(text, Not(HasSubstr(word)));
  }
}

TEST(AnonymousTest, WhatAnAnalysisNeedsStays) {
  const auto trace = AnnsRun();
  StandIns names;
  const auto other = WithoutNames(*trace, names);
  EXPECT_EQ(other->span_count(), trace->span_count());
  EXPECT_EQ(other->facts().at("cpu.model"), "Some CPU @ 2.00GHz");
  EXPECT_EQ(other->facts().at("host"), other->facts().at("part.0.host"));
  EXPECT_EQ(other->facts().at("dataset.root"), "/d1/d2/d3");
  EXPECT_EQ(other->facts().count("record.ring"), 0U);
  const ProcessInfo& process = other->processes()[0];
  EXPECT_EQ(process.facts.at("loader.0.num_workers"), "2");
  EXPECT_EQ(process.facts.at("loader.0.batch_types"), "uint8:150528 int64:64");
  EXPECT_THAT(process.libraries[0], HasSubstr("pillow.libs/libjpeg-1.so.62"));
  EXPECT_EQ(other->String(other->counters()[0].name), "rss_bytes");
  EXPECT_THAT(std::string(other->String(other->counters()[1].name)),
              ::testing::MatchesRegex("http\\.connect_ns@host[0-9]+:8080"));
  const std::vector<Span> spans = other->Spans(ThreadId{0});
  EXPECT_EQ(other->String(spans[2].name), "posix");
  EXPECT_EQ(other->String(spans[2].object), "/d1/d2/d3/f1.jpg");
  // A digest event still names its transform, by the hash of the transform's stand-in.
  const std::string_view flip = other->String(spans[1].name);
  EXPECT_NE(flip, "AcmeFlip");
  EXPECT_EQ(wire::NameOfDigest(other->events()[0].value), Hash(flip));
  EXPECT_EQ(wire::DigestOf(other->events()[0].value), 5U);
}

TEST(AnonymousTest, FactsThatAreNotOursAreLeftOut) {
  const auto trace = AnnsRun();
  StandIns names;
  const auto other = WithoutNames(*trace, names);
  for (const char* key : {"acme.budget", "part.0.annscore", "part.ann.kernel", "version.acme",
                          "override.ann", "epoch.ann", "import.annotation"}) {
    EXPECT_EQ(other->facts().count(key), 0U) << key;
  }
  EXPECT_EQ(other->facts().at("part.0.kernel"), "6.1.0");
  EXPECT_EQ(other->facts().at("version.numpy"), "2.1.0");
  EXPECT_EQ(other->facts().at("override.workers"), "4");
  EXPECT_EQ(other->facts().at("gpu.cupti").substr(0, 4), "18 /");
  EXPECT_THAT(other->facts().at("part.0.file"), ::testing::EndsWith(".penstock"));
  const auto& facts = other->processes()[0].facts;
  for (const char* key : {"loader.0.acme", "loader.ann.num_workers", "ann"}) {
    EXPECT_EQ(facts.count(key), 0U) << key;
  }
  for (const char* key : {"epoch.1", "epoch.1.shards", "torch.version", "limit.open_files",
                          "agent.threads", "loader.0.made_at", "loader.0.dataset_type"}) {
    EXPECT_EQ(facts.count(key), 1U) << key;
  }
}

TEST(AnonymousTest, FunctionsOfLibrariesKeepTheirNamesAndThoseOfTheProgramDoNot) {
  const auto trace = AnnsRun();
  StandIns names;
  const auto other = WithoutNames(*trace, names);
  const CallTrees calls = ReadCallTrees(*other);
  ASSERT_EQ(calls.trees.size(), 1U);
  const std::vector<CallNode>& nodes = calls.trees[0].nodes;
  ASSERT_EQ(nodes.size(), 3U);
  // The class has the same stand-in in the name of its method as in the names of its spans.
  EXPECT_THAT(std::string(other->String(nodes[0].name)),
              StartsWith(std::string(other->String(other->Spans(ThreadId{0})[0].name)) + ".n"));
  EXPECT_THAT(std::string(other->String(nodes[0].file)), ::testing::EndsWith(".py"));
  EXPECT_EQ(other->String(nodes[1].name), "forward");
  EXPECT_THAT(std::string(other->String(nodes[1].file)), HasSubstr("site-packages/torch/nn/x.py"));
  EXPECT_EQ(other->String(nodes[2].name), "json.loads");
}

TEST(AnonymousTest, AStandInThatEndsLikeTheFileDoesNotMakeItsFunctionsPublic) {
  TraceBuilder out;
  const ThreadId thread = out.AddThread({.process = out.AddProcess({}), .tid = 1});
  testing::FollowedUnit unit(
      {.at = TimeNs{1'000}, .duration = TimeNs{500}, .thread = thread, .stage = StageId::kSample});
  unit.Function("annload", "/opt/site-packages/acme/1.py", 4, {.total = TimeNs{300}});
  unit.AddTo(out);
  const auto trace = out.Build();
  StandIns names;
  const auto other = WithoutNames(*trace, names);
  ASSERT_EQ(other->call_rows().size(), 1U);
  EXPECT_EQ(other->String(other->call_rows()[0].file), "/d1/site-packages/d2/f1.py");
  EXPECT_NE(other->String(other->call_rows()[0].name), "annload");
}

}  // namespace
}  // namespace penstock::traces
