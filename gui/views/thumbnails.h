// SPDX-License-Identifier: Apache-2.0
//
// Pictures of samples, drawn as one rectangle for each of their at most 9216 pixels, which needs no
// texture. That is 36,864 vertices: one picture to a draw list.
#pragma once

#include <string>

#include "gui/views/workspace.h"

namespace penstock::gui {

inline constexpr int kThumbnailSide = 96;  // pixels of the longer side

// The thumbnail of a file. nullptr: the file has none (MayHaveThumbnail), it is being made, or the
// trace comes from another machine, whose file of this name may show something else.
[[nodiscard]] const Thumbnail* ThumbnailOf(Workspace& workspace, const std::string& path);

// Draws it with its upper left corner at `at`. `cell`: logical pixels of one of its pixels.
void DrawThumbnail(const Ui& ui, const Thumbnail& thumbnail, ImVec2 at, float cell);

// "1920 x 1080 px, 812 kB".
[[nodiscard]] std::string ThumbnailNote(const Thumbnail& thumbnail);

}  // namespace penstock::gui
