/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface between the doubles of runtime, driver and CUPTI. The runtime passes a program's
 * calls to the driver. The driver passes them to CUPTI if a tool has subscribed to CUPTI. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum FakeWhat { kFakeCopy, kFakeSet, kFakeKernel, kFakeWait, kFakeOther };

struct FakeCall {
  enum FakeWhat what;
  uint32_t callback; /* number of the runtime's function */
  uint8_t copy_kind; /* CUpti_ActivityMemcpyKind */
  uint8_t source_kind;
  uint8_t destination_kind;
  uint32_t stream;
  uint64_t bytes;
  const char* kernel;
  uint64_t device_ns; /* how long the device takes for the work */
  uint64_t call_ns;   /* how long the call lasts at least */
  int blocks;         /* the call waits for the device */
};

typedef void FakeSink(const struct FakeCall* call);

/* Does the call. If there is a sink (CUPTI's double), the sink records the call and waits as long
 * as it lasts. Otherwise this function waits that long. */
void fake_cuda_do(const struct FakeCall* call);
void fake_cuda_set_sink(FakeSink* sink);
int cuInit(unsigned flags);
int cuDriverGetVersion(int* version);
