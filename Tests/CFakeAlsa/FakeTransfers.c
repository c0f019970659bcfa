#include "FakeCard.h"
#include <math.h>

snd_pcm_state_t snd_pcm_state(snd_pcm_t *pcm) {
  return is_fake(pcm) ? side_of(pcm)->state : REAL(snd_pcm_state, pcm);
}

int snd_pcm_prepare(snd_pcm_t *pcm) {
  if (!is_fake(pcm)) return REAL(snd_pcm_prepare, pcm);
  struct side *side = side_of(pcm);
  if (side->state == SND_PCM_STATE_DISCONNECTED) return -ENODEV;
  fake_stop_at(side, SND_PCM_STATE_PREPARED);
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
  fake_start(side_of(pcm));
  return 0;
}

int snd_pcm_recover(snd_pcm_t *pcm, int error, int silent) {
  if (!is_fake(pcm)) return REAL(snd_pcm_recover, pcm, error, silent);
  if (error == -EINTR) return 0;
  if (error == -EPIPE) return snd_pcm_prepare(pcm);
  if (error != -ESTRPIPE) return error;
  while ((error = snd_pcm_resume(pcm)) == -EAGAIN) fake_go_on(fake_now() + 1000000000);
  return error < 0 ? snd_pcm_prepare(pcm) : 0;
}

/* What happens before a transfer; negative: instead of it. `frames` may become less. */
static int disturb(struct side *side, snd_pcm_uframes_t *frames) {
  side->transfers++;
  if (side->shape.vanishes_at && side->transfers >= side->shape.vanishes_at) {
    side->state = SND_PCM_STATE_DISCONNECTED;
    side->vanished = fake_now();
  }
  if (side->shape.stalls_at && side->transfers >= side->shape.stalls_at) return -EAGAIN;
  if (fake_error_of(side)) return fake_error_of(side);
  uint32_t what = fake_chance(side) % 1000;
  if (what < side->shape.hesitations) {
    switch (fake_chance(side) % 4) {
    case 0: return -EAGAIN;
    case 1: return -EINTR;
    default: *frames = 1 + fake_chance(side) % *frames;
    }
    return 0;
  }
  what -= side->shape.hesitations;
  if (what < side->shape.xruns) {
    side->fate.told++;
    fake_stop_at(side, SND_PCM_STATE_XRUN);
  } else if (what - side->shape.xruns < side->shape.sleeps) {
    side->fate.told++;
    side->resumes_left = fake_chance(side) % 4;
    fake_stop_at(side, SND_PCM_STATE_SUSPENDED);
  }
  return fake_error_of(side);
}

snd_pcm_sframes_t snd_pcm_avail_update(snd_pcm_t *pcm) {
  if (!is_fake(pcm)) return REAL(snd_pcm_avail_update, pcm);
  pthread_mutex_lock(&fake_lock);
  struct side *side = side_of(pcm);
  side->is_first_read = true;
  int error = fake_update(side);
  snd_pcm_sframes_t frames = error ? error : fake_avail(side);
  pthread_mutex_unlock(&fake_lock);
  /* By whole periods, as a card tells of them. */
  return frames > 0 && side->is_capture ? frames / side->period * side->period : frames;
}

int snd_pcm_wait(snd_pcm_t *pcm, int timeout) {
  if (!is_fake(pcm)) return REAL(snd_pcm_wait, pcm, timeout);
  pthread_mutex_lock(&fake_lock);
  struct side *side = side_of(pcm);
  int64_t deadline = fake_now() + timeout * 1000000ll;
  bool has_waited = false;
  int result;
  while (true) {
    result = fake_update(side);
    if (result) break;
    snd_pcm_sframes_t lacking = (snd_pcm_sframes_t)side->period - fake_avail(side);
    if (lacking <= 0) {
      result = 1;
      break;
    }
    if (side->state != SND_PCM_STATE_RUNNING || fake_now() >= deadline) {
      fake_go_on(deadline);
      break;
    }
    int64_t needed = (int64_t)(lacking * 1e9 / side->rate / (1 + side->shape.ppm * 1e-6)) + 1;
    fake_go_on(fake_now() + needed < deadline ? fake_now() + needed : deadline);
    has_waited = true;
  }
  if (result == 1 && has_waited && side->shape.jitter)
    fake_go_on(fake_now() + fake_chance(side) % side->shape.jitter * 1000);
  pthread_mutex_unlock(&fake_lock);
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
  pthread_mutex_lock(&fake_lock);
  struct side *side = side_of(pcm);
  fake_go_on(fake_now() + fake_render_time);
  snd_pcm_sframes_t result = fake_update(side);
  if (!result) result = disturb(side, &size);
  if (!result) {
    snd_pcm_sframes_t room = fake_avail(side);
    if (room < (snd_pcm_sframes_t)size) size = room;
    int64_t count = atomic_load(&fake_heard_count);
    for (snd_pcm_uframes_t i = 0; i < size && count < 65536; i++)
      if (side->position + (int64_t)i >= side->shape.heard_from) fake_heard[count++] = sample(side, buffer, i * side->channels);
    atomic_store(&fake_heard_count, count);
    side->position += size;
    side->fate.transferred += size;
    if (side->state == SND_PCM_STATE_PREPARED && size > 0) {
      fake_start(side);
      side->at_start = side->position - size;
    }
    result = size ? (snd_pcm_sframes_t)size : -EAGAIN;
  }
  pthread_mutex_unlock(&fake_lock);
  return result;
}

snd_pcm_sframes_t snd_pcm_readi(snd_pcm_t *pcm, void *buffer, snd_pcm_uframes_t size) {
  if (!is_fake(pcm)) return REAL(snd_pcm_readi, pcm, buffer, size);
  pthread_mutex_lock(&fake_lock);
  struct side *side = side_of(pcm);
  snd_pcm_sframes_t result = fake_update(side);
  snd_pcm_uframes_t asked = size;
  if (!result) result = disturb(side, &size);
  if (!result) {
    snd_pcm_sframes_t there = fake_avail(side);
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
            side->shape.tone ? 0.5f * (float)sin(2 * M_PI * fmod((double)side->shape.tone * (side->position + i) / side->rate, 1))
                             : ((side->position + i) % 1000 + 1) / 1024.0f + channel * 2 / 8192.0f);
    side->position += size;
    side->fate.transferred += size;
    result = size ? (snd_pcm_sframes_t)size : -EAGAIN;
  }
  pthread_mutex_unlock(&fake_lock);
  return result;
}

snd_pcm_sframes_t snd_pcm_forward(snd_pcm_t *pcm, snd_pcm_uframes_t frames) {
  if (!is_fake(pcm)) return REAL(snd_pcm_forward, pcm, frames);
  pthread_mutex_lock(&fake_lock);
  struct side *side = side_of(pcm);
  snd_pcm_sframes_t there = fake_avail(side);
  if ((snd_pcm_sframes_t)frames > there) frames = there < 0 ? 0 : there;
  side->position += frames;
  pthread_mutex_unlock(&fake_lock);
  return frames;
}
