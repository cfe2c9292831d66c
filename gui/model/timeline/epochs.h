// SPDX-License-Identifier: Apache-2.0
//
// The epochs of a trace as a person counts them. A trace numbers the iterators of all loaders of a
// training process together; each loader's epochs are counted here from 1. Values; pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gui/model/words/texts.h"
#include "traces/trace.h"

namespace penstock::gui {

// The number of an iterator.
using Generation = std::uint16_t;

struct Epoch {
  Generation generation = 0;
  std::uint32_t number = 0;  // among the epochs of its loader, from 1
  int loader = -1;           // k in the facts loader.<k>.*; -1: not known
};

class Epochs {
 public:
  Epochs() = default;
  // `found`: the generations that occur in the trace. The fact epoch.<generation> names the loader
  // of a generation. Without such a fact, an epoch's number is its generation, or its generation +
  // 1 if the generations begin at 0.
  Epochs(const traces::Trace& trace, std::vector<Generation> found);

  // Whether there are several epochs, so that several batches may have the same number.
  [[nodiscard]] bool several() const { return epochs_.size() > 1; }
  // Whether the epochs belong to several loaders, so that several epochs may have the same number.
  [[nodiscard]] bool several_loaders() const { return several_loaders_; }
  [[nodiscard]] std::uint32_t NumberOf(Generation generation) const;
  // -1: not known.
  [[nodiscard]] int LoaderOf(Generation generation) const;
  // The epochs with batches, by generation.
  [[nodiscard]] const std::vector<Epoch>& all() const { return epochs_; }

 private:
  [[nodiscard]] const Epoch* Find(Generation generation) const;

  std::vector<Epoch> epochs_;
  bool several_loaders_ = false;
};

// What follows the word "batch" in the name of a batch: "12"; with several epochs, "12 of epoch 3";
// with several loaders, "12 of epoch 3, train.py:88". `loaders`: their names by id.
[[nodiscard]] std::string BatchName(const Epochs& epochs, std::uint32_t batch,
                                    Generation generation, const std::vector<std::string>& loaders,
                                    Language language);

}  // namespace penstock::gui
