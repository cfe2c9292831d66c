// SPDX-License-Identifier: Apache-2.0
//
// A small machine that runs a protocol between threads in every order of steps: memory with
// release/acquire semantics, actors that may be killed, and a search over all states.
//
// Memory is the operational model of C++'s atomics without load buffering (Kang et al., "A
// Promising Semantics for Relaxed-Memory Concurrency", POPL 2017, without promises). An atomic
// location is a list of messages. An actor may read any message that is not older than the newest
// one it knows. A release store passes on what its actor knows. A plain location holds one value.
// It is a data race if an actor reads or writes it without knowing of the last write, or writes it
// without knowing of each actor's last read. The model allows less than C++ in one point: a store
// always comes last in the order of its location.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace penstock::model {

inline constexpr int kMaxActors = 4;
inline constexpr int kMaxAtomics = 16;
inline constexpr int kMaxPlain = 12;
inline constexpr int kMaxMessages = 24;

enum class Order : std::uint8_t { kRelaxed, kAcquire, kRelease };

// Makes the choices of a step in which more than one thing may happen. The search runs the step
// once for every sequence of choices.
class Chooser {
 public:
  // 0 <= result < options.
  int Choose(int options) {
    if (options <= 1) return 0;
    if (at_ == taken_.size()) {
      taken_.push_back(0);
      options_.push_back(options);
    }
    return taken_[at_++];
  }
  // Goes to the next sequence of choices. Returns false if there is none.
  bool Next() {
    at_ = 0;
    while (!taken_.empty() && taken_.back() + 1 == options_.back()) {
      taken_.pop_back();
      options_.pop_back();
    }
    if (taken_.empty()) return false;
    ++taken_.back();
    return true;
  }

 private:
  std::vector<int> taken_;
  std::vector<int> options_;
  std::size_t at_ = 0;
};

class Hasher {
 public:
  void Add(std::uint64_t word) {
    hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15u;
    hash_ ^= hash_ >> 29;
  }
  template <class T>
  void AddBytes(const T& value) {
    static_assert(sizeof(T) % 8 == 0);
    for (std::size_t i = 0; i < sizeof(T); i += 8) {
      std::uint64_t word;
      std::memcpy(&word, reinterpret_cast<const char*>(&value) + i, 8);
      Add(word);
    }
  }
  [[nodiscard]] std::uint64_t value() const { return (hash_ ^ hash_ >> 32) | 1; }

 private:
  std::uint64_t hash_ = 0x243f6a8885a308d3u;
};

// What an actor knows. `seen`: the newest message of every atomic. `plain`: for every plain
// location a bit for the last write, and a bit for each actor's last read.
struct View {
  std::array<std::uint8_t, kMaxAtomics> seen{};
  std::uint64_t plain = 0;

  void Join(const View& other) {
    for (std::size_t i = 0; i < seen.size(); ++i) {
      seen[i] = seen[i] > other.seen[i] ? seen[i] : other.seen[i];
    }
    plain |= other.plain;
  }
};

class Memory {
 public:
  Memory() {
    for (View& view : views_) view.plain = ~std::uint64_t{0};
    for (Log& log : logs_) log.count = 1;
  }

  // Sets which actors read an atomic, as bits. Normalise() forgets messages that none of them can
  // read any more. A compare-and-swap always reads the newest message, so it counts as no reader.
  void SetReaders(int atomic, unsigned actors) { logs_[At(atomic)].readers = Narrow(actors); }
  // The actor reads nothing any more.
  void Retire(int actor);

  std::uint8_t Load(int actor, int atomic, Order order, Chooser& choose);
  void Store(int actor, int atomic, std::uint8_t value, Order order);
  // Stores `value` if the newest message is `expected`. Returns whether it did.
  bool CompareAndSwap(int actor, int atomic, std::uint8_t expected, std::uint8_t value,
                      Order order);
  // Read() and Write() access a plain location. They return false if the access is a data race.
  bool Read(int actor, int plain, std::uint8_t* value);
  bool Write(int actor, int plain, std::uint8_t value);
  // `actor` learns all that `other` knows. That happens when `actor` sees that `other` has ended.
  void Learn(int actor, int other) { views_[At(actor)].Join(views_[At(other)]); }
  // The newest message, for invariants.
  [[nodiscard]] std::uint8_t Newest(int atomic) const {
    const Log& log = logs_[At(atomic)];
    return log.messages[log.count - 1u].value;
  }

