// SPDX-License-Identifier: Apache-2.0
//
// Panels of the compare view; one file each.
#pragma once

#include "gui/views/workspace.h"

namespace penstock::gui {

// Colours of the two sides: A is muted, B is the accent.
[[nodiscard]] Rgb SideColour(const Ui& ui, bool b);

// Time of one sample in each stage, in both, and how sure the difference is.
void DrawCompareStages(const Ui& ui, const CompareAnswer& answer, Area area);
// Settings that differ, and findings that came or went. Long values are wrapped.
[[nodiscard]] float CompareSettingsHeight(const Ui& ui, const std::vector<SettingChange>& settings,
                                          float width);
void DrawCompareSettings(const Ui& ui, const std::vector<SettingChange>& settings, Area area);
void DrawCompareFindings(const Ui& ui, const CompareAnswer& answer, Area area);

}  // namespace penstock::gui
