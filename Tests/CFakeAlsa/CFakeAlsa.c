#include "FakeCard.h"
#include <math.h>

/* The time of a thread that plays through a fake card. */
static __thread bool has_own_time;
static __thread int64_t own_time;
static void (*_Atomic follower)(int64_t);

static int64_t real_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* In the place of the product's. */
int64_t sostenuto_nanoseconds(void) { return has_own_time ? own_time : real_time(); }

void sostenuto_sleep_until(int64_t deadline) {
  if (has_own_time) {
    if (deadline > own_time) fake_go_on(deadline);
    return;
  }
  struct timespec until = {.tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
  }
}

int64_t fake_now(void) {
  if (!has_own_time) own_time = real_time();
  has_own_time = true;
  return own_time;
}

void fake_go_on(int64_t time) {
  own_time = time;
  void (*follow)(int64_t) = atomic_load(&follower);
  if (follow) follow(time);
}

void fake_alsa_follow(void (*follow)(int64_t time)) { atomic_store(&follower, follow); }

/* A handle of ALSA's is the address of a side. */
struct side fake_sides[2];
pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
int64_t fake_render_time;
float fake_heard[65536];
_Atomic int64_t fake_heard_count;

uint32_t fake_chance(struct side *side) {
  side->random = side->random * 1664525u + 1013904223u;
  return side->random >> 12;
}

void fake_alsa_insert(const struct fake_alsa_shape *playback, const struct fake_alsa_shape *capture,
                      int64_t render_nanoseconds) {
  pthread_mutex_lock(&fake_lock);
  memset(fake_sides, 0, sizeof fake_sides);
  fake_sides[0].shape = *playback;
  fake_sides[1].shape = *capture;
  fake_sides[1].is_capture = true;
  for (int i = 0; i < 2; i++) fake_sides[i].random = fake_sides[i].shape.seed + 1;
  fake_render_time = render_nanoseconds;
  atomic_store(&fake_heard_count, 0);
  pthread_mutex_unlock(&fake_lock);
}

struct fake_alsa_fate fake_alsa_look(bool is_capture) {
  pthread_mutex_lock(&fake_lock);
  struct fake_alsa_fate fate = fake_sides[is_capture].fate;
  pthread_mutex_unlock(&fake_lock);
  return fate;
}

int64_t fake_alsa_heard(float *samples, int64_t count) {
  int64_t most = atomic_load(&fake_heard_count);
  if (count > most) count = most;
  memcpy(samples, fake_heard, count * sizeof(float));
  return count;
}

/* Frames that the card has played or recorded since it was started. */
static int64_t passed(struct side *side) {
  double seconds = (fake_now() - side->started) * 1e-9;
  double shown = seconds * (1 + side->shape.ppm * 1e-6);
  if (side->shape.swing) {
    double turn = 2 * M_PI / side->shape.swing_seconds;
    shown += side->shape.swing * 1e-6 / turn * (1 - cos(turn * seconds));
  }
  return (int64_t)(shown * side->rate);
}

snd_pcm_sframes_t fake_avail(struct side *side) {
  int64_t here = side->at_start + (side->state == SND_PCM_STATE_RUNNING ? passed(side) : 0);
  return side->is_capture ? here - side->position : side->buffer - (side->position - here);
}

int fake_error_of(struct side *side) {
  switch (side->state) {
  case SND_PCM_STATE_XRUN: return -EPIPE;
  case SND_PCM_STATE_SUSPENDED: return -ESTRPIPE;
  case SND_PCM_STATE_DISCONNECTED: return -ENODEV;
  default: return 0;
  }
}

void fake_stop_at(struct side *side, snd_pcm_state_t state) {
  side->at_start = side->position;
  side->state = state;
}

/* Looks at the time; what has run dry or over by now is an error from now on. */
int fake_update(struct side *side) {
  if (side->state == SND_PCM_STATE_RUNNING && fake_avail(side) > (snd_pcm_sframes_t)side->buffer) {
    side->fate.late++;
    fake_stop_at(side, SND_PCM_STATE_XRUN);
  }
  if (side->first_started) side->fate.played = (fake_now() - side->first_started) / 1000000;
  return fake_error_of(side);
}

void fake_start(struct side *side) {
  side->state = SND_PCM_STATE_RUNNING;
  side->started = fake_now();
  if (!side->first_started) side->first_started = side->fate.first_started = fake_now();
  side->at_start = side->position;
}

void fake_memory(int byte) { mallopt(M_PERTURB, byte ^ (byte ? 0xff : 0)); }
