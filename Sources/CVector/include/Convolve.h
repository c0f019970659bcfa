#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* Convolution of real sound by blocks. A block of n frames and the one before it are a complex number for each of n places:
   the older frame and the newer one. Their product with an impulse's numbers is taken modulo X^n - i, of which one half of a
   real convolution modulo X^(2n) + 1 consists (H. Nussbaumer, "Fast Fourier Transform and Convolution Algorithms", 1982,
   chapter 3): turned by powers of a 4n-th root of one, it is a plain Fourier transform of n numbers. The imaginary part of the
   result is the newer half, in which nothing of the other end has come round.

   Real and imaginary parts lie apart. The transform goes from whole to halves (decimation in frequency) and its inverse the
   other way, so that the order of the numbers between is of no account, and is that in which vectors leave it. */

typedef float sostenuto_part_of_memory __attribute__((ext_vector_type(16), aligned(4)));

/* One step of the transform, between places that are `half` apart, at least sixteen. */
SOSTENUTO_VECTOR void sostenuto_halves_apart(float *re, float *im, const float *turns, long long half, long long n) {
  for (long long start = 0; start < n; start += 2 * half) {
    for (long long i = 0; i < half; i += 16) {
      float *r = re + start + i, *m = im + start + i;
      sostenuto_frames a = *(sostenuto_part_of_memory *)r, b = *(sostenuto_part_of_memory *)(r + half);
      sostenuto_frames c = *(sostenuto_part_of_memory *)m, d = *(sostenuto_part_of_memory *)(m + half);
      sostenuto_frames w = *(const sostenuto_part_of_memory *)(turns + i), v = *(const sostenuto_part_of_memory *)(turns + half + i);
      sostenuto_frames x = a - b, y = c - d;
      *(sostenuto_part_of_memory *)r = a + b;
      *(sostenuto_part_of_memory *)m = c + d;
      *(sostenuto_part_of_memory *)(r + half) = x * w - y * v;
      *(sostenuto_part_of_memory *)(m + half) = x * v + y * w;
    }
  }
}

/* The way back, twice as large. */
SOSTENUTO_VECTOR void sostenuto_halves_joined(float *re, float *im, const float *turns, long long half, long long n) {
  for (long long start = 0; start < n; start += 2 * half) {
    for (long long i = 0; i < half; i += 16) {
      float *r = re + start + i, *m = im + start + i;
      sostenuto_frames a = *(sostenuto_part_of_memory *)r, b = *(sostenuto_part_of_memory *)(r + half);
      sostenuto_frames c = *(sostenuto_part_of_memory *)m, d = *(sostenuto_part_of_memory *)(m + half);
      sostenuto_frames w = *(const sostenuto_part_of_memory *)(turns + i), v = *(const sostenuto_part_of_memory *)(turns + half + i);
      sostenuto_frames x = b * w + d * v, y = d * w - b * v;
      *(sostenuto_part_of_memory *)r = a + x;
      *(sostenuto_part_of_memory *)m = c + y;
      *(sostenuto_part_of_memory *)(r + half) = a - x;
      *(sostenuto_part_of_memory *)(m + half) = c - y;
    }
  }
}

/* Places that are 8, 4, 2 or 1 apart are brought into vectors of their own: those of the first half of each pair from two
   vectors, and those of the second. */
#define SOSTENUTO_FIRSTS_8(u, v) __builtin_shufflevector(u, v, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)
#define SOSTENUTO_LASTS_8(u, v) __builtin_shufflevector(u, v, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31)
#define SOSTENUTO_FIRSTS_4(u, v) __builtin_shufflevector(u, v, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27)
#define SOSTENUTO_LASTS_4(u, v) __builtin_shufflevector(u, v, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31)
#define SOSTENUTO_FIRSTS_2(u, v) __builtin_shufflevector(u, v, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define SOSTENUTO_LASTS_2(u, v) __builtin_shufflevector(u, v, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
#define SOSTENUTO_FIRSTS_1(u, v) __builtin_shufflevector(u, v, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30)
#define SOSTENUTO_LASTS_1(u, v) __builtin_shufflevector(u, v, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31)

/* The last four steps, in two vectors at a time. `turns`: real and imaginary parts of each step's, sixteen each. Firsts and
   lasts of the same distance, taken twice, are what they were: each shuffle is its own way back. */
