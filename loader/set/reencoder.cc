// SPDX-License-Identifier: Apache-2.0
#include "loader/set/reencoder.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace penstock::loader {
namespace {

constexpr int kDefaultQuality = 95;
constexpr int kLongestSide = 16384;  // that an AugmentProgram can make

DecodeOptions UprightOptions() {
  DecodeOptions options;
  options.exif = true;
  return options;
}

Subsampling SubsamplingOf(const ImageInfo& info) {
  if (info.subsampling_x == 2 && info.subsampling_y == 2) return Subsampling::k420;
  if (info.subsampling_x == 2 && info.subsampling_y == 1) return Subsampling::k422;
  return Subsampling::k444;
}

}  // namespace

Reencoder::Reencoder(const ReencoderOptions& options)
    : options_(options), decoder_(UprightOptions()) {}

Result<std::optional<std::span<const std::byte>>> Reencoder::Convert(
    std::span<const std::byte> file) {
  if (options_.resize == 0 && options_.quality == 0 && !options_.check) return std::nullopt;
  const Result<ImageInfo> info = decoder_.ReadHeader(file);
  PENSTOCK_TRY(info);
  const bool smaller =
      options_.resize != 0 && std::min(info->width, info->height) > options_.resize;
  const bool encode = smaller || options_.quality != 0;
  if (!encode && !options_.check) return std::nullopt;
  const auto decoded = decoder_.Decode({0, 0, info->width, info->height}, {});
  PENSTOCK_TRY(decoded);
  if (!encode) return std::nullopt;
  ImageView picture = decoded->view;
  if (smaller) {
    const Size size = ShortSide({info->width, info->height}, options_.resize);
    const Result<ImageView> resized = Resized(*decoded, *info, size);
    PENSTOCK_TRY(resized);
    picture = *resized;
  }
  const int quality = options_.quality != 0 ? options_.quality : kDefaultQuality;
  const auto jpeg = encoder_.Encode(picture, quality, SubsamplingOf(*info));
  PENSTOCK_TRY(jpeg);
  return *jpeg;
}

Result<ImageView> Reencoder::Resized(const JpegDecoder::Decoded& decoded, const ImageInfo& info,
                                     Size size) {
  if (std::max(size.width, size.height) > kLongestSide) {
    return Fail(ErrorKind::kInput,
                fmt::format("JPEG that would be resized to {} x {} pixels, more than {} on a side",
                            size.width, size.height, kLongestSide));
  }
  if (!program_ || size != size_) {
    Result<AugmentProgram> program = AugmentProgram::Parse(
        fmt::format("resize={}x{}", size.height, size.width), ElementType::kU8, Layout::kHwc);
    PENSTOCK_TRY(program);
    augmenter_.reset();  // it refers to the program
    program_.emplace(std::move(*program));
    augmenter_.emplace(*program_);
    size_ = size;
    pixels_.resize(program_->format().bytes());
  }
  const Augmenter::Plan plan = augmenter_->Draw(info, {});
  PENSTOCK_TRY(augmenter_->Run(plan, decoded, pixels_));
  return ImageView{reinterpret_cast<const std::uint8_t*>(pixels_.data()), size.width, size.height,
                   3 * static_cast<std::ptrdiff_t>(size.width)};
}

}  // namespace penstock::loader
