#define _GNU_SOURCE
#include "CLoop.h"

#include <stddef.h>

int cloop_poll(struct pollfd *entries, unsigned long count, int64_t nanoseconds) {
  struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  return ppoll(entries, count, nanoseconds < 0 ? NULL : &limit, NULL);
}
