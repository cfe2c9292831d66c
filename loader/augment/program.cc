// SPDX-License-Identifier: Apache-2.0
#include "loader/augment/program.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "loader/augment/arguments.h"

namespace penstock::loader {
namespace {

struct Named {
  OpKind kind;
  std::string_view name;
};

constexpr std::array kNames = {
    Named{OpKind::kResize, "resize"},
    Named{OpKind::kRandomResizedCrop, "random_resized_crop"},
    Named{OpKind::kCenterCrop, "center_crop"},
    Named{OpKind::kRandomCrop, "random_crop"},
    Named{OpKind::kCrop, "crop"},
    Named{OpKind::kFlip, "flip"},
    Named{OpKind::kVflip, "vflip"},
    Named{OpKind::kRotate, "rotate"},
    Named{OpKind::kBrightness, "brightness"},
    Named{OpKind::kContrast, "contrast"},
    Named{OpKind::kSaturation, "saturation"},
    Named{OpKind::kHue, "hue"},
    Named{OpKind::kColorJitter, "color_jitter"},
    Named{OpKind::kHsv, "hsv"},
    Named{OpKind::kGaussianBlur, "gaussian_blur"},
    Named{OpKind::kCutout, "cutout"},
    Named{OpKind::kGridMask, "grid_mask"},
    Named{OpKind::kNormalize, "normalize"},
};

constexpr double kLarge = 1e9;
constexpr Range kUnit{0, 1};
constexpr Range kFactor{0, 100};
constexpr Range kShift{-0.5, 0.5};
constexpr double kSmallest = 1e-6;

std::string AllNames() {
  std::string all;
  for (const Named& named : kNames) {
    all += (all.empty() ? "" : ", ") + std::string(named.name);
  }
  return all;
}

tl::unexpected<Error> Refuse(std::string message) {
  return Fail(ErrorKind::kUsage, "--ops: " + std::move(message));
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Splits at commas, except at a comma before a number (a digit, a point or a minus), which
// separates two items of a list of numbers.
std::vector<std::string_view> SplitOps(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ',') continue;
    const std::size_t next = text.find_first_not_of(' ', i + 1);
    const bool in_list = next != std::string_view::npos &&
                         (std::isdigit(static_cast<unsigned char>(text[next])) != 0 ||
                          text[next] == '.' || text[next] == '-');
    if (!in_list) {
      parts.push_back(Trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  parts.push_back(Trimmed(text.substr(begin)));
  return parts;
}

void TakeJitter(Arguments& arguments, Op& op) {
  static constexpr std::array<Arguments::ListItem, 4> kItems = {{{"brightness", 1, kFactor},
                                                                 {"contrast", 1, kFactor},
                                                                 {"saturation", 1, kFactor},
                                                                 {"hue", 0, kShift}}};
  const auto amounts = arguments.TakeAmounts("amounts", kItems, true);
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    op.jitter[i] = amounts[i];
    op.jitters[i] = amounts[i].low != kItems[i].centre || amounts[i].high != kItems[i].centre;
  }
}

void TakeHsv(Arguments& arguments, Op& op) {
  static constexpr std::array<Arguments::ListItem, 3> kItems = {
      {{"hue", 0, kShift}, {"saturation", 1, kFactor}, {"value", 1, kFactor}}};
  const auto amounts = arguments.TakeAmounts("amounts", kItems, false);
  op.jitter = {Range{-0.015, 0.015}, Range{0.3, 1.7}, Range{0.6, 1.4}, Range{}};
  if (!amounts.empty()) op.jitter = {Range{0, 0}, Range{1, 1}, Range{1, 1}, Range{}};
  std::copy(amounts.begin(), amounts.end(), op.jitter.begin());
}

void TakeNormalize(Arguments& arguments, Op& op) {
  const auto mean = arguments.TakeNumbers("mean", 3, {-kLarge, kLarge}, {0.485, 0.456, 0.406});
  const auto deviation =
      arguments.TakeNumbers("std", 3, {kSmallest, kLarge}, {0.229, 0.224, 0.225});
  std::copy(mean.begin(), mean.end(), op.mean.begin());
  std::copy(deviation.begin(), deviation.end(), op.deviation.begin());
}

void TakeGeometry(Arguments& arguments, Op& op) {
  op.size = arguments.TakeSize("size", op.kind == OpKind::kResize);
  switch (op.kind) {
    case OpKind::kRandomResizedCrop:
      op.scale = arguments.TakeRange("scale", {kSmallest, 1}, {0.08, 1});
      op.ratio = arguments.TakeRange("ratio", {0.01, 100}, {3.0 / 4, 4.0 / 3});
      op.filter = arguments.TakeFilter("filter", Filter::kBilinear, true);
      break;
    case OpKind::kResize:
      op.filter = arguments.TakeFilter("filter", Filter::kBilinear, true);
      break;
    case OpKind::kRandomCrop:
      op.padding = arguments.TakeInteger("padding", 0, 4096, 0);
      break;
    case OpKind::kCrop:
      op.top = arguments.TakeInteger("top", -16384, 65535, 0);
      op.left = arguments.TakeInteger("left", -16384, 65535, 0);
      break;
    default:
      break;
  }
}

void TakePixelArguments(Arguments& arguments, Op& op) {
  double p = 1;
  switch (op.kind) {
    case OpKind::kFlip:
    case OpKind::kVflip:
      p = 0.5;
      break;
    case OpKind::kRotate:
      op.amount = arguments.TakeAmount("degrees", 0, {-360, 360}, Range{-30, 30});
      op.filter = arguments.TakeFilter("filter", Filter::kNearest, false);
      break;
    case OpKind::kBrightness:
    case OpKind::kContrast:
    case OpKind::kSaturation:
      op.amount = arguments.TakeAmount("amount", 1, kFactor, std::nullopt);
      break;
    case OpKind::kHue:
      op.amount = arguments.TakeAmount("amount", 0, kShift, std::nullopt);
      break;
    case OpKind::kColorJitter:
      TakeJitter(arguments, op);
      break;
    case OpKind::kHsv:
      TakeHsv(arguments, op);
      break;
    case OpKind::kGaussianBlur:
      op.kernel = arguments.TakeInteger("kernel", 1, 255, 5);
      op.amount = arguments.TakeRange("sigma", {0.01, 1000}, {0.1, 2});
      break;
    case OpKind::kGridMask:
      op.tile = arguments.TakeNumber("tile", {1, 65536}, 100);
      op.fraction = arguments.TakeNumber("ratio", kUnit, 0.5);
      op.angle = arguments.TakeNumber("angle", {0, 360}, 0);
      break;
    default:
      p = 0.5;  // cutout
      break;
  }
  op.p = arguments.TakeNumber("p", kUnit, p);
  if (op.kind == OpKind::kCutout) {
    op.scale = arguments.TakeRange("scale", {kSmallest, 1}, {0.02, 0.33});
    op.ratio = arguments.TakeRange("ratio", {0.01, 100}, {0.3, 3.3});
    op.value = arguments.TakeNumber("value", {-kLarge, kLarge}, 0);
  }
}

Result<Op> ParseOp(std::string_view text) {
  const std::string_view name = text.substr(0, text.find_first_of("=:"));
  const auto* named = std::find_if(kNames.begin(), kNames.end(),
                                   [&](const Named& candidate) { return candidate.name == name; });
  if (named == kNames.end()) {
    return Refuse(fmt::format("unknown operation \"{}\"; there are {}", name, AllNames()));
  }
  Op op;
  op.kind = named->kind;
  Arguments arguments(name, text.substr(name.size()));
  if (op.kind <= OpKind::kCrop) {
    TakeGeometry(arguments, op);
  } else if (op.kind == OpKind::kNormalize) {
    TakeNormalize(arguments, op);
  } else {
    TakePixelArguments(arguments, op);
  }
  auto mistake = arguments.Finish();
  if (!mistake && op.kind == OpKind::kGaussianBlur && op.kernel % 2 == 0) {
    mistake = fmt::format("kernel is {}: it must be odd", op.kernel);
  }
  if (mistake) return Refuse(fmt::format("{}: {}", name, *mistake));
  return op;
}

// Says what is wrong with `op` at this place; nullopt if nothing is.
std::optional<std::string> OutOfOrder(const Op& op, bool normalized, ElementType type) {
  if (op.kind == OpKind::kNormalize && type == ElementType::kU8) {
    return "normalize: its results are fractions, which uint8 cannot hold: choose float16 or "
           "float32 output, or leave it out";
  }
  if (!normalized) return std::nullopt;
  if (op.kind == OpKind::kNormalize) return "normalize: given twice";
  if (op.kind == OpKind::kCutout || op.kind == OpKind::kGridMask) return std::nullopt;
  return fmt::format(
      "{0}: works on 8-bit pixels but comes after normalize: put {0} before it "
      "(only cutout and grid_mask may follow)",
      OpName(op.kind));
}

}  // namespace

std::string_view OpName(OpKind kind) {
  return kNames[static_cast<std::size_t>(kind)].name;
}

Size ShortSide(Size picture, int short_side) {
  const auto long_side = [&](int is_long, int is_short) {
    const std::int64_t side = std::int64_t{short_side} * is_long / is_short;
    return static_cast<int>(std::min<std::int64_t>(side, std::numeric_limits<int>::max() / 2));
  };
  if (picture.width <= picture.height) {
    return {short_side, long_side(picture.height, picture.width)};
  }
  return {long_side(picture.width, picture.height), short_side};
}

Result<AugmentProgram> AugmentProgram::Parse(std::string_view ops, ElementType type,
                                             Layout layout) {
  AugmentProgram program;
  std::optional<Size> shape;
  bool normalized = false;
  std::optional<int> short_side;
  if (Trimmed(ops).empty()) {
    return Refuse("no operations: for instance random_resized_crop=224,flip,normalize");
  }
  for (const std::string_view text : SplitOps(ops)) {
    Result<Op> op = ParseOp(text);
    PENSTOCK_TRY(op);
    if (auto mistake = OutOfOrder(*op, normalized, type)) return Refuse(*std::move(mistake));
    normalized = normalized || op->kind == OpKind::kNormalize;
    if (op->kind <= OpKind::kCrop && op->size.width != 0) {
      shape = op->size;
    } else if (op->kind == OpKind::kResize && shape) {
      shape = ShortSide(*shape, op->size.height);
    } else if (op->kind == OpKind::kResize) {
      short_side = op->size.height;
    }
    program.ops_.push_back(*op);
  }
  if (program.ops_.size() > kMaxOps) {
    return Refuse(
        fmt::format("{} operations, at most {} are possible", program.ops_.size(), kMaxOps));
  }
  if (!shape && short_side) {
    return Refuse(
        fmt::format("the shape of the output is not fixed: resize={0} keeps the ratio of each "
                    "picture; add center_crop={0} or random_crop={0}, or write resize={0}x{0}",
                    *short_side));
  }
  if (!shape) {
    return Refuse(
        "the shape of the output is not fixed: add random_resized_crop=224, "
        "resize=224x224 or resize=256,center_crop=224");
  }
  program.format_ = {type, layout, shape->height, shape->width};
  auto names = std::make_shared<std::vector<std::string>>();
  for (std::size_t first = 0; first < program.ops_.size(); ++first) {
    std::string name;
    for (std::size_t last = first; last < program.ops_.size(); ++last) {
      name += (name.empty() ? "" : "+") + std::string(OpName(program.ops_[last].kind));
      names->push_back(name);
    }
  }
  program.names_ = std::move(names);
  return program;
}

std::string_view AugmentProgram::StepName(const Step& step) const {
  switch (step.kind) {  // color_jitter has four kinds of steps, each with a name of its own
    case StepKind::kBrightness:
      return "brightness";
    case StepKind::kContrast:
      return "contrast";
    case StepKind::kSaturation:
      return "saturation";
    case StepKind::kHsv:
      return ops_[step.first].kind == OpKind::kHsv ? "hsv" : "hue";
    default:
      break;
  }
  if (step.first == step.last) return "copy";
  // The names are sorted by `first`, then by `last`: n ranges begin with operation 0, n - 1 with
  // operation 1, and so on.
  const std::size_t n = ops_.size();
  const std::size_t first = step.first;
  const std::size_t before = first * n - first * (first - 1) / 2;
  return (*names_)[before + (step.last - 1U - first)];
}

}  // namespace penstock::loader
