// SPDX-License-Identifier: Apache-2.0
#include "tests/gui/layout/text_calls.h"

#include <algorithm>
#include <cfloat>
#include <cstring>
#include <utility>

// The linker sends each call of ImDrawList::AddText() to the __wrap_ function of its symbol. The
// __real_ function is the library's own. The longer overload has a symbol that depends on the
// version: from Dear ImGui 1.92 on, the type of its font is another one.
#define PENSTOCK_LONG_CONST "_ZN10ImDrawList7AddTextEPK6ImFontfRK6ImVec2jPKcS7_fPK6ImVec4"
#define PENSTOCK_LONG_MUTABLE "_ZN10ImDrawList7AddTextEP6ImFontfRK6ImVec2jPKcS6_fPK6ImVec4"
#define PENSTOCK_SHORT "_ZN10ImDrawList7AddTextERK6ImVec2jPKcS4_"

namespace {

using penstock::gui::testing::TextCall;

std::vector<TextCall>& Calls() {
  static std::vector<TextCall> calls;
  return calls;
}

using Draw = void(ImDrawList*, const ImFont*, float, const ImVec2&, ImU32, const char*, const char*,
                  float, const ImVec4*);

void Note(Draw* draw, ImDrawList* list, const ImFont* font, float size, const ImVec2& at,
          ImU32 colour, const char* begin, const char* end, float wrap, const ImVec4* fine) {
  TextCall call;
  call.list = list;
  call.text.assign(begin, end != nullptr ? end : begin + std::strlen(begin));
  call.font = font != nullptr ? font : ImGui::GetFont();
  call.size = size > 0 ? size : ImGui::GetFontSize();
  call.colour = colour;
  const char* text = call.text.data();
  const ImVec2 extent = const_cast<ImFont*>(call.font)->CalcTextSizeA(
      call.size, FLT_MAX, wrap, text, text + call.text.size());
  call.min = at;
  call.max = {at.x + extent.x, at.y + extent.y};
  const ImVec2 clip_min = list->GetClipRectMin();
  const ImVec2 clip_max = list->GetClipRectMax();
  call.clip = {clip_min.x, clip_min.y, clip_max.x, clip_max.y};
  if (fine != nullptr) {
    call.clip = {std::max(call.clip.x, fine->x), std::max(call.clip.y, fine->y),
                 std::min(call.clip.z, fine->z), std::min(call.clip.w, fine->w)};
  }
  call.first = list->VtxBuffer.Size;
  draw(list, font, size, at, colour, begin, end, wrap, fine);
  call.end = list->VtxBuffer.Size;
  Calls().push_back(std::move(call));
}

}  // namespace

extern "C" {

Draw RealLongConst asm("__real_" PENSTOCK_LONG_CONST) __attribute__((weak));
Draw RealLongMutable asm("__real_" PENSTOCK_LONG_MUTABLE) __attribute__((weak));

void WrapLongConst(ImDrawList* list, const ImFont* font, float size, const ImVec2& at, ImU32 colour,
                   const char* begin, const char* end, float wrap,
                   const ImVec4* fine) asm("__wrap_" PENSTOCK_LONG_CONST);
void WrapLongMutable(ImDrawList* list, const ImFont* font, float size, const ImVec2& at,
                     ImU32 colour, const char* begin, const char* end, float wrap,
                     const ImVec4* fine) asm("__wrap_" PENSTOCK_LONG_MUTABLE);
void WrapShort(ImDrawList* list, const ImVec2& at, ImU32 colour, const char* begin,
               const char* end) asm("__wrap_" PENSTOCK_SHORT);

void WrapLongConst(ImDrawList* list, const ImFont* font, float size, const ImVec2& at, ImU32 colour,
                   const char* begin, const char* end, float wrap, const ImVec4* fine) {
  Note(RealLongConst, list, font, size, at, colour, begin, end, wrap, fine);
}

void WrapLongMutable(ImDrawList* list, const ImFont* font, float size, const ImVec2& at,
                     ImU32 colour, const char* begin, const char* end, float wrap,
                     const ImVec4* fine) {
  Note(RealLongMutable, list, font, size, at, colour, begin, end, wrap, fine);
}

// Calls the longer overload, as the library's own function does.
void WrapShort(ImDrawList* list, const ImVec2& at, ImU32 colour, const char* begin,
               const char* end) {
  list->AddText(ImGui::GetFont(), ImGui::GetFontSize(), at, colour, begin, end);
}

}  // extern "C"

namespace penstock::gui::testing {

std::vector<TextCall> TakeTextCalls() {
  return std::exchange(Calls(), {});
}

}  // namespace penstock::gui::testing
