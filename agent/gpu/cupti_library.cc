// SPDX-License-Identifier: Apache-2.0

#include "agent/gpu/cupti_library.h"

#include <dlfcn.h>
#include <link.h>

#include "agent/system/resolve.h"
#include "agent/system/strings.h"
#include "agent/system/symver.h"

namespace penstock::agent::cupti {
namespace {

void Copy(char* to, size_t size, const char* from) {
  Text text{to, size};
  text.Add(from);
  if (text.cut) {
    to[0] = 0;
  }
}

// The major version in a library's name: 12 for "libcupti.so.12"; 0 if the name has none.
int64_t MajorIn(const char* name) {
  const char* version = agent::Find(BaseName(name), ".so.");
  const int64_t major = version != nullptr ? ParseNumber(version + 4) : 0;
  return major > 0 ? major : 0;
}

// The major version in an object's soname. It does not depend on the link by which the object was
// opened.
int64_t MajorOf(const dl_phdr_info& info) {
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type == PT_DYNAMIC) {
      entry = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
    }
  }
  uintptr_t strings = 0;
  uintptr_t name = 0;
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) {
      strings = entry->d_un.d_ptr;
    } else if (entry->d_tag == DT_SONAME) {
      name = entry->d_un.d_val;
    }
  }
  if (strings == 0 || name == 0) {
    return 0;
  }
  if (strings < info.dlpi_addr) {
    strings += info.dlpi_addr;  // glibc writes the address there, others leave the offset
  }
  return MajorIn(reinterpret_cast<const char*>(strings + name));
}

// Objects of CUDA that are mapped. They are found inside dl_iterate_phdr and opened after it, since
// dlopen in the callback would take the loader's locks in the wrong order.
struct Mapped {
  char cupti[4096] = "";
  int64_t cupti_major = 0;
  int copies = 0;
  char runtime[4096] = "";
  char driver[4096] = "";
};

int Note(dl_phdr_info* info, size_t /*size*/, void* data) {
  auto* mapped = static_cast<Mapped*>(data);
  const char* base = info->dlpi_name != nullptr ? BaseName(info->dlpi_name) : "";
  if (StartsWith(base, "libcupti.so") || StartsWith(base, "libcupti-")) {
    if (mapped->copies++ == 0) {
      Copy(mapped->cupti, sizeof mapped->cupti, info->dlpi_name);
      mapped->cupti_major = MajorOf(*info);
    }
  } else if (StartsWith(base, "libcudart.so") || StartsWith(base, "libcudart-")) {
    Copy(mapped->runtime, sizeof mapped->runtime, info->dlpi_name);
  } else if (StartsWith(base, "libcuda.so")) {
    Copy(mapped->driver, sizeof mapped->driver, info->dlpi_name);
  }
  return 0;
}

// A search for CUPTI. Versions are major ones; 0: not known.
struct Search {
  Library* opened;  // to be filled in
  int64_t runtime;
  int64_t driver;  // the newest version that the driver can use
};

bool TooNew(const Search& search, int64_t major) {
  return search.driver > 0 && major > search.driver;
}

// The major version of CUDA that the driver was made for. The driver answers this before it is
// initialised.
int64_t MajorOfDriver(const char* path) {
  void* handle = path[0] != 0 ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (handle == nullptr) {
    return 0;
  }
  auto* ask = reinterpret_cast<int (*)(int*)>(dlsym(handle, "cuDriverGetVersion"));
  int version = 0;
  const int64_t major = ask != nullptr && ask(&version) == 0 ? version / 1000 : 0;
  dlclose(handle);
  return major;
}

void* Open(Library* library, const char* path, int flags) {
  void* handle = dlopen(path, flags);
  if (handle != nullptr) {
    Copy(library->path, sizeof library->path, path);
  }
  return handle;
}

