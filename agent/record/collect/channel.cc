// SPDX-License-Identifier: Apache-2.0
#include "agent/record/collect/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace penstock::record {
namespace {

constexpr int kFailures = 100;  // after so many failures in turn the channel counts as closed
constexpr useconds_t kPauseUs = 5000;

}  // namespace

void Message::set_text(std::string_view text) {
  const std::size_t size = std::min(text.size(), buffer.size() - 1);
  std::memcpy(buffer.data(), text.data(), size);
  buffer[size] = 0;
}

std::string_view Message::text() const {
  return {buffer.data(), strnlen(buffer.data(), buffer.size())};
}

std::optional<std::pair<Channel, Channel>> Channel::Pair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) return std::nullopt;
  const timeval patience{1, 0};
  for (const int fd : fds) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  return std::pair{Channel(fds[0]), Channel(fds[1])};
}

bool Channel::Send(const Message& message) const {
  ssize_t sent = 0;
  int failures = 0;
  for (;;) {
    sent = send(fd_, &message, sizeof message, MSG_NOSIGNAL);
    if (sent >= 0) break;
    if (errno == EINTR) continue;
    const bool short_of_memory = errno == ENOMEM || errno == ENOBUFS;
    if (!short_of_memory || ++failures == kFailures) break;
    usleep(kPauseUs);
  }
  return sent == static_cast<ssize_t>(sizeof message);
}

bool Channel::Offer(const Message& message) const {
  return send(fd_, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(sizeof message);
}

Channel::Event Channel::Receive(Message* message, int timeout_ms) const {
  if (fd_ < 0) return Event::kClosed;
  pollfd waiting{fd_, POLLIN, 0};
  const int ready = poll(&waiting, 1, timeout_ms);
  if (ready == 0 || (ready < 0 && errno == EINTR)) return Event::kNothing;  // callers ask again
  const ssize_t got = recv(fd_, message, sizeof *message, MSG_DONTWAIT);
  if (got == static_cast<ssize_t>(sizeof *message)) {
    failures_ = 0;
    return Event::kMessage;
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Event::kNothing;
  // If the kernel is short of memory, the channel is still open, but we do not wait for ever.
  if (got < 0 && errno != ECONNRESET && ++failures_ < kFailures) {
    usleep(kPauseUs);
    return Event::kNothing;
  }
  return Event::kClosed;
}

void Channel::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

}  // namespace penstock::record
