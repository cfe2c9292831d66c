// SPDX-License-Identifier: Apache-2.0
//
// Names that say nothing about a person or a project: libraries, their functions and classes that
// traces name, the words of our own hooks, and types of files. An anonymous trace keeps them. Pure.
#pragma once

#include <string_view>

namespace penstock::traces {

// A package of Python or a namespace of C++: "torch", "cv2", "at".
[[nodiscard]] bool IsPublicLibrary(std::string_view name);
// A module or type of Python itself: "json", "dict". These are common words too.
[[nodiscard]] bool IsStandardModule(std::string_view name);

// A single identifier: "RandomResizedCrop", "ImageFolder", "cudaMemcpyAsync", "__getitem__".
[[nodiscard]] bool IsPublicWord(std::string_view word);

// The end of a file's name that says what kind of file it is: ".jpg", ".tar.gz"; "": unknown.
[[nodiscard]] std::string_view PublicExtension(std::string_view file);

}  // namespace penstock::traces
