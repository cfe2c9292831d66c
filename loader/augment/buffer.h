// SPDX-License-Identifier: Apache-2.0
//
// Memory of one thread that grows to the largest size needed and stays, so that nothing is
// allocated in steady state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace penstock::loader {

// Holds plain values, aligned to a cache line. Growing loses the contents; new memory is zero. A
// buffer that was moved from must not be used.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // Makes room for at least `size` elements and returns the first.
  T* Reserve(std::size_t size) {
    if (size > size_) {
      data_.reset();
      size_ = 0;
      const std::size_t wanted = size + size / 4;
      data_.reset(static_cast<T*>(::operator new(wanted * sizeof(T), kAlignment)));
      size_ = wanted;
      std::fill_n(data_.get(), wanted, T{});
    }
    return data_.get();
  }

  [[nodiscard]] T* data() { return data_.get(); }
  [[nodiscard]] const T* data() const { return data_.get(); }
  [[nodiscard]] T& operator[](std::size_t i) { return data_.get()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return data_.get()[i]; }

 private:
  static constexpr std::align_val_t kAlignment{64};

  struct Free {
    void operator()(T* data) const { ::operator delete(data, kAlignment); }
  };

  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace penstock::loader
