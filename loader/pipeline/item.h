// SPDX-License-Identifier: Apache-2.0
//
// One sample on its way through the stages. Items are made at the start and used again and again.
// An item belongs to one thread at a time, which hands it on through a queue.
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
  // The sample's place in the stream.
  std::uint64_t batch = 0;        // number in the stream
  std::uint64_t batch_index = 0;  // of the batch in its epoch
  std::uint64_t index = 0;        // in the batch
  StreamPosition at;
  std::uint64_t sample = 0;  // dataset index from which it is made

  // What the stages so far have found out.
  SampleScratch scratch;
  SampleRef ref;
  TimeNs due{};  // with a synthetic cost of reading: when its sleep ends, or the CPU time to burn
  std::span<const std::byte> file;
  JpegDecoder::Decoded image{};
  bool on_device = false;  // the device decodes it: there is no image
  bool by_cpu = false;     // the device must not decode it
  Size picture;            // of the whole image
  Augmenter::Plan plan{};
  std::optional<Error> error;  // if set, later stages do nothing

  // What belongs to the item for its whole life.
  std::size_t reader_slot = 0;
  std::size_t home = 0;                  // number of the reading thread to which it returns
  std::unique_ptr<JpegDecoder> decoder;  // only if another thread augments
};

}  // namespace penstock::loader
