// SPDX-License-Identifier: Apache-2.0
//
// Augmentation: a program of operations as text ("random_resized_crop=224,flip,normalize"), and an
// Augmenter that carries it out for one thread. An AugmentProgram is immutable and shared by all
// threads. An Augmenter belongs to one thread, owns its buffers and must not outlive the program.
// The result depends only on the pixels of the sample, its SampleKey and the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loader/augment/op.h"
#include "loader/augment/plan.h"
#include "loader/decode/image.h"
#include "loader/random/philox.h"
#include "traces/base/result.h"

namespace penstock::loader {

enum class ElementType : std::uint8_t { kU8, kF16, kF32 };
enum class Layout : std::uint8_t { kHwc, kChw };

[[nodiscard]] constexpr std::size_t ElementSize(ElementType type) {
  return type == ElementType::kU8 ? 1 : type == ElementType::kF16 ? 2 : 4;
}

// One output: three channels, R G B.
//
// Units: kU8 0 to 255, rounded to nearest; kF16 (IEEE binary16) and kF32: v / 255, or normalised;
//        halves are rounded to even.
struct OutputFormat {
  ElementType type = ElementType::kU8;
  Layout layout = Layout::kHwc;
  int height = 0;
  int width = 0;

  [[nodiscard]] constexpr std::size_t bytes() const {
    return 3 * static_cast<std::size_t>(height) * static_cast<std::size_t>(width) *
           ElementSize(type);
  }
  constexpr bool operator==(const OutputFormat&) const = default;
};

// The parsed text of `--ops`.
//
// Grammar: OP {"," OP};  OP = NAME [("=" | ":") ARGUMENT {":" ARGUMENT}];
//          ARGUMENT = [KEY "="] (NUMBER | LOW "-" HIGH | HxW | NUMBER {"," NUMBER} | FILTER).
//          Arguments without a key are taken in the order that op.h lists them in.
class AugmentProgram {
 public:
  // Parses `ops`. op.h defines each operation.
  //
  // Errors: kUsage, naming the operation and the remedy: unknown operation, bad argument, an
  //         operation out of order, an output whose shape is not fixed.
  [[nodiscard]] static Result<AugmentProgram> Parse(std::string_view ops, ElementType type,
                                                    Layout layout);

  [[nodiscard]] OutputFormat format() const { return format_; }
  [[nodiscard]] std::span<const Op> ops() const { return ops_; }

  // The name of a span around a step: "random_resized_crop+flip+normalize".
  //
  // Lifetime: as long as the program or a copy of it. A NUL follows the text.
  [[nodiscard]] std::string_view StepName(const Step& step) const;

 private:
  AugmentProgram() = default;

  OutputFormat format_;
  std::vector<Op> ops_;
  // Names of the ranges [first, last) of operations. Shared, so that copies return the same
  // pointers.
  std::shared_ptr<const std::vector<std::string>> names_;
};

// Called around each step that is carried out, for spans. Calls come in pairs and are not nested.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void Begin(std::string_view name) = 0;  // see AugmentProgram::StepName()
  virtual void End() = 0;
};

class Augmenter {
 public:
  using Plan = AugmentPlan;

  explicit Augmenter(const AugmentProgram& program);
  ~Augmenter();
  Augmenter(Augmenter&&) noexcept;
  Augmenter& operator=(Augmenter&&) noexcept;

  // Draws every random parameter for the sample `key` of a picture of this size, and says which
  // region of it must be decoded.
  //
  // Requires: info.width and info.height are at least 1.
  // Cost:     no allocation.
  [[nodiscard]] Plan Draw(const ImageInfo& info, const SampleKey& key) const;

  // Carries out `plan` on the decoded pixels: view pixel (i, j) shows the full-resolution pixels
  // from (covers.x + i * denominator, covers.y + j * denominator) on.
  //
  // Shapes:   out: format().bytes(), [3][height][width] or [height][width][3].
  // Requires: `covers` holds plan.region; out is aligned to an element.
  // Errors:   kUsage if either requirement is not met.
  // Cost:     allocates only for a picture larger than all before it.
  [[nodiscard]] Result<void> Run(const Plan& plan, const ImageView& view, const Region& covers,
                                 int denominator, std::span<std::byte> out);

  // The same for anything with view, covers and denominator, such as JpegDecoder::Decoded.
  template <class Decoded>
  [[nodiscard]] Result<void> Run(const Plan& plan, const Decoded& decoded,
                                 std::span<std::byte> out) {
    return Run(plan, decoded.view, decoded.covers, decoded.denominator, out);
  }

  // Sets the observer, which must outlive the calls of Run(). nullptr: none, which costs nothing.
  void SetObserver(StepObserver* observer);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::loader
