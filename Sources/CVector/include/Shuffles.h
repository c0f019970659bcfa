#pragma once

#include "CVector.h"

#pragma clang diagnostic ignored "-Wpsabi"

/* Shuffles of lanes that are known beforehand, one instruction each (vpermt2ps, vpermilps): what Swift writes with numbered
   lanes or halves is at times taken apart and put together lane by lane. */

/* Of 32 lanes those with even numbers, and those with odd ones. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_evens(sostenuto_frames a, sostenuto_frames b) {
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}
SOSTENUTO_VECTOR sostenuto_frames sostenuto_odds(sostenuto_frames a, sostenuto_frames b) {
  return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}

/* Lanes of both in turns: of the first eight of each, and of the last eight. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_first_turns(sostenuto_frames a, sostenuto_frames b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
SOSTENUTO_VECTOR sostenuto_frames sostenuto_last_turns(sostenuto_frames a, sostenuto_frames b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

/* Frames moved on by one, behind those of `before`: valignd. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_delayed_by_one(sostenuto_frames before, sostenuto_frames v) {
  return __builtin_shufflevector(before, v, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
}

/* Within each four lanes: moved up by one and by two, with `start` below. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_later_by_one(sostenuto_frames v, float start) {
  sostenuto_frames s = start;
  return sostenuto_any_lanes(__builtin_shufflevector(v, s, 16, 0, 1, 2, 20, 4, 5, 6, 24, 8, 9, 10, 28, 12, 13, 14));
}
SOSTENUTO_VECTOR sostenuto_frames sostenuto_later_by_two(sostenuto_frames v, float start) {
  sostenuto_frames s = start;
  return sostenuto_any_lanes(__builtin_shufflevector(v, s, 16, 17, 0, 1, 20, 21, 4, 5, 24, 25, 8, 9, 28, 29, 12, 13));
}

/* Within each four lanes: the first or the second in all; the last of `a` and that of `b`, twice; the first two of `a` and
   those of `b`. */
SOSTENUTO_VECTOR sostenuto_frames sostenuto_firsts_of_four(sostenuto_frames v) {
  return __builtin_shufflevector(v, v, 0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
}
SOSTENUTO_VECTOR sostenuto_frames sostenuto_seconds_of_four(sostenuto_frames v) {
  return __builtin_shufflevector(v, v, 1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13);
}
SOSTENUTO_VECTOR sostenuto_frames sostenuto_last_pairs(sostenuto_frames a, sostenuto_frames b) {
  return __builtin_shufflevector(a, b, 3, 19, 3, 19, 7, 23, 7, 23, 11, 27, 11, 27, 15, 31, 15, 31);
}
SOSTENUTO_VECTOR sostenuto_frames sostenuto_halves(sostenuto_frames a, sostenuto_frames b) {
  return __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
}

/* Transposes the 4 x 4 numbers in each half of four vectors. */
SOSTENUTO_VECTOR void sostenuto_turn_fours(const sostenuto_eight *rows, sostenuto_eight *columns) {
  sostenuto_eight a = __builtin_shufflevector(rows[0], rows[1], 0, 8, 1, 9, 4, 12, 5, 13);
  sostenuto_eight b = __builtin_shufflevector(rows[2], rows[3], 0, 8, 1, 9, 4, 12, 5, 13);
  sostenuto_eight c = __builtin_shufflevector(rows[0], rows[1], 2, 10, 3, 11, 6, 14, 7, 15);
  sostenuto_eight d = __builtin_shufflevector(rows[2], rows[3], 2, 10, 3, 11, 6, 14, 7, 15);
  columns[0] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
  columns[1] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
  columns[2] = __builtin_shufflevector(c, d, 0, 1, 8, 9, 4, 5, 12, 13);
  columns[3] = __builtin_shufflevector(c, d, 2, 3, 10, 11, 6, 7, 14, 15);
}

/* Eight rows of eight numbers become columns: halves of the rows are brought together as they are loaded, and turned within
   quarters of the register. */
SOSTENUTO_VECTOR void sostenuto_turn_eight(const float *from, long long stride, float *to, long long to_stride) {
  typedef float half_of_memory __attribute__((ext_vector_type(4), aligned(4)));
  typedef float row_of_memory __attribute__((ext_vector_type(8), aligned(4)));
  for (int part = 0; part < 8; part += 4) {
    sostenuto_eight rows[4];
    for (int i = 0; i < 4; i++) {
      half_of_memory low = *(const half_of_memory *)(from + i * stride + part);
      half_of_memory high = *(const half_of_memory *)(from + (i + 4) * stride + part);
      rows[i] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
    }
    sostenuto_eight columns[4];
    sostenuto_turn_fours(rows, columns);
    for (int i = 0; i < 4; i++) *(row_of_memory *)(to + (part + i) * to_stride) = columns[i];
  }
}
