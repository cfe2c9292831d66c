// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cuda/jpeg_backends.h"

namespace penstock::cuda {
namespace {

using nvjpeg::Check;
using nvjpeg::Owned;

class JpegEngines final : public JpegBatches {
 public:
  JpegEngines(const nvjpeg::Library& library, const JpegOptions& options)
      : library_(library), api_(library_.api()), options_(options) {}
  Result<void> Begin();

  JpegBackend backend() const override { return JpegBackend::kHardware; }
  unsigned engines() const override { return engines_; }
  bool Takes(const JpegPicture& picture) override;
  Result<void> Decode(std::span<const JpegPicture> pictures, Stream& stream,
                      std::vector<std::size_t>& refused) override;

 private:
  Result<void> GrowParams(std::size_t count);

  const nvjpeg::Library library_;
  const nvjpeg::Api& api_;
  const JpegOptions options_;
  unsigned engines_ = 0;
  Owned<nvjpeg::HandleTag> handle_{nullptr, nullptr};
  Owned<nvjpeg::StateTag> state_{nullptr, nullptr};
  Owned<nvjpeg::StreamTag> parsed_{nullptr, nullptr};
  std::vector<Owned<nvjpeg::ParamsTag>> owned_params_;
  std::vector<nvjpeg::Params> params_;  // the pointers of owned_params_
  int initialized_for_ = 0;             // batch size for which state_ is initialised
  std::vector<const unsigned char*> data_;
  std::vector<std::size_t> lengths_;
  std::vector<nvjpeg::Image> images_;
};

Result<void> JpegEngines::Begin() {
  auto handle = library_.MakeHandle(nvjpeg::kHardware, options_.interpolate_chroma);
  if (!handle) {
    return Fail(ErrorKind::kEnvironment,
                "nvJPEG: this device has no hardware decoding: " + handle.error().message);
  }
  handle_ = std::move(*handle);
  unsigned cores = 0;
  if (api_.GetHardwareDecoderInfo != nullptr &&
      api_.GetHardwareDecoderInfo(handle_.get(), &engines_, &cores) != nvjpeg::kSuccess) {
    engines_ = 0;
  }
  nvjpeg::State state = nullptr;
  if (Result<void> made = Check(api_.JpegStateCreate(handle_.get(), &state), "state"); !made) {
    return made;
  }
  state_ = {state, api_.JpegStateDestroy};
  auto parsed = library_.MakeParsed(handle_.get());
  PENSTOCK_TRY(parsed);
  parsed_ = std::move(*parsed);
  return GrowParams(1);
}

Result<void> JpegEngines::GrowParams(std::size_t count) {
  while (params_.size() < count) {
    auto params = library_.MakeParams(handle_.get());
    PENSTOCK_TRY(params);
    params_.push_back(params->get());
    owned_params_.push_back(std::move(*params));
  }
  return {};
}

bool JpegEngines::Takes(const JpegPicture& picture) {
  const Box& region = picture.region;
  int unsupported = 1;
  return api_.JpegStreamParseHeader(handle_.get(), nvjpeg::DataOf(picture.file),
                                    picture.file.size(), parsed_.get()) == nvjpeg::kSuccess &&
         api_.DecodeParamsSetROI(params_[0], region.x, region.y, region.width, region.height) ==
             nvjpeg::kSuccess &&
         api_.DecodeBatchedSupportedEx(handle_.get(), parsed_.get(), params_[0], &unsupported) ==
             nvjpeg::kSuccess &&
         unsupported == 0;
}

Result<void> JpegEngines::Decode(std::span<const JpegPicture> pictures, Stream& stream,
                                 std::vector<std::size_t>& refused) {
  refused.clear();
  if (pictures.empty()) return {};
  if (Result<void> grown = GrowParams(pictures.size()); !grown) return grown;
  data_.clear();
  lengths_.clear();
  images_.clear();
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const JpegPicture& picture = pictures[i];
    const Box& region = picture.region;
    if (Result<void> set = Check(
            api_.DecodeParamsSetROI(params_[i], region.x, region.y, region.width, region.height),
            "region");
        !set) {
      return set;
    }
    data_.push_back(nvjpeg::DataOf(picture.file));
    lengths_.push_back(picture.file.size());
    nvjpeg::Image image{};
    image.channel[0] = picture.pixels;
    image.pitch[0] = picture.pitch;
    images_.push_back(image);
  }
  const int count = static_cast<int>(pictures.size());
  if (initialized_for_ != count) {
    initialized_for_ = 0;
    if (Result<void> ready =
            Check(api_.DecodeBatchedInitialize(handle_.get(), state_.get(), count,
                                               options_.cpu_threads, nvjpeg::kOutputRgbInterleaved),
                  "batch");
        !ready) {
      return ready;
    }
    initialized_for_ = count;
  }
  Result<void> decoded = nvjpeg::CheckOfFile(
      api_.DecodeBatchedEx(handle_.get(), state_.get(), data_.data(), lengths_.data(),
                           images_.data(), params_.data(), stream.native()),
      "decoding");
  if (decoded) return decoded;
  initialized_for_ = 0;  // the state may be left in the middle of a batch
  if (count == 1 && decoded.error().kind == ErrorKind::kInput) refused.push_back(0);
  return decoded;
}

}  // namespace

Result<std::unique_ptr<JpegBatches>> MakeJpegEngines(const nvjpeg::Library& library,
                                                     const JpegOptions& options) {
  auto engines = std::make_unique<JpegEngines>(library, options);
  PENSTOCK_TRY(engines->Begin());
  return std::unique_ptr<JpegBatches>(std::move(engines));
}

}  // namespace penstock::cuda
