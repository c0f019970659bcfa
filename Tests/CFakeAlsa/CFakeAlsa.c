#define _GNU_SOURCE
#include "CFakeAlsa.h"
#include <alsa/asoundlib.h>
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* The time of a thread that plays through a fake card. */
static __thread bool has_own_time;
static __thread int64_t own_time;

static int64_t real_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* In the place of the product's. */
int64_t sostenuto_nanoseconds(void) { return has_own_time ? own_time : real_time(); }

void sostenuto_sleep_until(int64_t deadline) {
  if (has_own_time) {
    if (deadline > own_time) own_time = deadline;
    return;
  }
  struct timespec until = {.tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
  }
}

static int64_t now(void) {
  if (!has_own_time) own_time = real_time();
  has_own_time = true;
  return own_time;
}

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
};

/* A handle of ALSA's is the address of a side. */
static struct side sides[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t render_time;
static float heard[65536];
static _Atomic int64_t heard_count;
/* Settings of a fake device by the address of the object that holds a real one's. Other tests open real devices
   meanwhile, and compare it with theirs. */
static _Atomic(snd_pcm_hw_params_t *) settings_of[2];

static bool is_fake(const snd_pcm_t *pcm) {
  return (const void *)pcm == &sides[0] || (const void *)pcm == &sides[1];
}
static struct side *side_of(snd_pcm_t *pcm) { return (struct side *)pcm; }
static struct side *side_with(const snd_pcm_hw_params_t *settings) {
  for (int i = 0; i < 2; i++)
    if (settings && atomic_load_explicit(&settings_of[i], memory_order_relaxed) == settings) return &sides[i];
  return NULL;
}

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

static uint32_t chance(struct side *side) {
  side->random = side->random * 1664525u + 1013904223u;
  return side->random >> 12;
}

void fake_alsa_insert(const struct fake_alsa_shape *playback, const struct fake_alsa_shape *capture,
                      int64_t render_nanoseconds) {
  pthread_mutex_lock(&lock);
  memset(sides, 0, sizeof sides);
  sides[0].shape = *playback;
  sides[1].shape = *capture;
  sides[1].is_capture = true;
  for (int i = 0; i < 2; i++) sides[i].random = sides[i].shape.seed + 1;
  render_time = render_nanoseconds;
  atomic_store(&heard_count, 0);
  pthread_mutex_unlock(&lock);
}

struct fake_alsa_fate fake_alsa_look(bool is_capture) {
  pthread_mutex_lock(&lock);
  struct fake_alsa_fate fate = sides[is_capture].fate;
  pthread_mutex_unlock(&lock);
  return fate;
}

int64_t fake_alsa_heard(float *samples, int64_t count) {
  int64_t most = atomic_load(&heard_count);
  if (count > most) count = most;
  memcpy(samples, heard, count * sizeof(float));
  return count;
}

/* Frames that the card has played or recorded since it was started. */
static int64_t passed(struct side *side) {
  double seconds = (now() - side->started) * 1e-9 * (1 + side->shape.ppm * 1e-6);
  return (int64_t)(seconds * side->rate);
}

static snd_pcm_sframes_t avail(struct side *side) {
  int64_t here = side->at_start + (side->state == SND_PCM_STATE_RUNNING ? passed(side) : 0);
  return side->is_capture ? here - side->position : side->buffer - (side->position - here);
}

static int error_of(struct side *side) {
  switch (side->state) {
  case SND_PCM_STATE_XRUN: return -EPIPE;
  case SND_PCM_STATE_SUSPENDED: return -ESTRPIPE;
  case SND_PCM_STATE_DISCONNECTED: return -ENODEV;
  default: return 0;
  }
}

static void stop_at(struct side *side, snd_pcm_state_t state) {
  side->at_start = side->position;
  side->state = state;
}

/* Looks at the time; what has run dry or over by now is an error from now on. */
static int update(struct side *side) {
  if (side->state == SND_PCM_STATE_RUNNING && avail(side) > (snd_pcm_sframes_t)side->buffer) {
    side->fate.late++;
    stop_at(side, SND_PCM_STATE_XRUN);
  }
  if (side->first_started) side->fate.played = (now() - side->first_started) / 1000000;
  return error_of(side);
}

static void start(struct side *side) {
  side->state = SND_PCM_STATE_RUNNING;
  side->started = now();
  if (!side->first_started) side->first_started = now();
  side->at_start = side->position;
}

/* What happens before a transfer; negative: instead of it. `frames` may become less. */
static int disturb(struct side *side, snd_pcm_uframes_t *frames) {
  side->transfers++;
  if (side->shape.vanishes_at && side->transfers >= side->shape.vanishes_at)
    side->state = SND_PCM_STATE_DISCONNECTED;
  if (side->shape.stalls_at && side->transfers >= side->shape.stalls_at) return -EAGAIN;
  if (error_of(side)) return error_of(side);
  uint32_t what = chance(side) % 1000;
  if (what < side->shape.hesitations) {
    switch (chance(side) % 4) {
    case 0: return -EAGAIN;
    case 1: return -EINTR;
    default: *frames = 1 + chance(side) % *frames;
    }
    return 0;
  }
  what -= side->shape.hesitations;
  if (what < side->shape.xruns) {
    side->fate.told++;
    stop_at(side, SND_PCM_STATE_XRUN);
  } else if (what - side->shape.xruns < side->shape.sleeps) {
    side->fate.told++;
    side->resumes_left = chance(side) % 4;
    stop_at(side, SND_PCM_STATE_SUSPENDED);
  }
  return error_of(side);
}

void fake_memory(int byte) { mallopt(M_PERTURB, byte ^ (byte ? 0xff : 0)); }

/* ALSA's functions, those that the product uses. */

int snd_pcm_open(snd_pcm_t **pcm, const char *name, snd_pcm_stream_t stream, int mode) {
  if (strncmp(name, "fake", 4)) return REAL(snd_pcm_open, pcm, name, stream, mode);
  pthread_mutex_lock(&lock);
  struct side *side = &sides[stream == SND_PCM_STREAM_CAPTURE];
  int error = side->shape.is_absent ? -ENOENT : side->is_open && side->shape.is_card ? -EBUSY : 0;
  if (!error) {
    side->is_open = true;
    side->state = SND_PCM_STATE_OPEN;
    side->fate.opened++;
    *pcm = (snd_pcm_t *)side;
  }
  pthread_mutex_unlock(&lock);
  return error;
}

int snd_pcm_close(snd_pcm_t *pcm) {
  if (!is_fake(pcm)) return REAL(snd_pcm_close, pcm);
  pthread_mutex_lock(&lock);
  side_of(pcm)->is_open = false;
  side_of(pcm)->fate.closed++;
  pthread_mutex_unlock(&lock);
  return 0;
}

snd_pcm_type_t snd_pcm_type(snd_pcm_t *pcm) {
  if (!is_fake(pcm)) return REAL(snd_pcm_type, pcm);
  return side_of(pcm)->shape.is_card ? SND_PCM_TYPE_HW : SND_PCM_TYPE_PLUG;
}

int snd_pcm_hw_params_any(snd_pcm_t *pcm, snd_pcm_hw_params_t *settings) {
  for (int i = 0; i < 2; i++) {
    snd_pcm_hw_params_t *old = settings;
    atomic_compare_exchange_strong_explicit(&settings_of[i], &old, NULL, memory_order_relaxed, memory_order_relaxed);
  }
  if (!is_fake(pcm)) return REAL(snd_pcm_hw_params_any, pcm, settings);
  atomic_store_explicit(&settings_of[side_of(pcm)->is_capture], settings, memory_order_relaxed);
  return 0;
}

int snd_pcm_hw_params_get_channels_max(const snd_pcm_hw_params_t *settings, unsigned int *value) {
  struct side *side = side_with(settings);
  if (!side) return REAL(snd_pcm_hw_params_get_channels_max, settings, value);
  *value = side->shape.channels_max;
  return 0;
}

int snd_pcm_hw_params_set_access(snd_pcm_t *pcm, snd_pcm_hw_params_t *settings, snd_pcm_access_t access) {
  return is_fake(pcm) ? 0 : REAL(snd_pcm_hw_params_set_access, pcm, settings, access);
}

int snd_pcm_hw_params_set_format(snd_pcm_t *pcm, snd_pcm_hw_params_t *settings, snd_pcm_format_t format) {
  if (!is_fake(pcm)) return REAL(snd_pcm_hw_params_set_format, pcm, settings, format);
  uint32_t bit = format == SND_PCM_FORMAT_FLOAT_LE    ? 1
                 : format == SND_PCM_FORMAT_S32_LE    ? 2
                 : format == SND_PCM_FORMAT_S16_LE    ? 4
                 : format == SND_PCM_FORMAT_S24_LE    ? 8
                 : format == SND_PCM_FORMAT_S24_3LE   ? 16
                                                      : 0;
  if (!(side_of(pcm)->shape.formats & bit)) return -EINVAL;
  side_of(pcm)->format = bit;
  return 0;
}

int snd_pcm_hw_params_set_channels_near(snd_pcm_t *pcm, snd_pcm_hw_params_t *settings, unsigned int *value) {
  if (!is_fake(pcm)) return REAL(snd_pcm_hw_params_set_channels_near, pcm, settings, value);
  if (*value > side_of(pcm)->shape.channels_max) *value = side_of(pcm)->shape.channels_max;
  side_of(pcm)->channels = *value;
  return 0;
}

int snd_pcm_hw_params_set_rate_near(snd_pcm_t *pcm, snd_pcm_hw_params_t *settings, unsigned int *value, int *dir) {
  if (!is_fake(pcm)) return REAL(snd_pcm_hw_params_set_rate_near, pcm, settings, value, dir);
  *value = side_of(pcm)->rate = side_of(pcm)->shape.rate;
  return 0;
}

int snd_pcm_hw_params_set_period_size_near(snd_pcm_t *pcm, snd_pcm_hw_params_t *settings, snd_pcm_uframes_t *value,
                                           int *dir) {
  if (!is_fake(pcm)) return REAL(snd_pcm_hw_params_set_period_size_near, pcm, settings, value, dir);
  struct fake_alsa_shape *shape = &side_of(pcm)->shape;
  uint32_t period = *value / shape->period_multiple * shape->period_multiple;
  if (period < shape->period_min) period = shape->period_min;
  if (period > shape->period_max) period = shape->period_max;
  *value = side_of(pcm)->period = period;
  return 0;
}

int snd_pcm_hw_params_set_buffer_size_near(snd_pcm_t *pcm, snd_pcm_hw_params_t *settings, snd_pcm_uframes_t *value) {
  if (!is_fake(pcm)) return REAL(snd_pcm_hw_params_set_buffer_size_near, pcm, settings, value);
  struct side *side = side_of(pcm);
  if (*value > side->shape.buffer_max) *value = side->shape.buffer_max;
  if (*value < 2 * side->period) *value = 2 * side->period;
  side->buffer = *value;
  return 0;
}

int snd_pcm_hw_params(snd_pcm_t *pcm, snd_pcm_hw_params_t *settings) {
  if (!is_fake(pcm)) return REAL(snd_pcm_hw_params, pcm, settings);
  pthread_mutex_lock(&lock);
  struct side *side = side_of(pcm);
  side->fate.channels = side->channels;
  side->fate.period = side->period;
  side->fate.buffer = side->buffer;
  side->state = SND_PCM_STATE_PREPARED;
  pthread_mutex_unlock(&lock);
  return 0;
}

int snd_pcm_hw_params_get_period_size(const snd_pcm_hw_params_t *settings, snd_pcm_uframes_t *value, int *dir) {
  struct side *side = side_with(settings);
  if (!side) return REAL(snd_pcm_hw_params_get_period_size, settings, value, dir);
  *value = side->period;
  return 0;
}

snd_pcm_state_t snd_pcm_state(snd_pcm_t *pcm) {
  return is_fake(pcm) ? side_of(pcm)->state : REAL(snd_pcm_state, pcm);
}

int snd_pcm_prepare(snd_pcm_t *pcm) {
  if (!is_fake(pcm)) return REAL(snd_pcm_prepare, pcm);
  struct side *side = side_of(pcm);
  if (side->state == SND_PCM_STATE_DISCONNECTED) return -ENODEV;
  stop_at(side, SND_PCM_STATE_PREPARED);
  return 0;
}

int snd_pcm_resume(snd_pcm_t *pcm) {
  if (!is_fake(pcm)) return REAL(snd_pcm_resume, pcm);
  struct side *side = side_of(pcm);
  if (side->resumes_left-- > 0) return -EAGAIN;
  return -ENOSYS;
}

int snd_pcm_start(snd_pcm_t *pcm) {
  if (!is_fake(pcm)) return REAL(snd_pcm_start, pcm);
  if (side_of(pcm)->state != SND_PCM_STATE_PREPARED) return -EBADFD;
  start(side_of(pcm));
  return 0;
}

int snd_pcm_recover(snd_pcm_t *pcm, int error, int silent) {
  if (!is_fake(pcm)) return REAL(snd_pcm_recover, pcm, error, silent);
  if (error == -EINTR) return 0;
  if (error == -EPIPE) return snd_pcm_prepare(pcm);
  if (error != -ESTRPIPE) return error;
  while ((error = snd_pcm_resume(pcm)) == -EAGAIN) own_time += 1000000000;
  return error < 0 ? snd_pcm_prepare(pcm) : 0;
}

snd_pcm_sframes_t snd_pcm_avail_update(snd_pcm_t *pcm) {
  if (!is_fake(pcm)) return REAL(snd_pcm_avail_update, pcm);
  pthread_mutex_lock(&lock);
  struct side *side = side_of(pcm);
  side->is_first_read = true;
  int error = update(side);
  snd_pcm_sframes_t frames = error ? error : avail(side);
  pthread_mutex_unlock(&lock);
  /* By whole periods, as a card tells of them. */
  return frames > 0 && side->is_capture ? frames / side->period * side->period : frames;
}

int snd_pcm_wait(snd_pcm_t *pcm, int timeout) {
  if (!is_fake(pcm)) return REAL(snd_pcm_wait, pcm, timeout);
  pthread_mutex_lock(&lock);
  struct side *side = side_of(pcm);
  int64_t deadline = now() + timeout * 1000000ll;
  int result;
  while (true) {
    result = update(side);
    if (result) break;
    snd_pcm_sframes_t lacking = (snd_pcm_sframes_t)side->period - avail(side);
    if (lacking <= 0) {
      result = 1;
      break;
    }
    if (side->state != SND_PCM_STATE_RUNNING || own_time >= deadline) {
      own_time = deadline;
      break;
    }
    int64_t needed = (int64_t)(lacking * 1e9 / side->rate / (1 + side->shape.ppm * 1e-6)) + 1;
    own_time = own_time + needed < deadline ? own_time + needed : deadline;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

static float sample(const struct side *side, const void *buffer, snd_pcm_uframes_t index) {
  switch (side->format) {
  case 1: return ((const float *)buffer)[index];
  case 2: return ((const int32_t *)buffer)[index] / 2147483648.0f;
  case 8: return ((const int32_t *)buffer)[index] / 8388608.0f;
  case 16: {
    const uint8_t *bytes = (const uint8_t *)buffer + 3 * index;
    return (int32_t)((uint32_t)bytes[0] << 8 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 24) / 2147483648.0f;
  }
  default: return ((const int16_t *)buffer)[index] / 32768.0f;
  }
}

static void put(const struct side *side, void *buffer, snd_pcm_uframes_t index, float value) {
  switch (side->format) {
  case 1: ((float *)buffer)[index] = value; break;
  case 2: ((int32_t *)buffer)[index] = (int32_t)(value * 2147483648.0f); break;
  /* A card may leave anything in the byte that is not used. */
  case 8: ((uint32_t *)buffer)[index] = ((uint32_t)(int32_t)(value * 8388608.0f) & 0xffffff) | 0x5a000000; break;
  case 16: {
    uint32_t bits = (uint32_t)(int32_t)(value * 8388608.0f);
    uint8_t *bytes = (uint8_t *)buffer + 3 * index;
    bytes[0] = bits, bytes[1] = bits >> 8, bytes[2] = bits >> 16;
    break;
  }
  default: ((int16_t *)buffer)[index] = (int16_t)(value * 32768.0f);
  }
}

snd_pcm_sframes_t snd_pcm_writei(snd_pcm_t *pcm, const void *buffer, snd_pcm_uframes_t size) {
  if (!is_fake(pcm)) return REAL(snd_pcm_writei, pcm, buffer, size);
  pthread_mutex_lock(&lock);
  struct side *side = side_of(pcm);
  now();
  own_time += render_time;
  snd_pcm_sframes_t result = update(side);
  if (!result) result = disturb(side, &size);
  if (!result) {
    snd_pcm_sframes_t room = avail(side);
    if (room < (snd_pcm_sframes_t)size) size = room;
    int64_t count = atomic_load(&heard_count);
    for (snd_pcm_uframes_t i = 0; i < size && count < 65536; i++)
      heard[count++] = sample(side, buffer, i * side->channels);
    atomic_store(&heard_count, count);
    side->position += size;
    side->fate.transferred += size;
    if (side->state == SND_PCM_STATE_PREPARED && size > 0) {
      start(side);
      side->at_start = side->position - size;
    }
    result = size ? (snd_pcm_sframes_t)size : -EAGAIN;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

snd_pcm_sframes_t snd_pcm_readi(snd_pcm_t *pcm, void *buffer, snd_pcm_uframes_t size) {
  if (!is_fake(pcm)) return REAL(snd_pcm_readi, pcm, buffer, size);
  pthread_mutex_lock(&lock);
  struct side *side = side_of(pcm);
  snd_pcm_sframes_t result = update(side);
  snd_pcm_uframes_t asked = size;
  if (!result) result = disturb(side, &size);
  if (!result) {
    snd_pcm_sframes_t there = avail(side);
    if (there < (snd_pcm_sframes_t)size) size = there;
    size_t frame = side->channels * (side->format == 4 ? 2 : side->format == 16 ? 3 : 4);
    if (side->is_first_read && malloc_usable_size(buffer) < asked * frame) {
      side->fate.overflows++;
      size = 0;
    }
    side->is_first_read = false;
    for (snd_pcm_uframes_t i = 0; i < size; i++)
      for (uint32_t channel = 0; channel < side->channels; channel++)
        put(side, buffer, i * side->channels + channel,
            ((side->position + i) % 1000 + 1) / 1024.0f + channel * 2 / 8192.0f);
    side->position += size;
    side->fate.transferred += size;
    result = size ? (snd_pcm_sframes_t)size : -EAGAIN;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

snd_pcm_sframes_t snd_pcm_forward(snd_pcm_t *pcm, snd_pcm_uframes_t frames) {
  if (!is_fake(pcm)) return REAL(snd_pcm_forward, pcm, frames);
  pthread_mutex_lock(&lock);
  struct side *side = side_of(pcm);
  snd_pcm_sframes_t there = avail(side);
  if ((snd_pcm_sframes_t)frames > there) frames = there < 0 ? 0 : there;
  side->position += frames;
  pthread_mutex_unlock(&lock);
  return frames;
}
