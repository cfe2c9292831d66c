// SPDX-License-Identifier: Apache-2.0
//
// The program whose calls are made to fail. It makes the same calls in the same order each time.
// Two threads that live at the same time take turns in reading three files (the arguments), then a
// child reads them again. The program prints what it has read and ends with status 3. With "--wait
// FILE PART" first, it reads again in threads that end until PART has grown: the collector has then
// written the reads so far. It then reads once more, makes FILE and sleeps for ever.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char** files;
static pthread_barrier_t turn;
static long sums[2];

static long Sum(const char* path) {
  unsigned char bytes[4096];
  long sum = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return -1;
  }
  for (;;) {
    ssize_t got = read(fd, bytes, sizeof bytes);
    if (got <= 0) {
      break;
    }
    for (ssize_t i = 0; i < got; ++i) {
      sum += bytes[i];
    }
  }
  close(fd);
  return sum;
}

static void* Thread(void* number) {
  const int own = number != NULL;
  for (int i = 0; i < 4; ++i) {
    if (i % 2 == own) {
      sums[own] = sums[own] * 3 + Sum(files[(i + own) % 3]);
    }
    pthread_barrier_wait(&turn);
  }
  return NULL;
}

static long Size(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 ? (long)info.st_size : 0;
}

static void* Once(void* unused) {
  Sum(files[0]);
  return unused;
}

static void ReadOnceInThread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, Once, NULL);
  pthread_join(thread, NULL);
}

int main(int count, char** values) {
  const char* told = NULL;
  const char* part = NULL;
  long before = 0;
  if (count == 7 && strcmp(values[1], "--wait") == 0) {
    told = values[2];
    part = values[3];
    before = Size(part);
    values += 3;
    count -= 3;
  }
  if (count != 4) {
    return 2;
  }
  files = values + 1;
  const long first = Sum(files[0]);
  pthread_t threads[2];
  pthread_barrier_init(&turn, NULL, 2);
  pthread_create(&threads[0], NULL, Thread, NULL);
  pthread_create(&threads[1], NULL, Thread, &turn);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    const long sum = Sum(files[1]) + Sum(files[2]);
    printf("child %ld\n", sum);
    fflush(NULL);
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("first %ld threads %ld %ld child %x\n", first, sums[0], sums[1], (unsigned)status);
  fflush(NULL);
  if (told != NULL) {
    ReadOnceInThread();
    ReadOnceInThread();
    while (Size(part) <= before) {
      usleep(1000);
    }
    Sum(files[2]);
    close(open(told, O_WRONLY | O_CREAT, 0600));
    for (;;) {
      pause();
    }
  }
  return 3;
}
