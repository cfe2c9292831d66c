// SPDX-License-Identifier: Apache-2.0
//
// Where libjpeg gets its bytes and tells its troubles: a source over a file in memory for which
// running out of bytes is an error, and an error manager that jumps out instead of exiting. For
// loader/decode alone; one of each per libjpeg instance, used by one thread.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs size_t and FILE
#include <span>
#include <string>

#include <jpeglib.h>

namespace penstock::loader {

// Derived in C's way, as libjpeg hands back a pointer to the first member.
struct JpegErrors {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  std::uint64_t warnings;
  bool strict;   // a warning about corrupt data jumps too
  bool in_data;  // the header has been read
};

// Fills in `errors` and gives its first member to put into cinfo.err.
jpeg_error_mgr* InitErrors(JpegErrors& errors, bool strict);

// Why libjpeg jumped, in one line: "truncated JPEG", "corrupt JPEG: ...".
[[nodiscard]] std::string ReasonOf(const JpegErrors& errors, j_common_ptr common);

// Runs `call`, which may only call C functions and hold values without destructors; false if
// libjpeg gave up in it.
template <class Call>
[[nodiscard]] bool Guarded(JpegErrors& errors, const Call& call) {
  if (setjmp(errors.jump) != 0) {  // NOLINT: the way out that libjpeg has
    return false;
  }
  call();
  return true;
}

// Never allocates. cinfo.src points at it for the life of the instance.
void InitSource(jpeg_source_mgr& source);
void SetSource(jpeg_source_mgr& source, std::span<const std::byte> file);

// "" if `file` begins like a JPEG, else the reason it cannot be one.
[[nodiscard]] std::string WhyNotJpeg(std::span<const std::byte> file);

// Whether an end marker is anywhere in `data`, which begins after the header. Inside of entropy
// coded data FF is never followed by D9, so a file cut at any byte has none.
// Cost: a look at the last two bytes, for files with nothing after the marker.
[[nodiscard]] bool HasEndMarker(std::span<const std::byte> data);

}  // namespace penstock::loader
