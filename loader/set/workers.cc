// SPDX-License-Identifier: Apache-2.0
#include "loader/set/workers.h"

#include <sched.h>

#include <thread>

namespace penstock::loader {

unsigned UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0) {
    return static_cast<unsigned>(CPU_COUNT(&set));
  }
  const unsigned all = std::thread::hardware_concurrency();
  return all == 0 ? 1 : all;
}

}  // namespace penstock::loader
