// SPDX-License-Identifier: Apache-2.0
//
// The keyboard. Keys have GLFW's numbers. Dear ImGui 1.86 uses the same numbers. Later versions
// have their own numbers, and receive keys through a queue.
#pragma once

#include <GLFW/glfw3.h>
#include <imgui.h>

namespace penstock::gui {

enum class Key : int {
  kA = GLFW_KEY_A,
  kB = GLFW_KEY_B,
  kC = GLFW_KEY_C,
  kD = GLFW_KEY_D,
  kE = GLFW_KEY_E,
  kF = GLFW_KEY_F,
  kH = GLFW_KEY_H,
  kL = GLFW_KEY_L,
  kM = GLFW_KEY_M,
  kO = GLFW_KEY_O,
  kP = GLFW_KEY_P,
  kQ = GLFW_KEY_Q,
  kR = GLFW_KEY_R,
  kS = GLFW_KEY_S,
  kW = GLFW_KEY_W,
  k0 = GLFW_KEY_0,
  k1 = GLFW_KEY_1,
  k9 = GLFW_KEY_9,
  kComma = GLFW_KEY_COMMA,
  kPeriod = GLFW_KEY_PERIOD,
  kSlash = GLFW_KEY_SLASH,
  kOpenBracket = GLFW_KEY_LEFT_BRACKET,
  kCloseBracket = GLFW_KEY_RIGHT_BRACKET,
  kPlus = GLFW_KEY_EQUAL,
  kMinus = GLFW_KEY_MINUS,
  kPadPlus = GLFW_KEY_KP_ADD,
  kPadMinus = GLFW_KEY_KP_SUBTRACT,
  kEscape = GLFW_KEY_ESCAPE,
  kSpace = GLFW_KEY_SPACE,
  kEnter = GLFW_KEY_ENTER,
  kHome = GLFW_KEY_HOME,
  kLeft = GLFW_KEY_LEFT,
  kRight = GLFW_KEY_RIGHT,
  kUp = GLFW_KEY_UP,
  kDown = GLFW_KEY_DOWN,
  kPageUp = GLFW_KEY_PAGE_UP,
  kPageDown = GLFW_KEY_PAGE_DOWN,
  kF1 = GLFW_KEY_F1,
  kF5 = GLFW_KEY_F5,
  kF6 = GLFW_KEY_F6,
  kF10 = GLFW_KEY_F10,
  kMenu = GLFW_KEY_MENU,
  kV = GLFW_KEY_V,
};

[[nodiscard]] inline Key Digit(int digit) {
  return static_cast<Key>(GLFW_KEY_0 + digit);
}

// Whether the key was pressed now, or repeats while held. While text is typed, letters belong to
// the text field.
[[nodiscard]] bool Pressed(Key key, bool repeat = false);
[[nodiscard]] bool Held(Key key);
[[nodiscard]] bool AnyHeld();
[[nodiscard]] inline bool Typing() {
  return ImGui::GetIO().WantTextInput;
}

// An event from GLFW's key callback. It may be handled later, so it holds the modifiers at the time
// of the event. `window` is nullptr in tests.
struct KeyEvent {
  int key = 0;
  int scancode = 0;
  int action = 0;
  int mods = 0;
};
void SendKey(GLFWwindow* window, const KeyEvent& event);
// For a context without a window: tells ImGui which keys of SendKey() have a meaning in a text
// field, and which move the keyboard's frame.
void KnowKeys();
// Whether events are left for the next frame, which must then be drawn at once. Call it after
// NewFrame().
[[nodiscard]] bool EventsWait();

}  // namespace penstock::gui
