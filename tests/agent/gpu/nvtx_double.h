/* SPDX-License-Identifier: Apache-2.0
 *
 * Declares some functions of NVTX, enough for nvtx_victim.c, which so compiles without NVTX's
 * headers. Structs have NVTX's layout. In version 2 of NVTX the functions are in a library, in
 * version 3 in the headers; nvtx_double.c is a test double of version 2's library. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomain* nvtxDomainHandle_t;
typedef struct nvtxString* nvtxStringHandle_t;
typedef union nvtxMessageValue_t {
  const char* ascii;
  const wchar_t* unicode;
  nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef struct nvtxEventAttributes_t {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType;
  int32_t reserved0;
  union {
    uint64_t ullValue;
    int64_t llValue;
  } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_t;
#define NVTX_VERSION 2
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_COLOR_ARGB 1
#define NVTX_PAYLOAD_TYPE_INT64 2
#define NVTX_MESSAGE_TYPE_ASCII 1
#define NVTX_MESSAGE_TYPE_UNICODE 2
#define NVTX_MESSAGE_TYPE_REGISTERED 3

int nvtxRangePushA(const char* text);
int nvtxRangePushW(const wchar_t* text);
int nvtxRangePushEx(const nvtxEventAttributes_t* attributes);
int nvtxRangePop(void);
nvtxRangeId_t nvtxRangeStartA(const char* text);
void nvtxRangeEnd(nvtxRangeId_t id);
void nvtxMarkA(const char* text);
void nvtxMarkW(const wchar_t* text);
nvtxDomainHandle_t nvtxDomainCreateA(const char* name);
nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t* name);
nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain, const char* text);
int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes);
int nvtxDomainRangePop(nvtxDomainHandle_t domain);
void nvtxNameOsThreadA(uint32_t tid, const char* name);
