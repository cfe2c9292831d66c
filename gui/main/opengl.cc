// SPDX-License-Identifier: Apache-2.0
#include "gui/main/opengl.h"

#include <dlfcn.h>

#include <string>

#include <fmt/core.h>

namespace penstock::gui {
namespace {

// Looks up functions by name, and remembers the first that is missing.
template <class Get>
class Finder {
 public:
  explicit Finder(Get get) : get_(get) {}

  template <class Function>
  Finder& operator()(Function& function, const char* name) {
    function = reinterpret_cast<Function>(get_(name));
    if (function == nullptr && missing_.empty()) missing_ = name;
    return *this;
  }
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  Get get_;
  std::string missing_;
};

tl::unexpected<Error> Missing(const std::string& what) {
  return Fail(ErrorKind::kEnvironment,
              fmt::format("nothing can be drawn: {}; {}", what, kInstallOpenGl));
}

}  // namespace

Result<OpenGl> OpenGl::Load(void (*(*get)(const char* name))()) {
  OpenGl gl;
  Finder find(get);
  find(gl.Clear, "glClear")(gl.ClearColor, "glClearColor")(gl.Viewport, "glViewport")(
      gl.Finish, "glFinish")(gl.ReadBuffer, "glReadBuffer")(gl.ReadPixels, "glReadPixels")(
      gl.PixelStorei, "glPixelStorei")(gl.GenTextures, "glGenTextures")(
      gl.BindTexture, "glBindTexture")(gl.TexImage2D, "glTexImage2D")(
      gl.GenFramebuffers, "glGenFramebuffers")(gl.BindFramebuffer, "glBindFramebuffer")(
      gl.FramebufferTexture2D, "glFramebufferTexture2D")(gl.CheckFramebufferStatus,
                                                         "glCheckFramebufferStatus");
  if (!find.missing().empty()) return Missing("OpenGL has no " + find.missing());
  return gl;
}

Result<Egl> Egl::Load() {
  // The library is never closed: drivers leave handlers that run at the end of the program.
  void* library = ::dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Missing("there is no libEGL.so.1 on this system");
  Egl egl;
  Finder find([library](const char* name) { return ::dlsym(library, name); });
  find(egl.GetProcAddress, "eglGetProcAddress")(egl.GetError, "eglGetError")(
      egl.GetDisplay, "eglGetDisplay")(egl.Initialize, "eglInitialize")(
      egl.Terminate, "eglTerminate")(egl.BindApi, "eglBindAPI")(
      egl.ChooseConfig, "eglChooseConfig")(egl.CreateContext, "eglCreateContext")(
      egl.DestroyContext, "eglDestroyContext")(egl.MakeCurrent, "eglMakeCurrent");
  if (!find.missing().empty()) return Missing("libEGL.so.1 has no " + find.missing());
  return egl;
}

}  // namespace penstock::gui
