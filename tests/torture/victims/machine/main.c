// SPDX-License-Identifier: Apache-2.0
//
// machine PROGRAM LOG FOLDER BLOCK KEY FLAGS: parses the program and runs a block of it.
#include "tests/torture/victims/machine/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct Log* g_log;
struct Row* g_row;
struct Slot g_slots[kSlots];
char g_folder[512];
char g_self[512];
char g_log_path[512];
int g_flags;
int g_made_threads;
__thread struct Lane* t_lane;
__thread int t_handling;
__thread sigjmp_buf* t_try;

static char g_text[1 << 16];
static struct Op g_ops[kMaxOps];
static int g_block_begin[kMaxBlocks];
static int g_block_end[kMaxBlocks];
static char g_handler_buffer[kBuffer];
static __thread char* t_buffer;

#ifdef __SANITIZE_ADDRESS__
// Keeps ASan from reporting signals with a stack and a process id, which differ from run to run.
const char* __asan_default_options(void);
const char* __asan_default_options(void) {
  return "detect_leaks=0:handle_segv=0:handle_abort=0:handle_sigbus=0:use_sigaltstack=0";
}
#endif

void Wrong(const char* what) {
  // The generator is wrong, not the agent: ends with a status of its own.
  const size_t size = strlen(what);
  syscall(SYS_write, 2, what, size);
  syscall(SYS_write, 2, "\n", (size_t)1);
  syscall(SYS_exit_group, 97);
  __builtin_unreachable();
}

uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ (b * 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;
  x ^= x >> 33;
  return x != 0 ? x : 1;
}

void Fold(long value) {
  struct Lane* lane = t_lane;
  lane->hash = Mix(lane->hash, (uint64_t)value);
  ++lane->count;
}

struct Lane* LaneOf(uint64_t key, int is_volatile) {
  const uint32_t used = __atomic_load_n(&g_log->lanes_used, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < used && i < kMaxLanes; ++i) {
    if (g_log->lanes[i].key == key) return &g_log->lanes[i];
  }
  const uint32_t at = __atomic_fetch_add(&g_log->lanes_used, 1, __ATOMIC_ACQ_REL);
  if (at >= kMaxLanes) Wrong("too many lanes");
  g_log->lanes[at].volatile_ = (uint32_t)is_volatile;
  g_log->lanes[at].key = key;
  return &g_log->lanes[at];
}

void NewRow(int flags) {
  const uint32_t at = __atomic_fetch_add(&g_log->rows_used, 1, __ATOMIC_ACQ_REL);
  if (at >= kMaxRows) Wrong("too many processes");
  g_row = &g_log->rows[at];
  g_row->unseen = (uint32_t)(flags & kUnseen);
  g_row->pid = (uint32_t)syscall(SYS_getpid);
  g_flags = flags;
}

uint64_t NewKey(void) {
  return Mix(t_lane->key, 1000 + ++t_lane->started);
}

int Has(const struct Op* op, const char* word) {
  for (int i = 0; i < op->count; ++i) {
    if (strcmp(op->word[i], word) == 0) return 1;
  }
  return 0;
}

