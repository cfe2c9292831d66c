// SPDX-License-Identifier: Apache-2.0
//
// libjpeg in every ABI (6b, 7, 8, 9, libjpeg-turbo, mozjpeg): one `decode` record per image, from
// jpeg_read_header to jpeg_finish_decompress. Scanline calls are not hooked.
//
// The struct itself tells which copy of libjpeg made it: cinfo->mem->alloc_small points into that
// copy. Passing it to another copy would cause "Wrong JPEG library version" or a corrupted heap.
// Errors leave libjpeg by longjmp, so nothing is held across a call: what happened is reconstructed
// when the struct is aborted or destroyed.
#include <stddef.h>
#include <stdint.h>

#include "agent/hooks/hooks_codec.h"

namespace penstock::agent {
namespace {

// The first fields of struct jpeg_decompress_struct, equal in every ABI on LP64 (checked against
// the installed header in tests/agent/codecs/layout_test.cc).
struct Decompress {
  void* err;
  void** mem;  // struct jpeg_memory_mgr; [0] = alloc_small
  void* progress;
  void* client_data;
  int is_decompressor;
  int global_state;
  void* src;
  uint32_t image_width;
  uint32_t image_height;
  int num_components;
  uint32_t colour_and_scale[4];
  double output_gamma;
  uint32_t options[12];
  uint32_t output_width;
  uint32_t output_height;
  uint32_t output_shape[4];
  void* colormap;
  uint32_t output_scanline;
};
static_assert(sizeof(void*) == 8, "offsets below are those of LP64");
static_assert(offsetof(Decompress, image_width) == 48);
static_assert(offsetof(Decompress, output_height) == 140);
static_assert(offsetof(Decompress, output_scanline) == 168);

constexpr int kStateStart = 200;     // DSTATE_START: created or aborted
constexpr int kStateStopping = 210;  // DSTATE_STOPPING: all lines read, looking for the end
constexpr int kHeaderOk = 1;
constexpr int kTablesOnly = 2;

enum Phase : uint32_t { kHeader = 1, kStarted = 2, kFinishing = 3 };  // Operation::phase

PENSTOCK_NAME(decode_name, "jpeg");
PENSTOCK_NAME(header_name, "jpeg header");

Symbol read_header = {"jpeg_read_header", nullptr};
Symbol start_decompress = {"jpeg_start_decompress", nullptr};
Symbol finish_decompress = {"jpeg_finish_decompress", nullptr};
Symbol abort_decompress = {"jpeg_abort_decompress", nullptr};
Symbol destroy_decompress = {"jpeg_destroy_decompress", nullptr};
Symbol abort_any = {"jpeg_abort", nullptr};
Symbol destroy_any = {"jpeg_destroy", nullptr};

void* Real(Symbol* symbol, const Decompress* cinfo, void* return_address) {
  if (cinfo != nullptr && cinfo->mem != nullptr && cinfo->mem[0] != nullptr) {
    if (void* real = RealInObjectOf(symbol, cinfo->mem[0])) return real;
  }
  void* real = RealForCaller(symbol, return_address);
  if (real == nullptr) CountMiss();
  return real;
}

void Forget(Operation* operation) {
  operation->key = nullptr;
  HideOperation();
}

Operation* Start(const Decompress* cinfo, Phase phase) {
  if (ProgramWrites(wire::kDecode)) return nullptr;
  Operation* const operation = AddOperation(cinfo);
  if (operation == nullptr) return nullptr;
  // Inside another decode (PIL.load, cv::imread) CPU time is not read, since the outer span has it.
  operation->cpu_start = OpenSpans(wire::kDecode) == 0 ? ThreadCpu() : 0;
  operation->start = Now();
  operation->phase = phase;
  ShowOperation(wire::kDecode, Name(&decode_name), operation->start);
  return operation;
}

void SetPhase(Operation* operation, Phase phase, bool in_call) {
  operation->phase = phase;
  operation->in_call = in_call;
  operation->aborted = 0;
}

void SetPhase(const Decompress* cinfo, Phase phase, bool in_call) {
  if (Operation* const operation = FindOperation(cinfo)) SetPhase(operation, phase, in_call);
}

uint64_t BytesOf(const Decompress* cinfo) {
  const int components = cinfo->num_components;
  if (components < 1 || components > 10) return 0;
  return uint64_t{cinfo->image_width} * cinfo->image_height * static_cast<uint64_t>(components);
}

void Close(Operation* operation, NameTag* name, uint8_t flags) {
  const uint64_t end = Now();
  const bool has_cpu = operation->cpu_start != 0;
  const uint64_t cpu = has_cpu ? ThreadCpu() - operation->cpu_start : 0;
  const uint64_t start = operation->start;
  const uint64_t bytes = operation->bytes;
  Forget(operation);
  Emit({.stage = wire::kDecode,
        .flags = static_cast<uint8_t>((has_cpu ? wire::kFlagCpu : 0) | flags),
        .name = Name(name),
        .start = start,
        .duration = end - start,
        .work = cpu,
        .bytes = bytes});
}

// Closes an operation that did not end with jpeg_finish_decompress.
void CloseUnfinished(Operation* operation, const Decompress* cinfo) {
  const uint32_t phase = operation->phase;
  const bool in_call = operation->in_call;
  if (operation->aborted != 0) {  // it ended then, see jpeg_abort
    const uint64_t end = operation->aborted;
    const uint64_t start = operation->start;
    Forget(operation);
    Emit({.stage = wire::kDecode,
          .flags = wire::kFlagError,
          .name = Name(&decode_name),
          .start = start,
          .duration = end - start});
  } else if (phase == kHeader && !in_call) {
    Close(operation, &header_name, 0);
  } else {
    // An image also counts as complete if the program destroys the struct right after the last
    // line.
    const bool complete = phase == kFinishing
                              ? cinfo->global_state == kStateStopping
                              : !in_call && phase == kStarted && cinfo->output_height != 0 &&
                                    cinfo->output_scanline >= cinfo->output_height;
    Close(operation, &decode_name, complete ? uint8_t{0} : wire::kFlagError);
  }
}

void CloseOn(const Decompress* cinfo) {
  if (Operation* const operation = FindOperation(cinfo)) CloseUnfinished(operation, cinfo);
}

}  // namespace
}  // namespace penstock::agent

