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

/* Sixteen frames of a wave table at phases of their own. `waves`: number of the wave in each frame, and `shares` of the next one, which
   lies `stride` further; `numbers` of levels, and `blends` with those behind them. `products`: room for 64 floats. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_read_waves(const float *table, long long stride, const sostenuto_wave_level *levels,
                                                       const int *phases, const int *waves, const float *shares, const int *numbers,
                                                       const float *blends, float *products) {
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
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  sostenuto_frames a = *(const row_of_memory *)products, b = *(const row_of_memory *)(products + 16);
  sostenuto_frames c = *(const row_of_memory *)(products + 32), d = *(const row_of_memory *)(products + 48);
  sostenuto_frames low = sostenuto_evens(a, b) + sostenuto_odds(a, b);
  sostenuto_frames high = sostenuto_evens(c, d) + sostenuto_odds(c, d);
  return sostenuto_evens(low, high) + sostenuto_odds(low, high);
}
