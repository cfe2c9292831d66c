// SPDX-License-Identifier: Apache-2.0
#include "loader/pipeline/order.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "loader/random/permutation.h"

namespace penstock::loader {
namespace {

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

bool ParseNumber(std::string_view text, std::uint64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

Result<StreamPosition> StreamPosition::Parse(std::string_view text) {
  StreamPosition at;
  const std::size_t colon = text.find(':');
  const bool good = colon == std::string_view::npos
                        ? ParseNumber(text, &at.position)
                        : ParseNumber(text.substr(0, colon), &at.epoch) &&
                              ParseNumber(text.substr(colon + 1), &at.position);
  if (!good) {
    return Fail(ErrorKind::kUsage,
                fmt::format("\"{}\" is no position: write POSITION or EPOCH:POSITION", text));
  }
  return at;
}

Result<SampleOrder> SampleOrder::Make(std::uint64_t samples, const PipelineOptions& options) {
  if (samples == 0) return Fail(ErrorKind::kInput, "there are no samples");
  if (options.batch == 0) return Fail(ErrorKind::kUsage, "a batch needs at least one sample");
  if (options.world == 0 || options.rank >= options.world) {
    return Fail(ErrorKind::kUsage,
                fmt::format("rank {} does not exist in a world of {}: ranks count from 0",
                            options.rank, options.world));
  }
  if (options.resume.position > samples) {
    return Fail(ErrorKind::kUsage, fmt::format("cannot resume at position {}: an epoch has {}",
                                               options.resume.position, samples));
  }
  if (options.epochs != 0 && options.resume.epoch >= options.epochs) {
    return Fail(ErrorKind::kUsage,
                fmt::format("cannot resume in epoch {}: there are {} epochs, counted from 0",
                            options.resume.epoch, options.epochs));
  }
  SampleOrder order;
  order.samples_ = samples;
  order.seed_ = options.seed;
  order.rank_ = options.rank;
  order.world_ = options.world;
  order.batch_ = options.batch;
  order.resume_ = options.resume;
  order.shuffle_ = options.shuffle;
  order.drop_last_ = options.drop_last;
  order.first_batches_ = order.Batches(order.EpochSamples(options.resume.position));
  const std::uint64_t each = order.epoch_batches();
  if (options.epochs == 0) {
    // At() divides by the number of batches in an epoch. So a rank that has none in a whole epoch
    // ends after the first epoch.
    order.batches_ = each == 0 ? order.first_batches_ : kEndless;
  } else {
    const std::uint64_t epochs = options.epochs - options.resume.epoch - 1;
    order.batches_ = each != 0 && epochs > (kEndless - order.first_batches_) / each
                         ? kEndless
                         : order.first_batches_ + epochs * each;
  }
  if (options.batches != 0) order.batches_ = std::min(order.batches_, options.batches);
  return order;
}

std::uint64_t SampleOrder::FirstAtOrAfter(std::uint64_t position) const {
  const std::uint64_t behind = position % world_;
  return position + (rank_ >= behind ? rank_ - behind : world_ - behind + rank_);
}

std::uint64_t SampleOrder::EpochSamples(std::uint64_t position) const {
  const std::uint64_t first = FirstAtOrAfter(position);
  return first >= samples_ ? 0 : (samples_ - first - 1) / world_ + 1;
}

BatchPlace SampleOrder::At(std::uint64_t batch) const {
  BatchPlace place;
  std::uint64_t from = 0;
  if (batch < first_batches_) {
    place.epoch = resume_.epoch;
    place.index = batch;
    from = resume_.position;
  } else {
    const std::uint64_t each = epoch_batches();
    place.epoch = resume_.epoch + 1 + (batch - first_batches_) / each;
    place.index = (batch - first_batches_) % each;
  }
  const std::uint64_t samples = EpochSamples(from);
  place.position = FirstAtOrAfter(from) + place.index * batch_ * world_;
  place.valid = std::min(batch_, samples - place.index * batch_);
  place.last = place.index + 1 == Batches(samples);
  return place;
}

std::uint64_t SampleOrder::Sample(std::uint64_t epoch, std::uint64_t position) const {
  return shuffle_ ? Permutation(samples_, seed_, epoch)(position) : position;
}

StreamPosition SampleOrder::After(const BatchPlace& place) const {
  if (place.last) return {place.epoch + 1, 0};
  // Every rank has consumed as many samples as this one, and the ranks take samples in turn from
  // where the epoch began or the run resumed. That place need not be a multiple of world_, since a
  // run may resume with another number of ranks.
  const std::uint64_t from = place.epoch == resume_.epoch ? resume_.position : 0;
  return {place.epoch, from + (place.index * batch_ + place.valid) * world_};
}

}  // namespace penstock::loader
