// SPDX-License-Identifier: Apache-2.0
#define GL_GLEXT_PROTOTYPES 1
#include "gui/main/offscreen.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <array>
#include <string>

#include <fmt/core.h>

namespace penstock::gui {

struct Offscreen::Egl {
  EGLDisplay display = EGL_NO_DISPLAY;
  EGLContext context = EGL_NO_CONTEXT;
};

namespace {

// Without any window system where EGL can do that, else on whatever it takes for the default.
EGLDisplay OpenDisplay() {
  const auto get = reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(
      eglGetProcAddress("eglGetPlatformDisplayEXT"));
  EGLDisplay display = EGL_NO_DISPLAY;
  if (get != nullptr) {
    display = get(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr);
    if (display != EGL_NO_DISPLAY && eglInitialize(display, nullptr, nullptr) == EGL_TRUE) {
      return display;
    }
  }
  display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
  if (display != EGL_NO_DISPLAY && eglInitialize(display, nullptr, nullptr) == EGL_TRUE) {
    return display;
  }
  return EGL_NO_DISPLAY;
}

tl::unexpected<Error> NoOpenGl(const char* what) {
  return Fail(ErrorKind::kEnvironment,
              fmt::format("no picture can be drawn: {} (error {:#x}); install libegl1 and "
                          "libgl1-mesa-dri, or see: penstock report --html",
                          what, eglGetError()));
}

}  // namespace

Result<std::unique_ptr<Offscreen>> Offscreen::Make(int width, int height, EarlyFonts* fonts) {
  std::unique_ptr<Offscreen> screen(new Offscreen);
  screen->egl_ = std::make_unique<Egl>();
  Egl& egl = *screen->egl_;
  screen->width_ = width;
  screen->height_ = height;
  egl.display = OpenDisplay();
  if (egl.display == EGL_NO_DISPLAY) return NoOpenGl("EGL finds no device");
  if (eglBindAPI(EGL_OPENGL_API) != EGL_TRUE) return NoOpenGl("EGL has no OpenGL");
  const std::array<EGLint, 5> wanted = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT,
                                        EGL_NONE};
  EGLConfig config = nullptr;
  EGLint found = 0;
  eglChooseConfig(egl.display, wanted.data(), &config, 1, &found);
  const std::array<EGLint, 7> version = {EGL_CONTEXT_MAJOR_VERSION,
                                         3,
                                         EGL_CONTEXT_MINOR_VERSION,
                                         3,
                                         EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                         EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                         EGL_NONE};
  egl.context =
      eglCreateContext(egl.display, found > 0 ? config : nullptr, EGL_NO_CONTEXT, version.data());
  if (egl.context == EGL_NO_CONTEXT) return NoOpenGl("there is no OpenGL 3.3");
  if (eglMakeCurrent(egl.display, EGL_NO_SURFACE, EGL_NO_SURFACE, egl.context) != EGL_TRUE) {
    return NoOpenGl("EGL wants a surface");
  }
  glGenFramebuffers(1, &screen->framebuffer_);
  glBindFramebuffer(GL_FRAMEBUFFER, screen->framebuffer_);
  glGenTextures(1, &screen->texture_);
  glBindTexture(GL_TEXTURE_2D, screen->texture_);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, screen->texture_, 0);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
    return NoOpenGl("a framebuffer of this size is refused");
  }
  screen->context_ = ImGui::CreateContext(fonts != nullptr ? fonts->atlas() : nullptr);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.ConfigInputTextCursorBlink = false;
  io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
  ImGui_ImplOpenGL3_Init("#version 150");
  return screen;
}

Offscreen::~Offscreen() {
  if (context_ != nullptr) {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui::DestroyContext(context_);
  }
  if (egl_ && egl_->display != EGL_NO_DISPLAY) {
    eglMakeCurrent(egl_->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (egl_->context != EGL_NO_CONTEXT) eglDestroyContext(egl_->display, egl_->context);
    eglTerminate(egl_->display);
  }
}

void Offscreen::RemakeFonts() {
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
}

void Offscreen::Frame(const std::function<void()>& draw) {
  ImGui::GetIO().DeltaTime = 1.0F / 60;
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  draw();
  ImGui::Render();
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  glViewport(0, 0, width_, height_);
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

void Offscreen::Finish() const {
  glFinish();
}

Image Offscreen::Read() const {
  Image image{width_, height_, {}};
  const auto row = static_cast<std::size_t>(width_) * 3;
  std::vector<std::uint8_t> pixels(row * static_cast<std::size_t>(height_));
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width_, height_, GL_RGB, GL_UNSIGNED_BYTE, pixels.data());
  image.rgb.reserve(pixels.size());
  for (std::size_t y = static_cast<std::size_t>(height_); y-- > 0;) {
    const auto begin = pixels.begin() + static_cast<std::ptrdiff_t>(y * row);
    image.rgb.insert(image.rgb.end(), begin, begin + static_cast<std::ptrdiff_t>(row));
  }
  return image;
}

}  // namespace penstock::gui
