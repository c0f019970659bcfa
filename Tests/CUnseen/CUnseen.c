#define _GNU_SOURCE
#include "CUnseen.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* What orders threads in libraries that ThreadSanitizer does not see into: functions in the place of theirs tell it.
   Without them, whoever waits for a mutex, drops a closure or hears another client of JACK looks like a race. */
#if __has_feature(thread_sanitizer)

void __tsan_acquire(void *address);
void __tsan_release(void *address);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);

/* Swift's `Mutex` is taken and given back in the caller's code, but where somebody waits: there, in its library. */
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define HANDLE __attribute__((swift_context)) void *handle

__attribute__((swiftcall)) void sostenuto_lock(uint32_t thread, HANDLE) __asm__(LOCK);
__attribute__((swiftcall)) bool sostenuto_try(HANDLE) __asm__(TRY);
__attribute__((swiftcall)) void sostenuto_unlock(HANDLE) __asm__(UNLOCK);
typedef __attribute__((swiftcall)) void (*lock_function)(uint32_t thread, HANDLE);
typedef __attribute__((swiftcall)) bool (*try_function)(HANDLE);
typedef __attribute__((swiftcall)) void (*unlock_function)(HANDLE);

__attribute__((swiftcall)) void sostenuto_lock(uint32_t thread, HANDLE) {
  ((lock_function)dlsym(RTLD_NEXT, LOCK))(thread, handle);
  __tsan_acquire(handle);
}

__attribute__((swiftcall)) bool sostenuto_try(HANDLE) {
  bool is_taken = ((try_function)dlsym(RTLD_NEXT, TRY))(handle);
  if (is_taken) __tsan_acquire(handle);
  return is_taken;
}

__attribute__((swiftcall)) void sostenuto_unlock(HANDLE) {
  __tsan_release(handle);
  ((unlock_function)dlsym(RTLD_NEXT, UNLOCK))(handle);
}

/* A closure that Dispatch keeps is freed by whoever drops it last, which its count of references orders. */
void _Block_release(const void *block) {
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  ((void (*)(const void *))dlsym(RTLD_NEXT, "_Block_release"))(block);
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

/* JACK has its clients, of which a process of tests has several, take turns at the memory that they share. */
typedef int (*process_callback)(uint32_t frames, void *argument);
struct turn {
  process_callback process;
  void *argument;
};
static char turns;

static int take_turn(uint32_t frames, void *argument) {
  struct turn *turn = argument;
  __tsan_acquire(&turns);
  int result = turn->process(frames, turn->argument);
  __tsan_release(&turns);
  return result;
}

int jack_set_process_callback(void *client, process_callback process, void *argument) {
  /* Never freed: nobody says when the client has had its last. */
  struct turn *turn = malloc(sizeof *turn);
  *turn = (struct turn){process, argument};
  return ((int (*)(void *, process_callback, void *))dlsym(RTLD_NEXT, "jack_set_process_callback"))(
      client, take_turn, turn);
}

#endif
