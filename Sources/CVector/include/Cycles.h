#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* Slow cycles. A place has 40 bits behind the point: a cycle of an hour at 192 kHz is exact to 0.1 %, one of a second to a
   millionth, and 2^24 cycles have numbers of their own. */

/* Places from `place` on for rates within `limit`, in sixteens until there are `frames`. A step is a rate times `scale`, rounded to a
   whole number below 2^51 as Swift code has it for a single one, and `lean` more. Returns the place behind the last sixteen. */
SOSTENUTO_VECTOR long long sostenuto_write_swept_places(const float *rates, float limit, double scale, long long lean, long long place,
                                                        long long frames, long long *places) {
#pragma clang fp contract(off)
  typedef double doubles __attribute__((ext_vector_type(8)));
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  const doubles rounding = 6755399441055744.0;
  const sostenuto_places less = (sostenuto_places)rounding - lean;
  sostenuto_places next = place;
  for (long long frame = 0; frame < frames; frame += 16) {
    /* Comparisons that are one instruction each, also for what is no number: it becomes the lower limit. */
    sostenuto_frames v = *(const row_of_memory *)(rates + frame), low = -limit, high = limit;
    v = v > low ? v : low;
    v = v < high ? v : high;
    sostenuto_places even = (sostenuto_places)(__builtin_convertvector(v.even, doubles) * scale + rounding) - less;
    sostenuto_places odd = (sostenuto_places)(__builtin_convertvector(v.odd, doubles) * scale + rounding) - less;
    next = sostenuto_write_sixteen_places(even, odd, next, places + frame);
  }
  return next[0];
}

/* The same without a lean, in thirty-twos, as parts of the cycle alone (2^32 to a cycle, without the lowest bits), which take half the
   room. Of the bits of a rounded double they have the lower forty, where those of the rounding are zeros. Each vector has every fourth
   frame, so that eight sums of four are enough. Returns the place behind the last, which has all of its bits. */
