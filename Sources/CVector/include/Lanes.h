#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* Recursions that go from frame to frame, of eight channels whose frames follow each other. States lie in memory, eight
   channels of each together. */

typedef float sostenuto_row_of_memory __attribute__((ext_vector_type(8), aligned(4)));

/* States that are no numbers, or that nothing brings back, become zero. */
SOSTENUTO_VECTOR void sostenuto_mend(float *states, long long rows) {
  for (long long i = 0; i < rows; i++) {
    sostenuto_eight s = *(sostenuto_row_of_memory *)(states + 8 * i);
    *(sostenuto_row_of_memory *)(states + 8 * i) = __builtin_elementwise_abs(s) <= 1e15f ? s : (sostenuto_eight)0.0f;
  }
}

/* Half-band filters of two rows of all-passes of the first order, at the lower rate (R. Valenzuela and A. Constantinides,
   "Digital signal processing schemes for efficient interpolation and decimation", 1983). `bands` are the coefficients of six
   all-passes, those of the two rows in turn. One all-pass is y = c x + s, s' = x - c y. */
SOSTENUTO_VECTOR sostenuto_eight sostenuto_pass_half(sostenuto_eight x, const float *bands, float *states, int row) {
#pragma clang loop unroll(full)
  for (int i = row; i < 6; i += 2) {
    sostenuto_row_of_memory *s = (sostenuto_row_of_memory *)(states + 8 * i);
    sostenuto_eight y = bands[i] * x + *s;
    *s = x - bands[i] * y;
    x = y;
  }
  return x;
}

/* A frame of the lower rate from two of the higher one. */
SOSTENUTO_VECTOR sostenuto_eight sostenuto_halve(sostenuto_eight first, sostenuto_eight second, const float *bands, float *states) {
  return 0.5f * (sostenuto_pass_half(second, bands, states, 0) + sostenuto_pass_half(first, bands, states, 1));
}

/* tanh by Lambert's continued fraction to seven terms, within 0.0001, limited to -1...1. */
SOSTENUTO_VECTOR sostenuto_eight sostenuto_bend(sostenuto_eight x) {
  x = __builtin_elementwise_min(__builtin_elementwise_max(x, (sostenuto_eight)-5.0f), (sostenuto_eight)5.0f);
  sostenuto_eight s = x * x;
  sostenuto_eight above = ((s + 378.0f) * s + 17325.0f) * s + 135135.0f;
  sostenuto_eight below = ((28.0f * s + 3150.0f) * s + 62370.0f) * s + 135135.0f;
  sostenuto_eight y = x * above / below;
  return __builtin_elementwise_min(__builtin_elementwise_max(y, (sostenuto_eight)-1.0f), (sostenuto_eight)1.0f);
}

/* tanh v of the v for which v + c tanh v = r, where c is not negative: the loop around a saturation, without delay. Both
   r / (1 + c) and r - c are nearer to zero than v; from the farther one a step of Newton's method remains, of which tanh
   follows by two terms of its Taylor series. */
SOSTENUTO_VECTOR sostenuto_eight sostenuto_bend_within(sostenuto_eight r, sostenuto_eight c) {
  sostenuto_eight size = __builtin_elementwise_abs(r);
  sostenuto_eight v = __builtin_elementwise_max(size / (1.0f + c), size - c);
  sostenuto_eight t = sostenuto_bend(v), slope = 1.0f - t * t;
  sostenuto_eight d = (size - v - c * t) / (1.0f + c * slope);
  sostenuto_eight y = __builtin_elementwise_min(t + d * slope * (1.0f - t * d), (sostenuto_eight)1.0f);
  return __builtin_elementwise_copysign(y, r);
}

/* One frame of a ladder: four one-poles by the trapezoidal rule, whose last one is fed back into the saturation before the
   first (V. Zavalishin, "The Art of VA Filter Design", 2018, 5.1 and 6). `a`: how much of the way a one-pole goes,
   g / (1 + g). A sum of the saturated sound and of the four is returned, by their weights. */
SOSTENUTO_VECTOR sostenuto_eight sostenuto_step_ladder(sostenuto_eight x, sostenuto_eight a, float k, const float *weights,
                                                       sostenuto_eight *s) {
  sostenuto_eight b = 1.0f - a, squared = a * a;
  sostenuto_eight kept = b * (((s[0] * a + s[1]) * a + s[2]) * a + s[3]);
  sostenuto_eight y = sostenuto_bend_within(x - k * kept, k * (squared * squared));
  sostenuto_eight sum = weights[0] * y;
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; i++) {
    y = a * y + b * s[i];
    s[i] = 2.0f * y - s[i];
    sum += weights[i + 1] * y;
  }
  return sum;
}

