// SPDX-License-Identifier: Apache-2.0
//
// Loads extensions with RTLD_LOCAL, lets them call their codecs, and prints the answers.
//   victim DIR cases | reload | threads | bench | missing
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#ifdef VICTIM_LINKS_CODEC
extern "C" int codec_answer(void);
#endif

namespace {

struct Extension {
  void* handle = nullptr;
  int (*answer)() = nullptr;
  int (*tail)() = nullptr;
  int (*object)() = nullptr;
  int (*use)(void*) = nullptr;
  void* (*site)() = nullptr;
};

Extension Load(const std::string& path, int mode) {
  Extension extension;
  extension.handle = dlopen(path.c_str(), mode);
  if (extension.handle == nullptr) {
    std::printf("error %s\n", dlerror());
    std::exit(3);
  }
  const auto find = [&](const char* name) { return dlsym(extension.handle, name); };
  extension.answer = reinterpret_cast<int (*)()>(find("extension_answer"));
  extension.tail = reinterpret_cast<int (*)()>(find("extension_tail"));
  extension.object = reinterpret_cast<int (*)()>(find("extension_object"));
  extension.use = reinterpret_cast<int (*)(void*)>(find("extension_use"));
  extension.site = reinterpret_cast<void* (*)()>(find("extension_site"));
  return extension;
}

void Cases(const std::string& dir) {
#ifdef VICTIM_LINKS_CODEC
  const int own = codec_answer();
  std::printf("main %d\n", own);
#endif
  for (const char* name : {"versioned", "plain", "noplt", "static", "symbolic", "lazy"}) {
    const int mode = std::strcmp(name, "lazy") == 0 ? RTLD_LAZY : RTLD_NOW;
    const Extension extension =
        Load(dir + "/ext_" + (std::strcmp(name, "lazy") == 0 ? "plain" : name) + ".so",
             mode | RTLD_LOCAL);
    for (int twice = 0; twice < 2; ++twice) {
      std::printf("%s %d\n", name, extension.answer());
      std::printf("%s.object %d\n", name, extension.object());
    }
  }
  const Extension deep = Load(dir + "/ext_deep.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  std::printf("deep %d\n", deep.answer());
  const Extension versioned = Load(dir + "/ext_versioned.so", RTLD_NOW | RTLD_LOCAL);
  std::printf("tail %d\n", versioned.tail());
  // The codec of "plain" makes an object, which is then used through "versioned".
  void* const plain_codec = dlopen((dir + "/libcodec_plain.so").c_str(), RTLD_NOW | RTLD_NOLOAD);
  void* object[1] = {};
  reinterpret_cast<void (*)(void*)>(dlsym(plain_codec, "codec_create"))(object);
  std::printf("foreign %d\n", versioned.use(object));
  std::printf("getppid %d\n", getppid() > 0 ? 1 : getppid());
}

// Loads and unloads two extensions in turn. They have different codecs but the same layout, so the
// loader often puts one at the addresses that the other had.
void Reload(const std::string& dir) {
  int wrong = 0;
  int coincidences = 0;
  void* last = nullptr;
  int offset = -1;
  for (int i = 0; i < 200; ++i) {
    const bool twin = i % 2 != 0;
    const Extension extension =
        Load(dir + (twin ? "/ext_twin_b.so" : "/ext_twin_a.so"), RTLD_NOW | RTLD_LOCAL);
    void* const site = extension.site();
    coincidences += site == last ? 1 : 0;
    last = site;
    const int answer = extension.answer();
    if (offset < 0) offset = answer >= 10000 ? 10000 : 0;
    wrong += answer != offset + (twin ? 12 : 11) ? 1 : 0;
    dlclose(extension.handle);
  }
  std::printf("wrong %d\ncoincidences %d\n", wrong, coincidences);
}

void Threads(const std::string& dir) {
  const Extension versioned = Load(dir + "/ext_versioned.so", RTLD_NOW | RTLD_LOCAL);
  const Extension plain = Load(dir + "/ext_plain.so", RTLD_NOW | RTLD_LOCAL);
  const Extension fixed = Load(dir + "/ext_static.so", RTLD_NOW | RTLD_LOCAL);
  std::vector<std::thread> threads;
  std::vector<int> wrong(8);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20000; ++i) {
        wrong[t] += versioned.answer() % 10000 != 1 ? 1 : 0;
        wrong[t] += plain.answer() % 10000 != 2 ? 1 : 0;
        wrong[t] += fixed.answer() % 10000 != 4 ? 1 : 0;
        wrong[t] += versioned.object() % 10000 != 101 ? 1 : 0;
      }
    });
  }
  int total = 0;
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads[t].join();
    total += wrong[t];
  }
  std::printf("wrong %d\n", total);
}

void Bench(const std::string& dir) {
  const Extension extension = Load(dir + "/ext_versioned.so", RTLD_NOW | RTLD_LOCAL);
  for (const auto& [name, function] :
       {std::pair{"caller", extension.answer}, std::pair{"object", extension.object}}) {
    double best = 1e9;
    const auto first_start = std::chrono::steady_clock::now();
    function();
    const std::chrono::duration<double> first = std::chrono::steady_clock::now() - first_start;
    for (int round = 0; round < 7; ++round) {
      constexpr int kCalls = 1000000;
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < kCalls; ++i) function();
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      best = std::min(best, time.count() / kCalls * 1e9);
    }
    std::printf("%s.first %.0f ns\n%s %.2f ns\n", name, first.count() * 1e9, name, best);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string dir = argv[1];
  const std::string mode = argv[2];
  if (mode == "cases") Cases(dir);
  if (mode == "reload") Reload(dir);
  if (mode == "threads") Threads(dir);
  if (mode == "bench") Bench(dir);
  if (mode == "missing") {
    std::printf("missing %d\n", Load(dir + "/ext_missing.so", RTLD_LAZY | RTLD_LOCAL).answer());
  }
  return 0;
}
