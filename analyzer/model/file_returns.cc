// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/file_returns.h"

#include <algorithm>
#include <cstddef>

namespace penstock::analyzer {
namespace {

constexpr std::size_t kMostFiles = 4096;
constexpr std::size_t kLeastFiles = 16;

// Source: the finalizer of MurmurHash3.
std::uint32_t Mixed(std::uint32_t value) {
  value = (value ^ (value >> 16)) * 0x85ebca6bU;
  value = (value ^ (value >> 13)) * 0xc2b2ae35U;
  return value ^ (value >> 16);
}

}  // namespace

bool FileReturns::Keeps(std::uint32_t file) const {
  return share_ == 1 || (Mixed(file) & (share_ - 1)) == 0;
}

void FileReturns::Add(const traces::Span& read) {
  if (read.object.value == 0 || read.bytes.value == 0 || read.sample < 0) return;
  if (!Keeps(read.object.value)) return;
  const auto [place, added] =
      files_.try_emplace(read.object.value, File{read.sample, read.bytes.value});
  if (!added) {
    File& file = place->second;
    file.several |= read.sample != file.sample;
    file.whole &= read.bytes.value == file.bytes;
    return;
  }
  while (files_.size() > kMostFiles) {
    share_ *= 2;
    std::erase_if(files_, [&](const auto& file) { return !Keeps(file.first); });
  }
}

FilesSeen FileReturns::Seen() const {
  FilesSeen seen;
  if (files_.size() < kLeastFiles) return seen;
  double returned = 0;
  bool differ = false;
  for (const auto& [path, file] : files_) {
    seen.bytes += static_cast<double>(share_) * static_cast<double>(file.bytes);
    returned += file.several && file.whole ? 1 : 0;
    differ |= file.bytes != files_.begin()->second.bytes;
  }
  if (differ) seen.returned = returned / static_cast<double>(files_.size());
  return seen;
}

}  // namespace penstock::analyzer
