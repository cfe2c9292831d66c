// SPDX-License-Identifier: Apache-2.0
//
// Traces with two loaders. A person or a command line chooses one of them. Meanwhile the trace is
// loaded, grows or is closed.
#include <filesystem>
#include <memory>
#include <utility>

#include "gui/model/timeline/place.h"
#include "tests/gui/walk/walk.h"
#include "traces/pack.h"
#include "traces/translate.h"

namespace penstock::gui {
namespace {

using testing::DocumentOf;

class WalkLoader : public testing::Walk {};

TEST_F(WalkLoader, TheChosenOneStaysWhenAnotherBecomesTheMainOne) {
  const Document document = DocumentOf(testing::TwoLoaders());
  app_->Show(document);
  workspace().view = ViewId::kWhatIf;
  workspace().ChooseLoader("train.py:88");
  EXPECT_FALSE(workspace().PartFor(ViewId::kWhatIf).has_value())
      << "the run is shown for it anyway";
  // A newer analysis: by then the loop has waited longer for the other loader.
  workspace().document.analysis =
      AnalysePart(*document.trace, "run.penstock", 0, true, "train.py:97");
  const auto wanted = workspace().PartFor(ViewId::kWhatIf);
  ASSERT_TRUE(wanted.has_value());
  EXPECT_EQ(wanted->loader, "train.py:88");
  ASSERT_TRUE(Until([this] { return workspace().part != nullptr; }));
  EXPECT_EQ(workspace().part->analysis->report.diagnosis.run.loader().name, "train.py:88");
}

TEST_F(WalkLoader, ViewsThatAddUpAllLoadersOfferNoChoiceOfOne) {
  app_->Show(DocumentOf(testing::TwoLoaders()));
  for (const ViewInfo& view : kViews) {
    workspace().view = view.id;
    const bool one =
        view.id == ViewId::kOverview || view.id == ViewId::kWhatIf || view.id == ViewId::kWorkers;
    EXPECT_EQ(ObeysLoader(view.id), one) << view.name;
    workspace().ChooseLoader("train.py:97");
    EXPECT_EQ(workspace().PartFor(view.id).has_value(), one) << view.name;
    Frames(2);
  }
}

TEST_F(WalkLoader, AClosedTraceAndItsAnalysisAreFreed) {
  Document document = DocumentOf(testing::TwoLoaders());
  const std::weak_ptr<const traces::Trace> trace = document.trace;
  const std::weak_ptr<const Analysis> analysis = document.analysis;
  app_->Show(std::exchange(document, {}));
  workspace().view = ViewId::kOverview;
  Frames(2);
  EXPECT_FALSE(analysis.expired());
  app_->Show(DocumentOf(analyzer::testing::SyntheticTrace({})));
  EXPECT_TRUE(trace.expired());
  EXPECT_TRUE(analysis.expired());
}

TEST_F(WalkLoader, AnUnknownOneOfACommandLineIsRefused) {
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / "penstock_walk_loader.penstock";
  auto packer = traces::CreatePacked(path);
  ASSERT_TRUE(packer.has_value());
  traces::CopyTrace(*testing::TwoLoaders(), **packer);
  ASSERT_TRUE((*packer)->Finish().has_value());
  Place place;
  place.loader = "train.py:1";
  app_->WantPlace(place);
  app_->Open(path);  // its timeline and its analysis become ready in either order
  ASSERT_TRUE(Until([this] {
    const Document& document = workspace().document;
    return document.complete() && document.analysis != nullptr && !app_->loading();
  }));
  EXPECT_TRUE(workspace().loader.empty());
  EXPECT_TRUE(app_->notice().failed());
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace penstock::gui
