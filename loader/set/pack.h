// SPDX-License-Identifier: Apache-2.0
//
// Packs a source into one file before training. One large file is read in order instead of many
// small ones at random. Resizing, which every epoch would repeat, is done once. Order, names and
// labels are those of the source. The file appears under its name only when it is complete, and is
// the same for any number of workers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "loader/source/source.h"
#include "traces/base/result.h"

namespace penstock::loader {

enum class PackFormat {
  kPacked,  // loader/source/packed_layout.h
  kTar,     // WebDataset's layout: DIR/NUMBER-NAME.jpg and .cls, so that all keys differ
};

struct PackOptions {
  std::filesystem::path output;
  PackFormat format = PackFormat::kPacked;
  // Pictures with a longer short side are resized to this short side, in pixels (bilinear,
  // antialiased). 0: no picture is resized.
  int resize = 0;
  // Quality at which every picture is encoded again. 0: only resized pictures are encoded again, at
  // 95. The chroma subsampling stays (4:4:4 if JPEG has no name for it). The EXIF orientation is
  // applied, since the tag is not kept.
  int quality = 0;
  // Whether to leave out samples that cannot be read, decoded or resized. Then all samples are
  // decoded.
  bool skip_bad = false;
  unsigned workers = 1;  // >= 1
};

struct PackSummary {
  std::uint64_t packed = 0;
  std::uint64_t encoded = 0;  // samples that were encoded again
  std::uint64_t left_out = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;  // of pictures
};

// `progress` is called with the number of samples done. `left_out` is called for each sample that
// is left out, with one line that names the sample and the reason. Only one call runs at a time.
//
// Errors: kInput for a sample that cannot be read, or that must be decoded or resized and cannot
//         be; also if no sample is left; kOutput; kEnvironment "interrupted" once `stop` is
//         requested.
Result<PackSummary> Pack(const Source& source, const PackOptions& options,
                         const std::stop_token& stop,
                         const std::function<void(std::uint64_t)>& progress,
                         const std::function<void(const std::string&)>& left_out);

}  // namespace penstock::loader
