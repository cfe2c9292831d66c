// SPDX-License-Identifier: Apache-2.0
//
// Runs a program on a device for a batch of samples, and says how far pixels are apart.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "cuda/device.h"
#include "cuda/jpeg.h"
#include "cuda/pass_list.h"
#include "loader/device/plan_passes.h"
#include "tests/loader/augment/reference.h"

namespace penstock::loader {

// One output per key. The launches of one batch make all of them, and are started `starts` times.
inline std::vector<std::vector<std::byte>> RunOnDevice(cuda::Device& device,
                                                       const AugmentProgram& program,
                                                       const reference::Bytes& picture,
                                                       const std::vector<SampleKey>& keys,
                                                       int starts = 1) {
  const std::size_t output_bytes = program.format().bytes();
  const auto pitch = static_cast<std::size_t>(cuda::PitchOf(picture.width));
  const std::size_t input_bytes =
      pitch * static_cast<std::size_t>(picture.height) + cuda::kReadableBeyond;
  const std::size_t batch_bytes = (output_bytes + 15) / 16 * 16;
  auto stream = device.MakeStream();
  auto staged = device.Allocate(cuda::Kind::kPinned, input_bytes);
  auto input = device.Allocate(cuda::Kind::kDevice, input_bytes);
  auto output = device.Allocate(cuda::Kind::kDevice, keys.size() * batch_bytes);
  auto fetched = device.Allocate(cuda::Kind::kPinned, keys.size() * batch_bytes);
  std::vector<std::vector<std::byte>> outputs;
  EXPECT_TRUE(stream && staged && input && output && fetched);
  if (!stream || !staged || !input || !output || !fetched) return outputs;
  for (int y = 0; y < picture.height; ++y) {
    std::memcpy(staged->data() + static_cast<std::size_t>(y) * pitch,
                picture.values.data() + picture.at(0, y, 0),
                3 * static_cast<std::size_t>(picture.width));
  }
  cuda::PassList list;
  const PlanPasses passes(program);
  DevicePicture on_device;
  on_device.at = {cuda::Memory::kInput, 0, static_cast<std::int64_t>(pitch), picture.width,
                  picture.height};
  on_device.covers = {0, 0, picture.width, picture.height};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const AugmentPlan plan = DrawPlan(program.ops(), {picture.width, picture.height}, keys[i]);
    const auto added =
        passes.Add(plan, on_device, static_cast<std::int64_t>(i * batch_bytes), list);
    EXPECT_TRUE(added) << (added ? "" : added.error().message);
    if (!added) return outputs;
  }
  list.Arrange();
  // The gaps between the samples are not written, but fetched too.
  std::memset(fetched->data(), 0, keys.size() * batch_bytes);
  EXPECT_TRUE((*stream)->CopyIn(output->data(), fetched->data(), keys.size() * batch_bytes));
  EXPECT_TRUE((*stream)->CopyIn(input->data(), staged->data(), input_bytes));
  if (starts == 1) {
    EXPECT_TRUE((*stream)->Run(list, input->data(), output->data()));
  } else {
    EXPECT_TRUE((*stream)->Upload(list));
    for (int i = 0; i < starts; ++i) {
      EXPECT_TRUE((*stream)->Start(list, input->data(), output->data()));
    }
  }
  EXPECT_TRUE((*stream)->CopyOut(fetched->data(), output->data(), keys.size() * batch_bytes));
  EXPECT_TRUE((*stream)->Mark(0));
  const auto waited = (*stream)->Wait(0);
  EXPECT_TRUE(waited) << (waited ? "" : waited.error().message);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::byte* from = fetched->data() + i * batch_bytes;
    outputs.emplace_back(from, from + output_bytes);
  }
  return outputs;
}

// How two outputs differ, in units of the bytes that they came from.
struct Apart {
  double most = 0;
  double share = 0;  // of the values that are more than `noticed` apart
};
inline Apart Compare(const reference::Reals& a, const reference::Reals& b, double noticed) {
  Apart apart;
  EXPECT_EQ(a.values.size(), b.values.size());
  if (a.values.size() != b.values.size()) return {1e9, 1};
  std::size_t differ = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double distance = std::abs(a.values[i] - b.values[i]);
    apart.most = std::max(apart.most, distance);
    differ += distance > noticed ? 1 : 0;
  }
  apart.share = static_cast<double>(differ) / static_cast<double>(a.values.size());
  return apart;
}

inline std::vector<SampleKey> Keys(std::uint64_t samples) {
  std::vector<SampleKey> keys;
  for (std::uint64_t i = 0; i < samples; ++i) keys.push_back({7, 1, i});
  return keys;
}

// Checks that a device's results are near those of the CPU, and of the formulas in double
// precision, within the tolerance of loader/device/plan_passes.h.
void ExpectDeviceAgreesWithCpu(cuda::Device& device);
void ExpectDeviceAgreesWithGoldens(cuda::Device& device);

// Checks that a list that is started again makes the same pixels, although its kernels add to sums.
void ExpectStartsAreAlike(cuda::Device& device);

// Checks that nvJPEG gives libjpeg's pixels on a device, except for roundings of the transforms
// and, if the chroma is subsampled, for another interpolation of chroma.
void ExpectJpegAgreesWithCpu(cuda::Device& device, cuda::JpegBatches& jpeg);

}  // namespace penstock::loader
