// SPDX-License-Identifier: Apache-2.0
#include "agent/record/overrides.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>

namespace penstock::record {
namespace {

enum class Kind { kCount, kFlag, kSize, kCores, kChoice, kLine };

struct Known {
  std::string_view key;
  Kind kind;
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::string_view choices = {};  // "a|b"
};

constexpr std::uint64_t kMany = 1u << 20;
constexpr std::uint64_t kThreads = 4096;

constexpr Known kKnown[] = {
    {"workers", Kind::kCount, 0, kMany},
    {"prefetch", Kind::kCount, 0, kMany},
    {"batch", Kind::kCount, 1, kMany},
    {"pin", Kind::kFlag},
    {"persistent", Kind::kFlag},
    {"in_order", Kind::kFlag},
    {"at", Kind::kLine},
    {"start_method", Kind::kChoice, 0, 0, "fork|spawn|forkserver"},
    {"threads", Kind::kCount, 1, kThreads},
    {"omp", Kind::kCount, 1, kThreads},
    {"mkl", Kind::kCount, 1, kThreads},
    {"openblas", Kind::kCount, 1, kThreads},
    {"numexpr", Kind::kCount, 1, kThreads},
    {"cv2_threads", Kind::kCount, 0, kThreads},
    {"malloc", Kind::kChoice, 0, 0, "keep|jemalloc|tcmalloc"},
    {"mmap_threshold", Kind::kSize, 0, std::uint64_t{1} << 40},
    {"trim_threshold", Kind::kSize, 0, std::uint64_t{1} << 40},
    {"pillow_blocks", Kind::kCount, 0, kMany},
    {"affinity", Kind::kCores},
    {"nice", Kind::kCount, 0, 19},
    {"warm", Kind::kFlag},
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kPools = {{
    {"omp", "OMP_NUM_THREADS"},
    {"mkl", "MKL_NUM_THREADS"},
    {"openblas", "OPENBLAS_NUM_THREADS"},
    {"numexpr", "NUMEXPR_NUM_THREADS"},
}};

std::optional<std::uint64_t> Number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Checks a list of cores such as "0-3+8". Returns a text that says what is wrong; nullopt if
// nothing is.
std::optional<std::string> WrongCores(std::string_view text, const std::vector<int>& cores) {
  while (true) {
    const auto plus = text.find('+');
    const std::string_view part = text.substr(0, plus);
    const auto dash = part.find('-');
    const auto first = Number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : Number(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last > kThreads) return "give cores as in 0-3+8";
    for (std::uint64_t core = *first; core <= *last; ++core) {
      const bool ours =
          std::find(cores.begin(), cores.end(), static_cast<int>(core)) != cores.end();
      if (!cores.empty() && !ours) {
        return fmt::format("this run may not use core {}", core);
      }
    }
    if (plus == std::string_view::npos) return std::nullopt;
    text.remove_prefix(plus + 1);
  }
}

std::optional<std::uint64_t> Size(std::string_view text) {
  std::uint64_t scale = 1;
  if (!text.empty()) {
    switch (text.back() & ~0x20) {
      case 'K':
        scale = 1u << 10;
        break;
      case 'M':
        scale = 1u << 20;
        break;
      case 'G':
        scale = 1u << 30;
        break;
      default:
        break;
    }
  }
  if (scale != 1) text.remove_suffix(1);
  const auto number = Number(text);
  if (!number || *number > (std::uint64_t{1} << 40) / scale) return std::nullopt;
  return *number * scale;
}

bool IsOneOf(std::string_view value, std::string_view choices) {
  while (!choices.empty()) {
    const auto bar = std::min(choices.find('|'), choices.size());
    if (choices.substr(0, bar) == value) return true;
    choices.remove_prefix(std::min(bar + 1, choices.size()));
  }
  return false;
}

// Returns a text that says what would be right; nullopt if `value` is right.
std::optional<std::string> Wrong(const Known& known, std::string_view value,
                                 const std::vector<int>& cores) {
  switch (known.kind) {
    case Kind::kFlag:
      if (value != "0" && value != "1") return "give 0 or 1";
      return std::nullopt;
    case Kind::kCount: {
      const auto number = Number(value);
      if (number && *number >= known.least && *number <= known.most) return std::nullopt;
      return fmt::format("give a number from {} to {}", known.least, known.most);
    }
    case Kind::kSize:
      if (!Size(value)) return "give a size such as 32M";
      return std::nullopt;
    case Kind::kLine:
      if (value.empty()) return "give the line that makes the loader: train.py:88";
      return std::nullopt;
    case Kind::kCores:
      return WrongCores(value, cores);
    case Kind::kChoice:
      if (!IsOneOf(value, known.choices)) return fmt::format("give one of {}", known.choices);
      return std::nullopt;
  }
  return std::nullopt;
}

bool Serves(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  constexpr std::string_view kServe[] = {"jemalloc", "tcmalloc", "mimalloc", "libasan",
                                         "libtsan",  "libmsan",  "hoard",    "snmalloc"};
  return std::any_of(std::begin(kServe), std::end(kServe), [&](std::string_view one) {
    return name.find(one) != std::string_view::npos;
  });
}

}  // namespace

Result<std::vector<Override>> ParseOverrides(std::string_view text, const std::vector<int>& cores) {
  std::vector<Override> result;
  std::size_t at = 0;
  while (at <= text.size()) {
    const auto comma = std::min(text.find(',', at), text.size());
    const std::string_view item = text.substr(at, comma - at);
    at = comma + 1;
    const auto equals = item.find('=');
    const std::string_view key = item.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view{} : item.substr(equals + 1);
    const auto* known = std::find_if(std::begin(kKnown), std::end(kKnown),
                                     [&](const Known& one) { return one.key == key; });
    if (known == std::end(kKnown)) {
      std::string keys;
      for (const Known& one : kKnown) keys += (keys.empty() ? "" : ", ") + std::string(one.key);
      return Fail(ErrorKind::kUsage,
                  fmt::format("--override: '{}' is not KEY=VALUE with one of {}", item, keys));
    }
    if (const auto wrong = Wrong(*known, value, cores)) {
      return Fail(ErrorKind::kUsage, fmt::format("--override: {}={}: {}", key, value, *wrong));
    }
    const bool twice = std::any_of(result.begin(), result.end(),
                                   [&](const Override& one) { return one.key == key; });
    if (twice) return Fail(ErrorKind::kUsage, fmt::format("--override: {} is given twice", key));
    result.push_back({std::string(key), std::string(value)});
  }
  if (!ValueOf(result, "malloc").empty() && ValueOf(result, "malloc") != "keep" &&
      (!ValueOf(result, "mmap_threshold").empty() || !ValueOf(result, "trim_threshold").empty())) {
    return Fail(ErrorKind::kUsage,
                "--override: mmap_threshold and trim_threshold work only with glibc's malloc, not "
                "with malloc=" +
                    ValueOf(result, "malloc"));
  }
  return result;
}

std::string OverridesText(const std::vector<Override>& overrides) {
  std::string text;
  for (const Override& one : overrides) {
    text += (text.empty() ? "" : ",") + one.key + "=" + one.value;
  }
  return text;
}

std::string ValueOf(const std::vector<Override>& overrides, std::string_view key) {
  for (const Override& one : overrides) {
    if (one.key == key) return one.value;
  }
  return "";
}

Variables VariablesOf(const Override& one) {
  Variables variables;
  for (const auto& [key, name] : kPools) {
    if (one.key == "threads" || one.key == key) variables.emplace_back(name, one.value);
  }
  // Large enough for a decoded picture of 4K, small enough that a long run does not keep much
  // unused memory. glibc's own limit is 32 MiB.
  if (one.key == "malloc" && one.value == "keep") {
    variables = {{"MALLOC_MMAP_THRESHOLD_", "33554432"}, {"MALLOC_TRIM_THRESHOLD_", "268435456"}};
  }
  if (one.key == "mmap_threshold" || one.key == "trim_threshold") {
    variables.emplace_back(
        one.key == "mmap_threshold" ? "MALLOC_MMAP_THRESHOLD_" : "MALLOC_TRIM_THRESHOLD_",
        std::to_string(Size(one.value).value_or(0)));
  }
  if (one.key == "pillow_blocks") variables.emplace_back("PILLOW_BLOCKS_MAX", one.value);
  return variables;
}

Variables OverriddenVariables(const std::vector<Override>& overrides) {
  Variables result;
  // Keys that set several variables are added first, so that a key for a single variable replaces
  // its value.
  const auto add = [&](bool general) {
    for (const Override& one : overrides) {
      if ((one.key == "threads" || one.key == "malloc") != general) continue;
      for (auto& [name, value] : VariablesOf(one)) {
        const auto same = std::find_if(result.begin(), result.end(),
                                       [&, &n = name](const auto& v) { return v.first == n; });
        if (same != result.end()) {
          same->second = value;
        } else {
          result.emplace_back(name, value);
        }
      }
    }
  };
  add(true);
  add(false);
  return result;
}

Result<std::string> FindAllocator(std::string_view name, const std::vector<std::string>& folders) {
  constexpr std::string_view kJemalloc[] = {"libjemalloc.so.2", "libjemalloc.so"};
  constexpr std::string_view kTcmalloc[] = {"libtcmalloc_minimal.so.4", "libtcmalloc.so.4",
                                            "libtcmalloc_minimal.so", "libtcmalloc.so"};
  const auto search = [&](const auto& names) -> std::string {
    for (const std::string& folder : folders) {
      for (const std::string_view file : names) {
        std::error_code error;
        const auto path = std::filesystem::path(folder) / file;
        // LD_PRELOAD has no quotes for a path that contains one of these.
        if (path.native().find_first_of(": ") != std::string::npos) continue;
        if (std::filesystem::is_regular_file(path, error)) return path.string();
      }
    }
    return "";
  };
  std::string found = name == "jemalloc" ? search(kJemalloc) : search(kTcmalloc);
  if (!found.empty()) return found;
  return Fail(ErrorKind::kUsage,
              fmt::format("--override: malloc={0}: {0} is not installed (Debian: {1})", name,
                          name == "jemalloc" ? "libjemalloc2" : "libtcmalloc-minimal4"));
}

std::vector<std::string> LibraryFolders(const char* library_path, const char* conda_prefix) {
  std::vector<std::string> folders;
  std::string_view listed = library_path != nullptr ? library_path : "";
  while (!listed.empty()) {
    const auto end = std::min(listed.find(':'), listed.size());
    if (end > 0 && listed.front() == '/') folders.emplace_back(listed.substr(0, end));
    listed.remove_prefix(std::min(end + 1, listed.size()));
  }
  if (conda_prefix != nullptr && conda_prefix[0] == '/') {
    folders.push_back(std::string(conda_prefix) + "/lib");
  }
  for (const char* folder : {
#if defined(__x86_64__)
         "/usr/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
           "/usr/lib/aarch64-linux-gnu",
#endif
             "/usr/local/lib", "/usr/lib64", "/usr/lib"
       }) {
    folders.emplace_back(folder);
  }
  return folders;
}

Result<std::string> PreloadAllocator(std::string_view preload, const std::string& allocator) {
  std::string_view rest = preload;
  while (!rest.empty()) {
    const auto end = std::min(rest.find_first_of(": "), rest.size());
    if (Serves(rest.substr(0, end))) {
      return Fail(ErrorKind::kUsage, fmt::format("--override: malloc: LD_PRELOAD has {} already",
                                                 rest.substr(0, end)));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::string(preload) + (preload.empty() ? "" : ":") + allocator;
}

}  // namespace penstock::record
