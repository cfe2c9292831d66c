// SPDX-License-Identifier: Apache-2.0
//
// Pictures of samples, drawn as one rectangle for each of their few thousand pixels: so they need
// no texture, and look the same in every renderer.
#pragma once

#include <string>

#include "gui/views/workspace.h"

namespace penstock::gui {

inline constexpr int kThumbnailSide = 96;  // pixels of the longer side

// The thumbnail of a file. nullptr: the file has none (MayHaveThumbnail), or it is being made.
[[nodiscard]] const Thumbnail* ThumbnailOf(Workspace& workspace, const std::string& path);

// Draws it with its upper left corner at `at`. `cell`: logical pixels of one of its pixels.
void DrawThumbnail(const Ui& ui, const Thumbnail& thumbnail, ImVec2 at, float cell);

// "1920 x 1080 px, 812 kB".
[[nodiscard]] std::string ThumbnailNote(const Thumbnail& thumbnail);

}  // namespace penstock::gui
