// SPDX-License-Identifier: Apache-2.0
//
// The part of nvJPEG that we use, declared here, so that the build needs no header: the library is
// opened at run time. A test compares these declarations with the real header where it is
// installed. All versions from 11.6 on have this interface; 11.6 introduced the decoding of regions
// in batches.
#pragma once

#include <cstddef>

namespace penstock::cuda::nvjpeg {

struct HandleTag;
struct StateTag;
struct StreamTag;
struct ParamsTag;
struct DecoderTag;
struct PinnedTag;
struct BufferTag;
using Handle = HandleTag*;
using State = StateTag*;    // of a decoder
using Parsed = StreamTag*;  // a JPEG's headers
using Params = ParamsTag*;
using Decoder = DecoderTag*;
using Pinned = PinnedTag*;  // memory that grows as pictures need it
using Buffer = BufferTag*;  // the same on the device
using CudaStream = void*;

// nvjpegStatus_t
enum Status : int {
  kSuccess = 0,
  kNotInitialized = 1,
  kInvalidParameter = 2,
  kBadJpeg = 3,
  kNotSupported = 4,
  kAllocatorFailure = 5,
  kExecutionFailed = 6,
  kArchMismatch = 7,
  kInternalError = 8,
  kImplementationNotSupported = 9,
  kIncompleteBitstream = 10,
};

// nvjpegBackend_t
enum Backend : int { kDefault = 0, kHybrid = 1, kGpuHybrid = 2, kHardware = 3 };

inline constexpr int kOutputRgbInterleaved = 5;          // NVJPEG_OUTPUT_RGBI
inline constexpr unsigned kInterpolateChroma = 1U << 5;  // a flag of the handle, from 12.1
inline constexpr int kEncodingBaseline = 0xC0;           // NVJPEG_ENCODING_BASELINE_DCT
inline constexpr int kComponents = 4;                    // NVJPEG_MAX_COMPONENT

// nvjpegImage_t
struct Image {
  unsigned char* channel[kComponents];
  std::size_t pitch[kComponents];
};

// The functions of the library, under their names without the prefix.
struct Api {
  int (*CreateEx)(int backend, void* device_allocator, void* pinned_allocator, unsigned flags,
                  Handle* handle);
  int (*Destroy)(Handle handle);
  int (*JpegStateCreate)(Handle handle, State* state);
  int (*JpegStateDestroy)(State state);
  int (*JpegStreamCreate)(Handle handle, Parsed* parsed);
  int (*JpegStreamDestroy)(Parsed parsed);
  int (*JpegStreamParse)(Handle handle, const unsigned char* data, std::size_t length,
                         int save_metadata, int save_stream, Parsed parsed);
  int (*JpegStreamParseHeader)(Handle handle, const unsigned char* data, std::size_t length,
                               Parsed parsed);
  int (*JpegStreamGetJpegEncoding)(Parsed parsed, int* encoding);
  int (*JpegStreamGetFrameDimensions)(Parsed parsed, unsigned* width, unsigned* height);
  int (*DecodeParamsCreate)(Handle handle, Params* params);
  int (*DecodeParamsDestroy)(Params params);
  int (*DecodeParamsSetOutputFormat)(Params params, int format);
  int (*DecodeParamsSetROI)(Params params, int x, int y, int width, int height);

  // Batches, only for the engines. Other backends return kImplementationNotSupported.
  int (*DecodeBatchedSupportedEx)(Handle handle, Parsed parsed, Params params, int* not_supported);
  int (*DecodeBatchedInitialize)(Handle handle, State state, int batch, int cpu_threads,
                                 int format);
  int (*DecodeBatchedEx)(Handle handle, State state, const unsigned char* const* data,
                         const std::size_t* lengths, Image* images, Params* params,
                         CudaStream stream);
  int (*GetHardwareDecoderInfo)(Handle handle, unsigned* engines, unsigned* cores);  // may be null

  // Phases of one picture, for the other backends.
  int (*DecoderCreate)(Handle handle, int backend, Decoder* decoder);
  int (*DecoderDestroy)(Decoder decoder);
  int (*DecoderStateCreate)(Handle handle, Decoder decoder, State* state);
  int (*DecoderJpegSupported)(Decoder decoder, Parsed parsed, Params params, int* not_supported);
  int (*BufferPinnedCreate)(Handle handle, void* allocator, Pinned* pinned);
  int (*BufferPinnedDestroy)(Pinned pinned);
  int (*BufferDeviceCreate)(Handle handle, void* allocator, Buffer* buffer);
  int (*BufferDeviceDestroy)(Buffer buffer);
  int (*StateAttachPinnedBuffer)(State state, Pinned pinned);
  int (*StateAttachDeviceBuffer)(State state, Buffer buffer);
  int (*DecodeJpegHost)(Handle handle, Decoder decoder, State state, Params params, Parsed parsed);
  int (*DecodeJpegTransferToDevice)(Handle handle, Decoder decoder, State state, Parsed parsed,
                                    CudaStream stream);
  int (*DecodeJpegDevice)(Handle handle, Decoder decoder, State state, Image* image,
                          CudaStream stream);
};

}  // namespace penstock::cuda::nvjpeg
