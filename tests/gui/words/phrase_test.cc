// SPDX-License-Identifier: Apache-2.0
//
// Makes the analyzer say its sentences, and checks that each also has a Chinese text.
#include <gtest/gtest.h>

#include "analyzer/report/compare.h"
#include "analyzer/report/coverage.h"
#include "analyzer/report/html_data.h"
#include "gui/model/panels/whatif.h"
#include "gui/model/words/texts.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::gui {
namespace {

using analyzer::Diagnosis;
using analyzer::testing::Always;
using analyzer::testing::Synthetic;
using analyzer::testing::SyntheticTrace;

Diagnosis Of(const Synthetic& run) {
  return analyzer::Diagnose(*SyntheticTrace(run));
}

void ExpectChinese(const analyzer::Statement& statement) {
  ASSERT_FALSE(statement.empty());
  const std::string english = English(statement);
  const std::string chinese = Render(statement, Language::kChinese);
  EXPECT_NE(chinese, english);
  EXPECT_EQ(chinese.find(" the "), std::string::npos) << chinese;
  EXPECT_EQ(chinese.find('{'), std::string::npos) << chinese;
}

void ExpectNotes(const Diagnosis& diagnosis, const WhatIf& chosen, std::size_t least) {
  const auto answer = Ask(diagnosis, chosen);
  ASSERT_TRUE(answer);
  EXPECT_GE(answer->notes.size(), least);
  for (const analyzer::Statement& note : answer->notes) ExpectChinese(note);
}

TEST(PhraseTest, EveryNoteThatTheSlidersCauseIsChinese) {
  const Diagnosis diagnosis = Of({.costs = Always({.read = 4, .decode = 12, .step = 4})});
  const WhatIf recorded = Recorded(diagnosis);
  WhatIf chosen = recorded;
  chosen.batch = 2 * recorded.batch;
  ExpectNotes(diagnosis, chosen, 1);
  chosen.step = 0.05;
  ExpectNotes(diagnosis, chosen, 1);
  chosen = recorded;
  chosen.pin = !recorded.pin;
  ExpectNotes(diagnosis, chosen, 1);
  chosen = recorded;
  chosen.changes.gpu_augment = true;
  ExpectNotes(diagnosis, chosen, 2);
  chosen.changes.gpu_decode = true;
  ExpectNotes(diagnosis, chosen, 3);
}

TEST(PhraseTest, EveryNoteOfARecordingIsChinese) {
  Diagnosis diagnosis = Of({.workers = 0, .costs = Always({.read = 4, .decode = 12, .step = 4})});
  WhatIf chosen = Recorded(diagnosis);
  chosen.workers = 2;
  ExpectNotes(diagnosis, chosen, 1);  // without workers, no handover was recorded
  diagnosis = Of({.costs = Always({.read = 4, .decode = 12, .step = 4})});
  chosen = Recorded(diagnosis);
  diagnosis.loader->cpu.known = false;
  diagnosis.loader->pipeline.crowded = true;
  diagnosis.loader->pipeline.others = 1.5;
  diagnosis.loader->pipeline.device_per_sample = 0.002;
  ExpectNotes(diagnosis, chosen, 3);
  diagnosis.loader->pipeline.turns = true;
  ExpectNotes(diagnosis, chosen, 3);
}

TEST(PhraseTest, WhatIsMissingIsChinese) {
  ExpectChinese(analyzer::NotEnough(analyzer::Diagnose(*traces::MakeTrace({}))));
  const Diagnosis diagnosis = Of({.costs = Always({.decode = 12, .step = 4})});
  const auto missing = [&](const auto& change) {
    analyzer::LoaderDiagnosis loader = *diagnosis.loader;
    analyzer::LoaderRun run = diagnosis.run.loader();
    change(loader, run);
    ExpectChinese(analyzer::Missing(loader, run));
  };
  missing([](auto&, auto& run) { run.config.fixed_batch = true; });
  missing([](auto& loader, auto&) { loader.steady.batches = 0; });
  missing([](auto& loader, auto& run) {
    loader.fetched = 0.2;
    run.config.sample_tasks = true;
  });
  missing([](auto& loader, auto& run) {
    loader.fetched = 0.2;
    run.config.package = "grain";
  });
  missing([](auto& loader, auto& run) {
    loader.fetched = 0.2;
    run.config.package.clear();
  });
  missing([](auto& loader, auto&) { loader.steady.steady = false; });
  missing([](auto& loader, auto&) { loader.replay.simulated = 3 * loader.replay.measured; });
}

TEST(PhraseTest, WhyThereIsNoPlotAndNoComparisonIsChinese) {
  for (const Synthetic& run : {Synthetic{.workers = 0}, Synthetic{.batches = 0}}) {
    const auto trace = SyntheticTrace(run);
    const analyzer::Report report = analyzer::BuildReport(*trace, "t");
    ExpectChinese(analyzer::BuildPlots(*trace, report).queue.missing);
  }
}

TEST(PhraseTest, LibrariesThatAreNotSeenAreNamedInChinese) {
  for (const char* library :
       {"libnvjpeg2k.so", "libnvjpeg.so", "libnvimgcodec.so", "libdali.so", "simplejpeg.so",
        "libtensorflow.so", "libdecord.so", "libtorchcodec.so", "libnvcuvid.so", "libcufile.so",
        "libaio.so", "libheif.so", "libavif.so", "libdav1d.so", "libtiff.so", "libopenjp2.so",
        "libjxl.so", "libkvikio.so"}) {
    const analyzer::Statement what = analyzer::SightOf(library).what;
    ExpectChinese(what);
    const std::string text = Render(what, Language::kChinese);
    EXPECT_EQ(text.find("ecoding"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace penstock::gui
