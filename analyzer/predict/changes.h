// SPDX-License-Identifier: Apache-2.0
//
// Changes of the data, its storage, its decoder, or of where a stage runs: what --transfer,
// --ram-cache, --pack, --offline-resize, --decoder, --disk and --gpu of penstock whatif ask.
// Values; pure functions.
//
// What a trace cannot tell is assumed, and said in the notes:
// - memory is read at 2 GB/s by one core; packed files have no cost of their own left;
// - decoding and the bytes of files are in proportion to pixels; pictures are 4 : 3;
// - half of what handing a batch over takes is in proportion to its bytes; collating, pinning and
//   copying to the device are all of it.
#pragma once

#include <string>
#include <vector>

#include "analyzer/model/material.h"
#include "analyzer/predict/device_costs.h"
#include "analyzer/predict/scenario.h"
#include "analyzer/words/refusal.h"
#include "analyzer/words/statement.h"
#include "traces/base/result.h"

namespace penstock::analyzer {

struct Changes {
  std::string transfer;  // u8, f16 or f32, or f32:u8: of pixels from the workers to the device
  bool ram_cache = false;
  bool pack = false;
  double resize = 0;      // longest side of all pictures, in pixels
  std::string decoder;    // FindDecoder()
  double disk = 0;        // bytes a second that all reads share; 0: what the trace shows
  bool alone = false;     // without the other programs of the recording
  double cores = 0;       // of a machine without other programs; 0: as recorded
  double core_speed = 1;  // of such a machine's cores, times that of the recorded ones
  bool gpu_decode = false;
  bool gpu_augment = false;
  double gpu_overlap = 0;  // of the stages' device time, that runs beside the step

  [[nodiscard]] bool any() const;
};

struct Changed {
  Pipeline pipeline;
  LoaderFacts facts;
  double memory = 0;  // bytes besides batches and workers
  Statements notes;
};

// Errors: kInput where the trace lacks what a change depends on; kUsage for
// changes that contradict each other or name what is not known.
[[nodiscard]] Predicted<Changed> ApplyChanges(const Pipeline& pipeline, const LoaderFacts& facts,
                                              const Material& material, const Changes& changes,
                                              const DeviceCosts& costs);

}  // namespace penstock::analyzer