char* Buffer(void) {
  if (t_handling) return g_handler_buffer;
  if (t_buffer == NULL) {
    t_buffer = (char*)syscall(SYS_mmap, NULL, (size_t)kBuffer, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
    if (t_buffer == MAP_FAILED || (long)t_buffer == -1) t_buffer = g_handler_buffer;
  }
  return t_buffer;
}

void FoldBytes(const struct Op* op, const char* bytes, long count) {
  if (op->loose || t_handling || count <= 0) return;
  uint64_t hash = 1;
  for (long i = 0; i < count; ++i) hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
  Fold((long)hash);
}

void AtTheEnd(void) {
  if (g_flags & kFirst) __atomic_store_n(&g_log->ending, 1, __ATOMIC_SEQ_CST);
}

long Look(const struct Number* table, const char* word) {
  for (; table->name != NULL; ++table) {
    if (strcmp(table->name, word) == 0) return table->value;
  }
  Wrong(word);
}

static Action* Find(const char* word) {
  static const struct Name* const kAll[] = {kFileActions, kReadActions, kTaskActions,
                                            kSignalActions, kDoorActions};
  for (size_t t = 0; t < sizeof kAll / sizeof *kAll; ++t) {
    for (const struct Name* name = kAll[t]; name->name != NULL; ++name) {
      if (strcmp(name->name, word) == 0) return name->action;
    }
  }
  Wrong(word);
}

void RunBlock(long block) {
  if (block < 0 || block >= kMaxBlocks) Wrong("no such block");
  for (int i = g_block_begin[block]; i < g_block_end[block]; ++i) {
    const struct Op* op = &g_ops[i];
    const long result = op->action(op);
    if (!op->loose) Fold(result);
  }
}

// Lines "word argument ...", "block N" opens a block, "#" a comment. "@3" is block 3.
static void Parse(void) {
  int used = 0;
  int block = 0;
  char* rest = NULL;
  for (char* line = strtok_r(g_text, "\n", &rest); line != NULL;
       line = strtok_r(NULL, "\n", &rest)) {
    char* more = NULL;
    char* word = strtok_r(line, " \t", &more);
    if (word == NULL || word[0] == '#') continue;
    if (strcmp(word, "block") == 0) {
      const char* number = strtok_r(NULL, " \t", &more);
      block = number != NULL ? atoi(number) : kMaxBlocks;
      if (block < 0 || block >= kMaxBlocks) Wrong("block?");
      g_block_begin[block] = g_block_end[block] = used;
      continue;
    }
    if (used >= kMaxOps) Wrong("too long");
    struct Op* op = &g_ops[used++];
    op->loose = word[0] == '~';
    op->name = word + op->loose;
    op->action = Find(op->name);
    for (word = strtok_r(NULL, " \t", &more); word != NULL && op->count < kMaxArguments;
         word = strtok_r(NULL, " \t", &more)) {
      op->word[op->count] = word;
      op->number[op->count++] = strtol(word[0] == '@' ? word + 1 : word, NULL, 10);
    }
    g_block_end[block] = used;
  }
}

int main(int count, char** arguments) {
  if (count < 7) Wrong("machine PROGRAM LOG FOLDER BLOCK KEY FLAGS");
  strncpy(g_self, arguments[1], sizeof g_self - 1);
  strncpy(g_log_path, arguments[2], sizeof g_log_path - 1);
  strncpy(g_folder, arguments[3], sizeof g_folder - 1);
  const long text = syscall(SYS_openat, AT_FDCWD, g_self, O_RDONLY);
  const long log = syscall(SYS_openat, AT_FDCWD, g_log_path, O_RDWR);
  if (text < 0 || log < 0 || syscall(SYS_read, text, g_text, sizeof g_text - 1) <= 0) {
    syscall(SYS_exit_group, 96);  // the limits that it was executed with leave no room
  }
  g_log = (struct Log*)syscall(SYS_mmap, NULL, sizeof *g_log, PROT_READ | PROT_WRITE, MAP_SHARED,
                               log, 0L);
  if ((long)g_log == -1) Wrong("no log");
  syscall(SYS_close, text);
  syscall(SYS_close, log);
  for (int i = 0; i < kSlots; ++i) g_slots[i].fd = g_slots[i].file = -1;
  Parse();
  const uint64_t key = strtoull(arguments[5], NULL, 16);
  const int flags = atoi(arguments[6]);
  // Starts the heap before any filter. Preloaded code may have started it already, and this must
  // make no difference.
  volatile char* heap = malloc(100);
  if (heap != NULL) heap[0] = 1;
  NewRow(flags);
  t_lane = LaneOf(Mix(key, 7), flags & kVolatile);
  RunBlock(atoi(arguments[4]));
  AtTheEnd();
  return 0;
}