/* Ladders at twice the rate; in place. `shares` are the one-poles' `a` of each channel, `step` floats further in each frame;
   `feedback` and `weights` those of each frame, the weights `weight_step` floats further. Sixteen states: four of the ladder,
   six for each half-band filter. */
SOSTENUTO_VECTOR void sostenuto_ladder_eight(float *frames, const float *shares, long long step, const float *feedback,
                                             const float *weights, long long weight_step, const float *bands, float *states,
                                             long long count) {
  sostenuto_eight s[4];
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; i++) s[i] = *(sostenuto_row_of_memory *)(states + 8 * i);
  float *up = states + 32, *down = states + 80;
  for (long long f = 0; f < count; f++) {
    sostenuto_eight x = *(sostenuto_row_of_memory *)(frames + 8 * f), a = *(const sostenuto_row_of_memory *)(shares + step * f);
    const float *w = weights + weight_step * f;
    sostenuto_eight first = sostenuto_step_ladder(sostenuto_pass_half(x, bands, up, 0), a, feedback[f], w, s);
    sostenuto_eight second = sostenuto_step_ladder(sostenuto_pass_half(x, bands, up, 1), a, feedback[f], w, s);
    *(sostenuto_row_of_memory *)(frames + 8 * f) = sostenuto_halve(first, second, bands, down);
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; i++) *(sostenuto_row_of_memory *)(states + 8 * i) = s[i];
}

/* State-variable filters by the trapezoidal rule (Zavalishin, 4.4): the frames become the low-pass, `band` the band-pass
   with gain 1 at its centre. `g` and `k` of each channel, `step` floats further in each frame. Two states. */
SOSTENUTO_VECTOR void sostenuto_vary_eight(float *frames, float *band, const float *gs, const float *ks, long long step,
                                           float *states, long long count) {
  sostenuto_eight s1 = *(sostenuto_row_of_memory *)states, s2 = *(sostenuto_row_of_memory *)(states + 8);
  for (long long f = 0; f < count; f++) {
    sostenuto_eight g = *(const sostenuto_row_of_memory *)(gs + step * f), k = *(const sostenuto_row_of_memory *)(ks + step * f);
    sostenuto_eight a = 1.0f / (1.0f + g * (g + k)), b = g * a;
    sostenuto_eight v1 = a * s1 + b * (*(sostenuto_row_of_memory *)(frames + 8 * f) - s2), v2 = g * v1 + s2;
    s1 = 2.0f * v1 - s1;
    s2 = 2.0f * v2 - s2;
    *(sostenuto_row_of_memory *)(frames + 8 * f) = v2;
    *(sostenuto_row_of_memory *)(band + 8 * f) = k * v1;
  }
  *(sostenuto_row_of_memory *)states = s1;
  *(sostenuto_row_of_memory *)(states + 8) = s2;
}

/* The same at twice the rate, with a saturation before the filter, and a damping that grows with the band-pass v: by v^6, as
   far as 4. It is taken from the v that there would be without it, so that a frame's equation stays linear. The trapezoidal
   rule keeps s1^2 + s2^2, but for what comes in and what damping takes: with any damping that is not negative the states
   stay bounded and decay, however g and k move. `high` is the high-pass. 26 states: two of the filter, six for the half-band
   filter of the input and of each output. */
SOSTENUTO_VECTOR void sostenuto_drive_eight(float *frames, float *band, float *high, const float *gs, const float *ks,
                                            long long step, const float *bands, float *states, long long count) {
  sostenuto_eight s1 = *(sostenuto_row_of_memory *)states, s2 = *(sostenuto_row_of_memory *)(states + 8);
  for (long long f = 0; f < count; f++) {
    sostenuto_eight g = *(const sostenuto_row_of_memory *)(gs + step * f), k = *(const sostenuto_row_of_memory *)(ks + step * f);
    sostenuto_eight x = *(sostenuto_row_of_memory *)(frames + 8 * f), l[2], b[2], h[2];
    sostenuto_eight all = 1.0f + g * (g + k), part = g / all;
#pragma clang loop unroll(full)
    for (int i = 0; i < 2; i++) {
      sostenuto_eight r = sostenuto_bend(sostenuto_pass_half(x, bands, states + 16, i)) - (k + g) * s1 - s2;
      sostenuto_eight v = part * r + s1, squared = v * v, more = squared * squared * squared, under = 0.25f * more + 1.0f;
      h[i] = (under * r - more * s1) / (under * all + g * more);
      sostenuto_eight v1 = g * h[i] + s1, v2 = g * v1 + s2;
      s1 = 2.0f * v1 - s1;
      s2 = 2.0f * v2 - s2;
      l[i] = v2;
      b[i] = k * v1;
    }
    *(sostenuto_row_of_memory *)(frames + 8 * f) = sostenuto_halve(l[0], l[1], bands, states + 64);
    *(sostenuto_row_of_memory *)(band + 8 * f) = sostenuto_halve(b[0], b[1], bands, states + 112);
    *(sostenuto_row_of_memory *)(high + 8 * f) = sostenuto_halve(h[0], h[1], bands, states + 160);
  }
  *(sostenuto_row_of_memory *)states = s1;
  *(sostenuto_row_of_memory *)(states + 8) = s2;
}

