// SPDX-License-Identifier: Apache-2.0
#include "gui/views/thumbnails.h"

#include <unistd.h>

#include <array>

#include <fmt/core.h>

#include "analyzer/words/format.h"

namespace penstock::gui {
namespace {

bool IsOfThisHost(const Workspace& workspace) {
  if (workspace.document.trace == nullptr) return false;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return false;
  const auto& facts = workspace.document.trace->facts();
  const auto host = facts.find("host");
  return host != facts.end() && host->second == name.data();
}

}  // namespace

const Thumbnail* ThumbnailOf(Workspace& workspace, const std::string& path) {
  if (!MayHaveThumbnail(path) || !IsOfThisHost(workspace)) return nullptr;
  // The window must not wait for a read that hangs: the job of the previous file is forgotten, not
  // joined.
  if (workspace.thumbnail_of != path) workspace.thumbnail.Forget();
  workspace.thumbnail_of = path;
  const Thumbnail* thumbnail = workspace.thumbnail.Get(
      path, workspace.at_once,
      [path](const std::stop_token& stop) { return ReadThumbnail(path, kThumbnailSide, stop); });
  return thumbnail == nullptr || thumbnail->empty() ? nullptr : thumbnail;
}

void DrawThumbnail(const Ui& ui, const Thumbnail& thumbnail, ImVec2 at, float cell) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float side = ui.Px(cell);
  const std::uint8_t* pixel = thumbnail.pixels.data();
  for (int y = 0; y < thumbnail.height; ++y) {
    const float top = at.y + static_cast<float>(y) * side;
    for (int x = 0; x < thumbnail.width; ++x, pixel += 3) {
      const float left = at.x + static_cast<float>(x) * side;
      list->AddRectFilled({left, top}, {left + side, top + side},
                          IM_COL32(pixel[0], pixel[1], pixel[2], 255));
    }
  }
}

std::string ThumbnailNote(const Thumbnail& thumbnail) {
  return fmt::format("{} x {} px, {}", thumbnail.picture_width, thumbnail.picture_height,
                     analyzer::BytesText(thumbnail.bytes));
}

}  // namespace penstock::gui
