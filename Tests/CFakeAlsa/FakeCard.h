#pragma once
#define _GNU_SOURCE
#include "CFakeAlsa.h"
#include <alsa/asoundlib.h>
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* What the files of the fake cards share. */

struct side {
  struct fake_alsa_shape shape;
  struct fake_alsa_fate fate;
  bool is_capture, is_open;
  uint32_t format, rate, channels, period, buffer;
  snd_pcm_state_t state;
  /* When it was started, and what had been handed over or given by then. */
  int64_t started, at_start, first_started;
  int64_t position;
  uint64_t transfers;
  int resumes_left;
  bool is_first_read;
  uint32_t random;
  /* When it vanished. */
  int64_t vanished;
};

/* A handle of ALSA's is the address of a side. */
extern struct side fake_sides[2];
extern pthread_mutex_t fake_lock;
extern int64_t fake_render_time;
extern _Atomic int64_t fake_heard_count;
extern float fake_heard[65536];

static inline bool is_fake(const snd_pcm_t *pcm) {
  return (const void *)pcm == &fake_sides[0] || (const void *)pcm == &fake_sides[1];
}
static inline struct side *side_of(snd_pcm_t *pcm) { return (struct side *)pcm; }

#define REAL(function, ...) \
  ({ \
    static _Atomic(__typeof__(&function)) known; \
    __typeof__(&function) found = atomic_load_explicit(&known, memory_order_relaxed); \
    if (!found) { \
      found = (__typeof__(&function))dlsym(RTLD_NEXT, #function); \
      atomic_store_explicit(&known, found, memory_order_relaxed); \
    } \
    found(__VA_ARGS__); \
  })

/* Time of the thread that plays through a fake card, and its step to a later one. */
int64_t fake_now(void);
void fake_go_on(int64_t time);
/* A random number of that side. */
uint32_t fake_chance(struct side *side);
/* Frames that there is room for, or that have been recorded. */
snd_pcm_sframes_t fake_avail(struct side *side);
/* Looks at the time; what has run dry or over by now is an error from now on. */
int fake_update(struct side *side);
void fake_start(struct side *side);
void fake_stop_at(struct side *side, snd_pcm_state_t state);
int fake_error_of(struct side *side);
