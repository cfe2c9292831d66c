// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>

#include "analyzer/words/format.h"
#include "analyzer/words/functions.h"
#include "analyzer/words/limits.h"
#include "analyzer/words/rule_names.h"
#include "analyzer/words/statement.h"

namespace penstock::analyzer {
namespace {

constexpr Message kPlain{"test.plain", "nothing to add", "没有补充"};
constexpr Message kWaits{"test.waits",
                         "{who:text} waits {wait:%0} of {time:ms.1} ms[, {rate:rate}/s]",
                         "{who:text} 等待 {time:ms.1} 毫秒的 {wait:percent}[，每秒 {rate:rate}]"};
constexpr Message kEither{"test.either", "{n:count worker}[threads? (threads)| (processes)]",
                          "{n:count} 个[threads?线程|进程]"};
constexpr Message kNamed{"test.named", "{part:name} is slow", "{part:name}很慢"};
constexpr Message kMeets{"test.meets",
                         "{bytes:bytes}[more? of memory], slow in {part:name}, see {name:text}[, "
                         "waits {wait:%0} of the time]",
                         "占{bytes:bytes}[more?的内存]，慢在{part:name}，见“{name:text}”[，等待"
                         "{wait:%0}的时间]"};
constexpr Message kAround{"test.around", "first {inner:words}[; then {rest:words}]",
                          "先 {inner:words}[；再 {rest:words}]"};

TEST(WordsTest, BothLanguagesAreSaidOfTheSameValues) {
  const Statement said = Say<kWaits>(Give<"who">("it"), Give<"wait">(0.254), Give<"time">(0.0031),
                                     Give<"rate">(std::optional<double>()));
  EXPECT_EQ(Render(said, Language::kEnglish), "it waits 25 % of 3.1 ms");
  EXPECT_EQ(Render(said, Language::kChinese), "it 等待 3.1 毫秒的 25 %");
}

TEST(WordsTest, AClauseIsSaidWhereItsValueIsThere) {
  const Statement said = Say<kWaits>(Give<"who">("it"), Give<"wait">(0.5), Give<"time">(1.0),
                                     Give<"rate">(std::optional<double>(412)));
  EXPECT_EQ(English(said), "it waits 50 % of 1000.0 ms, 412/s");
}

// A card said 99.8 % where a finding said 100 %, and 0.1 % where the verdict said 0 %.
TEST(WordsTest, AShareIsNothingOrAllOnlyIfItIs) {
  const auto said = [](double wait) {
    return English(Say<kWaits>(Give<"who">("it"), Give<"wait">(wait), Give<"time">(1.0),
                               Give<"rate">(std::optional<double>())));
  };
  EXPECT_EQ(said(0.998), "it waits 99.8 % of 1000.0 ms");
  EXPECT_EQ(said(0.001), "it waits 0.1 % of 1000.0 ms");
  EXPECT_EQ(PercentText(0.9997), "99.97 %");
  EXPECT_EQ(PercentText(0.0003), "0.03 %");
  EXPECT_EQ(PercentText(1), "100 %");
  EXPECT_EQ(PercentText(1 - 1e-12), "100 %");
  EXPECT_EQ(PercentText(0), "0 %");
  EXPECT_EQ(PercentText(-0.05), "-5 %");
  EXPECT_EQ(PercentText(0.61), "61 %");
}

TEST(WordsTest, AFlagChoosesBetweenTwoTexts) {
  EXPECT_EQ(English(Say<kEither>(Give<"n">(1), Give<"threads">(true))), "1 worker (threads)");
  EXPECT_EQ(English(Say<kEither>(Give<"n">(2), Give<"threads">(false))), "2 workers (processes)");
  EXPECT_EQ(Render(Say<kEither>(Give<"n">(2), Give<"threads">(true)), Language::kChinese),
            "2 个线程");
}

TEST(WordsTest, ACutFileCountsTheOtherProcesses) {
  const auto lost = [](int more) {
    return English(Say<words::kEndsEarly>(Give<"ends">(std::optional(Say<words::kNothingAfter>(
                                              Give<"worker">(std::optional(1)), Give<"at">(2.0)))),
                                          GiveIf<"more">(true, more), GiveIf<"epoch">(false, 0),
                                          Give<"batches">(0), GiveIf<"made">(false, 0)));
  };
  EXPECT_NE(lost(1).find(" and 1 other"), std::string::npos) << lost(1);
  EXPECT_EQ(lost(1).find("others"), std::string::npos) << lost(1);
  EXPECT_NE(lost(2).find(" and 2 others"), std::string::npos) << lost(2);
}

// "工作进程 1 4.71 s 之后" and "line 52 4096 times" had two numbers side by side.
TEST(WordsTest, TwoNumbersDoNotStandSideBySide) {
  const auto ends = [](std::optional<int> worker) {
    return Render(Say<words::kNothingAfter>(Give<"worker">(worker), Give<"at">(4.71)),
                  Language::kChinese);
  };
  EXPECT_EQ(ends(1), "工作进程 1 在 4.71 s 之后");
  EXPECT_EQ(ends(std::nullopt), "训练进程在 4.71 s 之后");
  const auto loop = [](bool several, std::optional<double> with_calls) {
    return English(Say<words::kHotPythonLoop>(
        Give<"function">("f"), Give<"place">("a.py:1"), Give<"line">(std::optional(52)),
        Give<"several">(several), Give<"count">(4096), Give<"batch">(false),
        Give<"loop_share">(0.5), Give<"with_calls">(with_calls)));
  };
  EXPECT_EQ(loop(false, std::nullopt),
            "line 52 of f (a.py:1) runs 4096 times for each sample in the Python interpreter: 50 % "
            "of the workers' time");
  EXPECT_EQ(loop(true, 0.6),
            "line 52 and other lines of f (a.py:1) run up to 4096 times for each sample in the "
            "Python interpreter: 50 % of the workers' time in themselves, 60 % with the library "
            "functions that they call");
}

TEST(WordsTest, ANameOfAStageOrARuleIsSaidInTheLanguage) {
  const auto said = [](const char* name, Language language) {
    return Render(Say<kNamed>(Give<"part">(name)), language);
  };
  EXPECT_EQ(said("decode", Language::kEnglish), "decode is slow");
  EXPECT_EQ(said("decode", Language::kChinese), "解码很慢");
  EXPECT_EQ(said("slow-storage", Language::kChinese), "存储读取慢很慢");
  EXPECT_EQ(said("RandomResizedCrop", Language::kChinese), "RandomResizedCrop 很慢");
}

// "受计算限制" and "受 GPU 内核启动限制" headed two findings of one run, and seemed to exclude each
// other.
TEST(WordsTest, RulesThatMayBothFindSomethingAreNotNamedAsTheOnlyLimit) {
  for (const char* id : {"compute-bound", "kernel-launch-bound"}) {
    const Statement name = RuleName(id);
    EXPECT_EQ(English(name).find("limit"), std::string::npos) << id;
    EXPECT_EQ(Render(name, Language::kChinese).find("限制"), std::string::npos) << id;
  }
}

// "34.2 MB的私有内存" and "每批约多花 21 ms的 CPU 时间".
TEST(WordsTest, ASpaceStandsBetweenChineseAndLatinWhereTheyMeet) {
  const auto said = [](bool more, const char* part) {
    return Render(Say<kMeets>(Give<"bytes">(34.2e6), Give<"more">(more), Give<"part">(part),
                              Give<"name">("图片1.jpg"), Give<"wait">(std::optional(0.5))),
                  Language::kChinese);
  };
  EXPECT_EQ(said(true, "decode"), "占 34.2 MB 的内存，慢在解码，见“图片1.jpg”，等待 50 % 的时间");
  EXPECT_EQ(said(false, "Crop"), "占 34.2 MB，慢在 Crop，见“图片1.jpg”，等待 50 % 的时间");
}

TEST(WordsTest, AStatementIsAValueOfAnother) {
  const Statement said = Say<kAround>(Give<"inner">(Say<kPlain>()),
                                      Give<"rest">(Statements{Say<kPlain>(), Say<kPlain>()}));
  EXPECT_EQ(English(said), "first nothing to add; then nothing to add, nothing to add");
  EXPECT_EQ(Render(said, Language::kChinese), "先 没有补充；再 没有补充、没有补充");
}

TEST(WordsTest, AListIsSortedByItsEnglishAndHasEachOnce) {
  Statements list = {Say<kPlain>(), Say<kEither>(Give<"n">(2), Give<"threads">(true)),
                     Say<kPlain>(), Say<kEither>(Give<"n">(1), Give<"threads">(true))};
  SortAndMerge(list);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(English(list[0]), "1 worker (threads)");
  EXPECT_EQ(English(list[1]), "2 workers (threads)");
  EXPECT_EQ(English(list[2]), "nothing to add");
}

TEST(WordsTest, NothingIsSaidOfNothing) {
  EXPECT_EQ(English(Statement{}), "");
}

TEST(WordsTest, WhatIsMalformedIsNoText) {
  const auto well = [](std::string_view text) {
    return ForEachPlace(
        text, false, [](const ValuePlace&, bool) {}, [](std::string_view) {});
  };
  EXPECT_TRUE(well("a {b:count} [c {d:%0}] [e?f|g]"));
  for (const char* text :
       {"{a}", "{a:}", "{a:nobody}", "{a:%}", "{:text}", "{a:text", "[a", "a]"}) {
    EXPECT_FALSE(well(text)) << text;
  }
}

// The constructor of a message compiles only if HasAllNames() is true for its texts.
TEST(WordsTest, ALanguageThatLeavesAValueOrAConditionOutIsFound) {
  const std::string_view english = "{n:count worker}[late?, {by:ms.1} ms late][one? each]";
  EXPECT_TRUE(HasAllNames(NamesOf("{by:duration}[late?{n:count}][one?|]"), NamesOf(english)));
  EXPECT_FALSE(HasAllNames(NamesOf("{n:count}[late?晚][one?|]"), NamesOf(english))) << "by";
  EXPECT_FALSE(HasAllNames(NamesOf("{n:count}，晚 {by:duration}[one?|]"), NamesOf(english)))
      << "late";
  EXPECT_FALSE(HasAllNames(NamesOf("[late?晚 {by:duration}][one?|]"), NamesOf(english))) << "n";
  EXPECT_FALSE(HasAllNames(NamesOf("{n:count}[late?晚 {by:duration}]"), NamesOf(english))) << "one";
  EXPECT_TRUE(HasAllNames(NamesOf("{n:count}[late?晚 {by:duration}]"), NamesOf(english), "one"));
  EXPECT_FALSE(HasAllNames(NamesOf("[late?晚 {by:duration}]"), NamesOf(english), "one")) << "n";
}

}  // namespace
}  // namespace penstock::analyzer