SOSTENUTO_VECTOR void sostenuto_lanes_apart(float *re, float *im, const float *turns, long long n) {
  const sostenuto_part_of_memory *t = (const sostenuto_part_of_memory *)turns;
#define SOSTENUTO_APART(distance, step)                                                                                 \
  {                                                                                                                     \
    sostenuto_frames p = SOSTENUTO_FIRSTS_##distance(a, b), q = SOSTENUTO_LASTS_##distance(a, b);                       \
    sostenuto_frames r = SOSTENUTO_FIRSTS_##distance(c, d), s = SOSTENUTO_LASTS_##distance(c, d), x = p - q, y = r - s; \
    a = p + q, c = r + s, b = x * t[2 * step] - y * t[2 * step + 1], d = x * t[2 * step + 1] + y * t[2 * step];         \
  }
  for (long long i = 0; i < n; i += 32) {
    sostenuto_frames a = *(sostenuto_part_of_memory *)(re + i), b = *(sostenuto_part_of_memory *)(re + i + 16);
    sostenuto_frames c = *(sostenuto_part_of_memory *)(im + i), d = *(sostenuto_part_of_memory *)(im + i + 16);
    SOSTENUTO_APART(8, 0)
    SOSTENUTO_APART(4, 1)
    SOSTENUTO_APART(2, 2)
    SOSTENUTO_APART(1, 3)
    *(sostenuto_part_of_memory *)(re + i) = a;
    *(sostenuto_part_of_memory *)(re + i + 16) = b;
    *(sostenuto_part_of_memory *)(im + i) = c;
    *(sostenuto_part_of_memory *)(im + i + 16) = d;
  }
#undef SOSTENUTO_APART
}

/* The way back, sixteen times as large. */
SOSTENUTO_VECTOR void sostenuto_lanes_joined(float *re, float *im, const float *turns, long long n) {
  const sostenuto_part_of_memory *t = (const sostenuto_part_of_memory *)turns;
#define SOSTENUTO_JOINED(distance, step)                                                                               \
  {                                                                                                                    \
    sostenuto_frames x = b * t[2 * step] + d * t[2 * step + 1], y = d * t[2 * step] - b * t[2 * step + 1];             \
    sostenuto_frames p = a + x, q = a - x, r = c + y, s = c - y;                                                       \
    a = SOSTENUTO_FIRSTS_##distance(p, q), b = SOSTENUTO_LASTS_##distance(p, q), c = SOSTENUTO_FIRSTS_##distance(r, s), \
    d = SOSTENUTO_LASTS_##distance(r, s);                                                                              \
  }
  for (long long i = 0; i < n; i += 32) {
    sostenuto_frames a = *(sostenuto_part_of_memory *)(re + i), b = *(sostenuto_part_of_memory *)(re + i + 16);
    sostenuto_frames c = *(sostenuto_part_of_memory *)(im + i), d = *(sostenuto_part_of_memory *)(im + i + 16);
    SOSTENUTO_JOINED(1, 3)
    SOSTENUTO_JOINED(2, 2)
    SOSTENUTO_JOINED(4, 1)
    SOSTENUTO_JOINED(8, 0)
    *(sostenuto_part_of_memory *)(re + i) = a;
    *(sostenuto_part_of_memory *)(re + i + 16) = b;
    *(sostenuto_part_of_memory *)(im + i) = c;
    *(sostenuto_part_of_memory *)(im + i + 16) = d;
  }
#undef SOSTENUTO_JOINED
}

/* The products of spectra of sound, the newest first, with those of an impulse's parts, added to `sum`: parts `from` to
   `end`. Spectra are n real and n imaginary parts; those of sound lie in a ring of `slots`, that for part 0 in `newest`. */
SOSTENUTO_VECTOR void sostenuto_add_products(float *sum, const float *sound, const float *parts, long long newest, long long slots,
                                             long long from, long long end, long long n) {
  for (long long i = 0; i < n; i += 16) {
    sostenuto_frames re = *(sostenuto_part_of_memory *)(sum + i), im = *(sostenuto_part_of_memory *)(sum + n + i);
    long long slot = newest - from;
    slot += slot < 0 ? slots : 0;
    for (long long part = from; part < end; part++) {
      const float *x = sound + 2 * n * slot + i, *h = parts + 2 * n * part + i;
      sostenuto_frames a = *(const sostenuto_part_of_memory *)x, b = *(const sostenuto_part_of_memory *)(x + n);
      sostenuto_frames c = *(const sostenuto_part_of_memory *)h, d = *(const sostenuto_part_of_memory *)(h + n);
      re = sostenuto_add_product(sostenuto_add_product(re, a, c), -b, d);
      im = sostenuto_add_product(sostenuto_add_product(im, a, d), b, c);
      slot = slot == 0 ? slots - 1 : slot - 1;
    }
    *(sostenuto_part_of_memory *)(sum + i) = re;
    *(sostenuto_part_of_memory *)(sum + n + i) = im;
  }
}

/* Sixteen frames of the convolution with the first 64 frames of an impulse. `x` has 63 frames before these. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_convolve(const float *x, const float *taps) {
  sostenuto_frames sums[4] = {0, 0, 0, 0};
  for (long long k = 0; k < 64; k += 4) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 4; i++) {
      sums[i] = sostenuto_add_product(sums[i], *(const sostenuto_part_of_memory *)(x - k - i), (sostenuto_frames)taps[k + i]);
    }
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
