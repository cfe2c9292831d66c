// SPDX-License-Identifier: Apache-2.0
//
// A value that a view computes from a whole trace for a Key, such as a range or a stage. The value
// is computed once, on its own thread, and kept until the key changes. The optional member
// Key::Follows(before) says whether the value for the key `before` may be shown until the new value
// is ready. Used from one thread. `make` runs on another thread and may read only its own data and
// immutable data.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace penstock::gui {

template <class Key, class Value>
class Derived {
 public:
  using Make = std::function<Value(const std::stop_token&)>;

  // Returns the value for `key`. Until it is ready, returns the previous value if `key` follows the
  // key of that value, else nullptr. `now`: makes the value before returning. The job of an earlier
  // key is stopped and forgotten, unless `key` follows that key.
  const Value* Get(const Key& key, bool now, const Make& make) {
    TakeFinished();
    if (value_ && key_ == key) return &*value_;
    if (now) {
      job_.reset();
      key_ = key;
      value_ = make({});
      return &*value_;
    }
    // If `key` follows the key of the running job, that job finishes first. Otherwise keys that
    // change fast would never get a value.
    if (!job_ || !(job_->key == key || Follows(key, job_->key))) {
      job_ = std::make_unique<Job>(key, make);
    }
    return value_ && Follows(key, key_) ? &*value_ : nullptr;
  }

  // Takes the value if it is ready. Call it in each frame, also when no view calls Get() any more;
  // otherwise busy() would stay true.
  void TakeFinished() {
    std::erase_if(retired_,
                  [](const auto& job) { return job->done.load(std::memory_order_acquire); });
    if (!job_ || !job_->done.load(std::memory_order_acquire)) return;
    key_ = job_->key;
    value_ = std::move(job_->value);
    job_.reset();
  }

  // Forgets the key and its value. Does not wait for a running job; TakeFinished() drops its value.
  void Forget() {
    key_ = Key{};
    value_.reset();
    if (!job_) return;
    job_->thread.request_stop();
    retired_.push_back(std::move(job_));
  }

  // The key of the value.
  [[nodiscard]] const Key& key() const { return key_; }

  // Whether a value is being made, so that another frame must be drawn soon.
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
    // Release by the thread pairs with acquire in TakeFinished().
    std::atomic<bool> done{false};
    std::jthread thread;  // last: stopped and joined before the rest goes
  };

  Key key_{};
  std::optional<Value> value_;
  std::unique_ptr<Job> job_;
  std::vector<std::unique_ptr<Job>> retired_;  // forgotten, still running
};

}  // namespace penstock::gui
