// SPDX-License-Identifier: Apache-2.0
//
// Names that say nothing about a person or a project: libraries, their functions and classes that
// traces name, the words of our own hooks, and types of files. An anonymous trace keeps them. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace penstock::traces {

// A package of Python or a namespace of C++: "torch", "cv2", "at".
[[nodiscard]] bool IsPublicLibrary(std::string_view name);
// The same, but false for names that are common words, such as "datasets" and "at". Everything
// below a unique name is public: "torch.x.y".
[[nodiscard]] bool IsUniqueLibrary(std::string_view name);
// A module or type of Python itself: "json", "dict". These are common words too.
[[nodiscard]] bool IsStandardModule(std::string_view name);

// A single identifier: "RandomResizedCrop", "ImageFolder", "float32", "__getitem__".
[[nodiscard]] bool IsPublicWord(std::string_view word);
// "__init__": a name that Python gives a meaning.
[[nodiscard]] bool IsSpecialMethod(std::string_view word);

// The size of the known beginning of a name, such as "cuda" in "cudaMemcpyAsync", or
// "triton_poi_fused" in the name of a kernel; 0: none. In the rest of the name, only
// technical words are public.
[[nodiscard]] std::size_t PublicPrefix(std::string_view word);
// A part of an identifier that names of kernels and calls are composed of: "Memcpy", "elementwise".
[[nodiscard]] bool IsTechnicalWord(std::string_view part);
// An identifier of such parts, digits and underscores only.
[[nodiscard]] bool IsTechnical(std::string_view identifier);
// The size of the part with which an identifier begins: 4 of "FillFunctor", 0 of "_x" and "32".
[[nodiscard]] std::size_t WordPartSize(std::string_view text);

// The module in a word of a command line that runs a worker process of Python's multiprocessing or
// of loky, such as "multiprocessing.spawn"; "": the word names none.
[[nodiscard]] std::string_view StarterOfWorkers(std::string_view word);

// The scheme of a URL: "https", "s3".
[[nodiscard]] bool IsPublicScheme(std::string_view scheme);

// The end of a file's name that says what kind of file it is: ".jpg", ".tar.gz"; "": unknown.
[[nodiscard]] std::string_view PublicExtension(std::string_view file);

}  // namespace penstock::traces
