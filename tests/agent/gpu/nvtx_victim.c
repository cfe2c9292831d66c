/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that uses all of NVTX. It is built against the real headers, if there are any (version
 * 3: NVTX is then part of the program), and against the double of version 2's library. It prints
 * the results of its calls, so that a test can compare runs with and without the agent. */
#ifdef PENSTOCK_REAL_NVTX
#include <nvtx3/nvToolsExt.h>
#else
#include "tests/agent/gpu/nvtx_double.h"
#endif

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static nvtxEventAttributes_t Attributes(void) {
  nvtxEventAttributes_t a;
  memset(&a, 0, sizeof a);
  a.version = NVTX_VERSION;
  a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  a.category = 7;
  a.colorType = NVTX_COLOR_ARGB;
  a.color = 0xff88bb00;
  a.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  a.payload.llValue = 42;
  return a;
}

static void* OtherThread(void* unused) {
  (void)unused;
  nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "nvtx-worker");
  nvtxRangePushA("on a thread");
  nvtxRangePop();
  return NULL;
}

static int All(void) {
  nvtxRangePushA("outer");
  nvtxRangePushW(L"w\u00efde \u65e5\u672c \U0001f600");
  nvtxMarkA("a mark");
  nvtxRangePop();

  nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
  nvtxDomainHandle_t wide = nvtxDomainCreateW(L"w\u00efde domain");
  nvtxEventAttributes_t a = Attributes();
  a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  a.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  nvtxDomainRangePushEx(domain, &a);
  a.messageType = NVTX_MESSAGE_TYPE_ASCII;
  a.message.ascii = "in the wide one";
  nvtxDomainRangePushEx(wide, &a);
  /* Domains need not nest in each other. */
  nvtxDomainRangePop(domain);
  nvtxDomainRangePop(wide);
  a.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  a.message.unicode = L"wide message";
  nvtxRangePushEx(&a);
  nvtxRangePop();

  const nvtxRangeId_t first = nvtxRangeStartA("started first");
  const nvtxRangeId_t second = nvtxRangeStartA("started second");
  nvtxRangeEnd(first);
  nvtxRangeEnd(second);
  nvtxRangeEnd(second);
  nvtxRangePushA("aten::item, seq = 12, op_id = 317127");
  nvtxRangePop();
  nvtxRangePop();

  /* One pop too many, a null text, attributes without a message. */
  nvtxRangePop();
  nvtxRangePushA(NULL);
  nvtxRangePop();
  nvtxRangePushEx(NULL);
  nvtxRangePop();
  memset(&a, 0, sizeof a);
  nvtxRangePushEx(&a);
  nvtxRangePop();

  pthread_t thread;
  if (pthread_create(&thread, NULL, OtherThread, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  return 0;
}

static int Deep(void) {
  for (int i = 0; i < 200; ++i) nvtxRangePushA("deep");
  for (int i = 0; i < 200; ++i) nvtxRangePop();
  nvtxRangePushA("after");
  nvtxRangePop();
  return 0;
}

/* A range of a domain lies below more ranges of the default domain than the agent keeps. */
static int DeepDomains(void) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
  nvtxEventAttributes_t a = Attributes();
  a.messageType = NVTX_MESSAGE_TYPE_ASCII;
  a.message.ascii = "early";
  nvtxDomainRangePushEx(domain, &a);
  for (int i = 0; i < 100; ++i) nvtxRangePushA("deep");
  nvtxDomainRangePop(domain);
  nvtxRangePushA("not kept");
  nvtxRangePop();
  for (int i = 0; i < 100; ++i) nvtxRangePop();
  nvtxRangePushA("after");
  nvtxRangePop();
  return 0;
}

static void* Leave(void* unused) {
  (void)unused;
  nvtxRangePushA("left open");
  nvtxRangePushA("left open too");
  return NULL;
}

static void* Later(void* unused) {
  (void)unused;
  nvtxRangePop(); /* must not end a range of a thread that has ended */
  nvtxRangePushA("later");
  nvtxRangePop();
  return NULL;
}

static int Threads(void) {
  for (int i = 0; i < 10; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, i % 2 == 0 ? Leave : Later, NULL) != 0) return 1;
    pthread_join(thread, NULL);
  }
  return 0;
}

static int Fork(void) {
  nvtxRangePushA("parent");
  const pid_t pid = fork();
  if (pid == 0) {
    nvtxRangePushA("child");
    nvtxRangePop();
    nvtxRangePop(); /* must not end the parent's range */
    _exit(0);
  }
  int status = 1;
  waitpid(pid, &status, 0);
  nvtxRangePop();
  return status;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "all";
  const int status = strcmp(what, "deep") == 0      ? Deep()
                     : strcmp(what, "domains") == 0 ? DeepDomains()
                     : strcmp(what, "fork") == 0    ? Fork()
                     : strcmp(what, "threads") == 0 ? Threads()
                                                    : All();
  printf("%s: %d\n", what, status);
  return status;
}
