#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* A playing position at speeds of each frame's own: the place behind, the least and the largest place (32.32 fixed point), and the
   least and the largest pace, which is the magnitude of a step in frames. */
typedef struct {
  long long end, least, most;
  float slowest, fastest;
} sostenuto_played_places;

/* Places from `place` on, and their paces: whole sixteens. A step is a speed times `base`, within 4096. */
SOSTENUTO_VECTOR sostenuto_played_places sostenuto_play_places(const float *speeds, double base, long long place, long long frames,
                                                               long long *places, float *paces) {
  typedef double doubles __attribute__((ext_vector_type(8)));
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef long long places_of_memory __attribute__((ext_vector_type(8), aligned(8)));
  const doubles high = 4096.0 * 4294967296.0, low = -high;
  const double scale = base * 4294967296.0;
  sostenuto_places next = place;
  /* Two loops, each with registers enough. Comparisons are one instruction each, also for what is no number: it becomes the upper limit. */
  for (long long frame = 0; frame < frames; frame += 16) {
    sostenuto_frames v = *(const row_of_memory *)(speeds + frame);
    doubles even = __builtin_convertvector(v.even, doubles) * scale, odd = __builtin_convertvector(v.odd, doubles) * scale;
    even = even < high ? even : high;
    odd = odd < high ? odd : high;
    even = even > low ? even : low;
    odd = odd > low ? odd : low;
    next = sostenuto_write_sixteen_places(sostenuto_whole_places(even), sostenuto_whole_places(odd), next, places + frame);
  }
  sostenuto_frames slowest = 4096, fastest = 0, backwards = 0;
  for (long long frame = 0; frame < frames; frame += 16) {
    sostenuto_frames v = *(const row_of_memory *)(speeds + frame);
    sostenuto_frames pace = __builtin_elementwise_min(__builtin_elementwise_abs(v) * (float)base, (sostenuto_frames)4096.0f);
    *(row_of_memory *)(paces + frame) = pace;
    slowest = pace < slowest ? pace : slowest;
    fastest = pace > fastest ? pace : fastest;
    backwards = v < backwards ? v : backwards;
  }
  sostenuto_played_places played = {next[0], place, place, 0, 0};
  // Magnitudes have the order of their bits.
  played.slowest = __builtin_bit_cast(float, __builtin_reduce_min((sostenuto_integers)slowest));
  played.fastest = __builtin_bit_cast(float, __builtin_reduce_max((sostenuto_integers)fastest));
  if (frames > 0) played.most = places[frames - 1];
  if (__builtin_reduce_or(backwards < 0) != 0) {
    sostenuto_places least = place, largest = place;
    for (long long frame = 0; frame < frames; frame += 8) {
      sostenuto_places here = *(const places_of_memory *)(places + frame);
      least = __builtin_elementwise_min(least, here);
      largest = __builtin_elementwise_max(largest, here);
    }
    played.least = __builtin_reduce_min(least);
    played.most = __builtin_reduce_max(largest);
  }
  return played;
}

/* Interpolation by 32 points (`SincTable`): sixteen frames at once, whose sums stay in registers. */

/* Weights of the first sixteen points and of the last, for a place within a frame. */
typedef struct {
  sostenuto_frames first, last;
} sostenuto_point_weights;

SOSTENUTO_VECTOR sostenuto_point_weights sostenuto_weights_of_points(const float *rows, unsigned fraction) {
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  const row_of_memory *row = (const row_of_memory *)(rows + 96 * (fraction >> 27));
  sostenuto_frames t = __builtin_bit_cast(float, (fraction << 5) >> 9 | 0x3f800000) - 1;
  return (sostenuto_point_weights){sostenuto_add_product(row[0], sostenuto_add_product(row[2], row[4], t), t),
                                   sostenuto_add_product(row[1], sostenuto_add_product(row[3], row[5], t), t)};
}

/* Products with the frames around a place, two to a lane; integers are unscaled. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_weigh_points(_Bool is_short, const void *plane, long long place, sostenuto_point_weights w) {
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  if (is_short) {
    const short *words = (const short *)plane + place;
    return sostenuto_add_product(sostenuto_load_words(words) * w.first, sostenuto_load_words(words + 16), w.last);
  }
  const row_of_memory *floats = (const row_of_memory *)((const float *)plane + place);
  return sostenuto_add_product(floats[0] * w.first, floats[1], w.last);
}

/* Two vectors of rows become one: halves of rows are added up, or neighbours within quarters of the vector. */
#define SOSTENUTO_ADD_HALVES(a, b)                                                                      \
  (__builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +          \
   __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31))
#define SOSTENUTO_ADD_PAIRS(a, b)                                                                       \
  (__builtin_shufflevector(a, b, 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30) +         \
   __builtin_shufflevector(a, b, 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31))

/* Sixteen frames of one or two planes at places of their own (32.32 fixed point), times `scale`: to the same bits as rows of partial
   sums that `sostenuto_sum_rows` adds up. */
SOSTENUTO_VECTOR void sostenuto_weigh_sixteen(const float *rows, _Bool is_short, _Bool is_stereo, const void *left, const void *right,
                                              const long long *places, float scale, float *to, float *other) {
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  sostenuto_frames sums[2][4];
#pragma clang loop unroll(full)
  for (int four = 0; four < 4; four++) {
    sostenuto_frames two[2][2];
#pragma clang loop unroll(full)
    for (int pair = 0; pair < 2; pair++) {
      const long long *at = places + 4 * four + 2 * pair;
      const long long a = at[0], b = at[1];
      sostenuto_point_weights v = sostenuto_weights_of_points(rows, (unsigned)a), w = sostenuto_weights_of_points(rows, (unsigned)b);
      two[0][pair] = sostenuto_fold(sostenuto_weigh_points(is_short, left, a >> 32, v), sostenuto_weigh_points(is_short, left, b >> 32, w));
      if (is_stereo)
        two[1][pair] =
            sostenuto_fold(sostenuto_weigh_points(is_short, right, a >> 32, v), sostenuto_weigh_points(is_short, right, b >> 32, w));
    }
    for (int side = 0; side < 1 + is_stereo; side++) sums[side][four] = SOSTENUTO_ADD_HALVES(two[side][0], two[side][1]);
  }
#pragma clang loop unroll(full)
  for (int side = 0; side < 1 + is_stereo; side++) {
    sostenuto_frames low = SOSTENUTO_ADD_PAIRS(sums[side][0], sums[side][1]), high = SOSTENUTO_ADD_PAIRS(sums[side][2], sums[side][3]);
    sostenuto_frames all = SOSTENUTO_ADD_PAIRS(low, high);
    *(row_of_memory *)(side ? other : to) = __builtin_shufflevector(all, all, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15) * scale;
  }
}
