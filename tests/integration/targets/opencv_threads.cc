// SPDX-License-Identifier: Apache-2.0
//
// A loader in C++ as people write it: two threads read pictures with cv::imread and scale them with
// cv::resize, the main thread takes them in batches of four. Prints in JSON what it did.
//
//   opencv_threads DIRECTORY
//
// Further arguments are ignored.

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

namespace {

constexpr std::size_t kThreads = 2;
constexpr std::size_t kBatch = 4;

std::vector<std::string> PicturesIn(const std::string& directory) {
  std::vector<std::string> paths;
  DIR* open = opendir(directory.c_str());
  if (open == nullptr) return paths;
  while (const dirent* entry = readdir(open)) {
    const std::string name = entry->d_name;
    if (name.size() > 4 && name.substr(name.size() - 4) == ".jpg") {
      paths.push_back(directory + "/" + name);
    }
  }
  closedir(open);
  std::sort(paths.begin(), paths.end());
  return paths;
}

class Loader {
 public:
  explicit Loader(const std::vector<std::string>& paths) : paths_(paths) {
    for (std::size_t i = 0; i < kThreads; ++i) threads_.emplace_back([this] { Work(); });
  }
  ~Loader() {
    for (std::thread& thread : threads_) thread.join();
  }

  // Returns the next picture; an empty one after the last.
  cv::Mat Next() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return !done_.empty() || given_ == paths_.size(); });
    if (done_.empty()) return {};
    cv::Mat picture = done_.back();
    done_.pop_back();
    ++given_;
    return picture;
  }

 private:
  void Work() {
    for (std::size_t i = next_++; i < paths_.size(); i = next_++) {
      const cv::Mat whole = cv::imread(paths_[i], cv::IMREAD_COLOR);
      cv::Mat small(64, 64, CV_8UC3);
      if (!whole.empty()) cv::resize(whole, small, small.size());
      const std::lock_guard lock(mutex_);
      done_.push_back(small);
      ready_.notify_one();
    }
  }

  const std::vector<std::string>& paths_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::condition_variable ready_;
  std::vector<cv::Mat> done_;
  std::size_t given_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  const std::vector<std::string> paths = PicturesIn(words[1]);
  std::uint64_t bytes = 0;
  for (const std::string& path : paths) {
    struct stat status {};
    if (stat(path.c_str(), &status) == 0) bytes += static_cast<std::uint64_t>(status.st_size);
  }
  std::size_t samples = 0;
  {
    Loader loader(paths);
    for (; samples < paths.size(); ++samples) {
      if (loader.Next().empty()) return 1;
    }
  }
  std::printf("{\"samples\": %zu, \"batches\": %zu, \"bytes\": %llu}\n", samples, samples / kBatch,
              static_cast<unsigned long long>(bytes));
  return 0;
}
