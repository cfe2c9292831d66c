// SPDX-License-Identifier: Apache-2.0
//
// What a view makes of a whole trace for one question (a range, a stage): made once, on a thread of
// its own, and kept until the question changes. A key may say with Follows(before) whether the
// answer to `before` serves until its own is there. Used from one thread; `make` runs on another
// and must look only at what it owns or what never changes.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace penstock::gui {

template <class Key, class Value>
class Derived {
 public:
  using Make = std::function<Value(const std::stop_token&)>;

  // The value for `key`; nullptr, or that of the key which it follows, while it is being made.
  // `now`: make it before returning. What was asked before is stopped and forgotten, unless it is
  // followed.
  const Value* Get(const Key& key, bool now, const Make& make) {
    if (job_ && job_->done.load(std::memory_order_acquire)) {
      key_ = job_->key;
      value_ = std::move(job_->value);
      job_.reset();
    }
    if (value_ && key_ == key) return &*value_;
    if (now) {
      job_.reset();
      key_ = key;
      value_ = make({});
      return &*value_;
    }
    // What is followed is finished first: it would never be, of what changes faster.
    if (!job_ || !(job_->key == key || Follows(key, job_->key))) {
      job_ = std::make_unique<Job>(key, make);
    }
    return value_ && Follows(key, key_) ? &*value_ : nullptr;
  }

  // What the value is the answer to.
  [[nodiscard]] const Key& key() const { return key_; }

  // A value is being made: look again soon.
  [[nodiscard]] bool busy() const { return job_ != nullptr; }

 private:
  static bool Follows(const Key& key, const Key& before) {
    if constexpr (requires { key.Follows(before); }) {
      return key.Follows(before);
    } else {
      return false;
    }
  }
  struct Job {
    Job(const Key& asked, Make make)
        : key(asked), thread([this, work = std::move(make)](const std::stop_token& stop) {
            value = work(stop);
            done.store(true, std::memory_order_release);
          }) {}
    Key key;
    std::optional<Value> value;  // written by the thread; read after `done`
    // Release by the thread pairs with acquire in Get().
    std::atomic<bool> done{false};
    std::jthread thread;  // last: stopped and joined before the rest goes
  };

  Key key_{};
  std::optional<Value> value_;
  std::unique_ptr<Job> job_;
};

}  // namespace penstock::gui
