// SPDX-License-Identifier: Apache-2.0
#include "gui/widgets/keys.h"

#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace penstock::gui {

#if IMGUI_VERSION_NUM < 18700

bool Pressed(Key key, bool repeat) {
  return ImGui::IsKeyPressed(static_cast<int>(key), repeat);
}

bool Held(Key key) {
  return ImGui::IsKeyDown(static_cast<int>(key));
}

bool AnyHeld() {
  const ImGuiIO& io = ImGui::GetIO();
  return std::any_of(std::begin(io.KeysDown), std::end(io.KeysDown),
                     [](bool down) { return down; });
}

void SendKey(GLFWwindow* /*window*/, const KeyEvent& event) {
  ImGuiIO& io = ImGui::GetIO();
  if (event.key < 0 || event.key >= static_cast<int>(std::size(io.KeysDown))) return;
  if (event.action == GLFW_PRESS) io.KeysDown[event.key] = true;
  if (event.action == GLFW_RELEASE) io.KeysDown[event.key] = false;
  io.KeyCtrl = io.KeysDown[GLFW_KEY_LEFT_CONTROL] || io.KeysDown[GLFW_KEY_RIGHT_CONTROL];
  io.KeyShift = io.KeysDown[GLFW_KEY_LEFT_SHIFT] || io.KeysDown[GLFW_KEY_RIGHT_SHIFT];
  io.KeyAlt = io.KeysDown[GLFW_KEY_LEFT_ALT] || io.KeysDown[GLFW_KEY_RIGHT_ALT];
  io.KeySuper = io.KeysDown[GLFW_KEY_LEFT_SUPER] || io.KeysDown[GLFW_KEY_RIGHT_SUPER];
}

void KnowKeys() {
  constexpr std::array<std::array<int, 2>, 7> kKnown = {{{ImGuiKey_Enter, GLFW_KEY_ENTER},
                                                         {ImGuiKey_Escape, GLFW_KEY_ESCAPE},
                                                         {ImGuiKey_Space, GLFW_KEY_SPACE},
                                                         {ImGuiKey_LeftArrow, GLFW_KEY_LEFT},
                                                         {ImGuiKey_RightArrow, GLFW_KEY_RIGHT},
                                                         {ImGuiKey_UpArrow, GLFW_KEY_UP},
                                                         {ImGuiKey_DownArrow, GLFW_KEY_DOWN}}};
  for (const auto& [key, glfw] : kKnown) ImGui::GetIO().KeyMap[key] = glfw;
}

bool EventsWait() {
  return false;
}

#else

