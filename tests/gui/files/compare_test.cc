// SPDX-License-Identifier: Apache-2.0
#include "gui/model/files/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyzer/synthetic.h"

namespace penstock::gui {
namespace {

using analyzer::testing::Always;
using analyzer::testing::Synthetic;
using analyzer::testing::SyntheticTrace;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Document DocumentOf(const Synthetic& run, const std::string& name) {
  Document document;
  document.path = "/t/" + name;
  document.trace = SyntheticTrace(run);
  auto analysis = std::make_shared<Analysis>();
  analysis->report = analyzer::BuildReport(*document.trace, document.path.string());
  document.analysis = std::move(analysis);
  return document;
}

Synthetic Decoding(double decode, int workers = 2) {
  Synthetic run;
  run.workers = workers;
  run.costs = Always({.read = 1, .decode = decode, .augment = 2, .step = 2});
  return run;
}

CompareSentence Sentence(const Document& a, const Document& b, Language language) {
  const auto answer = CompareDocuments(a, b);
  EXPECT_TRUE(answer);
  return SentenceOf(*answer, SettingsThatDiffer(a, b, *answer, language), language);
}

TEST(CompareTest, FiguresAreTheAnalyzersOwn) {
  const Document a = DocumentOf(Decoding(12), "a");
  const Document b = DocumentOf(Decoding(8), "b");
  const auto answer = CompareDocuments(a, b);
  ASSERT_TRUE(answer);
  const auto expected = analyzer::Compare(analyzer::Baseline{a.analysis->report.diagnosis, "a"},
                                          analyzer::Candidate{b.analysis->report.diagnosis, "b"});
  ASSERT_TRUE(expected);
  EXPECT_EQ(answer->comparison.throughput.ratio.estimate, expected->throughput.ratio.estimate);
  EXPECT_EQ(answer->comparison.throughput.ratio.low, expected->throughput.ratio.low);
  EXPECT_EQ(answer->comparison.stages.size(), expected->stages.size());
}

TEST(CompareTest, TheSentenceSaysFasterSlowerOrNeither) {
  const Document slow = DocumentOf(Decoding(12), "a");
  const Document fast = DocumentOf(Decoding(9), "b");
  const CompareSentence faster = Sentence(slow, fast, Language::kEnglish);
  EXPECT_THAT(faster.text, HasSubstr("% faster than A"));
  EXPECT_THAT(faster.why, HasSubstr("decode fell from"));
  const CompareSentence slower = Sentence(fast, slow, Language::kEnglish);
  EXPECT_THAT(slower.text, HasSubstr("% slower than A"));
  EXPECT_THAT(slower.why, HasSubstr("decode rose from"));
  EXPECT_THAT(Sentence(slow, slow, Language::kEnglish).text, HasSubstr("No difference"));
  EXPECT_THAT(Sentence(slow, fast, Language::kChinese).text, HasSubstr("B 比 A 快"));
}

TEST(CompareTest, AMultipleIsSaidAsTimes) {
  const CompareSentence sentence =
      Sentence(DocumentOf(Decoding(40), "a"), DocumentOf(Decoding(4), "b"), Language::kEnglish);
  EXPECT_THAT(sentence.text, HasSubstr("times as fast"));
}

TEST(CompareTest, ASlowerRunsIntervalBeginsAtTheNearerEnd) {
  const auto answer = CompareDocuments(DocumentOf(Decoding(9), "a"), DocumentOf(Decoding(12), "b"));
  ASSERT_TRUE(answer);
  const analyzer::Interval& ratio = answer->comparison.throughput.ratio;
  const std::string expected =
      fmt::format("(95 %: {:.0f} to {:.0f} %)", 100 * (1 - ratio.high), 100 * (1 - ratio.low));
  EXPECT_THAT(SentenceOf(*answer, {}, Language::kEnglish).text, HasSubstr(expected));
}

TEST(CompareTest, SettingsThatDifferAreListedAndNoOthers) {
  const Document a = DocumentOf(Decoding(12, 1), "a");
  Synthetic more = Decoding(12, 4);
  more.prefetch = 4;
  const Document b = DocumentOf(more, "b");
  const auto answer = CompareDocuments(a, b);
  ASSERT_TRUE(answer);
  const auto settings = SettingsThatDiffer(a, b, *answer, Language::kEnglish);
  ASSERT_EQ(settings.size(), 2U);
  EXPECT_EQ(settings[0].name, "num_workers");
  EXPECT_EQ(settings[0].before, "1");
  EXPECT_EQ(settings[0].after, "4");
  EXPECT_EQ(settings[1].name, "prefetch_factor");
  EXPECT_THAT(SentenceOf(*answer, settings, Language::kEnglish).why,
              HasSubstr("num_workers 4 instead of 1"));
  const auto same = CompareDocuments(a, a);
  EXPECT_TRUE(SettingsThatDiffer(a, a, *same, Language::kEnglish).empty());
}

Document WithCommand(Document document, const char* command) {
  auto analysis = std::make_shared<Analysis>(*document.analysis);
  analysis->report.command = command;
  document.analysis = std::move(analysis);
  return document;
}

// An earlier version named batch sizes of 16 and 64, and did not name the other data set.
TEST(CompareTest, AnotherDataSetIsTheFirstThatIsSaid) {
  const Document a = DocumentOf(Decoding(9), "a");
  const Document b = DocumentOf(Decoding(12), "b");
  auto answer = CompareDocuments(a, b);
  ASSERT_TRUE(answer);
  EXPECT_THAT(SentenceOf(*answer, {}, Language::kEnglish).why, Not(HasSubstr("data set")));
  answer->comparison.before.config.dataset_length = 1200;
  answer->comparison.after.config.dataset_length = 120;
  const auto settings = SettingsThatDiffer(a, b, *answer, Language::kEnglish);
  EXPECT_THAT(SentenceOf(*answer, settings, Language::kEnglish).why,
              StartsWith("another data set (120 samples instead of 1200): the runs may not do the "
                         "same work; decode rose"));
  EXPECT_THAT(SentenceOf(*answer, settings, Language::kChinese).why, StartsWith("数据集不同"));
}

TEST(CompareTest, TheCommandIsNamedIfNoSettingTellsWhatWasChanged) {
  const Document a = WithCommand(DocumentOf(Decoding(9), "a"), "python3 train.py --size 224 -v");
  const Document b = WithCommand(DocumentOf(Decoding(12), "b"), "python3 train.py --size 384 -v");
  EXPECT_THAT(Sentence(a, b, Language::kEnglish).why,
              HasSubstr("command … --size 384 … instead of … --size 224 …"));
  const Document more = WithCommand(DocumentOf(Decoding(12, 4), "c"), "python3 train.py -j 4");
  EXPECT_THAT(Sentence(a, more, Language::kEnglish).why, Not(HasSubstr("command")));
}

TEST(CompareTest, LargeCountsAreExact) {
  const Document a = DocumentOf(Decoding(12), "a");
  const Document b = DocumentOf(Decoding(12), "b");
  auto answer = CompareDocuments(a, b);
  ASSERT_TRUE(answer);
  answer->comparison.before.config.batch_size = 16'384;
  answer->comparison.after.config.batch_size = 16'385;
  const auto settings = SettingsThatDiffer(a, b, *answer, Language::kEnglish);
  ASSERT_EQ(settings.size(), 1U);
  EXPECT_EQ(settings[0].before, "16384");
  EXPECT_EQ(settings[0].after, "16385");
}

// A recording of another tool may lack the number of workers.
TEST(CompareTest, ANumberOfWorkersThatIsNotKnownIsNotZero) {
  const Document a = DocumentOf(Decoding(12), "a");
  const Document b = DocumentOf(Decoding(8), "b");
  auto answer = CompareDocuments(a, b);
  ASSERT_TRUE(answer);
  answer->comparison.after.config.workers_known = false;
  answer->comparison.after.config.num_workers = 0;
  const auto settings = SettingsThatDiffer(a, b, *answer, Language::kEnglish);
  ASSERT_EQ(settings.size(), 1U);
  EXPECT_EQ(settings[0].name, "num_workers");
  EXPECT_EQ(settings[0].before, "2");
  EXPECT_EQ(settings[0].after, "not known");
  EXPECT_THAT(SentenceOf(*answer, settings, Language::kEnglish).why, Not(HasSubstr("num_workers")));
  EXPECT_THAT(SideText(answer->comparison.after, Language::kEnglish),
              HasSubstr("workers not known"));
}

TEST(CompareTest, PrefetchIsNoSettingOfALoopWithoutWorkers) {
  const Document a = DocumentOf(Decoding(12, 0), "a");
  Synthetic two = Decoding(12, 2);
  two.prefetch = 7;
  const Document b = DocumentOf(two, "b");
  const auto answer = CompareDocuments(a, b);
  ASSERT_TRUE(answer);
  for (const SettingChange& one : SettingsThatDiffer(a, b, *answer, Language::kEnglish)) {
    EXPECT_NE(one.name, "prefetch_factor");
  }
}

TEST(CompareTest, FindingsThatWentAndCameAreKeptApart) {
  const Document alone = DocumentOf(Decoding(12, 0), "a");
  const Document many = DocumentOf(Decoding(12, 4), "b");
  const auto answer = CompareDocuments(alone, many);
  ASSERT_TRUE(answer);
  const auto has = [](const std::vector<analyzer::Finding>& findings, std::string_view id) {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const analyzer::Finding& finding) { return finding.id == id; });
  };
  EXPECT_TRUE(has(answer->gone, "no-worker-processes"));
  EXPECT_FALSE(has(answer->fresh, "no-worker-processes"));
  EXPECT_FALSE(has(answer->in_both, "no-worker-processes"));
  EXPECT_EQ(answer->in_both.size() + answer->gone.size(), alone.analysis->report.findings.size());
  EXPECT_EQ(answer->in_both.size() + answer->fresh.size(), many.analysis->report.findings.size());
}

