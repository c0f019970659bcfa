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

/* Sixteen frames of a table, each at its own phase, with a share of the next wave: the cubic B-spline through four points (I. Schoenberg,
   1946), in sum the wave, of whose harmonics the table has as much more as the spline takes away. `places`: where the points begin, but
   for the lowest bits, which are left out. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_wave_spline(const float *table, const unsigned *places, int left_out, sostenuto_integers phases,
                                                        sostenuto_integers bits, long long stride, _Bool has_next, sostenuto_frames share) {
  typedef float eight_points __attribute__((ext_vector_type(8)));
#define SOSTENUTO_OF_FOUR(v, i) \
  __builtin_shufflevector(v, v, i, i, i, i, 4 + i, 4 + i, 4 + i, 4 + i, 8 + i, 8 + i, 8 + i, 8 + i, 12 + i, 12 + i, 12 + i, 12 + i)
#define SOSTENUTO_ROW(parts)                                                                                 \
  __builtin_shufflevector((eight_points)__builtin_shufflevector(parts[0], parts[1], 0, 1, 2, 3, 4, 5, 6, 7), \
                          (eight_points)__builtin_shufflevector(parts[2], parts[3], 0, 1, 2, 3, 4, 5, 6, 7), \
                          0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
  sostenuto_frames rows[4];
  const sostenuto_frames shares[4] = {SOSTENUTO_OF_FOUR(share, 0), SOSTENUTO_OF_FOUR(share, 1), SOSTENUTO_OF_FOUR(share, 2),
                                      SOSTENUTO_OF_FOUR(share, 3)};
#pragma clang loop unroll(full)
  for (int row = 0; row < 4; row++) {
    sostenuto_four parts[4], next[4];
#pragma clang loop unroll(full)
    for (int lane = 0; lane < 4; lane++) {
      unsigned long long place = places[4 * lane + row] >> left_out;
      /* Each from memory by itself: the compiler would else shift all of them in a vector, and take that apart. */
      __asm__("" : "+r"(place));
      parts[lane] = *(const sostenuto_points_of_memory *)(table + place);
      if (has_next) next[lane] = *(const sostenuto_points_of_memory *)(table + stride + place);
    }
    rows[row] = SOSTENUTO_ROW(parts);
    if (has_next) rows[row] = rows[row] + (SOSTENUTO_ROW(next) - rows[row]) * shares[row];
  }
  /* Four by four within each quarter of the vectors: a vector for each of the four points. */
#define SOSTENUTO_LOW(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define SOSTENUTO_HIGH(a, b) __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define SOSTENUTO_FIRST(a, b) __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define SOSTENUTO_SECOND(a, b) __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
  sostenuto_frames a = SOSTENUTO_LOW(rows[0], rows[1]), b = SOSTENUTO_LOW(rows[2], rows[3]);
  sostenuto_frames c = SOSTENUTO_HIGH(rows[0], rows[1]), d = SOSTENUTO_HIGH(rows[2], rows[3]);
  sostenuto_frames first = SOSTENUTO_FIRST(a, b), second = SOSTENUTO_SECOND(a, b), third = SOSTENUTO_FIRST(c, d);
  sostenuto_frames fourth = SOSTENUTO_SECOND(c, d), both = first + third;
  sostenuto_bits fraction = ((sostenuto_bits)phases << (sostenuto_bits)bits) >> 8;
  sostenuto_frames t = __builtin_convertvector((sostenuto_integers)fraction, sostenuto_frames) * 0x1p-24f;
  sostenuto_frames cubic = (second - third) * 0.5f + (fourth - first) * (1 / 6.0f);
  return ((cubic * t + (both * 0.5f - second)) * t + (third - first) * 0.5f) * t + (second * (2 / 3.0f) + both * (1 / 6.0f));
}

