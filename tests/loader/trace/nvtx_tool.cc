// SPDX-License-Identifier: Apache-2.0
//
// A tool that NVTX loads (NVTX_INJECTION64_PATH): it prints every range of every domain to the file
// that NVTX_TOOL_OUT names, as "domain category message payload depth".
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include <nvtx3/nvToolsExt.h>

namespace {

std::mutex g_mutex;
std::map<const void*, std::map<uint32_t, const char*>> g_categories;
thread_local int t_depth = 0;

nvtxDomainHandle_t NVTX_API CreateDomain(const char* name) {
  return reinterpret_cast<nvtxDomainHandle_t>(strdup(name));
}

nvtxStringHandle_t NVTX_API Register(nvtxDomainHandle_t /*domain*/, const char* text) {
  return reinterpret_cast<nvtxStringHandle_t>(strdup(text));
}

void NVTX_API NameCategory(nvtxDomainHandle_t domain, uint32_t category, const char* name) {
  const std::lock_guard lock(g_mutex);
  g_categories[domain][category] = strdup(name);
}

int NVTX_API Push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  const std::lock_guard lock(g_mutex);
  if (FILE* out = std::fopen(std::getenv("NVTX_TOOL_OUT"), "a"); out != nullptr) {
    std::fprintf(out, "%s %s %s %lld %d\n", reinterpret_cast<const char*>(domain),
                 g_categories[domain][event->category],
                 reinterpret_cast<const char*>(event->message.registered),
                 static_cast<long long>(event->payload.llValue), t_depth);
    std::fclose(out);
  }
  return t_depth++;
}

int NVTX_API Pop(nvtxDomainHandle_t /*domain*/) {
  return --t_depth;
}

// Puts `hook` where the header looks for it.
template <class Hook>
void Set(NvtxFunctionTable table, unsigned size, unsigned slot, Hook hook) {
  if (slot < size) *table[slot] = reinterpret_cast<NvtxFunctionPointer>(hook);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) {
    return 0;
  }
  Set(table, size, NVTX_CBID_CORE2_DomainCreateA, CreateDomain);
  Set(table, size, NVTX_CBID_CORE2_DomainRegisterStringA, Register);
  Set(table, size, NVTX_CBID_CORE2_DomainNameCategoryA, NameCategory);
  Set(table, size, NVTX_CBID_CORE2_DomainRangePushEx, Push);
  Set(table, size, NVTX_CBID_CORE2_DomainRangePop, Pop);
  return 1;
}
