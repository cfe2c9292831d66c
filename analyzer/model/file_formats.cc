// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/file_formats.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <string>
#include <utility>

namespace penstock::analyzer {
namespace {

constexpr std::array<std::string_view, 8> kNames = {"jpeg", "png",  "webp", "tiff",
                                                    "avif", "heic", "gif",  "bmp"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOtherExtensions = {{
    {"jpg", "jpeg"},
    {"jpe", "jpeg"},
    {"jfif", "jpeg"},
    {"tif", "tiff"},
    {"heif", "heic"},
    {"dib", "bmp"},
}};
constexpr std::uint8_t kOtherFile = 0xff;
// This many paths are kept in memory. If enough of them are pictures, further paths are not looked
// up.
constexpr std::size_t kMostPaths = 1 << 14;
constexpr std::size_t kEnoughPictures = 1 << 10;

std::uint8_t NumberOf(std::string_view format) {
  const auto* const found = std::find(kNames.begin(), kNames.end(), format);
  if (found == kNames.end()) return kOtherFile;
  return static_cast<std::uint8_t>(found - kNames.begin());
}

}  // namespace

std::string_view PictureFormat(std::string_view path) {
  constexpr std::size_t kLongest = 4;
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || path.size() - dot - 1 > kLongest) return "";
  std::string extension(path.substr(dot + 1));
  for (char& letter : extension) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  for (const auto& [other, format] : kOtherExtensions) {
    if (extension == other) return format;
  }
  for (const std::string_view name : kNames) {
    if (extension == name) return name;
  }
  return "";
}

void FileFormats::Add(const traces::Span& read) {
  if (read.bytes.value == 0) return;
  const auto found = of_path_.find(read.object.value);
  std::uint8_t number = kOtherFile;
  if (found != of_path_.end()) {
    number = found->second;
  } else {
    const bool full = of_path_.size() == kMostPaths;
    if (full && pictures_ >= kEnoughPictures) return;
    number = NumberOf(PictureFormat(trace_.String(read.object)));
    if (!full) of_path_.emplace(read.object.value, number);
    if (number != kOtherFile) ++pictures_;
  }
  all_ += read.bytes.value;
  if (number != kOtherFile) bytes_[number] += read.bytes.value;
}

std::string_view FileFormats::Main() const {
  constexpr double kMost = 0.8;
  const std::uint64_t pictures = std::accumulate(bytes_.begin(), bytes_.end(), std::uint64_t{0});
  if (pictures == 0 || 2 * pictures < all_) return "";
  const auto* const most = std::max_element(bytes_.begin(), bytes_.end());
  if (static_cast<double>(*most) < kMost * static_cast<double>(pictures)) return "mixed";
  return kNames[static_cast<std::size_t>(most - bytes_.begin())];
}

}  // namespace penstock::analyzer
