// SPDX-License-Identifier: Apache-2.0
//
// Packs a source into one file, offline: one large file is read in order instead of many small
// ones at random, and what is always done to a picture can be done once. Order, names and labels
// are those of the source. The file appears under its name only when it is complete, and is the
// same for any number of workers.
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
  kTar,     // WebDataset's layout: DIR/NUMBER-NAME.jpg and .cls, so that no two keys are alike
};

struct PackOptions {
  std::filesystem::path output;
  PackFormat format = PackFormat::kPacked;
  // Short side in pixels of what is larger; 0: nothing is resized. Antialiased, bilinear.
  int resize = 0;
  // Of what is encoded again; 0: 95 for what is resized, and nothing else is encoded again. The
  // chroma subsampling stays (4:4:4 where JPEG has no name for it); the EXIF orientation is
  // applied, as the tag is not kept.
  int quality = 0;
  // Leaves out what cannot be read or decoded; everything is decoded to know.
  bool skip_bad = false;
  unsigned workers = 1;  // >= 1
};

struct PackSummary {
  std::uint64_t packed = 0;
  std::uint64_t encoded = 0;  // of them not verbatim
  std::uint64_t left_out = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;  // of pictures
};

// `progress` is told, one call at a time, how many samples of the source are done; `left_out` of
// each that is, with the reason in one line that names it.
//
// Errors: kInput for a sample that cannot be read or, where it must be, decoded, and if nothing is
//         left; kOutput; kEnvironment "interrupted" once `stop` is requested.
Result<PackSummary> Pack(const Source& source, const PackOptions& options,
                         const std::stop_token& stop,
                         const std::function<void(std::uint64_t)>& progress,
                         const std::function<void(const std::string&)>& left_out);

}  // namespace penstock::loader
