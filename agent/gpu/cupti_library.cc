// SPDX-License-Identifier: Apache-2.0

#include "agent/gpu/cupti_library.h"

#include <dlfcn.h>
#include <link.h>

#include "agent/resolve.h"
#include "agent/strings.h"
#include "agent/symver.h"

namespace penstock::agent::cupti {
namespace {

// Objects of CUDA that are mapped. Filled inside dl_iterate_phdr, opened after it: dlopen in the
// callback would take the loader's locks in the wrong order.
struct Mapped {
  char cupti[4096] = "";
  int copies = 0;
  char runtime[4096] = "";
};

void Copy(char* to, size_t size, const char* from) {
  Text text{to, size};
  text.Add(from);
  if (text.cut) {
    to[0] = 0;
  }
}

int Note(dl_phdr_info* info, size_t /*size*/, void* data) {
  auto* mapped = static_cast<Mapped*>(data);
  const char* base = info->dlpi_name != nullptr ? BaseName(info->dlpi_name) : "";
  if (StartsWith(base, "libcupti.so") || StartsWith(base, "libcupti-")) {
    if (mapped->copies++ == 0) {
      Copy(mapped->cupti, sizeof mapped->cupti, info->dlpi_name);
    }
  } else if (StartsWith(base, "libcudart.so") || StartsWith(base, "libcudart-")) {
    Copy(mapped->runtime, sizeof mapped->runtime, info->dlpi_name);
  }
  return 0;
}

void* Open(Library* library, const char* path, int flags) {
  void* handle = dlopen(path, flags);
  if (handle != nullptr) {
    Copy(library->path, sizeof library->path, path);
  }
  return handle;
}

// Names that CUPTI has had, the one of the runtime's major version (0: not known) before others.
void* OpenIn(Library* library, const char* folder, int64_t major) {
  static constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
                                           "libcupti.so.11.2", "libcupti.so"};
  static constexpr int64_t kMajors[] = {13, 12, 11, 11, 0};
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
      const bool matching = major <= 0 || kMajors[i] == major || kMajors[i] == 0;
      if (matching != (pass == 0)) {
        continue;
      }
      char path[4096];
      Text text{path, sizeof path};
      text.Add(folder).Add(kNames[i]);
      void* handle = text.cut ? nullptr : Open(library, path, RTLD_LAZY | RTLD_LOCAL);
      if (handle != nullptr) {
        return handle;
      }
    }
  }
  return nullptr;
}

void* OpenBeside(Library* library, const char* runtime, const char* below, int64_t major) {
  char folder[4096];
  Text text{folder, sizeof folder};
  text.Add(runtime, static_cast<size_t>(BaseName(runtime) - runtime)).Add(below);
  return text.cut ? nullptr : OpenIn(library, folder, major);
}

void* Find(Library* library) {
  Mapped mapped;
  dl_iterate_phdr(Note, &mapped);
  library->copies = mapped.copies;
  if (mapped.copies > 0) {
    return Open(library, mapped.cupti, RTLD_LAZY | RTLD_NOLOAD);
  }
  int64_t major = 0;
  if (mapped.runtime[0] != 0) {
    const char* version = agent::Find(BaseName(mapped.runtime), ".so.");
    major = version != nullptr ? ParseNumber(version + 4) : 0;
    static constexpr const char* kBelow[] = {"", "../../cuda_cupti/lib/", "../extras/CUPTI/lib64/",
                                             "../../extras/CUPTI/lib64/",
                                             "../../../extras/CUPTI/lib64/"};
    for (const char* below : kBelow) {
      if (void* handle = OpenBeside(library, mapped.runtime, below, major)) {
        return handle;
      }
    }
  }
  static constexpr const char* kFolders[] = {"", "/usr/local/cuda/extras/CUPTI/lib64/",
                                             "/usr/local/cuda/lib64/"};
  for (const char* folder : kFolders) {
    if (void* handle = OpenIn(library, folder, major)) {
      return handle;
    }
  }
  return nullptr;
}

template <class Function>
bool Load(void* handle, const char* name, Function* to) {
  *to = reinterpret_cast<Function>(dlsym(handle, name));
  return *to != nullptr;
}

}  // namespace

bool OpenLibrary(Library* library, char* why, size_t size) {
  Text reason{why, size};
  void* handle = Find(library);
  if (handle == nullptr) {
    reason.Add("libcupti is not installed");
    return false;
  }
  Functions& f = library->functions;
  Load(handle, "cuptiActivitySetAttribute", &f.set_attribute);
  Load(handle, "cuptiSetThreadIdType", &f.set_thread_ids);
  Load(handle, "cuptiActivityRegisterTimestampCallback", &f.set_clock);
  Load(handle, "cuptiActivityEnableRuntimeApi", &f.enable_runtime_call);
  Load(handle, "cuptiActivityEnableDriverApi", &f.enable_driver_call);
  Load(handle, "cuptiActivityEnableAllSyncRecords", &f.all_sync_records);
  Load(handle, "cuptiSubscribe_v2", &f.subscribe_v2);
  if (Load(handle, "cuptiSubscribe", &f.subscribe) &&
      Load(handle, "cuptiUnsubscribe", &f.unsubscribe) &&
      Load(handle, "cuptiActivityRegisterCallbacks", &f.register_callbacks) &&
      Load(handle, "cuptiActivityEnable", &f.enable) &&
      Load(handle, "cuptiActivityDisable", &f.disable) &&
      Load(handle, "cuptiActivityFlushAll", &f.flush_all) &&
      Load(handle, "cuptiActivityGetNextRecord", &f.next_record) &&
      Load(handle, "cuptiGetTimestamp", &f.timestamp) &&
      Load(handle, "cuptiGetVersion", &f.version) &&
      Load(handle, "cuptiActivityGetNumDroppedRecords", &f.dropped) &&
      Load(handle, "cuptiGetCallbackName", &f.callback_name)) {
    return true;
  }
  reason.Add("a libcupti without what is needed: ").Add(library->path);
  return false;
}

}  // namespace penstock::agent::cupti
