// SPDX-License-Identifier: Apache-2.0
//
// Helpers for the tests of augmentation. One thread.
#pragma once

#include <gtest/gtest.h>

#include <hwy/targets.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "loader/augment/program.h"
#include "tests/loader/augment/reference.h"

namespace penstock::loader {

// Runs `body` once for each vector unit that was compiled for and that this CPU has.
template <class F>
void OnEveryTarget(F body) {
  int targets = 0;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
    ++targets;
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  EXPECT_GE(targets, 1);
}

inline AugmentProgram Parsed(std::string_view ops, ElementType type = ElementType::kU8,
                             Layout layout = Layout::kHwc) {
  auto program = AugmentProgram::Parse(ops, type, layout);
  EXPECT_TRUE(program) << (program ? "" : program.error().message);
  if (!program) std::terminate();
  return *program;
}

inline ImageInfo InfoOf(const reference::Bytes& picture) {
  return {.width = picture.width, .height = picture.height};
}

inline std::vector<std::byte> RunWhole(const AugmentProgram& program,
                                       const reference::Bytes& picture, const SampleKey& key) {
  Augmenter augmenter(program);
  const AugmentPlan plan = augmenter.Draw(InfoOf(picture), key);
  std::vector<std::byte> out(program.format().bytes());
  const auto done =
      augmenter.Run(plan, reference::View(picture), {0, 0, picture.width, picture.height}, 1, out);
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  return out;
}

// Output of a program that gives bytes, [height][width][3].
inline reference::Bytes BytesOf(std::string_view ops, const reference::Bytes& picture,
                                const SampleKey& key = {1, 2, 3}) {
  const AugmentProgram program = Parsed(ops);
  const auto out = RunWhole(program, picture, key);
  reference::Bytes bytes(program.format().width, program.format().height);
  for (std::size_t i = 0; i < out.size(); ++i) {
    bytes.values[i] = static_cast<std::uint8_t>(out[i]);
  }
  return bytes;
}

}  // namespace penstock::loader