namespace {

// The first and the last key of a range that is consecutive in GLFW's and in ImGui's numbers.
struct KeyRow {
  int first;
  int last;
  ImGuiKey imgui;
};
constexpr std::array kKeyRows = {
    KeyRow{GLFW_KEY_A, GLFW_KEY_Z, ImGuiKey_A},
    KeyRow{GLFW_KEY_0, GLFW_KEY_9, ImGuiKey_0},
    KeyRow{GLFW_KEY_F1, GLFW_KEY_F12, ImGuiKey_F1},
    KeyRow{GLFW_KEY_KP_0, GLFW_KEY_KP_9, ImGuiKey_Keypad0},
};

struct KeyPair {
  int glfw;
  ImGuiKey imgui;
};
constexpr std::array kKeyPairs = {
    KeyPair{GLFW_KEY_TAB, ImGuiKey_Tab},
    KeyPair{GLFW_KEY_LEFT, ImGuiKey_LeftArrow},
    KeyPair{GLFW_KEY_RIGHT, ImGuiKey_RightArrow},
    KeyPair{GLFW_KEY_UP, ImGuiKey_UpArrow},
    KeyPair{GLFW_KEY_DOWN, ImGuiKey_DownArrow},
    KeyPair{GLFW_KEY_PAGE_UP, ImGuiKey_PageUp},
    KeyPair{GLFW_KEY_PAGE_DOWN, ImGuiKey_PageDown},
    KeyPair{GLFW_KEY_HOME, ImGuiKey_Home},
    KeyPair{GLFW_KEY_END, ImGuiKey_End},
    KeyPair{GLFW_KEY_INSERT, ImGuiKey_Insert},
    KeyPair{GLFW_KEY_DELETE, ImGuiKey_Delete},
    KeyPair{GLFW_KEY_BACKSPACE, ImGuiKey_Backspace},
    KeyPair{GLFW_KEY_SPACE, ImGuiKey_Space},
    KeyPair{GLFW_KEY_ENTER, ImGuiKey_Enter},
    KeyPair{GLFW_KEY_ESCAPE, ImGuiKey_Escape},
    KeyPair{GLFW_KEY_APOSTROPHE, ImGuiKey_Apostrophe},
    KeyPair{GLFW_KEY_COMMA, ImGuiKey_Comma},
    KeyPair{GLFW_KEY_MINUS, ImGuiKey_Minus},
    KeyPair{GLFW_KEY_PERIOD, ImGuiKey_Period},
    KeyPair{GLFW_KEY_SLASH, ImGuiKey_Slash},
    KeyPair{GLFW_KEY_SEMICOLON, ImGuiKey_Semicolon},
    KeyPair{GLFW_KEY_EQUAL, ImGuiKey_Equal},
    KeyPair{GLFW_KEY_LEFT_BRACKET, ImGuiKey_LeftBracket},
    KeyPair{GLFW_KEY_BACKSLASH, ImGuiKey_Backslash},
    KeyPair{GLFW_KEY_RIGHT_BRACKET, ImGuiKey_RightBracket},
    KeyPair{GLFW_KEY_GRAVE_ACCENT, ImGuiKey_GraveAccent},
    KeyPair{GLFW_KEY_KP_DECIMAL, ImGuiKey_KeypadDecimal},
    KeyPair{GLFW_KEY_KP_DIVIDE, ImGuiKey_KeypadDivide},
    KeyPair{GLFW_KEY_KP_MULTIPLY, ImGuiKey_KeypadMultiply},
    KeyPair{GLFW_KEY_KP_SUBTRACT, ImGuiKey_KeypadSubtract},
    KeyPair{GLFW_KEY_KP_ADD, ImGuiKey_KeypadAdd},
    KeyPair{GLFW_KEY_KP_ENTER, ImGuiKey_KeypadEnter},
    KeyPair{GLFW_KEY_KP_EQUAL, ImGuiKey_KeypadEqual},
    KeyPair{GLFW_KEY_LEFT_SHIFT, ImGuiKey_LeftShift},
    KeyPair{GLFW_KEY_LEFT_CONTROL, ImGuiKey_LeftCtrl},
    KeyPair{GLFW_KEY_LEFT_ALT, ImGuiKey_LeftAlt},
    KeyPair{GLFW_KEY_LEFT_SUPER, ImGuiKey_LeftSuper},
    KeyPair{GLFW_KEY_RIGHT_SHIFT, ImGuiKey_RightShift},
    KeyPair{GLFW_KEY_RIGHT_CONTROL, ImGuiKey_RightCtrl},
    KeyPair{GLFW_KEY_RIGHT_ALT, ImGuiKey_RightAlt},
    KeyPair{GLFW_KEY_RIGHT_SUPER, ImGuiKey_RightSuper},
    KeyPair{GLFW_KEY_MENU, ImGuiKey_Menu},
};

ImGuiKey ImGuiKeyOf(int key) {
  for (const KeyRow& row : kKeyRows) {
    if (key >= row.first && key <= row.last) {
      return static_cast<ImGuiKey>(row.imgui + (key - row.first));
    }
  }
  for (const KeyPair& single : kKeyPairs) {
    if (single.glfw == key) return single.imgui;
  }
  return ImGuiKey_None;
}

// GLFW numbers keys by their place on an American keyboard. Returns the number of the key by its
// label, so that Ctrl+A is the key with the label A on this keyboard.
int AsLabelled(GLFWwindow* window, int key, int scancode) {
  if (window == nullptr || key < GLFW_KEY_SPACE || key > GLFW_KEY_GRAVE_ACCENT) return key;
  const char* name = glfwGetKeyName(key, scancode);
  if (name == nullptr || name[0] == '\0' || name[1] != '\0') return key;
  if (name[0] >= 'a' && name[0] <= 'z') return GLFW_KEY_A + (name[0] - 'a');
  if (name[0] >= 'A' && name[0] <= 'Z') return GLFW_KEY_A + (name[0] - 'A');
  return key;
}

// The modifiers that are held after the event. For the event of a modifier key, X11 reports those
// that were held before it.
int ModifiersAfter(const KeyEvent& event) {
  int own = 0;
  switch (event.key) {
    case GLFW_KEY_LEFT_SHIFT:
    case GLFW_KEY_RIGHT_SHIFT:
      own = GLFW_MOD_SHIFT;
      break;
    case GLFW_KEY_LEFT_CONTROL:
    case GLFW_KEY_RIGHT_CONTROL:
      own = GLFW_MOD_CONTROL;
      break;
    case GLFW_KEY_LEFT_ALT:
    case GLFW_KEY_RIGHT_ALT:
      own = GLFW_MOD_ALT;
      break;
    case GLFW_KEY_LEFT_SUPER:
    case GLFW_KEY_RIGHT_SUPER:
      own = GLFW_MOD_SUPER;
      break;
    default:
      break;
  }
  return event.action == GLFW_RELEASE ? event.mods & ~own : event.mods | own;
}

#if IMGUI_VERSION_NUM < 18900
constexpr ImGuiKey kCtrl = ImGuiKey_ModCtrl;
constexpr ImGuiKey kShift = ImGuiKey_ModShift;
constexpr ImGuiKey kAlt = ImGuiKey_ModAlt;
constexpr ImGuiKey kSuper = ImGuiKey_ModSuper;
#else
constexpr ImGuiKey kCtrl = ImGuiMod_Ctrl;
constexpr ImGuiKey kShift = ImGuiMod_Shift;
constexpr ImGuiKey kAlt = ImGuiMod_Alt;
constexpr ImGuiKey kSuper = ImGuiMod_Super;
#endif

}  // namespace

