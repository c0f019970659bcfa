#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* Slow cycles. A place has 40 bits behind the point: a cycle of an hour at 192 kHz is exact to 0.1 %, one of a second to a
   millionth, and 2^24 cycles have numbers of their own. */

/* Sixteen numbers times a factor, rounded to whole ones below 2^51, as Swift code has it for a single one. */
SOSTENUTO_VECTOR void sostenuto_write_whole_products(sostenuto_frames v, double factor, long long *to) {
#pragma clang fp contract(off)
  typedef double doubles __attribute__((ext_vector_type(8)));
  typedef long long places_of_memory __attribute__((ext_vector_type(8), aligned(8)));
  const doubles rounding = 6755399441055744.0;
  *(places_of_memory *)to = (sostenuto_places)(__builtin_convertvector(v.lo, doubles) * factor + rounding) - (sostenuto_places)rounding;
  *(places_of_memory *)(to + 8) =
      (sostenuto_places)(__builtin_convertvector(v.hi, doubles) * factor + rounding) - (sostenuto_places)rounding;
}

typedef int sostenuto_eight_integers __attribute__((ext_vector_type(8)));

/* Eight places, moved on by parts of a cycle, without their lowest bits. */
SOSTENUTO_VECTOR sostenuto_eight_integers sostenuto_moved_on(const long long *places, sostenuto_eight cycles, int bits) {
#pragma clang fp contract(off)
  typedef double doubles __attribute__((ext_vector_type(8)));
  typedef long long places_of_memory __attribute__((ext_vector_type(8), aligned(8)));
  const doubles rounding = 6755399441055744.0;
  sostenuto_places more = (sostenuto_places)(__builtin_convertvector(cycles, doubles) * 0x1p40 + rounding) - (sostenuto_places)rounding;
  return __builtin_convertvector((*(const places_of_memory *)places + more) >> bits, sostenuto_eight_integers);
}

/* Sixteen places, moved on by `cycles`: as signed parts of a cycle, of which 2^32 are a whole one; and the numbers of their
   cycles. */
SOSTENUTO_VECTOR sostenuto_integers sostenuto_cycle_parts(const long long *places, sostenuto_frames cycles) {
  return __builtin_shufflevector(sostenuto_moved_on(places, cycles.lo, 8), sostenuto_moved_on(places + 8, cycles.hi, 8),
                                 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
SOSTENUTO_VECTOR sostenuto_integers sostenuto_cycle_numbers(const long long *places, sostenuto_frames cycles) {
  return __builtin_shufflevector(sostenuto_moved_on(places, cycles.lo, 40), sostenuto_moved_on(places + 8, cycles.hi, 40),
                                 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

/* The same of places that are all moved on by as many parts. */
SOSTENUTO_VECTOR sostenuto_integers sostenuto_shifted(const long long *places, long long more, int bits) {
  typedef long long places_of_memory __attribute__((ext_vector_type(8), aligned(8)));
  return __builtin_shufflevector(__builtin_convertvector((*(const places_of_memory *)places + more) >> bits, sostenuto_eight_integers),
                                 __builtin_convertvector((*(const places_of_memory *)(places + 8) + more) >> bits, sostenuto_eight_integers),
                                 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
/* Sixteen places from one on, `step` apart: as signed parts of a cycle. */
SOSTENUTO_VECTOR sostenuto_integers sostenuto_parts_from(long long start, long long step) {
  const sostenuto_places numbers = {0, 1, 2, 3, 4, 5, 6, 7};
  sostenuto_places low = numbers * step, high = low + 8 * step;
  return __builtin_shufflevector(__builtin_convertvector((low + start) >> 8, sostenuto_eight_integers),
                                 __builtin_convertvector((high + start) >> 8, sostenuto_eight_integers),
                                 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
SOSTENUTO_VECTOR sostenuto_integers sostenuto_shifted_parts(const long long *places, long long more) { return sostenuto_shifted(places, more, 8); }
SOSTENUTO_VECTOR sostenuto_integers sostenuto_shifted_numbers(const long long *places, long long more) {
  return sostenuto_shifted(places, more, 40);
}
