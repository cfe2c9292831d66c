// SPDX-License-Identifier: Apache-2.0
#include "loader/capi/penstock_loader.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "loader/capi/instance.h"

using penstock::Error;
using penstock::ErrorKind;
using penstock::loader::BatchPool;
using penstock::loader::Instance;

struct PenstockLoader {
  std::unique_ptr<Instance> instance;
};

namespace {

std::string& Message() {
  thread_local std::string message;
  return message;
}

// Keeps the error's text for penstock_loader_message(), and returns the error's code.
int Told(const Error& error) {
  Message() = error.message;
  switch (error.kind) {
    case ErrorKind::kUsage:
      return PENSTOCK_USAGE;
    case ErrorKind::kEnvironment:
    case ErrorKind::kOutput:
      return PENSTOCK_ENVIRONMENT;
    case ErrorKind::kInput:
      return PENSTOCK_INPUT;
  }
  return PENSTOCK_INPUT;
}

// Keeps exceptions of the C++ library (memory, threads) from a caller in C.
template <class Work>
int Guarded(Work&& work) {
  try {
    return work();
  } catch (const std::exception& trouble) {
    return Told({ErrorKind::kEnvironment, trouble.what()});
  }
}

// As Guarded(), and refuses a loader of another process.
template <class Work>
int WithLoader(const PenstockLoader* loader, Work&& work) {
  return Guarded([&]() -> int {
    if (loader == nullptr) return Told({ErrorKind::kUsage, "there is no loader"});
    if (!loader->instance->InItsProcess()) {
      Message() = fmt::format(
          "this loader belongs to process {}; this process is a fork of it and has none of its "
          "threads: make a loader in each process that loads",
          loader->instance->process());
      return PENSTOCK_FORKED;
    }
    return work(*loader->instance);
  });
}

void CopyText(std::string_view from, char* text, size_t room) {
  if (text == nullptr || room == 0) return;
  const size_t size = std::min(from.size(), room - 1);
  std::memcpy(text, from.data(), size);
  text[size] = '\0';
}

}  // namespace

int penstock_loader_abi(void) {
  return PENSTOCK_LOADER_ABI;
}

const char* penstock_loader_message(void) {
  return Message().c_str();
}

int penstock_loader_open(const char* const* sources, size_t count,
                         const PenstockLoaderOptions* options, PenstockLoader** loader) {
  return Guarded([&]() -> int {
    if (options == nullptr || options->size < sizeof *options) {
      return Told({ErrorKind::kUsage, "the options are those of another version"});
    }
    auto made = Instance::Open(sources, count, *options);
    if (!made) return Told(made.error());
    *loader = new PenstockLoader{std::move(*made)};
    return PENSTOCK_OK;
  });
}

int penstock_loader_facts(const PenstockLoader* loader, PenstockLoaderFacts* facts) {
  return WithLoader(loader, [&](const Instance& instance) -> int {
    PenstockLoaderFacts all = instance.Facts();
    const size_t room = facts->size;
    all.size = room;
    std::memcpy(facts, &all, std::min(room, sizeof all));
    return PENSTOCK_OK;
  });
}

int penstock_loader_class(const PenstockLoader* loader, uint64_t label, char* text, size_t room) {
  return WithLoader(loader, [&](const Instance& instance) -> int {
    const auto name = instance.ClassName(label);
    if (!name) return Told(name.error());
    CopyText(*name, text, room);
    return PENSTOCK_OK;
  });
}

int penstock_loader_name(const PenstockLoader* loader, uint64_t id, char* text, size_t room) {
  return WithLoader(loader, [&](const Instance& instance) -> int {
    const auto name = instance.SampleName(id);
    if (!name) return Told(name.error());
    CopyText(*name, text, room);
    return PENSTOCK_OK;
  });
}

int penstock_loader_start(PenstockLoader* loader, uint64_t epoch, uint64_t position) {
  return WithLoader(loader, [&](Instance& instance) -> int {
    const auto started = instance.Start({epoch, position});
    return started ? int{PENSTOCK_OK} : Told(started.error());
  });
}

int penstock_loader_next(PenstockLoader* loader, uint32_t milliseconds, PenstockBatch* batch) {
  return WithLoader(loader, [&](Instance& instance) -> int {
    const auto status = instance.Next(std::chrono::milliseconds(milliseconds), batch);
    return status ? int{*status} : Told(status.error());
  });
}

void penstock_batch_release(void* memory) {
  BatchPool::Release(memory);
}

int penstock_loader_errors(const PenstockLoader* loader, uint64_t* count, char* text, size_t room) {
  return WithLoader(loader, [&](const Instance& instance) -> int {
    std::string lines;
    *count = instance.Errors(&lines);
    CopyText(lines, text, room);
    return PENSTOCK_OK;
  });
}

void penstock_loader_interrupt(PenstockLoader* loader) {
  if (loader != nullptr) loader->instance->Interrupt();
}

void penstock_loader_stop(PenstockLoader* loader) {
  static_cast<void>(WithLoader(loader, [](Instance& instance) -> int {
    instance.Stop();
    return PENSTOCK_OK;
  }));
}

void penstock_loader_close(PenstockLoader* loader) {
  if (WithLoader(loader, [](Instance&) -> int { return PENSTOCK_OK; }) == PENSTOCK_OK) {
    delete loader;
  }
}
