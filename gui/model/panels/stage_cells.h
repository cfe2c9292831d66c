// SPDX-License-Identifier: Apache-2.0
//
// The texts in the table of the stages view. A figure that is not known, or that fits none of its
// calls, is a dash. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gui/model/panels/stages.h"
#include "gui/model/words/texts.h"

namespace penstock::gui {

inline constexpr std::string_view kDash = "–";

// The title of a row: a stage in the window's language, with the number of its devices if there are
// several; a part under its own name of at most `most` characters.
[[nodiscard]] std::string TitleOf(const StageLine& line, std::size_t most, Language language);

// The same without devices, for a sentence: "How long one call of kernel takes".
[[nodiscard]] std::string NameOf(const StageLine& line, std::size_t most, Language language);

[[nodiscard]] std::string CellText(const StageLine& line, StageColumn column, Language language);

// The words for a call, such as "12.jpg", "sample 12", "batch 3 of epoch 0", "rank 1", "PIL.open":
// first the file and the sample, which one looks for. A decode whose image another call opened
// names both calls. `batch`: the name of its batch; "": none. `ranks`: the run has several, so
// batches of one name.
[[nodiscard]] std::vector<std::string> CallParts(const traces::Trace& trace, const StageLine& line,
                                                 const Call& call, const std::string& batch,
                                                 bool ranks, Language language);

// The first parts that fit as a whole, because half a number would be wrong, and "…" for the rest.
// "": the first part does not fit. `fits`: whether a line has room for a text.
[[nodiscard]] std::string FittingParts(std::span<const std::string> parts,
                                       const std::function<bool(const std::string&)>& fits);

}  // namespace penstock::gui
