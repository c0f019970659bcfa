#include "CForeign.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  /* The audio thread changes them while the worker asks. */
  atomic_llong rendered;
  atomic_int lag;
  float past[1024];
  int head;
} instance;

static atomic_int instances;

int sostenuto_test_instances(void) { return atomic_load(&instances); }

static void *prepare(void *context, const sostenuto_setup *setup, char *fault, size_t capacity) {
  (void)context;
  if (!setup->progress(setup->listener, 0.5f)) return NULL;
  if (setup->parameter_count > 2 && setup->values[2] == 1) {
    snprintf(fault, capacity, "no licence for %d channels", setup->inputs[0]);
    return NULL;
  }
  instance *it = calloc(1, sizeof *it);
  if (setup->state) atomic_store(&it->rendered, atoll(setup->state));
  atomic_fetch_add(&instances, 1);
  return it;
}

static void release(void *raw) {
  free(raw);
  atomic_fetch_sub(&instances, 1);
}

static bool process(void *raw, sostenuto_block *block) {
  instance *it = raw;
  const sostenuto_parameter factor = block->parameters[0];
  int lag = atomic_load(&it->lag);
  for (int frame = 0; frame < block->frames; frame++) {
    float gain = factor.stream ? factor.stream[frame] : factor.values[0];
    it->past[it->head & 1023] = block->inputs[0].channels[0][frame] * gain;
    block->outputs[0].samples[frame] = it->past[(it->head - lag) & 1023];
    it->head++;
  }
  atomic_fetch_add(&it->rendered, block->frames);
  return true;
}

static void set(void *raw, int32_t parameter, int32_t element, float value, int32_t frames) {
  (void)element;
  (void)frames;
  if (parameter == 1) atomic_store(&((instance *)raw)->lag, (int)value);
}

static float reading(void *raw, int32_t position) {
  (void)position;
  return (float)atomic_load(&((instance *)raw)->rendered);
}

static int32_t latency(void *raw) { return atomic_load(&((instance *)raw)->lag); }

static size_t save(void *raw, char *text, size_t capacity) {
  return (size_t)snprintf(text, capacity, "%lld", atomic_load(&((instance *)raw)->rendered));
}

sostenuto_kind sostenuto_test_kind(void) {
  return (sostenuto_kind){.prepare = prepare,
                          .process = process,
                          .release = release,
                          .set = set,
                          .reading = reading,
                          .latency = latency,
                          .save = save};
}
