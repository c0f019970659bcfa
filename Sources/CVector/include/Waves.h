#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* Tables of one cycle of a wave with fewer and fewer harmonics. */

/* Four floats of memory, at any place. */
typedef float sostenuto_points_of_memory __attribute__((ext_vector_type(4), aligned(4)));

/* Place of a table among those of its wave, the logarithm of its frames to base 2, and where it begins to give way to the next one,
   in halves of the rate, with one over how far that goes. */
typedef struct {
  int offset, bits;
  float start, slope;
} sostenuto_wave_level;

/* Four points of a table around a phase, times the weights of the cubic B-spline (I. Schoenberg, 1946): in sum the wave, of whose
   harmonics the table has as much more as the spline takes away. */
SOSTENUTO_VECTOR sostenuto_four sostenuto_wave_products(const float *wave, sostenuto_wave_level level, long long stride, float share,
                                                        unsigned phase) {
  const sostenuto_four a = {-1 / 6.0f, 0.5f, -0.5f, 1 / 6.0f}, b = {0.5f, -1, 0.5f, 0};
  const sostenuto_four c = {-0.5f, 0, 0.5f, 0}, d = {1 / 6.0f, 2 / 3.0f, 1 / 6.0f, 0};
  const float *at = wave + level.offset + (phase >> (32 - level.bits));
  float t = (float)(int)((phase << level.bits) >> 8) * 0x1p-24f;
  sostenuto_four first = *(const sostenuto_points_of_memory *)at, next = *(const sostenuto_points_of_memory *)(at + stride);
  return (first + (next - first) * share) * (((a * t + b) * t + c) * t + d);
}

/* The points of a table around sixteen phases, a vector for each of the four. */
SOSTENUTO_VECTOR void sostenuto_wave_points(const float *table, int bits, const int *phases, sostenuto_frames *points) {
  typedef float eight_points __attribute__((ext_vector_type(8)));
  sostenuto_frames rows[4];
  for (int row = 0; row < 4; row++) {
    sostenuto_four parts[4];
    for (int lane = 0; lane < 4; lane++)
      parts[lane] = *(const sostenuto_points_of_memory *)(table + ((unsigned)phases[4 * lane + row] >> (32 - bits)));
    eight_points low = __builtin_shufflevector(parts[0], parts[1], 0, 1, 2, 3, 4, 5, 6, 7);
    eight_points high = __builtin_shufflevector(parts[2], parts[3], 0, 1, 2, 3, 4, 5, 6, 7);
    rows[row] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  }
  /* Four by four within each quarter of the vectors. */
#define SOSTENUTO_LOW(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define SOSTENUTO_HIGH(a, b) __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define SOSTENUTO_FIRST(a, b) __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define SOSTENUTO_SECOND(a, b) __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
  sostenuto_frames a = SOSTENUTO_LOW(rows[0], rows[1]), b = SOSTENUTO_LOW(rows[2], rows[3]);
  sostenuto_frames c = SOSTENUTO_HIGH(rows[0], rows[1]), d = SOSTENUTO_HIGH(rows[2], rows[3]);
  points[0] = SOSTENUTO_FIRST(a, b);
  points[1] = SOSTENUTO_SECOND(a, b);
  points[2] = SOSTENUTO_FIRST(c, d);
  points[3] = SOSTENUTO_SECOND(c, d);
}

