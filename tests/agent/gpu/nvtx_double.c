/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that does what libnvToolsExt of NVTX version 2 does: at the first call it loads the
 * tool that NVTX_INJECTION64_PATH names, and gives the tool the addresses of its function pointers.
 * From then on it calls through them. A function whose pointer no tool has set does nothing. */
#include "tests/agent/gpu/nvtx_double.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

typedef void AnyFunction(void);
typedef int GetTable(uint32_t module, AnyFunction**** table, unsigned* size);
typedef const void* GetExportTable(uint32_t id);

enum { kCore = 1, kCore2 = 5, kFunctions = 16 };
static AnyFunction* core[kFunctions];
static AnyFunction* core2[kFunctions];
static AnyFunction** core_slots[kFunctions + 1];
static AnyFunction** core2_slots[kFunctions + 1];

static int GetModuleFunctionTable(uint32_t module, AnyFunction**** table, unsigned* size) {
  if (module != kCore && module != kCore2) return 0;
  *table = module == kCore ? core_slots : core2_slots;
  *size = kFunctions;
  return 1;
}

static const struct {
  size_t size;
  GetTable* get;
} kCallbacks = {sizeof kCallbacks, GetModuleFunctionTable};

static const void* ExportTable(uint32_t id) {
  return id == 1 ? (const void*)&kCallbacks : NULL;
}

static void Load(void) {
  for (int i = 1; i < kFunctions; ++i) {
    core_slots[i] = &core[i];
    core2_slots[i] = &core2[i];
  }
  const char* path = getenv("NVTX_INJECTION64_PATH");
  void* tool = path != NULL ? dlopen(path, RTLD_LAZY) : NULL;
  if (tool == NULL) return;
  int (*initialise)(GetExportTable*) =
      (int (*)(GetExportTable*))dlsym(tool, "InitializeInjectionNvtx2");
  if (initialise == NULL || initialise(ExportTable) == 0) dlclose(tool);
}

static AnyFunction* Of(AnyFunction** table, int id) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, Load);
  return table[id];
}

#define CALL(table, id, type, missing, ...) \
  do {                                      \
    AnyFunction* function = Of(table, id);  \
    if (function == NULL) return missing;   \
    return ((type)function)(__VA_ARGS__);   \
  } while (0)
#define TELL(table, id, type, ...)                       \
  do {                                                   \
    AnyFunction* function = Of(table, id);               \
    if (function != NULL) ((type)function)(__VA_ARGS__); \
  } while (0)

int nvtxRangePushA(const char* text) {
  CALL(core, 9, int (*)(const char*), -2, text);
}
int nvtxRangePushW(const wchar_t* text) {
  CALL(core, 10, int (*)(const wchar_t*), -2, text);
}
int nvtxRangePushEx(const nvtxEventAttributes_t* a) {
  CALL(core, 8, int (*)(const nvtxEventAttributes_t*), -2, a);
}
int nvtxRangePop(void) {
  CALL(core, 11, int (*)(void), -2, );
}
nvtxRangeId_t nvtxRangeStartA(const char* text) {
  CALL(core, 5, nvtxRangeId_t(*)(const char*), 0, text);
}
void nvtxRangeEnd(nvtxRangeId_t id) {
  TELL(core, 7, void (*)(nvtxRangeId_t), id);
}
void nvtxMarkA(const char* text) {
  TELL(core, 2, void (*)(const char*), text);
}
void nvtxMarkW(const wchar_t* text) {
  TELL(core, 3, void (*)(const wchar_t*), text);
}
void nvtxNameOsThreadA(uint32_t tid, const char* name) {
  TELL(core, 14, void (*)(uint32_t, const char*), tid, name);
}
nvtxDomainHandle_t nvtxDomainCreateA(const char* name) {
  CALL(core2, 12, nvtxDomainHandle_t(*)(const char*), NULL, name);
}
nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t* name) {
  CALL(core2, 13, nvtxDomainHandle_t(*)(const wchar_t*), NULL, name);
}
nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain, const char* text) {
  CALL(core2, 10, nvtxStringHandle_t(*)(nvtxDomainHandle_t, const char*), NULL, domain, text);
}
int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* a) {
  CALL(core2, 4, int (*)(nvtxDomainHandle_t, const nvtxEventAttributes_t*), -2, domain, a);
}
int nvtxDomainRangePop(nvtxDomainHandle_t domain) {
  CALL(core2, 5, int (*)(nvtxDomainHandle_t), -2, domain);
}
