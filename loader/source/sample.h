// SPDX-License-Identifier: Apache-2.0
//
// Where the bytes of one sample are: what a Source returns and an ObjectReader reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::loader {

// The views are valid while the Source lives and the scratch that was passed to Source::At() is
// unchanged.
struct SampleRef {
  std::string_view path;     // file to open: the image itself, a tar, a packed file
  std::uint64_t offset = 0;  // first byte in that file
  std::uint64_t size = 0;    // bytes; 0 with whole_file: the reader asks fstat
  bool whole_file = true;    // the sample is the file; otherwise a part of a larger one
  std::int64_t label = -1;   // -1: none
  std::string_view name;     // for people: "cat/1.jpg" or "train-0001.tar:00017.jpg"
};

// Memory for the texts of a SampleRef. One for each thread, used again and again without
// allocation.
struct SampleScratch {
  std::string path;
  std::string name;
};

}  // namespace penstock::loader
