// SPDX-License-Identifier: Apache-2.0
#include "cuda/jpeg.h"

#include <dlfcn.h>

#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cuda/nvjpeg_api.h"

namespace penstock::cuda {
namespace {

struct Named {
  JpegBackend backend;
  std::string_view name;
};
constexpr std::array<Named, 4> kBackends = {{{JpegBackend::kAuto, "auto"},
                                             {JpegBackend::kHardware, "hardware"},
                                             {JpegBackend::kGpuHybrid, "gpu-hybrid"},
                                             {JpegBackend::kHybrid, "hybrid"}}};

const char* StatusName(int status) {
  constexpr std::array<const char*, 11> kNames = {
      "success",        "not initialised",   "invalid parameter", "bad JPEG",
      "not supported",  "no memory",         "execution failed",  "wrong architecture",
      "internal error", "not for this kind", "truncated"};
  const auto index = static_cast<std::size_t>(status);
  return status >= 0 && index < kNames.size() ? kNames[index] : "unknown status";
}

// Of these, what the file is to blame for.
bool IsOfInput(int status) {
  return status == nvjpeg::kBadJpeg || status == nvjpeg::kNotSupported ||
         status == nvjpeg::kImplementationNotSupported || status == nvjpeg::kIncompleteBitstream;
}

Result<void> Check(int status, const char* what) {
  if (status == nvjpeg::kSuccess) return {};
  return Fail(IsOfInput(status) ? ErrorKind::kInput : ErrorKind::kEnvironment,
              fmt::format("nvJPEG: {}: {} ({})", what, StatusName(status), status));
}

template <class Function>
bool Find(void* library, const char* name, Function* function) {
  void* found = dlsym(library, name);
  *function = reinterpret_cast<Function>(found);
  return found != nullptr;
}

bool FindAll(void* library, nvjpeg::Api* api) {
  Find(library, "nvjpegGetHardwareDecoderInfo", &api->GetHardwareDecoderInfo);
  return Find(library, "nvjpegCreateEx", &api->CreateEx) &&
         Find(library, "nvjpegDestroy", &api->Destroy) &&
         Find(library, "nvjpegJpegStateCreate", &api->JpegStateCreate) &&
         Find(library, "nvjpegJpegStateDestroy", &api->JpegStateDestroy) &&
         Find(library, "nvjpegJpegStreamCreate", &api->JpegStreamCreate) &&
         Find(library, "nvjpegJpegStreamDestroy", &api->JpegStreamDestroy) &&
         Find(library, "nvjpegJpegStreamParse", &api->JpegStreamParse) &&
         Find(library, "nvjpegDecodeParamsCreate", &api->DecodeParamsCreate) &&
         Find(library, "nvjpegDecodeParamsDestroy", &api->DecodeParamsDestroy) &&
         Find(library, "nvjpegDecodeParamsSetOutputFormat", &api->DecodeParamsSetOutputFormat) &&
         Find(library, "nvjpegDecodeParamsSetROI", &api->DecodeParamsSetROI) &&
         Find(library, "nvjpegDecodeBatchedSupportedEx", &api->DecodeBatchedSupportedEx) &&
         Find(library, "nvjpegDecodeBatchedInitialize", &api->DecodeBatchedInitialize) &&
         Find(library, "nvjpegDecodeBatchedEx", &api->DecodeBatchedEx);
}

class Batches final : public JpegBatches {
 public:
  explicit Batches(const JpegOptions& options) : options_(options) {}
  ~Batches() override;
  Result<void> Begin();

  JpegBackend backend() const override { return backend_; }
  unsigned engines() const override { return engines_; }
  bool Takes(const JpegPicture& picture) override;
  Result<void> Decode(std::span<const JpegPicture> pictures, Stream& stream) override;

 private:
  Result<void> Open();
  Result<void> Create(JpegBackend backend);
  Result<void> GrowParams(std::size_t count);

