// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/gzip.h"

#define ZLIB_CONST
#include <zlib.h>

#include <array>
#include <limits>

#include "traces/base/result.h"

namespace penstock::traces {
namespace {

constexpr int kGzipHeader = 16;  // added to the window bits of deflateInit2
constexpr int kWindowBits = 15;
constexpr int kMemory = 8;

}  // namespace

struct Gzip::State {
  explicit State(const TextSink& to) : sink(to) {
    const int status = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                                    kWindowBits + kGzipHeader, kMemory, Z_DEFAULT_STRATEGY);
    ok = status == Z_OK;  // otherwise there is no memory
  }
  ~State() { deflateEnd(&stream); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  bool Put(std::string_view text, int flush) {
    stream.next_in = reinterpret_cast<const Bytef*>(text.data());
    stream.avail_in = static_cast<uInt>(text.size());
    do {
      stream.next_out = buffer.data();
      stream.avail_out = static_cast<uInt>(buffer.size());
      if (!ok || deflate(&stream, flush) == Z_STREAM_ERROR) return false;
      const std::size_t made = buffer.size() - stream.avail_out;
      ok = made == 0 || sink({reinterpret_cast<const char*>(buffer.data()), made});
    } while (ok && stream.avail_out == 0);
    return ok;
  }

  const TextSink& sink;
  z_stream stream{};
  std::array<Bytef, 1 << 16> buffer;
  bool ok = false;
};

Gzip::Gzip(const TextSink& sink) : state_(std::make_unique<State>(sink)) {}
Gzip::~Gzip() = default;

bool Gzip::Write(std::string_view text) {
  constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
  while (text.size() > kMost) {
    if (!state_->Put(text.substr(0, kMost), Z_NO_FLUSH)) return false;
    text.remove_prefix(kMost);
  }
  return state_->Put(text, Z_NO_FLUSH);
}

bool Gzip::Finish() {
  return state_->Put({}, Z_FINISH);
}

}  // namespace penstock::traces
