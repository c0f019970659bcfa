#include "FakeCard.h"

/* ALSA's functions, those that the product uses. */

int snd_pcm_open(snd_pcm_t **pcm, const char *name, snd_pcm_stream_t stream, int mode) {
  if (strncmp(name, "fake", 4)) return REAL(snd_pcm_open, pcm, name, stream, mode);
  pthread_mutex_lock(&fake_lock);
  struct side *side = &fake_sides[stream == SND_PCM_STREAM_CAPTURE];
  if (side->vanished && side->shape.returns_after &&
      fake_now() >= side->vanished + side->shape.returns_after * 1000000ll)
    side->shape.vanishes_at = side->vanished = 0;
  int error = side->shape.is_absent || side->vanished ? -ENOENT : side->is_open && side->shape.is_card ? -EBUSY : 0;
  if (!error) {
    side->is_open = true;
    side->state = SND_PCM_STATE_OPEN;
    side->fate.opened++;
    *pcm = (snd_pcm_t *)side;
  }
  pthread_mutex_unlock(&fake_lock);
  return error;
}

int snd_pcm_close(snd_pcm_t *pcm) {
  if (!is_fake(pcm)) return REAL(snd_pcm_close, pcm);
  pthread_mutex_lock(&fake_lock);
  side_of(pcm)->is_open = false;
  side_of(pcm)->fate.closed++;
  pthread_mutex_unlock(&fake_lock);
  return 0;
}

snd_pcm_type_t snd_pcm_type(snd_pcm_t *pcm) {
  if (!is_fake(pcm)) return REAL(snd_pcm_type, pcm);
  return side_of(pcm)->shape.is_card ? SND_PCM_TYPE_HW : SND_PCM_TYPE_PLUG;
}
/* Settings of a fake device by the address of the object that holds a real one's. Other tests open real devices
   meanwhile, and compare it with theirs. */
static _Atomic(snd_pcm_hw_params_t *) settings_of[2];

static struct side *side_with(const snd_pcm_hw_params_t *settings) {
  for (int i = 0; i < 2; i++)
    if (settings && atomic_load_explicit(&settings_of[i], memory_order_relaxed) == settings) return &fake_sides[i];
  return NULL;
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
  pthread_mutex_lock(&fake_lock);
  struct side *side = side_of(pcm);
  side->fate.channels = side->channels;
  side->fate.period = side->period;
  side->fate.buffer = side->buffer;
  fake_stop_at(side, SND_PCM_STATE_PREPARED);
  pthread_mutex_unlock(&fake_lock);
  return 0;
}

int snd_pcm_hw_params_get_period_size(const snd_pcm_hw_params_t *settings, snd_pcm_uframes_t *value, int *dir) {
  struct side *side = side_with(settings);
  if (!side) return REAL(snd_pcm_hw_params_get_period_size, settings, value, dir);
  *value = side->period;
  return 0;
}