TEST(CompareTest, AShortRunIsNotJudged) {
  Synthetic brief = Decoding(12);
  brief.batches = 6;
  const CompareSentence sentence =
      Sentence(DocumentOf(Decoding(12), "a"), DocumentOf(brief, "b"), Language::kEnglish);
  EXPECT_THAT(sentence.text, HasSubstr("Too few batches"));
}

TEST(CompareTest, ARunWithoutALoaderIsRefusedByName) {
  Document empty;
  empty.path = "/t/empty.penstock";
  empty.trace = traces::MakeTrace({});
  auto analysis = std::make_shared<Analysis>();
  analysis->report = analyzer::BuildReport(*empty.trace, "empty");
  empty.analysis = std::move(analysis);
  const auto answer = CompareDocuments(DocumentOf(Decoding(12), "a"), empty);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().error().message, HasSubstr("empty.penstock"));
}

TEST(CompareTest, EveryStageHasATitleInBothLanguages) {
  const auto answer = CompareDocuments(DocumentOf(Decoding(12), "a"), DocumentOf(Decoding(9), "b"));
  ASSERT_TRUE(answer);
  ASSERT_FALSE(answer->comparison.stages.empty());
  for (const analyzer::Change& change : answer->comparison.stages) {
    EXPECT_NE(StageTitle(change.name, Language::kChinese), change.name);
    EXPECT_NE(StageOfChange(change.name), traces::StageId::kNone) << change.name;
  }
}

