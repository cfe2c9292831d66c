// SPDX-License-Identifier: Apache-2.0
#include "agent/record/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace penstock::record {

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
  do {
    sent = send(fd_, &message, sizeof message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
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
  if (ready <= 0) return Event::kNothing;  // also EINTR: the caller loops
  const ssize_t got = recv(fd_, message, sizeof *message, MSG_DONTWAIT);
  if (got == static_cast<ssize_t>(sizeof *message)) return Event::kMessage;
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Event::kNothing;
  return Event::kClosed;
}

void Channel::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

}  // namespace penstock::record
