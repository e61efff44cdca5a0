// A calendar's clock that is wrong, for processes under test: where WRONG_CLOCK is a number of seconds, it is so much fast, or
// slow where the number is negative. The monotonic clock, by which everything is measured, is left as it is.
// Failure: what is no number counts as none.
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