SOSTENUTO_VECTOR long long sostenuto_write_swept_parts(const float *rates, float limit, double scale, long long place, long long frames,
                                                       int *parts) {
#pragma clang fp contract(off)
  typedef double doubles __attribute__((ext_vector_type(8)));
  typedef unsigned long long numbers __attribute__((ext_vector_type(8)));
  typedef float row_of_memory __attribute__((ext_vector_type(16), aligned(4)));
  typedef long long parts_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  const doubles rounding = 6755399441055744.0;
  const sostenuto_places odd = (sostenuto_places)(numbers)0xffffffff00000000;
  const sostenuto_frames low = -limit, high = limit;
  sostenuto_places next = place;
  for (long long frame = 0; frame < frames; frame += 32) {
    sostenuto_frames v = *(const row_of_memory *)(rates + frame), w = *(const row_of_memory *)(rates + frame + 16);
    v = v > low ? v : low;
    w = w > low ? w : low;
    v = v < high ? v : high;
    w = w < high ? w : high;
    sostenuto_frames front = __builtin_shufflevector(v, w, 0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
    sostenuto_frames back = __builtin_shufflevector(v, w, 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31);
    sostenuto_places a = (sostenuto_places)(__builtin_convertvector(front.lo, doubles) * scale + rounding);
    sostenuto_places b = (sostenuto_places)(__builtin_convertvector(front.hi, doubles) * scale + rounding) + a;
    sostenuto_places c = (sostenuto_places)(__builtin_convertvector(back.lo, doubles) * scale + rounding) + b;
    sostenuto_places d = (sostenuto_places)(__builtin_convertvector(back.hi, doubles) * scale + rounding) + c;
    const sostenuto_places first = sostenuto_sums_before(d) + next, last = first + d;
    next = __builtin_shufflevector(last, last, 7, 7, 7, 7, 7, 7, 7, 7);
    const sostenuto_places left = (sostenuto_places)((numbers)first >> 8) & ~odd | (first + a) << 24 & odd;
    const sostenuto_places right = (sostenuto_places)((numbers)(first + b) >> 8) & ~odd | (first + c) << 24 & odd;
    *(parts_of_memory *)(parts + frame) = __builtin_shufflevector(left, right, 0, 8, 1, 9, 2, 10, 3, 11);
    *(parts_of_memory *)(parts + frame + 16) = __builtin_shufflevector(left, right, 4, 12, 5, 13, 6, 14, 7, 15);
  }
  return next[0] - (long long)((unsigned long long)frames * __builtin_bit_cast(unsigned long long, 6755399441055744.0));
}

/* Positions of sixteen places within their cycles (signed, 2^32 to a cycle, without the lowest bits), and the numbers of the cycles.
   Both are upper halves of 64 bits, which one instruction picks from two vectors. */
SOSTENUTO_VECTOR sostenuto_integers sostenuto_upper_halves(sostenuto_places low, sostenuto_places high) {
  return __builtin_shufflevector((sostenuto_integers)low, (sostenuto_integers)high, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29,
                                 31);
}
SOSTENUTO_VECTOR sostenuto_integers sostenuto_parts_of(sostenuto_places low, sostenuto_places high) {
  return sostenuto_upper_halves(low << 24, high << 24);
}
SOSTENUTO_VECTOR sostenuto_integers sostenuto_numbers_of(sostenuto_places low, sostenuto_places high) {
  return sostenuto_upper_halves(low, high) >> 8;
}

/* Eight places, moved on by cycles. */
SOSTENUTO_VECTOR sostenuto_places sostenuto_moved_on(const long long *places, sostenuto_eight cycles) {
#pragma clang fp contract(off)
  typedef double doubles __attribute__((ext_vector_type(8)));
  typedef long long places_of_memory __attribute__((ext_vector_type(8), aligned(8)));
  const doubles rounding = 6755399441055744.0;
  sostenuto_places more = (sostenuto_places)(__builtin_convertvector(cycles, doubles) * 0x1p40 + rounding) - (sostenuto_places)rounding;
  return *(const places_of_memory *)places + more;
}

/* Parts and numbers of sixteen places, moved on by `cycles`. */
SOSTENUTO_VECTOR sostenuto_integers sostenuto_cycle_parts(const long long *places, sostenuto_frames cycles) {
  return sostenuto_parts_of(sostenuto_moved_on(places, cycles.lo), sostenuto_moved_on(places + 8, cycles.hi));
}
SOSTENUTO_VECTOR sostenuto_integers sostenuto_cycle_numbers(const long long *places, sostenuto_frames cycles) {
  return sostenuto_numbers_of(sostenuto_moved_on(places, cycles.lo), sostenuto_moved_on(places + 8, cycles.hi));
}

/* The same of places that are all moved on by as many parts. */
SOSTENUTO_VECTOR sostenuto_integers sostenuto_shifted_parts(const long long *places, long long more) {
  typedef long long places_of_memory __attribute__((ext_vector_type(8), aligned(8)));
  const places_of_memory *eights = (const places_of_memory *)places;
  return sostenuto_parts_of(eights[0] + more, eights[1] + more);
}
SOSTENUTO_VECTOR sostenuto_integers sostenuto_shifted_numbers(const long long *places, long long more) {
  typedef long long places_of_memory __attribute__((ext_vector_type(8), aligned(8)));
  const places_of_memory *eights = (const places_of_memory *)places;
  return sostenuto_numbers_of(eights[0] + more, eights[1] + more);
}

/* Parts of sixteen places from one on, `step` apart. */
SOSTENUTO_VECTOR sostenuto_integers sostenuto_parts_from(long long start, long long step) {
  const sostenuto_places numbers = {0, 1, 2, 3, 4, 5, 6, 7};
  sostenuto_places low = numbers * step + start;
  return sostenuto_parts_of(low, low + 8 * step);
}