  const JpegOptions options_;
  void* library_ = nullptr;
  nvjpeg::Api api_{};
  JpegBackend backend_ = JpegBackend::kHybrid;
  unsigned engines_ = 0;
  nvjpeg::Handle handle_ = nullptr;
  nvjpeg::State state_ = nullptr;
  nvjpeg::Parsed parsed_ = nullptr;
  std::vector<nvjpeg::Params> params_;
  int initialized_for_ = 0;  // pictures in a batch
  std::vector<const unsigned char*> data_;
  std::vector<std::size_t> lengths_;
  std::vector<nvjpeg::Image> images_;
};

Batches::~Batches() {
  for (const nvjpeg::Params params : params_) api_.DecodeParamsDestroy(params);
  if (parsed_ != nullptr) api_.JpegStreamDestroy(parsed_);
  if (state_ != nullptr) api_.JpegStateDestroy(state_);
  if (handle_ != nullptr) api_.Destroy(handle_);
  // The library stays open: its own threads and the driver's may still be in it.
}

Result<void> Batches::Open() {
  constexpr std::array<const char*, 3> kNames = {"libnvjpeg.so.13", "libnvjpeg.so.12",
                                                 "libnvjpeg.so.11"};
  std::string why;
  if (!options_.library.empty()) {
    library_ = dlopen(options_.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) why = dlerror();
  } else {
    for (std::size_t i = 0; i < kNames.size() && library_ == nullptr; ++i) {
      library_ = dlopen(kNames[i], RTLD_NOW | RTLD_LOCAL);
    }
    why =
        "libnvjpeg.so.13, .12 and .11 are not where the dynamic linker looks: give the path of "
        "one with --nvjpeg";
  }
  if (library_ == nullptr) return Fail(ErrorKind::kEnvironment, "nvJPEG is unavailable: " + why);
  if (!FindAll(library_, &api_)) {
    return Fail(ErrorKind::kEnvironment,
                "nvJPEG is too old to decode regions by batches: 11.6 or newer is needed");
  }
  return {};
}

Result<void> Batches::Create(JpegBackend backend) {
  const int number = backend == JpegBackend::kHardware    ? nvjpeg::kHardware
                     : backend == JpegBackend::kGpuHybrid ? nvjpeg::kGpuHybrid
                                                          : nvjpeg::kHybrid;
  // The flag is refused by libraries that do not know it yet; the pixels are then a little less
  // like libjpeg's.
  const unsigned flags = options_.interpolate_chroma ? nvjpeg::kInterpolateChroma : 0;
  int status = api_.CreateEx(number, nullptr, nullptr, flags, &handle_);
  if (status == nvjpeg::kInvalidParameter && flags != 0) {
    status = api_.CreateEx(number, nullptr, nullptr, 0, &handle_);
  }
  if (status != nvjpeg::kSuccess) {
    handle_ = nullptr;
    return Fail(ErrorKind::kEnvironment,
                fmt::format("nvJPEG: this device has no {} decoding: {} ({})",
                            JpegBackendName(backend), StatusName(status), status));
  }
  backend_ = backend;
  return {};
}

Result<void> Batches::Begin() {
  if (Result<void> opened = Open(); !opened) return opened;
  Result<void> created;
  if (options_.backend == JpegBackend::kAuto) {
    created = Create(JpegBackend::kHardware);
    if (!created) created = Create(JpegBackend::kGpuHybrid);
  } else {
    created = Create(options_.backend);
  }
  if (!created) return created;
  unsigned cores = 0;
  if (backend_ == JpegBackend::kHardware && api_.GetHardwareDecoderInfo != nullptr &&
      api_.GetHardwareDecoderInfo(handle_, &engines_, &cores) != nvjpeg::kSuccess) {
    engines_ = 0;
  }
  if (Result<void> made = Check(api_.JpegStateCreate(handle_, &state_), "state"); !made)
    return made;
  if (Result<void> made = Check(api_.JpegStreamCreate(handle_, &parsed_), "parser"); !made) {
    return made;
  }
  return GrowParams(1);
}

Result<void> Batches::GrowParams(std::size_t count) {
  while (params_.size() < count) {
    nvjpeg::Params params = nullptr;
    if (Result<void> made = Check(api_.DecodeParamsCreate(handle_, &params), "parameters"); !made) {
      return made;
    }
    params_.push_back(params);
    if (Result<void> set = Check(
            api_.DecodeParamsSetOutputFormat(params, nvjpeg::kOutputRgbInterleaved), "RGB output");
        !set) {
      return set;
    }
  }
  return {};
}

bool Batches::Takes(const JpegPicture& picture) {
  const auto* data = reinterpret_cast<const unsigned char*>(picture.file.data());
  if (api_.JpegStreamParse(handle_, data, picture.file.size(), 0, 0, parsed_) != nvjpeg::kSuccess) {
    return false;
  }
  const Box& region = picture.region;
  int unsupported = 1;
  return api_.DecodeParamsSetROI(params_[0], region.x, region.y, region.width, region.height) ==
             nvjpeg::kSuccess &&
         api_.DecodeBatchedSupportedEx(handle_, parsed_, params_[0], &unsupported) ==
             nvjpeg::kSuccess &&
         unsupported == 0;
}

Result<void> Batches::Decode(std::span<const JpegPicture> pictures, Stream& stream) {
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
    data_.push_back(reinterpret_cast<const unsigned char*>(picture.file.data()));
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
            Check(api_.DecodeBatchedInitialize(handle_, state_, count, options_.cpu_threads,
                                               nvjpeg::kOutputRgbInterleaved),
                  "batch");
        !ready) {
      return ready;
    }
    initialized_for_ = count;
  }
  Result<void> decoded =
      Check(api_.DecodeBatchedEx(handle_, state_, data_.data(), lengths_.data(), images_.data(),
                                 params_.data(), stream.native()),
            "decoding");
  if (!decoded) initialized_for_ = 0;  // the state may be in the middle of a batch
  return decoded;
}

}  // namespace

Result<JpegBackend> ParseJpegBackend(std::string_view text) {
  for (const Named& named : kBackends) {
    if (named.name == text) return named.backend;
  }
  return Fail(ErrorKind::kUsage,
              fmt::format("{}: there is auto, hardware, gpu-hybrid and hybrid", text));
}

std::string_view JpegBackendName(JpegBackend backend) {
  for (const Named& named : kBackends) {
    if (named.backend == backend) return named.name;
  }
  return "auto";
}

Result<std::unique_ptr<JpegBatches>> JpegBatches::Make(const JpegOptions& options) {
  auto batches = std::make_unique<Batches>(options);
  if (Result<void> begun = batches->Begin(); !begun) {
    return tl::unexpected<Error>(std::move(begun.error()));
  }
  return std::unique_ptr<JpegBatches>(std::move(batches));
}

}  // namespace penstock::cuda
