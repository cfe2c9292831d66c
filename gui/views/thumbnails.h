// SPDX-License-Identifier: Apache-2.0
//
// Pictures of samples. Each pixel is drawn as a rectangle, so no texture is needed. A picture has
// at most 9216 pixels, which are 36,864 vertices: a draw list can hold only one picture.
#pragma once

#include <string>

#include "gui/views/workspace.h"

namespace penstock::gui {

inline constexpr int kThumbnailSide = 96;  // pixels of the longer side

// The thumbnail of a file. nullptr: the file has none (MayHaveThumbnail), it is being made, or the
// trace comes from another machine, where the file of this name may be another picture.
[[nodiscard]] const Thumbnail* ThumbnailOf(Workspace& workspace, const std::string& path);

// Draws the thumbnail with its upper left corner at `at`. `cell`: the side of each of its pixels,
// in logical pixels.
void DrawThumbnail(const Ui& ui, const Thumbnail& thumbnail, ImVec2 at, float cell);

// "1920 x 1080 px, 812 kB".
[[nodiscard]] std::string ThumbnailNote(const Thumbnail& thumbnail);

}  // namespace penstock::gui