// Opens a library whose name does not contain its version. Nothing in it is called before the
// version is known.
void* OpenNameless(const Search& search, const char* path) {
  void* handle = Open(search.opened, path, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    return nullptr;
  }
  Mapped mapped;
  dl_iterate_phdr(Note, &mapped);
  if (!TooNew(search, mapped.cupti_major)) {
    return handle;
  }
  dlclose(handle);
  return nullptr;
}

// Tries the names that CUPTI has had in `folder`: with the runtime's major version, with others,
// and without any.
void* OpenIn(const Search& search, const char* folder) {
  static constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
                                           "libcupti.so.11.2"};
  char path[4096];
  for (int pass = 0; pass < 2; ++pass) {
    for (const char* name : kNames) {
      const int64_t major = MajorIn(name);
      const bool matching = search.runtime <= 0 || major == search.runtime;
      if (matching != (pass == 0) || TooNew(search, major)) {
        continue;
      }
      Text text{path, sizeof path};
      text.Add(folder).Add(name);
      void* handle = text.cut ? nullptr : Open(search.opened, path, RTLD_LAZY | RTLD_LOCAL);
      if (handle != nullptr) {
        return handle;
      }
    }
  }
  Text text{path, sizeof path};
  text.Add(folder).Add("libcupti.so");
  return text.cut ? nullptr : OpenNameless(search, path);
}

void* OpenBeside(const Search& search, const char* runtime, const char* below) {
  char folder[4096];
  Text text{folder, sizeof folder};
  text.Add(runtime, static_cast<size_t>(BaseName(runtime) - runtime)).Add(below);
  return text.cut ? nullptr : OpenIn(search, folder);
}

void* FindIn(const Search& search, const char* runtime) {
  static constexpr const char* kBelow[] = {"", "../../cuda_cupti/lib/", "../extras/CUPTI/lib64/",
                                           "../../extras/CUPTI/lib64/",
                                           "../../../extras/CUPTI/lib64/"};
  for (const char* below : kBelow) {
    void* handle = runtime[0] != 0 ? OpenBeside(search, runtime, below) : nullptr;
    if (handle != nullptr) {
      return handle;
    }
  }
  static constexpr const char* kFolders[] = {"", "/usr/local/cuda/extras/CUPTI/lib64/",
                                             "/usr/local/cuda/lib64/"};
  for (const char* folder : kFolders) {
    if (void* handle = OpenIn(search, folder)) {
      return handle;
    }
  }
  return nullptr;
}

void* Find(Library* library, Text& why) {
  Mapped mapped;
  dl_iterate_phdr(Note, &mapped);
  library->copies = mapped.copies;
  const Search search = {library, MajorIn(mapped.runtime), MajorOfDriver(mapped.driver)};
  const auto driver = static_cast<uint64_t>(search.driver);
  if (mapped.copies > 0) {
    if (TooNew(search, mapped.cupti_major)) {
      why.Add("the program's libcupti (CUDA ").Number(static_cast<uint64_t>(mapped.cupti_major));
      why.Add(") is newer than the driver (CUDA ").Number(driver).Add(")");
      return nullptr;
    }
    void* handle = Open(library, mapped.cupti, RTLD_LAZY | RTLD_NOLOAD);
    why.Add(handle == nullptr ? "libcupti is not installed" : "");
    return handle;
  }
  void* handle = FindIn(search, mapped.runtime);
  if (handle == nullptr && search.driver > 0) {
    why.Add("no libcupti is installed that the driver (CUDA ").Number(driver).Add(") can use");
  } else if (handle == nullptr) {
    why.Add("libcupti is not installed");
  }
  return handle;
}

template <class Function>
bool Load(void* handle, const char* name, Function* to) {
  *to = reinterpret_cast<Function>(dlsym(handle, name));
  return *to != nullptr;
}

}  // namespace

bool OpenLibrary(Library* library, char* why, size_t size) {
  Text reason{why, size};
  void* handle = Find(library, reason);
  if (handle == nullptr) {
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
  reason.Add("this libcupti lacks a function that is needed: ").Add(library->path);
  return false;
}

}  // namespace penstock::agent::cupti
