// SPDX-License-Identifier: Apache-2.0
#include "loader/decode/jpeg_decoder.h"

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <utility>

#include "loader/decode/colour.h"
#include "loader/decode/exif.h"
#include "loader/decode/huffman_decoder.h"
#include "loader/decode/huffman_trial.h"
#include "loader/decode/jpeg_memory.h"
#include "loader/decode/jpeg_tables.h"
#include "loader/decode/plan.h"

#include <jerror.h>

namespace penstock::loader {
namespace {

constexpr std::size_t kRowAlignment = 64;

// Memory that grows and is never cleared.
class PixelBuffer {
 public:
  // nullptr if there is no memory.
  std::uint8_t* Reserve(std::size_t bytes) {
    if (bytes > size_) {
      bytes_.reset();  // before the new buffer, so that the peak is one buffer and not two
      size_ = 0;
      bytes_.reset(new (std::nothrow) std::uint8_t[bytes]);
      size_ = bytes_ ? bytes : 0;
    }
    return bytes_.get();
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;  // NOLINT: a vector would write zeros
  std::size_t size_ = 0;
};

[[nodiscard]] std::size_t RowBytes(int width, int channels) {
  const std::size_t bytes = static_cast<std::size_t>(width) * static_cast<std::size_t>(channels);
  return (bytes + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
}

struct ScanLimit {
  jpeg_progress_mgr base;
  int scans;
};

void StopAtScanLimit(j_common_ptr common) {
  if (common->is_decompressor != TRUE) {
    return;
  }
  auto* cinfo = reinterpret_cast<j_decompress_ptr>(common);
  if (cinfo->input_scan_number > reinterpret_cast<ScanLimit*>(cinfo->progress)->scans) {
    ERREXIT(cinfo, JERR_NOTIMPL);  // Failure() tells this case by the scan number
  }
}

// Whether jpeg_crop_scanline() of 2.1.5 computes a wrong width (fixed in 3.0.1). It does so for a
// component that is interpolated although it is decoded at a larger scale than the smallest.
[[nodiscard]] bool CropIsBroken(const jpeg_decompress_struct& cinfo) {
  for (int i = 0; i < cinfo.num_components; ++i) {
    const jpeg_component_info& c = cinfo.comp_info[i];
    const bool interpolated =
        c.h_samp_factor * c.DCT_scaled_size !=
            cinfo.max_h_samp_factor * cinfo.min_DCT_scaled_size ||
        c.v_samp_factor * c.DCT_scaled_size != cinfo.max_v_samp_factor * cinfo.min_DCT_scaled_size;
    if (interpolated && c.DCT_scaled_size != cinfo.min_DCT_scaled_size) {
      return true;
    }
  }
  return false;
}

// Whether libjpeg may smooth the picture over five by five blocks, as it does if a progressive file
// lacks its later scans. A part that is decoded alone would then differ from that part of the
// whole.
[[nodiscard]] bool IsSmoothed(const jpeg_decompress_struct& cinfo) {
  if (cinfo.progressive_mode != TRUE || cinfo.coef_bits == nullptr) {
    return false;
  }
  for (int i = 0; i < cinfo.num_components; ++i) {
    if (std::any_of(cinfo.coef_bits[i], cinfo.coef_bits[i] + DCTSIZE2,
                    [](int bits) { return bits != 0; })) {
      return true;
    }
  }
  return false;
}

}  // namespace

struct JpegDecoder::State {
  explicit State(const DecodeOptions& wanted);
  ~State() { jpeg_destroy_decompress(&cinfo); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Result<void> Open();
  void ReadInfo();
  Result<Decoded> DecodeRegion(const Region& region, Size target);
  Result<Decoded> DecodeOnce(const Region& region, Size target);
  bool Start(int denominator);
  bool Seek(const Region& wanted, ColumnRange& columns);
  bool ReadRows(const Region& wanted, std::uint8_t* first, std::ptrdiff_t step,
                std::uint8_t* spare);
  Error Failure();

  [[nodiscard]] j_common_ptr common() { return reinterpret_cast<j_common_ptr>(&cinfo); }
  [[nodiscard]] int channels() const { return info.cmyk ? 4 : 3; }
  [[nodiscard]] Size stored() const {
    return {static_cast<int>(cinfo.image_width), static_cast<int>(cinfo.image_height)};
  }

  DecodeOptions options;
  bool created = false;
  bool header_read = false;  // libjpeg has read the header of `file`
  std::span<const std::byte> file;
  ImageInfo info;
  Orientation orientation;
  JpegErrors errors;
  jpeg_source_mgr source;
  ScanLimit limit = {};
  jpeg_decompress_struct cinfo = {};
  HuffmanDecoder huffman;
  bool own_huffman = false;  // our Huffman decoder is wanted for this picture
  bool attached = false;     // our Huffman decoder is in use
  std::uint64_t own_huffman_decodes = 0;
  PixelBuffer buffer;
  PixelBuffer turned;  // for orientations that exchange x and y
};

JpegDecoder::State::State(const DecodeOptions& wanted)
    : options(wanted), huffman(wanted.own_huffman_from) {
  cinfo.err = InitErrors(errors, options.strict);
  InitSource(source);
  limit.base.progress_monitor = StopAtScanLimit;
  limit.scans = options.max_scans;
  created = Guarded(errors, [this] { jpeg_create_decompress(&cinfo); });
  cinfo.src = &source;
  cinfo.progress = &limit.base;
}

// Returns libjpeg's complaint, and makes libjpeg ready for the next file.
Error JpegDecoder::State::Failure() {
  Error error{ErrorKind::kInput, ReasonOf(errors, common())};
  if (errors.base.msg_code == JERR_OUT_OF_MEMORY) {
    error.kind = ErrorKind::kEnvironment;
  } else if (errors.base.msg_code == JERR_NOTIMPL && cinfo.input_scan_number > options.max_scans) {
    error.message = "JPEG of more than " + std::to_string(options.max_scans) + " scans";
  }
  jpeg_abort_decompress(&cinfo);
  header_read = false;
  return error;
}

// Reads the header of `file` and applies the limits.
Result<void> JpegDecoder::State::Open() {
  header_read = false;
  if (!created) {
    return Fail(ErrorKind::kEnvironment, "libjpeg cannot be used: " + ReasonOf(errors, common()));
  }
  jpeg_abort_decompress(&cinfo);
  if (std::string reason = WhyNotJpeg(file); !reason.empty()) {
    return Fail(ErrorKind::kInput, std::move(reason));
  }
  SetSource(source, file);
  errors.in_data = false;
  if (!Guarded(errors, [this] {
        ForgetTables(&cinfo);
        jpeg_read_header(&cinfo, TRUE);
      })) {
    return tl::unexpected<Error>(Failure());
  }
  errors.in_data = true;
  const std::uint64_t pixels = std::uint64_t{cinfo.image_width} * cinfo.image_height;
  if (pixels > options.max_pixels) {
    return Fail(ErrorKind::kInput, "JPEG of " + std::to_string(cinfo.image_width) + " x " +
                                       std::to_string(cinfo.image_height) + " pixels, more than " +
                                       std::to_string(options.max_pixels));
  }
  if (!HasEndMarker(file.last(source.bytes_in_buffer))) {
    return Fail(ErrorKind::kInput, "truncated JPEG");
  }
  ReadInfo();
  header_read = true;
  return {};
}

void JpegDecoder::State::ReadInfo() {
  info = {};
  info.progressive = cinfo.progressive_mode == TRUE;
  info.grey = cinfo.num_components == 1;
  info.cmyk = cinfo.num_components == 4;
  for (int i = 0; i < cinfo.num_components; ++i) {
    const jpeg_component_info& component = cinfo.comp_info[i];
    info.subsampling_x =
        std::max(info.subsampling_x, cinfo.max_h_samp_factor / component.h_samp_factor);
    info.subsampling_y =
        std::max(info.subsampling_y, cinfo.max_v_samp_factor / component.v_samp_factor);
  }
  info.orientation = options.exif ? ExifOrientation(file) : 1;
  orientation = Orientation::Of(info.orientation);
  const Size seen = orientation.Seen(stored());
  info.width = seen.width;
  info.height = seen.height;
}

bool JpegDecoder::State::Start(int denominator) {
  return Guarded(errors, [this, denominator] {
    cinfo.out_color_space = info.cmyk ? JCS_CMYK : JCS_RGB;
    cinfo.scale_num = 1;
    cinfo.scale_denom = static_cast<unsigned>(denominator);
    cinfo.dct_method = options.fast_dct ? JDCT_IFAST : JDCT_ISLOW;
    cinfo.do_fancy_upsampling = options.fancy_upsampling ? TRUE : FALSE;
    jpeg_start_decompress(&cinfo);
    if (const int missing = MissingQuantTable(cinfo); missing >= 0) {
      ERREXIT1(&cinfo, JERR_NO_QUANT_TABLE, missing);
    }
    attached = own_huffman && huffman.Attach(cinfo);
  });
}

// Narrows libjpeg to the columns of `wanted`, widened to whole MCUs on the left, and skips to a row
// close to the first.
bool JpegDecoder::State::Seek(const Region& wanted, ColumnRange& columns) {
  columns = {0, static_cast<int>(cinfo.output_width)};
  if (IsSmoothed(cinfo)) {
    return true;
  }
  if (!CropIsBroken(cinfo)) {
    const int block = cinfo.min_DCT_scaled_size;
    columns =
        ColumnsFor(wanted, columns.width, info.grey ? block : block * cinfo.max_h_samp_factor);
  }
  // Without interpolation a skip must end on a whole group of rows. With interpolation it may end
  // on any row: jpeg_skip_scanlines() itself decodes the rows above that interpolation reads.
  const int group = options.fancy_upsampling ? 1 : cinfo.max_v_samp_factor;
  JDIMENSION first = static_cast<JDIMENSION>(columns.first);
  JDIMENSION width = static_cast<JDIMENSION>(columns.width);
  const JDIMENSION rows = static_cast<JDIMENSION>(wanted.y / group * group);
  JDIMENSION* const first_pointer = &first;  // libjpeg writes both
  JDIMENSION* const width_pointer = &width;
  const bool done = Guarded(errors, [this, rows, first_pointer, width_pointer] {
    if (*width_pointer < cinfo.output_width) {
      jpeg_crop_scanline(&cinfo, first_pointer, width_pointer);
      huffman.KeepColumns(cinfo, *first_pointer, *width_pointer);
    }
    if (rows > 0) {
      jpeg_skip_scanlines(&cinfo, rows);
    }
  });
  columns = {static_cast<int>(first), static_cast<int>(width)};
  return done;
}

// Reads the rows of `wanted` to first, first + step and so on. Rows before them go to `spare`.
bool JpegDecoder::State::ReadRows(const Region& wanted, std::uint8_t* first, std::ptrdiff_t step,
                                  std::uint8_t* spare) {
  return Guarded(errors, [this, &wanted, first, step, spare] {
    // Reads several rows at a time: merged upsampling makes two rows at once, and would copy one of
    // them if only one were asked for.
    constexpr int kRowsPerCall = 16;
    JSAMPROW rows[kRowsPerCall];  // NOLINT: plain memory, as a jump may pass it
    const int end = wanted.y + wanted.height;
    for (int y = static_cast<int>(cinfo.output_scanline); y < end;) {
      const int count = std::min(kRowsPerCall, end - y);
      for (int i = 0; i < count; ++i) {
        rows[i] = y + i < wanted.y ? spare : first + (y + i - wanted.y) * step;
      }
      y += static_cast<int>(jpeg_read_scanlines(&cinfo, rows, static_cast<JDIMENSION>(count)));
    }
  });
}

Result<JpegDecoder::Decoded> JpegDecoder::State::DecodeRegion(const Region& region, Size target) {
  own_huffman = options.own_huffman && HuffmanSeamFits();
  const std::uint64_t warnings = errors.warnings;
  attached = false;
  auto decoded = DecodeOnce(region, target);
  if (!decoded && attached && huffman.gave_up()) {
    // The file is damaged, or unusual: libjpeg decides.
    PENSTOCK_TRY(Open());
    errors.warnings = warnings;  // count each warning once
    own_huffman = attached = false;
    decoded = DecodeOnce(region, target);
  }
  own_huffman_decodes += decoded && attached ? 1U : 0U;
  return decoded;
}

Result<JpegDecoder::Decoded> JpegDecoder::State::DecodeOnce(const Region& region, Size target) {
  if (region.x < 0 || region.y < 0 || region.width <= 0 || region.height <= 0 ||
      region.x > info.width - region.width || region.y > info.height - region.height) {
    return Fail(ErrorKind::kUsage, "the region asked for is not inside the picture");
  }
  const Size full = stored();
  const int denominator = ChooseDenominator(options.reduce, region, target);
  const Region wanted = Reduced(orientation.ToStored(region, full), denominator);
  ColumnRange columns;
  if (!Start(denominator) || !Seek(wanted, columns)) {
    return tl::unexpected<Error>(Failure());
  }

  const std::size_t stride = RowBytes(columns.width, channels());
  const auto step = static_cast<std::ptrdiff_t>(stride);
  const std::size_t rows = static_cast<std::size_t>(wanted.height) + 1;
  std::uint8_t* const spare = buffer.Reserve(rows * stride + kReadablePadding);
  const std::size_t turned_stride = RowBytes(wanted.height, 3);
  std::uint8_t* const turned_pixels =
      orientation.transpose
          ? turned.Reserve(turned_stride * static_cast<std::size_t>(wanted.width) +
                           kReadablePadding)
          : spare;
  if (spare == nullptr || turned_pixels == nullptr) {
    jpeg_abort_decompress(&cinfo);
    header_read = false;
    return Fail(ErrorKind::kEnvironment, "no memory for the pixels of a JPEG");
  }
  std::uint8_t* const top = spare + step;
  const bool flip = orientation.flip_rows;
  if (!ReadRows(wanted, flip ? top + (wanted.height - 1) * step : top, flip ? -step : step,
                spare)) {
    return tl::unexpected<Error>(Failure());
  }
  const bool inverted = cinfo.saw_Adobe_marker == TRUE;
  jpeg_abort_decompress(&cinfo);
  header_read = false;

  std::uint8_t* const first = top + std::ptrdiff_t{wanted.x - columns.first} * channels();
  for (int y = 0; y < wanted.height && (info.cmyk || orientation.flip_columns); ++y) {
    std::uint8_t* const row = first + y * step;
    if (info.cmyk) {
      CmykToRgbInPlace(row, wanted.width, inverted);
    }
    if (orientation.flip_columns) {
      ReverseRow(row, wanted.width);
    }
  }
  Decoded out;
  out.denominator = denominator;
  out.covers = orientation.ToSeen(Expanded(wanted, denominator), full);
  out.view = {first, wanted.width, wanted.height, step};
  if (orientation.transpose) {
    const auto turned_step = static_cast<std::ptrdiff_t>(turned_stride);
    Transpose(out.view, turned_pixels, turned_step);
    out.view = {turned_pixels, wanted.height, wanted.width, turned_step};
  }
  return out;
}

JpegDecoder::JpegDecoder(const DecodeOptions& options) : state_(std::make_unique<State>(options)) {}
JpegDecoder::~JpegDecoder() = default;
JpegDecoder::JpegDecoder(JpegDecoder&&) noexcept = default;
JpegDecoder& JpegDecoder::operator=(JpegDecoder&&) noexcept = default;

Result<ImageInfo> JpegDecoder::ReadHeader(std::span<const std::byte> file) {
  state_->file = file;
  if (auto opened = state_->Open(); !opened) {
    state_->file = {};
    return tl::unexpected<Error>(std::move(opened.error()));
  }
  return state_->info;
}

Result<JpegDecoder::Decoded> JpegDecoder::Decode(const Region& region, Size target) {
  if (state_->file.empty()) {
    return Fail(ErrorKind::kUsage, "Decode() needs a header that ReadHeader() could read");
  }
  if (!state_->header_read) {  // a second region of the same file
    PENSTOCK_TRY(state_->Open());
  }
  return state_->DecodeRegion(region, target);
}

std::uint64_t JpegDecoder::warnings() const {
  return state_->errors.warnings;
}

std::uint64_t JpegDecoder::own_huffman_decodes() const {
  return state_->own_huffman_decodes;
}

std::size_t JpegDecoder::buffer_bytes() const {
  return state_->buffer.size() + state_->turned.size();
}

}  // namespace penstock::loader
