// SPDX-License-Identifier: Apache-2.0
//
// Compares our declarations of nvJPEG with the vendor's header, if that is found. Checks the error
// if the library is missing.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <type_traits>

#include "cuda/jpeg.h"
#include "cuda/nvjpeg_api.h"

#ifdef PENSTOCK_HAS_NVJPEG_H
#include <nvjpeg.h>
#endif

namespace penstock::cuda {
namespace {

#ifdef PENSTOCK_HAS_NVJPEG_H

// Arguments of one size and class: an int for an enumeration, a pointer for a pointer.
template <class Ours, class Theirs>
constexpr bool kAlike =
    sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
    (std::is_integral_v<Ours> || std::is_enum_v<Ours>) ==
        (std::is_integral_v<Theirs> || std::is_enum_v<Theirs>);

template <class Ours, class Theirs>
struct Same : std::false_type {};
template <class R, class... Ours, class S, class... Theirs>
requires(sizeof...(Ours) == sizeof...(Theirs)) struct Same<R (*)(Ours...), S (*)(Theirs...)>
    : std::bool_constant<kAlike<R, S> && (kAlike<Ours, Theirs> && ...)> {
};

#define EXPECT_SAME(NAME) \
  EXPECT_TRUE((Same<decltype(nvjpeg::Api::NAME), decltype(&nvjpeg##NAME)>::value)) << #NAME

TEST(NvjpegHeaderTest, FunctionsTakeWhatTheRealOnesTake) {
  EXPECT_SAME(CreateEx);
  EXPECT_SAME(Destroy);
  EXPECT_SAME(JpegStateCreate);
  EXPECT_SAME(JpegStateDestroy);
  EXPECT_SAME(JpegStreamCreate);
  EXPECT_SAME(JpegStreamDestroy);
  EXPECT_SAME(JpegStreamParse);
  EXPECT_SAME(JpegStreamParseHeader);
  EXPECT_SAME(JpegStreamGetFrameDimensions);
  EXPECT_SAME(DecodeParamsCreate);
  EXPECT_SAME(DecodeParamsDestroy);
  EXPECT_SAME(DecodeParamsSetOutputFormat);
  EXPECT_SAME(DecodeParamsSetROI);
  EXPECT_SAME(DecodeBatchedSupportedEx);
  EXPECT_SAME(DecodeBatchedInitialize);
  EXPECT_SAME(DecodeBatchedEx);
  EXPECT_SAME(GetHardwareDecoderInfo);
  EXPECT_SAME(DecoderCreate);
  EXPECT_SAME(DecoderDestroy);
  EXPECT_SAME(DecoderStateCreate);
  EXPECT_SAME(DecoderJpegSupported);
  EXPECT_SAME(BufferPinnedCreate);
  EXPECT_SAME(BufferPinnedDestroy);
  EXPECT_SAME(BufferDeviceCreate);
  EXPECT_SAME(BufferDeviceDestroy);
  EXPECT_SAME(StateAttachPinnedBuffer);
  EXPECT_SAME(StateAttachDeviceBuffer);
  EXPECT_SAME(DecodeJpegHost);
  EXPECT_SAME(DecodeJpegTransferToDevice);
  EXPECT_SAME(DecodeJpegDevice);
  EXPECT_SAME(JpegStreamGetJpegEncoding);
}

TEST(NvjpegHeaderTest, ValuesAndLayoutsAreTheRealOnes) {
  EXPECT_EQ(int{NVJPEG_BACKEND_DEFAULT}, int{nvjpeg::kDefault});
  EXPECT_EQ(int{NVJPEG_ENCODING_BASELINE_DCT}, nvjpeg::kEncodingBaseline);
  EXPECT_EQ(int{NVJPEG_BACKEND_HYBRID}, int{nvjpeg::kHybrid});
  EXPECT_EQ(int{NVJPEG_BACKEND_GPU_HYBRID}, int{nvjpeg::kGpuHybrid});
  EXPECT_EQ(int{NVJPEG_BACKEND_HARDWARE}, int{nvjpeg::kHardware});
  EXPECT_EQ(int{NVJPEG_OUTPUT_RGBI}, nvjpeg::kOutputRgbInterleaved);
  EXPECT_EQ(int{NVJPEG_STATUS_SUCCESS}, int{nvjpeg::kSuccess});
  EXPECT_EQ(int{NVJPEG_STATUS_BAD_JPEG}, int{nvjpeg::kBadJpeg});
  EXPECT_EQ(int{NVJPEG_STATUS_JPEG_NOT_SUPPORTED}, int{nvjpeg::kNotSupported});
  EXPECT_EQ(int{NVJPEG_STATUS_ARCH_MISMATCH}, int{nvjpeg::kArchMismatch});
  EXPECT_EQ(int{NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED},
            int{nvjpeg::kImplementationNotSupported});
#ifdef NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION
  EXPECT_EQ(unsigned{NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION}, nvjpeg::kInterpolateChroma);
#endif
  EXPECT_EQ(sizeof(nvjpegImage_t), sizeof(nvjpeg::Image));
  EXPECT_EQ(offsetof(nvjpegImage_t, pitch), offsetof(nvjpeg::Image, pitch));
}

#endif

TEST(NvjpegTest, AMissingLibraryIsOneLine) {
  JpegOptions options;
  options.path = "/nowhere/libnvjpeg.so.99";
  const auto made = JpegBatches::Make(options, *MakeEmulatedDevice());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::kEnvironment);
  EXPECT_NE(made.error().message.find("libnvjpeg.so.99"), std::string::npos);
  EXPECT_EQ(made.error().message.find('\n'), std::string::npos);
}

TEST(NvjpegTest, ALibraryWithoutRegionsByBatchesIsTooOld) {
  JpegOptions options;
  options.path = "libm.so.6";
  const auto made = JpegBatches::Make(options, *MakeEmulatedDevice());
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("too old"), std::string::npos);
}

TEST(NvjpegTest, BackendNamesAreParsedAndPrintedAlike) {
  for (const char* name : {"auto", "hardware", "gpu-hybrid", "hybrid"}) {
    const auto backend = ParseJpegBackend(name);
    ASSERT_TRUE(backend) << name;
    EXPECT_EQ(JpegBackendName(*backend), name);
  }
  EXPECT_FALSE(ParseJpegBackend("software"));
}

}  // namespace
}  // namespace penstock::cuda