using namespace penstock::agent;  // NOLINT: definitions of C symbols follow

PENSTOCK_EXPORT int jpeg_read_header(Decompress* cinfo, int require_image) {
  auto* const real = reinterpret_cast<int (*)(Decompress*, int)>(
      Real(&read_header, cinfo, __builtin_return_address(0)));
  if (real == nullptr) return 0;  // JPEG_SUSPENDED
  if (!Recording()) return real(cinfo, require_image);
  Operation* operation = FindOperation(cinfo);
  if (operation != nullptr && cinfo->global_state == kStateStart) {
    // The operation is left over from an image that was abandoned, or from an earlier struct at the
    // same address.
    if (operation->aborted != 0)
      CloseUnfinished(operation, cinfo);
    else
      Forget(operation);
    operation = nullptr;
  }
  if (operation == nullptr) operation = Start(cinfo, kHeader);
  if (operation != nullptr) SetPhase(operation, kHeader, true);

  const int result = real(cinfo, require_image);

  operation = FindOperation(cinfo);
  if (operation == nullptr) return result;
  SetPhase(operation, kHeader, false);
  if (result == kHeaderOk) {
    operation->bytes = BytesOf(cinfo);
  } else if (result == kTablesOnly) {
    operation->bytes = 0;
    Close(operation, &header_name, 0);
  }
  return result;
}

PENSTOCK_EXPORT int jpeg_start_decompress(Decompress* cinfo) {
  auto* const real = reinterpret_cast<int (*)(Decompress*)>(
      Real(&start_decompress, cinfo, __builtin_return_address(0)));
  if (real == nullptr) return 0;
  if (!Recording()) return real(cinfo);
  Operation* operation = FindOperation(cinfo);
  if (operation == nullptr) operation = Start(cinfo, kStarted);
  if (operation != nullptr) {
    operation->bytes = BytesOf(cinfo);
    SetPhase(operation, kStarted, true);
  }
  const int result = real(cinfo);
  SetPhase(cinfo, kStarted, false);
  return result;
}

PENSTOCK_EXPORT int jpeg_finish_decompress(Decompress* cinfo) {
  auto* const real = reinterpret_cast<int (*)(Decompress*)>(
      Real(&finish_decompress, cinfo, __builtin_return_address(0)));
  if (real == nullptr) return 0;
  if (!Recording()) return real(cinfo);
  SetPhase(cinfo, kFinishing, true);
  const int result = real(cinfo);
  if (Operation* const operation = FindOperation(cinfo)) {
    if (result != 0)
      Close(operation, &decode_name, 0);
    else
      SetPhase(operation, kStarted, false);  // suspended: it will be called again with more data
  }
  return result;
}

PENSTOCK_EXPORT void jpeg_abort_decompress(Decompress* cinfo) {
  auto* const real = reinterpret_cast<void (*)(Decompress*)>(
      Real(&abort_decompress, cinfo, __builtin_return_address(0)));
  if (Recording()) CloseOn(cinfo);
  if (real != nullptr) real(cinfo);
}

PENSTOCK_EXPORT void jpeg_destroy_decompress(Decompress* cinfo) {
  auto* const real = reinterpret_cast<void (*)(Decompress*)>(
      Real(&destroy_decompress, cinfo, __builtin_return_address(0)));
  if (Recording()) CloseOn(cinfo);
  if (real != nullptr) real(cinfo);
}

// Also called for compressors, which are never in the table.
PENSTOCK_EXPORT void jpeg_abort(Decompress* cinfo) {
  auto* const real =
      reinterpret_cast<void (*)(Decompress*)>(Real(&abort_any, cinfo, __builtin_return_address(0)));
  if (Recording()) {
    if (Operation* const operation = FindOperation(cinfo)) {
      if (operation->phase == kHeader && operation->in_call && operation->aborted == 0) {
        // This is either libjpeg's own call, in a jpeg_read_header that is about to return
        // JPEG_HEADER_TABLES_ONLY, or the program's call after an error. The next call on the
        // struct shows which of the two it is.
        operation->aborted = Now();
      } else {
        CloseUnfinished(operation, cinfo);
      }
    }
  }
  if (real != nullptr) real(cinfo);
}

PENSTOCK_EXPORT void jpeg_destroy(Decompress* cinfo) {
  auto* const real = reinterpret_cast<void (*)(Decompress*)>(
      Real(&destroy_any, cinfo, __builtin_return_address(0)));
  if (Recording()) CloseOn(cinfo);
  if (real != nullptr) real(cinfo);
}
