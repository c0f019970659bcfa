#define _GNU_SOURCE
#include "CAudit.h"
#include <dlfcn.h>
#include <limits.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static _Atomic uint32_t beat;
static _Atomic uint32_t waiting;

/* Nothing here orders what a render wrote before what a test then reads: ThreadSanitizer is to see what the product
   forgot. Who misses a beat by that looks again a little later. */
uint32_t sostenuto_beat(void) { return atomic_load_explicit(&beat, memory_order_relaxed); }

void sostenuto_await_beat(uint32_t last, int64_t nanoseconds) {
  struct timespec most = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  atomic_fetch_add_explicit(&waiting, 1, memory_order_relaxed);
  syscall(SYS_futex, &beat, FUTEX_WAIT_PRIVATE, last, &most, NULL, 0);
  atomic_fetch_sub_explicit(&waiting, 1, memory_order_relaxed);
}

/* Also what the sanitizer's hook of the product calls. */
void sostenuto_after_render(void) {
  atomic_fetch_add_explicit(&beat, 1, memory_order_relaxed);
  if (!atomic_load_explicit(&waiting, memory_order_relaxed)) return;
  syscall(SYS_futex, &beat, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* RealtimeSanitizer, where `make rtsan` has linked it: a test's program is the same otherwise. */
void __rtsan_realtime_enter(void) __attribute__((weak));
void __rtsan_realtime_exit(void) __attribute__((weak));

/* The other sanitizers put functions of their own in the place of these. */
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

struct span {
  struct sostenuto_audit *audit;
  struct rusage usage;
  int64_t start;
};
static __thread struct span span;
static __thread int64_t last_start;
static _Atomic(struct sostenuto_audit *) renders;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* RealtimeSanitizer waits and allocates by itself. */
bool sostenuto_audit_is_built_in(void) { return !__rtsan_realtime_enter; }

int64_t sostenuto_heap_bytes(void) {
  struct mallinfo2 information = mallinfo2();
  return (int64_t)(information.uordblks + information.hblkhd);
}

void sostenuto_audit_renders(struct sostenuto_audit *audit) { atomic_store(&renders, audit); }

void sostenuto_audit_begin(struct sostenuto_audit *audit) {
  if (!audit) return;
  getrusage(RUSAGE_THREAD, &span.usage);
  span.start = now();
  if (last_start && span.start - last_start > 2 * audit->period_nanoseconds) audit->late++;
  last_start = span.start;
  span.audit = audit;
}

void sostenuto_audit_end(void) {
  struct sostenuto_audit *audit = span.audit;
  if (!audit) return;
  span.audit = NULL;
  int64_t length = now() - span.start;
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  audit->callbacks++;
  audit->waits += usage.ru_nvcsw - span.usage.ru_nvcsw;
  audit->preemptions += usage.ru_nivcsw - span.usage.ru_nivcsw;
  audit->page_faults += usage.ru_minflt + usage.ru_majflt - span.usage.ru_minflt - span.usage.ru_majflt;
  if (length > audit->period_nanoseconds) audit->overruns++;
  if (length > audit->longest_nanoseconds) audit->longest_nanoseconds = length;
}

static bool flushes_denormals(void) {
#if defined(__x86_64__)
  return (_mm_getcsr() & 0x8040) == 0x8040;
#elif defined(__aarch64__)
  uint64_t state;
  __asm__ volatile("mrs %0, fpcr" : "=r"(state));
  return state >> 24 & 1;
#else
  return true;
#endif
}

/* In the place of the product's, which do nothing. */
void sostenuto_rtsan_enter(void) {
  struct sostenuto_audit *audit = atomic_load(&renders);
  if (audit && !flushes_denormals()) audit->with_denormals++;
  sostenuto_audit_begin(audit);
  if (__rtsan_realtime_enter) __rtsan_realtime_enter();
}
void sostenuto_rtsan_exit(void) {
  if (__rtsan_realtime_exit) __rtsan_realtime_exit();
  sostenuto_audit_end();
  sostenuto_after_render();
}

/* In the place of glibc's, for the whole program of the tests; RealtimeSanitizer's are called, where it is. */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);
#define WATCHED __attribute__((weak))
extern void *___interceptor_malloc(size_t) WATCHED, *___interceptor_calloc(size_t, size_t) WATCHED;
extern void *___interceptor_realloc(void *, size_t) WATCHED, *___interceptor_aligned_alloc(size_t, size_t) WATCHED;
extern int ___interceptor_posix_memalign(void **, size_t, size_t) WATCHED;
extern void ___interceptor_free(void *) WATCHED;
extern int ___interceptor_pthread_mutex_lock(pthread_mutex_t *) WATCHED;

static void count_allocation(void) {
  if (span.audit) span.audit->allocations++;
}

void *malloc(size_t size) {
  if (___interceptor_malloc) return ___interceptor_malloc(size);
  count_allocation();
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  if (___interceptor_calloc) return ___interceptor_calloc(count, size);
  count_allocation();
  return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
  if (___interceptor_realloc) return ___interceptor_realloc(memory, size);
  count_allocation();
  return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  if (___interceptor_aligned_alloc) return ___interceptor_aligned_alloc(alignment, size);
  count_allocation();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  if (___interceptor_posix_memalign) return ___interceptor_posix_memalign(result, alignment, size);
  count_allocation();
  *result = __libc_memalign(alignment, size);
  return *result ? 0 : 12;
}

void free(void *memory) {
  if (___interceptor_free) return ___interceptor_free(memory);
  if (span.audit && memory) span.audit->releases++;
  __libc_free(memory);
}

typedef int locker(pthread_mutex_t *);
static locker *true_lock, *true_try;

/* Before anything of the program's runs; until then only the loader's one thread does. */
__attribute__((constructor(101))) static void find_true_functions(void) {
  true_lock = (locker *)dlsym(RTLD_NEXT, "pthread_mutex_lock");
  true_try = (locker *)dlsym(RTLD_NEXT, "pthread_mutex_trylock");
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  if (___interceptor_pthread_mutex_lock) return ___interceptor_pthread_mutex_lock(mutex);
  if (span.audit) span.audit->locks++;
  if (!true_lock) find_true_functions();
  return true_lock(mutex);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex) {
  if (span.audit) span.audit->locks++;
  if (!true_try) find_true_functions();
  return true_try(mutex);
}

#else

bool sostenuto_audit_is_built_in(void) { return false; }
int64_t sostenuto_heap_bytes(void) { return 0; }
void sostenuto_audit_renders(struct sostenuto_audit *audit) { (void)audit; }
void sostenuto_audit_begin(struct sostenuto_audit *audit) { (void)audit; }
void sostenuto_audit_end(void) {}
/* In the place of the product's, which do nothing: whoever waits for renders waits under any sanitizer. */
void sostenuto_rtsan_enter(void) {}
void sostenuto_rtsan_exit(void) { sostenuto_after_render(); }

#endif
