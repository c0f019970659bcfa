#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* Rings of past sound side by side in one memory, and sixteen of them that feed each other. */

/* Addresses of sixteen rings' sound, as many frames before their places as the delays have (16 and the ring's size, at
   least and at most). `starts`: first frames of the rings in the memory. */
SOSTENUTO_VECTOR void sostenuto_find_past(const float *sound, const int *starts, const int *sizes, const int *places,
                                          sostenuto_frames delays, const float **found) {
  typedef int integers_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef long long addresses __attribute__((ext_vector_type(16)));
  typedef long long addresses_of_memory __attribute__((ext_vector_type(16), aligned(8)));
  sostenuto_integers size = *(const integers_of_memory *)sizes;
  sostenuto_integers delay = __builtin_convertvector(delays + 0.5f, sostenuto_integers);
  delay = __builtin_elementwise_min(__builtin_elementwise_max(delay, (sostenuto_integers)16), size);
  sostenuto_integers place = *(const integers_of_memory *)places - delay;
  place += size & (place < 0);
  place += *(const integers_of_memory *)starts;
  *(addresses_of_memory *)found = __builtin_convertvector(place, addresses) * 4 + (long long)sound;
}

/* Addresses at which sixteen rings are written. */
SOSTENUTO_VECTOR void sostenuto_find_places(float *sound, const int *starts, const int *places, float **found) {
  typedef int integers_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef long long addresses __attribute__((ext_vector_type(16)));
  typedef long long addresses_of_memory __attribute__((ext_vector_type(16), aligned(8)));
  sostenuto_integers place = *(const integers_of_memory *)places + *(const integers_of_memory *)starts;
  *(addresses_of_memory *)found = __builtin_convertvector(place, addresses) * 4 + (long long)sound;
}

/* Moves sixteen places on. */
SOSTENUTO_VECTOR void sostenuto_move_places(int *places, const int *sizes, int frames) {
  typedef int integers_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  sostenuto_integers size = *(const integers_of_memory *)sizes, place = *(integers_of_memory *)places + frames;
  *(integers_of_memory *)places = place - (size & (place >= size));
}

/* A bit for each of sixteen blocks that lies in its ring's first 64 frames or goes beyond the end. */
SOSTENUTO_VECTOR unsigned sostenuto_are_at_ends(const int *places, const int *sizes, int frames) {
  typedef int integers_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef _Bool flags __attribute__((ext_vector_type(16)));
  sostenuto_integers place = *(const integers_of_memory *)places;
  flags at_end = __builtin_convertvector((place < 64) | (place + frames > *(const integers_of_memory *)sizes), flags);
  unsigned short bits;
  __builtin_memcpy(&bits, &at_end, 2);
  return bits;
}

/* A block of both sides through four all-passes each, whose delays are at least a block; then what goes to even and odd
   lines, as half of the sum and half of the difference. `gains`: of that, and of the all-passes. */
SOSTENUTO_VECTOR void sostenuto_diffuse(const float *const *from, float *const *to, const float *gains, const float *left,
                                        const float *right, float *buses) {
  typedef float frames_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  sostenuto_frames sides[2][4];
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; i++) {
    sides[0][i] = *(const frames_of_memory *)(left + 16 * i);
    sides[1][i] = *(const frames_of_memory *)(right + 16 * i);
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 8; i++) {
    sostenuto_frames *side = sides[i / 4];
    float gain = gains[1 + i];
#pragma clang loop unroll(full)
    for (int j = 0; j < 4; j++) {
      sostenuto_frames x = side[j], y = *(const frames_of_memory *)(from[i] + 16 * j) - gain * x;
      *(frames_of_memory *)(to[i] + 16 * j) = gain * y + x;
      side[j] = y;
    }
  }
  float gain = gains[0] * 0.5f;
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; i++) {
    *(frames_of_memory *)(buses + 16 * i) = (sides[0][i] + sides[1][i]) * gain;
    *(frames_of_memory *)(buses + 64 + 16 * i) = (sides[0][i] - sides[1][i]) * gain;
  }
}

