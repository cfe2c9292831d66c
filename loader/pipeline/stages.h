// SPDX-License-Identifier: Apache-2.0
//
// The stages of one sample as one thread does them: locate, read, decode, augment into the batch,
// with synthetic costs, spans and statistics. Internal to loader/pipeline/. Belongs to one thread.
// An error stays with the item until Finish() handles it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "loader/augment/program.h"
#include "loader/decode/jpeg_decoder.h"
#include "loader/io/object_reader.h"
#include "loader/pipeline/item.h"
#include "loader/pipeline/shared.h"

namespace penstock::loader {

// Records each step of an augmentation as a span.
class StepSpans final : public StepObserver {
 public:
  StepSpans(Tracer& tracer, ThreadTracer& thread) : tracer_(tracer), thread_(thread) {}
  void Begin(std::string_view name) override;
  void End() override { thread_.End(); }

 private:
  Tracer& tracer_;
  ThreadTracer& thread_;
  std::vector<std::pair<const char*, NameId>> names_;  // few; the key is the address of the text
};

class Stages {
 public:
  // `reads`: items that are read at the same time. Errors: kEnvironment for an I/O method that this
  // machine lacks.
  static Result<std::unique_ptr<Stages>> Make(Shared& shared, const Roles& roles, std::size_t reads,
                                              ThreadStats& stats);

  // Sets the tracer of the thread that will call the other functions.
  void SetTracer(ThreadTracer& tracer);

  // Starts the time of the next stage.
  void BeginLap();
  // Adds the counters of reader and decoder to the statistics. The last call.
  void Collect(IoStats* io);

  void Start(Item& item);  // begins its read, which may go on during other work
  void Read(Item& item);
  void Decode(Item& item);
  void Augment(Item& item);
  // Ends the item: replaces or reports what failed, and writes its label and id to the batch.
  void Finish(Item& item);

  // The place of an item in a trace.
  [[nodiscard]] Place PlaceOf(const Item& item) const;
  [[nodiscard]] ThreadTracer& tracer() { return *tracer_; }

 private:
  Stages(Shared& shared, const Roles& roles, ThreadStats& stats);
  template <class Work>
  void Run(Stage stage, Item& item, Work&& work);

  Result<void> Locate(Item& item);
  Result<void> ReadFile(Item& item, ObjectReader* reader);
  Result<void> DecodeFile(Item& item, JpegDecoder* decoder);
  Result<void> MakePixels(Item& item);
  void Replace(Item& item);
  Result<void> MakeSpare(Item& item);
  void Fingerprint(Item& item);
  [[nodiscard]] JpegDecoder& DecoderFor(Item& item);

  Shared& shared_;
  const Roles roles_;
  ThreadStats& stats_;
  ThreadTracer* tracer_ = nullptr;
  std::unique_ptr<ObjectReader> reader_;
  std::optional<JpegDecoder> decoder_;
  std::optional<Augmenter> augmenter_;
  std::optional<StepSpans> step_spans_;
  std::unique_ptr<ObjectReader> spare_reader_;  // reads replacements of damaged samples
  struct Clocks {
    TimeNs wall, cpu;
  };
  static Clocks ReadClocks();

  Clocks lap_{};
};

}  // namespace penstock::loader
