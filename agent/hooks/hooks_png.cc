// SPDX-License-Identifier: Apache-2.0
//
// libpng: one `decode` record per image, from png_read_info to png_read_end or, for programs that
// skip the end, to png_destroy_read_struct. Row calls are not hooked: when the struct is destroyed,
// the hook asks libpng how many rows were read. The simplified API (png_image_*) is one span per
// call. Errors leave libpng by longjmp, so nothing is held across a call. In some builds libpng
// calls itself through its PLT, so a hook may be entered while another hook's real function runs.
#include <stddef.h>
#include <stdint.h>

#include "agent/hooks/hooks_codec.h"

namespace penstock::agent {
namespace {

PENSTOCK_NAME(decode_name, "png");
PENSTOCK_NAME(header_name, "png header");

enum Phase : uint32_t { kHeader = 1, kRows = 2, kWhole = 3 };  // Operation::phase

const char simplified_api = 0;  // its address is the key of the operation "inside png_image_*"

Symbol get_height = {"png_get_image_height", nullptr};
Symbol get_row_bytes = {"png_get_rowbytes", nullptr};
Symbol get_interlace = {"png_get_interlace_type", nullptr};
Symbol get_row = {"png_get_current_row_number", nullptr};
Symbol get_pass = {"png_get_current_pass_number", nullptr};

void Forget(Operation* operation) {
  operation->key = nullptr;
  HideOperation();
}

Operation* Start(const void* png, Phase phase) {
  if (ProgramWrites(wire::kDecode)) return nullptr;
  Operation* const operation = AddOperation(png);
  if (operation == nullptr) return nullptr;
  operation->cpu_start = ThreadCpu();
  operation->start = Now();
  operation->phase = phase;
  ShowOperation(wire::kDecode, Name(&decode_name), operation->start);
  return operation;
}

void Close(Operation* operation, NameTag* name, uint8_t flags) {
  const uint64_t end = Now();
  const uint64_t cpu = ThreadCpu() - operation->cpu_start;
  const uint64_t start = operation->start;
  const uint64_t bytes = operation->bytes;
  Forget(operation);
  Emit({.stage = wire::kDecode,
        .flags = static_cast<uint8_t>(wire::kFlagCpu | flags),
        .name = Name(name),
        .start = start,
        .duration = end - start,
        .work = cpu,
        .bytes = bytes});
}

// Fills in size and interlacing as soon as libpng knows them.
void Measure(Operation* operation, const void* png, const void* info, void* return_address) {
  using Get32 = uint32_t(const void*, const void*);
  auto* const height = Companion<Get32>(&get_height, return_address);
  auto* const row_bytes =
      Companion<size_t(const void*, const void*)>(&get_row_bytes, return_address);
  auto* const interlace =
      Companion<unsigned char(const void*, const void*)>(&get_interlace, return_address);
  if (height == nullptr || row_bytes == nullptr) return;
  operation->height = height(png, info);
  operation->bytes = uint64_t{operation->height} * row_bytes(png, info);
  if (interlace != nullptr && interlace(png, info) != 0) operation->interlaced = true;
}

// Called by hooks that continue an operation. nullptr if there is none, or if png_read_png() makes
// this call (phase kWhole).
Operation* Continue(const void* png, Phase phase) {
  Operation* const operation = FindOperation(png);
  if (operation == nullptr || operation->phase == kWhole) return nullptr;
  operation->phase = phase;
  operation->in_call = true;
  return operation;
}

void LeaveCall(const void* png) {
  Operation* const operation = FindOperation(png);
  if (operation == nullptr || operation->phase == kWhole) return;
  operation->in_call = false;
}

// Whether the passes of an interlaced image are over. True for libpng before 1.5, which cannot say.
bool PassesAreOver(const void* png, void* return_address) {
  constexpr unsigned kPasses = 7;
  auto* const pass = Companion<unsigned char(const void*)>(&get_pass, return_address);
  return pass == nullptr || pass(png) >= kPasses;
}

// Closes an operation whose struct is destroyed without png_read_end.
void CloseUnfinished(Operation* operation, const void* png, void* return_address) {
  if (operation->in_call) return Close(operation, &decode_name, wire::kFlagError);
  auto* const current = Companion<uint32_t(const void*)>(&get_row, return_address);
  const uint32_t row = current != nullptr ? current(png) : operation->height;
  if (operation->phase == kHeader && row == 0) return Close(operation, &header_name, 0);
  // The row number is 0 at the begin of each pass, and after the last one.
  const bool complete = row >= operation->height ||
                        (row == 0 && operation->interlaced && PassesAreOver(png, return_address));
  Close(operation, &decode_name, complete ? uint8_t{0} : wire::kFlagError);
}

// The fields of struct png_image up to the last one needed; public since libpng 1.6.
struct PngImage {
  void* opaque;
  uint32_t version;
  uint32_t width;
  uint32_t height;
  uint32_t format;
};

uint64_t BytesOf(const PngImage* image) {
  const uint32_t format = image->format;
  const bool mapped = (format & 8) != 0;  // one byte per pixel, whatever the map's entries are
  const uint32_t channels = mapped ? 1 : (format & 3) + 1;
  const uint32_t sample = !mapped && (format & 4) != 0 ? 2 : 1;  // linear: 16 bits
  return uint64_t{image->width} * image->height * channels * sample;
}

// Runs one call of the simplified API, whose errors are return values.
template <typename Call>
int RunSimplified(NameTag* name, void* frame, const PngImage* image, bool pixels, Call call) {
  const Token token = OpenSpan(Stage::kDecode, name, frame);
  if (token.depth == 0) return call();
  if (Operation* const inside = AddOperation(&simplified_api)) inside->start = Now();
  const int result = call();
  if (Operation* const inside = FindOperation(&simplified_api)) inside->key = nullptr;
  CloseSpan(token, pixels && image != nullptr ? BytesOf(image) : 0, result == 0);
  return result;
}

}  // namespace
}  // namespace penstock::agent

