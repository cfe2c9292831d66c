// SPDX-License-Identifier: Apache-2.0
//
// Turns operations into the steps of one sample. Geometry is collected lazily: crops, one resize
// and flips become one resampling step. An operation that needs the pixels ends that step.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "loader/augment/plan.h"

namespace penstock::loader {
namespace {

// Decoding at a reduced size may begin inside a pixel of the view, and the filter reaches up to two
// pixels further. A pixel of the view is at most 8 pixels wide in the picture: 3 * 8.
constexpr int kReducedMargin = 24;

int RoundToInt(double value) {
  return static_cast<int>(std::nearbyint(value));
}

Region Whole(Size size) {
  return {0, 0, size.width, size.height};
}

class PlanBuilder {
 public:
  explicit PlanBuilder(Size picture) : size_(picture) {
    plan_.region = Whole(picture);
    Restart(0);
  }

  [[nodiscard]] Size size() const { return size_; }
  [[nodiscard]] const AugmentPlan& plan() const { return plan_; }

  // Sets the operation to which the following calls belong.
  void SetOp(std::size_t op) { op_ = static_cast<std::uint8_t>(op); }

  // Makes the operation part of the pending step, even if it does not change this sample.
  void Touch() {
    if (pending_.first == pending_.last) pending_.first = op_;
    pending_.last = static_cast<std::uint8_t>(op_ + 1);
  }

  void Resize(Size size, Filter filter) {
    if (size != size_) {
      // A flip before a nearest resize can select other pixels than a flip after it.
      const bool flipped = pending_.flip_x || pending_.flip_y;
      if (scaled_ || (filter == Filter::kNearest && flipped)) Flush();
      pending_.source = pending_.window;
      pending_.scaled = size;
      pending_.window = Whole(size);
      pending_.filter = filter;
      scaled_ = true;
      size_ = size;
    }
    Touch();
  }

  // `window` is in the coordinates of the picture as it is now.
  void Crop(Region window) {
    const bool inside = window.x >= 0 && window.y >= 0 && window.width <= size_.width - window.x &&
                        window.height <= size_.height - window.y;
    if (!inside) {
      Settle();
      size_ = {window.width, window.height};
      Step step;
      step.kind = StepKind::kPad;
      step.window = window;
      Add(step);
      return;
    }
    Region& kept = pending_.window;
    kept.x += pending_.flip_x ? kept.width - window.x - window.width : window.x;
    kept.y += pending_.flip_y ? kept.height - window.y - window.height : window.y;
    kept.width = window.width;
    kept.height = window.height;
    size_ = {window.width, window.height};
    Touch();
  }

  void Flip(bool x, bool y) {
    pending_.flip_x = pending_.flip_x != x;
    pending_.flip_y = pending_.flip_y != y;
    Touch();
  }

  // Adds an operation on pixels. Before the final step it changes a buffer of the Augmenter. After
  // the final step it is a mask and changes the output.
  void Pixels(StepKind kind, std::array<double, 3> amount, Filter filter = Filter::kNearest,
              Region window = {}) {
    if (!finished_) Settle();
    Step step;
    step.kind = kind;
    step.amount = amount;
    step.filter = filter;
    step.window = window;
    Add(step);
  }

  // Ends with the pending step, which writes the output.
  void Finish() {
    if (finished_) return;
    plan_.final_step = plan_.count;
    Flush();
    finished_ = true;
  }

 private:
  void Restart(std::uint8_t op) {
    pending_ = Step{};
    pending_.source = pending_.window = Whole(size_);
    pending_.scaled = size_;
    pending_.first = pending_.last = op;
    scaled_ = false;
  }

  void Add(Step step) {
    step.first = op_;
    step.last = static_cast<std::uint8_t>(op_ + 1);
    step.out = size_;
    plan_.steps[plan_.count++] = step;
    if (!finished_) Restart(step.last);
  }

  // Ends the pending step, so that the pixels are in a buffer.
  void Settle() {
    const bool trivial =
        !scaled_ && !pending_.flip_x && !pending_.flip_y && pending_.window == pending_.source;
    if (!trivial || plan_.count == 0) Flush();
  }

  void Flush() {
    pending_.out = size_;
    if (plan_.count == 0) Need(pending_);
    plan_.steps[plan_.count++] = pending_;
    Restart(op_);
  }

