// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "loader/augment/axes.h"
#include "loader/augment/pixel_ops.h"
#include "loader/augment/program.h"
#include "loader/augment/resample.h"

namespace penstock::loader {
namespace {

constexpr std::int64_t kMaxPixels = std::int64_t{1} << 28;  // the most between two steps

// What the picture is at the moment: decoded pixels, or a buffer of ours.
struct Current {
  ImageView view;
  Region covers;
  int denominator = 1;
};

bool IsCopy(const Step& step, const Current& current) {
  return current.denominator == 1 && !step.flip_x && !step.flip_y &&
         step.scaled.width == step.source.width && step.scaled.height == step.source.height;
}

bool Holds(const Current& current, const Region& region) {
  const int d = current.denominator;
  const int x = region.x - current.covers.x;
  const int y = region.y - current.covers.y;
  return d >= 1 && x >= 0 && y >= 0 && region.width >= 1 && region.height >= 1 &&
         (x + region.width - 1) / d < current.view.width &&
         (y + region.height - 1) / d < current.view.height &&
         current.view.stride >= 3 * std::ptrdiff_t{current.view.width};
}

}  // namespace

struct Augmenter::State {
  explicit State(const AugmentProgram& its_program) : program(&its_program) {
    const OutputScale output = OutputScaleOf(its_program);
    scale = output.scale;
    bias = output.bias;
  }

  // The buffer that does not hold `current`.
  Picture Other(const Current& current, Size size) {
    Buffer<std::uint8_t>& buffer =
        current.view.pixels == buffers[0].data() ? buffers[1] : buffers[0];
    const std::size_t bytes =
        3 * static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
    return {buffer.Reserve(bytes + kPictureSlack), size.width, size.height};
  }

  bool ResampleTo(const Step& step, const Current& current, const OutputFormat& format, bool final,
                  std::byte* out);
  bool RunStep(const Step& step, Current& current);
  void Mask(const Step& step, const OutputFormat& format, std::byte* data);