using namespace penstock::agent;  // NOLINT: definitions of C symbols follow

#define PENSTOCK_REAL(function, failure)                                                \
  static Symbol symbol = {#function, nullptr};                                          \
  auto* const real = RealFor<decltype(function)>(&symbol, __builtin_return_address(0)); \
  if (real == nullptr) return failure

PENSTOCK_EXPORT void png_read_info(void* png, void* info) {
  PENSTOCK_REAL(png_read_info, );
  if (!Recording() || FindOperation(&simplified_api) != nullptr) return real(png, info);
  Operation* operation = FindOperation(png);
  if (operation != nullptr && operation->phase == kWhole) {
    return real(png, info);
  }
  // This is called once for each struct. An existing operation is therefore left over from an
  // earlier struct at the same address.
  if (operation != nullptr) Forget(operation);
  operation = Start(png, kHeader);
  if (operation != nullptr) operation->in_call = true;
  real(png, info);
  operation = FindOperation(png);
  if (operation == nullptr) return;
  operation->phase = kHeader;
  operation->in_call = operation->interlaced = false;
  Measure(operation, png, info, __builtin_return_address(0));
}

PENSTOCK_EXPORT void png_read_update_info(void* png, void* info) {
  PENSTOCK_REAL(png_read_update_info, );
  Operation* operation = Recording() ? Continue(png, kRows) : nullptr;
  real(png, info);
  if (operation == nullptr) return;
  LeaveCall(png);
  operation = FindOperation(png);
  if (operation != nullptr) Measure(operation, png, info, __builtin_return_address(0));
}

PENSTOCK_EXPORT void png_start_read_image(void* png) {
  PENSTOCK_REAL(png_start_read_image, );
  Operation* const operation = Recording() ? Continue(png, kRows) : nullptr;
  real(png);
  if (operation != nullptr) LeaveCall(png);
}

PENSTOCK_EXPORT void png_read_image(void* png, unsigned char** rows) {
  PENSTOCK_REAL(png_read_image, );
  Operation* const operation = Recording() ? Continue(png, kRows) : nullptr;
  real(png, rows);
  if (operation != nullptr) LeaveCall(png);
}

PENSTOCK_EXPORT void png_read_end(void* png, void* info) {
  PENSTOCK_REAL(png_read_end, );
  Operation* operation = Recording() ? Continue(png, kRows) : nullptr;
  real(png, info);
  if (operation == nullptr) return;
  operation = FindOperation(png);
  if (operation != nullptr) Close(operation, &decode_name, 0);
}

PENSTOCK_EXPORT void png_read_png(void* png, void* info, int transforms, void* parameters) {
  PENSTOCK_REAL(png_read_png, );
  if (!Recording()) return real(png, info, transforms, parameters);
  Operation* operation = FindOperation(png);
  if (operation != nullptr) Forget(operation);
  operation = Start(png, kWhole);
  if (operation != nullptr) operation->in_call = true;
  real(png, info, transforms, parameters);
  operation = FindOperation(png);
  if (operation == nullptr) return;
  Measure(operation, png, info, __builtin_return_address(0));
  Close(operation, &decode_name, 0);
}

PENSTOCK_EXPORT void png_destroy_read_struct(void** png, void** info, void** end_info) {
  PENSTOCK_REAL(png_destroy_read_struct, );
  if (Recording() && png != nullptr && *png != nullptr) {
    if (Operation* const operation = FindOperation(*png)) {
      CloseUnfinished(operation, *png, __builtin_return_address(0));
    }
  }
  real(png, info, end_info);
}

PENSTOCK_EXPORT int png_image_begin_read_from_file(PngImage* image, const char* path) {
  PENSTOCK_REAL(png_image_begin_read_from_file, 0);
  return RunSimplified(&header_name, __builtin_frame_address(0), image, false,
                       [=] { return real(image, path); });
}

PENSTOCK_EXPORT int png_image_begin_read_from_stdio(PngImage* image, void* file) {
  PENSTOCK_REAL(png_image_begin_read_from_stdio, 0);
  return RunSimplified(&header_name, __builtin_frame_address(0), image, false,
                       [=] { return real(image, file); });
}

PENSTOCK_EXPORT int png_image_begin_read_from_memory(PngImage* image, const void* memory,
                                                     size_t size) {
  PENSTOCK_REAL(png_image_begin_read_from_memory, 0);
  return RunSimplified(&header_name, __builtin_frame_address(0), image, false,
                       [=] { return real(image, memory, size); });
}

PENSTOCK_EXPORT int png_image_finish_read(PngImage* image, const void* background, void* pixels,
                                          int32_t row_stride, void* colormap) {
  PENSTOCK_REAL(png_image_finish_read, 0);
  return RunSimplified(&decode_name, __builtin_frame_address(0), image, true,
                       [=] { return real(image, background, pixels, row_stride, colormap); });
}