  // Sets what must be decoded for the first step: the pixels that the filter reads for the kept
  // window of the scaled picture, and a margin for decoding at a reduced size.
  void Need(const Step& step) {
    struct Needed {
      int from, size, target;
    };
    const auto need = [](int source, int size, int scaled, int first, int count) -> Needed {
      if (scaled == size) return {source + first, count, count};
      const double ratio = static_cast<double>(size) / scaled;
      const double support = std::max(1.0, ratio);
      const int margin = ratio < 2 ? 2 : kReducedMargin;
      const double low = std::floor((first + 0.5) * ratio - support) - margin;
      const double high = std::ceil((first + count - 0.5) * ratio + support) + margin;
      const int begin = static_cast<int>(std::max(0.0, low));
      const int end = static_cast<int>(std::min<double>(size, high));
      return {source + begin, end - begin, static_cast<int>(std::ceil((end - begin) / ratio))};
    };
    const Needed x =
        need(step.source.x, step.source.width, step.scaled.width, step.window.x, step.window.width);
    const Needed y = need(step.source.y, step.source.height, step.scaled.height, step.window.y,
                          step.window.height);
    plan_.region = {x.from, y.from, x.size, y.size};
    const Size source = {step.source.width, step.source.height};
    plan_.target = step.scaled == source ? Size{} : Size{x.target, y.target};
  }

  AugmentPlan plan_;
  Step pending_;         // a kResample: geometry that has been collected
  bool scaled_ = false;  // pending_ has a resize
  Size size_;            // of the picture after pending_
  std::uint8_t op_ = 0;
  bool finished_ = false;
};

// Draws an area A in pixels (a share of the picture from `scale`) and a ratio q from `ratio`, as
// torchvision does. Returns {round(sqrt(A q)), round(sqrt(A / q))}.
std::array<double, 2> DrawSides(const Op& op, Size size, Random& random) {
  const double area = static_cast<double>(size.width) * size.height;
  const double target = area * random.Uniform(op.scale.low, op.scale.high);
  const double ratio = std::exp(random.Uniform(std::log(op.ratio.low), std::log(op.ratio.high)));
  return {std::nearbyint(std::sqrt(target * ratio)), std::nearbyint(std::sqrt(target / ratio))};
}

Region Place(Size size, double width, double height, Random& random) {
  const auto below = [&](int bound) {
    return static_cast<int>(random.Below(static_cast<std::uint32_t>(bound)));
  };
  Region region{0, 0, static_cast<int>(width), static_cast<int>(height)};
  region.y = below(size.height - region.height + 1);
  region.x = below(size.width - region.width + 1);
  return region;
}

// torchvision's RandomResizedCrop.get_params().
Region DrawResizedCrop(const Op& op, Size size, Random& random) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    const auto [width, height] = DrawSides(op, size, random);
    if (width < 1 || height < 1 || width > size.width || height > size.height) continue;
    return Place(size, width, height, random);
  }
  Region region = Whole(size);
  const double ratio = static_cast<double>(size.width) / size.height;
  if (ratio < op.ratio.low) {
    region.height = std::clamp(RoundToInt(size.width / op.ratio.low), 1, size.height);
  } else if (ratio > op.ratio.high) {
    region.width = std::clamp(RoundToInt(size.height * op.ratio.high), 1, size.width);
  }
  region.x = (size.width - region.width) / 2;
  region.y = (size.height - region.height) / 2;
  return region;
}

// torchvision's center_crop(): a picture that is smaller gets zeros around it first.
int CentreOffset(int size, int crop) {
  return crop > size ? -((crop - size) / 2) : RoundToInt((size - crop) / 2.0);
}

// torchvision's RandomCrop with padding and pad_if_needed.
int RandomOffset(int size, int crop, int padding, Random& random) {
  int before = padding;
  int total = size + 2 * padding;
  if (total < crop) {
    before += crop - total;
    total += 2 * (crop - total);
  }
  return static_cast<int>(random.Below(static_cast<std::uint32_t>(total - crop) + 1)) - before;
}

// torchvision's RandomErasing.get_params(). nullopt if ten rectangles in a row do not fit.
std::optional<Region> DrawErased(const Op& op, Size size, Random& random) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    const auto [height, width] = DrawSides(op, size, random);
    if (width >= size.width || height >= size.height) continue;
    return Place(size, width, height, random);
  }
  return std::nullopt;
}

double Draw(Range range, Random& random) {
  return random.Uniform(range.low, range.high);
}

