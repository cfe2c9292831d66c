// SPDX-License-Identifier: Apache-2.0
#include "loader/device/measure.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "loader/decode/jpeg_decoder.h"
#include "loader/device/plan_passes.h"

namespace penstock::loader {
namespace {

using Work = std::function<Result<void>()>;

// The time of `launches` calls of `queue`, by the device's time stamps.
Result<TimeNs> Interval(cuda::Stream& stream, unsigned launches, const Work& queue) {
  Result<void> done;
  // One more launch before the first stamp keeps the device busy while the CPU queues the others.
  if (launches > 1) done = queue();
  if (done) done = stream.Mark(0);
  for (unsigned i = 0; done && i < launches; ++i) done = queue();
  if (done) done = stream.Mark(1);
  if (done) done = stream.Wait(1);
  PENSTOCK_TRY(done);
  const Result<TimeNs> begun = stream.SinceAnchor(0);
  const Result<TimeNs> ended = stream.SinceAnchor(1);
  PENSTOCK_TRY(begun);
  PENSTOCK_TRY(ended);
  return *ended - *begun;
}

// The median time of one call of `queue`, after the warm-up.
Result<TimeNs> Median(cuda::Device& device, cuda::Stream& stream, const Timing& timing,
                      const Work& queue) {
  constexpr int kMostWarmups = 10000;  // ends the loop if stamps do not advance
  PENSTOCK_TRY(device.Anchor());
  TimeNs warm{};
  for (int i = 0; i == 0 || (warm < timing.warmup && i < kMostWarmups); ++i) {
    const Result<TimeNs> length = Interval(stream, timing.launches, queue);
    if (!length) return length;
    warm += *length;
  }
  PENSTOCK_TRY(device.Anchor());
  std::vector<TimeNs> lengths;
  for (unsigned i = 0; i < timing.repeats; ++i) {
    const Result<TimeNs> length = Interval(stream, timing.launches, queue);
    if (!length) return length;
    lengths.push_back(*length);
  }
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return TimeNs{middle->value / timing.launches};
}

// Up to a multiple of kPictureAlignment.
std::int64_t RoundedUp(std::int64_t bytes) {
  return (bytes + cuda::kPictureAlignment - 1) / cuda::kPictureAlignment * cuda::kPictureAlignment;
}

}  // namespace

Timing TimingFor(const cuda::DeviceInfo& device) {
  Timing timing;
  if (device.emulated) timing = {3, 1, TimeNs{}};
  return timing;
}

Result<DeviceTime> MeasureProgram(cuda::Device& device, const AugmentProgram& program, Size picture,
                                  std::size_t batch, const Timing& timing) {
  const std::int64_t pitch = cuda::PitchOf(picture.width);
  const std::int64_t each = RoundedUp(pitch * picture.height + cuda::kReadableBeyond);
  const auto input_bytes = static_cast<std::size_t>(each) * batch;
  const std::size_t output_bytes = (program.format().bytes() + 15) / 16 * 16;
  auto stream = device.MakeStream();
  auto host = device.Allocate(cuda::Kind::kPinned, static_cast<std::size_t>(each));
  auto input = device.Allocate(cuda::Kind::kDevice, input_bytes);
  auto output = device.Allocate(cuda::Kind::kDevice, output_bytes * batch);
  PENSTOCK_TRY(stream);
  for (auto* memory : {&host, &input, &output}) {
    if (!*memory) return tl::unexpected<Error>(std::move(memory->error()));
  }
  for (std::size_t i = 0; i < host->size(); ++i) {
    host->data()[i] = static_cast<std::byte>(i * 2654435761U >> 13);
  }
  cuda::PassList list;
  const PlanPasses passes(program);
  for (std::size_t i = 0; i < batch; ++i) {
    DevicePicture at;
    at.at = {cuda::Memory::kInput, static_cast<std::int64_t>(i) * each, pitch, picture.width,
             picture.height};
    at.covers = {0, 0, picture.width, picture.height};
    Result<void> done = (*stream)->CopyIn(input->data() + i * static_cast<std::size_t>(each),
                                          host->data(), host->size());
    if (done) {
      done = passes.Add(DrawPlan(program.ops(), picture, {1, 0, i}), at,
                        static_cast<std::int64_t>(i * output_bytes), list);
    }
    if (!done) return tl::unexpected<Error>(std::move(done.error()));
  }
  list.Arrange();
  PENSTOCK_TRY((*stream)->Upload(list));
  const auto time = Median(device, **stream, timing,
                           [&] { return (*stream)->Start(list, input->data(), output->data()); });
  PENSTOCK_TRY(time);
  return DeviceTime{*time, list.bytes_moved(),
                    1e-6 * picture.width * picture.height * static_cast<double>(batch), batch};
}

Result<DeviceTime> MeasureCopy(cuda::Device& device, std::size_t bytes, const Timing& timing) {
  auto stream = device.MakeStream();
  auto host = device.Allocate(cuda::Kind::kPinned, bytes);
  auto memory = device.Allocate(cuda::Kind::kDevice, bytes);
  PENSTOCK_TRY(stream);
  PENSTOCK_TRY(host);
  PENSTOCK_TRY(memory);
  std::memset(host->data(), 1, bytes);
  const auto time = Median(device, **stream, timing,
                           [&] { return (*stream)->CopyIn(memory->data(), host->data(), bytes); });
  PENSTOCK_TRY(time);
  return DeviceTime{*time, bytes, 0, 0};
}

Result<DeviceTime> MeasureDecode(cuda::Device& device, cuda::JpegBatches& jpeg,
                                 std::span<const std::vector<std::byte>> files,
                                 const Timing& timing) {
  auto stream = device.MakeStream();
  PENSTOCK_TRY(stream);
  JpegDecoder headers{DecodeOptions{}};
  std::vector<cuda::JpegPicture> pictures;
  std::vector<std::size_t> offsets;
  std::size_t pixels_bytes = 0;
  double pixels = 0;
  std::uint64_t bytes = 0;
  for (const std::vector<std::byte>& file : files) {
    const auto info = headers.ReadHeader(file);
    if (!info || info->cmyk) continue;
    cuda::JpegPicture picture;
    picture.file = file;
    picture.region = {0, 0, info->width, info->height};
    picture.pitch = static_cast<std::size_t>(cuda::PitchOf(info->width));
    if (!jpeg.Takes(picture)) continue;
    const std::size_t whole = picture.pitch * static_cast<std::size_t>(info->height);
    offsets.push_back(pixels_bytes);
    pixels_bytes += static_cast<std::size_t>(RoundedUp(static_cast<std::int64_t>(whole)));
    pixels += static_cast<double>(info->width) * info->height;
    bytes += file.size() + whole;
    pictures.push_back(picture);
  }
  if (pictures.empty()) {
    return Fail(ErrorKind::kInput, "nvJPEG takes none of these files: baseline JPEGs are needed");
  }
  auto memory = device.Allocate(cuda::Kind::kDevice, pixels_bytes);
  PENSTOCK_TRY(memory);
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    pictures[i].pixels = reinterpret_cast<std::uint8_t*>(memory->data()) + offsets[i];
  }
  std::vector<std::size_t> refused;
  const Timing alone{timing.repeats, 1, timing.warmup};  // a batch waits for the one before it
  const auto time =
      Median(device, **stream, alone, [&] { return jpeg.Decode(pictures, **stream, refused); });
  PENSTOCK_TRY(time);
  return DeviceTime{*time, bytes, pixels * 1e-6, pictures.size()};
}

}  // namespace penstock::loader