/* One frame of a filter of Butterworth's with two poles: what goes by its states in a frame. Each state waits for the other
   through three instructions. */
typedef struct {
  sostenuto_eight low, pass;
} sostenuto_split;

SOSTENUTO_VECTOR sostenuto_split sostenuto_split_once(sostenuto_eight x, float g, float a, sostenuto_eight *s) {
  const float k = 1.41421356f;
  sostenuto_eight v1 = (g * a) * (x - s[1]) + a * s[0], v2 = g * v1 + s[1];
  s[0] = 2.0f * v1 - s[0];
  s[1] = (2.0f * g) * v1 + s[1];
  return (sostenuto_split){v2, x - (2.0f * k) * v1};
}

/* Splits a frame into what is below a frequency and what is above, by filters of the fourth order (S. Linkwitz, "Active
   crossover networks for noncoincident drivers", 1976): the square of the low-pass, and what it lacks of an all-pass, which is
   the square of the high-pass. Four states. */
SOSTENUTO_VECTOR sostenuto_eight sostenuto_split_twice(sostenuto_eight x, float g, float a, sostenuto_eight *s,
                                                       sostenuto_eight *low) {
  sostenuto_split first = sostenuto_split_once(x, g, a, s);
  *low = sostenuto_split_once(first.low, g, a, s + 2).low;
  return first.pass - *low;
}

/* Two to four bands of the frames of eight channels, or of one whose frames follow each other; each band 64 frames behind the one
   before. `alone` and `bands` are constants where this is compiled into, so that the states of all frames stay in registers. */
SOSTENUTO_VECTOR void sostenuto_cross(float *frames, const float *numbers, long long step, float *states, const int bands,
                                      const _Bool alone, long long count) {
#define SOSTENUTO_CROSS(n, at) numbers[128 * n + step * f], numbers[128 * n + 64 + step * f], s + 2 * at
#define SOSTENUTO_PUT(band, y)                     \
  if (alone) {                                     \
    frames[64 * band + f] = y[0];                  \
  } else {                                         \
    *(sostenuto_row_of_memory *)(to + 512 * band) = y; \
  }
  const int size = bands == 2 ? 4 : bands == 3 ? 10 : 16;
  sostenuto_eight s[16];
#pragma clang loop unroll(full)
  for (int i = 0; i < size; i++) s[i] = *(sostenuto_row_of_memory *)(states + 8 * i);
  for (long long f = 0; f < count; f++) {
    float *to = frames + 8 * f;
    sostenuto_eight x = alone ? (sostenuto_eight)frames[f] : *(sostenuto_row_of_memory *)to, one, two, three, four;
    if (bands == 2) {
      two = sostenuto_split_twice(x, SOSTENUTO_CROSS(0, 0), &one);
    } else if (bands == 3) {
      sostenuto_eight above = sostenuto_split_twice(x, SOSTENUTO_CROSS(0, 0), &one);
      one = sostenuto_split_once(one, SOSTENUTO_CROSS(1, 2)).pass;
      three = sostenuto_split_twice(above, SOSTENUTO_CROSS(1, 3), &two);
      SOSTENUTO_PUT(2, three)
    } else {
      sostenuto_eight below, above = sostenuto_split_twice(x, SOSTENUTO_CROSS(1, 0), &below);
      below = sostenuto_split_once(below, SOSTENUTO_CROSS(2, 2)).pass;
      above = sostenuto_split_once(above, SOSTENUTO_CROSS(0, 3)).pass;
      two = sostenuto_split_twice(below, SOSTENUTO_CROSS(0, 4), &one);
      four = sostenuto_split_twice(above, SOSTENUTO_CROSS(2, 6), &three);
      SOSTENUTO_PUT(2, three)
      SOSTENUTO_PUT(3, four)
    }
    SOSTENUTO_PUT(0, one)
    SOSTENUTO_PUT(1, two)
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < size; i++) *(sostenuto_row_of_memory *)(states + 8 * i) = s[i];
#undef SOSTENUTO_PUT
#undef SOSTENUTO_CROSS
}

/* The same for any of these numbers of bands. */
SOSTENUTO_VECTOR void sostenuto_cross_bands(float *frames, const float *numbers, long long step, float *states, long long bands,
                                            const _Bool alone, long long count) {
  if (bands == 2) {
    sostenuto_cross(frames, numbers, step, states, 2, alone, count);
  } else if (bands == 3) {
    sostenuto_cross(frames, numbers, step, states, 3, alone, count);
  } else {
    sostenuto_cross(frames, numbers, step, states, 4, alone, count);
  }
}

