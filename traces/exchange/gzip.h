// SPDX-License-Identifier: Apache-2.0
//
// Gzip between an exporter and its sink. Not thread-safe.
#pragma once

#include <memory>
#include <string_view>

#include "traces/export.h"

namespace penstock::traces {

class Gzip {
 public:
  explicit Gzip(const TextSink& sink);  // `sink` must outlive this
  ~Gzip();
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  // Returns false once the sink did.
  [[nodiscard]] bool Write(std::string_view text);
  // Ends the stream; without it the file is truncated.
  [[nodiscard]] bool Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::traces