/* The four products of `sostenuto_wave_products` for sixteen frames with the same wave and level. */
SOSTENUTO_VECTOR void sostenuto_wave_rows(const float *wave, sostenuto_wave_level level, long long stride, const float *shares,
                                          _Bool has_next, const int *phases, sostenuto_frames *products) {
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef int whole_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef unsigned digits __attribute__((ext_vector_type(16)));
  digits fraction = ((digits)*(const whole_of_memory *)phases << (unsigned)level.bits) >> 8;
  sostenuto_frames t = __builtin_convertvector((sostenuto_integers)fraction, sostenuto_frames) * 0x1p-24f;
  sostenuto_frames share = *(const row_of_memory *)shares;
  sostenuto_wave_points(wave + level.offset, level.bits, phases, products);
  if (has_next) {
    sostenuto_frames next[4];
    sostenuto_wave_points(wave + stride + level.offset, level.bits, phases, next);
    for (int i = 0; i < 4; i++) products[i] = products[i] + (next[i] - products[i]) * share;
  }
  const float a[] = {-1 / 6.0f, 0.5f, -0.5f, 1 / 6.0f}, b[] = {0.5f, -1, 0.5f, 0};
  const float c[] = {-0.5f, 0, 0.5f, 0}, d[] = {1 / 6.0f, 2 / 3.0f, 1 / 6.0f, 0};
  for (int i = 0; i < 4; i++) products[i] = products[i] * (((a[i] * t + b[i]) * t + c[i]) * t + d[i]);
}

/* Sixteen frames of a wave table at phases of their own. `waves`: number of the wave in each frame, and `shares` of the next one, which
   lies `stride` further; `numbers` of levels, and `blends` with those behind them. `products`: room for 64 floats. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_read_waves(const float *table, long long stride, const sostenuto_wave_level *levels,
                                                       const int *phases, const int *waves, const float *shares, const int *numbers,
                                                       const float *blends, float *products) {
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef int whole_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  sostenuto_integers differs = (*(const whole_of_memory *)waves ^ waves[0]) | (*(const whole_of_memory *)numbers ^ numbers[0]);
  if (__builtin_reduce_or(differs) == 0) {
    /* The usual case, with the same bits. */
    const float *wave = table + waves[0] * stride;
    const sostenuto_wave_level *level = levels + numbers[0];
    sostenuto_frames blend = *(const row_of_memory *)blends, p[4];
    _Bool has_next = __builtin_reduce_or(*(const row_of_memory *)shares > 0) != 0;
    sostenuto_wave_rows(wave, *level, stride, shares, has_next, phases, p);
    if (__builtin_reduce_or(blend > 0) != 0) {
      sostenuto_frames fewer[4];
      sostenuto_wave_rows(wave, level[1], stride, shares, has_next, phases, fewer);
      for (int i = 0; i < 4; i++) p[i] = p[i] + (fewer[i] - p[i]) * blend;
    }
    return (p[0] + p[1]) + (p[2] + p[3]);
  }
  for (int i = 0; i < 16; i++) {
    const float *wave = table + waves[i] * stride;
    const sostenuto_wave_level *level = levels + numbers[i];
    sostenuto_four four = sostenuto_wave_products(wave, *level, stride, shares[i], (unsigned)phases[i]);
    if (blends[i] > 0) {
      sostenuto_four fewer = sostenuto_wave_products(wave, level[1], stride, shares[i], (unsigned)phases[i]);
      four = four + (fewer - four) * blends[i];
    }
    *(sostenuto_points_of_memory *)(products + 4 * i) = four;
  }
  sostenuto_frames a = *(const row_of_memory *)products, b = *(const row_of_memory *)(products + 16);
  sostenuto_frames c = *(const row_of_memory *)(products + 32), d = *(const row_of_memory *)(products + 48);
  sostenuto_frames low = sostenuto_evens(a, b) + sostenuto_odds(a, b);
  sostenuto_frames high = sostenuto_evens(c, d) + sostenuto_odds(c, d);
  return sostenuto_evens(low, high) + sostenuto_odds(low, high);
}

/* True when all numbers are above the one limit, and at most the other: Swift's own comparison of all lanes goes one by one. */
SOSTENUTO_VECTOR _Bool sostenuto_are_within(sostenuto_frames v, float above, float most) {
  return __builtin_reduce_and((v > (sostenuto_frames)above) & (v <= (sostenuto_frames)most)) != 0;
}
