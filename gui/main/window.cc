// SPDX-License-Identifier: Apache-2.0
#include "gui/main/window.h"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "gui/main/app.h"
#include "gui/main/offscreen.h"
#include "gui/main/opengl.h"
#include "gui/views/state_text.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {
namespace {

// Popups, tables and tooltips need some frames to settle after an event.
constexpr int kSettleFrames = 4;

std::string& LastGlfwError() {
  static std::string text;
  return text;
}

void OnError(int /*code*/, const char* text) {
  LastGlfwError() = text;
}

struct Glfw {
  explicit Glfw([[maybe_unused]] bool wayland) {
    glfwSetErrorCallback(OnError);
#ifdef GLFW_PLATFORM
    // From 3.4 on, one GLFW supports both X11 and Wayland. On a desktop without Wayland it would
    // look for Wayland and write to standard error.
    if (!wayland && glfwPlatformSupported(GLFW_PLATFORM_X11) == GLFW_TRUE) {
      glfwInitHint(GLFW_PLATFORM, GLFW_PLATFORM_X11);
    }
#endif
    good = glfwInit() == GLFW_TRUE;
  }
  ~Glfw() {
    if (good) glfwTerminate();
  }
  Glfw(const Glfw&) = delete;
  Glfw& operator=(const Glfw&) = delete;
  bool good = false;
};

struct CloseWindow {
  void operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }
};

struct Imgui {
  Imgui(GLFWwindow* window, ImFontAtlas* fonts) {
    ImGui::CreateContext(fonts);
    ImGui::GetIO().IniFilename = nullptr;
    ImGui::GetIO().ConfigInputTextCursorBlink =
        false;  // otherwise an idle window would draw frames
    ImGui_ImplGlfw_InitForOpenGL(window, true);
    draws = ImGui_ImplOpenGL3_Init("#version 150");
  }
  ~Imgui() {
    if (draws) ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
  }
  Imgui(const Imgui&) = delete;
  Imgui& operator=(const Imgui&) = delete;
  bool draws = false;
};

// A key, or the character that it produced.
struct Typed {
  KeyEvent key;
  unsigned character = 0;
};

// The state that GLFW's callbacks find at the window.
struct WindowState {
  App* app = nullptr;
  OpenGl gl;
  std::deque<Typed> keys;
  int hold = 0;       // frames for which keys wait
  bool left = false;  // Dear ImGui has not taken all events
  // Something has happened that the frames drawn so far do not show. Other threads set it, too.
  std::atomic<bool> arrived{false};
};

WindowState& StateOf(GLFWwindow* window) {
  return *static_cast<WindowState*>(glfwGetWindowUserPointer(window));
}

void OnScale(GLFWwindow* window, float scale, float /*vertical*/) {
  StateOf(window).app->SetScreenScale(std::max(scale, 1.0F));
}

void OnDrop(GLFWwindow* window, int count, const char** paths) {
  std::vector<std::filesystem::path> dropped;
  for (int i = 0; i < count; ++i) dropped.emplace_back(paths[i]);
  StateOf(window).app->Dropped(dropped);
}

// Reads the drawn frame before it is on the screen.
Image ReadBack(const OpenGl& gl, int width, int height) {
  Image image;
  image.width = width;
  image.height = height;
  const auto row = static_cast<std::size_t>(width) * 3;
  std::vector<std::uint8_t> upward(row * static_cast<std::size_t>(height));
  gl.ReadBuffer(GL_BACK);
  gl.PixelStorei(GL_PACK_ALIGNMENT, 1);
  gl.ReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, upward.data());
  for (std::size_t y = static_cast<std::size_t>(height); y-- > 0;) {
    const auto begin = upward.begin() + static_cast<std::ptrdiff_t>(y * row);
    image.rgb.insert(image.rgb.end(), begin, begin + static_cast<std::ptrdiff_t>(row));
  }
  return image;
}

void OnKey(GLFWwindow* window, int key, int scancode, int action, int mods) {
  StateOf(window).keys.push_back({{key, scancode, action, mods}, 0});
  StateOf(window).arrived = true;
}

void OnCharacter(GLFWwindow* window, unsigned character) {
  StateOf(window).keys.push_back({{}, character});
  StateOf(window).arrived = true;
}

