// SPDX-License-Identifier: Apache-2.0
//
// Messages between launcher and collector over a SOCK_SEQPACKET pair, one packet for each message.
// If one side dies, the other reads end of file. A Channel owns its descriptor.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace penstock::record {

enum class MessageType : std::uint32_t {
  // collector to launcher
  kReady = 1,     // text: the value for PENSTOCK_ARENA
  kRefused = 2,   // text: why nothing can be recorded; status: the ErrorKind
  kProgress = 3,  // values: see ProgressValue
  kStopped = 4,   // text: the limit that was reached, at which the trace ends
  kSampled = 5,   // the last sample of the command was taken: it may be reaped
  kFinished = 6,  // text: what went wrong, or empty; status 1: no complete trace
  kPlaced = 7,    // text: path of the trace
  kNote = 8,      // text: a line for the user
  // launcher (or the command before exec) to collector. In kStarted and kExited, values[1] is the
  // time of the event (monotonic clock, nanoseconds), since the collector may read it later.
  kStarted = 16,  // values[0]: pid
  kExited = 17,   // status: wait status; the command is a zombie until kSampled
  kDiscard = 18,  // the command could not be run: remove everything
};

// values[] of kProgress and kFinished.
enum ProgressValue : std::size_t {
  kElapsedNs,
  kProcesses,
  kSpans,
  kBatches,
  kBytesWritten,
  kLost,
  kValueCount,
};

struct Message {
  MessageType type = MessageType::kReady;
  std::int32_t status = 0;
  std::array<std::uint64_t, kValueCount> values{};
  std::array<char, 4200> buffer{};

  void set_text(std::string_view text);
  [[nodiscard]] std::string_view text() const;
};

class Channel {
 public:
  enum class Event { kMessage, kNothing, kClosed };

  Channel() = default;
  explicit Channel(int fd) : fd_(fd) {}
  Channel(Channel&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Channel& operator=(Channel&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(failures_, other.failures_);
    return *this;
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() { Close(); }

  // Makes both ends, close-on-exec. nullopt if there are no descriptors left.
  [[nodiscard]] static std::optional<std::pair<Channel, Channel>> Pair();

  // False if the other side is gone or too slow. Waits for about a second at most.
  // Async-signal-safe.
  bool Send(const Message& message) const;
  // Like Send(), but never waits.
  bool Offer(const Message& message) const;
  // Waits up to `timeout_ms` (-1: for ever). kNothing also if a signal came or the kernel is short
  // of memory: ask again.
  Event Receive(Message* message, int timeout_ms) const;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  void Close();

 private:
  int fd_ = -1;
  mutable int failures_ = 0;  // of receiving since the last message
};

}  // namespace penstock::record