/* Two to four bands of the frames, each 512 floats behind the one before; the first takes the frames' place. `numbers` has
   64 frames each of g and 1 / (1 + g (g + sqrt 2)) for the first frequency, for the second and the third, in each frame
   `step` floats further. The part below a frequency is turned by the all-passes of those above, and the other way round, so
   that the sum of all is an all-pass. Sixteen states. */
SOSTENUTO_VECTOR void sostenuto_cross_eight(float *frames, const float *numbers, long long step, float *states, long long bands,
                                            long long count) {
  sostenuto_cross_bands(frames, numbers, step, states, bands, 0, count);
}

/* The same of one channel whose frames follow each other, to the bit: bands are 64 floats apart. The states of the other
   seven may be anything. */
SOSTENUTO_VECTOR void sostenuto_cross_one(float *frames, const float *numbers, long long step, float *states, long long bands,
                                          long long count) {
  sostenuto_cross_bands(frames, numbers, step, states, bands, 1, count);
}

/* Two rows of eight all-passes each, whose outputs are a quarter of a cycle apart (after the half-band filter, turned by a
   quarter): the frames become the first, `other` the second. `numbers` are the coefficients of each row's all-passes in turn,
   for eight channels each. The states are those of even and of odd frames, sixteen each, and the first row's frame before
   for the delay of the second one; `odd`: the first frame is an odd one. An all-pass is y = c x + s, s' = c y - x, two
   frames later. */
SOSTENUTO_VECTOR void sostenuto_quadrature_eight(float *frames, float *other, const float *numbers, float *states, long long odd,
                                                 long long count) {
  typedef float both_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  sostenuto_eight before = *(sostenuto_row_of_memory *)(states + 256);
  for (long long f = 0; f < count; f++) {
    sostenuto_eight x = *(sostenuto_row_of_memory *)(frames + 8 * f);
    sostenuto_frames v = __builtin_shufflevector(x, before, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    both_of_memory *s = (both_of_memory *)(states + 128 * ((odd + f) & 1));
    const both_of_memory *c = (const both_of_memory *)numbers;
    before = x;
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; i++) {
      sostenuto_frames y = c[i] * v + s[i];
      s[i] = c[i] * y - v;
      v = y;
    }
    *(sostenuto_row_of_memory *)(frames + 8 * f) = v.lo;
    *(sostenuto_row_of_memory *)(other + 8 * f) = v.hi;
  }
  *(sostenuto_row_of_memory *)(states + 256) = before;
}

/* The same of one channel whose frames follow each other, with the coefficients and the states of the first of eight. An
   all-pass of two frames leaves even frames and odd ones alone: two frames go side by side, with their states in registers. */
SOSTENUTO_VECTOR void sostenuto_quadrature_one(const float *from, float *to, float *other, const float *numbers, float *states,
                                               long long odd, long long count) {
  typedef float four __attribute__((ext_vector_type(4)));
  four c[8], s[8];
#pragma clang loop unroll(full)
  for (int i = 0; i < 8; i++) {
    float *even = states + 16 * i, first = numbers[16 * i], second = numbers[16 * i + 8];
    c[i] = (four){first, second, first, second};
    s[i] = (four){even[0], even[8], even[128], even[136]};
  }
  float before = states[256];
  long long f = 0;
  if (odd && count > 0) {
    four v = {from[0], before, from[0], before};
    before = from[0];
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; i++) {
      four y = c[i] * v + s[i], next = c[i] * y - v;
      s[i] = __builtin_shufflevector(s[i], next, 0, 1, 6, 7);
      v = y;
    }
    to[0] = v[2];
    other[0] = v[3];
    f = 1;
  }
  for (; f + 1 < count; f += 2) {
    four v = {from[f], before, from[f + 1], from[f]};
    before = from[f + 1];
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; i++) {
      four y = c[i] * v + s[i];
      s[i] = c[i] * y - v;
      v = y;
    }
    to[f] = v[0];
    other[f] = v[1];
    to[f + 1] = v[2];
    other[f + 1] = v[3];
  }
  if (f < count) {
    four v = {from[f], before, from[f], before};
    before = from[f];
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; i++) {
      four y = c[i] * v + s[i], next = c[i] * y - v;
      s[i] = __builtin_shufflevector(next, s[i], 0, 1, 6, 7);
      v = y;
    }
    to[f] = v[0];
    other[f] = v[1];
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 8; i++) {
    float *even = states + 16 * i;
    even[0] = s[i][0];
    even[8] = s[i][1];
    even[128] = s[i][2];
    even[136] = s[i][3];
  }
  states[256] = before;
}
