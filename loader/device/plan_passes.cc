// SPDX-License-Identifier: Apache-2.0
#include "loader/device/plan_passes.h"

#include <cstdint>

#include <fmt/format.h>

namespace penstock::loader {
namespace {

constexpr std::int64_t kMaxPixels = std::int64_t{1} << 28;  // the most between two steps

cuda::Filter FilterOf(Filter filter) {
  return filter == Filter::kNearest    ? cuda::Filter::kNearest
         : filter == Filter::kBilinear ? cuda::Filter::kBilinear
                                       : cuda::Filter::kBilinearNoAntialias;
}

cuda::Axis AxisOf(const Axis& axis) {
  return {axis.base,  axis.limit, axis.offset,   axis.ratio,
          axis.first, axis.count, axis.mirrored, FilterOf(axis.filter)};
}

cuda::Box BoxOf(const Region& region) {
  return {region.x, region.y, region.width, region.height};
}

}  // namespace

PlanPasses::PlanPasses(const AugmentProgram& program) : program_(program) {
  const OutputFormat format = program.format();
  const OutputScale output = OutputScaleOf(program);
  form_.element = format.type == ElementType::kU8    ? cuda::Element::kU8
                  : format.type == ElementType::kF16 ? cuda::Element::kF16
                                                     : cuda::Element::kF32;
  form_.layout = format.layout == Layout::kHwc ? cuda::Layout::kHwc : cuda::Layout::kChw;
  form_.scale = output.scale;
  form_.bias = output.bias;
}

Result<void> PlanPasses::AddStep(const Step& step, const Region& covers, int denominator,
                                 cuda::PassList& list) const {
  const auto& amount = step.amount;
  switch (step.kind) {
    case StepKind::kResample: {
      const Axes axes = AxesOf(step, covers, denominator);
      return list.Resize(AxisOf(axes.x), AxisOf(axes.y));
    }
    case StepKind::kPad:
      list.Window(BoxOf(step.window), false, false);
      break;
    case StepKind::kBrightness:
      list.Brightness(amount[0]);
      break;
    case StepKind::kContrast:
      list.Contrast(amount[0]);
      break;
    case StepKind::kSaturation:
      list.Saturation(amount[0]);
      break;
    case StepKind::kHsv:
      list.Hsv(amount[0], amount[1], amount[2]);
      break;
    case StepKind::kRotate:
      list.Rotate(amount[0], FilterOf(step.filter));
      break;
    case StepKind::kBlur:
      return list.Blur(static_cast<int>(amount[1]), amount[0]);
    case StepKind::kErase:
      list.Erase(BoxOf(step.window), amount[0]);
      break;
    case StepKind::kGridMask: {
      const Op& op = program_.ops()[step.first];
      list.MaskGrid({op.tile, op.fraction, amount[0], amount[1], amount[2]});
      break;
    }
  }
  return {};
}

Result<void> PlanPasses::Add(const AugmentPlan& plan, const DevicePicture& picture,
                             std::int64_t target, cuda::PassList& list) const {
  Region covers = picture.covers;
  int denominator = picture.denominator;
  list.Begin(picture.at);
  for (std::size_t i = 0; i < plan.count; ++i) {
    const Step& step = plan.steps[i];
    if (std::int64_t{step.out.width} * step.out.height > kMaxPixels) {
      return Fail(ErrorKind::kInput, fmt::format("the operations would make {}x{} pixels of it",
                                                 step.out.width, step.out.height));
    }
    if (Result<void> added = AddStep(step, covers, denominator, list); !added) return added;
    if (i == plan.final_step) list.Finish(form_, target);
    covers = {0, 0, step.out.width, step.out.height};  // later steps see the result of this one
    denominator = 1;
  }
  list.End();
  return {};
}

}  // namespace penstock::loader
