// SPDX-License-Identifier: Apache-2.0
//
// Translates the plan of a sample into passes of the kernels. The plan is the one that the CPU
// would carry out, drawn from the same random numbers. Any thread may call this.
//
// Tolerance: one operation gives the CPU's bytes, except that fewer than 1 in 1,000 bytes differ by
// 1 of 255. These are bytes for which the CPU's sum of products is nearly a half more than an
// integer. A resize that becomes float16 or float32 at once, without bytes between, differs by at
// most 1e-4 of the range before the conversion. Further operations on bytes can multiply a
// difference of 1 by their own factor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/pass_list.h"
#include "loader/augment/axes.h"
#include "loader/augment/plan.h"
#include "loader/augment/program.h"
#include "loader/decode/image.h"
#include "traces/base/result.h"

namespace penstock::loader {

// Decoded pixels in memory of the device, described as in JpegDecoder::Decoded.
struct DevicePicture {
  cuda::PictureAt at;
  Region covers;
  int denominator = 1;
};

class PlanPasses {
 public:
  // Requires: the program outlives this object.
  explicit PlanPasses(const AugmentProgram& program);

  // Appends the passes of one sample. `target`: offset of the sample in the output.
  //
  // Requires: plan.region is in picture.covers.
  // Errors:   those of cuda::PassList; kInput if the operations make too large a picture. After an
  //           error the list must not be used.
  [[nodiscard]] Result<void> Add(const AugmentPlan& plan, const DevicePicture& picture,
                                 std::int64_t target, cuda::PassList& list) const;

 private:
  [[nodiscard]] Result<void> AddStep(const Step& step, const Region& covers, int denominator,
                                     cuda::PassList& list) const;

  const AugmentProgram& program_;
  cuda::OutputForm form_;
};

}  // namespace penstock::loader
