// SPDX-License-Identifier: Apache-2.0
//
// One sample on its way through the stages. Made at the start and used again and again; belongs to
// one thread at a time, handed on through a queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "loader/augment/program.h"
#include "loader/decode/jpeg_decoder.h"
#include "loader/pipeline/options.h"
#include "loader/source/sample.h"
#include "traces/base/result.h"
#include "traces/base/units.h"

namespace penstock::loader {

struct Item {
  // Where it goes.
  std::uint64_t batch = 0;        // number in the stream
  std::uint64_t batch_index = 0;  // of the batch in its epoch
  std::uint64_t index = 0;        // in the batch
  StreamPosition at;
  std::uint64_t sample = 0;  // dataset index that it is made of

  // What is known of it so far.
  SampleScratch scratch;
  SampleRef ref;
  TimeNs due{};  // synthetic latency of storage: not there before
  std::span<const std::byte> file;
  JpegDecoder::Decoded image{};
  bool on_device = false;  // the device decodes it: there is no image
  bool by_cpu = false;     // the device is not asked to
  Augmenter::Plan plan{};
  std::optional<Error> error;  // later stages pass it on

  // What it owns for its whole life.
  std::size_t reader_slot = 0;
  std::size_t home = 0;                  // number of the reading thread it returns to
  std::unique_ptr<JpegDecoder> decoder;  // where another thread augments; else the thread's own
};

}  // namespace penstock::loader