/* Sixteen frames at one place among the waves, or two neighbours, and of one level, with a blend of the level behind where there is one. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_wave_row(const float *wave, const sostenuto_wave_level *level, long long stride,
                                                     _Bool has_next, sostenuto_frames share, _Bool blends, sostenuto_frames blend,
                                                     const int *phases) {
  typedef int whole_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  const unsigned *places = (const unsigned *)phases;
  sostenuto_integers here = *(const whole_of_memory *)phases;
  int bits = level->bits;
  sostenuto_frames y = sostenuto_wave_spline(wave + level->offset, places, 32 - bits, here, bits, stride, has_next, share);
  if (blends && __builtin_reduce_or(blend > 0) != 0) {
    int fewer = level[1].bits;
    y = y + (sostenuto_wave_spline(wave + level[1].offset, places, 32 - fewer, here, fewer, stride, has_next, share) - y) * blend;
  }
  return y;
}

/* Frames in sixteens, at one place among the waves, as `sostenuto_read_one_wave` has them. */
SOSTENUTO_VECTOR void sostenuto_wave_run(const float *wave, long long stride, _Bool has_next, float share,
                                         const sostenuto_wave_level *level, const int *phases, const float *sizes, float size,
                                         float gain, long long frames, float *to) {
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  const sostenuto_wave_level known[2] = {level[0], level[1]};
  const _Bool blends = (size * 0x1p-31f - known->start) * known->slope > 0;
  for (long long frame = 0; frame < frames; frame += 16) {
    sostenuto_frames blend = size;
    if (blends) {
      if (sizes) blend = *(const row_of_memory *)(sizes + frame);
      blend = (blend * 0x1p-31f - known->start) * known->slope;
      blend = __builtin_elementwise_min(__builtin_elementwise_max(blend, (sostenuto_frames)0.0f), (sostenuto_frames)1.0f);
    }
    sostenuto_frames y = sostenuto_wave_row(wave, known, stride, has_next, share, blends, blend, phases + frame);
    *(row_of_memory *)(to + frame) = y * gain + 0.0f;
  }
}

/* The usual case of `sostenuto_read_waves`, with the same bits: one place among the waves, and one level; times a gain. `sizes`: of the
   increments of the phases in each frame, or none where they all are `size`, which is the largest. */
SOSTENUTO_VECTOR void sostenuto_read_one_wave(const float *wave, long long stride, float share, const sostenuto_wave_level *level,
                                              const int *phases, const float *sizes, float size, float gain, long long frames,
                                              float *to) {
  if (share > 0)
    sostenuto_wave_run(wave, stride, 1, share, level, phases, sizes, size, gain, frames, to);
  else
    sostenuto_wave_run(wave, stride, 0, share, level, phases, sizes, size, gain, frames, to);
}

/* Sixteen frames of a wave table at phases of their own. `waves`: number of the wave in each frame, and `shares` of the next one, which
   lies `stride` further; `numbers` of levels, and `blends` with those behind them. `places`: room for 32 integers. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_read_waves(const float *table, long long stride, const sostenuto_wave_level *levels,
                                                       const int *phases, const int *waves, const float *shares, const int *numbers,
                                                       const float *blends, unsigned *places) {
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef int whole_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  unsigned *bits = places + 16;
  sostenuto_integers here = *(const whole_of_memory *)phases;
  sostenuto_frames share = *(const row_of_memory *)shares, blend = *(const row_of_memory *)blends, y;
  sostenuto_integers differs = (*(const whole_of_memory *)waves ^ waves[0]) | (*(const whole_of_memory *)numbers ^ numbers[0]);
  if (__builtin_reduce_or(differs) == 0)
    return sostenuto_wave_row(table + waves[0] * stride, levels + numbers[0], stride, 1, share, 1, blend, phases);
  for (int fewer = 0; fewer < 2; fewer++) {
    for (int i = 0; i < 16; i++) {
      const sostenuto_wave_level level = levels[numbers[i] + (fewer && blends[i] > 0)];
      places[i] = (unsigned)(waves[i] * stride + level.offset) + ((unsigned)phases[i] >> (32 - level.bits));
      bits[i] = level.bits;
    }
    sostenuto_frames v = sostenuto_wave_spline(table, places, 0, here, *(const whole_of_memory *)bits, stride, 1, share);
    if (!fewer) {
      y = v;
      if (__builtin_reduce_or(blend > 0) == 0) break;
    } else {
      y = y + (v - y) * blend;
    }
  }
  return y;
}

/* True when all numbers are above the one limit, and at most the other: Swift's own comparison of all lanes goes one by one. */
SOSTENUTO_VECTOR _Bool sostenuto_are_within(sostenuto_frames v, float above, float most) {
  return __builtin_reduce_and((v > (sostenuto_frames)above) & (v <= (sostenuto_frames)most)) != 0;
}
