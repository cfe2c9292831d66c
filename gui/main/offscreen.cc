// SPDX-License-Identifier: Apache-2.0
#include "gui/main/offscreen.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <array>
#include <string>

#include <fmt/core.h>

#include "gui/main/opengl.h"

namespace penstock::gui {

struct Offscreen::Screen {
  Egl egl;
  OpenGl gl;
  EGLDisplay display = EGL_NO_DISPLAY;
  EGLContext context = EGL_NO_CONTEXT;
};

namespace {

// Opens a display without any window system if EGL supports that, else EGL's default display.
EGLDisplay OpenDisplay(const Egl& egl) {
  const auto get = reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(
      egl.GetProcAddress("eglGetPlatformDisplayEXT"));
  EGLDisplay display = EGL_NO_DISPLAY;
  if (get != nullptr) {
    display = get(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr);
    if (display != EGL_NO_DISPLAY && egl.Initialize(display, nullptr, nullptr) == EGL_TRUE) {
      return display;
    }
  }
  display = egl.GetDisplay(EGL_DEFAULT_DISPLAY);
  if (display != EGL_NO_DISPLAY && egl.Initialize(display, nullptr, nullptr) == EGL_TRUE) {
    return display;
  }
  return EGL_NO_DISPLAY;
}

tl::unexpected<Error> NoOpenGl(const Egl& egl, const char* what) {
  return Fail(ErrorKind::kEnvironment, fmt::format("no picture can be drawn: {} (error {:#x}); {}",
                                                   what, egl.GetError(), kInstallOpenGl));
}

}  // namespace

Result<std::unique_ptr<Offscreen>> Offscreen::Make(int width, int height, EarlyFonts* fonts) {
  const auto loaded = Egl::Load();
  PENSTOCK_TRY(loaded);
  const Egl& egl = *loaded;
  std::unique_ptr<Offscreen> offscreen(new Offscreen);
  offscreen->screen_ = std::make_unique<Screen>();
  Screen& screen = *offscreen->screen_;
  screen.egl = egl;
  offscreen->width_ = width;
  offscreen->height_ = height;
  screen.display = OpenDisplay(egl);
  if (screen.display == EGL_NO_DISPLAY) return NoOpenGl(egl, "EGL finds no device");
  if (egl.BindApi(EGL_OPENGL_API) != EGL_TRUE) return NoOpenGl(egl, "EGL has no OpenGL");
  const std::array<EGLint, 5> wanted = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT,
                                        EGL_NONE};
  EGLConfig config = nullptr;
  EGLint found = 0;
  egl.ChooseConfig(screen.display, wanted.data(), &config, 1, &found);
  const std::array<EGLint, 7> version = {EGL_CONTEXT_MAJOR_VERSION,
                                         3,
                                         EGL_CONTEXT_MINOR_VERSION,
                                         3,
                                         EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                         EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                         EGL_NONE};
  screen.context = egl.CreateContext(screen.display, found > 0 ? config : nullptr, EGL_NO_CONTEXT,
                                     version.data());
  if (screen.context == EGL_NO_CONTEXT) return NoOpenGl(egl, "there is no OpenGL 3.3");
  if (egl.MakeCurrent(screen.display, EGL_NO_SURFACE, EGL_NO_SURFACE, screen.context) != EGL_TRUE) {
    return NoOpenGl(egl, "EGL wants a surface");
  }
  const auto functions = OpenGl::Load(egl.GetProcAddress);
  PENSTOCK_TRY(functions);
  screen.gl = *functions;
  const OpenGl& gl = screen.gl;
  gl.GenFramebuffers(1, &offscreen->framebuffer_);
  gl.BindFramebuffer(GL_FRAMEBUFFER, offscreen->framebuffer_);
  gl.GenTextures(1, &offscreen->texture_);
  gl.BindTexture(GL_TEXTURE_2D, offscreen->texture_);
  gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, offscreen->texture_,
                          0);
  if (gl.CheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
    return NoOpenGl(egl, "a framebuffer of this size is refused");
  }
  offscreen->context_ = ImGui::CreateContext(fonts != nullptr ? fonts->atlas() : nullptr);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.ConfigInputTextCursorBlink = false;
  io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
  if (!ImGui_ImplOpenGL3_Init("#version 150")) return NoOpenGl(egl, "there is no libGL.so.1");
  return offscreen;
}

Offscreen::~Offscreen() {
  if (context_ != nullptr) {
    if (ImGui::GetIO().BackendRendererUserData != nullptr) ImGui_ImplOpenGL3_Shutdown();
    ImGui::DestroyContext(context_);
  }
  if (screen_ && screen_->display != EGL_NO_DISPLAY) {
    const Egl& egl = screen_->egl;
    egl.MakeCurrent(screen_->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (screen_->context != EGL_NO_CONTEXT) egl.DestroyContext(screen_->display, screen_->context);
    egl.Terminate(screen_->display);
  }
}

void Offscreen::RemakeFonts() {
  RemakeFontTexture();
}

void Offscreen::Frame(const std::function<void()>& draw) {
  ImGui::GetIO().DeltaTime = 1.0F / 60;
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  draw();
  ImGui::Render();
  screen_->gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  screen_->gl.Viewport(0, 0, width_, height_);
  screen_->gl.ClearColor(0, 0, 0, 1);
  screen_->gl.Clear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

void Offscreen::Finish() const {
  screen_->gl.Finish();
}

Image Offscreen::Read() const {
  Image image{width_, height_, {}};
  const auto row = static_cast<std::size_t>(width_) * 3;
  std::vector<std::uint8_t> pixels(row * static_cast<std::size_t>(height_));
  screen_->gl.PixelStorei(GL_PACK_ALIGNMENT, 1);
  screen_->gl.ReadPixels(0, 0, width_, height_, GL_RGB, GL_UNSIGNED_BYTE, pixels.data());
  image.rgb.reserve(pixels.size());
  for (std::size_t y = static_cast<std::size_t>(height_); y-- > 0;) {
    const auto begin = pixels.begin() + static_cast<std::ptrdiff_t>(y * row);
    image.rgb.insert(image.rgb.end(), begin, begin + static_cast<std::ptrdiff_t>(row));
  }
  return image;
}

}  // namespace penstock::gui
