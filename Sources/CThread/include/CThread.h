#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
/* Attributes of files, which the C library's own module leaves out. */
#include <sys/xattr.h>

/* Flush denormals to zero on the calling thread (MXCSR FTZ and DAZ on x86-64, FPCR.FZ on AArch64).
   Returns the register as it was, for `sostenuto_restore_denormals`. */
uintptr_t sostenuto_flush_denormals(void);
void sostenuto_restore_denormals(uintptr_t state);

/* Tell the processor that the thread turns in a loop until another writes something. */
void sostenuto_pause(void);

/* Have the cache line at `address` brought, and do not wait for it. */
void sostenuto_prefetch(const void *address);

/* CLOCK_MONOTONIC. */
int64_t sostenuto_nanoseconds(void);

/* Sleep until CLOCK_MONOTONIC reaches `deadline`, whatever signals arrive. */
void sostenuto_sleep_until(int64_t deadline);

/* Wait for a `sem_t`, at most so many nanoseconds of CLOCK_MONOTONIC, whatever signals arrive. Returns 0, or ETIMEDOUT or
   another error. */
int sostenuto_wait_for_semaphore(void *semaphore, int64_t patience);

/* Give the calling thread SCHED_FIFO at `priority`; false when the system refuses. */
bool sostenuto_make_realtime(int priority);

/* Touch the pages of the calling thread's stack that a render may use, so that none is first used there. */
void sostenuto_touch_stack(void);

/* Keep what the process has touched, and will touch, in memory, and large blocks out of the heap. False where that is not permitted
   without a limit: a lock that counts against a limit would make later allocations fail. */
bool sostenuto_lock_memory(void);

/* Have the next bytes of the heap, in large pages: small objects on thousands of pages cost a fault
   for each otherwise. */
void sostenuto_grow_heap(size_t extent);

/* The calling thread's name for debuggers and `top`; at most 15 bytes count. */
void sostenuto_name_thread(const char *name);

/* Start a program (looked up in PATH), its standard streams at /dev/null, in a process group of its
   own so that a Ctrl-C at the terminal does not reach it. The system ends it (SIGTERM) when the
   calling thread ends, however that happens: call it on the main thread. Returns its process id, or
   -1 with errno. `arguments` ends with NULL. */
pid_t sostenuto_spawn_dependent(const char *const *arguments);

/* RealtimeSanitizer's context, entered and left around each render. No-ops in other builds, where the
   tests put counters in their place (Tests/CAudit). They stand in a .c file since inlined into Swift
   they would silently do nothing. With the sanitizer, tests may define `sostenuto_after_render`. */
/* Lets another thread have the processor. RealtimeSanitizer takes it for a call that waits. */
void sostenuto_yield(void);
void sostenuto_rtsan_enter(void);
void sostenuto_rtsan_exit(void);
bool sostenuto_rtsan_is_built_in(void);