bool Pressed(Key key, bool repeat) {
  return ImGui::IsKeyPressed(ImGuiKeyOf(static_cast<int>(key)), repeat);
}

bool Held(Key key) {
  return ImGui::IsKeyDown(ImGuiKeyOf(static_cast<int>(key)));
}

bool AnyHeld() {
  const auto down = [](ImGuiKey key) { return ImGui::IsKeyDown(key); };
  for (const KeyRow& row : kKeyRows) {
    for (int key = row.first; key <= row.last; ++key) {
      if (down(ImGuiKeyOf(key))) return true;
    }
  }
  return std::any_of(kKeyPairs.begin(), kKeyPairs.end(),
                     [&](const KeyPair& single) { return down(single.imgui); });
}

// Does not use ImGui's backend for GLFW: it would take the present modifiers, not those of the
// event.
void SendKey(GLFWwindow* window, const KeyEvent& event) {
  if (event.action != GLFW_PRESS && event.action != GLFW_RELEASE)
    return;  // ImGui makes its own repeats
  ImGuiIO& io = ImGui::GetIO();
  const int mods = ModifiersAfter(event);
  io.AddKeyEvent(kCtrl, (mods & GLFW_MOD_CONTROL) != 0);
  io.AddKeyEvent(kShift, (mods & GLFW_MOD_SHIFT) != 0);
  io.AddKeyEvent(kAlt, (mods & GLFW_MOD_ALT) != 0);
  io.AddKeyEvent(kSuper, (mods & GLFW_MOD_SUPER) != 0);
  const ImGuiKey key = ImGuiKeyOf(AsLabelled(window, event.key, event.scancode));
  if (key != ImGuiKey_None) io.AddKeyEvent(key, event.action == GLFW_PRESS);
}

void KnowKeys() {}

bool EventsWait() {
  return !ImGui::GetCurrentContext()->InputEventsQueue.empty();
}

#endif

}  // namespace penstock::gui
