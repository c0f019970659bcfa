#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* Places between frames, as whole numbers with 32 bits after the point. */

/* Swift's SIMD8<Int64>. */
typedef long long sostenuto_places __attribute__((ext_vector_type(8)));

/* Swift's SIMD8<Double>. */
typedef double sostenuto_doubles __attribute__((ext_vector_type(8)));

/* Numbers below 2^51 in magnitude without their fractions: vcvttpd2qq. A processor without it would convert them one by one, so there a
   whole number is read from the low bits of its sum with 1.5 * 2^52. */
SOSTENUTO_VECTOR sostenuto_places sostenuto_whole_places(sostenuto_doubles v) {
#ifdef __AVX512DQ__
  return __builtin_convertvector(v, sostenuto_places);
#else
  const sostenuto_doubles shift = 6755399441055744.0;
  return (sostenuto_places)(__builtin_elementwise_trunc(v) + shift) - (sostenuto_places)shift;
#endif
}

/* Eight factors times `base`, limited to 4096, as numbers with 32 bits after the point: vcvttpd2qq. */
SOSTENUTO_VECTOR sostenuto_places sostenuto_fixed_products(const double *factors, double base) {
  typedef double doubles_of_memory __attribute__((ext_vector_type(8), aligned(8)));
  typedef double doubles __attribute__((ext_vector_type(8)));
  doubles v = *(const doubles_of_memory *)factors * base;
  v = __builtin_elementwise_max(__builtin_elementwise_min(v, (doubles)4096.0), (doubles)-4096.0);
  return sostenuto_whole_places(v * 4294967296.0);
}

/* Eight delays times `part`, within limits, as whole frames and parts of one. A part that is next to nothing is nothing, and
   one that is nearly a frame is a frame: a time in seconds is seldom a whole number of frames to the last digit. */
SOSTENUTO_VECTOR void sostenuto_split_delays(const double *delays, double part, double least, double most, int *wholes, float *parts) {
  typedef double doubles_of_memory __attribute__((ext_vector_type(8), aligned(8)));
  typedef double doubles __attribute__((ext_vector_type(8)));
  typedef int wholes_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  typedef float parts_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  typedef int eight_bits __attribute__((ext_vector_type(8)));
  doubles v = *(const doubles_of_memory *)delays * part;
  /* Comparisons that are one instruction each, also for what is no number: it becomes the upper limit. */
  v = v < most ? v : (doubles)most;
  v = v > least ? v : (doubles)least;
  eight_bits whole = __builtin_convertvector(v, eight_bits);
  sostenuto_eight rest = __builtin_convertvector(v - __builtin_elementwise_trunc(v), sostenuto_eight);
  eight_bits is_next = rest > 0.999f, is_part = (rest >= 0.001f) & ~is_next;
  *(wholes_of_memory *)wholes = whole - is_next;
  *(parts_of_memory *)parts = (sostenuto_eight)((eight_bits)rest & is_part);
}

/* The sum of the lanes before each. */
SOSTENUTO_VECTOR sostenuto_places sostenuto_sums_before(sostenuto_places v) {
  sostenuto_places none = 0, sum = __builtin_shufflevector(none, v, 0, 8, 9, 10, 11, 12, 13, 14);
  sum += __builtin_shufflevector(none, sum, 0, 8, 9, 10, 11, 12, 13, 14);
  sum += __builtin_shufflevector(none, sum, 0, 1, 8, 9, 10, 11, 12, 13);
  return sum + __builtin_shufflevector(none, sum, 0, 1, 2, 3, 8, 9, 10, 11);
}

/* Sixteen places from `position` on, with these steps between them; returns the one behind. May write over the steps. */
SOSTENUTO_VECTOR long long sostenuto_advance(const long long *steps, long long position, long long *places) {
  typedef long long places_of_memory __attribute__((ext_vector_type(8), aligned(8)));
  sostenuto_places low = *(const places_of_memory *)steps, high = *(const places_of_memory *)(steps + 8);
  sostenuto_places first = sostenuto_sums_before(low) + (sostenuto_places)position;
  sostenuto_places middle = first + low;
  sostenuto_places last = sostenuto_sums_before(high) + __builtin_shufflevector(middle, middle, 7, 7, 7, 7, 7, 7, 7, 7);
  *(places_of_memory *)places = first;
  *(places_of_memory *)(places + 8) = last;
  return (last + high)[7];
}

/* Writes sixteen places: running sums of steps, from `next` on, which has the first place in all lanes. The steps come as those with
   even numbers and those with odd ones, so that eight sums of pairs are enough. Returns the place after the last, in all lanes. */
SOSTENUTO_VECTOR sostenuto_places sostenuto_write_sixteen_places(sostenuto_places even, sostenuto_places odd, sostenuto_places next,
                                                                 long long *places) {
  typedef long long places_of_memory __attribute__((ext_vector_type(8), aligned(8)));
  const sostenuto_places none = 0, pairs = even + odd;
  sostenuto_places sums = pairs + __builtin_shufflevector(none, pairs, 0, 8, 9, 10, 11, 12, 13, 14);
  sums += __builtin_shufflevector(none, sums, 0, 1, 8, 9, 10, 11, 12, 13);
  sums += __builtin_shufflevector(none, sums, 0, 1, 2, 3, 8, 9, 10, 11);
  const sostenuto_places first = sums - pairs + next, second = first + even;
  *(places_of_memory *)places = __builtin_shufflevector(first, second, 0, 8, 1, 9, 2, 10, 3, 11);
  *(places_of_memory *)(places + 8) = __builtin_shufflevector(first, second, 4, 12, 5, 13, 6, 14, 7, 15);
  return next + __builtin_shufflevector(sums, sums, 7, 7, 7, 7, 7, 7, 7, 7);
}

/* Eight places from `position` on: the first step is `step`, and each of the others larger by `change`. */
SOSTENUTO_VECTOR sostenuto_places sostenuto_places_from(long long position, long long step, long long change) {
  const sostenuto_places numbers = {0, 1, 2, 3, 4, 5, 6, 7}, pairs = {0, 0, 1, 3, 6, 10, 15, 21};
  return numbers * step + pairs * change + position;
}

/* The same in memory, in eights until there are `count`. */
SOSTENUTO_VECTOR void sostenuto_write_places(long long position, long long step, long long change, long long count, long long *places) {
  typedef long long places_of_memory __attribute__((ext_vector_type(8), aligned(8)));
  sostenuto_places next = sostenuto_places_from(position, step, change);
  // Distance from a place to that eight later, and the growth of that distance.
  sostenuto_places stride = sostenuto_places_from(8 * step + 28 * change, 8 * change, 0);
  for (long long place = 0; place < count; place += 8) {
    *(places_of_memory *)(places + place) = next;
    next += stride;
    stride += 64 * change;
  }
}

/* Those that are not negative, else zero. */
SOSTENUTO_VECTOR sostenuto_places sostenuto_positive(sostenuto_places v) { return __builtin_elementwise_max(v, (sostenuto_places)0); }