  const AugmentProgram* program;
  StepObserver* observer = nullptr;
  std::array<float, 3> scale{};
  std::array<float, 3> bias{};
  std::array<Buffer<std::uint8_t>, 2> buffers;
  Buffer<std::uint8_t> columns;
  ResampleScratch resample;
  BlurScratch blur;
};

bool Augmenter::State::ResampleTo(const Step& step, const Current& current,
                                  const OutputFormat& format, bool final, std::byte* out) {
  const bool bytes = format.type == ElementType::kU8 && format.layout == Layout::kHwc;
  if (bytes && IsCopy(step, current)) {
    const Region from = {step.source.x + step.window.x - current.covers.x,
                         step.source.y + step.window.y - current.covers.y, step.window.width,
                         step.window.height};
    if (!Holds({current.view, {}, 1}, from)) return false;
    PadTo(current.view, from.x, from.y,
          {reinterpret_cast<std::uint8_t*>(out), from.width, from.height});
    return true;
  }
  ResampleJob job;
  job.source = current.view;
  const Axes axes = AxesOf(step, current.covers, current.denominator);
  job.x = axes.x;
  job.y = axes.y;
  job.format = format;
  if (final) {
    job.scale = scale;
    job.bias = bias;
  }
  job.out = out;
  return Resample(job, resample);
}

void Augmenter::State::Mask(const Step& step, const OutputFormat& format, std::byte* data) {
  if (step.kind == StepKind::kErase) {
    Erase(data, format, step.window, step.amount[0]);
    return;
  }
  const Op& op = program->ops()[step.first];
  MaskGrid(data, format, {op.tile, op.fraction, step.amount[0], step.amount[1], step.amount[2]},
           columns);
}

// Runs a step before the final one, from a picture to a picture. False if `current` lacks pixels.
bool Augmenter::State::RunStep(const Step& step, Current& current) {
  Picture picture{const_cast<std::uint8_t*>(current.view.pixels),  // ours after the first step
                  current.view.width, current.view.height};
  const OutputFormat format = {ElementType::kU8, Layout::kHwc, step.out.height, step.out.width};
  const std::array<double, 3>& amount = step.amount;
  switch (step.kind) {
    case StepKind::kBrightness:
      AdjustBrightness(picture, amount[0]);
      return true;
    case StepKind::kContrast:
      AdjustContrast(picture, amount[0]);
      return true;
    case StepKind::kSaturation:
      AdjustSaturation(picture, amount[0]);
      return true;
    case StepKind::kHsv:
      AdjustHsv(picture, amount[0], amount[1], amount[2]);
      return true;
    case StepKind::kErase:
    case StepKind::kGridMask:
      Mask(step, format, reinterpret_cast<std::byte*>(picture.pixels));
      return true;
    default:
      break;
  }
  const Picture to = Other(current, step.out);
  if (step.kind == StepKind::kResample) {
    if (!ResampleTo(step, current, format, false, reinterpret_cast<std::byte*>(to.pixels))) {
      return false;
    }
  } else if (step.kind == StepKind::kPad) {
    PadTo(current.view, step.window.x, step.window.y, to);
  } else if (step.kind == StepKind::kRotate) {
    Rotate(picture, to, amount[0], step.filter);
  } else {
    GaussianBlur(picture, to, static_cast<int>(amount[1]), amount[0], blur);
  }
  current.view = {to.pixels, to.width, to.height, 3 * std::ptrdiff_t{to.width}};
  current.covers = {0, 0, to.width, to.height};
  current.denominator = 1;
  return true;
}

Augmenter::Augmenter(const AugmentProgram& program) : state_(std::make_unique<State>(program)) {}
Augmenter::~Augmenter() = default;
Augmenter::Augmenter(Augmenter&&) noexcept = default;
Augmenter& Augmenter::operator=(Augmenter&&) noexcept = default;

void Augmenter::SetObserver(StepObserver* observer) {
  state_->observer = observer;
}

AugmentPlan Augmenter::Draw(const ImageInfo& info, const SampleKey& key) const {
  return DrawPlan(state_->program->ops(), {info.width, info.height}, key);
}

Result<void> Augmenter::Run(const Plan& plan, const ImageView& view, const Region& covers,
                            int denominator, std::span<std::byte> out) {
  State& state = *state_;
  const OutputFormat format = state.program->format();
  if (out.size() != format.bytes() ||
      reinterpret_cast<std::uintptr_t>(out.data()) % ElementSize(format.type) != 0) {
    return Fail(ErrorKind::kUsage, fmt::format("augmentation writes {} aligned bytes, not {}",
                                               format.bytes(), out.size()));
  }
  Current current{view, covers, denominator};
  const auto lacking = [&] {
    return Fail(
        ErrorKind::kUsage,
        fmt::format("augmentation needs {}x{} pixels at ({}, {}), but was given {}x{} at ({}, {})",
                    plan.region.width, plan.region.height, plan.region.x, plan.region.y,
                    covers.width, covers.height, covers.x, covers.y));
  };
  if (!Holds(current, plan.region)) return lacking();
  for (std::size_t i = 0; i < plan.count; ++i) {
    const Step& step = plan.steps[i];
    if (std::int64_t{step.out.width} * step.out.height > kMaxPixels) {
      return Fail(ErrorKind::kInput, fmt::format("the operations would make {}x{} pixels of it",
                                                 step.out.width, step.out.height));
    }
    if (state.observer != nullptr) state.observer->Begin(state.program->StepName(step));
    bool done = true;
    if (i < plan.final_step) {
      done = state.RunStep(step, current);
    } else if (i == plan.final_step) {
      done = state.ResampleTo(step, current, format, true, out.data());
    } else {
      state.Mask(step, format, out.data());
    }
    if (state.observer != nullptr) state.observer->End();
    if (!done) return lacking();
  }
  return {};
}

}  // namespace penstock::loader
