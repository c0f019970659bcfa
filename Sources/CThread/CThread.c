#define _GNU_SOURCE
#include "CThread.h"
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/capability.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

uintptr_t sostenuto_flush_denormals(void) {
#if defined(__x86_64__)
  unsigned state = _mm_getcsr();
  _mm_setcsr(state | 0x8040);
  return state;
#elif defined(__aarch64__)
  uintptr_t state;
  __asm__ volatile("mrs %0, fpcr" : "=r"(state));
  __asm__ volatile("msr fpcr, %0" : : "r"(state | (1ul << 24)));
  return state;
#else
  return 0;
#endif
}

void sostenuto_restore_denormals(uintptr_t state) {
#if defined(__x86_64__)
  _mm_setcsr((unsigned)state);
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" : : "r"(state));
#else
  (void)state;
#endif
}

void sostenuto_prefetch(const void *address) { __builtin_prefetch(address); }

void sostenuto_pause(void) {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Weak: the tests have threads with a time of their own. */
__attribute__((weak)) int64_t sostenuto_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

__attribute__((weak)) void sostenuto_sleep_until(int64_t deadline) {
  struct timespec until = {.tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
  }
}

int sostenuto_wait_for_semaphore(void *semaphore, int64_t patience) {
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  int64_t nanoseconds = end.tv_nsec + patience;
  end.tv_sec += nanoseconds / 1000000000;
  end.tv_nsec = nanoseconds % 1000000000;
  while (sem_clockwait(semaphore, CLOCK_MONOTONIC, &end) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

bool sostenuto_make_realtime(int priority) {
  struct sched_param parameters = {.sched_priority = priority};
  return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) == 0;
}

void sostenuto_touch_stack(void) {
  /* JACK's threads have 512 KiB, and renders use a small part of this. */
  volatile char pages[128 * 1024];
  for (size_t byte = 0; byte < sizeof pages; byte += 1024) pages[byte] = 0;
}

static bool may_lock_without_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) return true;
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2] = {{0}};
  return syscall(SYS_capget, &header, data) == 0 && (data[0].effective & 1u << CAP_IPC_LOCK);
}

/* From this size on, blocks are mapped apart from the heap. */
enum { large_block = 1 << 17 };

/* Lock what the audio thread runs, present or not: the program, and the libraries that it or a driver's thread calls. Of
   the others (codecs, the terminal's) it locks what has been used, and the tables in which the first call of a function
   is looked up. */
static int lock_object(struct dl_phdr_info *object, size_t size, void *context) {
  (void)size;
  (void)context;
  static const char *const called[] = {"libc.so", "libm.so", "libjack", "libasound.so", "libswiftCore.so"};
  /* The program itself has no name. */
  bool is_called = !object->dlpi_name[0];
  for (size_t i = 0; i < sizeof called / sizeof *called; i++) is_called |= strstr(object->dlpi_name, called[i]) != NULL;
  bool is_first = true;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    if (part->p_type != PT_LOAD) continue;
    if (is_called || is_first) mlock((void *)(object->dlpi_addr + part->p_vaddr), part->p_memsz);
    is_first = false;
  }
  return 0;
}

/* Of a thread's stack; a thread that starts once memory is locked gets the whole of it at once, and the system's own size
   is 8 MB. */
enum { stack_size = 1 << 20 };

bool sostenuto_lock_memory(void) {
  /* Else the limit rises to the largest block that was ever freed: lines of delays would come and go within the heap, and
     leave it full of holes with a few small objects in between. */
  mallopt(M_MMAP_THRESHOLD, large_block);
  /* Locks pages that have been touched, and those that will be. Memory for the audio thread is touched where it is allocated. */
  if (!may_lock_without_limit() || mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0) return false;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) == 0) {
    if (pthread_attr_setstacksize(&attributes, stack_size) == 0) pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
  }
  dl_iterate_phdr(lock_object, NULL);
  return true;
}

void sostenuto_grow_heap(size_t extent) {
  /* Address space; what nobody touches is not there. A piece as large as may lie in the heap, which therefore
     grows by it and by the rest; volatile, or it would be left out. */
  const size_t page = 4096, most = 31 << 20, size = extent < most ? extent : most;
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 29);
  mallopt(M_TOP_PAD, extent - size + page);
  void *volatile piece = malloc(size);
  uintptr_t start = ((uintptr_t)piece + page - 1) / page * page, end = (uintptr_t)sbrk(0) / page * page;
  /* Advice: small pages do as well. */
  if (piece && start < end && end - start < 2 * extent) madvise((void *)start, end - start, MADV_HUGEPAGE);
  free(piece);
  /* Large blocks stay out of the heap, of which they would leave pieces. */
  mallopt(M_TOP_PAD, 1 << 17);
  mallopt(M_MMAP_THRESHOLD, large_block);
}

void sostenuto_name_thread(const char *name) {
  char short_name[16];
  strncpy(short_name, name, sizeof short_name - 1);
  short_name[sizeof short_name - 1] = 0;
  pthread_setname_np(pthread_self(), short_name);
}

pid_t sostenuto_spawn_dependent(const char *const *arguments) {
  pid_t parent = getpid();
  volatile int error = 0;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  /* A copy as fork makes it would have every thread of this process, the audio thread too, fault at its next write to each
     page. This child has our memory until another program takes its place, and this thread waits for that. */
  pid_t child = vfork();
  if (child == 0) {
    /* Our handlers would run in our memory. */
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, 0);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    setpgid(0, 0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent) execvp(arguments[0], (char *const *)arguments);
    error = errno;
    _exit(127);
  }
  if (child < 0) error = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (child > 0 && error) waitpid(child, NULL, 0);
  if (error) {
    errno = error;
    return -1;
  }
  return child;
}

/* The tests put hooks of their own in the place of these, and `make rtsan` links RealtimeSanitizer behind them. */
__attribute__((weak)) void sostenuto_rtsan_enter(void) {}
__attribute__((weak)) void sostenuto_rtsan_exit(void) {}
void __rtsan_realtime_enter(void) __attribute__((weak));
void __rtsan_disable(void) __attribute__((weak));
void __rtsan_enable(void) __attribute__((weak));

void sostenuto_yield(void) {
  if (__rtsan_disable != NULL) __rtsan_disable();
  sched_yield();
  if (__rtsan_enable != NULL) __rtsan_enable();
}

bool sostenuto_rtsan_is_built_in(void) { return __rtsan_realtime_enter != NULL; }
