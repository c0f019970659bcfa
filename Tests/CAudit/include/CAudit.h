#pragma once
#include <stdbool.h>
#include <stdint.h>

/* What callbacks of one kind did that an audio thread must not do. */
struct sostenuto_audit {
  /* How long a period lasts; a callback that begins more than two after the one before is late. */
  int64_t period_nanoseconds;
  int64_t callbacks;
  int64_t allocations;
  int64_t releases;
  int64_t locks;
  /* Times that a callback gave the processor away: to wait for a lock, a page, anything. */
  int64_t waits;
  /* Times that it was taken away. */
  int64_t preemptions;
  int64_t page_faults;
  /* Renders in which the processor did not flush denormals. */
  int64_t with_denormals;
  int64_t late;
  /* Callbacks that lasted longer than a period. */
  int64_t overruns;
  int64_t longest_nanoseconds;
};

/* Whether calls are watched in this build: not where a sanitizer watches them. */
bool sostenuto_audit_is_built_in(void);

/* Count what every render of every driver does from now on, until stopped. NULL stops. The one place
   where renders begin and end is the hook that RealtimeSanitizer has there, too. */
void sostenuto_audit_renders(struct sostenuto_audit *audit);

/* How many renders of all drivers have ended, in all; and a wait until that is no longer `last`, for so long at most. */
uint32_t sostenuto_beat(void);
void sostenuto_await_beat(uint32_t last, int64_t nanoseconds);

/* Around a callback of a client of the tests' own. */
void sostenuto_audit_begin(struct sostenuto_audit *audit);
void sostenuto_audit_end(void);

/* Bytes that were asked of `malloc` and not given back; 0 under a sanitizer, which has its own. */
int64_t sostenuto_heap_bytes(void);
