// SPDX-License-Identifier: Apache-2.0
//
// The loader that a command line asks for, while a trace is loaded or grows.
#include <filesystem>

#include "gui/model/timeline/place.h"
#include "tests/gui/walk/walk.h"
#include "traces/pack.h"
#include "traces/translate.h"

namespace penstock::gui {
namespace {

class WalkLoader : public testing::Walk {};

TEST_F(WalkLoader, AnUnknownOneIsRefusedWhicheverPartOfTheTraceComesFirst) {
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / "penstock_walk_loader.penstock";
  auto packer = traces::CreatePacked(path);
  ASSERT_TRUE(packer.has_value());
  traces::CopyTrace(*testing::TwoLoaders(), **packer);
  ASSERT_TRUE((*packer)->Finish().has_value());
  Place place;
  place.loader = "train.py:1";
  app_->WantPlace(place);
  app_->Open(path);
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
