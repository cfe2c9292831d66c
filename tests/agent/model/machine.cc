// SPDX-License-Identifier: Apache-2.0
#include "tests/agent/model/machine.h"

#include <cstdlib>

namespace penstock::model {

void Memory::Retire(int actor) {
  for (Log& log : logs_) log.readers = Narrow(log.readers & ~(1u << actor));
}

std::uint8_t Memory::Load(int actor, int atomic, Order order, Chooser& choose) {
  const Log& log = logs_[At(atomic)];
  View& view = views_[At(actor)];
  const int oldest = view.seen[At(atomic)];
  const int newest = log.count - 1;
  const int chosen = newest - choose.Choose(newest - oldest + 1);
  view.seen[At(atomic)] = static_cast<std::uint8_t>(chosen);
  const Message& message = log.messages[At(chosen)];
  if (order == Order::kAcquire) view.Join(message.view);
  return message.value;
}

void Memory::Append(int actor, int atomic, std::uint8_t value, Order order, const View* earlier) {
  Log& log = logs_[At(atomic)];
  if (log.count == kMaxMessages) std::abort();  // the model is too large for this machine
  View& view = views_[At(actor)];
  view.seen[At(atomic)] = log.count;
  Message& message = log.messages[log.count++];
  message.value = value;
  message.view = order == Order::kRelease ? view : View{};
  message.view.seen[At(atomic)] = view.seen[At(atomic)];
  if (earlier != nullptr) message.view.Join(*earlier);
}

void Memory::Store(int actor, int atomic, std::uint8_t value, Order order) {
  Append(actor, atomic, value, order, nullptr);
}

bool Memory::CompareAndSwap(int actor, int atomic, std::uint8_t expected, std::uint8_t value,
                            Order order) {
  const Log& log = logs_[At(atomic)];
  const Message message = log.messages[log.count - 1u];
  View& view = views_[At(actor)];
  view.seen[At(atomic)] = static_cast<std::uint8_t>(log.count - 1);
  if (message.value != expected) return false;
  if (order == Order::kAcquire) view.Join(message.view);
  Append(actor, atomic, value, Order::kRelaxed, &message.view);
  return true;
}

void Memory::Forget(int actor, std::uint64_t bits) {
  for (std::size_t i = 0; i < views_.size(); ++i) {
    if (i != At(actor)) views_[i].plain &= ~bits;
  }
  for (Log& log : logs_) {
    for (std::size_t m = 0; m < log.count; ++m) log.messages[m].view.plain &= ~bits;
  }
}

bool Memory::Read(int actor, int plain, std::uint8_t* value) {
  const bool known = (views_[At(actor)].plain & WriteBit(plain)) != 0;
  *value = plain_[At(plain)];
  Forget(actor, ReadBit(plain, actor));
  return known;
}

bool Memory::Write(int actor, int plain, std::uint8_t value) {
  std::uint64_t known = WriteBit(plain);
  for (int reader = 0; reader < kMaxActors; ++reader) known |= ReadBit(plain, reader);
  View& view = views_[At(actor)];
  const bool all = (view.plain & known) == known;
  plain_[At(plain)] = value;
  view.plain |= known;
  Forget(actor, WriteBit(plain));
  return all;
}

void Memory::Normalise() {
  std::array<std::uint8_t, kMaxAtomics> base{};
  for (std::size_t l = 0; l < logs_.size(); ++l) {
    Log& log = logs_[l];
    std::uint8_t lowest = static_cast<std::uint8_t>(log.count - 1);
    for (std::size_t a = 0; a < views_.size(); ++a) {
      if ((log.readers >> a & 1) != 0 && views_[a].seen[l] < lowest) lowest = views_[a].seen[l];
    }
    base[l] = lowest;
    for (std::size_t m = lowest; m < log.count; ++m) log.messages[m - lowest] = log.messages[m];
    log.count = static_cast<std::uint8_t>(log.count - lowest);
  }
  const auto lower = [&base](View& view) {
    for (std::size_t l = 0; l < base.size(); ++l) {
      view.seen[l] = view.seen[l] > base[l] ? static_cast<std::uint8_t>(view.seen[l] - base[l]) : 0;
    }
  };
  for (View& view : views_) lower(view);
  for (Log& log : logs_) {
    for (std::size_t m = 0; m < log.count; ++m) lower(log.messages[m].view);
  }
}

void Memory::Hash(Hasher& hasher) const {
  for (const View& view : views_) hasher.AddBytes(view);
  for (const Log& log : logs_) {
    hasher.Add(log.count | std::uint64_t{log.readers} << 8);
    for (std::size_t m = 0; m < log.count; ++m) {
      hasher.AddBytes(log.messages[m].view);
      hasher.Add(log.messages[m].value);
    }
  }
  for (const std::uint8_t value : plain_) hasher.Add(value);
}

bool Visited::Insert(std::uint64_t hash) {
  if (size_ * 2 >= table_.size()) {
    std::vector<std::uint64_t> old(table_.size() * 4);
    old.swap(table_);
    size_ = 0;
    for (const std::uint64_t one : old) {
      if (one != 0) Insert(one);
    }
  }
  std::size_t i = hash % table_.size();
  for (; table_[i] != 0; i = (i + 1) % table_.size()) {
    if (table_[i] == hash) return false;
  }
  table_[i] = hash;
  ++size_;
  return true;
}

}  // namespace penstock::model
