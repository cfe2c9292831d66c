// SPDX-License-Identifier: Apache-2.0
//
// A value that a view derives from a whole trace for one question, such as a range or a stage. It
// is made once, on its own thread, and kept until the question changes. The question is a Key. Its
// optional member Follows(before) says whether the value for `before` may be shown until the new
// one is there. Used from one thread. `make` runs on another thread and may read only its own data
// and immutable data.
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

  // The value for `key`. While it is being made: the previous value if `key` follows its key, else
  // nullptr. `now`: makes the value before returning. An earlier question is stopped and forgotten,
  // unless `key` follows it.
  const Value* Get(const Key& key, bool now, const Make& make) {
    TakeFinished();
    if (value_ && key_ == key) return &*value_;
    if (now) {
      job_.reset();
      key_ = key;
      value_ = make({});
      return &*value_;
    }
    // A job that `key` follows is finished first: otherwise keys that change fast would never get a
    // value.
    if (!job_ || !(job_->key == key || Follows(key, job_->key))) {
      job_ = std::make_unique<Job>(key, make);
    }
    return value_ && Follows(key, key_) ? &*value_ : nullptr;
  }

  // Takes the value if it has been made. To be called in each frame: a view that stops asking would
  // otherwise leave this busy for good.
  void TakeFinished() {
    std::erase_if(retired_,
                  [](const auto& job) { return job->done.load(std::memory_order_acquire); });
    if (!job_ || !job_->done.load(std::memory_order_acquire)) return;
    key_ = job_->key;
    value_ = std::move(job_->value);
    job_.reset();
  }

  // Forgets the question and its value. Does not wait for a value that is being made;
  // TakeFinished() drops it.
  void Forget() {
    key_ = Key{};
    value_.reset();
    if (!job_) return;
    job_->thread.request_stop();
    retired_.push_back(std::move(job_));
  }

  // The key that the value answers.
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
