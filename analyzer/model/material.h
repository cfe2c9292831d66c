// SPDX-License-Identifier: Apache-2.0
//
// Sizes, types and devices of a run's samples, as far as its trace tells. Predictions for other
// data, storage or decoders need them. Values; pure. Units: bytes; 0 where not known.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/model/reads.h"
#include "analyzer/model/run_model.h"
#include "traces/trace.h"

namespace penstock::analyzer {

enum class Media {
  kUnknown,
  kPictures,
  kOther,  // video, sound, arrays or tables
};

struct Material {
  Media media = Media::kUnknown;  // what most of the decoding gives
  std::string decode_call;        // the decode call that takes longest, of those that give no
                                  // pictures
  std::string format;             // of the pictures: "png", "mixed" and so on, from the names of
                                  // decoders, else from FileFormats::Main()
  double file_bytes = 0;          // bytes read for one sample
  double decoded_bytes = 0;       // bytes that decoding one sample gave; for pictures three per
                                  // pixel
  double sample_bytes = 0;        // mean bytes of one sample in a collated batch
  double torch_share = 0;         // fraction of its memory that PyTorch allocated; 0: not known
  double f32 = 0, f16 = 0, u8 = 0, i64 = 0, other = 0;  // bytes of one batch, by data type
  std::string decoder;                                  // a name for FindDecoder(); "": not known
  double conversion = 0;     // fraction of augmenting: conversion to floating point, normalising
  double dataset_bytes = 0;  // of all its files: from a fact; from the files seen, if it comes back
                             // to them for other samples (FilesSeen); else read in one pass
  double memory = 0;         // half of what the run may use on its host
  std::string gpu;           // its model; "": not known
  bool device = false;  // a device was recorded that the run may use, or something that one did
  ReadCosts reads;

  [[nodiscard]] double batch_bytes() const { return f32 + f16 + u8 + i64 + other; }
  [[nodiscard]] double megapixels() const { return decoded_bytes / 3e6; }
  // Whether figures for JPEG files may apply: nothing shows that the files are of another format.
  [[nodiscard]] bool may_be_jpeg() const {
    return media != Media::kOther && (format.empty() || format == "jpeg");
  }
};

// Whether a decode span of this name gives a picture, whose bytes are three per pixel.
[[nodiscard]] bool DecodesPicture(std::string_view name);

// Whether a transform of this name turns pixels into floating point or normalises them.
[[nodiscard]] bool MakesFloats(std::string_view transform);

[[nodiscard]] Material MaterialOf(const traces::Trace& trace, const RunModel& model,
                                  const LoaderRun& run);

}  // namespace penstock::analyzer
