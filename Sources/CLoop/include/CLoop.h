#pragma once
#include <poll.h>
#include <stdint.h>

/* poll(2) with nanoseconds, which Swift's Glibc does not show; negative: without limit. */
int cloop_poll(struct pollfd *entries, unsigned long count, int64_t nanoseconds);
