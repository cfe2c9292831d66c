/* SPDX-License-Identifier: Apache-2.0
 *
 * Is preloaded and tells the program another time, which jumps. The wall clock is an hour ahead and
 * an hour behind in turn, for a tenth of a second each. The monotonic clock is a day ahead from the
 * next full second on. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int Real(clockid_t clock, struct timespec* time) {
  return (int)syscall(SYS_clock_gettime, clock, time);
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  static __thread long first;
  const int result = Real(clock, time);
  if (result != 0) return result;
  if (clock == CLOCK_REALTIME) time->tv_sec += time->tv_nsec / 100000000 % 2 == 0 ? 3600 : -3600;
  if (clock == CLOCK_MONOTONIC) {
    if (first == 0) first = time->tv_sec;
    if (time->tv_sec > first) time->tv_sec += 86400;
  }
  return 0;
}

int gettimeofday(struct timeval* restrict time, void* restrict zone) {
  struct timespec now;
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  (void)zone;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return result;
}