/* Transposes eight vectors: vector i gets lane i of each. */
SOSTENUTO_VECTOR void sostenuto_turn_vectors(sostenuto_eight *v) {
  sostenuto_eight low[4], high[4];
  sostenuto_turn_fours(v, low);
  sostenuto_turn_fours(v + 4, high);
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; i++) {
    v[i] = __builtin_shufflevector(low[i], high[i], 0, 1, 2, 3, 8, 9, 10, 11);
    v[i + 4] = __builtin_shufflevector(low[i], high[i], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/* Two filters of the first order in series at rest, on 8 `parts` channels, of which each frame is a vector of each part:
   y = d x + s, s' = a s + b x; t' = e t + y, z = t' + f t. `numbers` are a, b, d, e and f of sixteen channels each, and `states`
   s and t. */
SOSTENUTO_VECTOR void sostenuto_shelve(sostenuto_eight *v, const float *numbers, sostenuto_eight (*states)[2], int parts, long long count) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  sostenuto_eight numbers_of_parts[2][5];
#pragma clang loop unroll(full)
  for (int i = 0; i < 5 * parts; i++) numbers_of_parts[i / 5][i % 5] = *(const row_of_memory *)(numbers + 16 * (i % 5) + 8 * (i / 5));
#pragma clang loop unroll(full)
  for (int n = 0; n < 8; n++) {
#pragma clang loop unroll(full)
    for (int part = 0; part < parts && n < count; part++) {
      sostenuto_eight *c = numbers_of_parts[part], *s = states[part], x = v[n + 8 * part];
      sostenuto_eight y = c[2] * x + s[0], t = c[3] * s[1] + y;
      s[0] = c[0] * s[0] + c[1] * x;
      v[n + 8 * part] = c[4] * s[1] + t;
      s[1] = t;
    }
  }
}

/* The same while they move: each is y = c s + d x, s' = a s + b x, and each frame first adds `steps` to `numbers`, which are a
   to d of the first and of the second one. */
SOSTENUTO_VECTOR void sostenuto_shelve_moving(sostenuto_eight *v, float *numbers, const float *steps, sostenuto_eight (*states)[2],
                                              int parts, long long count) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  sostenuto_eight numbers_of_parts[2][8];
#pragma clang loop unroll(full)
  for (int i = 0; i < 8 * parts; i++) numbers_of_parts[i / 8][i % 8] = *(row_of_memory *)(numbers + 16 * (i % 8) + 8 * (i / 8));
#pragma clang loop unroll(full)
  for (int n = 0; n < 8; n++) {
    /* Steps are read from memory again: there are not as many registers. */
    __asm__("" : "+r"(steps));
#pragma clang loop unroll(full)
    for (int part = 0; part < parts && n < count; part++) {
      sostenuto_eight *c = numbers_of_parts[part], *s = states[part], x = v[n + 8 * part];
#pragma clang loop unroll(full)
      for (int i = 0; i < 8; i++) c[i] += *(const row_of_memory *)(steps + 16 * i + 8 * part);
      sostenuto_eight y = c[2] * s[0] + c[3] * x;
      s[0] = c[0] * s[0] + c[1] * x;
      v[n + 8 * part] = c[6] * s[1] + c[7] * y;
      s[1] = c[4] * s[1] + c[5] * y;
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 8 * parts; i++) *(row_of_memory *)(numbers + 16 * (i % 8) + 8 * (i / 8)) = numbers_of_parts[i / 8][i % 8];
}

/* At most eight frames of sixteen lines: the sums that the first two outputs hear, then filters, a Hadamard matrix, what
   comes in, and the lines again. */
SOSTENUTO_VECTOR void sostenuto_mix_lines(const float *const *from, float *const *to, float *numbers, const float *steps,
                                          sostenuto_eight (*states)[2], const float *buses, float *outputs, long long frame,
                                          long long count) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  typedef int bits __attribute__((ext_vector_type(8)));
  sostenuto_eight v[16], sums[8];
#pragma clang loop unroll(full)
  for (int i = 0; i < 16; i++) v[i] = *(const row_of_memory *)(from[i] + frame);
  /* By the signs of `ReverbRows`. */
#pragma clang loop unroll(full)
  for (int i = 0; i < 8; i++) sums[i] = i & 4 ? v[i] - v[i + 8] : v[i] + v[i + 8];
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; i++) sums[i] += sums[i + 4];
  sums[0] += sums[1], sums[2] -= sums[3];
  *(row_of_memory *)(outputs + frame) = sums[0] + sums[2];
  *(row_of_memory *)(outputs + 64 + frame) = sums[0] - sums[2];
  /* Both halves at once where there are enough registers: one is calculated while the other waits. */
  enum { parts = sostenuto_has_wide_vectors ? 2 : 1 };
#pragma clang loop unroll(full)
  for (int first = 0; first < 2; first += parts) {
#pragma clang loop unroll(full)
    for (int i = first; i < first + parts; i++) sostenuto_turn_vectors(v + 8 * i);
    if (steps)
      sostenuto_shelve_moving(v + 8 * first, numbers + 8 * first, steps + 8 * first, states + first, parts, count);
    else
      sostenuto_shelve(v + 8 * first, numbers + 8 * first, states + first, parts, count);
#pragma clang loop unroll(full)
    for (int i = first; i < first + parts; i++) sostenuto_turn_vectors(v + 8 * i);
  }
  /* The matrix spreads rows 0 and 1 to all lines, with the same signs to even ones and with opposite signs to odd ones. Some
     differences are taken the other way round, a bit each: the ways through two lines come equally late in either order, and
     with a symmetrical matrix they would add up. */
  const unsigned turned = 0x0066cca5;
  int number = 0;
  v[0] += *(const row_of_memory *)(buses + frame);
  v[1] += *(const row_of_memory *)(buses + 64 + frame);
#pragma clang loop unroll(full)
  for (int step = 1; step < 16; step *= 2) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i++) {
      if (i & step) continue;
      sostenuto_eight a = v[i], b = v[i + step];
      v[i] = a + b;
      v[i + step] = turned >> number++ & 1 ? b - a : a - b;
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 16; i++) {
    row_of_memory *place = (row_of_memory *)(to[i] + frame);
    if (count < 8) v[i] = (bits){0, 1, 2, 3, 4, 5, 6, 7} < (int)count ? v[i] : *place;
    *place = v[i];
  }
}

/* A block of sixteen lines (`sostenuto_mix_lines`), whose delays are at least eight frames. Of `buses` the first row goes to
   all lines, and the second one, with a minus, to odd ones. With `steps` the filters move. `memory` has their states. */
SOSTENUTO_VECTOR void sostenuto_go_round(const float *const *from, float *const *to, float *numbers, const float *steps, float *memory,
                                         const float *buses, float *outputs, long long frames) {
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  sostenuto_eight states[2][2];
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; i++) states[i & 1][i / 2] = *(const row_of_memory *)(memory + 8 * i);
  long long frame = 0;
  for (; frame + 8 <= frames; frame += 8) sostenuto_mix_lines(from, to, numbers, steps, states, buses, outputs, frame, 8);
  if (frame < frames) sostenuto_mix_lines(from, to, numbers, steps, states, buses, outputs, frame, frames - frame);
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; i++) *(row_of_memory *)(memory + 8 * i) = states[i & 1][i / 2];
}