void AddJitter(const Op& op, Random& random, PlanBuilder& builder) {
  std::array<std::size_t, 4> order = {0, 1, 2, 3};
  for (std::size_t i = 3; i > 0; --i) {
    std::swap(order[i], order[random.Below(static_cast<std::uint32_t>(i) + 1)]);
  }
  std::array<double, 4> factors{};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    factors[i] = Draw(op.jitter[i], random);
  }
  constexpr std::array kKinds = {StepKind::kBrightness, StepKind::kContrast, StepKind::kSaturation,
                                 StepKind::kHsv};
  for (const std::size_t i : order) {
    if (!op.jitters[i]) continue;
    const bool hue = kKinds[i] == StepKind::kHsv;
    builder.Pixels(kKinds[i],
                   hue ? std::array{factors[i], 1.0, 1.0} : std::array{factors[i], 0.0, 0.0});
  }
}

void AddGeometry(const Op& op, Random& random, PlanBuilder& builder) {
  const Size size = builder.size();
  switch (op.kind) {
    case OpKind::kResize:
      builder.Resize(op.size.width == 0 ? ShortSide(size, op.size.height) : op.size, op.filter);
      break;
    case OpKind::kRandomResizedCrop:
      builder.Crop(DrawResizedCrop(op, size, random));
      builder.Resize(op.size, op.filter);
      break;
    case OpKind::kCenterCrop:
      builder.Crop({CentreOffset(size.width, op.size.width),
                    CentreOffset(size.height, op.size.height), op.size.width, op.size.height});
      break;
    case OpKind::kRandomCrop: {
      const int y = RandomOffset(size.height, op.size.height, op.padding, random);
      const int x = RandomOffset(size.width, op.size.width, op.padding, random);
      builder.Crop({x, y, op.size.width, op.size.height});
      break;
    }
    default:
      builder.Crop({op.left, op.top, op.size.width, op.size.height});
      break;
  }
}

void AddPixels(const Op& op, Random& random, PlanBuilder& builder) {
  const auto factor = [&] { return std::array{Draw(op.amount, random), 0.0, 0.0}; };
  switch (op.kind) {
    case OpKind::kRotate: {
      const double degrees = Draw(op.amount, random);
      builder.Pixels(StepKind::kRotate, {degrees * std::numbers::pi / 180, 0, 0}, op.filter);
      break;
    }
    case OpKind::kBrightness:
      builder.Pixels(StepKind::kBrightness, factor());
      break;
    case OpKind::kContrast:
      builder.Pixels(StepKind::kContrast, factor());
      break;
    case OpKind::kSaturation:
      builder.Pixels(StepKind::kSaturation, factor());
      break;
    case OpKind::kHue:
      builder.Pixels(StepKind::kHsv, {Draw(op.amount, random), 1, 1});
      break;
    case OpKind::kColorJitter:
      AddJitter(op, random, builder);
      break;
    case OpKind::kHsv: {
      std::array<double, 3> amount{};
      for (std::size_t i = 0; i < amount.size(); ++i) {
        amount[i] = Draw(op.jitter[i], random);
      }
      builder.Pixels(StepKind::kHsv, amount);
      break;
    }
    case OpKind::kGaussianBlur:
      builder.Pixels(StepKind::kBlur, {Draw(op.amount, random), static_cast<double>(op.kernel), 0});
      break;
    case OpKind::kCutout:
      if (const auto erased = DrawErased(op, builder.size(), random)) {
        builder.Pixels(StepKind::kErase, {op.value, 0, 0}, Filter::kNearest, *erased);
      }
      break;
    default: {  // grid_mask
      const double u = random.Uniform(0, op.tile);
      const double v = random.Uniform(0, op.tile);
      const double angle = random.Uniform(-op.angle, op.angle) * std::numbers::pi / 180;
      builder.Pixels(StepKind::kGridMask, {u, v, angle});
      break;
    }
  }
}

}  // namespace

AugmentPlan DrawPlan(std::span<const Op> ops, Size picture, const SampleKey& key) {
  PlanBuilder builder(picture);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Op& op = ops[i];
    Random random(key, static_cast<std::uint32_t>(i));
    builder.SetOp(i);
    if (op.kind <= OpKind::kCrop) {
      AddGeometry(op, random, builder);
    } else if (op.kind == OpKind::kNormalize) {
      builder.Touch();
      builder.Finish();
    } else if (random.Uniform() < op.p) {
      if (op.kind == OpKind::kFlip || op.kind == OpKind::kVflip) {
        builder.Flip(op.kind == OpKind::kFlip, op.kind == OpKind::kVflip);
      } else {
        AddPixels(op, random, builder);
      }
    } else if (op.kind == OpKind::kFlip || op.kind == OpKind::kVflip) {
      builder.Touch();
    }
  }
  builder.Finish();
  return builder.plan();
}

}  // namespace penstock::loader
