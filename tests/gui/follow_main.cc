// SPDX-License-Identifier: Apache-2.0
//
// Follows a trace as the dashboard does, without a window. Prints a line for each new state:
// "writing 120 spans not analysed", ..., "ended 4711 spans analysed". For live_test.py.
#include <chrono>
#include <cstdio>
#include <semaphore>

#include <fmt/core.h>

#include "gui/model/document.h"

namespace {

using penstock::gui::Live;

const char* NameOf(Live live) {
  switch (live) {
    case Live::kNo:
      return "complete";
    case Live::kWriting:
      return "writing";
    case Live::kEnded:
      return "ended";
    case Live::kDied:
      return "died";
  }
  return "?";
}

void Say(const penstock::gui::Document& document, bool analysed) {
  fmt::print("{} {} spans {}\n", NameOf(document.live),
             document.timeline ? document.timeline->spans : 0,
             analysed ? "analysed" : "not analysed");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::counting_semaphore<> news(0);
  penstock::gui::LoadJob job(argv[1], [&news] { news.release(); });
  std::shared_ptr<const penstock::gui::Timeline> shown;
  while (!job.finished()) {
    static_cast<void>(news.try_acquire_for(std::chrono::milliseconds(100)));
    const auto document = job.document();
    if (document.timeline && document.timeline != shown) {
      shown = document.timeline;
      Say(document, document.analysis != nullptr);
    }
  }
  if (const auto error = job.error()) {
    fmt::print("error {}\n", error->message);
    return 4;
  }
  Say(job.document(), job.document().analysis != nullptr);
  return 0;
}
