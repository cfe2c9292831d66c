// SPDX-License-Identifier: Apache-2.0
#include "loader/decode/jpeg_memory.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <jerror.h>

namespace penstock::loader {
namespace {

JpegErrors& ErrorsOf(j_common_ptr common) {
  return *reinterpret_cast<JpegErrors*>(common->err);
}

[[noreturn]] void JumpOut(j_common_ptr common) {
  std::longjmp(ErrorsOf(common).jump, 1);  // NOLINT: the way out that libjpeg has
}

void DropMessage(j_common_ptr /*common*/) {}

// Whether the warning in `errors` says that pixels are not what the encoder wrote. Extra bytes
// before a header or before the end marker do no harm. Extra bytes between two scans or restart
// intervals do harm.
bool SaysCorrupt(const JpegErrors& errors) {
  switch (errors.base.msg_code) {
    case JWRN_ARITH_BAD_CODE:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_JPEG_EOF:
    case JWRN_MUST_RESYNC:
    case JWRN_NOT_SEQUENTIAL:
      return true;
    case JWRN_EXTRANEOUS_DATA:
      return errors.in_data && errors.base.msg_parm.i[1] != JPEG_EOI;
    default:
      return false;
  }
}

void TakeMessage(j_common_ptr common, int level) {
  if (level >= 0) {
    return;  // a trace message
  }
  JpegErrors& errors = ErrorsOf(common);
  ++errors.warnings;
  ++errors.base.num_warnings;
  if (errors.strict && SaysCorrupt(errors)) {
    JumpOut(common);
  }
}

void SourceDoesNothing(j_decompress_ptr /*cinfo*/) {}

boolean NoMoreBytes(j_decompress_ptr cinfo) {
  ERREXIT(cinfo, JERR_INPUT_EOF);
  return FALSE;
}

void SkipBytes(j_decompress_ptr cinfo, long count) {  // NOLINT: the type is libjpeg's
  if (count <= 0) {
    return;
  }
  if (static_cast<std::size_t>(count) > cinfo->src->bytes_in_buffer) {
    NoMoreBytes(cinfo);
  }
  cinfo->src->next_input_byte += count;
  cinfo->src->bytes_in_buffer -= static_cast<std::size_t>(count);
}

bool IsUnsupported(int code) {
  switch (code) {
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_COMPONENT_COUNT:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_NOTIMPL:
    case JERR_SOF_UNSUPPORTED:
    case JERR_IMAGE_TOO_BIG:
      return true;
    default:
      return false;
  }
}

// Names the kind of a file that is no JPEG, for common kinds.
std::string_view KindOf(std::span<const std::byte> file) {
  struct Kind {
    std::size_t at;
    std::string_view bytes;
    std::string_view name;
  };
  static constexpr std::array<Kind, 14> kKinds = {{
      {0, "\x89PNG", "PNG"},
      {0, "GIF8", "GIF"},
      {8, "WEBP", "WebP"},
      {0, "BM", "BMP"},
      {0, "II*", "TIFF"},
      {0, std::string_view("MM\0*", 4), "TIFF"},
      {4, "ftypavif", "AVIF"},
      {4, "ftyphei", "HEIC"},
      {4, "jP  ", "JPEG 2000"},
      {0, "\xFF\x4F\xFF\x51", "JPEG 2000"},
      {0, "\xFF\x0A", "JPEG XL"},
      {4, "JXL ", "JPEG XL"},
      {0, "PK\x03\x04", "ZIP"},
      {0, "<", "HTML or XML"},
  }};
  for (const Kind& kind : kKinds) {
    if (file.size() >= kind.at + kind.bytes.size() &&
        std::memcmp(file.data() + kind.at, kind.bytes.data(), kind.bytes.size()) == 0) {
      return kind.name;
    }
  }
  return "";
}

}  // namespace

jpeg_error_mgr* InitErrors(JpegErrors& errors, bool strict) {
  errors = {};
  jpeg_std_error(&errors.base);
  errors.base.error_exit = JumpOut;
  errors.base.emit_message = TakeMessage;
  errors.base.output_message = DropMessage;
  errors.strict = strict;
  return &errors.base;
}

std::string ReasonOf(const JpegErrors& errors, j_common_ptr common) {
  const int code = errors.base.msg_code;
  if (code == JERR_INPUT_EOF) {
    return "truncated JPEG";
  }
  std::array<char, JMSG_LENGTH_MAX> text = {};
  errors.base.format_message(common, text.data());
  std::string_view message = text.data();
  constexpr std::string_view kCorrupt = "Corrupt JPEG data: ";
  if (message.starts_with(kCorrupt)) {
    message.remove_prefix(kCorrupt.size());
    return "corrupt JPEG: " + std::string(message);
  }
  return (IsUnsupported(code) ? "unsupported JPEG: " : "damaged JPEG: ") + std::string(message);
}

void InitSource(jpeg_source_mgr& source) {
  source = {};
  source.init_source = SourceDoesNothing;
  source.fill_input_buffer = NoMoreBytes;
  source.skip_input_data = SkipBytes;
  source.resync_to_restart = jpeg_resync_to_restart;
  source.term_source = SourceDoesNothing;
}

void SetSource(jpeg_source_mgr& source, std::span<const std::byte> file) {
  source.next_input_byte = reinterpret_cast<const JOCTET*>(file.data());
  source.bytes_in_buffer = file.size();
}

std::string WhyNotJpeg(std::span<const std::byte> file) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (file.empty()) {
    return "empty file";
  }
  if (std::to_integer<int>(file[0]) == 0xFF &&
      (file.size() == 1 || std::to_integer<int>(file[1]) == 0xD8)) {
    return file.size() <= 2 ? "truncated JPEG" : "";
  }
  std::string reason = "not a JPEG: starts with";
  for (const std::byte byte : file.first(std::min<std::size_t>(file.size(), 4))) {
    const auto value = std::to_integer<unsigned>(byte);
    reason += ' ';
    reason += kDigits[value >> 4];
    reason += kDigits[value & 15];
  }
  if (const std::string_view kind = KindOf(file); !kind.empty()) {
    reason += " (" + std::string(kind) + ")";
  }
  return reason;
}

bool HasEndMarker(std::span<const std::byte> data) {
  for (std::size_t end = data.size(); end >= 2; --end) {
    if (std::to_integer<int>(data[end - 1]) == JPEG_EOI &&
        std::to_integer<int>(data[end - 2]) == 0xFF) {
      return true;
    }
  }
  return false;
}

}  // namespace penstock::loader
