// SPDX-License-Identifier: Apache-2.0
//
// The program of which every failure is tried. It does the same calls in the same order every time:
// reads three files (its arguments), in two threads that live at the same time and take turns, and
// again in a child; prints what it has read; ends with 3. With "--wait FILE" first, it makes FILE and
// sleeps for ever when it has read.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
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

int main(int count, char** values) {
  const char* told = NULL;
  if (count == 6 && strcmp(values[1], "--wait") == 0) {
    told = values[2];
    values += 2;
    count -= 2;
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
    close(open(told, O_WRONLY | O_CREAT, 0600));
    for (;;) {
      pause();
    }
  }
  return 3;
}
