// SPDX-License-Identifier: Apache-2.0
//
// Finds OpenGL and EGL when a window or picture is made. Thus the program also starts on a system
// without these libraries, and says what is missing. Used on the thread that draws.
#pragma once

#include <EGL/egl.h>
#include <GL/gl.h>
#include <GL/glext.h>

#include "traces/base/result.h"

namespace penstock::gui {

// The OpenGL functions that this program calls itself; Dear ImGui opens its own.
struct OpenGl {
  decltype(&::glClear) Clear = nullptr;
  decltype(&::glClearColor) ClearColor = nullptr;
  decltype(&::glViewport) Viewport = nullptr;
  decltype(&::glFinish) Finish = nullptr;
  decltype(&::glReadBuffer) ReadBuffer = nullptr;
  decltype(&::glReadPixels) ReadPixels = nullptr;
  decltype(&::glPixelStorei) PixelStorei = nullptr;
  decltype(&::glGenTextures) GenTextures = nullptr;
  decltype(&::glBindTexture) BindTexture = nullptr;
  decltype(&::glTexImage2D) TexImage2D = nullptr;
  PFNGLGENFRAMEBUFFERSPROC GenFramebuffers = nullptr;
  PFNGLBINDFRAMEBUFFERPROC BindFramebuffer = nullptr;
  PFNGLFRAMEBUFFERTEXTURE2DPROC FramebufferTexture2D = nullptr;
  PFNGLCHECKFRAMEBUFFERSTATUSPROC CheckFramebufferStatus = nullptr;

  // `get`: eglGetProcAddress or glfwGetProcAddress, with a current context. Errors: kEnvironment if
  // a function is missing.
  static Result<OpenGl> Load(void (*(*get)(const char* name))());
};

struct Egl {
  decltype(&::eglGetProcAddress) GetProcAddress = nullptr;
  decltype(&::eglGetError) GetError = nullptr;
  decltype(&::eglGetDisplay) GetDisplay = nullptr;
  decltype(&::eglInitialize) Initialize = nullptr;
  decltype(&::eglTerminate) Terminate = nullptr;
  decltype(&::eglBindAPI) BindApi = nullptr;
  decltype(&::eglChooseConfig) ChooseConfig = nullptr;
  decltype(&::eglCreateContext) CreateContext = nullptr;
  decltype(&::eglDestroyContext) DestroyContext = nullptr;
  decltype(&::eglMakeCurrent) MakeCurrent = nullptr;

  // Errors: kEnvironment if there is no libEGL.so.1, or if it lacks a function.
  static Result<Egl> Load();
};

// The packages to install where such a library is missing.
inline constexpr char kInstallOpenGl[] =
    "install libegl1, libgl1 and libgl1-mesa-dri, or use: penstock report --html";

}  // namespace penstock::gui
