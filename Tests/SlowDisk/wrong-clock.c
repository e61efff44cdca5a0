// A wrong wall clock, for processes under test: it is ahead by WRONG_CLOCK seconds, or behind if the number is
// negative. The monotonic clock, which measures all durations, is unchanged. Failure: a value that is not a number
// counts as 0.
#define _GNU_SOURCE
#include "SlowDisk.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *moment) {
  static int (*next)(clockid_t, struct timespec *);
  if (next == NULL) next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = next(clock, moment);
  const char *seconds = getenv("WRONG_CLOCK");
  if (result == 0 && seconds != NULL && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    moment->tv_sec += strtol(seconds, NULL, 10);
  return result;
}
