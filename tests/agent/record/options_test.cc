// SPDX-License-Identifier: Apache-2.0
#include "agent/record/options.h"

#include <gtest/gtest.h>

namespace penstock::record {
namespace {

Result<Parsed> Parse(std::vector<std::string> args) {
  return ParseOptions(args);
}

TEST(OptionsTest, CommandFollowsTheDashes) {
  const auto parsed = Parse({"-o", "t", "--for", "2m", "--stop", "--", "cmd", "-o", "x"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->options.output, "t");
  EXPECT_EQ(parsed->options.limit_time, TimeNs{120'000'000'000});
  EXPECT_TRUE(parsed->options.stop);
  EXPECT_EQ(parsed->options.command, (std::vector<std::string>{"cmd", "-o", "x"}));
}

TEST(OptionsTest, KeepIsATimeFromASecond) {
  const auto parsed = Parse({"--keep", "60s", "cmd", "--keep", "x"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->options.keep, TimeNs{60'000'000'000});
  EXPECT_EQ(parsed->options.command, (std::vector<std::string>{"cmd", "--keep", "x"}));
  EXPECT_EQ(Parse({"cmd"})->options.keep, TimeNs{});
}

TEST(OptionsTest, ProbesHaveWindowsOfFiveSecondsOrAsGiven) {
  EXPECT_EQ(Parse({"cmd"})->options.probe, TimeNs{});
  EXPECT_EQ(Parse({"--probe", "cmd"})->options.probe, TimeNs{5'000'000'000});
  const auto parsed = Parse({"--probe-window", "2s", "cmd"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->options.probe, TimeNs{2'000'000'000});
  EXPECT_EQ(parsed->options.command, (std::vector<std::string>{"cmd"}));
}

TEST(OptionsTest, CommandMayFollowWithoutDashes) {
  const auto parsed = Parse({"--quiet", "--batches", "7", "python3", "--version"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->options.limit_batches, 7u);
  EXPECT_EQ(parsed->options.command, (std::vector<std::string>{"python3", "--version"}));
}

TEST(OptionsTest, AnErrorIsOneLineOfUsage) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"--"},
      {"--unknown", "--", "cmd"},
      {"--for", "soon", "--", "cmd"},
      {"--for", "0s", "--", "cmd"},
      {"--for"},
      {"--keep", "soon", "--", "cmd"},
      {"--keep", "100ms", "--", "cmd"},
      {"--keep", "-5s", "--", "cmd"},
      {"--probe-window", "1ms", "--", "cmd"},
      {"--probe-window", "often", "--", "cmd"},
      {"--batches", "-3", "--", "cmd"},
      {"--batches", "x", "--", "cmd"},
      {"--stop", "--", "cmd"},
      {"--gpu", "everything", "--", "cmd"},
      {"--buffer", "12", "--", "cmd"},
      {"--buffer", "64Q", "--", "cmd"},
      {"--memory", "often", "--", "cmd"},
      {"--memory", "1ms", "--", "cmd"},
      {"--override", "workers", "--", "cmd"},
      {"--override", "workers=x", "--", "cmd"},
      {"--override", "color=1", "--", "cmd"},
      {"--override", "pin=2", "--", "cmd"},
      {"--override", "batch=0", "--", "cmd"},
      {"--override", "workers=1,,pin=1", "--", "cmd"},
      {"--override", "workers=1,workers=2", "--", "cmd"},
      {"--override", "warm=1", "--", "cmd"},
      {"--override", "threads=0", "--", "cmd"},
      {"--override", "malloc=mimalloc", "--", "cmd"},
      {"--override", "malloc=jemalloc,trim_threshold=1M", "--", "cmd"},
      {"--override", "mmap_threshold=32Q", "--", "cmd"},
      {"--override", "nice=-5", "--", "cmd"},
      {"--override", "nice=20", "--", "cmd"},
      {"--override", "affinity=3-1", "--", "cmd"},
      {"--override", "affinity=", "--", "cmd"},
      {"--override", "affinity=0+", "--", "cmd"},
      {"--override", "affinity=4000", "--", "cmd"},
      {"--override", "start_method=thread", "--", "cmd"},
  };
  for (const auto& args : wrong) {
    const auto parsed = Parse(args);
    ASSERT_FALSE(parsed) << (args.empty() ? "" : args.front());
    EXPECT_EQ(parsed.error().kind, ErrorKind::kUsage);
    EXPECT_EQ(parsed.error().message.find('\n'), std::string::npos) << parsed.error().message;
    EXPECT_FALSE(parsed.error().message.empty());
  }
}

TEST(OptionsTest, OverridesAreKept) {
  const auto parsed =
      Parse({"--override", "workers=8,prefetch=4,batch=64,pin=1,persistent=0", "--", "c"});
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(OverridesText(parsed->options.overrides),
            "workers=8,prefetch=4,batch=64,pin=1,persistent=0");
}

TEST(OptionsTest, AnOverrideMayNameTheLineOfALoader) {
  const auto parsed = Parse({"--override", "workers=8,at=src/train.py:88", "--", "c"});
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(OverridesText(parsed->options.overrides), "workers=8,at=src/train.py:88");
  EXPECT_FALSE(Parse({"--override", "workers=8,at=", "--", "c"}));
}

TEST(OptionsTest, MemoryIsWalkedByBudgetUnlessSaid) {
  const auto by_itself = Parse({"--", "c"});
  EXPECT_TRUE(by_itself->options.memory);
  EXPECT_EQ(by_itself->options.memory_every, TimeNs{0});
  EXPECT_EQ(Parse({"--memory", "250ms", "--", "c"})->options.memory_every, TimeNs{250'000'000});
  EXPECT_FALSE(Parse({"--memory", "off", "--", "c"})->options.memory);
}

TEST(OptionsTest, HelpAndVersionArePrinted) {
  const auto help = Parse({"--help"});
  ASSERT_TRUE(help);
  ASSERT_TRUE(help->print);
  EXPECT_NE(help->print->find("--override"), std::string::npos);
  const auto version = Parse({"--version"});
  ASSERT_TRUE(version && version->print);
  EXPECT_EQ(version->print->rfind("penstock-record ", 0), 0u);
}

TEST(OptionsTest, Durations) {
  EXPECT_EQ(ParseDuration("500ms"), TimeNs{500'000'000});
  EXPECT_EQ(ParseDuration("60s"), TimeNs{60'000'000'000});
  EXPECT_EQ(ParseDuration("1.5"), TimeNs{1'500'000'000});
  EXPECT_EQ(ParseDuration("5m"), TimeNs{300'000'000'000});
  EXPECT_EQ(ParseDuration("1h"), TimeNs{3'600'000'000'000});
  for (const char* wrong : {"", "s", "-1s", "1d", "1..2s", "1 s", "nan", "0x10"}) {
    EXPECT_FALSE(ParseDuration(wrong)) << wrong;
  }
}

TEST(OptionsTest, Sizes) {
  EXPECT_EQ(ParseSize("64M"), Bytes{64u << 20});
  EXPECT_EQ(ParseSize("1GiB"), Bytes{1u << 30});
  EXPECT_EQ(ParseSize("2048k"), Bytes{2u << 20});
  EXPECT_EQ(ParseSize("4096"), Bytes{4096});
  for (const char* wrong : {"", "M", "-1M", "1X", "1Mx"}) EXPECT_FALSE(ParseSize(wrong)) << wrong;
}

TEST(OptionsTest, DefaultOutputIsNamedAfterWhatRuns) {
  EXPECT_EQ(DefaultOutput({"/usr/bin/sleep", "1"}), "sleep.penstock");
  EXPECT_EQ(DefaultOutput({"python3", "-u", "dir/train.py", "--epochs", "3"}), "train.penstock");
  EXPECT_EQ(DefaultOutput({"python3.11", "-X", "dev", "-W", "ignore", "t.py"}), "t.penstock");
  EXPECT_EQ(DefaultOutput({"python", "-m", "torch.distributed.run", "x.py"}), "run.penstock");
  EXPECT_EQ(DefaultOutput({"python", "-c", "pass"}), "python.penstock");
  EXPECT_EQ(DefaultOutput({"python", "-uc", "print(1 / 2)"}), "python.penstock");
  EXPECT_EQ(DefaultOutput({"python", "-Im", "torch.distributed.run", "x.py"}), "run.penstock");
  EXPECT_EQ(DefaultOutput({"python", "-Wignore", "-Xdev", "-mtimeit", "x"}), "timeit.penstock");
  EXPECT_EQ(DefaultOutput({"python", "--check-hash-based-pycs", "never", "t.py"}), "t.penstock");
  EXPECT_EQ(DefaultOutput({"./run.sh"}), "run.penstock");
}

}  // namespace
}  // namespace penstock::record
