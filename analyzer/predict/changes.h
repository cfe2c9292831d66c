// SPDX-License-Identifier: Apache-2.0
//
// Changes of the data, its storage, its decoder, the cores, or the place where a stage runs. They
// implement --transfer, --ram-cache, --pack, --offline-resize, --decoder, --disk, --gpu, --alone,
// --cores and --core-speed of penstock whatif. Values; pure functions.
//
// A trace does not contain these facts, so they are assumed:
// - one core reads memory at 2 GB/s;
// - the time to read a sample from a packed file depends only on the sample's bytes;
// - without a device the training loop converts the batches that come as bytes, in one thread
//   (kConvertPerByte);
// - decoding and the bytes of files are in proportion to pixels; pictures are 4 : 3;
// - half of the time of a handover is in proportion to the batch's bytes, and so is all of the time
//   of collate, pinning and copies to the device.
// Changed::notes lists the assumptions that a user can check.
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
  std::string transfer;  // type in which pixels are copied to the device: u8, f16 or f32; or
                         // f32:u8, the recorded type and the new one
  bool ram_cache = false;
  bool pack = false;
  double resize = 0;      // longest side of all pictures, in pixels
  std::string decoder;    // a name for FindDecoder()
  double disk = 0;        // bytes per second of the storage for all reads together; 0: as recorded
  bool alone = false;     // without the other programs of the recording
  double cores = 0;       // number of cores, without other programs; 0: as recorded
  bool several = false;   // `cores` is one of several numbers in a table
  double core_speed = 1;  // speed of these cores, divided by that of the recorded ones
  bool gpu_decode = false;
  bool gpu_augment = false;
  double gpu_overlap = 0;  // share of the stages' device time that runs beside the step

  bool operator==(const Changes&) const = default;
  [[nodiscard]] bool any() const;
};

struct Changed {
  Pipeline pipeline;
  LoaderFacts facts;
  double memory = 0;  // bytes on top of batches and workers
  Statements notes;
};

// Errors: kInput if the trace lacks something that a change depends on; kUsage for changes that
//         contradict each other or have an unknown name.
[[nodiscard]] Predicted<Changed> ApplyChanges(const Pipeline& pipeline, const LoaderFacts& facts,
                                              const Material& material, const Changes& changes,
                                              const DeviceCosts& costs);

}  // namespace penstock::analyzer