// Notes that the mouse has moved or a button was pressed or released, whatever it was.
void ListenToMouse(GLFWwindow* window) {
  glfwSetCursorPosCallback(
      window, [](GLFWwindow* of, double /*x*/, double /*y*/) { StateOf(of).arrived = true; });
  glfwSetMouseButtonCallback(window, [](GLFWwindow* of, int /*button*/, int /*action*/,
                                        int /*mods*/) { StateOf(of).arrived = true; });
  glfwSetScrollCallback(
      window, [](GLFWwindow* of, double /*x*/, double /*y*/) { StateOf(of).arrived = true; });
}

[[nodiscard]] bool IsModifier(int key) {
  return key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER;
}

// Delivers the keys of one frame. Dear ImGui looks at keys once per frame. Before version 1.87 it
// misses a key that goes down and up between two frames. A modifier that is released between two
// frames changes the meaning of a key. Therefore a frame gets the events up to the first key that
// goes down, and each key changes at most once in a frame. Later events wait for the next frame.
// Characters follow the keys that produced them.
//
// A text field that asks for the keyboard gets it some frames later. Until then only releases are
// delivered. Thus "/decode" typed without a pause becomes a search for "decode".
void DeliverKeys(GLFWwindow* window) {
  if (StateOf(window).left) return;
  std::deque<Typed>& keys = StateOf(window).keys;
  int& hold = StateOf(window).hold;
  if (StateOf(window).app->wants_keyboard() && !ImGui::GetIO().WantTextInput) hold = 3;
  const bool held = hold > 0;
  hold -= held ? 1 : 0;
  std::set<int> changed;
  bool pressed = false;
  while (!keys.empty()) {
    const Typed typed = keys.front();
    const KeyEvent& event = typed.key;
    // A release is delivered even while keys wait; otherwise the key would repeat.
    if (held && (typed.character != 0 || event.action != GLFW_RELEASE)) break;
    if (typed.character != 0) {
      keys.pop_front();
      ImGui_ImplGlfw_CharCallback(window, typed.character);
      continue;
    }
    if (pressed || !changed.insert(event.key).second) break;
    keys.pop_front();
    SendKey(window, event);
    pressed = event.action != GLFW_RELEASE && !IsModifier(event.key);
    // Escape leaves a field, which keeps the keyboard for one more frame.
    if (pressed && event.key == GLFW_KEY_ESCAPE) hold = 2;
  }
}

void DrawFrame(GLFWwindow* window, App& app) {
  if (app.TakeStyleChange()) {
    app.RebuildStyle();
    RemakeFontTexture();
  }
  DeliverKeys(window);
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
  StateOf(window).left = EventsWait();
  app.Frame();
  ImGui::Render();
  int width = 0;
  int height = 0;
  glfwGetFramebufferSize(window, &width, &height);
  const OpenGl& gl = StateOf(window).gl;
  gl.Viewport(0, 0, width, height);
  const ImVec4 ground = Tint(app.ui().palette().background);
  gl.ClearColor(ground.x, ground.y, ground.z, 1);
  gl.Clear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  if (const auto picture = app.TakePicture()) {
    app.Saved(*picture, WritePng(picture->string(), ReadBack(gl, width, height)));
  }
  glfwSwapBuffers(window);
}

// Writes what the window shows to a file for a test, whenever it has changed.
class StateFile {
 public:
  explicit StateFile(std::filesystem::path path) : path_(std::move(path)) {}
  void Write(App& app) {
    if (path_.empty()) return;
    std::string text = StateText(app.workspace());
    text.back() = ',';
    text += fmt::format(" \"commands\": {}, \"loading\": {}, \"error\": {}}}", app.commands_open(),
                        app.loading(), app.error().has_value());
    if (text == last_) return;
    last_ = text;
    const std::filesystem::path fresh = path_.string() + ".new";
    std::ofstream(fresh) << text << '\n';
    std::error_code ignored;
    std::filesystem::rename(fresh, path_, ignored);
  }

 private:
  std::filesystem::path path_;
  std::string last_;
};

// Waits for an event. During a load it waits for kProgress at most, so that the progress is drawn.
// Returns how many frames to draw after the next one. If no event came during a load, this is 0,
// which leaves the cores to the load.
int WaitForFrames(bool loading) {
  constexpr double kProgress = 0.1;  // seconds
  if (!loading) {
    glfwWaitEvents();
    return kSettleFrames;
  }
  const double began = glfwGetTime();
  glfwWaitEventsTimeout(kProgress);
  return glfwGetTime() - began >= 0.98 * kProgress ? 0 : kSettleFrames;
}

