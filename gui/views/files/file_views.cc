// SPDX-License-Identifier: Apache-2.0
#include "gui/views/files/file_views.h"

#include <utility>

namespace penstock::gui {

void SweepViewState::Show(Sweep sweep) {
  *this = SweepViewState{};
  file = std::make_shared<const Sweep>(std::move(sweep));
  grid = std::make_unique<SweepGrid>(*file);
  look = FirstLook(*file, *grid);
}

const analyzer::Predicted<CompareAnswer>* CompareViewState::Answer(
    const Document& a, const std::function<void()>& wake) {
  const bool current = job && job_a == a.analysis && job_b == other.analysis;
  // While a trace grows, the result for its previous state is shown until the next result is ready.
  const bool grown =
      job && !current && a.serial != 0 && a.serial == serial && job_b == other.analysis;
  if (current || !grown) next.reset();
  if (!current && !grown) {
    job_a = a.analysis;
    job_b = other.analysis;
    serial = a.serial;
    job = std::make_unique<CompareJob>(a, other, wake);
  } else if (grown && job->finished()) {
    if (!next) {
      next_a = a.analysis;
      next = std::make_unique<CompareJob>(a, other, wake);
    } else if (next->finished()) {
      job_a = std::move(next_a);
      job = std::move(next);
    }
  }
  return job->finished() ? &job->answer() : nullptr;
}

}  // namespace penstock::gui
