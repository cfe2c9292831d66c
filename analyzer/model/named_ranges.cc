// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/named_ranges.h"

#include <algorithm>
#include <array>

namespace penstock::analyzer {
namespace {

using traces::StageId;

// Whether the range is the decoding of one picture, such as "libjpeg_turbo_decoder process #3".
bool IsPicture(std::string_view name) {
  constexpr std::string_view kBefore = "_decoder process #";
  const std::size_t at = name.find(kBefore);
  if (at == std::string_view::npos || at == 0) return false;
  const std::string_view number = name.substr(at + kBefore.size());
  return !number.empty() &&
         std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Operators whose work is recorded elsewhere: reads have spans, pictures have their own ranges.
bool IsToldElsewhere(std::string_view op) {
  constexpr std::array<std::string_view, 4> kPrefixes = {"readers__", "decoders__", "ImageDecoder",
                                                         "ExternalSource"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return op.starts_with(prefix); });
}

}  // namespace

StageId StageOfRange(std::string_view name) {
  constexpr std::string_view kRun = "[DALI][CPU op] Run ";
  if (IsPicture(name)) return StageId::kDecode;
  if (!name.starts_with(kRun)) return StageId::kMark;
  const std::string_view op = name.substr(kRun.size());
  if (op.empty() || IsToldElsewhere(op)) return StageId::kMark;
  return op == "MakeContiguous" ? StageId::kCollate : StageId::kAugment;
}

StageId NamedRanges::StageOfMark(StringId name) {
  const auto [found, added] = known_.try_emplace(name.value, StageId::kMark);
  if (added) found->second = StageOfRange(trace_.String(name));
  return found->second;
}

const traces::Span& NamedRanges::AsNamed(const traces::Span& span) {
  const StageId stage = StageOf(span);
  if (stage == span.stage) return span;
  named_ = span;
  named_.stage = stage;
  return named_;
}

bool NamedRanges::Opens(const traces::Span& span) {
  if (span.stage != traces::StageId::kDecode) return false;
  const auto [found, added] = opens_.try_emplace(span.name.value, false);
  if (added) found->second = trace_.String(span.name) == "PIL.open";
  return found->second;
}

}  // namespace penstock::analyzer