  // Forgets messages that nobody can read, and numbers the rest from 0. After that, states that
  // behave in the same way have the same bytes.
  void Normalise();
  void Hash(Hasher& hasher) const;

 private:
  struct Message {
    View view;
    std::uint8_t value = 0;
  };
  struct Log {
    std::array<Message, kMaxMessages> messages{};
    std::uint8_t count = 0;
    std::uint8_t readers = 0;
  };

  static std::size_t At(int i) { return static_cast<std::size_t>(i); }
  static std::uint8_t Narrow(unsigned v) { return static_cast<std::uint8_t>(v); }
  static std::uint64_t WriteBit(int plain) { return std::uint64_t{1} << plain; }
  static std::uint64_t ReadBit(int plain, int actor) {
    return std::uint64_t{1} << (kMaxPlain + plain * kMaxActors + actor);
  }
  // From now on only `actor` knows of the accesses that `bits` stand for.
  void Forget(int actor, std::uint64_t bits);
  void Append(int actor, int atomic, std::uint8_t value, Order order, const View* earlier);

  std::array<View, kMaxActors> views_{};
  std::array<Log, kMaxAtomics> logs_{};
  std::array<std::uint8_t, kMaxPlain> plain_{};
};

// A set of hashes.
class Visited {
 public:
  // Returns true if the hash is new.
  bool Insert(std::uint64_t hash);
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::vector<std::uint64_t> table_ = std::vector<std::uint64_t>(1 << 12);
  std::size_t size_ = 0;
};

struct Outcome {
  std::string violation;           // empty: none in any state
  std::vector<std::string> steps;  // the steps that lead to it
  std::size_t states = 0;
  bool complete = false;  // every state was seen
};

// Tries every order of steps from `start`, up to `limit` states. A State has Actors(),
// Enabled(actor), Step(actor, chooser), Kill(actor), Normalise(), Hash(hasher). Killable() has the
// bit 1 << actor for each actor that can be killed now. Violation() is nullptr if nothing is wrong.
// Describe(actor) names the actor's next step.
template <class State>
Outcome Explore(const State& start, std::size_t limit) {
  struct Node {
    std::uint32_t parent;
    const char* what;
    int actor;
  };
  struct Open {
    State state;
    std::uint32_t node;
  };
  Outcome outcome;
  Visited visited;
  std::vector<Node> nodes;
  std::vector<Open> open;
  const auto add = [&](State&& state, std::uint32_t parent, int actor, const char* what) {
    if (outcome.violation.empty() && state.Violation() != nullptr) {
      outcome.violation = state.Violation();
      outcome.steps.push_back(std::to_string(actor) + ": " + what);
      for (std::uint32_t n = parent; n != ~0u; n = nodes[n].parent) {
        outcome.steps.push_back(std::to_string(nodes[n].actor) + ": " + nodes[n].what);
      }
      outcome.steps = {outcome.steps.rbegin(), outcome.steps.rend()};
      return;
    }
    state.Normalise();
    Hasher hasher;
    state.Hash(hasher);
    if (visited.Insert(hasher.value())) {
      nodes.push_back({parent, what, actor});
      open.push_back({std::move(state), static_cast<std::uint32_t>(nodes.size() - 1)});
    }
  };
  add(State(start), ~0u, 0, "start");
  while (!open.empty() && outcome.violation.empty() && visited.size() < limit) {
    const Open here = std::move(open.back());
    open.pop_back();
    for (int actor = 0; actor < here.state.Actors(); ++actor) {
      if (here.state.Enabled(actor)) {
        Chooser choose;
        do {
          State next = here.state;
          next.Step(actor, choose);
          add(std::move(next), here.node, actor, here.state.Describe(actor));
        } while (choose.Next());
      }
      if ((here.state.Killable() >> actor & 1) != 0) {
        State next = here.state;
        next.Kill(actor);
        add(std::move(next), here.node, actor, "is killed");
      }
    }
  }
  outcome.states = visited.size();
  outcome.complete = open.empty() && outcome.violation.empty();
  return outcome;
}

}  // namespace penstock::model
