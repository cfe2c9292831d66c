// SPDX-License-Identifier: Apache-2.0
#include "cuda/nvjpeg_library.h"

#include <dlfcn.h>

#include <array>
#include <utility>

#include <fmt/format.h>

namespace penstock::cuda::nvjpeg {
namespace {

template <class Function>
bool Find(void* library, const char* name, Function* function) {
  void* found = dlsym(library, name);
  *function = reinterpret_cast<Function>(found);
  return found != nullptr;
}

bool FindAll(void* library, Api* api) {
  Find(library, "nvjpegGetHardwareDecoderInfo", &api->GetHardwareDecoderInfo);
  return Find(library, "nvjpegCreateEx", &api->CreateEx) &&
         Find(library, "nvjpegDestroy", &api->Destroy) &&
         Find(library, "nvjpegJpegStateCreate", &api->JpegStateCreate) &&
         Find(library, "nvjpegJpegStateDestroy", &api->JpegStateDestroy) &&
         Find(library, "nvjpegJpegStreamCreate", &api->JpegStreamCreate) &&
         Find(library, "nvjpegJpegStreamDestroy", &api->JpegStreamDestroy) &&
         Find(library, "nvjpegJpegStreamParse", &api->JpegStreamParse) &&
         Find(library, "nvjpegJpegStreamParseHeader", &api->JpegStreamParseHeader) &&
         Find(library, "nvjpegJpegStreamGetJpegEncoding", &api->JpegStreamGetJpegEncoding) &&
         Find(library, "nvjpegJpegStreamGetFrameDimensions", &api->JpegStreamGetFrameDimensions) &&
         Find(library, "nvjpegDecodeParamsCreate", &api->DecodeParamsCreate) &&
         Find(library, "nvjpegDecodeParamsDestroy", &api->DecodeParamsDestroy) &&
         Find(library, "nvjpegDecodeParamsSetOutputFormat", &api->DecodeParamsSetOutputFormat) &&
         Find(library, "nvjpegDecodeParamsSetROI", &api->DecodeParamsSetROI) &&
         Find(library, "nvjpegDecodeBatchedSupportedEx", &api->DecodeBatchedSupportedEx) &&
         Find(library, "nvjpegDecodeBatchedInitialize", &api->DecodeBatchedInitialize) &&
         Find(library, "nvjpegDecodeBatchedEx", &api->DecodeBatchedEx) &&
         Find(library, "nvjpegDecoderCreate", &api->DecoderCreate) &&
         Find(library, "nvjpegDecoderDestroy", &api->DecoderDestroy) &&
         Find(library, "nvjpegDecoderStateCreate", &api->DecoderStateCreate) &&
         Find(library, "nvjpegDecoderJpegSupported", &api->DecoderJpegSupported) &&
         Find(library, "nvjpegBufferPinnedCreate", &api->BufferPinnedCreate) &&
         Find(library, "nvjpegBufferPinnedDestroy", &api->BufferPinnedDestroy) &&
         Find(library, "nvjpegBufferDeviceCreate", &api->BufferDeviceCreate) &&
         Find(library, "nvjpegBufferDeviceDestroy", &api->BufferDeviceDestroy) &&
         Find(library, "nvjpegStateAttachPinnedBuffer", &api->StateAttachPinnedBuffer) &&
         Find(library, "nvjpegStateAttachDeviceBuffer", &api->StateAttachDeviceBuffer) &&
         Find(library, "nvjpegDecodeJpegHost", &api->DecodeJpegHost) &&
         Find(library, "nvjpegDecodeJpegTransferToDevice", &api->DecodeJpegTransferToDevice) &&
         Find(library, "nvjpegDecodeJpegDevice", &api->DecodeJpegDevice);
}

}  // namespace

const char* StatusName(int status) {
  constexpr std::array<const char*, 11> kNames = {
      "success",        "not initialised",   "invalid parameter", "bad JPEG",
      "not supported",  "no memory",         "execution failed",  "wrong architecture",
      "internal error", "not for this kind", "truncated"};
  const auto index = static_cast<std::size_t>(status);
  return status >= 0 && index < kNames.size() ? kNames[index] : "unknown status";
}

Result<void> Check(int status, const char* what) {
  if (status == kSuccess) return {};
  return Fail(ErrorKind::kEnvironment,
              fmt::format("nvJPEG: {}: {} ({})", what, StatusName(status), status));
}

Result<void> CheckOfFile(int status, const char* what) {
  Result<void> checked = Check(status, what);
  if (status == kBadJpeg || status == kNotSupported || status == kImplementationNotSupported ||
      status == kIncompleteBitstream) {
    checked.error().kind = ErrorKind::kInput;
  }
  return checked;
}

Result<Library> Library::Open(const std::string& path) {
  constexpr std::array<const char*, 3> kNames = {"libnvjpeg.so.13", "libnvjpeg.so.12",
                                                 "libnvjpeg.so.11"};
  void* opened = nullptr;
  std::string why;
  if (!path.empty()) {
    opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) why = dlerror();
  } else {
    for (std::size_t i = 0; i < kNames.size() && opened == nullptr; ++i) {
      opened = dlopen(kNames[i], RTLD_NOW | RTLD_LOCAL);
    }
    why =
        "libnvjpeg.so.13, .12 and .11 are not where the dynamic linker looks: give the path of "
        "one with --nvjpeg";
  }
  if (opened == nullptr) return Fail(ErrorKind::kEnvironment, "nvJPEG is unavailable: " + why);
  Library library;
  if (!FindAll(opened, &library.api_)) {
    return Fail(ErrorKind::kEnvironment,
                "nvJPEG is too old to decode regions by batches: 11.6 or newer is needed");
  }
  return library;
}

Result<Owned<HandleTag>> Library::MakeHandle(int backend, bool interpolate_chroma) const {
  // Older libraries refuse the flag. Their pixels are a little less like libjpeg's.
  const unsigned flags = interpolate_chroma ? kInterpolateChroma : 0;
  Handle handle = nullptr;
  int status = api_.CreateEx(backend, nullptr, nullptr, flags, &handle);
  if (status == kInvalidParameter && flags != 0) {
    status = api_.CreateEx(backend, nullptr, nullptr, 0, &handle);
  }
  if (status != kSuccess) {
    return Fail(ErrorKind::kEnvironment, fmt::format("{} ({})", StatusName(status), status));
  }
  return Owned<HandleTag>(handle, api_.Destroy);
}

Result<Owned<StreamTag>> Library::MakeParsed(Handle handle) const {
  Parsed parsed = nullptr;
  PENSTOCK_TRY(Check(api_.JpegStreamCreate(handle, &parsed), "parser"));
  return Owned<StreamTag>(parsed, api_.JpegStreamDestroy);
}

Result<Owned<ParamsTag>> Library::MakeParams(Handle handle) const {
  Params params = nullptr;
  PENSTOCK_TRY(Check(api_.DecodeParamsCreate(handle, &params), "parameters"));
  Owned<ParamsTag> owned(params, api_.DecodeParamsDestroy);
  const int set = api_.DecodeParamsSetOutputFormat(params, kOutputRgbInterleaved);
  PENSTOCK_TRY(Check(set, "RGB output"));
  return owned;
}

}  // namespace penstock::cuda::nvjpeg