void Loop(GLFWwindow* window, App& app, StateFile& state) {
  int frames = app.loading() ? 1 : kSettleFrames;
  bool loading = true;
  while (glfwWindowShouldClose(window) == GLFW_FALSE && !app.quit()) {
    if (frames > 0) {
      glfwPollEvents();
      // A frame shows the effect of an event only in those parts that it draws after taking it.
      frames = StateOf(window).arrived.exchange(false) ? kSettleFrames : frames - 1;
    } else {
      frames = WaitForFrames(loading);
      StateOf(window).arrived = false;
    }
    if (glfwGetWindowAttrib(window, GLFW_ICONIFIED) == GLFW_TRUE) {
      frames = 0;
      continue;
    }
    DrawFrame(window, app);
    state.Write(app);
    loading = app.loading() || app.waiting();
    // Held keys move the view, and a caret blinks.
    if (AnyHeld() || StateOf(window).left || !StateOf(window).keys.empty() ||
        app.wants_keyboard() || ImGui::IsAnyMouseDown() || app.picture_pending() ||
        app.workspace().animating()) {
      frames = std::max(frames, 1);
    }
  }
}

// Opens the files. A sweep opens its own view unless --view names another; two traces are compared.
void OpenFiles(App& app, const Options& options) {
  for (const std::filesystem::path& path : options.files) {
    if (&path != &options.files.front() && KindOf(path) != FileKind::kJson && app.loading()) {
      app.OpenOther(path);
    } else {
      app.Open(path);
    }
  }
  if (options.view) app.workspace().view = *options.view;
  app.workspace().functions = options.functions;
}

}  // namespace

Result<void> RunWindow(const Options& options, Settings* settings) {
  Settings shown = *settings;
  if (options.theme) shown.theme = *options.theme;
  if (options.language) shown.language = *options.language;
  if (options.scale > 0) shown.scale = options.scale;
  EarlyFonts fonts(static_cast<float>(shown.scale), shown.language);
  const Glfw glfw(options.wayland);
  if (!glfw.good) {
    return Fail(ErrorKind::kEnvironment,
                "no window can be opened: " + LastGlfwError() +
                    "; without a display use --screenshot, or: penstock report --html");
  }
  // Files are read while the window is made.
  WindowState state;
  App app(shown, 1, [&state] {
    state.arrived = true;
    glfwPostEmptyEvent();
  });
  state.app = &app;
  app.UseFonts(&fonts);
  if (options.place.given()) app.WantPlace(options.place);
  app.UseNativeDialogs(options.search_path);
  app.UseMarks(options.marks);
  OpenFiles(app, options);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 2);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "penstock-gui");
  glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "penstock-gui");
  const int width = options.size_given ? options.width : settings->width;
  const int height = options.size_given ? options.height : settings->height;
  const std::unique_ptr<GLFWwindow, CloseWindow> window(
      glfwCreateWindow(width, height, "Penstock", nullptr, nullptr));
  if (!window) {
    return Fail(ErrorKind::kEnvironment, "no window can be opened: " + LastGlfwError() +
                                             "; it needs OpenGL 3.2; use --screenshot, or: "
                                             "penstock report --html");
  }
  glfwMakeContextCurrent(window.get());
  const auto gl = OpenGl::Load(glfwGetProcAddress);
  PENSTOCK_TRY(gl);
  glfwSwapInterval(1);
  glfwSetWindowSizeLimits(window.get(), 800, 500, GLFW_DONT_CARE, GLFW_DONT_CARE);
  state.gl = *gl;
  glfwSetWindowUserPointer(window.get(), &state);
  ListenToMouse(window.get());  // ImGui calls on those that it finds
  const Imgui imgui(window.get(), fonts.atlas());
  if (!imgui.draws) {
    return Fail(ErrorKind::kEnvironment,
                fmt::format("nothing can be drawn: there is no libGL.so.1; {}", kInstallOpenGl));
  }
  float screen_scale = 1;
  glfwGetWindowContentScale(window.get(), &screen_scale, nullptr);
  app.SetScreenScale(std::max(screen_scale, 1.0F));
  glfwSetWindowContentScaleCallback(window.get(), OnScale);
  glfwSetDropCallback(window.get(), OnDrop);
  glfwSetKeyCallback(window.get(), OnKey);  // replace those that ImGui has set
  glfwSetCharCallback(window.get(), OnCharacter);
  StateFile written(options.state);
  Loop(window.get(), app, written);
  app.KeepMarks();
  glfwHideWindow(window.get());  // running jobs may take a moment to stop
  glfwGetWindowSize(window.get(), &app.settings().width, &app.settings().height);
  *settings = app.settings();
  return {};
}

}  // namespace penstock::gui
