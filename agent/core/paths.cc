// SPDX-License-Identifier: Apache-2.0

#include "agent/core/paths.h"

#include "agent/core/process.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

bool UnderPrefix(const char* path, const char* prefix, size_t size) {
  return size > 0 && __builtin_strncmp(path, prefix, size) == 0 &&
         (path[size] == 0 || path[size] == '/' || prefix[size - 1] == '/');
}

bool InConfiguredData(const char* path) {
  const char* p = g_config.data;
  while (*p != 0) {
    size_t n = 0;
    while (p[n] != 0 && p[n] != ':') {
      ++n;
    }
    if (UnderPrefix(path, p, n)) {
      return true;
    }
    p += n + (p[n] == ':' ? 1 : 0);
  }
  return false;
}

}  // namespace

bool IsDatasetPath(const char* path, size_t size) {
  if (InConfiguredData(path)) {
    return true;
  }
  static constexpr const char* kSystem[] = {"/usr/",    "/lib/",     "/lib32/",     "/lib64/",
                                            "/libx32/", "/bin/",     "/sbin/",      "/etc/",
                                            "/proc/",   "/sys/",     "/run/",       "/boot/",
                                            "/snap/",   "/var/lib/", "/var/cache/", "/opt/conda/"};
  for (const char* prefix : kSystem) {
    if (StartsWith(path, prefix)) {
      return false;
    }
  }
  if (StartsWith(path, "/dev/") && !StartsWith(path, "/dev/shm/")) {
    return false;
  }
  // Names of memory that processes share (batches of PyTorch workers, semaphores, NCCL). It is no
  // dataset.
  static constexpr const char* kShared[] = {"torch_", "sem.",  "psm_",    "wnsm_",    "pym-",
                                            "nccl-",  "cuda.", "mem_id_", "penstock-"};
  if (StartsWith(path, "/dev/shm/")) {
    for (const char* name : kShared) {
      if (StartsWith(path + 9, name)) {
        return false;
      }
    }
  }
  static constexpr const char* kInside[] = {
      "/site-packages/", "/dist-packages/", "/__pycache__/",     "/lib/python", "/.git/",
      "/.config/",       "/.local/lib/",    "/penstock_python/", "/.ipython/",  "/.nv/",
      "/.triton/",       "/torchinductor_", "/.matplotlib/"};
  for (const char* p = path; *p != 0; ++p) {  // one pass, since each of kInside begins with a slash
    if (*p != '/') {
      continue;
    }
    for (const char* part : kInside) {
      if (p[1] == part[1] && StartsWith(p, part)) {
        return false;
      }
    }
  }
  // Under ~/.cache only the folders of known hubs hold datasets.
  if (Find(path, "/.cache/") != nullptr && Find(path, "/.cache/huggingface/") == nullptr &&
      Find(path, "/.cache/torch/datasets") == nullptr) {
    return false;
  }
  static constexpr const char* kSuffix[] = {
      ".py",          ".pyc",           ".pyi",      ".pth", ".so",  ".a", ".o",        ".ckpt",
      ".onnx",        ".engine",        ".sh",       ".cc",  ".cpp", ".h", ".penstock", ".log",
      ".safetensors", ".penstock.part", " (deleted)"};
  for (const char* suffix : kSuffix) {
    if (EndsWith(path, size, suffix)) {
      return false;
    }
  }
  return Find(BaseName(path), ".so.") == nullptr && !StartsWith(path, "/memfd:");
}

size_t NameOpened(const char* path, char* name) {
  size_t used = 0;
  if (path[0] == '/') {
    // Links in /proc, and links from /dev to /proc, stand for whatever is open. After a link, ".."
    // leads to another folder than the path suggests.
    if (StartsWith(path, "/proc/") || StartsWith(path, "/dev/fd") || StartsWith(path, "/dev/std") ||
        Find(path, "/..") != nullptr) {
      return 0;
    }
  } else {
    while (path[0] == '.' && path[1] == '/') {
      path += 2;
    }
    if (path[0] == 0 || path[0] == '.' || path[0] == '/' || Find(path, "/.") != nullptr) {
      return 0;
    }
    const long length = sys::Call(SYS_getcwd, sys::Pointer(name), static_cast<long>(kMaxPath));
    if (length < 2 || name[0] != '/') {  // `length` counts the final zero; "(unreachable)" is not a
                                         // name
      return 0;
    }
    used = static_cast<size_t>(length) - 1;
    if (name[used - 1] != '/') {
      name[used++] = '/';
    }
  }
  const size_t size = Length(path);
  if (used + size >= kMaxPath) {
    return 0;
  }
  __builtin_memcpy(name + used, path, size + 1);
  return used + size;
}

}  // namespace penstock::agent
