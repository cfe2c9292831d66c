// SPDX-License-Identifier: Apache-2.0
//
// The page in Chinese, and with several ranks.
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/report/html_report.h"
#include "analyzer/words/part_names.h"
#include "analyzer/words/rule_names.h"
#include "tests/analyzer/html_support.h"
#include "tests/analyzer/synthetic.h"
#include "tests/analyzer/synthetic_ranks.h"
#include "traces/trace_builder.h"

namespace penstock::analyzer {
namespace {

using testing::Has;
using testing::Malformed;
using testing::Prose;
using testing::Synthetic;

// A regular expression for the English names of stages, factors and rules, as whole words.
std::string EnglishNames() {
  std::string names;
  for (const Message& part : words::kPartNames) names += "|" + std::string(part.english);
  for (const Message& rule : words::kRuleNames) names += "|" + std::string(rule.id);
  return "(^|[^a-z_-])(" + names.substr(1) + ")($|[^a-z_-])";
}

// The first piece of `text` in which half-width punctuation follows a Chinese character; "": none.
std::string HalfWidth(std::string_view text) {
  for (std::size_t at = text.find_first_of("(,;:!?"); at != std::string_view::npos;
       at = text.find_first_of("(,;:!?", at + 1)) {
    std::size_t before = at;
    if (before > 0 && text[before - 1] == ' ') --before;
    // U+4E00 to U+9FFF are three bytes in UTF-8, of which the first is one of these.
    constexpr std::string_view kChinese = "\xe4\xe5\xe6\xe7\xe8\xe9";
    if (before >= 3 && kChinese.find(text[before - 3]) != std::string_view::npos) {
      return std::string(text.substr(before - 3, at + 4 - before));
    }
  }
  return "";
}

TEST(HtmlReportTest, RanksHaveTheirPartAndItIsWellFormed) {
  testing::Ranked run;
  run.ranks = 3;
  run.wait = [](int rank, int) { return rank == 1 ? 9.0 : 1.0; };
  const auto trace = traces::MakeTrace(TraceOfAll(run));
  const Report report = BuildReport(*trace, "t");
  const std::string page = ReportHtml(report, BuildPlots(*trace, report), Language::kEnglish);
  EXPECT_EQ(Malformed(page), "");
  EXPECT_NE(page.find("id=\"ranks\""), std::string::npos);
  EXPECT_NE(page.find("rank 1 waits for data: 9.00 ms"), std::string::npos);
  const auto alone = testing::SyntheticTrace(Synthetic{});
  const Report other = BuildReport(*alone, "t");
  EXPECT_EQ(ReportHtml(other, BuildPlots(*alone, other), Language::kEnglish).find("#ranks"),
            std::string::npos);
}

TEST(HtmlReportTest, SpeaksChineseThroughout) {
  testing::Ranked ranks;
  ranks.ranks = 3;
  ranks.wait = [](int rank, int) { return rank == 1 ? 9.0 : 1.0; };
  std::vector<traces::TraceData> runs;
  runs.push_back(testing::MakeSynthetic({}));
  runs.push_back(testing::MakeSynthetic({.batches = 5}));
  runs.push_back(TraceOfAll(ranks));
  runs.emplace_back();
  const std::regex sentence("[a-z]{3,}[,;:]? [a-z]{2,}[,;:]? [a-z]{3,}");
  const std::regex name(EnglishNames());
  for (traces::TraceData& data : runs) {
    const auto trace = traces::MakeTrace(std::move(data));
    const Report report = BuildReport(*trace, "t");
    const std::string page = ReportHtml(report, BuildPlots(*trace, report), Language::kChinese);
    EXPECT_EQ(Malformed(page), "");
    EXPECT_TRUE(Has(page, "<html lang=\"zh\">"));
    const std::string prose = Prose(page);
    std::smatch found;
    EXPECT_FALSE(std::regex_search(prose, found, sentence)) << found.str();
    EXPECT_FALSE(std::regex_search(prose, found, name)) << found.prefix().str() << found.str();
    EXPECT_EQ(HalfWidth(prose), "");
  }
}

}  // namespace
}  // namespace penstock::analyzer
