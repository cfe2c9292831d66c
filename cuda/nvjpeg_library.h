// SPDX-License-Identifier: Apache-2.0
//
// nvJPEG, opened at run time, with owning handles for its objects. The library stays open when a
// Library ends, since threads of nvJPEG and of the driver may still run in it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "cuda/nvjpeg_api.h"
#include "traces/base/result.h"

namespace penstock::cuda::nvjpeg {

template <class Tag>
using Owned = std::unique_ptr<Tag, int (*)(Tag*)>;

class Library {
 public:
  // `path`: if empty, libnvjpeg.so.13, .12 or .11 as the dynamic linker finds it. Errors:
  // kEnvironment if there is none, or it is too old.
  [[nodiscard]] static Result<Library> Open(const std::string& path);

  [[nodiscard]] const Api& api() const { return api_; }
  // Errors of all functions: kEnvironment. `backend`: an nvjpeg::Backend.
  [[nodiscard]] Result<Owned<HandleTag>> MakeHandle(int backend, bool interpolate_chroma) const;
  [[nodiscard]] Result<Owned<StreamTag>> MakeParsed(Handle handle) const;
  [[nodiscard]] Result<Owned<ParamsTag>> MakeParams(Handle handle) const;  // R G B side by side

 private:
  Api api_{};
};

// Errors: kEnvironment.
[[nodiscard]] Result<void> Check(int status, const char* what);
// As Check(), for a step that reads a file. Errors: kInput if the file is the cause.
[[nodiscard]] Result<void> CheckOfFile(int status, const char* what);
[[nodiscard]] const char* StatusName(int status);

[[nodiscard]] inline const unsigned char* DataOf(std::span<const std::byte> file) {
  return reinterpret_cast<const unsigned char*>(file.data());
}

}  // namespace penstock::cuda::nvjpeg
