// SPDX-License-Identifier: Apache-2.0
//
// libjpeg's source and error manager. The source reads a file in memory; to read beyond its end is
// an error. The error manager jumps out instead of exiting. For loader/decode alone. Each libjpeg
// instance has its own source and error manager and is used by one thread.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs size_t and FILE
#include <span>
#include <string>

#include <jpeglib.h>

namespace penstock::loader {

// Extends libjpeg's struct in the manner of C: `base` comes first, so a pointer to it, which is all
// that libjpeg knows, points to the whole.
struct JpegErrors {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  std::uint64_t warnings;
  bool strict;   // a warning about corrupt data jumps too
  bool in_data;  // the header has been read
};

// Initialises `errors`. Returns its first member, to be put into cinfo.err.
jpeg_error_mgr* InitErrors(JpegErrors& errors, bool strict);

// Why libjpeg jumped, in one line: "truncated JPEG", "corrupt JPEG: ...".
[[nodiscard]] std::string ReasonOf(const JpegErrors& errors, j_common_ptr common);

// Runs `call`. False if libjpeg gave up in it. Requires: whenever libjpeg can jump, neither `call`
// nor a function that it called holds an object with a destructor.
template <class Call>
[[nodiscard]] bool Guarded(JpegErrors& errors, const Call& call) {
  if (setjmp(errors.jump) != 0) {  // NOLINT: the way out that libjpeg has
    return false;
  }
  call();
  return true;
}

// Initialises the source. cinfo.src points to it for the life of the instance. Never allocates.
void InitSource(jpeg_source_mgr& source);
void SetSource(jpeg_source_mgr& source, std::span<const std::byte> file);

// "" if `file` begins like a JPEG, else what is wrong with it.
[[nodiscard]] std::string WhyNotJpeg(std::span<const std::byte> file);

// Whether `data`, which begins after the header, contains an end marker. In entropy-coded data D9
// never follows FF, so a file that was cut there has no end marker.
// Cost: looks only at the last two bytes if nothing follows the marker.
[[nodiscard]] bool HasEndMarker(std::span<const std::byte> data);

}  // namespace penstock::loader