TEST(CompareTest, AJobAnswersAsTheFunctionDoes) {
  const Document a = DocumentOf(Decoding(12), "a");
  const Document b = DocumentOf(Decoding(9), "b");
  std::atomic<bool> woken{false};
  CompareJob job(a, b, [&] { woken = true; });
  while (!woken) std::this_thread::yield();
  ASSERT_TRUE(job.finished());
  ASSERT_TRUE(job.answer());
  EXPECT_EQ(job.answer()->comparison.throughput.after,
            CompareDocuments(a, b)->comparison.throughput.after);
}

TEST(CompareTest, TwoProgramsAreNotTimesAsFastAsEachOther) {
  Document a = DocumentOf(Decoding(40), "a");
  Document b = DocumentOf(Decoding(2), "b");
  const auto command = [](Document& document, const char* text) {
    auto analysis = std::make_shared<Analysis>(*document.analysis);
    analysis->report.command = text;
    document.analysis = analysis;
  };
  command(a, "/usr/bin/python3 -B /x/train.py --workers 2");
  command(b, "/usr/bin/python3 /y/other.py");
  const CompareSentence sentence = Sentence(a, b, Language::kEnglish);
  EXPECT_THAT(sentence.text, HasSubstr("different programs (train.py, other.py)"));
  EXPECT_THAT(sentence.text, Not(HasSubstr("times as fast")));
  command(b, "python3 /z/train.py --workers 4");
  EXPECT_THAT(Sentence(a, b, Language::kEnglish).text, HasSubstr("times as fast"));
}

TEST(CompareTest, AProgramIsTheSameOnAnotherNodeOfTheMachine) {
  const auto on_node = [](double decode, const char* command) {
    Document document = DocumentOf(Decoding(decode), "a");
    auto analysis = std::make_shared<Analysis>(*document.analysis);
    analysis->report.command = command;
    document.analysis = analysis;
    return document;
  };
  const Document a = on_node(40, "numactl -N 0 -m 0 python3 train.py");
  EXPECT_THAT(
      Sentence(a, on_node(2, "numactl -N 1 -m 1 python3 train.py"), Language::kEnglish).text,
      HasSubstr("times as fast"));
  EXPECT_THAT(Sentence(a, on_node(2, "numactl -m 1 python3 -m pkg.other"), Language::kEnglish).text,
              HasSubstr("different programs (train.py, pkg.other)"));
}

TEST(CompareTest, AStageThatIsKeptFromTheCoresIsNotBlamed) {
  Synthetic quiet;
  quiet.costs = Always({.decode = 2, .augment = 8, .step = 2});
  Synthetic crowded = quiet;
  crowded.costs = Always({.decode = 2, .augment = 20, .step = 2});
  crowded.cpu_share = 0.35;  // so its CPU time is no longer than in `quiet`
  const CompareSentence slower =
      Sentence(DocumentOf(quiet, "a"), DocumentOf(crowded, "b"), Language::kEnglish);
  EXPECT_THAT(slower.why, HasSubstr("waited for cores"));
  const CompareSentence dearer =
      Sentence(DocumentOf(quiet, "a"),
               DocumentOf(Synthetic{.costs = Always({.decode = 2, .augment = 20, .step = 2})}, "b"),
               Language::kEnglish);
  EXPECT_THAT(dearer.why, Not(HasSubstr("waited for cores")));
}

}  // namespace
}  // namespace penstock::gui
