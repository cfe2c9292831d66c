// SPDX-License-Identifier: Apache-2.0
#include "gui/views/file_views.h"

#include <utility>

namespace penstock::gui {

void SweepViewState::Show(Sweep sweep) {
  *this = SweepViewState{};
  file = std::make_shared<const Sweep>(std::move(sweep));
  grid = std::make_unique<SweepGrid>(*file);
  look = FirstLook(*file, *grid);
}

const Result<CompareAnswer>* CompareViewState::Answer(const Document& a,
                                                      const std::function<void()>& wake) {
  if (!job || job_a != a.trace || job_b != other.trace) {
    job_a = a.trace;
    job_b = other.trace;
    job = std::make_unique<CompareJob>(a, other, wake);
  }
  return job->finished() ? &job->answer() : nullptr;
}

}  // namespace penstock::gui
