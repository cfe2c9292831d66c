// SPDX-License-Identifier: Apache-2.0
//
// A program that knows nothing of Python: three threads decode JPEG files with libjpeg, through
// stdio (jpeg_stdio_src) and from memory (read + jpeg_mem_src) in turn. Prints the number of files
// and bytes and a sum over all pixels, so the same input gives the same output.
//
//   jpeg_threads DIRECTORY [REPETITIONS [LOG]]
//
// With LOG, appends "PATH TID" there for each finished file before it begins the next one.

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <jpeglib.h>

namespace {

constexpr int kThreads = 3;

struct Totals {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t sum = 0;
};

struct ErrorManager {
  jpeg_error_mgr base;
  std::jmp_buf back;
};

[[noreturn]] void OnError(j_common_ptr info) {
  std::longjmp(reinterpret_cast<ErrorManager*>(info->err)->back, 1);
}

// Reads all rows of an image whose source is set. Returns the sum of all bytes.
std::uint64_t ReadRows(jpeg_decompress_struct& info) {
  jpeg_read_header(&info, TRUE);
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  std::vector<JSAMPLE> row(std::size_t{info.output_width} * 3);
  std::uint64_t sum = 0;
  while (info.output_scanline < info.output_height) {
    JSAMPROW rows[1] = {row.data()};
    jpeg_read_scanlines(&info, rows, 1);
    for (const JSAMPLE value : row) sum += value;
  }
  jpeg_finish_decompress(&info);
  return sum;
}

// Decodes `file` or, if that is null, `memory`. Returns ReadRows()'s sum; 1 for a broken image.
std::uint64_t Decode(std::FILE* file, const std::vector<unsigned char>& memory) {
  jpeg_decompress_struct info;
  ErrorManager errors;
  info.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = OnError;
  volatile std::uint64_t sum = 1;
  if (setjmp(errors.back) == 0) {
    jpeg_create_decompress(&info);
    if (file != nullptr) {
      jpeg_stdio_src(&info, file);
    } else {
      jpeg_mem_src(&info, memory.data(), memory.size());
    }
    sum = ReadRows(info);
  }
  jpeg_destroy_decompress(&info);
  return sum;
}

std::vector<unsigned char> ReadAll(const std::string& path) {
  std::vector<unsigned char> data;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return data;
  struct stat status = {};
  if (fstat(fd, &status) == 0) data.resize(static_cast<std::size_t>(status.st_size));
  std::size_t at = 0;
  while (at < data.size()) {
    const ssize_t got = read(fd, data.data() + at, std::min<std::size_t>(data.size() - at, 16384));
    if (got <= 0) break;
    at += static_cast<std::size_t>(got);
  }
  close(fd);
  data.resize(at);
  return data;
}

std::vector<std::string> ListFiles(const char* directory) {
  std::vector<std::string> paths;
  if (DIR* dir = opendir(directory)) {
    while (const dirent* entry = readdir(dir)) {
      const std::string name = entry->d_name;
      if (name.size() > 4 && name.substr(name.size() - 4) == ".jpg") {
        paths.push_back(std::string(directory) + "/" + name);
      }
    }
    closedir(dir);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void Log(int fd, const std::string& path) {
  if (fd < 0) return;
  const std::string line = path + " " + std::to_string(syscall(SYS_gettid)) + "\n";
  if (write(fd, line.data(), line.size()) < 0) std::abort();
}

void Work(const std::vector<std::string>& paths, std::size_t count, std::atomic<std::size_t>& next,
          int log, Totals& totals) {
  for (std::size_t i = next++; i < count; i = next++) {
    const std::string& path = paths[i % paths.size()];
    if (i % 2 == 0) {
      const std::vector<unsigned char> data = ReadAll(path);
      totals.sum += Decode(nullptr, data);
      totals.bytes += data.size();
    } else if (std::FILE* file = std::fopen(path.c_str(), "rb")) {
      totals.sum += Decode(file, {});
      std::fseek(file, 0, SEEK_END);
      totals.bytes += static_cast<std::uint64_t>(std::ftell(file));
      std::fclose(file);
    }
    ++totals.files;
    Log(log, path);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::vector<std::string> paths = ListFiles(argv[1]);
  if (paths.empty()) return 3;
  const std::size_t repetitions = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1;
  const int log = argc > 3 ? open(argv[3], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
  std::atomic<std::size_t> next = 0;
  std::vector<Totals> totals(kThreads);
  std::vector<std::thread> threads;
  for (Totals& mine : totals) {
    threads.emplace_back([&] { Work(paths, paths.size() * repetitions, next, log, mine); });
  }
  for (std::thread& thread : threads) thread.join();
  Totals all;
  for (const Totals& one : totals) {
    all.files += one.files;
    all.bytes += one.bytes;
    all.sum += one.sum;
  }
  std::printf("%llu files %llu bytes sum %llu\n", static_cast<unsigned long long>(all.files),
              static_cast<unsigned long long>(all.bytes), static_cast<unsigned long long>(all.sum));
  return 0;
}
